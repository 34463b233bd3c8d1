"""The interface of models: named objects that fit a grid of settings and score documents."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeAlias

from attrs import frozen

from structsvm.exceptions import InputError, brief
from structsvm.foundation.settings import repeated
from structsvm.foundation.types import IntVector, Vector
from structsvm.protocols.feature_maps import FeatureMap
from structsvm.registry.registry import first_sentence

Value: TypeAlias = float | str
"""Value of a hyper-parameter: a number, an int for a count of rounds, or several settings as text."""


def spelled(value: Value) -> str:
    """Return a value of a hyper-parameter as text."""
    return value if isinstance(value, str) else f"{value:g}"


@frozen(eq=False)
class Candidate:
    """A model fitted with one value of its hyper-parameter.

    Parameters
    ----------
    value : value of the hyper-parameter: a number (an int if it counts rounds), or several settings as text.
    scores : function of features and queries, shapes (rows, d) and (rows,), that returns a score for each row.
    seconds : training time.
    gap : certified gap to the optimum, in units of the loss; None without a certificate.
    weights : weights of the features, shape (d,); None if the scores are not a weighted sum.

    Examples
    --------
    >>> from structsvm.protocols import AsGiven, RankingSVM
    >>> X, y, qid = np.array([[1.0], [2.0], [3.0], [1.0]]), np.array([0, 1, 1, 0]), np.array([0, 0, 1, 1])
    >>> model = RankingSVM(name="SVM-map", features=AsGiven(), loss="map", Cs=(0.1, 10.0))
    >>> [(candidate.value, int(candidate.scores(X, qid).argmax())) for candidate in model.candidates(X, y, qid)]
    [(0.1, 2), (10.0, 2)]
    """

    value: Value
    scores: Callable[[Any, IntVector], Vector]
    seconds: float
    gap: float | None = None
    weights: Vector | None = None


class ProtocolModel(ABC):
    """Base class of models in experiments and benchmarks.

    Subclasses must be picklable. Their ``repr`` is stored with the results, and a resumed run compares it.

    Examples
    --------
    >>> from attrs import frozen
    >>> from structsvm.protocols import AsGiven, Candidate
    >>> @frozen
    ... class SumOfPowers(ProtocolModel):
    ...     name = "sum of powers"
    ...     features = AsGiven()
    ...     def candidates(self, X, y, qid):
    ...         def scores(power):
    ...             return lambda X, qid: (X**power).sum(axis=1)
    ...         return [Candidate(power, scores(power), seconds=0.0) for power in (0.5, 1.0, 2.0)]
    >>> X, y, qid = np.array([[4.0, 4.0], [0.0, 7.0]]), np.array([1, 0]), np.array([0, 0])
    >>> candidates = SumOfPowers().candidates(X, y, qid)
    >>> [(candidate.value, int(candidate.scores(X, qid).argmax())) for candidate in candidates]
    [(0.5, 0), (1.0, 0), (2.0, 1)]
    """

    name: str
    """Name in tables; unique in an experiment."""

    features: FeatureMap
    """Features that the model reads."""

    warm_started: ClassVar[bool] = False
    """Whether training for a value of the hyper-parameter starts from the weights of the previous value."""

    @property
    def description(self) -> str:
        """The model in a sentence, for people; default: the first sentence of the docstring of the class."""
        return first_sentence(type(self))

    @abstractmethod
    def candidates(self, X: Any, y: Vector, qid: IntVector) -> Sequence[Candidate]:
        """Fit the model for each value of its hyper-parameter; a model without hyper-parameter has one candidate.

        Validation chooses the first of equally good candidates, so return the simplest first.

        Parameters
        ----------
        X : features of the documents, made by the feature map ``features``.
        y : labels, shape (rows,); relevant above 0.
        qid : number of the query of each row, ascending, shape (rows,).
        """


def require_features(model: Any, attribute: Any, features: Any) -> None:
    """Require a FeatureMap object; reject a class."""
    if not isinstance(features, FeatureMap):
        raise InputError(
            f"{model.name}: features must be a map of features, such as AsGiven() or Scores(); got {brief(features)}"
        )


def require_different_names(kind: str, objects: Sequence[Any]) -> None:
    """Raise InputError if the list is empty or two objects have the same ``name``; ``kind`` is their kind."""
    twice = repeated([item.name for item in objects])
    if twice is not None or not objects:
        problem = "the list is empty" if twice is None else f"{twice} is given twice"
        raise InputError(f"{kind} must have different names: {problem}")
