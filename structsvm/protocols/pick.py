"""What all protocols do with models: compute their features, fit them, and pick a candidate on validation queries."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self, TypeAlias, TypeVar

from attrs import field, frozen

from structsvm.exceptions import InputError
from structsvm.protocols.feature_maps import FeatureMap
from structsvm.protocols.model import Candidate, Model, Value
from structsvm.queries import Queries
from structsvm.types import Vector

T = TypeVar("T")

Progress: TypeAlias = Callable[[int, int], None]
"""Is shown the number of trials or folds that are done and that of all, at the start and after each of them."""


@frozen(eq=False)
class QuerySet:
    """The training set, the validation set or the test set.

    Parameters
    ----------
    read : returns what a map of features makes of the documents of each query (`FeatureMap.within_queries`).
    y : label of each document, shape (rows,); relevant above 0.
    queries : the queries, whose rows are together.
    """

    read: Callable[[FeatureMap], Any]
    y: Vector = field(repr=False)
    queries: Queries


def which_end(validation: Sequence[float], chosen: int) -> str:
    """Say which end of ascending values was picked, "least" or "largest"; "" where a further one would be no use.

    That is where the value lies inside the range, or does no better than its neighbour.

    Parameters
    ----------
    validation : how good each value is on the validation queries.
    chosen : position of the first that is best.
    """
    if len(validation) < 2:
        return ""
    if chosen == len(validation) - 1:
        return "largest"
    return "least" if chosen == 0 and validation[0] > validation[1] else ""


@frozen
class Picked:
    """A model after validation: what was tried, and which of it was picked. Protocols add how that did in the test.

    Parameters
    ----------
    values : values of the hyper-parameter (C of an SVM), in the order in which they were tried; texts where it is
        no number.
    validation : the measure that picks on the validation queries at each value: MAP unless the protocol says otherwise.
    seconds : training time at each value; a `RankingSVM` or `ClassificationSVM` starts from the weights of the value
        before.
    gaps : certified gap to the optimum at each value, in units of the loss (``gap / C``); None without a
        certificate.
    chosen : position in ``values`` of the one picked: the best on validation, the first among equals.
    """

    values: tuple[Value, ...]
    validation: tuple[float, ...] = field(repr=False)
    seconds: tuple[float, ...] = field(repr=False)
    gaps: tuple[float | None, ...] = field(repr=False)
    chosen: int

    def __attrs_post_init__(self) -> None:
        """Refuse what no validation comes to: results may come from a file."""
        tried = len(self.values)
        if not all(len(each) == tried for each in (self.validation, self.seconds, self.gaps)):
            raise InputError("values, validation, seconds and gaps must have as many entries")
        if not 0 <= self.chosen < tried:
            raise InputError(f"chosen must be from 0 to {tried - 1}, got {self.chosen}")

    @classmethod
    def of(
        cls,
        candidates: Sequence[Candidate],
        validated: Callable[[Candidate], float],
        tested: Callable[[int], Mapping[str, Any]],
    ) -> Self:
        """Pick one of the candidates of a model.

        Parameters
        ----------
        candidates : in the order in which they were tried.
        validated : returns the measure that picks on the validation queries.
        tested : returns what a protocol adds, by name, for the position that was picked.
        """
        validation = tuple(map(validated, candidates))
        chosen = validation.index(max(validation))
        return cls(
            values=tuple(each.value for each in candidates),
            validation=validation,
            seconds=tuple(each.seconds for each in candidates),
            gaps=tuple(each.gap for each in candidates),
            chosen=chosen,
            **tested(chosen),
        )

    @property
    def value(self) -> Value:
        """The value picked."""
        return self.values[self.chosen]

    @property
    def at_an_end(self) -> str:
        """Which end of a range of numbers was picked, "least" or "largest"; "" where a further one would be no use."""
        numbers = not any(isinstance(value, str) for value in self.values)
        return which_end(self.validation, self.chosen) if numbers else ""


def fit_models(
    models: Sequence[Model], sets: Sequence[QuerySet], where: str, fit: Callable[[Model, Sequence[Any]], T]
) -> dict[str, T]:
    """Fit models, of which those that read the same features share them.

    Parameters
    ----------
    models : in the order of the tables.
    sets : to train, to validate and to test.
    where : the place in the protocol, for errors.
    fit : fits a model, given the features of the three sets.

    Returns
    -------
    What `fit` returned for each model, by name, in their order.

    Raises
    ------
    InputError : for any ValueError about what was passed in; it names the model and the place.
    """
    found: dict[str, T] = {}
    for features in dict.fromkeys(model.features for model in models):
        readers = [model for model in models if model.features == features]
        with _naming(readers[0], where):
            matrices = _transformed(features, sets)
        for model in readers:
            with _naming(model, where):
                found[model.name] = fit(model, matrices)
    return {model.name: found[model.name] for model in models}


def _transformed(features: FeatureMap, sets: Sequence[QuerySet]) -> list[Any]:
    """Return the features of each set; the map learns from the first."""
    read = [each.read(features) for each in sets]
    transformer = features.transformer().fit(read[0])
    return [transformer.transform(each) for each in read]


@contextmanager
def _naming(model: Model, where: str) -> Iterator[None]:
    """Name the model and the place in errors about what was passed in, scikit-learn's too.

    Raises
    ------
    InputError : for any ValueError, and where an estimator takes no sparse features.
    """
    try:
        yield
    except ValueError as error:
        raise InputError(f"{model.name} in {where}: {error}") from error
    except TypeError as error:
        if not str(error).startswith("Sparse data was passed"):
            raise
        raise InputError(
            f"{model.name} in {where}: its estimator takes no sparse features: give it features=AsGiven(dense=True)"
        ) from error
