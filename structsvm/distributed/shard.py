"""What runs at a worker: functions of a shard, which is a partition of the data made ready."""

import platform
from collections import deque
from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
from attrs import evolve, field, frozen

from structsvm.arrays import numbers
from structsvm.compute.summation import ExactSum, VectorSum
from structsvm.distributed.partition import Partition, naming
from structsvm.exceptions import InputError
from structsvm.losses import ScoreLoss
from structsvm.problem import Planes, Point, Problem
from structsvm.problem.content import Content
from structsvm.problem.part import as_part_of, part_alone
from structsvm.problem.ranking_examples import RankingExamples, ranking_examples
from structsvm.types import Vector

_KEPT_SCORES = 4
"""Vectors of scores that a shard keeps: those of the best point, the target, the point between them, and one more."""

_OF_NOTHING = np.zeros(3)
"""The digest of a partition without rows: of no examples, weights and scores."""

_KEPT_PLANES = 2
"""Evaluated points of which a shard keeps the planes, to compare those of the next with."""


class Versions(NamedTuple):
    """What must be the same at the driver and at every worker."""

    python: str
    structsvm: str
    numpy: str
    numba: str


def versions() -> Versions:
    """Return the versions in this process; of Python without the last number."""
    python = ".".join(platform.python_version_tuple()[:2])
    return Versions(python, *(version(name) for name in ("structural-svm", "numpy", "numba")))


@frozen(eq=False)
class Labels:
    """The distinct labels of a partition, which a loss may have to know of, and the versions at its worker.

    Parameters
    ----------
    values : the labels, ascending, unless they are of a kind that has no order: then as they come.
    rows, d : rows and features; d is 0 where there are no rows.
    ends : the least and the greatest of its query ids; none where there are none.
    versions : versions at the worker.
    """

    values: Any
    rows: int
    d: int
    ends: tuple[Any, ...]
    versions: Versions


@frozen(eq=False)
class Facts:
    """What the driver knows of a shard.

    Parameters
    ----------
    n, used, scores, d : numbers of examples, of those that the loss can learn from, of scores, and of weights.
    weighted : whether an example that can be learned from has a weight above 0.
    digest : the sizes and the fingerprint of its data; the sizes alone where there are no rows.
    known : whether that is the same whenever it is taken.
    """

    n: int
    used: int
    scores: int
    d: int
    weighted: bool
    digest: Vector
    known: bool


def partition_of(given: Any, number: int) -> Partition:
    """Return the partition that is given: a `Partition`, or a tuple like one.

    Raises
    ------
    InputError : when it is something else; it says which partition that is, and what it must be.
    """
    several = isinstance(given, tuple | list)
    known = isinstance(given, Partition) or (several and 2 <= len(given) <= 4)
    if not known or len(getattr(given[0], "shape", ())) != 2:
        what = f"a {type(given).__name__}" + (f" of {len(given)}" if several else "")
        if known:
            what = f"a {type(given[0]).__name__} for X: an array of shape (rows, d) is one"
        raise InputError(
            f"partition {number} must be a Partition, or (X, y, qid) or (X, y, qid, sample_weight) with a matrix X, "
            f"got {what}"
        )
    return Partition(*given)


def labels_of(part: Partition) -> Labels:
    """Look at the labels of a partition."""
    y = np.asarray(part.y)
    if not len(y):
        return Labels(y, 0, 0, (), versions())
    return Labels(np.unique(y), len(y), int(part.X.shape[1]), _ends(part.qid), versions())


def _ends(qid: Any) -> tuple[Any, ...]:
    """Return the least and the greatest of query ids, of numbers or text; none where they have no order."""
    ids = np.asarray([] if qid is None else qid)
    if ids.dtype.kind == "O" and all(isinstance(each, str) for each in ids):
        ids = ids.astype(str)
    if not ids.size or ids.dtype.kind not in "iufU":
        return ()
    return (ids.min().item(), ids.max().item()) if ids.dtype.kind != "U" else (min(ids.tolist()), max(ids.tolist()))


class Shard:
    """A partition made ready: a `Problem` of its examples, and the scores of some points.

    Scores are kept by the token of their point. They can be made again, to the last bit, from the weights that were
    scored and the moves since, so that losing them, as when the worker dies or the shard moves to another, costs one
    question more and the time of a pass for each of these. Several tasks may ask
    it at a time, of the same problem or of others.

    Parameters
    ----------
    problem : its part of the problem, for some C; None where there are no rows.
    number : number of the partition.
    """

    def __init__(self, problem: Problem | None, number: int) -> None:
        self.number = number
        self._problem = problem
        self._scores: dict[int, Point] = {}
        self._earlier: deque[Planes] = deque(maxlen=_KEPT_PLANES)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the scores and planes behind."""
        return {**self.__dict__, "_scores": {}, "_earlier": deque(maxlen=_KEPT_PLANES)}

    def __sizeof__(self) -> int:
        """Return the bytes of what it holds, for schedulers that place things by their size."""
        scores = sum(int(each.scores.nbytes) for each in list(self._scores.values()))
        scores += sum(int(each.coef.nbytes) for each in list(self._earlier))
        return 1000 + scores + (0 if self._problem is None else 8 * self._problem.stored)

    @property
    def problem(self) -> Problem | None:
        """Its part of the problem; see above."""
        return self._problem

    @cached_property
    def facts(self) -> Facts:
        """What the driver must know of it: half a pass, the first time."""
        problem = self._problem
        if problem is None:
            return Facts(0, 0, 0, 0, weighted=False, digest=_OF_NOTHING, known=True)
        content = Content()
        with naming(f"partition {self.number}"):
            as_part_of(problem, 1.0, 1).tell(content)
        digest = np.array([*problem.sizes, *content.digest()], dtype=np.float64)
        sizes = problem.n, problem.n - problem.left_out, problem.sizes[2], problem.d
        return Facts(*sizes, bool(problem.weights.any()), digest, content.known)

    def of(self, C: float, used: int) -> Problem | None:
        """Return its part of a problem with this C, of which ``used`` examples can be learned from in all."""
        known = self._problem
        if known is not None and (known.C, known.used) != (C, used):
            self._problem = known = as_part_of(known, C, used)
        return known

    def forget(self) -> None:
        """Lose the scores, as when the worker dies."""
        self._scores.clear()
        self._earlier.clear()

    def planes(self, problem: Problem, point: Point) -> Planes:
        """Return the planes at a point, compared with those found at the last points.

        Raises
        ------
        OracleError : when one of these beats an exact argmax; it names the example.
        """
        planes = problem.planes(point)
        if problem.exact:
            problem.require_unbeaten(planes, point, list(self._earlier))
        self._earlier.append(planes)
        return planes

    def point(self, problem: Problem, recipe: "Recipe") -> Point | None:
        """Return a point with its scores; None where they are lost and no weights are given to score them again."""
        point = self._scores.pop(recipe.token, None)
        if point is None:
            point = self._made(problem, recipe)
        if point is not None:
            self._scores[recipe.token] = point
            for token in list(self._scores)[:-_KEPT_SCORES]:
                self._scores.pop(token, None)
        return point

    def _made(self, problem: Problem, recipe: "Recipe") -> Point | None:
        if recipe.w is not None:
            return problem.at(recipe.w) if recipe.w.any() else problem.origin()
        if recipe.base is None or recipe.target is None:
            return None
        base, target = self.point(problem, recipe.base), self.point(problem, recipe.target)
        return None if base is None or target is None else base.toward(target, recipe.t)


@frozen(eq=False)
class Recipe:
    """How a shard comes by the scores of a point: by its token, from weights, or from two other points.

    Parameters
    ----------
    token : number of the point.
    w : weights; None where they are not sent.
    base, target, t : the point is at t on the line from one to another.
    """

    token: int
    w: Vector | None = None
    base: "Recipe | None" = None
    target: "Recipe | None" = None
    t: float = 0.0


@frozen(eq=False)
class Question:
    """What all questions to shards have in common.

    Parameters
    ----------
    C, used : the problem; see `Shard.of`.
    points : the points it is about.
    """

    C: float
    used: int
    points: tuple[Recipe, ...]


@frozen(eq=False)
class Lost:
    """The answer where a shard does not have the scores that were asked for: ask again, saying how to make them."""

    def merged(self, others: Sequence[Any]) -> "Lost":
        """Return this."""
        return self


@frozen(eq=False)
class Looked:
    """Hinges and slopes at several steps along a line.

    Parameters
    ----------
    hinges : the weighted hinge at each step.
    slopes : its slope at each, of shape (steps,).
    largest : the largest absolute score of the base and of the target.
    """

    hinges: tuple[ExactSum, ...]
    slopes: VectorSum
    largest: tuple[float, float]

    def merged(self, others: "Sequence[Looked | Lost]") -> "Looked | Lost":
        """Return the answer of this part of the data and of others."""
        several = [self]
        for each in others:
            if isinstance(each, Lost):
                return each
            several.append(each)
        columns = zip(*(each.hinges for each in several), strict=True)
        slopes = VectorSum.merged(each.slopes for each in several)
        base, target = (max(each.largest[k] for each in several) for k in (0, 1))
        return Looked(tuple(map(ExactSum.merged, columns)), slopes, (base, target))


@frozen(eq=False)
class Evaluated:
    """All that the driver asks of a point: the hinge, and the cut.

    Parameters
    ----------
    hinge : ``Σ κ_i C/n`` times the hinge of each example.
    g : ``Σ (κ_i / Σκ) g_i``, of shape (d,); None where there are no rows.
    L : the same of the losses.
    largest : the largest absolute score.
    """

    hinge: ExactSum = field(factory=ExactSum)
    g: VectorSum | None = None
    L: ExactSum = field(factory=ExactSum)
    largest: float = 0.0

    def merged(self, others: "Sequence[Evaluated | Lost]") -> "Evaluated | Lost":
        """Return the answer of this part of the data and of others."""
        several = [self]
        for each in others:
            if isinstance(each, Lost):
                return each
            several.append(each)
        vectors = [each.g for each in several if each.g is not None]
        g = VectorSum.merged(vectors) if vectors else None
        hinge, L = (ExactSum.merged(getattr(each, name) for each in several) for name in ("hinge", "L"))
        return Evaluated(hinge, g, L, max(each.largest for each in several))


@frozen(eq=False)
class Sum:
    """An exact sum as an answer."""

    sum: ExactSum = field(factory=ExactSum)

    def merged(self, others: "Sequence[Sum]") -> "Sum":
        """Return the sum of this and others."""
        return Sum(ExactSum.merged([self.sum, *(each.sum for each in others)]))


def make_shard(
    part: Partition,
    number: int,
    loss: ScoreLoss[Any],
    intercept: float,
    d: int,
    expected: Versions,
) -> Shard:
    """Make a shard of a partition.

    Parameters
    ----------
    part : the partition.
    number : its number, for messages.
    loss : the loss, which knows what it must of all data.
    intercept : value of a constant feature; 0 for none.
    d : number of features.
    expected : versions at the driver.

    Raises
    ------
    InputError : when the data cannot be used, or versions differ; it names the partition.
    """
    require_versions(expected, versions(), f"the worker that has partition {number}")
    if len(np.asarray(part.y)) == 0:
        return Shard(None, number)
    if part.X.shape[1] != d:
        raise InputError(
            f"partition {number} has {part.X.shape[1]} features, and others have {d}: all partitions need the same "
            "columns"
        )
    with naming(f"partition {number}"):
        return Shard(part_alone(_examples(part, loss, intercept)), number)


def same_as_before(shard: Shard, known: Vector | None) -> Shard:
    """Return a shard, and refuse one that was made again, as its worker was lost, of data that had changed meanwhile.

    Parameters
    ----------
    shard : the shard.
    known : the digest of its data when it was made first; None where they cannot be told from others.

    Raises
    ------
    InputError : when it is another now; it names the partition.
    """
    if known is not None and not np.array_equal(shard.facts.digest, known):
        raise InputError(
            f"partition {shard.number} was read again, as its worker was lost, and is not what it was before: its data "
            "or labels were changed while the fit was running. Start again, with data that stay as they are"
        )
    return shard


def _examples(part: Partition, loss: ScoreLoss[Any], intercept: float) -> RankingExamples:
    X, y, qid, weights, _ = part
    if weights is None or numbers(weights, "sample_weight").any():
        return ranking_examples(X, np.asarray(y), qid, loss, weights, intercept)
    found = ranking_examples(X, np.asarray(y), qid, loss, None, intercept)
    return evolve(found, weights=np.zeros(found.operator.n))


def require_versions(expected: Versions, found: Versions, whose: str) -> None:
    """Require the same versions in two places.

    Raises
    ------
    InputError : it names the packages that differ.
    """
    differ = [
        f"{name} {theirs} (here {ours})"
        for name, ours, theirs in zip(Versions._fields, expected, found, strict=True)
        if ours != theirs
    ]
    if differ:
        raise InputError(
            f"{whose} has other versions than the driver, so that its numbers could be others: {', '.join(differ)}. "
            "Install the same everywhere"
        )


def facts(shard: Shard) -> Facts:
    """Return what the driver must know of a shard."""
    return shard.facts


def total_cap(shard: Shard, C: float, used: int) -> Sum:
    """Return the sum of the caps of a shard's examples."""
    problem = shard.of(C, used)
    return Sum() if problem is None else Sum(ExactSum.of(problem.cap))


def look(shard: Shard, question: Question, steps: Vector) -> Looked | Lost:
    """Return hinges and slopes at steps t along the line between the two points of a question."""
    problem = shard.of(question.C, question.used)
    if problem is None:
        return Looked(tuple(ExactSum() for _ in steps), VectorSum(np.zeros(len(steps))), (0.0, 0.0))
    with naming(f"partition {shard.number}"):
        base, target = (shard.point(problem, recipe) for recipe in question.points)
        if base is None or target is None:
            return Lost()
        along = target.scores - base.scores
        hinges, slopes = [], []
        for t in steps.tolist():
            point = base.toward(target, t) if t else base
            planes = problem.planes(point)
            hinges.append(problem.exact_hinge(planes, point))
            slopes.append(-problem.slope(planes, along))
    largest = problem.largest_score(base), problem.largest_score(target)
    return Looked(tuple(hinges), VectorSum(np.array(slopes)), largest)


def evaluate(shard: Shard, question: Question, total: float) -> Evaluated | Lost:
    """Return the hinge at a point and the cut there, the caps divided by their total over all shards."""
    problem = shard.of(question.C, question.used)
    if problem is None:
        return Evaluated()
    with naming(f"partition {shard.number}"):
        point = shard.point(problem, question.points[0])
        if point is None:
            return Lost()
        planes = shard.planes(problem, point)
        g, L = problem.weighted(planes, total)
        return Evaluated(problem.exact_hinge(planes, point), VectorSum(g), L, problem.largest_score(point))
