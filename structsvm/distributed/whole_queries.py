"""Find queries that are split over partitions by hashes of their ids; reject them, or move their rows together."""

from collections.abc import Sequence
from operator import getitem
from typing import Any, NamedTuple

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from structsvm.distributed.partition import Partition, Survey
from structsvm.distributed.workers import Workers
from structsvm.exceptions import InputError
from structsvm.foundation.arrays import is_sparse
from structsvm.foundation.queries import Queries
from structsvm.foundation.types import IntVector

_IDS_A_BUCKET = 2**22
_EXAMPLES = 100

Hashes = NDArray[np.uint64]


class Regions(NamedTuple):
    """Disjoint ascending closed ranges of query ids that several partitions may share."""

    low: list[Any]
    high: list[Any]


class Moves(NamedTuple):
    """Moves of queries, by hash, from a partition to another; three vectors of shape (moves,)."""

    source: IntVector
    destination: IntVector
    hashes: Hashes


@frozen
class SplitSummary:
    """Number of split queries, some examples (a hash and two partitions each), and pairs (source, destination)."""

    count: int
    examples: tuple[tuple[int, int, int], ...] = field(repr=False)
    moves: frozenset[tuple[int, int]] = field(repr=False)


def overlaps(surveys: Sequence[Survey]) -> tuple[list[int], Regions]:
    """Return the partitions that may share queries, and the ranges of the shared ids; all ids must have one type."""
    filled = [k for k, survey in enumerate(surveys) if survey.queries]
    for k in filled:
        one, other = surveys[filled[0]], surveys[k]
        if one.kind != other.kind:
            raise InputError(
                f"query ids are {_KINDS.get(one.kind, 'numbers')} in {one.title} and "
                f"{_KINDS.get(other.kind, 'numbers')} in {other.title}: give all query ids one type"
            )
    filled.sort(key=lambda k: surveys[k].low)
    regions, reached = Regions([], []), None
    for k in filled:
        low, high = surveys[k].low, surveys[k].high
        if reached is not None and low <= reached:
            end = min(high, reached)
            if regions.high and low <= regions.high[-1]:
                regions.high[-1] = max(end, regions.high[-1])
            else:
                regions.low.append(low)
                regions.high.append(end)
        if reached is None or high > reached:
            reached = high
    return sorted(k for k in filled if _touches(surveys[k], regions)), regions


_KINDS = {"i": "whole numbers", "f": "numbers with fractions", "U": "texts"}


def _touches(survey: Survey, regions: Regions) -> bool:
    return any(low <= survey.high and survey.low <= high for low, high in zip(*regions, strict=True))


def find(workers: Workers, parts: Sequence[Any], surveys: Sequence[Survey]) -> tuple[SplitSummary, list[Any]]:
    """Find queries in several partitions; return a summary, and futures of the results of `held_by_several`."""
    numbers, regions = overlaps(surveys)
    if not numbers:
        return SplitSummary(0, (), frozenset()), []
    buckets = -(-sum(surveys[k].queries for k in numbers) // _IDS_A_BUCKET)
    hashes = [workers.submit(hashes_of, parts[k], regions, buckets) for k in numbers]
    shared = [
        workers.submit(held_by_several, numbers, [workers.submit(getitem, hashed, bucket) for hashed in hashes])
        for bucket in range(buckets)
    ]
    del hashes
    summaries: list[SplitSummary] = workers.fetch([workers.submit(getitem, result, 0) for result in shared])
    split = SplitSummary(
        count=sum(summary.count for summary in summaries),
        examples=tuple(example for summary in summaries for example in summary.examples),
        moves=frozenset[tuple[int, int]]().union(*(summary.moves for summary in summaries)),
    )
    return split, shared


def refuse(workers: Workers, parts: Sequence[Any], surveys: Sequence[Survey], split: SplitSummary) -> None:
    """Raise InputError that names a split query and two of its partitions."""
    for hashed, first, second in sorted(split.examples, key=lambda example: example[1:]):
        ids: list[list[Any]] = workers.fetch([workers.submit(ids_of_hash, parts[k], hashed) for k in (first, second)])
        both = [query for query in ids[0] if query in ids[1]]
        if both:
            more = f", and {split.count - 1:,} more queries are split" if split.count > 1 else ""
            raise InputError(
                f"query {both[0]} is in {surveys[first].title} and in {surveys[second].title}{more}. The rows of a "
                "query must be in one partition: pass shuffle=True to move them together. If they are two queries, "
                "give them different ids"
            )


def move(workers: Workers, parts: Sequence[Any], split: SplitSummary, shared: Sequence[Any]) -> dict[int, Any]:
    """Move the rows of split queries together; return futures of the changed partitions by number."""
    sources = {source for source, _ in split.moves}
    moves = [workers.submit(getitem, result, 1) for result in shared]
    out = {k: workers.submit(leaving, parts[k], k, moves) for k in sources}
    changed = {}
    for k in sources | {destination for _, destination in split.moves}:
        rest = workers.submit(getitem, out[k], k) if k in sources else parts[k]
        senders = sorted(source for source, destination in split.moves if destination == k)
        pieces = [workers.submit(getitem, out[source], k) for source in senders]
        changed[k] = workers.submit(joined_split, [rest, *pieces])
    return changed


def hashed_ids(ids: NDArray[Any]) -> Hashes:
    """Return a 64-bit hash of each id: SplitMix64 of numbers (Steele et al., OOPSLA 2014), XXH3 of text."""
    if ids.dtype.kind in "iub":
        z = ids.astype(np.int64).view(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    elif ids.dtype.kind == "f":
        z = (ids.astype(np.float64) + 0.0).view(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    else:
        texts = (str(text).encode("utf-8", "surrogatepass") for text in ids)
        return np.array(list(map(xxh3_64_intdigest, texts)), dtype=np.uint64)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))


def hashes_of(part: Partition, regions: Regions, buckets: int) -> list[Hashes]:
    """Return the hashes of a partition's query ids in the ranges, by bucket."""
    ids = Queries.of(part.qid, part.rows).ids
    low, high = np.array(regions.low), np.array(regions.high)
    place = np.searchsorted(low, ids, side="right") - 1
    inside = (place >= 0) & (ids <= high[np.maximum(place, 0)])
    hashes = hashed_ids(ids[inside])
    bucket = hashes % np.uint64(buckets)
    return [hashes[bucket == k] for k in range(buckets)]


def held_by_several(numbers: Sequence[int], hashes: Sequence[Hashes]) -> tuple[SplitSummary, Moves]:
    """Return the queries that several partitions share in one bucket of hashes, and the moves that join them."""
    holder = np.repeat(np.array(numbers, dtype=np.int64), list(map(len, hashes)))
    ids = np.concatenate(hashes)
    order = np.argsort(ids, kind="stable")
    ids, holder = ids[order], holder[order]
    again = np.zeros(len(ids), dtype=np.bool_)
    # Two texts of one partition may share a hash.
    again[1:] = (ids[1:] == ids[:-1]) & (holder[1:] == holder[:-1])
    ids, holder = ids[~again], holder[~again]
    starts = np.flatnonzero(np.concatenate([[True], ids[1:] != ids[:-1]])) if len(ids) else np.zeros(0, dtype=np.int64)
    counts = np.diff(starts, append=len(ids))
    several = np.flatnonzero(counts > 1)
    first = starts[several]
    homes = holder[first + (ids[first] % counts[several].astype(np.uint64)).astype(np.int64)]
    entries = np.repeat(counts > 1, counts)
    destination = np.repeat(homes, counts[several])
    source, moving = holder[entries], ids[entries]
    leaves = source != destination
    examples = tuple((int(ids[k]), int(holder[k]), int(holder[k + 1])) for k in first[:_EXAMPLES].tolist())
    moves = Moves(source[leaves], destination[leaves], moving[leaves])
    pairs = np.unique(np.stack(moves[:2], axis=1), axis=0).tolist()
    return SplitSummary(len(several), examples, frozenset((a, b) for a, b in pairs)), moves


def ids_of_hash(part: Partition, hashed: int) -> list[Any]:
    """Return the query ids of a partition with this hash."""
    ids = Queries.of(part.qid, part.rows).ids
    return list(ids[hashed_ids(ids) == np.uint64(hashed)].tolist())


def leaving(part: Partition, number: int, shared: Sequence[Moves]) -> dict[int, Partition]:
    """Split the rows of a partition by destination; rows that stay have its own number."""
    queries = Queries.of(part.qid, part.rows)
    ids = queries.ids
    hashes = hashed_ids(ids)
    order = np.argsort(hashes)
    to = np.full(len(ids), number, dtype=np.int64)
    for moves in shared:
        mine = np.flatnonzero(moves.source == number)
        mine = mine[np.argsort(moves.hashes[mine])]
        place = np.searchsorted(moves.hashes[mine], hashes[order])
        moving = np.append(moves.hashes[mine], np.uint64(0))[place] == hashes[order]
        moving &= place < len(mine)
        to[order[moving]] = moves.destination[mine[place[moving]]]
    of_rows = to[queries.number]
    return {int(k): _rows(part, of_rows == k) for k in np.union1d(to, [number])}


def joined_split(parts: Sequence[Partition]) -> Partition:
    """Concatenate partitions, with the rows of each query together, in the order of the partitions."""
    title = parts[0].title
    parts = [part for part in parts if part.rows] or list(parts[:1])
    if len(parts) == 1:
        return parts[0]._replace(title=title)
    X, y, qid, weight = map(_joined, *(part[:4] for part in parts))
    return Partition(X, y, qid, weight, parts[0].names, title)


def _joined(*values: Any) -> Any:
    if is_sparse(values[0]):
        import scipy.sparse as sp

        return sp.vstack(values, format="csr")
    return None if values[0] is None else np.concatenate(values)


def _rows(part: Partition, rows: NDArray[np.bool_]) -> Partition:
    X: Any = part.X
    y, qid, weight = (None if values is None else values[rows] for values in (part.y, part.qid, part.sample_weight))
    return part._replace(X=X[rows], y=y, qid=qid, sample_weight=weight)
