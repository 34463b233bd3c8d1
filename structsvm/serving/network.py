"""Networks of one hidden layer, or linear ones, on standardised features: `RankNet`."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from structsvm.serving.scorer import Description, Scorer
from structsvm.storage.archives import finite_numbers, require_numbers, shape
from structsvm.types import Matrix, Vector

_AT_ONCE = 2**18
"""Values of hidden units that are looked at together."""


@frozen(eq=False)
class NetworkScorer(Scorer):
    """Scores ``o·tanh(U z + b)`` or ``u·z``, z being the features less their means, over their scales.

    Parameters
    ----------
    about : see `Scorer`.
    mean, scale : mean and scale of each feature, shape (d,).
    hidden : number h of hidden units; 0 for a linear network.
    path : weights after each epoch, shape (epochs, h (d + 2)), or (epochs, d) for a linear network: see `RankNet`.
    best : the epoch, from 1, whose weights are those of the model.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from structsvm import load
    >>> from structsvm.rankers import RankNet
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [3.0, 1.0], [2.0, 0.0]], [0, 1, 2, 1]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     RankNet(hidden=0, log_odds=None, random_state=0).fit(X, y).save(Path(folder) / "model.npz")
    ...     scorer = load(Path(folder) / "model.npz")
    >>> scorer.hidden, scorer.predict(X).argmax()
    (0, np.int64(2))
    """

    takes_sparse: ClassVar[bool] = False

    mean: Vector = field(repr=False)
    scale: Vector = field(repr=False)
    hidden: int
    path: Matrix = field(repr=False)
    best: int

    @classmethod
    def of(cls, about: Description, arrays: Mapping[str, Any], hidden: int, best: int) -> Self:
        """Make a scorer from the arrays of a file, all of which are checked.

        Parameters
        ----------
        about : see `Scorer`.
        arrays : those of the file.
        hidden, best : see above, whole numbers of at least 0 and 1.
        """
        d, epochs = about.n_features, shape(arrays, "path")[0]
        if best > epochs:
            raise ValueError(f"it has the weights of {epochs} epochs, and those of epoch {best} are meant")
        require_numbers(arrays, "path", (epochs, hidden * (d + 2) if hidden else d))
        for name in ("mean", "scale"):
            require_numbers(arrays, name, (d,))
        scale = finite_numbers(arrays, "scale")
        if not (scale > 0.0).all():
            raise ValueError("'scale' must be above 0")
        return cls(about, finite_numbers(arrays, "mean"), scale, hidden, finite_numbers(arrays, "path"), best)

    def _scores(self, X: NDArray[Any], qid: Any) -> Vector:
        return network_scores(standardised(X, self.mean, self.scale), self.path[self.best - 1], self.hidden)


def standardised(X: NDArray[Any], mean: Vector, scale: Vector) -> Matrix:
    """Return features less their means, over their scales, in float64."""
    z = X.astype(np.float64)
    z -= mean
    z /= scale
    return z


def network_scores(z: Matrix, weights: Vector, hidden: int) -> Vector:
    """Return the scores of standardised rows, shape (n,); ``weights`` are a row of `NetworkScorer.path`."""
    (n, d), h = z.shape, hidden
    if not h:
        return np.asarray(np.vecdot(z, weights))
    units, biases, outputs = weights[: h * d].reshape(h, d), weights[h * d : h * (d + 1)], weights[h * (d + 1) :]
    scores = np.empty(n)
    step = max(1, _AT_ONCE // (h * d))
    for start in range(0, n, step):
        inputs = np.vecdot(z[start : start + step, None, :], units) + biases
        scores[start : start + step] = np.vecdot(np.tanh(inputs), outputs)
    return scores
