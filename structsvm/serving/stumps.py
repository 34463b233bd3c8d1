"""Sums of weak rankers ``1[x_f > θ]``: `RankBoost`."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from structsvm.serving.scorer import Description, Scorer
from structsvm.storage.archives import finite_numbers, require_numbers
from structsvm.types import BoolVector, IntVector, Vector

_AT_ONCE = 2**18
"""Values of weak rankers that are looked at together."""


@frozen(eq=False)
class StumpScorer(Scorer):
    """Scores ``Σ_t α_t h_t``, h_t being 1 where a feature is above a threshold.

    Parameters
    ----------
    about : see `Scorer`.
    features, thresholds, alphas : feature, threshold and weight of each weak ranker, shape (T,).
    missing : which give 1 to documents whose feature is missing (NaN), shape (T,).

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from structsvm import load
    >>> from structsvm.rankers import RankBoost
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [3.0, 1.0], [2.0, 0.0]], [0, 1, 2, 1]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     RankBoost(5).fit(X, y).save(Path(folder) / "model.npz")
    ...     scorer = load(Path(folder) / "model.npz")
    >>> scorer.features, scorer.thresholds, scorer.predict(X).argmax()
    (array([0, 0, 0, 0, 0]), array([0., 2., 0., 2., 0.]), np.int64(2))
    """

    takes_missing: ClassVar[bool] = True

    features: IntVector = field(repr=False)
    thresholds: Vector = field(repr=False)
    alphas: Vector = field(repr=False)
    missing: BoolVector = field(repr=False)

    @classmethod
    def of(cls, about: Description, arrays: Mapping[str, Any], rounds: int) -> Self:
        """Make a scorer from the arrays of a file, all of which are checked.

        Parameters
        ----------
        about : see `Scorer`.
        arrays : those of the file.
        rounds : number T of weak rankers.
        """
        require_numbers(arrays, "features", (rounds,), np.int64)
        require_numbers(arrays, "missing", (rounds,), np.bool_)
        require_numbers(arrays, "thresholds", (rounds,))
        require_numbers(arrays, "alphas", (rounds,))
        features, thresholds = finite_numbers(arrays, "features"), np.asarray(arrays["thresholds"])
        if rounds and not 0 <= features.min() <= features.max() < about.n_features:
            raise ValueError(f"'features' must be from 0 to {about.n_features - 1}")
        if not (thresholds < np.inf).all():  # −inf is below all values
            raise ValueError("'thresholds' must be numbers, or −inf")
        return cls(about, features, thresholds, finite_numbers(arrays, "alphas"), np.asarray(arrays["missing"]))

    def _scores(self, X: NDArray[Any], qid: Any) -> Vector:
        scores = np.zeros(len(X))
        step = max(1, _AT_ONCE // max(1, len(self.alphas)))
        for start in range(0, len(X), step):
            values = X[start : start + step, self.features]
            above = values > self.thresholds
            if self.missing.any():
                above |= np.isnan(values) & self.missing
            if above.shape[1]:  # summed in the order of the rounds, as the estimator does
                steps = np.add.accumulate(np.where(above, self.alphas, 0.0), axis=1)
                scores[start : start + step] = steps[:, -1]
        return scores
