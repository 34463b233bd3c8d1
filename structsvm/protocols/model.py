"""What a model is: anything with a name that is fitted for a grid of settings and scores documents."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias, TypeVar

from attrs import frozen

from structsvm.exceptions import InputError, UnknownNameError
from structsvm.protocols.feature_maps import FeatureMap
from structsvm.settings import as_list
from structsvm.types import IntVector, Vector

T = TypeVar("T")

Value: TypeAlias = float | str
"""Of a hyper-parameter: a number, or several settings in words.

Examples
--------
>>> import numpy as np
>>> from structsvm.protocols import AsGiven, EstimatorModel
>>> from structsvm.rankers import MaximumEntropy
>>> X, y, qid = np.array([[1.0], [2.0], [3.0]]), np.array([0.0, 1.0, 1.0]), np.zeros(3, np.int64)
>>> for grid in ({"C": (0.1, 1.0)}, {"C": (0.1, 1.0), "max_iter": (50,)}):
...     model = EstimatorModel(name="MaxEnt", features=AsGiven(), estimator=MaximumEntropy(), grid=grid)
...     print([candidate.value for candidate in model.candidates(X, y, qid)])
[0.1, 1.0]
['C=0.1, max_iter=50', 'C=1.0, max_iter=50']
"""


def spelled(value: Value) -> str:
    """Return a value of a hyper-parameter as text."""
    return value if isinstance(value, str) else f"{value:g}"


@frozen(eq=False)
class Candidate:
    """A model that was fitted with one value of its hyper-parameter.

    Parameters
    ----------
    value : the value.
    scores : returns the scores of documents for their features and queries, shapes (rows, d) and (rows,);
        larger is ahead.
    seconds : seconds that fitting took.
    gap : certified gap to the optimum, in units of the loss; None without a certificate.
    weights : of the features, where the model is a weighted sum of them, shape (d,); None where it is not, or does not
        tell.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm.protocols import AsGiven, RankingSVM
    >>> X, y, qid = np.array([[1.0], [2.0], [3.0], [1.0]]), np.array([0, 1, 1, 0]), np.array([0, 0, 1, 1])
    >>> model = RankingSVM(name="SVM-map", features=AsGiven(), loss="map", Cs=(0.1, 10.0))
    >>> for candidate in model.candidates(X, y, qid):
    ...     print(candidate.value, candidate.scores(X, qid).argmax(), candidate.gap <= model.tol)
    0.1 2 True
    10.0 2 True
    """

    value: Value
    scores: Callable[[Any, IntVector], Vector]
    seconds: float
    gap: float | None = None
    weights: Vector | None = None


class Model(ABC):
    """A model that takes part in an experiment or a benchmark. Derive from it to bring one of your own.

    A value: its ``repr`` is kept with the results and tells whether an experiment is the same, and
    it is sent to other processes.

    Examples
    --------
    >>> import numpy as np
    >>> from attrs import frozen
    >>> from structsvm.protocols import AsGiven, Candidate, Model
    >>> @frozen
    ... class SumOfPowers(Model):
    ...     name = "sum of powers"
    ...     features = AsGiven()
    ...     def candidates(self, X, y, qid):
    ...         def scores(power):
    ...             return lambda X, qid: (X**power).sum(axis=1)
    ...         return [Candidate(power, scores(power), seconds=0.0) for power in (0.5, 1.0, 2.0)]
    >>> X, y, qid = np.array([[4.0, 4.0], [0.0, 7.0]]), np.array([1, 0]), np.array([0, 0])
    >>> [(each.value, int(each.scores(X, qid).argmax())) for each in SumOfPowers().candidates(X, y, qid)]
    [(0.5, 0), (1.0, 0), (2.0, 1)]
    """

    name: str
    """What tables call it; no two models of an experiment have the same."""

    features: FeatureMap
    """What it reads."""

    warm_started: ClassVar[bool] = False
    """Whether training for a value of the hyper-parameter starts from the weights of the value before."""

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
    """Require a FeatureMap object; a class is refused."""
    if not isinstance(features, FeatureMap):
        raise InputError(
            f"{model.name}: features must be a map of features, such as AsGiven() or Scores(); got {features!r}"
        )


def as_models(given: Any) -> tuple[str | Model, ...]:
    """Return models and names of models, given as one or several, as a tuple.

    Raises
    ------
    InputError : one of them is neither a model nor a name; it is named.
    """
    one = isinstance(given, str | Model) or not isinstance(given, Iterable)
    models = (given,) if one else tuple(as_list("models", given, "models or names"))
    for place, each in enumerate(models):
        if isinstance(each, type) and issubclass(each, Model):
            raise InputError(f"models[{place}] must be an object, {each.__name__}(...); {each.__name__} is a class")
        if not isinstance(each, str | Model):
            raise InputError(
                f"models[{place}] is neither a name nor a model: {each!r}. An estimator becomes one by "
                "EstimatorModel(name=..., features=AsGiven(), estimator=...), of structsvm.protocols"
            )
    return models


def look_up(kind: str, name: str, known: Mapping[str, T]) -> T:
    """Return what has a name.

    Parameters
    ----------
    kind : what it is, in words.
    name : its name.
    known : all that there are, by name.

    Raises
    ------
    UnknownNameError : nothing has that name; it tells the nearest one.
    """
    if name not in known:
        raise UnknownNameError(kind, str(name), known)
    return known[name]


def require_different_names(what: str, named: Sequence[Any]) -> None:
    """Require at least one thing, and that no two have the same ``name``.

    Raises
    ------
    InputError : naming ``what`` they are, and the name that is there twice.
    """
    twice = [name for name, times in Counter(each.name for each in named).items() if times > 1]
    if twice or not named:
        problem = f"{twice[0]} is there twice" if twice else "there are none"
        raise InputError(f"{what} must have different names: {problem}")
