"""Problems whose data are spread over a cluster."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from typing import Any, Self

import numpy as np
from attrs import evolve, field, frozen

from structsvm.distributed.cluster import Cluster
from structsvm.distributed.partition import (
    Survey,
    as_partition,
    labels_of,
    require_alike,
    require_ends_apart,
    survey_partition,
)
from structsvm.distributed.shard import (
    PartialSums,
    PointRequest,
    Shard,
    ShardSummary,
    library_versions,
    make_shard,
)
from structsvm.exceptions import ClusterError, InputError
from structsvm.foundation.arrays import numbers
from structsvm.foundation.settings import as_list, require_number
from structsvm.foundation.types import Vector
from structsvm.losses import ScoreLoss
from structsvm.problem.base import AbstractProblem, CallCounts
from structsvm.problem.checks import require_C, require_caps, require_moderate
from structsvm.problem.content import Content
from structsvm.problem.coordinates import Coordinates
from structsvm.problem.line import Line, LineHinge
from structsvm.problem.points import Cut
from structsvm.registry import losses

_TRIES = 5
"""Attempts of a call if shards have lost the scores of a point with their workers."""

_TOGETHER = 6
"""Steps per call of a line search; a sequential search needs about as many in all."""


class SpreadPoint:
    """Weights w (or coordinates), shape (d,), at the driver; the workers store the scores under ``token``."""

    def __init__(self, w: Vector, tokens: Iterator[int], moves: int = 0) -> None:
        self.w = w
        self.token = next(tokens)
        self.moves = moves
        self.largest: float | None = None
        self.scored = False
        self._tokens = tokens
        # Base, target and t, for shards that lose the scores.
        self._origin: tuple[SpreadPoint, SpreadPoint, float] | None = None

    def toward(self, other: "SpreadPoint", t: float) -> "SpreadPoint":
        """Return ``(1 − t)`` times this point plus t times ``other``, without a message to the workers."""
        point = SpreadPoint(self.w + t * (other.w - self.w), self._tokens, max(self.moves, other.moves) + 1)
        point._origin = self, other, t
        if self.largest is not None and other.largest is not None:
            point.largest = abs(1.0 - t) * self.largest + abs(t) * other.largest
        return point

    def request(self, weights_at: Callable[[Vector], Vector], *, lost: bool = False) -> PointRequest:
        """Return the request to a shard for the scores, with all moves if they are ``lost``."""
        if self.scored and not lost:
            return PointRequest(self.token)
        if self._origin is None:
            return PointRequest(self.token, weights_at(self.w))
        base, target, t = self._origin
        first, second = (end.request(weights_at, lost=lost) for end in (base, target))
        return PointRequest(self.token, None, first, second, t)

    def note(self) -> None:
        """Record that the shards have the scores of this point and of the points that it was computed from."""
        if not self.scored and self._origin is not None:
            for end in self._origin[:2]:
                end.note()
        self.scored = True


class SpreadPlanes:
    """The argmaxes at a point, which the driver sees as sums only; ``hinge`` is their weighted hinge, if known."""

    def __init__(self, point: SpreadPoint, hinge: float | None = None) -> None:
        self.point = point
        self.hinge = hinge
        self.cut: Cut | None = None


@frozen(eq=False, kw_only=True)
class DistributedProblem(AbstractProblem):
    """A `Problem` whose partitions stay at the workers of a cluster, for `OneSlack`; made by `from_queries`.

    The driver has weights and cuts; a shard at a worker has rows, labels and scores. A round of 1-slack takes three
    calls to all shards, which send and return some vectors of d numbers.

    Partitions do not change the bounds, not even their last bit: scores of a row do not depend on other rows, and sums
    over partitions are rounded once (`ExactSum`, `VectorSum`). Rounding within partitions may lead to another path, not
    to a wrong bound.

    Parameters
    ----------
    cluster, shards : the cluster, and its references to the shards of the problem.
    loss : the loss, bound to the labels of all data.
    summaries : sizes and digest of each shard.
    C, used, left_out, total_cap, known_fingerprint, coordinates : as in `Problem`.
    tokens : numbers of the points at the shards; all problems on the same shards share them.

    Examples
    --------
    >>> from structsvm import Problem
    >>> from structsvm.distributed import InProcess, Partition
    >>> from structsvm.solvers import OneSlack
    >>> X, y, qid = np.array([[1.0], [2.0], [3.0], [1.0]]), np.array([0, 1, 1, 0]), np.array([1, 1, 2, 2])
    >>> parts = [Partition(X[rows], y[rows], qid[rows]) for rows in (slice(0, 2), slice(2, 4))]
    >>> spread = OneSlack(tol=1e-6).solve(DistributedProblem.from_queries(InProcess(), parts, loss="map"))
    >>> whole = OneSlack(tol=1e-6).solve(Problem.from_queries(X, y, qid, loss="map"))
    >>> abs(spread.primal - whole.primal) < 1e-6
    True
    """

    cluster: Cluster = field(repr=False)
    shards: Sequence[Any] = field(repr=False)
    loss: ScoreLoss[Any]
    summaries: tuple[ShardSummary, ...] = field(repr=False)
    C: float
    used: int
    left_out: int
    total_cap: float = field(repr=False)
    known_fingerprint: Vector | None = field(default=None, repr=False)
    coordinates: Coordinates | None = None
    _tokens: Iterator[int] = field(factory=count, repr=False)

    @classmethod
    def from_queries(
        cls,
        cluster: Cluster,
        parts: Iterable[Any],
        *,
        loss: str | ScoreLoss[Any] = "map",
        C: float = 1.0,
        intercept: float = 0.0,
        surveys: Sequence[Survey] | None = None,
    ) -> Self:
        """Make a ranking problem from partitions of whole queries.

        Parameters
        ----------
        cluster : the cluster that has or will have the partitions.
        parts : partitions (`Partition`), or references that the cluster resolves to partitions (futures). No query may
            be in two partitions; only the least and greatest id of each are checked.
        loss : name or object. It is bound to the distinct labels of all partitions. Each partition computes the tables
            that the loss needs for all its outputs (`ScoreLoss.params`).
        C : weight of the mean hinge; positive.
        intercept : value of a constant feature that is added to every row; 0: no constant feature.
        surveys : summaries of the partitions, if an earlier check found that they share no queries.

        Raises
        ------
        ClusterError : workers do not answer.
        """
        require_C(C)
        require_number("intercept", intercept)
        parts = as_list("parts", parts, "a list of partitions, a Partition each")
        if not parts:
            raise InputError("there are no partitions: give at least one")
        checked = surveys is not None
        if surveys is None:
            parts = cluster.keep(as_partition, parts, [f"partition {number}" for number in range(len(parts))])
            surveys = cluster.ask(survey_partition, parts)
        filled = [survey for survey in surveys if survey.rows]
        if not filled:
            raise InputError(f"all {len(parts)} partitions are empty: pass at least one row")
        require_alike(filled, {"features": "columns", "labels": "labeled"})
        if not filled[0].labeled:
            raise InputError("the partitions have no labels, which a loss needs: give y")
        bound: ScoreLoss[Any] = losses.create(loss).bind(labels_of(filled))
        if not (checked or bound.per_row):
            require_ends_apart(surveys)
        settings = (bound, intercept, library_versions())
        shards = cluster.keep(make_shard, parts, *([setting] * len(parts) for setting in settings))
        summaries: list[ShardSummary] = cluster.ask(Shard.summary, shards)
        digests = [summary.digest if summary.reproducible else None for summary in summaries]
        n, used = sum(summary.sizes[0] for summary in summaries), sum(summary.used for summary in summaries)
        if not used:
            raise InputError(
                f"{bound.title} cannot learn from any of the {n} queries: "
                f"{bound.why_unusable or 'each has labels of one kind only'}"
            )
        if not any(summary.weighted for summary in summaries):
            raise InputError("sample_weight is zero at every row that can be learned from")
        problem = cls(
            cluster=cluster,
            shards=cluster.keep(Shard.require_digest, shards, digests),
            loss=bound,
            summaries=tuple(summaries),
            C=float(C),
            used=used,
            left_out=n - used,
            total_cap=0.0,
        )
        return problem.with_C(C)

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Number of examples, of weights and of scores."""
        n, d, scores = zip(*(summary.sizes for summary in self.summaries), strict=True)
        return sum(n), max(d), sum(scores)

    @property
    def traffic(self) -> CallCounts:
        """Network traffic so far."""
        return self.cluster.traffic

    def with_C(self, C: float) -> Self:
        """Return the problem with another C on the same shards: one call."""
        require_C(C)
        (total,) = self.cluster.total(Shard.total_cap, self.shards, float(C), self.used).exact
        require_caps(np.array([total.value]))
        return evolve(self, C=float(C), total_cap=total.value)

    def origin(self) -> SpreadPoint:
        """Return the point within bounds with the smallest regularizer: ``w = 0`` unless the center is elsewhere."""
        return SpreadPoint(self.nearest(np.zeros(self.d)), self._tokens)

    def at(self, w: Vector) -> SpreadPoint:
        """Return the point at weights w, or the nearest within bounds; scores are computed on demand."""
        w = numbers(w, "w")
        if w.shape != (self.d,):
            raise InputError(f"w must be {self.d} weights, got shape {w.shape}")
        return SpreadPoint(self.nearest(w), self._tokens)

    def planes(self, point: SpreadPoint) -> SpreadPlanes:
        """Return the planes at a point; they are computed when a sum over them is needed."""
        return SpreadPlanes(point)

    def hinge(self, planes: SpreadPlanes, point: SpreadPoint) -> float:
        """Return the part of ``P(w)`` from hinges, exactly rounded: one call, which also returns the cut."""
        return self._evaluated(planes)[0] if planes.hinge is None else planes.hinge

    def cut(self, planes: SpreadPlanes) -> Cut:
        """Return the weighted mean of the planes, ``Σ κ_i (g_i, L_i) / Σ κ_i``; no call if their hinge is known."""
        cut = planes.cut or self._evaluated(planes)[1]
        if cut is None:
            raise ClusterError("no partition returned a cut: fit again")
        return cut

    def line(self, base: SpreadPoint, planes: SpreadPlanes, target: SpreadPoint) -> Line:
        """Return the objective on the line from a point through a target; the planes are the point's."""
        return _SpreadLine(self, base, planes, target)

    def estimate(self, planes: SpreadPlanes, point: SpreadPoint, known: Vector) -> float:
        """Return the largest known lower bound of ``P(w)``; see `AbstractProblem.estimate`."""
        return self.regularizer(point.w) + max(self.hinge(planes, point), float(self.total_cap * known[0]))

    def largest_score(self, point: SpreadPoint) -> float:
        """Return the largest absolute score at an evaluated point, or a bound of it."""
        return 0.0 if point.largest is None else point.largest

    def add_content(self, content: Content) -> None:
        """Add the digests of the partitions, in order, and their number to the fingerprint."""
        content.add((self.used, tuple(summary.digest for summary in self.summaries)))
        if self.coordinates is not None:
            content.add(self.coordinates.content)
        if not all(summary.reproducible for summary in self.summaries):
            content.add_unknown()

    def _evaluated(self, planes: SpreadPlanes) -> tuple[float, Cut | None]:
        """Evaluate hinge and cut of planes, and cache them; the cut is None if no partition has rows."""
        point = planes.point
        sums = self._total(Shard.hinge_and_cut, (point,), self.total_cap)
        (point.largest,) = sums.largest
        planes.hinge, L = (total.value for total in sums.exact)
        if sums.vector is not None:
            g = sums.vector.value
            if self.coordinates is not None:
                (g,), (L,) = self.coordinates.planes(g[np.newaxis], np.array([L]))
            require_moderate(g[np.newaxis], self.C)
            planes.cut = Cut(g, float(L))
        return planes.hinge, planes.cut

    def _total(self, function: Callable[..., PartialSums], points: Sequence[SpreadPoint], argument: Any) -> PartialSums:
        """Call all shards with points; if a worker lost scores, call again with instructions to compute them."""
        for attempt in range(_TRIES):
            requests = tuple(point.request(self.to_weights, lost=attempt > 0) for point in points)
            sums: PartialSums = self.cluster.total(function, self.shards, self.C, self.used, requests, argument)
            if sums.exact:
                for point in points:
                    point.note()
                return sums
        raise ClusterError(
            f"shards lost the scores of a point {_TRIES} times in a row, because workers keep dying: give them more "
            "memory"
        )


class _SpreadLine(Line):
    """A line whose scores are at the workers."""

    def __init__(
        self, problem: DistributedProblem, base: SpreadPoint, planes: SpreadPlanes, target: SpreadPoint
    ) -> None:
        self.regularizer = problem.regularizer_between(base.w, target.w)
        self._problem, self._base, self._planes, self._target = problem, base, planes, target
        self._seen: dict[float, float] = {}

    @property
    def together(self) -> int:
        return _TOGETHER

    def hinges(self, steps: Sequence[float]) -> list[LineHinge]:
        """Return the weighted hinge and its slope at several t: one call."""
        base, target = self._base, self._target
        sums = self._problem._total(Shard.line_values, (base, target), np.array(steps, dtype=np.float64))
        base.largest, target.largest = sums.largest
        values = [total.value for total in sums.exact]
        slopes = np.zeros(len(steps)) if sums.vector is None else sums.vector.value
        self._seen.update(zip(steps, values, strict=True))
        self.argmaxes += len(steps)
        return list(map(LineHinge, values, slopes.tolist()))

    def at(self, t: float) -> tuple[SpreadPoint, SpreadPlanes]:
        """Return the point at t, and its planes, with their hinge if it was evaluated before."""
        if t == 0.0:
            return self._base, self._planes
        point = self._base.toward(self._target, t)
        self.argmaxes += 1
        return point, SpreadPlanes(point, self._seen.get(t))
