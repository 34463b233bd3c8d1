"""Losses whose methods fill and return one buffer have the results of the same losses with new arrays."""

from collections.abc import Callable
from typing import Any

import joblib
import numpy as np
import pytest
import scipy.sparse as sp

from structsvm import StructuralSVM
from structsvm.estimators import LatentStructuralSVM
from structsvm.exceptions import InputError
from structsvm.foundation.types import Vector
from structsvm.losses import ChainHamming, LatentLoss, Loss, SlackRescaled
from structsvm.testing import check_loss
from tests.small_problems import Kronecker

METHODS = ("joint_feature", "encode", "labels", "params", "argmax", "loss_augmented_argmax", "initial", "complete")


def as_csr(buffer: Vector) -> sp.csr_array:
    """Return a sparse row that shares its numbers with a buffer."""
    return sp.csr_array((buffer, np.arange(len(buffer)), np.array([0, len(buffer)])), shape=(1, len(buffer)))


FORMS: dict[str, tuple[type, Callable[[Vector], Any]]] = {
    "float64": (np.float64, lambda buffer: buffer),
    "float32": (np.float32, lambda buffer: buffer),
    "csr": (np.float64, as_csr),
}


def reusing(kind: type, form: str = "float64") -> type:
    """Return a class whose methods return their arrays in one buffer for each shape."""
    dtype, shown = FORMS[form]
    buffers: dict[Any, Vector] = {}

    def reused(method: str) -> Any:
        def call(self: Any, *arguments: Any) -> Any:
            result = getattr(super(made, self), method)(*arguments)
            if isinstance(result, tuple):
                return result[0], filled(method, result[1])
            return filled(method, result)

        return call

    def filled(method: str, result: Any) -> Any:
        if not isinstance(result, np.ndarray) or not result.ndim:
            return result
        features = method == "joint_feature"
        buffer = buffers.setdefault((method, result.shape), result.astype(dtype if features else result.dtype))
        buffer[...] = result
        return shown(buffer) if features else buffer

    made: Any = type("Reusing", (kind,), {name: reused(name) for name in METHODS if hasattr(kind, name)})
    return made


class Plain(ChainHamming):
    kernel = None


class Windows(LatentLoss[Vector, int, Vector]):
    """The sign of the largest product of the weights with a window of two numbers, which is the latent."""

    def joint_feature(self, x: Vector, y: int, h: Vector) -> Vector:
        return y * np.asarray(h, dtype=np.float64)

    def loss(self, y: int, y_hat: int, h_hat: Vector) -> float:
        return float(y != y_hat)

    def initial(self, x: Vector, y: int) -> Vector:
        return max(self.windows(x), key=np.sum).copy()

    def complete(self, x: Vector, y: int, w: Vector) -> Vector:
        return max(self.windows(x), key=lambda h: y * (w @ h)).copy()

    def argmax(self, x: Vector, w: Vector) -> tuple[int, Vector]:
        return max(((y, h.copy()) for y in (0, 1) for h in self.windows(x)), key=lambda o: o[0] * (w @ o[1]))

    def loss_augmented_argmax(self, x: Vector, y: int, w: Vector) -> tuple[int, Vector]:
        pairs = ((y_hat, h.copy()) for y_hat in (0, 1) for h in self.windows(x))
        return max(pairs, key=lambda o: (o[0] != y) + o[0] * (w @ o[1]))

    def windows(self, x: Vector) -> list[Vector]:
        return [x[k : k + 2] for k in range(len(x) - 1)]


def words(rng: np.random.Generator) -> tuple[list[Any], list[Any]]:
    ys = [rng.integers(0, 3, 4) for _ in range(15)]
    return [np.eye(3)[y] + 0.7 * rng.standard_normal((4, 3)) for y in ys], ys


def classes(rng: np.random.Generator) -> tuple[list[Any], list[Any]]:
    ys = rng.integers(0, 3, 30).tolist()
    return [np.eye(3)[y] + 0.7 * rng.standard_normal(3) for y in ys], ys


def series(rng: np.random.Generator) -> tuple[list[Any], list[Any]]:
    X = rng.standard_normal((20, 4))
    return list(X), [int((x[:-1] + x[1:]).max() > 1.0) for x in X]


CASES: list[Any] = [
    *((StructuralSVM, Kronecker, form, classes) for form in FORMS),
    (StructuralSVM, ChainHamming, "float64", words),
    (StructuralSVM, Plain, "float64", words),
    pytest.param(
        lambda loss, **rest: StructuralSVM(SlackRescaled(loss), **rest), Plain, "float64", words, marks=pytest.mark.slow
    ),
    *((LatentStructuralSVM, Windows, form, series) for form in FORMS),
]


@pytest.mark.parametrize(("estimator", "kind", "form", "data"), CASES)
def test_results_are_those_of_new_arrays(estimator: Any, kind: Any, form: str, data: Any) -> None:
    X, y = data(np.random.default_rng(0))
    expected = estimator(kind(), C=10.0, tol=1e-6, n_jobs=1).fit(X, y)
    for solver in ("one-slack", "frank-wolfe") if kind is not Windows else ("one-slack",):
        model = estimator(reusing(kind, form)(), C=10.0, tol=1e-6, solver=solver, n_jobs=1).fit(X, y)
        assert model.result_.primal == pytest.approx(expected.result_.primal, abs=2e-5)
    same = np.array_equal(np.array(model.predict(X)), np.array(expected.predict(X)))
    assert same
    if kind is Windows:
        assert np.array_equal(model.latent_, expected.latent_)


def test_threads_do_not_share_a_buffer() -> None:
    X, y = words(np.random.default_rng(1))
    expected = StructuralSVM(Plain(), C=10.0, tol=1e-6).fit(X, y).result_
    with joblib.parallel_config("threading", n_jobs=2):
        assert StructuralSVM(reusing(Plain)(), C=10.0, tol=1e-6).fit(X, y).result_.primal == expected.primal


def test_check_loss_accepts_a_buffer() -> None:
    class Listed(Loss[float, Vector]):
        """Two signs; `outputs` yields one array."""

        def joint_feature(self, x: float, y: Vector) -> Vector:
            return x * y

        def loss(self, y: Vector, y_hat: Vector) -> float:
            return float(np.mean(y != y_hat))

        def loss_augmented_argmax(self, x: float, y: Vector, w: Vector) -> Vector:
            return np.where(x * w - y / 4.0 > 0.0, 1.0, -1.0)

        def argmax(self, x: float, w: Vector) -> Vector:
            return np.where(x * w > 0.0, 1.0, -1.0)

        def outputs(self, x: float, y: Vector) -> Any:
            output = np.zeros(2)
            for output[0] in (-1.0, 1.0):
                for output[1] in (-1.0, 1.0):
                    yield output

    check_loss(reusing(Listed)(), [(1.5, np.array([1.0, -1.0])), (-0.5, np.array([1.0, 1.0]))])


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_inputs_whose_joint_features_are_not_finite_have_no_prediction(value: float) -> None:
    X, y = series(np.random.default_rng(2))
    bad = np.full(4, value)
    with pytest.raises(InputError, match="joint_feature returned NaN or infinity for example 1"):
        LatentStructuralSVM(Windows(), C=10.0).fit(X, y).predict([X[0], bad])
    X, y = classes(np.random.default_rng(2))
    with pytest.raises(InputError, match="joint_feature returned NaN or infinity for example 0"):
        StructuralSVM(Kronecker(), C=10.0).fit(X, y).score([bad[:3]], [0])
