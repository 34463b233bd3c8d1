"""Files of latent structural SVMs."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import frozen

import structsvm
from structsvm import StructuralSVM
from structsvm.estimators import LatentStructuralSVM
from structsvm.exceptions import InputError, ModelFileError
from structsvm.foundation.types import Vector
from structsvm.models.base import read_model
from structsvm.solvers import OneSlack
from tests.estimators.detector import Detector


@frozen
class Parts(Detector):
    width: int = 3


class Other(Parts):
    pass


@pytest.fixture(scope="module")
def series() -> tuple[list[Vector], list[int]]:
    xs = 0.3 * np.random.default_rng(0).standard_normal((20, 9))
    xs[::2, 2:6] += [1.0, -1.5, 1.5, -1.0]
    return list(xs), [1, 0] * 10


@pytest.fixture(scope="module")
def fitted(series: tuple[list[Vector], list[int]]) -> LatentStructuralSVM:
    return LatentStructuralSVM(Parts(width=4), C=5.0, solver=OneSlack(), tol=1e-2, max_iter=30).fit(*series)


@pytest.fixture
def path(fitted: LatentStructuralSVM, tmp_path: Path) -> Path:
    fitted.save(tmp_path / "latent.npz")
    return tmp_path / "latent.npz"


def test_fitted_attributes_are_restored(fitted: Any, series: Any, path: Path) -> None:
    loaded = LatentStructuralSVM.load(path)
    for name in ("objective_", "rounds_", "stationary_", "trained_"):
        assert getattr(loaded, name) == getattr(fitted, name), name
    np.testing.assert_array_equal(loaded.coef_, fitted.coef_)
    assert loaded.result_.history == fitted.result_.history
    expected = {"C", "solver", "tol", "max_iter", "warm_start", "n_jobs"}
    assert {name: loaded.get_params()[name] for name in expected} == {
        name: fitted.get_params()[name] for name in expected
    }
    loaded.set_params(loss=Parts())  # the width comes from the file
    assert loaded.predict_latent(series[0]) == fitted.predict_latent(series[0])
    assert loaded.score(*series) == fitted.score(*series)


def test_it_goes_on_from_a_file(fitted: Any, series: Any, path: Path) -> None:
    loaded = LatentStructuralSVM.load(path).set_params(loss=Parts(width=4), warm_start=True)
    assert len(loaded.fit(*series).rounds_) == 1
    assert loaded.objective_ <= fitted.objective_ + 1e-9


def test_a_file_without_its_loss_says_how_it_is_given_back(series: Any, path: Path, tmp_path: Path) -> None:
    loaded = LatentStructuralSVM.load(path)
    for use in (lambda: loaded.predict(series[0]), lambda: loaded.score(*series)):
        with pytest.raises(InputError, match=r"trained with the loss Parts, .* set_params\(loss=Parts\(...\)\)"):
            use()
    with pytest.raises(
        InputError, match=r"loss 'Parts\(width=4\)', whose class is not registered.* set_params\(loss=P"
    ):
        loaded.fit(*series)
    loaded.save(tmp_path / "again.npz")
    again = LatentStructuralSVM.load(tmp_path / "again.npz")
    with pytest.raises(InputError, match=r"set_params\(loss=Parts"):
        again.set_params(loss=Other()).predict(series[0])
    with pytest.raises(InputError, match=r"set_params\(loss=Parts"):
        again.set_params(loss="map").predict(series[0])
    assert again.set_params(loss=Parts()).predict(series[0]) == [1, 0] * 10


def test_any_model_is_read_by_load_and_others_are_told_apart(path: Path, tmp_path: Path) -> None:
    assert structsvm.load(path).title == "LatentStructuralSVM"
    with pytest.raises(ModelFileError, match="it holds a LatentStructuralSVM: read it with LatentStructuralSVM.load"):
        StructuralSVM.load(path)
    StructuralSVM().fit(np.eye(3), [0, 1, 2]).save(tmp_path / "svm.npz")
    with pytest.raises(ModelFileError, match="it holds a StructuralSVM: read it with StructuralSVM.load"):
        LatentStructuralSVM.load(tmp_path / "svm.npz")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text, arrays: arrays.pop("rounds"), "rounds"),
        (lambda text, arrays: arrays.update(rounds=np.zeros((2, 2))), "'rounds' must be float64 of shape"),
        (lambda text, arrays: arrays.update(rounds=np.full((1, 3), np.nan)), "rounds"),
        (lambda text, arrays: text["fitted"].update(objective_="low"), "objective_"),
        (lambda text, arrays: text["fitted"].update(stationary_=3), "stationary_"),
        (lambda text, arrays: text["fitted"].pop("objective_"), "objective_"),
        (lambda text, arrays: text["settings"].update(max_iter=0), "max_iter"),
        (lambda text, arrays: text["settings"].update(min_rounds=1), "min_rounds"),
    ],
)
def test_malformed_files_are_errors(fitted: Any, change: Any, said: str) -> None:
    arrays = fitted.model_.arrays()
    text = json.loads(str(arrays["model"]))
    change(text, arrays)
    arrays["model"] = np.array(json.dumps(text))
    with pytest.raises((ValueError, KeyError), match=said):
        LatentStructuralSVM.from_model(read_model(arrays))


def test_saving_before_a_fit_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not fitted"):
        LatentStructuralSVM(Parts()).save(tmp_path / "none.npz")
    assert not list(tmp_path.iterdir())
