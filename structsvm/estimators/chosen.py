"""Base of the estimators that choose on held-out data, and are then the estimator that they fitted to all data."""

from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from structsvm.models.base import TrainedModel


class ChosenEstimator(BaseEstimator):
    """An estimator whose fit sets ``estimator_``, which has the model and writes it."""

    estimator_: Any

    @property
    def model_(self) -> TrainedModel:
        """The model of ``estimator_``."""
        model: TrainedModel = self.estimator_.model_
        return model

    @model_.setter
    def model_(self, model: TrainedModel) -> None:
        self.estimator_.model_ = model

    def save(self, path: str | Path) -> None:
        """Write ``estimator_`` to a file; see `Ranker.save`."""
        check_is_fitted(self, "estimator_")
        self.estimator_.save(path)
