"""The problem whose data are spread over a cluster."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from typing import Any, Self

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import ArrayLike

from structsvm.arrays import numbers
from structsvm.compute.summation import ExactSum
from structsvm.distributed.cluster import Cluster, Kept
from structsvm.distributed.shard import (
    Evaluated,
    Facts,
    Labels,
    Looked,
    Lost,
    Question,
    Recipe,
    evaluate,
    facts,
    labels_of,
    look,
    make_shard,
    partition_of,
    require_versions,
    same_as_before,
    total_cap,
    versions,
)
from structsvm.exceptions import ClusterError, InputError
from structsvm.losses import ScoreLoss
from structsvm.problem import AbstractProblem, Coordinates, Cut, Line, LineHinge, Traffic
from structsvm.problem.checks import require_C, require_caps, require_moderate
from structsvm.problem.content import Content
from structsvm.problem.coordinates import Bounds
from structsvm.registry import losses
from structsvm.settings import as_list, require_integer, require_number
from structsvm.types import Vector

_TRIES = 5
"""How often shards are asked again that have lost the scores of a point: each time a worker was lost."""

TOGETHER = 6
"""Steps that are looked at together in a line search: about the argmaxes that a search step by step takes in all."""


class SpreadPoint:
    """Weights at the driver, whose scores are at the workers.

    Parameters
    ----------
    w : weights, shape (d,), or their coordinates, where the problem has some.
    tokens : gives each point a number of its own.
    moves : moves along lines since the weights were scored.

    Attributes
    ----------
    token : that number.
    largest : the largest absolute score, or a bound of it, where one is known.
    scored : whether the shards have the scores.
    """

    def __init__(self, w: Vector, tokens: Iterator[int], moves: int = 0) -> None:
        self.w = w
        self.token = next(tokens)
        self.moves = moves
        self.largest: float | None = None
        self.scored = False
        self._tokens = tokens
        self._made_of: tuple[SpreadPoint, SpreadPoint, float] | None = None  # kept, for shards that lose the scores

    def toward(self, other: "SpreadPoint", t: float) -> "SpreadPoint":
        """Return the point at ``(1 − t)`` times this one plus t times the other: nothing is sent for it."""
        point = SpreadPoint(self.w + t * (other.w - self.w), self._tokens, max(self.moves, other.moves) + 1)
        point._made_of = self, other, t
        if self.largest is not None and other.largest is not None:
            point.largest = abs(1.0 - t) * self.largest + abs(t) * other.largest
        return point

    def recipe(self, weights_at: Callable[[Vector], Vector], *, lost: bool = False) -> Recipe:
        """Return how a shard comes by the scores: by those that it has, or where these are lost, as they were made.

        Scores that were moved along lines are not those of the weights to the last bit, so that a shard that lost them
        is told the weights that were scored and all moves since.

        Parameters
        ----------
        weights_at : gives the weights at coordinates, which a shard knows nothing of.
        lost : whether some shards do not have the scores any more.
        """
        if self.scored and not lost:
            return Recipe(self.token)
        if self._made_of is None:
            return Recipe(self.token, weights_at(self.w))
        base, target, t = self._made_of
        return Recipe(self.token, None, base.recipe(weights_at, lost=lost), target.recipe(weights_at, lost=lost), t)

    def note(self) -> None:
        """Note that the shards have the scores now, and those of the points that it was made of."""
        if self.scored:
            return
        if self._made_of is not None:
            for each in self._made_of[:2]:
                each.note()
        self.scored = True


class SpreadPlanes:
    """The argmaxes at a point, of which the driver sees sums alone.

    Parameters
    ----------
    point : the point.
    hinge : the weighted hinge there, where it is known.
    """

    def __init__(self, point: SpreadPoint, hinge: float | None = None) -> None:
        self.point = point
        self.hinge = hinge
        self.cut: Cut | None = None


@frozen(eq=False, kw_only=True)
class DistributedProblem(AbstractProblem):
    """A `Problem` in partitions that stay where they are, for `OneSlack`.

    The driver holds weights and cuts; a shard at a worker holds rows, labels and scores. A round of 1-slack takes three
    calls, each an answer of every shard to one question, and a fit one more at its beginning and one at its end:

    1. d numbers down: score the target, and look at t = 0 and six steps t on the line to it: some 30 numbers up.
    2. six steps t between the two next to the minimum, if the first look left more than a hundredth of the descent.
    3. the best t down: its scores from those at hand, then the argmax of the point where to cut, and 2 d + 3 numbers
       up, ``Σ κ_i (g_i, L_i)`` and the hinge.

    The bounds are those of one machine, to the last bit, whatever the partitions: scores of a row do not depend on
    the others, and hinges are summed up without rounding (`ExactSum`). Cuts are sums of vectors: each partition sums
    up its own as one machine does, and these are added with twice the digits and rounded once (`VectorSum`), wherever
    they are. The rounding within partitions may lead to another path, not to a wrong bound.

    Make one with `from_queries`.

    Parameters
    ----------
    cluster : the cluster that holds the shards.
    shards : what the cluster keeps for the problem.
    loss : the loss, which knows what it must of all data.
    shape : examples, weights and scores of each shard, and digests of their data.
    C : weight of the mean hinge.
    used, left_out : queries that the loss can learn from, and those it cannot.
    total_cap : ``Σ κ_i C / n``.
    together : steps of a line search that are looked at in one call.
    known_fingerprint : the `fingerprint`, where it is known.
    coordinates : of points and cuts, where the regulariser is another than ``½‖w‖²``: shards see weights alone, and
        return planes of these.
    tokens : numbers that points have at the shards; one sequence for all problems of the same shards.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm import Problem
    >>> from structsvm.distributed import DistributedProblem, InProcess, Partition
    >>> from structsvm.solvers import OneSlack
    >>> X, y, qid = np.array([[1.0], [2.0], [3.0], [1.0]]), np.array([0, 1, 1, 0]), np.array([1, 1, 2, 2])
    >>> parts = [Partition(X[rows], y[rows], qid[rows]) for rows in (slice(0, 2), slice(2, 4))]
    >>> spread = OneSlack(tol=1e-6).solve(DistributedProblem.from_queries(InProcess(), parts, loss="map"))
    >>> whole = OneSlack(tol=1e-6).solve(Problem.from_queries(X, y, qid, loss="map"))
    >>> abs(spread.primal - whole.primal) < 1e-6
    True
    """

    cluster: Cluster = field(repr=False)
    shards: Sequence[Kept] = field(repr=False)
    loss: ScoreLoss[Any]
    shape: tuple[Facts, ...] = field(repr=False)
    C: float
    used: int
    left_out: int
    total_cap: float = field(repr=False)
    together: int = TOGETHER
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
        together: int = TOGETHER,
    ) -> Self:
        """Make a ranking problem of partitions of whole queries.

        Parameters
        ----------
        cluster : where they are, or shall be.
        parts : a `Partition` each, ``(X, y, qid, sample_weight)``, or what the cluster takes for one elsewhere (a
            future of one). No query may be in two of them, which is refused where the least or the greatest id of both
            is the same; elsewhere such a query counts as two.
        loss : name or object. It is bound to the distinct labels of all partitions. Tables that it makes of all
            outputs (`ScoreLoss.params`) are made of those of each partition.
        C : weight of the mean hinge; positive.
        intercept : value of a constant feature that is added to every row; 0 for none.
        together : steps of a line search that are looked at in one call.

        Raises
        ------
        InputError : when partitions do not fit each other, a worker has other versions than the driver, or no query
            can be learned from.
        ClusterError : when workers do not answer.
        """
        require_C(C)
        require_number("intercept", intercept)
        require_integer("together", together, 1)
        parts = as_list("parts", parts, "a list of partitions, a Partition each")
        if not parts:
            raise InputError("there are no partitions: give at least one")
        here = versions()
        held = cluster.keep(partition_of, parts, range(len(parts)))
        seen: list[Labels] = cluster.ask(labels_of, held)
        for number, each in enumerate(seen):
            require_versions(here, each.versions, f"the worker that has partition {number}")
        filled = [each for each in seen if each.rows]
        if not filled:
            raise InputError(f"there are no rows in any of the {len(parts)} partitions")
        labels = np.unique(np.concatenate([np.asarray(each.values) for each in filled]))
        bound: ScoreLoss[Any] = losses.create(loss).bind(labels)
        if not bound.per_row:
            _require_apart(seen)
        settings = (bound, intercept, filled[0].d, here)
        made = cluster.keep(make_shard, held, range(len(parts)), *([each] * len(parts) for each in settings))
        shape: list[Facts] = cluster.ask(facts, made)
        digests = [each.digest if each.known else None for each in shape]
        shards = cluster.keep(same_as_before, made, digests)
        used = sum(each.used for each in shape)
        if not used:
            raise InputError(
                f"{bound.title} can learn from none of the {sum(each.n for each in shape)} queries: "
                f"{bound.why_unusable or 'each has labels of one kind only'}"
            )
        if not any(each.weighted for each in shape):
            raise InputError("sample_weight is zero at every row that can be learned from")
        problem = cls(
            cluster=cluster,
            shards=shards,
            loss=bound,
            shape=tuple(shape),
            C=float(C),
            used=used,
            left_out=sum(each.n for each in shape) - used,
            total_cap=0.0,
            together=int(together),
        )
        return problem.with_C(C)

    @property
    def n(self) -> int:
        """Number of examples, those without weight included."""
        return self.sizes[0]

    @property
    def d(self) -> int:
        """Number of weights."""
        return self.sizes[1]

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Number of examples, of weights and of scores."""
        n, scores = (sum(getattr(each, name) for each in self.shape) for name in ("n", "scores"))
        return n, max(each.d for each in self.shape), scores

    @property
    def traffic(self) -> Traffic:
        """What went over the network so far."""
        return self.cluster.traffic

    def with_C(self, C: float) -> Self:
        """Return the problem with another C, of the same shards: one call."""
        require_C(C)
        total: ExactSum = self.cluster.total(total_cap, self.shards, float(C), self.used).sum
        require_caps(np.array([total.value]))
        return evolve(self, C=float(C), total_cap=total.value)

    def knowing(self, fingerprint: Vector) -> Self:
        """Return the problem with its fingerprint known."""
        return evolve(self, known_fingerprint=fingerprint)

    def regularised(
        self,
        *,
        centre: ArrayLike | None = None,
        penalty: ArrayLike | None = None,
        linear: ArrayLike | None = None,
        bounds: Bounds | None = None,
    ) -> Self:
        """Return the problem with another regulariser, and bounds, of which the driver alone knows: nothing is sent.

        See `AbstractProblem.regularised`.
        """
        coordinates = Coordinates.of(self.d, centre, penalty, linear, bounds)
        return evolve(self, coordinates=coordinates, known_fingerprint=None)

    def origin(self) -> SpreadPoint:
        """Return the point within bounds whose regulariser is least: ``w = 0``, unless there is a centre elsewhere."""
        return SpreadPoint(self.nearest(np.zeros(self.d)), self._tokens)

    def at(self, w: Vector) -> SpreadPoint:
        """Return the point at weights w, or the nearest within bounds: nothing is scored before it is asked for."""
        w = numbers(w, "w")
        if w.shape != (self.d,):
            raise InputError(f"w must be {self.d} weights, got shape {w.shape}")
        return SpreadPoint(self.nearest(w), self._tokens)

    def planes(self, point: SpreadPoint) -> SpreadPlanes:
        """Return the planes at a point: nothing is asked before a sum over them is."""
        return SpreadPlanes(point)

    def hinge(self, planes: SpreadPlanes, point: SpreadPoint) -> float:
        """Return the second part of ``P(w)``, exactly rounded: one call, which brings the cut too."""
        return self._evaluated(planes)[0] if planes.hinge is None else planes.hinge

    def cut(self, planes: SpreadPlanes) -> Cut:
        """Return the weighted mean of the planes, ``Σ κ_i (g_i, L_i) / Σ κ_i``: no call after that of their hinge."""
        cut = planes.cut or self._evaluated(planes)[1]
        if cut is None:
            raise ClusterError("no partition answered with a cut")
        return cut

    def line(self, base: SpreadPoint, planes: SpreadPlanes, target: SpreadPoint) -> Line:
        """Return the objective on the line from a point, with its planes, through another."""
        return _SpreadLine(self, base, planes, target)

    def estimate(self, planes: SpreadPlanes, point: SpreadPoint, known: Vector) -> float:
        """Return the largest lower bound of ``P(w)`` that is known; see `AbstractProblem.estimate`."""
        return self.regulariser(point.w) + max(self.hinge(planes, point), float(self.total_cap * known[0]))

    def largest_score(self, point: SpreadPoint) -> float:
        """Return the largest absolute score of a point that was looked at, or a bound of it."""
        return 0.0 if point.largest is None else point.largest

    def tell(self, content: Content) -> None:
        """Add what tells the problem from others: the digests of its partitions, in their order, and their number."""
        content.add((self.used, tuple(each.digest for each in self.shape)))
        if self.coordinates is not None:
            content.add(self.coordinates.content)
        if not all(each.known for each in self.shape):
            content.add_unknown()

    def _evaluated(self, planes: SpreadPlanes) -> tuple[float, Cut | None]:
        """Return the hinge and the cut of planes, and note them; no cut where no partition has rows."""
        point = planes.point
        found: Evaluated = self._asked((point,), evaluate, self.total_cap)
        point.largest = found.largest
        planes.hinge = found.hinge.value
        if found.g is not None:
            g, L = found.g.value, found.L.value
            if self.coordinates is not None:
                (g,), (L,) = self.coordinates.planes(g[np.newaxis], np.array([L]))
            require_moderate(g[np.newaxis], self.C)
            planes.cut = Cut(g, float(L))
        return planes.hinge, planes.cut

    def _asked(self, points: tuple[SpreadPoint, ...], function: Any, argument: Any) -> Any:
        """Ask all shards about points; where scores were lost with a worker, once more, saying how to make them."""
        for attempt in range(_TRIES):
            recipes = tuple(each.recipe(self.to_weights, lost=attempt > 0) for each in points)
            question = Question(self.C, self.used, recipes)
            answer = self.cluster.total(function, self.shards, question, argument)
            if not isinstance(answer, Lost):
                for each in points:
                    each.note()
                return answer
        raise ClusterError(f"shards lost the scores of a point {_TRIES} times one after the other: workers keep dying")


class _SpreadLine(Line):
    """A line whose points have their scores at the workers."""

    def __init__(
        self, problem: DistributedProblem, base: SpreadPoint, planes: SpreadPlanes, target: SpreadPoint
    ) -> None:
        self.regulariser = problem.regulariser_between(base.w, target.w)
        self._problem, self._base, self._planes, self._target = problem, base, planes, target
        self._seen: dict[float, float] = {}

    @property
    def together(self) -> int:
        return self._problem.together

    def hinges(self, steps: Sequence[float]) -> list[LineHinge]:
        """Return the weighted hinge and its slope at some t: one call."""
        base, target = self._base, self._target
        found: Looked = self._problem._asked((base, target), look, np.array(steps, dtype=np.float64))
        base.largest, target.largest = found.largest
        values = [each.value for each in found.hinges]
        self._seen.update(zip(steps, values, strict=True))
        return [LineHinge(*each) for each in zip(values, found.slopes.value.tolist(), strict=True)]

    def at(self, t: float) -> tuple[SpreadPoint, SpreadPlanes]:
        """Return the point at t, which was looked at, and its planes, of which the hinge is known."""
        if t == 0.0:
            return self._base, self._planes
        point = self._base.toward(self._target, t)
        return point, SpreadPlanes(point, self._seen[t])


def _require_apart(seen: Sequence[Labels]) -> None:
    """Require that no query is in two partitions, as far as the least and the greatest id of each tell.

    Raises
    ------
    InputError : it names a query, and two partitions that have it.
    """
    holders: dict[Any, int] = {}
    for number, each in enumerate(seen):
        for query in set(each.ends):
            other = holders.setdefault(query, number)
            if other != number:
                raise InputError(
                    f"query {query} is in partition {other} and in partition {number}: the rows of a query must be in "
                    "one partition, and queries of different partitions need different ids"
                )
