"""Rankers of operators in the place of matrices."""

import numpy as np
import pytest

from structsvm import Ranker
from structsvm.exceptions import InputError
from structsvm.features.operators import Rows
from structsvm.foundation.types import Vector
from tests.features.operators.wrapped import Wrapped
from tests.small_problems import ranking_arrays

X, Y, QID = ranking_arrays(0)
PTR = np.arange(0, 21, 4)
HIDDEN = Wrapped(Rows(X, PTR))


@pytest.mark.parametrize("qid", [None, QID])
def test_an_operator_is_as_good_as_its_matrix(qid: Vector | None) -> None:
    ranker = Ranker("roc_area", tol=1e-6).fit(HIDDEN, Y, qid=qid)
    matrix = Ranker("roc_area", tol=1e-6).fit(X, Y, qid=QID)
    assert ranker.n_features_in_ == 3
    assert ranker.result_.primal == pytest.approx(matrix.result_.primal, rel=1e-5)
    assert ranker.predict(X) == pytest.approx(ranker.predict(HIDDEN))
    assert ranker.score(HIDDEN, Y, qid=QID) == ranker.score(X, Y, qid=QID)


def test_rows_and_an_intercept() -> None:
    rows = Wrapped(Rows.one_each(X))
    ranker = Ranker("zero_one", tol=1e-6, fit_intercept=True).fit(rows, Y)
    matrix = Ranker("zero_one", tol=1e-6, fit_intercept=True).fit(X, Y)
    assert ranker.predict(rows) == pytest.approx(matrix.predict(X), abs=1e-2)


def test_what_does_not_go_together() -> None:
    with pytest.raises(InputError, match="the 5 examples of the operator must be the 2 queries of qid"):
        Ranker().fit(HIDDEN, Y, qid=np.repeat([0, 1], 10))
    with pytest.raises(InputError, match="be the 5 queries of qid in the same order: make it with the rows of each"):
        Ranker().fit(HIDDEN, Y, qid=np.tile(np.arange(5), 4))
    with pytest.raises(InputError, match="ZeroOne needs one example per row, and the operator has 5 examples with 20"):
        Ranker("zero_one").fit(HIDDEN, Y)
    with pytest.raises(InputError, match="normalize='standard' needs a feature matrix, but X is an operator, Wrapped"):
        Ranker(normalize="standard").fit(HIDDEN, Y)
    with pytest.raises(InputError, match="X is an operator with 3 weights, and this Ranker has 2, of features as they"):
        Ranker().fit(X[:, :2], Y, qid=QID).predict(HIDDEN)
    with pytest.raises(InputError, match="that it normalises: give it a matrix"):
        Ranker(normalize="standard").fit(X, Y, qid=QID).predict(HIDDEN)
