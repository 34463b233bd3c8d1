"""Models of `RankBoost`: sums of weak rankers ``1[x_f > θ]``."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from structsvm.foundation.storage.archives import finite_numbers, require_numbers
from structsvm.foundation.types import BoolVector, IntVector, Vector
from structsvm.models.base import Parts, TrainedModel
from structsvm.models.explanation import Explanation

_AT_ONCE = 2**18
"""Number of values of weak rankers computed at a time."""


@frozen(eq=False, slots=False, kw_only=True)
class StumpModel(TrainedModel):
    """A sum of weak rankers ``Σ_t α_t h_t``: h_t is 1 if a feature is above a threshold, or NaN and ``missing``."""

    form: ClassVar[str] = "stumps"
    array_names: ClassVar[tuple[str, ...]] = ("features", "thresholds", "alphas", "missing")
    takes_missing: ClassVar[bool] = True

    features: IntVector = field(repr=False)
    thresholds: Vector = field(repr=False)
    alphas: Vector = field(repr=False)
    missing: BoolVector = field(repr=False)

    def parts(self) -> Parts:
        """Return the weak rankers and their weights; weights of the same feature and threshold are added up."""
        sums: dict[tuple[int, float, bool], float] = {}
        columns = (self.features.tolist(), self.thresholds.tolist(), self.missing.tolist())
        for weak, alpha in zip(zip(*columns, strict=True), self.alphas.tolist(), strict=True):
            sums[weak] = sums.get(weak, 0.0) + alpha
        rows = (
            {"feature": feature, "threshold": above if np.isfinite(above) else None, "missing": missing, "value": total}
            for (feature, above, missing), total in sorted(sums.items(), key=lambda item: -abs(item[1]))
        )
        note = "A document gets the weight if its feature is above the threshold, or missing and missing is True."
        return Parts("weight", tuple(rows), (note,))

    @classmethod
    def read(cls, numbers: Mapping[str, Any], arrays: Mapping[str, Any], common: Mapping[str, Any]) -> Self:
        alphas = finite_numbers(arrays, "alphas", (None,))
        rounds = alphas.shape
        require_numbers(arrays, "features", rounds, np.int64)
        require_numbers(arrays, "missing", rounds, np.bool_)
        require_numbers(arrays, "thresholds", rounds)
        features, thresholds = finite_numbers(arrays, "features"), np.asarray(arrays["thresholds"])
        if len(features) and not 0 <= features.min() <= features.max() < common["n_features"]:
            raise ValueError(f"'features' must be from 0 to {common['n_features'] - 1}")
        # The threshold −inf is below all values.
        if not (thresholds < np.inf).all():
            raise ValueError("'thresholds' must be numbers, or −inf")
        missing = np.asarray(arrays["missing"])
        return cls(features=features, thresholds=thresholds, alphas=alphas, missing=missing, **common)

    def _arrays(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.array_names}

    def _scores(self, X: NDArray[Any], qid: Any) -> Vector:
        scores = np.zeros(len(X))
        for block in self._blocks(X):
            added = self._added(X[block])
            # Sum in the order of the rounds, as the compiled training loop does.
            if added.shape[1]:
                scores[block] = np.add.accumulate(added, axis=1)[:, -1]
        return scores

    def _explained(self, X: NDArray[Any], qid: Any) -> Explanation:
        contributions = np.zeros(X.shape)
        for block in self._blocks(X):
            np.add.at(contributions[block].T, self.features, self._added(X[block]).T)
        return Explanation(contributions, 0.0)

    def _blocks(self, X: NDArray[Any]) -> list[slice]:
        step = max(1, _AT_ONCE // max(1, len(self.alphas)))
        return [slice(start, start + step) for start in range(0, len(X), step)]

    def _added(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return each weak ranker's term of each score, shape (rows, T)."""
        values = X[:, self.features]
        above = values > self.thresholds
        if self.missing.any():
            above |= np.isnan(values) & self.missing
        return np.where(above, self.alphas, 0.0)
