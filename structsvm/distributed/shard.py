"""Shards: prepared partitions at their workers, and the functions that a problem calls on them."""

import platform
from collections import deque
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib.metadata import version
from typing import Any, Self

import numpy as np
from attrs import evolve, field, frozen

from structsvm.distributed.partition import Partition, naming
from structsvm.exceptions import InputError
from structsvm.foundation.arrays import numbers
from structsvm.foundation.compute.summation import ExactSum, VectorSum
from structsvm.foundation.types import Vector
from structsvm.losses import ScoreLoss
from structsvm.problem import Problem
from structsvm.problem.content import Content
from structsvm.problem.examples import ranking_examples
from structsvm.problem.part import as_part_of, part_alone
from structsvm.problem.points import Planes, Point

_STORED_SCORES = 4
"""Score vectors per shard: of the best point, the target, the point between them, and one more."""

_STORED_PLANES = 2
"""Number of points whose planes a shard stores, to compare them with later planes."""


def library_versions() -> dict[str, str]:
    """Return the versions that must agree between the driver and all workers; of Python only major and minor."""
    python = ".".join(platform.python_version_tuple()[:2])
    return {"python": python, **{name: version(name) for name in ("structural-svm", "numpy", "numba")}}


@frozen(eq=False)
class ShardSummary:
    """Sizes (examples, weights, scores), number of usable examples, whether any has a weight, and digest of a shard.

    The digest covers sizes and data; it is the same whenever the shard is rebuilt if it is ``reproducible``.
    """

    sizes: tuple[int, int, int] = (0, 0, 0)
    used: int = 0
    weighted: bool = False
    digest: Vector = field(factory=lambda: np.zeros(3))
    reproducible: bool = True


@frozen(eq=False)
class PointRequest:
    """A point whose scores a shard needs: by token, from weights, or at ``t`` between two other points."""

    token: int
    w: Vector | None = None
    base: "PointRequest | None" = None
    target: "PointRequest | None" = None
    t: float = 0.0


@frozen(eq=False)
class PartialSums:
    """Sums over the examples of a shard; ``exact`` is empty if it has lost the scores, ``vector`` None without rows."""

    exact: tuple[ExactSum, ...] = ()
    vector: VectorSum | None = None
    largest: tuple[float, ...] = ()

    def merged(self, others: Sequence[Self]) -> "PartialSums":
        """Add up the sums of several shards."""
        sums = [self, *others]
        if not all(part.exact for part in sums):
            return PartialSums()
        exact = tuple(ExactSum.merged(column) for column in zip(*(part.exact for part in sums), strict=True))
        vectors = [part.vector for part in sums if part.vector is not None]
        largest = tuple(max(column) for column in zip(*(part.largest for part in sums), strict=True))
        return PartialSums(exact, VectorSum.merged(vectors) if vectors else None, largest)


class Shard:
    """A prepared partition: its part of a `Problem` (None without rows), and the scores of some points by token.

    Every call has the C and the number of usable examples of the whole problem, because problems share their shards.
    """

    def __init__(self, problem: Problem | None, title: str) -> None:
        self.title = title
        self.problem = problem
        self._scores: dict[int, Point] = {}
        self._earlier: deque[Planes] = deque(maxlen=_STORED_PLANES)

    def __getstate__(self) -> dict[str, Any]:
        """Drop the cached scores and planes."""
        return {**vars(self), "_scores": {}, "_earlier": deque(maxlen=_STORED_PLANES)}

    def __sizeof__(self) -> int:
        """Return the bytes of the shard, for schedulers that place data by size."""
        scores = sum(int(point.scores.nbytes) for point in list(self._scores.values()))
        scores += sum(int(planes.coef.nbytes) for planes in list(self._earlier))
        return 1000 + scores + (0 if self.problem is None else 8 * self.problem.stored)

    @cached_property
    def _summary(self) -> ShardSummary:
        problem = self.problem
        if problem is None:
            return ShardSummary()
        content = Content()
        with naming(self.title):
            as_part_of(problem, 1.0, 1).add_content(content)
        digest = np.array([*problem.sizes, *content.digest()], dtype=np.float64)
        used, weighted = problem.n - problem.left_out, bool(problem.weights.any())
        return ShardSummary(problem.sizes, used, weighted, digest, content.known)

    def summary(self) -> ShardSummary:
        """Return the summary for the driver; it costs half a pass the first time."""
        return self._summary

    def require_digest(self, digest: Vector | None) -> Self:
        """Return this shard; raise InputError if it was rebuilt from data with another digest."""
        if digest is not None and not np.array_equal(self._summary.digest, digest):
            raise InputError(
                f"{self.title} was read again after its worker was lost, and its data or labels have changed since the "
                "fit began. Start again, and leave the data unchanged"
            )
        return self

    def of(self, C: float, used: int) -> Problem | None:
        """Return the shard's part of a problem with this C and ``used`` examples in all shards."""
        problem = self.problem
        if problem is not None and (problem.C, problem.used) != (C, used):
            self.problem = problem = as_part_of(problem, C, used)
        return problem

    def total_cap(self, C: float, used: int) -> PartialSums:
        """Return the sum of the caps of the examples."""
        problem = self.of(C, used)
        return PartialSums((ExactSum() if problem is None else ExactSum.of(problem.cap),))

    def line_values(self, C: float, used: int, requests: Sequence[PointRequest], steps: Vector) -> PartialSums:
        """Return weighted hinges and their slopes, shape (steps,), at steps t along the line between two points."""
        problem = self.of(C, used)
        if problem is None:
            return PartialSums(tuple(ExactSum() for _ in steps), largest=(0.0, 0.0))
        with naming(self.title):
            base, target = (self.point(problem, request) for request in requests)
            if base is None or target is None:
                return PartialSums()
            along = target.scores - base.scores
            hinges, slopes = [], []
            for t in steps.tolist():
                point = base.toward(target, t) if t else base
                planes = problem.planes(point)
                hinges.append(problem.exact_hinge(planes, point))
                slopes.append(-problem.slope(planes, along))
        largest = problem.largest_score(base), problem.largest_score(target)
        return PartialSums(tuple(hinges), VectorSum(np.array(slopes)), largest)

    def hinge_and_cut(self, C: float, used: int, requests: Sequence[PointRequest], total: float) -> PartialSums:
        """Return the weighted hinge, ``Σ κ_i C/n`` times the hinges, and the cut, over all caps' ``total``."""
        problem = self.of(C, used)
        if problem is None:
            return PartialSums((ExactSum(), ExactSum()), largest=(0.0,))
        with naming(self.title):
            point = self.point(problem, requests[0])
            if point is None:
                return PartialSums()
            planes = problem.planes(point)
            if problem.exact:
                problem.require_unbeaten(planes, point, list(self._earlier))
            self._earlier.append(planes)
            g, L = problem.weighted(planes, total)
            return PartialSums((problem.exact_hinge(planes, point), L), VectorSum(g), (problem.largest_score(point),))

    def point(self, problem: Problem, request: PointRequest) -> Point | None:
        """Return a point with its scores; None if they are lost and the request has no weights."""
        point = self._scores.pop(request.token, None)
        if point is None and request.w is not None:
            point = problem.at(request.w) if request.w.any() else problem.origin()
        elif point is None and request.base is not None and request.target is not None:
            base, target = self.point(problem, request.base), self.point(problem, request.target)
            point = None if base is None or target is None else base.toward(target, request.t)
        if point is not None:
            self._scores[request.token] = point
            for token in list(self._scores)[:-_STORED_SCORES]:
                self._scores.pop(token, None)
        return point


def make_shard(part: Partition, loss: ScoreLoss[Any], intercept: float, versions: Mapping[str, str]) -> Shard:
    """Make a shard from a partition; raise InputError that names it if the data are not valid or versions differ."""
    present = library_versions()
    differ = [f"{name} {present[name]} (here {ours})" for name, ours in versions.items() if present[name] != ours]
    if differ:
        raise InputError(
            f"the worker of {part.title} has other versions than this process, so its numbers could differ: "
            f"{', '.join(differ)}. Install the same versions everywhere"
        )
    if not part.rows:
        return Shard(None, part.title)
    with naming(part.title):
        weights = part.sample_weight
        # Other partitions may have weights above 0.
        absent = weights is not None and not numbers(weights, "sample_weight").any()
        examples = ranking_examples(part.X, np.asarray(part.y), part.qid, loss, None if absent else weights, intercept)
        if absent:
            examples = evolve(examples, weights=np.zeros(examples.operator.n))
        return Shard(part_alone(examples), part.title)
