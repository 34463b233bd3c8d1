"""Operators: A and its transpose belong to each other, blocks are slices, nothing is copied."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from structsvm.exceptions import InputError
from structsvm.features.operators import Operator, Rows
from structsvm.features.operators.composed import HStack, Pair, PerClass, WithIntercept, WithShared
from tests.small_problems import matrix_of

KINDS: dict[str, Callable[[Operator], Operator]] = {
    "rows": lambda rows: rows,
    "intercept": lambda rows: WithIntercept(rows, 1.7),
    "per_class": lambda rows: PerClass(rows, 3),
    "per_class_of_intercept": lambda rows: PerClass(WithIntercept(rows, -0.4), 2),
    "intercept_of_per_class": lambda rows: WithIntercept(PerClass(rows, 2), 0.5),
    "beside": lambda rows: HStack(PerClass(rows, 1), WithIntercept(rows, 0.3)),
    "shared": lambda rows: WithShared.alone(rows.d, rows.n),
    "with_shared": lambda rows: WithShared(rows, 2),
    "chain": lambda rows: WithShared(PerClass(WithIntercept(rows, -0.4), 2), 4),
    "graph": lambda rows: Pair(PerClass(WithIntercept(rows, -0.4), 2), PerClass(backwards(rows), 3)),
}


def backwards(rows: Any) -> Rows:
    """Return examples with the numbers of rows in the reverse order, so that parts of a pair differ in length."""
    sizes = np.diff(rows.ptr)[::-1]
    return Rows(rows.X, np.cumsum([0, *sizes]).astype(np.int64))


each_kind = pytest.mark.parametrize("kind", KINDS)


@st.composite
def rows(draw: st.DrawFn) -> Rows:
    """Examples of 0 to 4 rows, dense (in C or Fortran order, float64 or float32) or CSR (array or matrix)."""
    sizes = draw(st.lists(st.integers(0, 4), min_size=1, max_size=6).filter(sum))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    X = rng.standard_normal((sum(sizes), draw(st.integers(1, 5)))) * rng.integers(0, 2, (sum(sizes), 1))
    form: Any = draw(st.sampled_from([np.asarray, np.asfortranarray, np.float32, sp.csr_array, sp.csr_matrix]))
    return Rows(form(X), np.cumsum([0, *sizes]).astype(np.int64))


def vectors(operator: Operator, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal(operator.d), rng.standard_normal(operator.ptr[-1] + operator.shared)


@each_kind
@given(base=rows(), seed=st.integers(0, 999))
def test_combine_is_the_transpose_of_scores(kind: str, base: Rows, seed: int) -> None:
    operator = KINDS[kind](base)
    w, c = vectors(operator, seed)
    scores, combined = operator.scores(w), operator.combine(c)
    assert scores.shape == c.shape
    assert combined.shape == w.shape
    assert scores.dtype == combined.dtype == np.float64
    np.testing.assert_allclose(scores @ c, w @ combined, rtol=1e-5 if base.X.dtype == np.float32 else 1e-9, atol=1e-5)


@each_kind
@given(base=rows(), data=st.data())
def test_a_block_is_a_slice_of_the_whole(kind: str, base: Rows, data: st.DataObject) -> None:
    operator = KINDS[kind](base)
    start = data.draw(st.integers(0, operator.n))
    stop = data.draw(st.integers(start, operator.n))
    block = operator.block(start, stop)
    w, c = vectors(operator, 0)
    owned = np.r_[operator.ptr[start] : operator.ptr[stop], operator.ptr[-1] : len(c)]
    alone = np.zeros_like(c)
    alone[owned] = c[owned]
    assert (block.n, block.d) == (stop - start, operator.d)
    np.testing.assert_array_equal(block.ptr, operator.ptr[start : stop + 1] - operator.ptr[start])
    np.testing.assert_allclose(block.scores(w), operator.scores(w)[owned], atol=1e-6)
    np.testing.assert_allclose(block.combine(c[owned]), operator.combine(alone), atol=1e-6)


def test_per_class_scores_are_k_a_row() -> None:
    X, W = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(4, 3)
    np.testing.assert_allclose(PerClass(Rows.one_row_per_example(X), 4).scores(W.ravel()), (X @ W.T).ravel())


def test_the_last_weight_of_with_intercept_is_the_constant() -> None:
    operator = WithIntercept(Rows.one_row_per_example(np.array([[1.0, 2.0], [3.0, 4.0]])), 10.0)
    np.testing.assert_allclose(operator.scores(np.array([1.0, 1.0, 0.5])), [8.0, 12.0])


def test_shared_scores_follow_those_of_all_examples() -> None:
    X, V = np.arange(6.0).reshape(3, 2), np.array([0.5, -1.0])
    operator = WithShared(Rows(X, np.array([0, 2, 3])), 2)
    np.testing.assert_array_equal(operator.scores(np.array([1.0, 10.0, *V])), [*X @ [1.0, 10.0], *V])
    np.testing.assert_array_equal(operator.ptr, [0, 2, 3])
    assert (operator.d, operator.shared, operator.stored) == (4, 2, 6)


@pytest.mark.parametrize("kind", ["with_shared", "chain"])
@pytest.mark.parametrize("examples", [[], [2], [3, 0, 1, 3]])
def test_combine_each_is_the_combination_of_each(kind: str, examples: list[int]) -> None:
    base = Rows(np.random.default_rng(0).standard_normal((6, 2)), np.array([0, 1, 3, 3, 6]))
    operator = KINDS[kind](base)
    _, c = vectors(operator, 0)
    combined = operator.combine_each(c, np.array(examples, dtype=np.int64))
    assert combined.shape == (len(examples), operator.d)
    for row, i in zip(combined, examples, strict=True):
        own = c[operator.ptr[i] : operator.ptr[i + 1]]
        np.testing.assert_allclose(row, operator.block(i, i + 1).combine(np.append(own, np.zeros(operator.shared))))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csr_matrix])
def test_rows_and_blocks_share_the_memory_of_X(form: Any) -> None:
    X = form(np.arange(1.0, 2001.0).reshape(200, 10))
    operator = Rows(X, np.arange(0, 201, 4))
    assert operator.X is X
    for part in (operator.block(0, 50), operator.block(7, 9)):
        if sp.issparse(X):
            assert np.shares_memory(part.X.data, X.data)
            assert np.shares_memory(part.X.indices, X.indices)
        else:
            assert np.shares_memory(part.X, X)


def test_a_matrix_is_not_copied_by_rows_of() -> None:
    X = np.ones((3, 2))
    assert Rows.of(X).X is X
    np.testing.assert_array_equal(Rows.of(X).ptr, [0, 1, 2, 3])


@pytest.mark.parametrize("form", [list, np.asarray, sp.csr_array, sp.coo_matrix])
def test_rows_of_a_list_of_matrices(form: Any) -> None:
    first, second = np.arange(6.0).reshape(3, 2), np.arange(2.0).reshape(1, 2)
    operator = Rows.of([form(first), form(second)])
    np.testing.assert_array_equal(operator.ptr, [0, 3, 4])
    np.testing.assert_array_equal(matrix_of(operator), np.concatenate([first, second]))


def test_rows_of_vectors_are_examples_of_one_row() -> None:
    operator = Rows.of([[1.0, 2.0], [3, 4]])
    np.testing.assert_array_equal(operator.ptr, [0, 1, 2])
    np.testing.assert_array_equal(matrix_of(operator), [[1, 2], [3, 4]])


@pytest.mark.parametrize("dtype", [np.float64, object])
def test_rows_of_an_array_of_matrices(dtype: Any) -> None:
    xs = np.arange(12.0).reshape(2, 3, 2).astype(dtype)
    operator = Rows.of(xs)
    np.testing.assert_array_equal(operator.ptr, [0, 3, 6])
    np.testing.assert_array_equal(matrix_of(operator), np.arange(12.0).reshape(6, 2))


def test_rows_of_inputs_with_different_numbers_of_features() -> None:
    with pytest.raises(InputError, match="features: example 0 has 2, example 1 has 3"):
        Rows.of([np.ones((2, 2)), np.ones((1, 3))])


@pytest.mark.parametrize("form", [sp.coo_array, sp.csc_array])
def test_other_sparse_formats_become_csr(form: Any) -> None:
    X = np.array([[0.0, 1.0], [2.0, 0.0]])
    operator = Rows.of(form(X))
    np.testing.assert_array_equal(matrix_of(operator.block(1, 2)), X[1:])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_equal_rows_have_equal_scores(dtype: Any) -> None:
    """BLAS gives some of them scores that differ in the last bit, which breaks ties."""
    rng = np.random.default_rng(0)
    for d in range(1, 40):
        X = np.tile(rng.normal(size=d).astype(dtype), (23, 1))
        assert len(set(Rows.one_row_per_example(X).scores(rng.normal(size=d)).tolist())) == 1


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_vectors_of_another_length_are_refused_before_memory_is_read(storage: Any) -> None:
    rows = Rows(storage(np.eye(4, 5)), np.array([0, 2, 4]))
    for operator in (rows, WithIntercept(rows, 1.0), PerClass(rows, 3)):
        width = operator.d
        for length in (3, width - 3, width + 3):
            with pytest.raises(InputError, match="rows of 5 features are scored by as many weights, got"):
                operator.scores(np.ones(length))
        for length in (3, 9):
            with pytest.raises(InputError, match="4 rows are combined by as many coefficients, got"):
                operator.combine(np.ones(length))
