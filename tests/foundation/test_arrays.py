"""Arrays of all kinds that people pass in: each is either read right, or refused by name."""

import warnings
from datetime import date
from fractions import Fraction
from functools import cache

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from attrs import frozen

from structsvm import Problem, Ranker, StructuralSVM
from structsvm.data import Qrels, Run
from structsvm.exceptions import InputError
from structsvm.features import QueryMinMax, Thresholds
from structsvm.foundation.arrays import numbers
from structsvm.fusion import CombSUM
from structsvm.losses import Multiclass, ZeroOne
from structsvm.metrics import AP
from structsvm.problem import most_violated
from structsvm.rankers import LambdaMART, Preferences

X = np.random.default_rng(0).standard_normal((8, 3)).round(2)
Y, QID = np.tile([0.0, 1.0], 4), np.repeat([0, 1], 4)
ONES = np.ones(8)


@cache
def fitted():
    return Ranker().fit(X, Y, QID)


@frozen
class Kinds:
    """Arrays of real numbers, and other objects, made from an array."""

    array: np.ndarray

    @property
    def right(self):
        unaligned = np.frombuffer(b"\0" + self.array.tobytes(), dtype=np.uint8)[1:].view(np.float64)
        read_only = self.array.copy()
        read_only.flags.writeable = False
        return {
            "list": self.array.tolist(),
            "objects": self.array.astype(object),
            "fractions": np.vectorize(Fraction, otypes=[object])(self.array),
            "text": self.array.astype(str),
            "longdouble": self.array.astype(np.longdouble),
            "other byte order": self.array.astype(self.array.dtype.newbyteorder()),
            "unaligned": unaligned.reshape(self.array.shape),
            "read only": read_only,
            "backwards": self.array[::-1].copy()[::-1],
            "masked nowhere": np.ma.masked_array(self.array),
            "pandas": pd.DataFrame(self.array) if self.array.ndim == 2 else pd.Series(self.array),
            "nullable": pd.DataFrame(self.array).astype("Float64")
            if self.array.ndim == 2
            else pd.Series(self.array).astype("Float64"),
        }

    @property
    def wrong(self):
        records = np.zeros(len(self.array), dtype=[("a", float), ("b", float)])
        return {
            "complex": (self.array + 1j, "complex numbers, whose imaginary part would be lost"),
            "complex of 0": (self.array.astype(complex), "complex"),
            "complex list": ((self.array + 1j).tolist(), "complex"),
            "complex objects": ((self.array + 1j).astype(object), "complex"),
            "dates": (self.array.astype("M8[s]"), "dates"),
            "time spans": (self.array.astype("m8[s]"), "time spans"),
            "records": (records, "records with named fields"),
            "masked": (np.ma.masked_array(self.array, self.array > 0.5), "masked values?|values are masked"),
            "python dates": (np.full(self.array.shape, date(2020, 1, 1)), "date"),
            "words": (np.full(self.array.shape, "abc"), "abc"),
            "huge": (np.full(self.array.shape, 10**400, dtype=object), "too large"),
        }


USES = {
    "X": (X, lambda X: Ranker().fit(X, Y, QID).coef_),
    "X of predict": (X, lambda X: fitted().predict(X)),
    "X of a Problem": (X, lambda X: Problem.from_queries(X, Y, QID).at(np.ones(3)).scores),
    "X of features": (X, lambda X: Thresholds(bins=3).fit_transform(X).toarray()),
    "X by query": (X, lambda X: QueryMinMax().fit_transform(X, qid=QID)),
    "X of fusion": (X, lambda X: CombSUM().fit(X, qid=QID).predict(X, qid=QID)),
    "an example": (X, lambda X: StructuralSVM("chain_hamming").fit([X], [[0, 1] * 4]).coef_),
    "y": (Y, lambda y: Ranker().fit(X, y, QID).coef_),
    "y of a loss by rows": (Y, lambda y: Ranker("zero_one").fit(X, y).coef_),
    "sample_weight": (ONES, lambda k: Ranker().fit(X, Y, QID, sample_weight=k).coef_),
    "sample_weight of rows": (Y + 1.0, lambda k: StructuralSVM().fit(X, Y, sample_weight=k).coef_),
    "sample_weight of score": (Y + 1.0, lambda k: StructuralSVM().fit(X, Y).score(X, Y, sample_weight=k)),
    "scores": (X[:, 0], lambda s: AP().mean(s, Y, QID)),
    "labels": (Y, lambda y: AP().mean(X[:, 0], y, QID)),
    "weights of queries": (np.array([1.0, 2.0]), lambda k: AP().mean(X[:, 0], Y, QID, weights=k)),
    "scores of a run": (X[:, 0], lambda s: Run.from_scores("a", QID, list("abcdefgh"), s).scores),
    "grades": (Y, lambda y: Qrels.from_grades(QID, list("abcdefgh"), y).grades),
    "w": (np.array([1.0, 2.0, 3.0]), lambda w: most_violated(X[:1], 1.0, w, loss=ZeroOne()).margin),
    "Cs": (np.array([0.5, 1.0]), lambda Cs: [ranker.C for ranker in Ranker().path(X, Y, QID, Cs)]),
    "costs": (np.array([[0.0, 1.0], [2.0, 0.0]]), lambda costs: Multiclass(cost=costs).cost),
}


@pytest.mark.parametrize("use", USES)
def test_what_stands_for_numbers_is_read(use):
    array, result = USES[use]
    expected = result(array)
    for name, values in Kinds(array).right.items():
        if not (use == "an example" and name == "text"):
            np.testing.assert_allclose(result(values), expected, rtol=1e-9, err_msg=name)


@pytest.mark.parametrize("use", USES)
def test_what_does_not_is_refused(use):
    array, result = USES[use]
    for name, (values, said) in Kinds(array).wrong.items():
        if use == "Cs" and name in ("python dates", "words", "huge"):
            said = "Cs must be a vector of positive numbers"
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(InputError, match=said):
                pytest.fail(f"{use} as {name} gave {result(values)}")


@pytest.mark.parametrize(
    ("values", "said"), [(np.array([1, 2j]), "complex"), (np.ma.masked_array([1, 2], [0, 1]), "masked")]
)
def test_labels_of_classes(values, said):
    for use in (lambda: StructuralSVM().fit(X[:2], values), lambda: StructuralSVM().fit(X, Y).score(X[:2], values)):
        with pytest.raises(InputError, match=said):
            use()
    with pytest.raises(InputError, match="y contains NaN or infinity, first in row 1"):
        StructuralSVM().fit(X[:2], np.array(["a", None], dtype=object))
    days = np.repeat(np.array(["2020-01-01", "2020-01-02"], dtype="M8[D]"), 4)
    assert StructuralSVM(C=100.0).fit(np.repeat(np.eye(2), 4, axis=0), days).score(np.eye(2), days[[0, 4]]) == 1.0


def test_sparse_features():
    rows = sp.csr_array(X)
    with pytest.raises(InputError, match="X must have real numbers, got complex"):
        Ranker().fit(rows.astype(complex), Y, QID)
    with pytest.raises(InputError, match="X must have real numbers, got complex"):
        Problem.from_queries(rows.astype(complex), Y, QID)
    for kind in (bool, np.int8, np.float32, np.longdouble):
        np.testing.assert_allclose(
            Ranker().fit(rows.astype(kind), Y, QID).coef_, Ranker().fit(X.astype(kind), Y, QID).coef_, rtol=1e-9
        )


def test_sparse_vectors():
    column = sp.csr_array(Y[:, None])
    with pytest.raises(InputError, match="Sparse data was passed for y"):
        Ranker().fit(X, column, QID)
    for name, use in (
        ("sample_weight", lambda: Ranker().fit(X, Y, QID, column)),
        ("scores", lambda: AP().mean(column, Y)),
    ):
        with pytest.raises(InputError, match=rf"{name} must be dense, got a csr_array: pass its toarray\(\)"):
            use()


def test_the_column_of_a_data_frame_is_named():
    frame = pd.DataFrame({"bm25": X[:, 0], "crawled": pd.date_range("2020", periods=8)})
    with pytest.raises(InputError, match=r"X, column 'crawled', must have real numbers, got dates"):
        Ranker().fit(frame, Y, QID)
    frame["crawled"] = list("abcdefgh")
    with pytest.raises(InputError, match=r"'a' at row 0, column 1 \('crawled'\): leave the column out"):
        Ranker().fit(frame, Y, QID)
    frame["crawled"] = pd.array([1, None] * 4, dtype="Int64")
    with pytest.raises(InputError, match="contains NaN. The first is at row 1, column 1"):
        Ranker().fit(frame, Y, QID)


@pytest.mark.parametrize(
    "qid",
    [
        QID.astype(float),
        QID.astype(str),
        QID.astype(object),
        pd.Series(QID, dtype="Int64"),
        pd.Categorical(QID),
        QID + 1j,
    ],
)
def test_ids_of_queries(qid):
    assert np.array_equal(Ranker().fit(X, Y, qid).coef_, Ranker().fit(X, Y, QID).coef_)


@pytest.mark.parametrize("hole", [np.nan, None, pd.NA])
def test_ids_with_holes(hole):
    with pytest.raises(InputError, match="qid must not be NaN or None: 1 of 8 are, first in row 3"):
        Ranker().fit(X, Y, [*QID[:3], hole, *QID[4:]])
    with pytest.raises(InputError, match="qid is a masked array, and its 1 masked values"):
        Ranker().fit(X, Y, np.ma.masked_array(QID, np.arange(8) == 3))


def test_tiny_and_small_numbers_stay():
    tiny = np.array([5e-324, 1e-310])
    assert np.array_equal(numbers(tiny, "x"), tiny)
    assert numbers(tiny, "x") is tiny
    np.testing.assert_array_equal(numbers(np.array([0.1], dtype=np.float16), "x"), [np.float64(np.float16(0.1))])


def test_lambda_mart_reads_as_the_others():
    pytest.importorskip("lightgbm")
    with pytest.raises(InputError, match="complex"):
        LambdaMART().fit(X + 1j, Y, QID)


RAGGED = [[1], [1, 2]]


def test_lists_of_several_lengths():
    with pytest.raises(InputError, match="better and worse must be vectors of row numbers: setting an array element"):
        Preferences(RAGGED, [1, 2])
    with pytest.raises(InputError, match="qid must be one query id per row: setting an array element"):
        AP().mean([1.0, 2.0], [0, 1], qid=RAGGED)
