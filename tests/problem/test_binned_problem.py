"""A problem of binned features is the problem of the expanded matrix."""

from typing import Any

import numpy as np
import pytest

from structsvm import Problem, most_violated
from structsvm.exceptions import InputError
from structsvm.features.operators import BinnedMatrix
from structsvm.losses import AveragePrecision, Multiclass
from structsvm.problem import fingerprint
from structsvm.problem.fingerprint import same
from structsvm.registry import solvers
from structsvm.solvers import Auto, FrankWolfe
from tests.small_problems import PlainROCArea

C, TOL = 20.0, 1e-5


def data(seed: int = 0, queries: int = 25, documents: int = 9) -> tuple[BinnedMatrix, Any, Any]:
    """Rows whose queries do not stand together; the last query has no relevant document."""
    rng = np.random.default_rng(seed)
    sizes = np.array([4, 0, 7, 3])
    codes = rng.integers(0, sizes + 1, (queries * documents, len(sizes)))
    qid = rng.permutation(np.repeat(np.arange(queries), documents))
    y = (codes[:, 0] + codes[:, 2] + 3 * rng.standard_normal(len(qid)) > 8).astype(float)
    y[qid == queries - 1] = 0.0
    return BinnedMatrix(codes, np.cumsum([0, *sizes])), y, qid


@pytest.mark.parametrize("intercept", [0.0, 1.5])
@pytest.mark.parametrize(
    "loss", ["map", "roc_area", "zero_one", PlainROCArea()], ids=["map", "roc_area", "zero_one", "plain"]
)
@pytest.mark.parametrize("solver", ["auto", "one-slack", "n-slack", "frank-wolfe"])
def test_every_solver_finds_the_optimum_of_the_expanded_matrix(solver: str, loss: Any, intercept: float) -> None:
    B, y, qid = data(queries=8) if loss not in ("map", "roc_area") else data()
    problem = Problem.from_queries(B, y, qid, loss=loss, C=C, intercept=intercept)
    expanded = Problem.from_queries(B.toarray(), y, qid, loss=loss, C=C, intercept=intercept)
    result = solvers.create(solver, tol=TOL).solve(problem)
    exact = solvers.create("one-slack", tol=TOL).solve(expanded)
    assert result.converged
    assert result.dual <= exact.primal * (1 + 1e-12)
    assert exact.dual <= result.primal * (1 + 1e-12)
    point = expanded.at(result.w)
    assert result.primal == pytest.approx(expanded.primal(expanded.planes(point), point), rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["auto", "one-slack", "n-slack", "frank-wolfe"])
def test_multiclass(solver: str) -> None:
    B, _, qid = data(queries=12)
    ys = qid % 3
    problem = Problem.from_examples(B, ys, loss=Multiclass(), C=C, intercept=0.7)
    expanded = Problem.from_examples(B.toarray(), ys, loss=Multiclass(), C=C, intercept=0.7)
    result, exact = solvers.create(solver, tol=TOL).solve(problem), solvers.create("one-slack", tol=TOL).solve(expanded)
    assert result.dual <= exact.primal * (1 + 1e-12)
    assert exact.dual <= result.primal * (1 + 1e-12)


def test_auto_reads_the_size_of_the_codes() -> None:
    """A plane has as many numbers as there are weights: it must be cheaper to look at than the codes of its rows."""
    rng = np.random.default_rng(0)
    B = BinnedMatrix(rng.integers(0, 3, (3000, 4)), [0, 2, 4, 6, 8])
    y, qid = np.tile([1.0, 0.0, 0.0], 1000), np.repeat(np.arange(30), 100)
    assert isinstance(Auto().choose(Problem.from_queries(B, y, qid, loss="map")), FrankWolfe)
    single = Problem.from_queries(B, y, loss="zero_one")
    assert not isinstance(Auto().choose(single), FrankWolfe)


def test_queries_that_stand_together_are_not_copied() -> None:
    B, y, qid = data()
    order = np.argsort(qid, kind="stable")
    grouped = B[order]
    problem: Any = Problem.from_queries(grouped, y[order], qid[order], loss="map")
    assert problem.operator.X is grouped
    assert (problem.n, problem.used, problem.left_out) == (25, 24, 1)


def test_a_list_of_matrices() -> None:
    B, y, qid = data(queries=6)
    queries = [qid == q for q in range(5)]
    listed = Problem.from_examples([B[q] for q in queries], [y[q] for q in queries], loss="map", C=C)
    rows = np.concatenate([np.flatnonzero(q) for q in queries])
    whole = Problem.from_queries(B[rows], y[rows], qid[rows], loss="map", C=C)
    np.testing.assert_array_equal(fingerprint(listed), fingerprint(whole))


def test_the_fingerprint_is_of_the_codes() -> None:
    B, y, qid = data()
    seen = fingerprint(Problem.from_queries(B, y, qid, loss="map"))
    assert same(seen, fingerprint(Problem.from_queries(BinnedMatrix(B.codes.copy(), B.offsets), y, qid, loss="map")))
    codes = B.codes.copy()
    codes[17, 2] = codes[17, 2] - 1 if codes[17, 2] else 1
    assert not same(seen, fingerprint(Problem.from_queries(BinnedMatrix(codes, B.offsets), y, qid, loss="map")))


def test_the_most_violated_output() -> None:
    B, y, qid = data()
    query, w = qid == 3, np.linspace(-1.0, 1.0, B.shape[1])
    seen = most_violated(B[query], y[query], w, loss=AveragePrecision())
    expected = most_violated(B[query].toarray(), y[query], w, loss=AveragePrecision())
    assert (seen.loss, seen.hinge) == pytest.approx((expected.loss, expected.hinge))


def test_labels_that_do_not_fit_are_refused() -> None:
    B, y, qid = data()
    with pytest.raises(InputError, match="X has 225 rows, but y has 224 labels"):
        Problem.from_queries(B, y[:-1], qid, loss="map")
