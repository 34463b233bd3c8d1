"""How a model reads the scores of base functions."""

from abc import ABC, abstractmethod
from typing import Any, Literal

from attrs import field, frozen
from numpy.typing import ArrayLike

from structsvm.features import QueryMinMax, QueryPercentiles, Thresholds
from structsvm.types import Matrix
from structsvm.validation import at_least, one_of

_WITHIN_QUERY = {"percentiles": QueryPercentiles, "min-max": QueryMinMax}


class FeatureMap(ABC):
    """Features in two steps: what depends on a query alone, and what is learned from training queries.

    A value: frozen, hashable and comparable, so that models that read the same features share them.
    """

    def within_queries(self, X: Matrix, qid: ArrayLike) -> Matrix:
        """Return what depends on the documents of a query alone; computed once for all trials. X by default.

        Parameters
        ----------
        X : scores of the base functions, shape (rows, F); NaN where a document was not retrieved.
        qid : query of each row.

        Returns
        -------
        One column for each base function.
        """
        return X

    @abstractmethod
    def transformer(self) -> Any:
        """Return a scikit-learn transformer, to be fitted on the rows of the training queries."""


@frozen
class Indicators(FeatureMap):
    """Indicators of thresholds (`structsvm.features.Thresholds`): section 4.2 of the paper.

    Parameters
    ----------
    bins : thresholds of each base function.
    of : "scores", with thresholds at quantiles of the training scores; or "percentiles" or "min-max"
        within each query (section 5.2.1), with even thresholds from 0 to 1.
    """

    bins: int = field(default=50, validator=at_least(1))
    of: Literal["scores", "percentiles", "min-max"] = field(
        default="scores", validator=one_of("scores", "percentiles", "min-max")
    )

    def within_queries(self, X: Matrix, qid: ArrayLike) -> Matrix:
        """Return percentiles or min-max scores, or the scores themselves."""
        if self.of == "scores":
            return X
        normalised: Matrix = _WITHIN_QUERY[self.of]().fit_transform(X, qid=qid)
        return normalised

    def transformer(self) -> Thresholds:
        """Return the thresholds."""
        if self.of == "scores":
            return Thresholds(self.bins)
        return Thresholds(self.bins, spacing="even", low=0.0, high=1.0)
