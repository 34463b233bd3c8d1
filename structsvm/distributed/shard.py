"""Functions that run at workers on shards, which are prepared partitions."""

import platform
from collections import deque
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib.metadata import version
from typing import Any

import numpy as np
from attrs import evolve, frozen

from structsvm.distributed.partition import Partition, naming
from structsvm.exceptions import InputError
from structsvm.foundation.arrays import numbers
from structsvm.foundation.compute.summation import ExactSum, VectorSum
from structsvm.foundation.types import Vector
from structsvm.losses import ScoreLoss
from structsvm.losses.base import Examples
from structsvm.problem import Problem
from structsvm.problem.content import Content
from structsvm.problem.examples import ranking_examples
from structsvm.problem.part import as_part_of, part_alone
from structsvm.problem.points import Planes, Point

_KEPT_SCORES = 4
"""Score vectors per shard: of the best point, the target, the point between them, and one more."""

_OF_NOTHING = np.zeros(3)
"""Digest of a partition without rows: no examples, weights and scores."""

_KEPT_PLANES = 2
"""Number of points whose planes a shard keeps, to compare them with later planes."""


def library_versions() -> dict[str, str]:
    """Return the versions that must agree between the driver and all workers; of Python only major and minor."""
    python = ".".join(platform.python_version_tuple()[:2])
    return {"python": python, **{name: version(name) for name in ("structural-svm", "numpy", "numba")}}


@frozen(eq=False)
class Facts:
    """Facts about a shard for the driver; ``digest`` covers sizes and data, and is reproducible if ``known``."""

    n: int
    used: int
    scores: int
    d: int
    weighted: bool
    digest: Vector
    known: bool


def as_partition(given: Any, name: str) -> Partition:
    """Return a `Partition`; raise InputError that names it for anything else."""
    if not isinstance(given, Partition) or len(getattr(given.X, "shape", ())) != 2:
        wrong = f"one with a {type(given.X).__name__} for X" if isinstance(given, Partition) else type(given).__name__
        raise InputError(f"{name} must be a Partition with X of shape (rows, d), got {wrong}")
    return given


class Shard:
    """A prepared partition: its part of a `Problem` (None without rows), and the scores of some points by token."""

    def __init__(self, problem: Problem | None, name: str) -> None:
        self.name = name
        self.problem = problem
        self._scores: dict[int, Point] = {}
        self._earlier: deque[Planes] = deque(maxlen=_KEPT_PLANES)

    def __getstate__(self) -> dict[str, Any]:
        """Drop the cached scores and planes."""
        return {**vars(self), "_scores": {}, "_earlier": deque(maxlen=_KEPT_PLANES)}

    def __sizeof__(self) -> int:
        """Return the bytes of the shard, for schedulers that place data by size."""
        scores = sum(int(each.scores.nbytes) for each in list(self._scores.values()))
        scores += sum(int(each.coef.nbytes) for each in list(self._earlier))
        return 1000 + scores + (0 if self.problem is None else 8 * self.problem.stored)

    @cached_property
    def facts(self) -> Facts:
        """Facts for the driver; they cost half a pass the first time."""
        problem = self.problem
        if problem is None:
            return Facts(0, 0, 0, 0, weighted=False, digest=_OF_NOTHING, known=True)
        content = Content()
        with naming(self.name):
            as_part_of(problem, 1.0, 1).add_content(content)
        digest = np.array([*problem.sizes, *content.digest()], dtype=np.float64)
        sizes = problem.n, problem.n - problem.left_out, problem.sizes[2], problem.d
        return Facts(*sizes, bool(problem.weights.any()), digest, content.known)

    def of(self, C: float, used: int) -> Problem | None:
        """Return the shard's part of a problem with this C and ``used`` examples in all shards."""
        known = self.problem
        if known is not None and (known.C, known.used) != (C, used):
            self.problem = known = as_part_of(known, C, used)
        return known

    def planes(self, problem: Problem, point: Point) -> Planes:
        """Return the planes at a point; raise OracleError if an earlier plane beats an exact argmax."""
        planes = problem.planes(point)
        if problem.exact:
            problem.require_unbeaten(planes, point, list(self._earlier))
        self._earlier.append(planes)
        return planes

    def point(self, problem: Problem, recipe: "Recipe") -> Point | None:
        """Return a point with its scores; None if they are lost and the recipe has no weights."""
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
    """Instructions to find the scores of a point: by token, from weights, or at ``t`` between two other points."""

    token: int
    w: Vector | None = None
    base: "Recipe | None" = None
    target: "Recipe | None" = None
    t: float = 0.0


@frozen(eq=False)
class Question:
    """Common fields of calls to shards: the problem, see `Shard.of`, and the points."""

    C: float
    used: int
    points: tuple[Recipe, ...]


@frozen(eq=False)
class Sums:
    """Sums over the examples of a shard; ``exact`` is empty if it has lost the scores, ``vector`` None without rows."""

    exact: tuple[ExactSum, ...] = ()
    vector: VectorSum | None = None
    largest: tuple[float, ...] = ()

    def merged(self, others: "Sequence[Sums]") -> "Sums":
        every = [self, *others]
        if not all(each.exact for each in every):
            return Sums()
        exact = tuple(ExactSum.merged(column) for column in zip(*(each.exact for each in every), strict=True))
        vectors = [each.vector for each in every if each.vector is not None]
        largest = tuple(max(column) for column in zip(*(each.largest for each in every), strict=True))
        return Sums(exact, VectorSum.merged(vectors) if vectors else None, largest)


def make_shard(
    part: Partition, name: str, loss: ScoreLoss[Any], intercept: float, expected: Mapping[str, str]
) -> Shard:
    """Make a shard from a partition; raise InputError that names it if the data are not valid or versions differ."""
    found = library_versions()
    differ = [f"{each} {found[each]} (here {ours})" for each, ours in expected.items() if found[each] != ours]
    if differ:
        raise InputError(
            f"the worker of {name} has other versions than this process, so its numbers could differ: "
            f"{', '.join(differ)}. Install the same versions everywhere"
        )
    if not part.rows:
        return Shard(None, name)
    with naming(name):
        return Shard(part_alone(_examples(part, loss, intercept)), name)


def same_as_before(shard: Shard, known: Vector | None) -> Shard:
    """Return a shard; raise InputError if it was rebuilt from data with another digest than ``known``."""
    if known is not None and not np.array_equal(shard.facts.digest, known):
        raise InputError(
            f"{shard.name} was read again after its worker was lost, and its data or labels have changed since the fit "
            "began. Start again, and leave the data unchanged"
        )
    return shard


def _examples(part: Partition, loss: ScoreLoss[Any], intercept: float) -> Examples:
    X, y, qid, weights, _ = part
    if weights is None or numbers(weights, "sample_weight").any():
        return ranking_examples(X, np.asarray(y), qid, loss, weights, intercept)
    found = ranking_examples(X, np.asarray(y), qid, loss, None, intercept)
    return evolve(found, weights=np.zeros(found.operator.n))


def facts(shard: Shard) -> Facts:
    """Return the facts about a shard."""
    return shard.facts


def itself(value: Any) -> Any:
    """Return a kept result."""
    return value


def total_cap(shard: Shard, C: float, used: int) -> Sums:
    """Return the sum of the caps of a shard's examples."""
    problem = shard.of(C, used)
    return Sums((ExactSum() if problem is None else ExactSum.of(problem.cap),))


def look_along(shard: Shard, question: Question, steps: Vector) -> Sums:
    """Return weighted hinges and their slopes, shape (steps,), at steps t along the line between two points."""
    problem = shard.of(question.C, question.used)
    if problem is None:
        return Sums(tuple(ExactSum() for _ in steps), largest=(0.0, 0.0))
    with naming(shard.name):
        base, target = (shard.point(problem, recipe) for recipe in question.points)
        if base is None or target is None:
            return Sums()
        along = target.scores - base.scores
        hinges, slopes = [], []
        for t in steps.tolist():
            point = base.toward(target, t) if t else base
            planes = problem.planes(point)
            hinges.append(problem.exact_hinge(planes, point))
            slopes.append(-problem.slope(planes, along))
    largest = problem.largest_score(base), problem.largest_score(target)
    return Sums(tuple(hinges), VectorSum(np.array(slopes)), largest)


def evaluate_shard(shard: Shard, question: Question, total: float) -> Sums:
    """Return the weighted hinge, ``Σ κ_i C/n`` times the hinges, and the cut, over all caps' ``total``."""
    problem = shard.of(question.C, question.used)
    if problem is None:
        return Sums((ExactSum(), ExactSum()), largest=(0.0,))
    with naming(shard.name):
        point = shard.point(problem, question.points[0])
        if point is None:
            return Sums()
        planes = shard.planes(problem, point)
        g, L = problem.weighted(planes, total)
        return Sums((problem.exact_hinge(planes, point), L), VectorSum(g), (problem.largest_score(point),))
