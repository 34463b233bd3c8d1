"""What all protocols do with a model: make its features, fit it, and pick a candidate on validation queries."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from attrs import frozen

from structsvm.exceptions import InputError
from structsvm.protocols.feature_maps import FeatureMap
from structsvm.protocols.model import Candidate, Model, Value


def require_models(models: Sequence[Any]) -> None:
    """Refuse what is neither a model nor the name of one.

    Raises
    ------
    InputError : naming the first such thing.
    """
    for place, each in enumerate(models):
        if isinstance(each, type) and issubclass(each, Model):
            raise InputError(f"models[{place}] must be an object, {each.__name__}(...); {each.__name__} is a class")
        if not isinstance(each, str | Model):
            raise InputError(
                f"models[{place}] is neither a name nor a model: {each!r}. An estimator becomes one by "
                "EstimatorModel(name=..., features=AsGiven(), estimator=...), of structsvm.protocols"
            )


def transformed(features: FeatureMap, parts: Sequence[Any]) -> list[Any]:
    """Return the features of parts of the data, of which the first is what the map learns from.

    Parameters
    ----------
    features : the map.
    parts : what its `within_queries` made of the training, the validation and the test documents.
    """
    transformer = features.transformer().fit(parts[0])
    return [transformer.transform(part) for part in parts]


@contextmanager
def naming(model: Model, where: str) -> Iterator[None]:
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


@frozen(eq=False)
class Picked:
    """The candidates of a model, and the one that is best on the validation queries, the first among equals.

    Parameters
    ----------
    candidates : in the order in which they were tried.
    validation : how good each is on the validation queries; larger is better.
    """

    candidates: Sequence[Candidate]
    validation: tuple[float, ...]

    @classmethod
    def of(cls, candidates: Sequence[Candidate], measure: Callable[[Candidate], float]) -> "Picked":
        """Measure candidates."""
        return cls(candidates, tuple(map(measure, candidates)))

    @property
    def chosen(self) -> int:
        """Position of the one that is picked."""
        return self.validation.index(max(self.validation))

    @property
    def values(self) -> tuple[Value, ...]:
        """Of their hyper-parameter."""
        return tuple(candidate.value for candidate in self.candidates)

    @property
    def seconds(self) -> tuple[float, ...]:
        """How long fitting each took."""
        return tuple(candidate.seconds for candidate in self.candidates)

    @property
    def gaps(self) -> tuple[float | None, ...]:
        """Certified gaps."""
        return tuple(candidate.gap for candidate in self.candidates)
