"""A BinnedMatrix or LeafMatrix is the matrix of zeros and ones that it stands for."""

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structsvm.exceptions import InputError
from structsvm.features.operators import BinnedMatrix, LeafMatrix
from structsvm.features.operators.coded import CodedMatrix


@st.composite
def matrices(draw: st.DrawFn) -> CodedMatrix:
    """Functions of no, one, a few, or more than 255 thresholds, or trees of as many leaves; rows from none on."""
    kind: Any = draw(st.sampled_from([BinnedMatrix, LeafMatrix]))
    few = [0, 1, 2, 5, 255, 256] if kind is BinnedMatrix else [1, 2, 5, 256, 257]
    sizes = draw(st.lists(st.sampled_from(few), min_size=1, max_size=4))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    codes = rng.integers(0, np.array(sizes) + (kind is BinnedMatrix), (draw(st.integers(0, 9)), len(sizes)))
    return kind(codes, np.cumsum([0, *sizes]))


def by_definition(B: CodedMatrix) -> Any:
    """Column offsets[f] + k is 1 if more than k thresholds are satisfied, or the row is in leaf k."""
    sizes = np.diff(B.offsets).tolist()
    one = np.greater if isinstance(B, BinnedMatrix) else np.equal
    rows = [
        [float(one(code, k)) for code, size in zip(row, sizes, strict=True) for k in range(size)] for row in B.codes
    ]
    return np.array(rows, dtype=np.float64).reshape(len(B.codes), sum(sizes))


@given(matrices())
def test_it_is_what_it_stands_for(B: CodedMatrix) -> None:
    expected = by_definition(B)
    assert (B.shape, B.ndim, len(B)) == (expected.shape, 2, len(expected))
    np.testing.assert_array_equal(B.toarray(), expected)
    np.testing.assert_array_equal(np.asarray(B), expected)
    assert B.toarray(np.float32).dtype == np.asarray(B, dtype=np.float32).dtype == np.float32
    sparse = B.tocsr()
    np.testing.assert_array_equal(sparse.toarray(), expected)
    assert sparse.has_canonical_format
    assert sparse.nnz == expected.sum()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(B)).toarray(), expected)


@given(matrices())
def test_a_code_takes_the_fewest_bytes(B: CodedMatrix) -> None:
    largest = np.diff(B.offsets).max() - isinstance(B, LeafMatrix)
    assert B.codes.dtype == (np.uint8 if largest <= 255 else np.uint16)
    assert B.nbytes == B.codes.size * B.codes.itemsize + B.offsets.nbytes


@given(B=matrices(), data=st.data())
def test_rows_are_selected_as_those_of_an_array(B: CodedMatrix, data: st.DataObject) -> None:
    whole, n = B.toarray(), len(B)
    numbers = st.lists(st.integers(-n, n - 1), max_size=5) if n else st.just([])
    masks = st.lists(st.booleans(), min_size=n, max_size=n)
    slices: Any = st.slices(n) if n else st.just(slice(None))
    rows = data.draw(
        slices | numbers.map(lambda k: np.array(k, dtype=int)) | masks.map(lambda k: np.array(k, dtype=bool))
    )
    for key in (rows, (rows, slice(None)), (rows, ...)):
        part = B[key]
        np.testing.assert_array_equal(part.toarray(), whole[rows])
        assert part.codes.flags.c_contiguous
        assert part.codes.dtype == B.codes.dtype


def small() -> BinnedMatrix:
    return BinnedMatrix([[0, 2], [1, 1], [1, 0]], [0, 1, 3])


def test_one_row_is_a_matrix_of_one_row() -> None:
    np.testing.assert_array_equal(small()[1].toarray(), [[1, 1, 0]])
    np.testing.assert_array_equal(small()[-1].toarray(), [[1, 0, 0]])
    with pytest.raises(IndexError):
        small()[3]


@pytest.mark.parametrize(
    "key", [np.s_[:, 0], np.s_[:, [0, 1]], np.s_[:, :1], np.s_[..., 0], (slice(None), np.array([0, 1]))]
)
def test_columns_cannot_be_selected(key: Any) -> None:
    with pytest.raises(IndexError, match="columns of a BinnedMatrix cannot be selected"):
        small()[key]


def test_rows_are_selected_by_one_vector() -> None:
    with pytest.raises(IndexError, match="rows of a BinnedMatrix are selected by"):
        small()[np.array([[0, 1], [1, 2]])]


def test_a_range_of_rows_is_not_copied() -> None:
    B = BinnedMatrix(np.zeros((10, 3), dtype=np.uint8), [0, 1, 2, 3])
    assert np.shares_memory(B[2:7].codes, B.codes)


@pytest.mark.parametrize("sizes", [[3, 4], [3, 400]])
def test_codes_of_the_right_type_are_not_copied(sizes: list[int]) -> None:
    codes = np.ones((5, 2), dtype=np.uint8 if max(sizes) <= 255 else np.uint16)
    B = BinnedMatrix(codes, np.cumsum([0, *sizes]))
    assert np.shares_memory(B.codes, codes)
    for kept in (B.codes, B.offsets, B[1:].codes):
        with pytest.raises(ValueError, match="read-only"):
            kept[0] = 9


@given(matrices())
def test_rows_under_one_another(B: CodedMatrix) -> None:
    again = type(B).stack([B[:1], B[1:1], B[1:]])
    np.testing.assert_array_equal(again.codes, B.codes)
    assert type(B).stack([B]) is B


def test_different_thresholds_are_not_stacked() -> None:
    with pytest.raises(InputError, match="different thresholds"):
        BinnedMatrix.stack([small(), BinnedMatrix([[0, 0]], [0, 2, 3])])
    with pytest.raises(InputError, match="list of matrices is empty"):
        BinnedMatrix.stack([])


def test_a_view_is_refused() -> None:
    with pytest.raises(ValueError, match="without a copy"):
        np.asarray(small(), copy=False)


def test_it_shows_its_size() -> None:
    assert repr(small()) == "BinnedMatrix(3 x 3, 2 functions, uint8)"


@pytest.mark.parametrize(
    ("codes", "offsets", "message"),
    [
        ([[2]], [0, 1], "codes of function 0 are beyond 0 to 1.*they are 2 to 2"),
        ([[0, 0], [0, -1]], [0, 1, 2], "codes of function 1 are beyond 0 to 1.*they are -1 to 0"),
        ([[1]], [0, 0], "codes of function 0 are beyond 0 to 0"),
        ([[300]], [0, 299], "codes of function 0 are beyond 0 to 299"),
        ([[0.5]], [0, 1], "integers of shape .rows, 1.*float64"),
        ([[0, 0]], [0, 1], "integers of shape .rows, 1., .*shape .1, 2."),
        ([0], [0, 1], "integers of shape"),
        ([[1], [1, 2]], [0, 2, 5], "rows have different lengths"),
        ([[True]], [0, 1], "they are bool"),
        ([[0]], [0, 70_000], "70000 thresholds; at most 65535"),
        ([[0]], [1, 2], "begins with 0"),
        ([[0, 0]], [0, 2, 1], "does not descend"),
        ([[0]], [0.0, 1.0], "vector of integers"),
        ([[0]], [], "vector of integers"),
        ([[0]], [[0, 1]], "vector of integers"),
    ],
)
def test_inconsistent_arguments_are_errors(codes: Any, offsets: Any, message: str) -> None:
    """Kernels look codes up without a test: none may be beyond its table."""
    with pytest.raises(InputError, match=message):
        BinnedMatrix(codes, offsets)


@pytest.mark.parametrize("shape", [(3, 0), (0, 0), (0, 2), (3, 2)])
def test_csr_of_any_shape(shape: tuple[int, int]) -> None:
    X = BinnedMatrix(np.ones(shape, dtype=np.int64), np.arange(shape[1] + 1) * 2)
    np.testing.assert_array_equal(X.tocsr().toarray(), X.toarray())


@pytest.mark.parametrize(
    ("codes", "offsets", "message"),
    [
        ([[0]], [0, 0], "begins with 0 and ascends"),
        ([[2]], [0, 2], "codes of tree 0 are beyond 0 to 1, as it has 2 leaves"),
        ([[0]], [0, 65_537], "a tree has 65537 leaves; at most 65536 can be coded"),
    ],
)
def test_a_tree_has_leaves_and_codes_are_of_them(codes: Any, offsets: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        LeafMatrix(codes, offsets)
