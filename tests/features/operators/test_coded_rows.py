"""Tables and histograms agree with the expanded float64 matrix, up to rounding."""

from collections.abc import Callable, Iterator
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structsvm.exceptions import InputError
from structsvm.features.operators import BinnedMatrix, LeafMatrix, Operator, Rows, readable
from structsvm.features.operators.composed import PerClass, WithIntercept
from structsvm.features.operators.views import write_combination, write_scores
from tests.slow import slow

MAKERS: dict[str, Callable[[Operator], Operator]] = {
    "rows": lambda rows: rows,
    "per_class_of_intercept": lambda rows: PerClass(WithIntercept(rows, -0.4), 2),
}
each_maker = pytest.mark.parametrize("maker", ["rows", *slow("per_class_of_intercept")])


@st.composite
def both(draw: st.DrawFn) -> tuple[Rows, Rows]:
    """Examples of 0 to 9 rows, coded and expanded; functions and trees have up to 300 thresholds or leaves."""
    kind: Any = draw(st.sampled_from([BinnedMatrix, LeafMatrix]))
    lengths = draw(st.lists(st.integers(0, 9), min_size=1, max_size=5).filter(sum))
    few = [0, 1, 3, 50, 300] if kind is BinnedMatrix else [1, 3, 50, 300]
    sizes = draw(st.lists(st.sampled_from(few), min_size=1, max_size=6).filter(sum))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    codes = rng.integers(0, np.array(sizes) + (kind is BinnedMatrix), (sum(lengths), len(sizes)))
    B, ptr = kind(codes, np.cumsum([0, *sizes])), np.cumsum([0, *lengths])
    return Rows(B, ptr), Rows(B.toarray(), ptr)


def vectors(operator: Operator) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    w, c = rng.standard_normal(operator.d), rng.standard_normal(operator.ptr[-1])
    c[rng.random(len(c)) < 0.3] = 0.0
    return w, c


@each_maker
@given(pair=both())
def test_coded_is_expanded(maker: str, pair: tuple[Rows, Rows]) -> None:
    binned, expanded = (MAKERS[maker](rows) for rows in pair)
    w, c = vectors(expanded)
    assert (binned.d, binned.n) == (expanded.d, expanded.n)
    np.testing.assert_array_equal(binned.ptr, expanded.ptr)
    np.testing.assert_allclose(binned.scores(w), expanded.scores(w), atol=1e-12)
    np.testing.assert_allclose(binned.combine(c), expanded.combine(c), atol=1e-12)
    examples = np.arange(binned.n)[::-1].copy()
    np.testing.assert_allclose(binned.combine_each(c, examples), expanded.combine_each(c, examples), atol=1e-12)


@each_maker
@given(pair=both())
def test_compiled_loops_and_blocks_see_the_same(maker: str, pair: tuple[Rows, Rows]) -> None:
    binned, expanded = (MAKERS[maker](rows) for rows in pair)
    w, c = vectors(expanded)
    for i in range(binned.n):
        block = expanded.block(i, i + 1)
        owned = slice(expanded.ptr[i], expanded.ptr[i + 1])
        scores, combined = np.full(len(c[owned]), np.nan), np.full(binned.d, np.nan)
        write_scores(binned.view, i, w, scores)
        write_combination(binned.view, i, c[owned], combined)
        np.testing.assert_allclose(scores, block.scores(w), atol=1e-12)
        np.testing.assert_allclose(combined, block.combine(c[owned]), atol=1e-12)
        np.testing.assert_allclose(binned.block(i, i + 1).scores(w), block.scores(w), atol=1e-12)
        np.testing.assert_allclose(binned.block(i, i + 1).combine(c[owned]), block.combine(c[owned]), atol=1e-12)


def some(rows: int = 12, sizes: tuple[int, ...] = (3, 0, 50)) -> BinnedMatrix:
    rng = np.random.default_rng(0)
    return BinnedMatrix(rng.integers(0, np.array(sizes) + 1, (rows, len(sizes))), np.cumsum([0, *sizes]))


def test_nothing_is_copied() -> None:
    B = some()
    assert readable(B) is B
    assert Rows.of(B).X is B
    assert np.shares_memory(Rows(B, np.array([0, 4, 12])).block(1, 2).X.codes, B.codes)  # type: ignore[union-attr]
    assert Rows(B, np.array([0, 12])).stored == B.codes.size


def test_examples_may_each_have_a_matrix() -> None:
    B = some()
    operator = Rows.of([B[:5], B[5:5], B[5:]])
    np.testing.assert_array_equal(operator.ptr, [0, 5, 5, 12])
    w = np.linspace(-1.0, 1.0, operator.d)
    np.testing.assert_allclose(operator.scores(w), B.toarray() @ w, atol=1e-14)
    assert Rows.of([B]).X is B


def test_examples_are_not_binned_in_part() -> None:
    B = some()
    with pytest.raises(InputError, match="1 of 2 inputs are BinnedMatrix objects"):
        Rows.of([B, B.toarray()])


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_change_nothing(threads: int, monkeypatch: pytest.MonkeyPatch, restored_threads: None) -> None:
    if threads > numba.config.NUMBA_NUM_THREADS:
        pytest.skip("numba has one thread only")
    monkeypatch.setattr("structsvm.foundation.compute.threads._BLOCK", 1)
    numba.set_num_threads(threads)
    B = some(4001, (50,) * 17)
    X = B.toarray()
    w, c = np.linspace(-1.0, 1.0, B.shape[1]), np.linspace(-1.0, 2.0, len(B))
    for ptr in (np.array([0, 100, 100, 1502, 4001]), np.arange(4002)):
        rows = Rows(B, ptr)
        np.testing.assert_allclose(rows.scores(w), X @ w, atol=1e-12)
        np.testing.assert_allclose(rows.combine(c), X.T @ c, atol=1e-10)


@pytest.fixture
def restored_threads() -> Iterator[None]:
    before = numba.get_num_threads()
    yield
    numba.set_num_threads(before)


def test_other_types_are_errors() -> None:
    with pytest.raises(InputError, match="got list"):
        Rows([[1.0]], np.array([0, 1])).view  # type: ignore[arg-type]  # noqa: B018
