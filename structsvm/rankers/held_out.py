"""Queries held out of training, by which the number of steps of a learner is chosen."""

from typing import Any, Self

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike

from structsvm.estimators.fitting import checked_features, checked_labels
from structsvm.estimators.parameters import measure_of, require_integer
from structsvm.estimators.ranking import RankingEstimator
from structsvm.exceptions import InputError
from structsvm.metrics import Measure, rank_lists
from structsvm.operators import Readable
from structsvm.queries import Queries
from structsvm.rankers.preferences import Preferences
from structsvm.types import Vector


@frozen(eq=False)
class HeldOut:
    """Labelled queries, and the measure that counts on them.

    Parameters
    ----------
    X : features, shape (rows, d).
    y : labels, shape (rows,).
    qid : query id of each row; None: one query.
    measure : what `score` of the estimator reports.
    """

    X: Readable
    y: Vector
    qid: ArrayLike | None
    measure: Measure

    @classmethod
    def of(cls, estimator: RankingEstimator, validation: Any, *, missing: bool = False) -> Self | None:
        """Check what `fit` was given as ``validation``, which is None or (X, y, qid).

        To be called after the training data were checked, whose number of features it must have.

        Parameters
        ----------
        estimator : what is to be fitted.
        validation : what `fit` was given.
        missing : whether features may be NaN.

        Raises
        ------
        InputError : when it is neither, or does not fit.
        """
        if validation is None:
            return None
        if not isinstance(validation, tuple | list) or len(validation) not in (2, 3):
            raise InputError("validation must be a tuple (X, y, qid), or (X, y) where all its rows are one query")
        X, y, qid = (*validation, None)[:3]
        if qid is None and estimator._fitted_with_qid:
            raise InputError("fit was given qid, so validation needs it too: pass validation=(X, y, qid)")
        if isinstance(y, Preferences):
            raise InputError("measures are of labels: the y of validation must hold one a row, not Preferences")
        try:
            X = checked_features(estimator, X, reset=False, missing=missing)
            y = checked_labels(y, X.shape[0])
            Queries.of(qid, len(y))
        except InputError as error:
            raise InputError(f"validation cannot be used: {error}") from None
        measure = measure_of(estimator)
        if np.isnan(measure.values(rank_lists(np.zeros(len(y)), y, qid))).all():
            raise InputError(
                f"validation cannot be used: {measure} has a value for none of its queries, such as where no "
                "document is relevant"
            )
        return cls(X, y, qid, measure)

    def value(self, scores: ArrayLike) -> float:
        """Return the mean of the measure over these queries."""
        return self.measure.mean(np.asarray(scores), self.y, self.qid)


def require_patience(estimator: RankingEstimator, validation: Any) -> None:
    """Refuse a ``patience`` that is no number of steps, or has no ``validation`` to look at."""
    if estimator.patience is None:
        return
    require_integer(estimator, "patience", 1)
    if validation is None:
        raise InputError(
            f"{type(estimator).__name__}(patience={estimator.patience!r}) stops by a measure of held-out queries, and "
            "fit was given none: pass validation=(X, y, qid), or patience=None"
        )
