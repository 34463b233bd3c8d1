"""`StructuralSVMCV` chooses C as a grid search would."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GroupKFold, KFold

import structsvm
from structsvm import Ranker, StructuralSVM, StructuralSVMCV
from structsvm.estimators import LatentStructuralSVM
from structsvm.exceptions import GridEndWarning, InputError
from tests.estimators.detector import Detector, series
from tests.estimators.test_path_of_structural_svm import noisy_chains

CS = [10.0, 1.0, 100.0]
pytestmark = pytest.mark.filterwarnings("ignore::structsvm.exceptions.GridEndWarning")


@pytest.fixture(scope="module")
def iris() -> Any:
    X, y = load_iris(return_X_y=True)
    return X / X.std(axis=0), y


def test_sequences_and_labels_of_one_fold_alone() -> None:
    xs, ys = noisy_chains(12, 0)
    named: list[Any] = [np.array(["a", "b", "c"])[y] for y in ys]
    named[0] = np.full(len(named[0]), "only here")
    search = StructuralSVMCV(StructuralSVM("chain_hamming"), CS, cv=KFold(3), refit=False).fit(xs, named)
    path = StructuralSVM("chain_hamming").path(xs[4:], named[4:], sorted(CS))
    assert search.scores_[0].tolist() == [each.score(xs[:4], named[:4]) for each in path]
    assert np.isfinite(search.scores_).all()
    with pytest.raises(NotFittedError):
        search.predict(xs)


def test_validation_examples_choose(iris: Any, tmp_path: Any) -> None:
    X, y = iris
    learned, held = np.arange(150) % 3 > 0, np.arange(150) % 3 == 0
    search = StructuralSVMCV(Cs=CS).fit(X[learned], y[learned], validation=(X[held], y[held]))
    path = StructuralSVM().path(X[learned], y[learned], sorted(CS))
    assert search.scores_.tolist() == [[each.score(X[held], y[held]) for each in path]]
    search.save(tmp_path / "svm.npz")
    loaded = StructuralSVM.load(tmp_path / "svm.npz")
    assert loaded.trained_ is not None
    assert loaded.trained_.choice == (
        f"C = {search.C_:g} of 3 values from 1 to 100: score {search.best_score_:.4f} on 50 validation examples"
    )
    assert type(structsvm.load(tmp_path / "svm.npz")) is type(search.model_)


def test_weights_count_in_fits_and_in_means(iris: Any) -> None:
    X, y = iris
    weight, every = 1.0 + np.arange(150) % 7, np.arange(150)
    split = every[every % 2 == 0], every[every % 2 == 1]
    search = StructuralSVMCV(Cs=CS, cv=[split]).fit(X, y, sample_weight=weight)
    a, b = split
    path = StructuralSVM().path(X[a], y[a], sorted(CS), weight[a])
    assert search.scores_.tolist() == [[each.score(X[b], y[b], weight[b]) for each in path]]


def test_scorers(iris: Any) -> None:
    X, y = iris
    accuracy = make_scorer(accuracy_score)
    own, made = (StructuralSVMCV(Cs=CS, cv=3, scoring=each).fit(X, y) for each in (None, [accuracy, None]))
    np.testing.assert_allclose(own.scores_, made.scores_)
    assert list(made.scores_by_name_)[1] == "score"
    assert made.score(X, y) == pytest.approx(own.score(X, y))


def test_the_default_grid_and_its_ends(iris: Any) -> None:
    X, y = iris
    assert StructuralSVMCV(cv=2, refit=False).fit(X, y).Cs_.tolist() == [1.0, 10.0, 100.0, 1000.0]
    with pytest.warns(GridEndWarning, match="the chosen C = 10 is the largest value of the grid"):
        StructuralSVMCV(Cs=[0.1, 10.0], cv=2).fit(X, y)


def test_latent_parts_have_no_path() -> None:
    xs, ys = series(8, 0)
    latent = LatentStructuralSVM(Detector())
    search = StructuralSVMCV(latent, [0.1, 1.0], cv=2).fit(xs, ys)
    assert np.isnan(search.gaps_).all()
    assert isinstance(search.estimator_, LatentStructuralSVM)
    with pytest.raises(InputError, match="LatentStructuralSVM has no path over C"):
        StructuralSVMCV(latent, [0.1], cv=2).fit(xs, ys, callback=lambda step, fold: None)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"estimator": Ranker()},
            r"StructuralSVMCV\(estimator=...\) must be a StructuralSVM or a Latent.*, got Ranker",
        ),
        ({"estimator": StructuralSVM}, "must be a StructuralSVM"),
        ({"Cs": [1.0, -1.0]}, "Cs must be a vector of positive numbers"),
        ({"cv": 151}, "151 folds need at least 151 examples, got 150"),
        ({"cv": GroupKFold(2)}, r"StructuralSVMCV\(cv=...\) cannot split these examples"),
        ({"scoring": "map"}, r"StructuralSVMCV\(scoring=...\) must be a scorer"),
        ({"scoring": [None, None]}, "scoring contains 'score' twice"),
    ],
)
def test_faulty_settings_are_refused(iris: Any, settings: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        StructuralSVMCV(**settings).fit(*iris)


def test_faulty_data_are_errors(iris: Any) -> None:
    X, y = iris
    with pytest.raises(InputError, match=r"validation must be a tuple \(X, y\)"):
        StructuralSVMCV().fit(X, y, validation=(X, y, y))
    with pytest.raises(InputError, match="X has 2 features, but StructuralSVM is expecting 4"):
        StructuralSVMCV(Cs=[1.0]).fit(X, y, validation=(X[:, :2], y))
    with pytest.raises(InputError, match="one weight per example"):
        StructuralSVMCV().fit(X, y, sample_weight=[1.0])
    xs, ys = noisy_chains(4, 0)
    with pytest.raises(InputError, match="4 inputs and 3 outputs"):
        StructuralSVMCV(StructuralSVM("chain_hamming")).fit(xs, ys[:3])
