"""Rankers and structural SVMs of operators instead of matrices."""

from typing import Any

import numpy as np
import pytest

from structsvm import Ranker, StructuralSVM, StructuralSVMCV
from structsvm.exceptions import InputError
from structsvm.features.operators import Rows
from structsvm.foundation.types import Vector
from structsvm.losses import Loss
from tests.features.operators.wrapped import Wrapped
from tests.small_problems import ranking_arrays


class Plain(Loss[Any, Any]):
    """A generic loss."""

    def joint_feature(self, x: Any, y: Any) -> Vector:
        return np.zeros(1)

    def loss(self, y: Any, y_hat: Any) -> float:
        return 0.0

    def argmax(self, x: Any, w: Vector) -> Any:
        return 0

    def loss_augmented_argmax(self, x: Any, y: Any, w: Vector) -> Any:
        return 0


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
    shifted = Ranker("f1", fit_intercept=True).fit(X, Y, qid=QID)
    assert shifted.intercept_ != 0.0
    assert shifted.predict(X) == pytest.approx(shifted.predict(HIDDEN))


def test_incompatible_operators_are_errors() -> None:
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
    with pytest.raises(InputError, match="that it normalizes: give it a matrix"):
        Ranker(normalize="standard").fit(X, Y, qid=QID).predict(HIDDEN)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("loss", ["chain_hamming", "multiclass", "zero_one"])
def test_structures(loss: str, fit_intercept: bool) -> None:
    svm = StructuralSVM(loss, C=10.0, tol=1e-6, fit_intercept=fit_intercept)
    if loss == "chain_hamming":
        labels = np.where(Y > 0, "a", "b")
        xs, ys, operator = np.split(X, PTR[1:-1]), np.split(labels, PTR[1:-1]), HIDDEN
    else:
        xs, ys, operator = X, Y > 0, Wrapped(Rows.one_row_per_example(X))
    of_matrices = svm.fit(xs, ys).result_.primal
    expected = svm.predict(xs)
    svm.fit(operator, ys)
    assert svm.result_.primal == pytest.approx(of_matrices, rel=1e-5)
    assert svm.n_features_in_ == 3
    assert np.concatenate(svm.predict(operator), axis=None).tolist() == np.concatenate(expected, axis=None).tolist()
    assert svm.score(operator, ys) == svm.score(xs, ys)


def test_structures_that_operators_cannot_have() -> None:
    labels = np.split(np.where(Y > 0, "a", "b"), PTR[1:-1])
    chains = StructuralSVM("chain_hamming").fit(HIDDEN, labels)
    with pytest.raises(InputError, match="5 inputs and 4 outputs"):
        chains.fit(HIDDEN, labels[1:])
    with pytest.raises(InputError, match="example 1 has 12 scores, .* Give one label per row"):
        chains.fit(HIDDEN, [labels[0], labels[1][:2], *labels[2:]])
    with pytest.raises(InputError, match="the inputs have features for 10 weights, and the model has 6"):
        StructuralSVM("chain_hamming").fit(np.split(X[:, :1], PTR[1:-1]), labels).predict(HIDDEN)
    with pytest.raises(InputError, match="X is an operator, but Plain reads its inputs itself: give a list of inputs"):
        StructuralSVM(Plain()).fit(HIDDEN, labels)
    with pytest.raises(InputError, match="X must be a list of inputs"):
        StructuralSVMCV(chains).fit(HIDDEN, labels)
