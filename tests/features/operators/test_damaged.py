"""Sparse matrices that are damaged are refused wherever they enter; loops would read and write beyond their arrays."""

import numpy as np
import pytest
import scipy.sparse as sp

from structsvm import Problem, Ranker, StructuralSVM
from structsvm.exceptions import InputError
from structsvm.features import BinnedMatrix
from structsvm.features.operators import Rows, readable

FAR = 10**6
Y, QID = np.tile([0.0, 1.0], 4), np.repeat([0, 1], 4)


def intact(form: str, kind: str = "array"):
    dense = np.random.default_rng(0).standard_normal((8, 6))
    return getattr(sp, f"{form}_{kind}")(np.where(dense > 0.3, dense, 0.0))


def put(name, place, value):
    def damage(X):
        getattr(X, name)[place] = value

    return damage


def cut(name, kept):
    def damage(X):
        setattr(X, name, getattr(X, name)[:kept])

    return damage


def as_floats(X):
    X.indices = X.indices.astype(np.float64)


def fall(X):
    X.indptr[2] = X.indptr[-1]


COMPRESSED = {
    "beyond the last column": put("indices", 3, FAR),
    "before the first column": put("indices", 0, -FAR),
    "rows end beyond the entries": put("indptr", -1, FAR),
    "a row end below 0": put("indptr", 1, -FAR),
    "row ends fall": fall,
    "rows do not begin at 0": put("indptr", 0, 1),
    "fewer row ends than rows": cut("indptr", -2),
    "fewer columns than entries": cut("indices", -3),
    "fewer values than entries": cut("data", -3),
    "columns that are floats": as_floats,
}
DAMAGES = {
    **{(form, name): damage for form in ("csr", "csc", "bsr") for name, damage in COMPRESSED.items()},
    ("coo", "beyond the last column"): put("col", 0, FAR),
    ("coo", "before the first row"): put("row", 0, -FAR),
    ("coo", "fewer values than places"): cut("data", -1),
    ("dia", "more offsets than diagonals"): lambda X: setattr(X, "offsets", np.arange(100, dtype=np.int32)),
    ("lil", "beyond the last column"): lambda X: X.rows[0].__setitem__(0, FAR),
    ("lil", "before the first column"): lambda X: X.rows[0].__setitem__(0, -5),
    ("lil", "more columns than values"): lambda X: X.rows[0].append(3),
    ("dok", "beyond the last column"): lambda X: X._dict.__setitem__((0, FAR), 1.0),
}
ENTRIES = {
    "Ranker": lambda X: Ranker().fit(X, Y, QID),
    "Problem": lambda X: Problem.from_queries(X, Y, QID),
    "StructuralSVM": lambda X: StructuralSVM().fit(X, Y),
    "a list": lambda X: StructuralSVM("chain_hamming").fit([X], [[0, 1] * 4]),
    "predict": lambda X: Ranker().fit(intact("csr"), Y, QID).predict(X),
}


@pytest.mark.parametrize(("form", "name"), DAMAGES, ids="-".join)
def test_a_damaged_matrix_is_refused(form, name):
    X = intact(form)
    DAMAGES[form, name](X)
    with pytest.raises(InputError, match="X is a .*_array that is damaged: .*Make it again from its entries"):
        readable(X)


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("form", ["csr", "csc"])
def test_wherever_it_enters(entry, form):
    X = intact(form, "matrix")
    X.indices[2] = -FAR
    with pytest.raises(InputError, match=rf"{form}_matrix that is damaged: indices\[2\] is -1000000; .* 0 to"):
        ENTRIES[entry](X)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_intact_matrices_are_read(form, kind):
    X = intact(form, kind)
    np.testing.assert_array_equal(readable(X).toarray(), X.toarray())
    assert np.array_equal(Ranker().fit(X, Y, QID).coef_, Ranker().fit(intact("csr"), Y, QID).coef_)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_entries_in_any_order_and_several_at_a_place_are_added_up(index, dtype):
    indices, indptr = np.array([2, 0, 2, 1], dtype=index), np.array([0, 3, 3, 4], dtype=index)
    X = sp.csr_array((np.array([1.0, 2.0, 3.0, 4.0], dtype=dtype), indices, indptr), shape=(3, 3))
    rows, w = Rows.one_row_per_example(readable(X)), np.array([1.0, 10.0, 100.0])
    np.testing.assert_array_equal(rows.scores(w), [402.0, 0.0, 40.0])
    np.testing.assert_array_equal(rows.combine(np.ones(3)), [2.0, 4.0, 4.0])


@pytest.mark.parametrize("ptr", [[0, 4, 12], [0, 4, 7], [1, 8], [0, 6, 4, 8], [[0, 8]], [0.0, 8.0], []])
def test_examples_must_have_all_rows(ptr):
    for X in (intact("csr"), intact("csr").toarray(), BinnedMatrix(np.zeros((8, 1), dtype=int), [0, 2])):
        with pytest.raises(InputError, match="ptr must b"):
            Rows(X, np.array(ptr))
