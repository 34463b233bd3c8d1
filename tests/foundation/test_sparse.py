"""Sparse matrices with odd arrays: convertible ones are read, others are refused in our words, wherever they enter."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import structsvm
from structsvm import Ranker, StructuralSVM
from structsvm.exceptions import InputError, TooLargeError

D = np.round(np.random.default_rng(0).random((8, 3)) * 4) / 4
Y, QID = np.tile([0, 1], 4), np.repeat([0, 1], 4)


def with_(form: str, **changes: Any) -> Any:
    X = getattr(sp, f"{form}_array")(D)
    for name, change in changes.items():
        setattr(X, name, change(getattr(X, name)))
    return X


def lil(name: str, value: Any) -> Any:
    X = sp.lil_array(D)
    getattr(X, name)[0] = value
    return X


@pytest.fixture(scope="module")
def entries(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path: Path = tmp_path_factory.mktemp("models") / "m.npz"
    ranker, chain = Ranker().fit(D, Y, QID), StructuralSVM("chain_hamming").fit([D], [Y])
    ranker.save(path)
    return {
        "fit": lambda X: Ranker().fit(X, Y, QID).predict(D),
        "predict": ranker.predict,
        "load": structsvm.load(path).predict,
        "chain": lambda X: chain.predict([X]),
    }


def unsigned(places: Any) -> Any:
    return places.astype(np.uint64)


def short(places: Any) -> Any:
    return places.astype(np.int16)


def listed(places: Any) -> Any:
    return places.tolist()


@pytest.mark.parametrize("change", [unsigned, short, listed, lambda places: places.astype(">i4")])
@pytest.mark.parametrize("form", ["csr", "csc", "bsr"])
def test_places_of_any_integers_are_read(entries: Any, form: str, change: Any) -> None:
    for call in entries.values():
        for names in ({"indices": change}, {"indptr": change}, {"indices": change, "indptr": change}):
            np.testing.assert_array_equal(call(with_(form, **names)), call(sp.csr_array(D)))


def masked(values: Any) -> Any:
    return np.ma.masked_greater(values, 0.8)


ODD = {
    "masked": (lambda: with_("csr", data=masked), "masked"),
    "masked csc": (lambda: with_("csc", data=masked), "masked"),
    "masked coo": (lambda: with_("coo", data=masked), "masked"),
    "no indices": (lambda: with_("csr", indices=lambda _: None), "indices must be a vector of integers"),
    "no indptr": (lambda: with_("csr", indptr=lambda _: None), "indptr must be a vector of integers"),
    "no data": (lambda: with_("csr", data=lambda _: None), "damaged"),
    "no places": (lambda: with_("coo", coords=lambda _: None), "damaged"),
    "text in lists": (lambda: lil("data", ["a"] * int((D[0] != 0).sum())), "must be numbers"),
    "columns of text": (lambda: lil("rows", ["a"] * int((D[0] != 0).sum())), "indices must be a vector of integers"),
    "no list": (lambda: lil("data", None), "damaged"),
    "offsets of text": (lambda: with_("dia", offsets=lambda places: places.astype(str)), "offsets must be a vector"),
    "three dimensions": (lambda: sp.coo_array(D[:, :, None]), "X must be a matrix|X\\[0\\] has 1 features"),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_arrays_are_refused(entries: Any, name: str) -> None:
    make, said = ODD[name]
    for call in entries.values():
        with pytest.raises(InputError, match=said):
            call(make())


def test_a_sparse_vector_is_one_row_of_a_chain_and_no_table(entries: Any) -> None:
    chain = StructuralSVM("chain_hamming").fit([sp.coo_array(D[0]), D[1:]], [[0], Y[1:]])
    assert chain.score([D[:1]], [chain.predict([D[:1]])[0]]) == 1.0
    for name in ("predict", "load"):
        with pytest.raises(InputError, match=r"shape \(3,\): if it is one row, pass X\.reshape\(1, -1\)"):
            entries[name](sp.coo_array(D[0]))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.bool_, object])
def test_what_memory_cannot_hold_is_refused_before_it_is_copied(entries: Any, dtype: type) -> None:
    huge = np.broadcast_to(D[0].astype(dtype), (10**12, 3))
    for call in entries.values():
        with pytest.raises(TooLargeError, match="TiB of memory"):
            call(huge)
