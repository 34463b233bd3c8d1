"""Losses as users write them, of documents with grades 0 to 4, also with mistakes; and faulty QP backends."""

from typing import Any, cast

import numpy as np
from attrs import evolve

from structsvm import Problem
from structsvm.foundation.types import Vector
from structsvm.losses import (
    AveragePrecision,
    GradedPairsLoss,
    GradedRankingLoss,
    NDCGLoss,
    SlackRescaled,
    SwappedPairs,
)
from structsvm.solvers import FrankWolfe, NSlack, OneSlack
from tests.campaign.cases import Case, boxed, case
from tests.losses.mistakes import FirstRelevant
from tests.small_problems import BufferedKronecker, GenericTwoRows, Kronecker, PlainROCArea, PlainTwoRows, TwoRows
from tests.solvers.qp.faults import FAULTS, Faulty, FaultyAttempts


class ByDifference(GradedPairsLoss):
    def weight(self, better: Vector, worse: Vector) -> Any:
        return better - worse


class FromTop(GradedPairsLoss):
    def weight(self, better: Vector, worse: Vector) -> Any:
        return better >= 3.0


class Sorted(GradedRankingLoss):
    def loss(self, y: Vector, y_hat: Vector) -> float:
        better, worse = np.nonzero(y[:, None] > y)
        ahead = np.argsort(np.argsort(-y_hat, kind="stable"))
        return float(((y[better] - y[worse]) * (ahead[better] > ahead[worse])).sum() / len(better))

    def loss_augmented_argmax(self, scores: Vector, y: Vector) -> Vector:
        return scores - y


class PlainByDifference(ByDifference):
    kernel = None


class PlainFromTop(FromTop):
    kernel = None


class PlainFirst(FirstRelevant):
    kernel = None


class PlainNDCG(NDCGLoss):
    kernel = None


_GRADED: list[tuple[Any, int]] = [
    (ByDifference(), 4),
    (PlainByDifference(), 4),
    (FromTop(), 4),
    (PlainFromTop(), 4),
    (Sorted(), 5),
    (FirstRelevant(relevant_from=2), 5),
    (PlainFirst(relevant_from=3), 5),
    (NDCGLoss(encoding="position"), 4),
    (PlainNDCG(encoding="position"), 4),
    (NDCGLoss(2, encoding="thresholds", truncated=True), 3),
    (PlainNDCG(2, encoding="thresholds", truncated=True), 3),
    (AveragePrecision(relevant_from=3), 5),
    (SwappedPairs(), 4),
]
"""Losses, and the most documents of which all outputs can be listed."""

_STRUCTURES: list[Any] = [
    TwoRows(),
    PlainTwoRows(),
    GenericTwoRows(),
    SlackRescaled(PlainTwoRows()),
    SlackRescaled(GenericTwoRows()),
    BufferedKronecker(),
]
"""Losses whose truths may not be outputs, and one that reuses an array."""

_NOISE = np.random.default_rng(0)


class RandomCost(FirstRelevant):
    def cost(self, k: Any, j: Any, R: int, N: int) -> Any:
        return super().cost(k, j, R, N) * _NOISE.uniform(0.5, 1.5, np.broadcast_shapes(k.shape, j.shape))


class ChangingCost(FirstRelevant):
    def cost(self, k: Any, j: Any, R: int, N: int) -> Any:
        j += 1
        return np.where(k == 1, (j - 1) / j, 0.0)


class RandomWeight(ByDifference):
    def weight(self, better: Vector, worse: Vector) -> Any:
        return (better - worse) * _NOISE.uniform(0.1, 2.0, better.shape)


class ChangingWeight(ByDifference):
    def weight(self, better: Vector, worse: Vector) -> Any:
        better -= worse
        return better


class ShrunkCode(PlainROCArea):
    def encode(self, y_hat: Vector, y: Vector) -> Vector:
        return 0.95 * super().encode(y_hat, y)


_MISTAKES: list[tuple[Any, Any, int]] = [
    (RandomCost(), FirstRelevant(), 5),
    (ChangingCost(), FirstRelevant(), 5),
    (RandomWeight(), ByDifference(), 4),
    (ChangingWeight(), ByDifference(), 4),
    (ShrunkCode(), ShrunkCode(), 5),
]
"""Losses with a mistake, the losses that their authors meant, and the most documents of an example."""


def graded(number: int) -> Case:
    """Make a case whose documents have grades 0 to 4; one in three has a box as bounds."""
    rng = np.random.default_rng([number, 5])
    loss, most = _GRADED[rng.integers(len(_GRADED))]
    made = _with_loss(number, rng, loss, loss, most)
    return boxed(made) if rng.random() < 0.3 else made


def structured(number: int) -> Case:
    """Make a case of a structure whose truths may not be outputs, or whose methods fill and return one array."""
    rng = np.random.default_rng([number, 7])
    loss = _STRUCTURES[rng.integers(len(_STRUCTURES))]
    plain, n, scale = case(number), int(rng.integers(1, 9)), 10.0 ** rng.uniform(-2.0, 2.0)
    if isinstance(loss, BufferedKronecker):
        xs, ys = list(scale * rng.standard_normal((n, 3))), rng.integers(0, 3, n).tolist()
    else:
        shape = (n, int(rng.integers(3, 6)), 2)
        xs, ys = list(scale * rng.standard_normal(shape)), list(rng.integers(0, 2, shape[:2]).astype(np.float64))
    problem, solver = Problem.from_examples(xs, ys, loss=loss, C=plain.problem.C), cast(Any, plain.solver)
    return evolve(
        plain,
        problem=problem,
        solver=evolve(solver, memory=2**28) if isinstance(solver, FrankWolfe) else solver,
        # The judge stores joint features, which one array cannot hold.
        loss=Kronecker() if isinstance(loss, BufferedKronecker) else loss,
        examples=list(zip(xs, ys, strict=True)),
        weights=np.ones(n),
        intercept=0.0,
        even=True,
    )


def mistaken(number: int) -> Case:
    """Make a case whose loss has a mistake; it is judged by the loss that was meant.

    Raises
    ------
    InputError : when the mistake is refused.
    """
    rng = np.random.default_rng([number, 6])
    wrong, right, most = _MISTAKES[rng.integers(len(_MISTAKES))]
    return _with_loss(number, rng, wrong, right, most)


def with_faulty_backend(number: int) -> Case:
    """Make a case whose QP backend returns wrong multipliers; one in three has a box as bounds."""
    rng = np.random.default_rng([number, 8])
    backend = (Faulty, FaultyAttempts)[rng.integers(2)](FAULTS[rng.choice(list(FAULTS))])
    solver = (OneSlack, NSlack)[rng.integers(2)](tol=float(10.0 ** rng.uniform(-6.0, -2.0)), backend=backend)
    made = evolve(case(number), solver=solver)
    return boxed(made) if rng.random() < 0.3 else made


def _with_loss(number: int, rng: np.random.Generator, loss: Any, meant: Any, most: int) -> Case:
    plain = case(number)
    sizes = rng.integers(2, most + 1, rng.integers(1, 9))
    ys = [rng.permutation([0.0, 4.0, *rng.integers(0, 5, size - 2)]) for size in sizes]
    scale = 1.0 if rng.random() < 0.8 else 10.0 ** rng.uniform(-8.0, 8.0)
    xs = [rng.standard_normal((size, 3)) * scale for size in sizes]
    weights, intercept = np.ones(len(ys)), float(rng.choice([0.0, 0.7]))
    X, qid = np.concatenate(xs), np.repeat(np.arange(len(ys)), sizes)
    problem = Problem.from_queries(X, np.concatenate(ys), qid, loss=loss, C=plain.problem.C, intercept=intercept)
    examples = list(zip(xs, ys, strict=True))
    solver: Any = plain.solver
    return evolve(
        plain,
        problem=problem,
        loss=meant.bind(ys),
        examples=examples,
        weights=weights,
        intercept=intercept,
        even=True,
        solver=OneSlack(tol=solver.tol) if isinstance(solver, FrankWolfe) else solver,
    )
