"""Storage of any kind gives the same numbers, summed in float64, without a copy, on one thread or two."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from structsvm.features.operators import Operator, Rows, readable
from structsvm.features.operators.composed import Pair, PerClass, WithIntercept, WithShared
from structsvm.features.operators.views import write_combination, write_scores
from structsvm.problem import Problem
from structsvm.registry import solvers
from tests.small_problems import ranking_arrays

PTR = np.array([0, 3, 3, 10, 40])


def int64_indices(X: Any) -> Any:
    sparse = sp.csr_array(X)
    sparse.indices, sparse.indptr = sparse.indices.astype(np.int64), sparse.indptr.astype(np.int64)
    return sparse


def read_only(X: Any) -> Any:
    X = X.copy()
    X.flags.writeable = False
    return X


FORMS: dict[str, Callable[[Any], Any]] = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "read only": read_only,
    "csr_array": sp.csr_array,
    "csr_matrix": sp.csr_matrix,
    "int64 indices": int64_indices,
}
MAKERS: dict[str, Callable[[Operator], Operator]] = {
    "rows": lambda rows: rows,
    "intercept": lambda rows: WithIntercept(rows, 1.7),
    "per_class": lambda rows: PerClass(rows, 3),
    "chain": lambda rows: WithShared(PerClass(WithIntercept(rows, -0.4), 2), 4),
    "graph": lambda rows: Pair(PerClass(rows, 2), rows),
}
each_form = pytest.mark.parametrize("form", FORMS)
each_maker = pytest.mark.parametrize("maker", MAKERS)
each_precision = pytest.mark.parametrize("dtype", [np.float64, np.float32])


def features(seed: int = 0, size: float = 1.0) -> Any:
    """Numbers that float32 holds exactly, with a large common part, half of them 0."""
    rng = np.random.default_rng(seed)
    X = (1000.0 + size * rng.standard_normal((40, 7))) * rng.integers(0, 2, (40, 7))
    return X.astype(np.float32)


@each_form
@each_maker
@each_precision
def test_sums_are_float64_whatever_the_storage(form: str, maker: str, dtype: Any) -> None:
    X = features()
    exact = MAKERS[maker](Rows(X.astype(np.float64), PTR))
    operator = MAKERS[maker](Rows(FORMS[form](X.astype(dtype)), PTR))
    rng = np.random.default_rng(1)
    w, c = rng.standard_normal(exact.d), rng.standard_normal(exact.ptr[-1] + exact.shared)
    scores, combined = operator.scores(w), operator.combine(c)
    assert scores.dtype == combined.dtype == np.float64
    np.testing.assert_allclose(scores, exact.scores(w), rtol=1e-12, atol=1e-12 * 7000)
    np.testing.assert_allclose(combined, exact.combine(c), rtol=1e-12, atol=1e-12 * 40_000)


@pytest.mark.parametrize(
    ("maker", "form", "dtype"),
    [("rows", form, dtype) for form in FORMS for dtype in (np.float64, np.float32)]
    # A chain contains the other operators.
    + [pytest.param("chain", *form, marks=pytest.mark.slow) for form in (("C", np.float64), ("csr_array", np.float32))],
)
def test_compiled_loops_see_what_the_operator_is(maker: str, form: str, dtype: Any) -> None:
    operator = MAKERS[maker](Rows(FORMS[form](features().astype(dtype)), PTR))
    rng = np.random.default_rng(1)
    w = rng.standard_normal(operator.d)
    for i in range(operator.n):
        block = operator.block(i, i + 1)
        c = rng.standard_normal(block.ptr[-1] + block.shared)
        scores, combined = np.full(len(c), np.nan), np.full(operator.d, np.nan)
        write_scores(operator.view, i, w, scores)
        write_combination(operator.view, i, c, combined)
        np.testing.assert_allclose(scores, block.scores(w), rtol=1e-11, atol=1e-11 * 7000)
        np.testing.assert_allclose(combined, block.combine(c), rtol=1e-11, atol=1e-11 * 30_000)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", ["C", "csr_array"])
def test_rows_take_several_weight_vectors_at_once(dtype: Any, form: str) -> None:
    rng = np.random.default_rng(0)
    rows = WithIntercept(Rows(FORMS[form](features().astype(dtype)), PTR), 2.0)
    W, C = rng.standard_normal((8, 3)), rng.standard_normal((40, 3))
    np.testing.assert_allclose(rows.scores(W), np.stack([rows.scores(w) for w in W.T.copy()], axis=1), rtol=1e-9)
    np.testing.assert_allclose(rows.combine(C), np.stack([rows.combine(c) for c in C.T.copy()], axis=1), rtol=1e-9)


def solve(X: Any, solver: str, y: Any, qid: Any, **settings: Any) -> Any:
    return solvers.create(solver, tol=1e-5).solve(Problem.from_queries(X, y, qid, loss="map", C=20.0, **settings))


DATA = ranking_arrays(0, queries=30, documents=8, d=6)
EACH_SOLVER = pytest.mark.parametrize("solver", ["one-slack", "n-slack", "frank-wolfe"])


@pytest.mark.parametrize(
    ("solver", "form"),
    [("one-slack", form) for form in FORMS]
    + [(solver, form) for solver in ("n-slack", "frank-wolfe") for form in ("C", "Fortran")]
    + [("n-slack", "csr_array"), pytest.param("frank-wolfe", "csr_array", marks=pytest.mark.slow)],
)
def test_float32_certificates_bracket_the_optimum_of_the_float32_numbers(solver: str, form: str) -> None:
    X, y, qid = DATA
    X = X.astype(np.float32)
    exact = solve(X.astype(np.float64), "one-slack", y, qid)
    result = solve(FORMS[form](X), solver, y, qid)
    assert result.converged
    assert result.dual <= exact.primal * (1 + 1e-12)
    assert exact.dual <= result.primal * (1 + 1e-12)
    in_float64 = Problem.from_queries(X.astype(np.float64), y, qid, loss="map", C=20.0)
    point = in_float64.at(result.w)
    assert result.primal == pytest.approx(in_float64.primal(in_float64.planes(point), point), rel=1e-12)


@EACH_SOLVER
@each_precision
def test_a_memory_map_is_read_where_it_is(solver: str, dtype: Any, tmp_path: Path) -> None:
    X, y, qid = DATA
    np.save(tmp_path / "X.npy", X.astype(dtype))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    problem = Problem.from_queries(mapped, y, qid, loss="map", C=20.0)
    assert np.shares_memory(problem.operator.X, mapped)  # type: ignore[attr-defined]
    result = solvers.create(solver, tol=1e-5).solve(problem)
    assert result.primal == pytest.approx(solve(X.astype(dtype), solver, y, qid).primal, rel=1e-9)


@EACH_SOLVER
@pytest.mark.parametrize("maker", ["intercept", "plain"])
def test_queries_that_cannot_be_used_cost_no_copy(solver: str, maker: str) -> None:
    X, y, qid = DATA
    y = y.copy()
    y[np.isin(qid, [0, 7, 8, 29])] = 1.0
    settings = {"intercept": 1.5} if maker == "intercept" else {}
    problem = Problem.from_queries(X, y, qid, loss="map", C=20.0, **settings)
    rows: Any = problem.operator.rows if settings else problem.operator  # type: ignore[attr-defined]
    assert rows.X is X
    assert (problem.n, problem.used, problem.left_out) == (30, 26, 4)
    kept = ~np.isin(qid, [0, 7, 8, 29])
    result, alone = solve(X, solver, y, qid, **settings), solve(X[kept], solver, y[kept], qid[kept], **settings)
    assert result.dual <= alone.primal * (1 + 1e-12)
    assert alone.dual <= result.primal * (1 + 1e-12)


@given(dtype=st.sampled_from(["f2", ">f8", "<f4", ">f4", "i4", "u1", "?"]), sparse=st.booleans())
def test_numbers_of_any_kind_are_read(dtype: str, sparse: bool) -> None:
    X = np.arange(12.0).reshape(4, 3).astype(dtype)
    read = readable(sp.csr_array(X.astype(np.float64)) if sparse else X)
    assert read.dtype in (np.float64, np.float32)
    w = np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(Rows.one_row_per_example(read).scores(w), X.astype(np.float64) @ w)


@each_precision
@pytest.mark.parametrize("form", ["C", "Fortran", "read only"])
def test_readable_arrays_are_shared(dtype: Any, form: str) -> None:
    X = FORMS[form](features().astype(dtype))
    assert readable(X) is X
    sparse = sp.csr_matrix(X)
    assert np.shares_memory(readable(sparse).data, sparse.data)
