"""Small problems whose outputs can be listed, and their optimum by means other than the package's.

Everything here follows the definitions: the hinge is a maximum over a list, Ψ is a product
with a matrix that is written out, and the optimum comes from SciPy's SLSQP.
"""

from collections.abc import Sequence
from functools import cache
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from attrs import frozen
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import minimize

from structsvm.features.operators import Operator
from structsvm.foundation.types import Matrix, Vector
from structsvm.losses import AveragePrecision, Bounded, ChainHamming, Loss, Multiclass, ROCArea, ScoreLoss, ZeroOne
from structsvm.losses.user_methods import coefficients
from structsvm.objectives import Hinge
from structsvm.problem import Problem


def hinge(loss: Any, scores: Any, y: Any, qid: Any = None, **settings: Any) -> Any:
    """Return values and gradient of the hinges of labels at some scores."""
    return Hinge(loss, y, qid, **settings)(scores)


class Kronecker(Loss[Vector, int]):
    """Three classes with an asymmetric cost, as a user would write a generic loss: Ψ(x, k) is x in block k."""

    costs = np.array([[0.0, 1.0, 2.0], [0.5, 0.0, 1.0], [3.0, 1.0, 0.0]])

    def joint_feature(self, x: Vector, y: int) -> Vector:
        return np.kron(np.eye(3)[y], x)

    def loss(self, y: int, y_hat: int) -> float:
        return float(self.costs[y, y_hat])

    def loss_augmented_argmax(self, x: Vector, y: int, w: Vector) -> int:
        return int(np.argmax(self.costs[y] + w.reshape(3, -1) @ x))

    def argmax(self, x: Vector, w: Vector) -> int:
        return int(np.argmax(w.reshape(3, -1) @ x))

    def outputs(self, x: Vector, y: int) -> Sequence[int]:
        return range(3)


class BufferedKronecker(Kronecker):
    """The same, with all joint features in one array."""

    buffer: ClassVar[dict[int, Vector]] = {}

    def joint_feature(self, x: Vector, y: int) -> Vector:
        buffer = self.buffer.setdefault(len(x), np.zeros(3 * len(x)))
        buffer[:] = super().joint_feature(x, y)
        return buffer


class SparseKronecker(BufferedKronecker):
    """The same with sparse joint features, in a matrix that each call fills again."""

    rows: ClassVar[dict[int, sp.csr_array]] = {}

    def joint_feature(self, x: Vector, y: int) -> sp.csr_array:
        d = len(x)
        row = self.rows.setdefault(d, sp.csr_array((np.zeros(d), np.arange(d), [0, d]), shape=(1, 3 * d)))
        # The features of a class in descending order.
        row.data[:], row.indices[:] = x[::-1], np.arange(y * d, (y + 1) * d)[::-1]
        return row


def two_rows(scores, labels, params, out):  # type: ignore[no-untyped-def]
    best, first, second = -np.inf, 0, 1
    for i in range(len(scores)):
        for j in range(i):
            value = scores[i] + scores[j] + (2.0 - 2.0 * labels[i] - 2.0 * labels[j]) / len(scores)
            if value > best:
                best, first, second = value, i, j
    loss = 0.0
    for k in range(len(scores)):
        chosen = 1.0 if k in (first, second) else 0.0
        out[k] = labels[k] - chosen
        loss += abs(out[k])
    return loss / len(scores)


class TwoRows(ScoreLoss[Vector]):
    """Two rows of an example, marked by 1 and the others by 0; the truth may mark any number of rows."""

    unreachable_truths = True
    kernel: Any = staticmethod(two_rows)

    def encode(self, y_hat: Vector, y: Vector) -> Vector:
        return np.asarray(y_hat)

    def loss(self, y: Vector, y_hat: Vector) -> float:
        return float(np.mean(y != y_hat))

    def loss_augmented_argmax(self, scores: Vector, y: Vector) -> Any:
        return self.argmax(scores - 2.0 * y / len(y))

    def slack_rescaled_argmax(self, scores: Vector, y: Vector) -> Vector:
        return max(self.outputs(y), key=lambda y_hat: self.loss(y, y_hat) * (1.0 + scores @ (y_hat - y)))

    def argmax(self, scores: Vector) -> Vector:
        return np.isin(np.arange(len(scores)), np.argsort(-scores, kind="stable")[:2]).astype(np.float64)

    def outputs(self, y: Vector) -> list[Vector]:
        pairs = combinations(range(len(y)), 2)
        return [np.isin(np.arange(len(y)), pair).astype(np.float64) for pair in pairs]


class PlainTwoRows(TwoRows):
    """The same without a kernel."""

    kernel = None


class BoundedTwoRows(PlainTwoRows):
    """The same with an argmax that never chooses the first row, and a bound."""

    exact = False
    bounded = True

    def loss_augmented_argmax(self, scores: Vector, y: Vector) -> Bounded:
        best = super().loss_augmented_argmax(scores, y)
        result = max(self.outputs(y)[-3:], key=lambda y_hat: self._value(scores, y, y_hat))
        return Bounded(result, self._value(scores, y, best))

    def _value(self, scores: Vector, y: Vector, y_hat: Vector) -> float:
        return self.loss(y, y_hat) + float(scores @ y_hat)


class GenericTwoRows(Loss[Any, Vector]):
    """The same by joint features."""

    unreachable_truths = True
    of_scores = PlainTwoRows()

    def joint_feature(self, x: Any, y: Vector) -> Vector:
        return np.asarray(x).T @ y

    def loss(self, y: Vector, y_hat: Vector) -> float:
        return self.of_scores.loss(y, y_hat)

    def loss_augmented_argmax(self, x: Any, y: Vector, w: Vector) -> Any:
        return self.of_scores.loss_augmented_argmax(np.asarray(x) @ w, y)

    def slack_rescaled_argmax(self, x: Any, y: Vector, w: Vector) -> Vector:
        return self.of_scores.slack_rescaled_argmax(np.asarray(x) @ w, y)

    def argmax(self, x: Any, w: Vector) -> Vector:
        return self.of_scores.argmax(np.asarray(x) @ w)

    def outputs(self, x: Any, y: Vector) -> list[Vector]:
        return self.of_scores.outputs(y)


class PlainROCArea(ScoreLoss[Vector]):
    """The ROC area without a kernel: the four Python methods and nothing else."""

    inner = ROCArea()

    def encode(self, y_hat: Vector, y: Vector) -> Vector:
        return self.inner.encode(y_hat, y)

    def loss(self, y: Vector, y_hat: Vector) -> float:
        return self.inner.loss(y, y_hat)

    def loss_augmented_argmax(self, scores: Vector, y: Vector) -> Vector:
        return self.inner.loss_augmented_argmax(scores, y)

    def argmax(self, scores: Vector) -> Vector:
        return self.inner.argmax(scores)

    def usable(self, y: Vector) -> bool:
        return self.inner.usable(y)

    def outputs(self, y: Vector) -> Any:
        return self.inner.outputs(y)


def ranking_arrays(seed: int, queries: int = 5, documents: int = 4, d: int = 3) -> tuple[Matrix, Vector, Vector]:
    """Random X, y, qid in which every query has both kinds of document."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([rng.permutation([1.0, 0.0, *rng.integers(0, 2, documents - 2)]) for _ in range(queries)])
    return rng.standard_normal((len(y), d)), y, np.repeat(np.arange(queries), documents)


def graded_arrays(seed: int) -> tuple[Matrix, Vector, Vector]:
    """X, y, qid of six queries of 2 to 5 documents, each with documents below 1, at 1 or 2, and a weak signal."""
    rng = np.random.default_rng(seed)
    ys = [rng.permutation([0.0, 2.0, *rng.integers(0, 3, n - 2)]) for n in (2, 3, 4, 5, 5, 4)]
    y = np.concatenate(ys)
    X = rng.standard_normal((len(y), 3))
    X[:, 0] += 0.5 * y
    return X, y, np.repeat(np.arange(6), [len(each) for each in ys])


def ranking(loss: Any, seed: int, C: float = 1.0, weights: Vector | None = None, **sizes: int) -> Problem:
    X, y, qid = ranking_arrays(seed, **sizes)
    rows = None if weights is None else weights[qid]
    return Problem.from_queries(X, y, qid, loss=loss, C=C, sample_weight=rows)


def small_problem(kind: str, seed: int = 0, C: float = 1.0, weighted: bool = False) -> Problem:
    """A problem of some kind, of 5 examples (12 rows for the losses of rows)."""
    rng = np.random.default_rng(seed)
    weights = np.array([0.5, 3.0, 1.0, 0.0, 2.0]) if weighted else None
    if kind in RANKING:
        return ranking(RANKING[kind], seed, C, weights)
    if kind == "chain":
        xs = [rng.standard_normal((length, 2)) for length in (2, 1, 3, 2, 3)]
        ys = [rng.choice(["b", "a"], len(x)) for x in xs]
        return Problem.from_examples(xs, ys, loss=ChainHamming("ba"), C=C, sample_weight=weights, intercept=0.7)
    X = rng.standard_normal((12, 3))
    weights = rng.integers(0, 4, 12).astype(np.float64) if weighted else None
    if kind == "zero_one":
        return Problem.from_queries(X, rng.choice([-1.0, 1.0], 12), loss=ZeroOne(), C=C, sample_weight=weights)
    classes = np.concatenate([[0, 1, 2], rng.integers(0, 3, 9)])
    if kind == "multiclass":
        return Problem.from_examples(X, classes, loss=Multiclass(), C=C, sample_weight=weights, intercept=0.7)
    generic = SparseKronecker() if kind == "sparse" else Kronecker()
    return Problem.from_examples(list(X), classes.tolist(), loss=generic, C=C, sample_weight=weights)


RANKING: dict[str, ScoreLoss[Any]] = {"map": AveragePrecision(), "roc_area": ROCArea(), "plain": PlainROCArea()}
KINDS = [*RANKING, "zero_one", "multiclass", "chain", "generic", "sparse"]


def matrix_of(operator: Operator) -> Matrix:
    """The matrix A, column by column."""
    return np.stack([operator.scores(e) for e in np.eye(operator.d)], axis=1)


@frozen(eq=False)
class Listed:
    """A problem with all outputs of each example: planes ``(g, L)`` of each, and the caps."""

    planes: list[tuple[Matrix, Vector]]
    cap: Vector
    d: int

    @classmethod
    def of(cls, problem: Problem, ys: Sequence[Any]) -> "Listed":
        A, loss = matrix_of(problem.operator), problem.loss
        planes = []
        for i, y in enumerate(ys):
            rows = A[np.r_[problem.ptr[i] : problem.ptr[i + 1], problem.ptr[-1] : len(A)]]
            outputs = list(loss.outputs(y))
            codes = np.stack([coefficients(loss, y, y) - coefficients(loss, output, y) for output in outputs])
            pairs = np.column_stack([codes @ rows, [loss.loss(y, output) for output in outputs]])
            pairs = np.unique(np.round(pairs, 12), axis=0)
            planes.append((pairs[:, :-1], pairs[:, -1]))
        return cls(planes, problem.cap, problem.d)

    def hinges(self, w: Vector) -> Vector:
        return np.array([(L - G @ w).max() for G, L in self.planes])

    def primal(self, w: Vector) -> float:
        return float(0.5 * w @ w + self.cap @ self.hinges(w))

    def optimum(self) -> float:
        """Minimum of the QP with every constraint, over w and the slacks, by SLSQP."""
        n, d = len(self.planes), self.d
        A = np.concatenate(
            [np.column_stack([G, np.tile(np.eye(n)[i], (len(L), 1))]) for i, (G, L) in enumerate(self.planes)]
        )
        b = np.concatenate([L for _, L in self.planes])
        start = np.concatenate([np.zeros(d), self.hinges(np.zeros(d))])
        result = minimize(
            lambda v: 0.5 * v[:d] @ v[:d] + self.cap @ v[d:],
            start,
            jac=lambda v: np.concatenate([v[:d], self.cap]),
            constraints={"type": "ineq", "fun": lambda v: A @ v - b, "jac": lambda v: A},
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 1000},
        )
        assert result.success or result.status == 8, result.message  # 8: no descent left within rounding
        return self.primal(result.x[:d])


def true_outputs(problem: Problem) -> Sequence[Any]:
    """The true outputs that a problem was made of, from its oracle."""
    if hasattr(problem.oracle, "ys"):
        return problem.oracle.ys
    labels, ptr = problem.oracle.labels, problem.oracle.label_ptr
    parts = [labels[ptr[i] : ptr[i + 1]] for i in range(problem.n)]
    if isinstance(problem.loss, Multiclass):
        return [problem.loss.classes[int(part[0])] for part in parts]
    if isinstance(problem.loss, ChainHamming):
        return [np.array(problem.loss.states)[part.astype(np.int64)] for part in parts]
    return [float(part[0]) for part in parts] if problem.loss.per_row else parts


def listed(problem: Problem) -> Listed:
    return Listed.of(problem, true_outputs(problem))


@cache
def solved(kind: str, seed: int = 0, C: float = 1.0, weighted: bool = False) -> tuple[Problem, Listed, float]:
    """A small problem, its lists of outputs, and its optimum."""
    problem = small_problem(kind, seed, C, weighted)
    every = listed(problem)
    return problem, every, every.optimum()


def score_vectors(length: int) -> st.SearchStrategy[Vector]:
    """Scores of any size, and scores with many ties and values on the margin."""
    spread = hnp.arrays(np.float64, length, elements=st.floats(-50, 50, allow_subnormal=False))
    return spread | tied_scores(length)


def tied_scores(length: int) -> st.SearchStrategy[Vector]:
    return hnp.arrays(np.int64, length, elements=st.integers(-4, 4)).map(lambda ints: ints / 4.0)


def relevances(smallest: int = 2, largest: int = 6) -> st.SearchStrategy[Vector]:
    """Labels of a query with both kinds of document."""
    both = st.lists(st.sampled_from([0.0, 1.0, 2.0]), min_size=smallest, max_size=largest)
    return both.filter(lambda y: 0 < sum(label > 0 for label in y) < len(y)).map(np.array)
