"""Find queries that are split over partitions by their ids; reject them, or move their rows together."""

from collections.abc import Mapping, Sequence
from operator import getitem
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structsvm.distributed.partition import Partition, Survey
from structsvm.distributed.workers import Workers
from structsvm.exceptions import InputError
from structsvm.foundation.arrays import is_sparse
from structsvm.foundation.queries import Queries


class Regions(NamedTuple):
    """Disjoint ascending closed ranges of query ids that several partitions may share."""

    low: list[Any]
    high: list[Any]


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
    touching = (
        k
        for k in filled
        if any(low <= surveys[k].high and surveys[k].low <= high for low, high in zip(*regions, strict=True))
    )
    return sorted(touching), regions


_KINDS = {"i": "whole numbers", "f": "numbers with fractions", "U": "texts"}


def find(workers: Workers, parts: Sequence[Any], surveys: Sequence[Survey]) -> dict[Any, list[int]]:
    """Return the queries in several partitions, each with the numbers of these partitions."""
    numbers, regions = overlaps(surveys)
    if not numbers:
        return {}
    return shared(numbers, workers.fetch([workers.submit(ids_within, parts[k], regions) for k in numbers]))


def shared(numbers: Sequence[int], ids: Sequence[NDArray[Any]]) -> dict[Any, list[int]]:
    """Return the queries that several partitions with these numbers and ids share; see `find`."""
    queries, holder = np.concatenate(ids), np.repeat(numbers, list(map(len, ids)))
    order = np.argsort(queries, kind="stable")
    again = queries[order[1:]] == queries[order[:-1]]
    split: dict[Any, list[int]] = {}
    for k in order[np.append(again, False) | np.append(False, again)].tolist():
        split.setdefault(queries[k].item(), []).append(int(holder[k]))
    return split


def split_error(surveys: Sequence[Survey], split: Mapping[Any, Sequence[int]]) -> InputError:
    """Return the error that names a split query and two of its partitions."""
    query = min(split, key=lambda query: tuple(split[query][:2]))
    first, second = (surveys[k].title for k in split[query][:2])
    more = f", and {len(split) - 1:,} more queries are split" if len(split) > 1 else ""
    return InputError(
        f"query {query} is in {first} and in {second}{more}. The rows of a query must be in one partition: pass "
        "shuffle=True to move them together. If they are two queries, give them different ids"
    )


def destinations(split: Mapping[Any, Sequence[int]]) -> dict[int, dict[Any, int]]:
    """Return the queries that leave each partition, with their new partitions, which take turns."""
    moves: dict[int, dict[Any, int]] = {}
    for turn, (query, partitions) in enumerate(split.items()):
        home = partitions[turn % len(partitions)]
        for source in partitions:
            if source != home:
                moves.setdefault(source, {})[query] = home
    return moves


def move(workers: Workers, parts: Sequence[Any], split: Mapping[Any, Sequence[int]]) -> dict[int, Any]:
    """Move the rows of split queries together; return futures of the changed partitions by number."""
    moves = destinations(split)
    out = {k: workers.submit(leaving, parts[k], k, homes) for k, homes in moves.items()}
    changed = {}
    for k in {*moves, *(home for homes in moves.values() for home in homes.values())}:
        rest = workers.submit(getitem, out[k], k) if k in out else parts[k]
        senders = sorted(source for source, homes in moves.items() if k in homes.values())
        pieces = [workers.submit(getitem, out[source], k) for source in senders]
        changed[k] = workers.submit(joined_split, [rest, *pieces])
    return changed


def ids_within(part: Partition, regions: Regions) -> NDArray[Any]:
    """Return the query ids of a partition that are in the ranges."""
    ids = Queries.of(part.qid, part.rows).ids
    low, high = np.array(regions.low), np.array(regions.high)
    place = np.searchsorted(low, ids, side="right") - 1
    return np.asarray(ids[(place >= 0) & (ids <= high[np.maximum(place, 0)])])


def leaving(part: Partition, number: int, homes: Mapping[Any, int]) -> dict[int, Partition]:
    """Split the rows of a partition by destination; rows that stay have its own number."""
    queries = Queries.of(part.qid, part.rows)
    to = np.array([homes.get(query, number) for query in queries.ids.tolist()])[queries.number]
    return {int(k): _rows(part, to == k) for k in np.union1d(to, [number])}


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
