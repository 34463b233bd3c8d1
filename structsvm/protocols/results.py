"""Results of all protocols: the fits and measures of each model in each trial."""

from collections.abc import Iterable, Mapping
from typing import TypeVar

from attrs import field, frozen

from structsvm.exceptions import InputError, UnknownNameError
from structsvm.foundation.storage.records import Header
from structsvm.protocols.model import Value
from structsvm.training.choose import which_end

T = TypeVar("T")


def look_up(kind: str, name: str, values: Mapping[str, T]) -> T:
    """Return the value of a name; raise UnknownNameError with the nearest name if unknown."""
    if name not in values:
        raise UnknownNameError(kind, str(name), values)
    return values[name]


@frozen(kw_only=True)
class Fit:
    """A model in one trial: each value of its hyper-parameter, the position of the ``chosen`` one, and its measures.

    ``seconds`` are without ``compile_seconds``, the compilation of machine code during all fits.
    """

    measures: Mapping[str, float] = field(repr=False)
    queries: Mapping[str, tuple[float, ...]] = field(repr=False)
    values: tuple[Value, ...]
    validation: tuple[float, ...] = field(repr=False)
    train: tuple[float, ...] = field(default=(), repr=False)
    test: tuple[float, ...] = field(default=(), repr=False)
    seconds: tuple[float, ...] = field(repr=False)
    gaps: tuple[float | None, ...] = field(repr=False)
    chosen: int
    features: int
    weights: tuple[float, ...] | None = field(default=None, repr=False)
    warm_started: bool = False
    unconverged: int = 0
    compile_seconds: float = 0.0

    def __attrs_post_init__(self) -> None:
        """Require numbers for each value, because results may come from a file."""
        count = len(self.values)
        lists = (self.validation, self.seconds, self.gaps, self.train or self.values, self.test or self.values)
        if any(len(numbers) != count for numbers in lists):
            raise InputError(
                "values, validation, seconds, gaps, and train and test if given, must have as many entries"
            )
        if not 0 <= self.chosen < count:
            raise InputError(f"chosen must be from 0 to {count - 1}, got {self.chosen}")

    @property
    def value(self) -> Value:
        """The chosen value."""
        return self.values[self.chosen]

    @property
    def at_an_end(self) -> str:
        """The end of the range that was chosen, "least" or "largest"; "" if a wider range cannot help."""
        if any(isinstance(value, str) for value in self.values):
            return ""
        end = which_end(self.validation, self.chosen)
        # Counts start at 1, so a range that starts there cannot grow.
        return "" if end == "least" and isinstance(self.value, int) and self.value == 1 else end


def known_gaps(fits: Iterable[Fit]) -> list[float]:
    """Return the certified gaps of all values, without values that have no certificate."""
    return [gap for fit in fits for gap in fit.gaps if gap is not None]


@frozen
class Trial:
    """One split of the queries: their ids, numbers of documents of the three sets, and fits by group and model."""

    name: str
    train: tuple[str, ...] = field(repr=False)
    validation: tuple[str, ...] = field(repr=False)
    test: tuple[str, ...] = field(repr=False)
    documents: tuple[int, int, int]
    seconds: float
    fits: Mapping[str, Mapping[str, Fit]] = field(repr=False)

    def __attrs_post_init__(self) -> None:
        """Require test queries and fits that tested them, because results may come from a file."""
        fits = [fit for group in self.fits.values() for fit in group.values()]
        if not (fits and self.test):
            raise InputError("a trial must have fits and test queries")
        if any(len(values) != len(self.test) for fit in fits for values in fit.queries.values()):
            raise InputError(f"every fit must rank the {len(self.test)} test queries of its trial")


@frozen(kw_only=True)
class Results:
    """The results of a protocol; ``header.settings["models"]`` has the settings of each model by name."""

    header: Header
    trials: tuple[Trial, ...] = field(repr=False)

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models, in the order of the tables."""
        return tuple(self.header.settings["models"])

    @property
    def reference(self) -> str:
        """The first model, which is compared with each other model."""
        return self.models[0]

    def fits(self, group: str, model: str) -> tuple[Fit, ...]:
        """Return a model's fits in a group, trial by trial; raise UnknownNameError for unknown names."""
        return tuple(look_up("model", model, look_up("variant", group, trial.fits)) for trial in self.trials)
