"""Models of `RankNet`: linear networks, or networks of one hidden layer, on standardized features."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from structsvm.features.scaling.scalings import StandardScaling, read_scaling
from structsvm.foundation.settings import require_integer
from structsvm.foundation.storage.archives import finite_numbers
from structsvm.foundation.types import Matrix, Vector
from structsvm.models.base import Parts, TrainedModel
from structsvm.models.explanation import Explanation

_AT_ONCE = 2**18
"""Number of values of hidden units computed at a time."""


@frozen(eq=False, slots=False, kw_only=True)
class NetworkModel(TrainedModel):
    """A network that scores ``o·tanh(U z + b)`` with h hidden units, or ``u·z`` with ``hidden=0``; z is standardized.

    ``weights`` are U unit after unit, b and o, shape (h (d + 2),); or u, shape (d,).
    """

    form: ClassVar[str] = "network"
    array_names: ClassVar[tuple[str, ...]] = ("scaling", "scaling_mean", "scaling_deviation", "weights")

    scaling: StandardScaling
    hidden: int
    weights: Vector = field(repr=False)

    def parts(self) -> Parts:
        """Return the weights of a linear network, or else Garson's importances (1991), ``Σ_h |o_h U_hk|``."""
        if not self.hidden:
            return Parts.of("weight", self.weights, "Weights are of standardized features.")
        units, _, outputs = layers(self.weights, self.n_features, self.hidden)
        passed_on = np.abs(outputs) @ np.abs(units)
        return Parts.of("importance", passed_on, "Importances are sums of products of weights.")

    @classmethod
    def read(cls, numbers: Mapping[str, Any], arrays: Mapping[str, Any], common: Mapping[str, Any]) -> Self:
        d, hidden = common["n_features"], numbers["hidden"]
        require_integer("hidden", hidden, 0)
        weights = finite_numbers(arrays, "weights", (hidden * (d + 2) if hidden else d,))
        scaling = read_scaling(arrays, d)
        if not isinstance(scaling, StandardScaling):
            raise ValueError(f"its features must be standardized, got {scaling.name!r}")
        return cls(scaling=scaling, hidden=hidden, weights=weights, **common)

    def _arrays(self) -> dict[str, Any]:
        return {**self.scaling.arrays(), "weights": self.weights}

    def _numbers(self) -> dict[str, Any]:
        return {"hidden": self.hidden}

    def _scores(self, X: NDArray[Any], qid: Any) -> Vector:
        return network_scores(standardized(X, self.scaling), self.weights, self.hidden)

    def _explained(self, X: NDArray[Any], qid: Any) -> Explanation:
        """Integrate the gradient from the mean document z = 0 to each row (Sundararajan, Taly and Yan, ICML 2017)."""
        z = standardized(X, self.scaling)
        if not self.hidden:
            return Explanation(z * self.weights, 0.0)
        units, biases, outputs = layers(self.weights, self.n_features, self.hidden)
        a = np.vecdot(z[:, None, :], units)
        slope = np.divide(np.tanh(a), a, out=np.ones_like(a), where=a != 0.0)
        # tanh(a + b) − tanh(b) = tanh(a) (1 − tanh(b) tanh(a + b)), without cancellation for small a.
        slope *= 1.0 - np.tanh(biases) * np.tanh(a + biases)
        return Explanation((slope * outputs) @ units * z, float(np.vecdot(np.tanh(biases), outputs)))


def standardized(X: Any, scaling: StandardScaling) -> Matrix:
    """Return standardized features in float64."""
    return np.asarray(scaling.rows(X.astype(np.float64, copy=False), None))


def layers(weights: Vector, d: int, h: int) -> tuple[Matrix, Vector, Vector]:
    """Return U, b and o, shapes (h, d), (h,) and (h,)."""
    return weights[: h * d].reshape(h, d), weights[h * d : h * (d + 1)], weights[h * (d + 1) :]


def network_scores(z: Matrix, weights: Vector, hidden: int) -> Vector:
    """Return the scores of standardized rows, shape (n,); ``weights`` are as in `NetworkModel`."""
    n, d = z.shape
    if not hidden:
        return np.asarray(np.vecdot(z, weights))
    units, biases, outputs = layers(weights, d, hidden)
    scores = np.empty(n)
    step = max(1, _AT_ONCE // (hidden * d))
    for start in range(0, n, step):
        inputs = np.vecdot(z[start : start + step, None, :], units) + biases
        scores[start : start + step] = np.vecdot(np.tanh(inputs), outputs)
    return scores
