"""Mistakes put into losses as users write them: `check_loss` and the short check before a fit find them."""

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import frozen

from structsvm.exceptions import StructSVMError
from structsvm.foundation.types import Vector
from structsvm.losses import (
    AveragePrecision,
    GradedPairsLoss,
    GradedRankingLoss,
    InterleavingLoss,
    Loss,
    PairwiseLoss,
    ScoreLoss,
)
from structsvm.problem import Problem
from structsvm.solvers import OneSlack
from structsvm.testing import check_loss
from tests.small_problems import Kronecker

ARGMAX = "loss_augmented_argmax"


class FirstRelevant(InterleavingLoss):
    """A cost, and no more."""

    def cost(self, k: Any, j: Any, R: int, N: int) -> Any:
        return np.where(k == 1, j / (1 + j), 0.0)


class ByGain(GradedPairsLoss):
    """A weight, and no more."""

    def weight(self, better: Any, worse: Any) -> Any:
        return 2.0**better - 2.0**worse


def places(y_hat: Vector) -> Vector:
    return np.argsort(np.argsort(-np.asarray(y_hat), kind="stable"))


class LostGrades(GradedRankingLoss):
    """The mean difference of grades that are swapped, without a kernel."""

    def loss(self, y: Vector, y_hat: Vector) -> float:
        pairs, place = self.pairs(y), places(y_hat)
        swapped = place[pairs.better] > place[pairs.worse]
        return float(np.mean((y[pairs.better] - y[pairs.worse]) * swapped))

    def loss_augmented_argmax(self, scores: Vector, y: Vector) -> Vector:
        return scores - y


def lost_grades(scores, labels, params, out):  # type: ignore[no-untyped-def]
    n = len(scores)
    pairs = 0
    loss = 0.0
    out[:] = 0.0
    for i in range(n):
        for j in range(n):
            if labels[i] > labels[j]:
                pairs += 1
                if scores[i] - labels[i] < scores[j] - labels[j]:
                    out[i] += 1.0
                    out[j] -= 1.0
                    loss += labels[i] - labels[j]
    out /= pairs
    return loss / pairs


class Compiled(LostGrades):
    """The same with a kernel."""

    kernel = staticmethod(lost_grades)


class WrongFirst(PairwiseLoss):
    """1 if the first document is not relevant."""

    def loss(self, y: Vector, y_hat: Vector) -> float:
        return float(not self.ranked_relevance(y, y_hat)[0])

    def loss_augmented_argmax(self, scores: Vector, y: Vector) -> Vector:
        relevant = self.relevant(y)
        other = np.flatnonzero(~relevant)[np.argmax(scores[~relevant])]
        price = 2.0 * np.mean(np.maximum(scores[relevant] - scores[other], 0.0)) / np.sum(~relevant)
        first = np.arange(len(y)) == other
        return np.where(first, scores.max() + 1.0, scores) if price < 1.0 else scores


class Signs(ScoreLoss[float]):
    """A row is an example, and its output is -1 or 1."""

    per_row = True

    def encode(self, y_hat: float, y: float) -> Vector:
        return np.array([0.5 * y_hat])

    def loss(self, y: float, y_hat: float) -> float:
        return float(y != y_hat)

    def argmax(self, scores: Vector) -> float:
        return 1.0 if scores[0] > 0.0 else -1.0

    def loss_augmented_argmax(self, scores: Vector, y: float) -> float:
        return -y if y * scores[0] < 1.0 else y

    def outputs(self, y: float) -> list[float]:
        return [-1.0, 1.0]


class UsersPrecision(AveragePrecision):
    """Average precision with the tables of its kernel."""


CLASSES: Any = [(np.array([1.0, -0.5, 0.3]), k) for k in range(3)]
EXAMPLES: dict[type, Any] = {Signs: [1.0, -1.0], Kronecker: CLASSES}
RIGHT: list[type] = [FirstRelevant, ByGain, LostGrades, Compiled, WrongFirst, Signs, Kronecker, UsersPrecision]


def problem(loss: Any, seed: int = 0) -> Problem:
    """Return a problem of the kind that a loss is of: graded queries of 4 to 16 documents, rows, or classes."""
    rng = np.random.default_rng(seed)
    if isinstance(loss, Loss):
        ys = rng.permutation(np.arange(24) % 3)
        xs = rng.standard_normal((24, 3)) + np.eye(3)[ys]
        return Problem.from_examples(list(xs), ys.tolist(), loss=loss, C=10.0)
    sizes = rng.integers(4, 17, 16)
    grades = np.concatenate([rng.permutation([0, 4, 1, 3, *rng.integers(0, 5, n - 4)]) for n in sizes]).astype(float)
    if loss.per_row:
        grades = np.where(grades > 1, 1.0, -1.0)
    elif isinstance(loss, PairwiseLoss):
        grades = (grades > 2).astype(float)
    X = rng.standard_normal((len(grades), 4))
    X[:, 0] += 0.7 * grades
    return Problem.from_queries(X, grades, np.repeat(np.arange(16), sizes), loss=loss, C=10.0)


@frozen
class Mistake:
    """One method of a right loss replaced by a function of the right method, and of its arguments."""

    name: str
    base: type
    method: str
    wrong: Callable[..., Any]

    def loss(self) -> Any:
        """Return the wrong loss, of a new class."""
        right = getattr(self.base, self.method, None)
        wrong = self.wrong

        def method(*arguments: Any) -> Any:
            return wrong(right, *arguments)

        if self.method == "kernel":
            return type("Mistaken", (self.base,), {"kernel": staticmethod(wrong)})()
        # A kernel would hide an argmax in Python.
        plain = {"kernel": None} if self.method == ARGMAX else {}
        return type("Mistaken", (self.base,), {self.method: method, **plain})()


def beyond(most: int) -> Callable[..., Any]:
    """Return an argmax that is right for at most ``n`` documents."""
    return lambda right, self, s, y: (
        right(self, s, y) if len(y) <= most else right(self, s, y * (np.arange(len(y)) > 0))
    )


def changed(place: int) -> Callable[..., Any]:
    """Return a method that subtracts 1 from an argument."""

    def wrong(right: Any, self: Any, *arguments: Any) -> Any:
        result = right(self, *arguments)
        arguments[place][...] -= 1
        return result

    return wrong


def changes_k(right: Any, self: Any, k: Any, j: Any, R: int, N: int) -> Any:
    k -= 1
    return np.where(k == 0, j / (1 + j), 0.0)


DRAWN = np.random.default_rng(0)


def drawn(right: Any, self: Any, *arguments: Any) -> Any:
    return right(self, *arguments) * DRAWN.uniform(0.8, 1.0)


def nan_beyond(right: Any, self: Any, y: Any, y_hat: Any) -> Any:
    return right(self, y, y_hat) if np.size(y) <= 6 else np.nan


def other_kernel(before: str, after: str) -> Any:
    """Return the kernel of `Compiled` with a replacement in its text."""
    text = inspect.getsource(lost_grades)
    if text.count(before) != 1:
        raise ValueError(f"{before!r} is not once in the kernel")
    space: dict[str, Any] = {"np": np}
    exec(text.replace(before, after), space)
    return space["lost_grades"]


COSTS = [
    Mistake("cost: the sign", FirstRelevant, "cost", lambda right, self, k, j, R, N: -right(self, k, j, R, N)),
    Mistake("cost: random", FirstRelevant, "cost", drawn),
    Mistake("cost: k -= 1", FirstRelevant, "cost", changes_k),
    Mistake("cost: NaN", FirstRelevant, "cost", lambda right, self, k, j, R, N: right(self, k, j, R, N) / (k < 4)),
    Mistake("cost: one number", FirstRelevant, "cost", lambda right, self, k, j, R, N: j / (1 + j) if k == 1 else 0.0),
    Mistake("cost: falls below 0", FirstRelevant, "cost", lambda right, self, k, j, R, N: np.where(k == 1, 1 - j, 0)),
    Mistake(
        "encode: times 0.95 for outputs",
        FirstRelevant,
        "encode",
        lambda right, self, y_hat, y: right(self, y_hat, y) * (1.0 if y_hat is y else 0.95),
    ),
    Mistake("encode: times 2", FirstRelevant, "encode", lambda right, self, y_hat, y: 2 * right(self, y_hat, y)),
    Mistake("loss: half of the cost", FirstRelevant, "loss", lambda right, self, *ys: 0.5 * right(self, *ys)),
    Mistake("loss: NaN for more than 6 documents", FirstRelevant, "loss", nan_beyond),
    Mistake("argmax: the sign", FirstRelevant, ARGMAX, lambda right, self, s, y: right(self, -s, y)),
    Mistake("usable: None", FirstRelevant, "usable", lambda right, self, y: None),
    Mistake("usable: no query", FirstRelevant, "usable", lambda right, self, y: False),
    Mistake(
        "params: harmonic numbers from 1 on",
        UsersPrecision,
        "params",
        lambda right, self, ys: right(self, ys) + np.r_[0.0, 0.0, np.full(len(right(self, ys)) - 2, 0.1)],
    ),
    Mistake("labels: all relevant", UsersPrecision, "labels", lambda right, self, y: np.r_[1.0, right(self, y)[1:]]),
]

WEIGHTS = [
    Mistake("weight: the sign", ByGain, "weight", lambda right, self, b, w: right(self, w, b)),
    Mistake("weight: random", ByGain, "weight", lambda right, self, b, w: DRAWN.random(len(b))),
    Mistake("weight: NaN for grade 4", ByGain, "weight", lambda right, self, b, w: right(self, b, w) / (b < 4)),
    Mistake("weight: two numbers", ByGain, "weight", lambda right, self, b, w: np.ones(2)),
    Mistake("loss: not divided", ByGain, "loss", lambda right, self, *ys: 3 * right(self, *ys)),
    Mistake(
        "labels: shares not divided",
        ByGain,
        "labels",
        lambda right, self, y: (
            1.0
            * np.r_[
                right(self, y)[: 2 * (len(right(self, y)) // 3)], 2 * right(self, y)[2 * (len(right(self, y)) // 3) :]
            ]
        ),
    ),
    Mistake("argmax: margin of 2", ByGain, ARGMAX, lambda right, self, s, y: self.swaps(s, y, 2.0)),
]

ARGMAXES = [
    Mistake("argmax: the sign of Δ", LostGrades, ARGMAX, lambda right, self, s, y: s + y),
    Mistake("argmax: no Δ", LostGrades, ARGMAX, lambda right, self, s, y: s),
    Mistake("argmax: the truth", LostGrades, ARGMAX, lambda right, self, s, y: y),
    Mistake("argmax: twice Δ", LostGrades, ARGMAX, lambda right, self, s, y: s - 2 * y),
    Mistake("argmax: 0.9 of Δ", LostGrades, ARGMAX, lambda right, self, s, y: s - 0.9 * y),
    Mistake("argmax: a list of documents", LostGrades, ARGMAX, lambda right, self, s, y: np.argsort(-(s - y))),
    Mistake("argmax: off by one", LostGrades, ARGMAX, lambda right, self, s, y: s - np.roll(y, 1)),
    Mistake("argmax: rounded scores", LostGrades, ARGMAX, lambda right, self, s, y: np.round(s) - y),
    Mistake("argmax: wrong beyond 6 documents", LostGrades, ARGMAX, beyond(6)),
    Mistake("argmax: wrong beyond 10 documents", LostGrades, ARGMAX, beyond(10)),
    Mistake("argmax: grades up to 2", LostGrades, ARGMAX, lambda right, self, s, y: s - np.minimum(y, 2)),
    Mistake("argmax: changes y", LostGrades, ARGMAX, changed(1)),
    Mistake("argmax: changes scores", LostGrades, ARGMAX, changed(0)),
    Mistake("argmax: None", LostGrades, ARGMAX, lambda right, self, s, y: None),
    Mistake("encode: without 1/2", LostGrades, "encode", lambda right, self, y_hat, y: 2 * right(self, y_hat, y)),
    Mistake("encode: the sign", LostGrades, "encode", lambda right, self, y_hat, y: -right(self, y_hat, y)),
    Mistake(
        "encode: better documents alone",
        LostGrades,
        "encode",
        lambda right, self, y_hat, y: np.maximum(right(self, y_hat, y), 0.0),
    ),
    Mistake(
        "encode: whole numbers", LostGrades, "encode", lambda right, self, y_hat, y: right(self, y_hat, y).astype(int)
    ),
    Mistake("loss: Δ(y, y) is 0.1", LostGrades, "loss", lambda right, self, *ys: 0.1 + right(self, *ys)),
    Mistake("loss: at most 1", LostGrades, "loss", lambda right, self, *ys: min(right(self, *ys), 1.0)),
    Mistake("loss: random", LostGrades, "loss", drawn),
    Mistake("loss: negative", LostGrades, "loss", lambda right, self, *ys: -right(self, *ys)),
    Mistake("argmax: price of one document", WrongFirst, ARGMAX, lambda right, self, s, y: right(self, s * 2, y)),
    Mistake(
        "loss: ties are free",
        LostGrades,
        "loss",
        lambda right, self, y, y_hat: right(self, y, np.asarray(y_hat) + 1e-3 * y),
    ),
]

KERNELS = [
    Mistake(f"kernel: {name}", Compiled, "kernel", other_kernel(before, after))
    for name, before, after in [
        ("no gain for grades 3 and 4", "if labels[i] > labels[j]:", "if labels[i] > labels[j] and labels[i] < 3:"),
        (
            "grades 3 and 4 are alike",
            "labels[i] - labels[j]\n    out",
            "min(labels[i], 3) - min(labels[j], 3)\n    out",
        ),
        ("wrong beyond 6 documents", "range(n):\n        for", "range(min(n, 6)):\n        for"),
        ("the last document", "for j in range(n):", "for j in range(n - 1):"),
        ("the sign of out", "out /= pairs", "out /= -pairs"),
        ("half of Δ", "return loss / pairs", "return 0.5 * loss / pairs"),
        ("Δ at most 1", "return loss / pairs", "return min(loss / pairs, 1.0)"),
        ("writes no element", "out[:] = 0.0", "pass"),
        ("changes scores", "out /= pairs", "out /= pairs\n    scores[0] += 1.0"),
        ("random", "loss = 0.0", "loss = 0.1 * np.random.random()"),
        ("the sign of Δ", "scores[i] - labels[i] <", "scores[i] + labels[i] <"),
    ]
]

OTHERS = [
    Mistake("argmax: the sign", Kronecker, ARGMAX, lambda right, self, x, y, w: right(self, x, y, -w)),
    Mistake("argmax: no Δ", Kronecker, ARGMAX, lambda right, self, x, y, w: self.argmax(x, w)),
    Mistake("argmax: off by one", Kronecker, ARGMAX, lambda right, self, x, y, w: (right(self, x, y, w) + 1) % 3),
    Mistake("argmax: cost of another class", Kronecker, ARGMAX, lambda right, self, x, y, w: right(self, x, 2 - y, w)),
    Mistake("loss: transposed", Kronecker, "loss", lambda right, self, y, y_hat: right(self, y_hat, y)),
    Mistake("joint_feature: scaled", Kronecker, "joint_feature", lambda right, self, x, y: (1 + y) * right(self, x, y)),
    Mistake("joint_feature: random", Kronecker, "joint_feature", drawn),
    Mistake("argmax: margin of 2", Signs, ARGMAX, lambda right, self, s, y: right(self, s / 2, y)),
    Mistake("argmax: the sign", Signs, ARGMAX, lambda right, self, s, y: right(self, -s, y)),
    Mistake("encode: without 1/2", Signs, "encode", lambda right, self, *ys: 2 * right(self, *ys)),
]

MISTAKES = [*COSTS, *WEIGHTS, *ARGMAXES, *KERNELS, *OTHERS]


def error_of(call: Callable[[], Any]) -> str:
    """Return the name of the error that a call ends with; "" if it ends without."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call()
        except StructSVMError as error:
            return type(error).__name__
    return ""


def by_check_loss(mistake: Mistake) -> str:
    return error_of(lambda: check_loss(mistake.loss(), EXAMPLES.get(mistake.base)))


def by_fit(mistake: Mistake) -> str:
    return error_of(lambda: OneSlack().solve(problem(mistake.loss())))


def by_short_check(mistake: Mistake) -> str:
    """Return the outcome of making a problem, which begins with the short check."""
    return error_of(lambda: problem(mistake.loss()))
