"""What a model is: anything with a name that is fitted for a grid of settings and scores documents."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from attrs import frozen

from structsvm.exceptions import InputError
from structsvm.protocols.feature_maps import FeatureMap
from structsvm.types import IntVector, Vector

Value: TypeAlias = float | str
"""Of a hyper-parameter: a number, or several settings in words."""


@frozen(eq=False)
class Candidate:
    """A model that was fitted with one value of its hyper-parameter.

    Parameters
    ----------
    value : the value.
    scores : returns the scores of documents for their features and queries, shapes (rows, d) and (rows,);
        larger is ahead.
    seconds : how long fitting took.
    gap : certified gap to the optimum, in units of the loss; None without a certificate.
    """

    value: Value
    scores: Callable[[Any, IntVector], Vector]
    seconds: float
    gap: float | None = None


class Model(ABC):
    """A model that takes part in an experiment or a benchmark. Derive from it to bring one of your own.

    A value: its ``repr`` is kept with the results and tells whether an experiment is the same, and
    it is sent to other processes.
    """

    name: str
    """What tables call it; no two models of an experiment have the same."""

    features: FeatureMap
    """What it reads."""

    @abstractmethod
    def candidates(self, X: Any, y: Vector, qid: IntVector) -> Sequence[Candidate]:
        """Fit the model on training queries for each value of its hyper-parameter, in ascending order.

        Of those that are best on the validation queries the first is picked: the simplest should come
        first. A model without a hyper-parameter returns one candidate.

        Parameters
        ----------
        X : features of the documents, as `features` made them.
        y : label of each document, shape (rows,): a grade, relevant above 0.
        qid : number of the query of each row, ascending, shape (rows,).
        """


def require_features(model: Any, attribute: Any, features: Any) -> None:
    """Refuse what is no map of features, and the class of one."""
    if not isinstance(features, FeatureMap):
        raise InputError(
            f"{model.name}: features must be a map of features, such as AsGiven() or Scores(); got {features!r}"
        )
