"""ZeroOne and Multiclass reach the objectives of LinearSVC, whose C is our C/n."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from structsvm import Ranker, StructuralSVM
from structsvm.foundation.types import Matrix, Vector
from tests.slow import slow

C = 50.0
SCALING = 2.5


@cache
def data(name: str) -> tuple[Matrix, Any]:
    """A data set on unit scale."""
    X, y = (load_breast_cancer if name == "breast cancer" else load_digits)(return_X_y=True)
    return (StandardScaler().fit_transform(X) if name == "breast cancer" else X / 16.0), y


def svc(X: Matrix, y: Any, kind: str, weights: Vector, intercept: bool) -> LinearSVC:
    settings = {"loss": "hinge"} if kind == "binary" else {"multi_class": "crammer_singer"}
    solver = LinearSVC(
        **settings,
        C=C / len(y),
        fit_intercept=intercept,
        intercept_scaling=SCALING,
        tol=1e-7,
        max_iter=1_000_000,
        random_state=0,
    )
    return solver.fit(X, y, sample_weight=weights)


def objective(w: Matrix, X: Matrix, y: Any, weights: Vector) -> float:
    """``½‖w‖² + (C/n) Σ κ_i hinge_i``, for one row of weights (binary, y = ±1) or one per class (y a number from 0)."""
    scores = X @ w.T
    if len(w) == 1:
        hinge = np.maximum(0, 1 - y * scores[:, 0])
    else:
        rows = np.arange(len(y))
        augmented = scores + 1
        augmented[rows, y] -= 1
        hinge = augmented.max(axis=1) - scores[rows, y]
    return float(0.5 * (w**2).sum() + C / len(y) * weights @ hinge)


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("intercept", [False, True], ids=["", "intercept"])
@pytest.mark.parametrize("name", ["breast cancer", *slow("digits")])
@pytest.mark.parametrize("kind", ["binary", "multiclass"])
def test_objectives_agree(kind: str, name: str, intercept: bool, weighted: bool) -> None:
    X, y = data(name)
    if kind == "binary":
        y = np.where(y == (1 if name == "breast cancer" else 8), 1, -1)
    class_weight = {label: (3.0 if label == 1 else 0.5) for label in np.unique(y).tolist()} if weighted else None
    weights = np.ones(len(y)) if class_weight is None else np.array([class_weight[label] for label in y.tolist()])
    common: dict[str, Any] = {"C": C, "tol": 1e-5, "fit_intercept": intercept, "intercept_scaling": SCALING}
    if kind == "binary":
        result = Ranker(loss="zero_one", class_weight=class_weight, **common).fit(X, y).result_
    else:
        result = StructuralSVM(loss="multiclass", **common).fit(X, y, sample_weight=weights).result_

    reference = svc(X, y, kind, weights, intercept)
    w = reference.coef_
    if intercept:
        X = np.column_stack([X, np.full(len(X), SCALING)])
        w = np.column_stack([w, reference.intercept_ / SCALING])
    if kind == "multiclass" and len(w) == 1:  # LinearSVC keeps the difference of two classes, each has half of it
        w = np.concatenate([-w, w]) / 2
    theirs = objective(w, X, y, weights)
    ours = objective(result.w.reshape(len(w), -1), X, y, weights)
    assert result.converged
    assert ours == pytest.approx(result.primal, rel=1e-9)
    assert ours == pytest.approx(theirs, rel=1e-3)
    assert result.dual <= theirs * (1 + 1e-9)


def test_for_two_classes_crammer_singer_at_C_is_the_binary_hinge_at_2C() -> None:
    X, y = data("breast cancer")
    multi = StructuralSVM(loss="multiclass", C=C, tol=1e-5).fit(X, y).result_
    binary = Ranker(loss="zero_one", C=2 * C, tol=1e-5).fit(X, y).result_
    assert multi.primal == pytest.approx(binary.primal / 2, rel=1e-3)
    np.testing.assert_allclose(2 * multi.w[X.shape[1] :], binary.w, atol=0.05)
