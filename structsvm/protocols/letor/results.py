"""What a benchmark found."""

from collections.abc import Mapping
from statistics import fmean

from attrs import field, frozen

from structsvm.protocols import Value
from structsvm.protocols.pick import which_end


@frozen
class Outcome:
    """A model in one fold: what was tried, what was picked, and how that did on the test queries.

    Parameters
    ----------
    values : values of the hyper-parameter, in the order in which they were tried.
    validation : MAP on the validation queries at each value.
    seconds : training time at each value; `RankingSVM` starts from the model of the value before.
    gaps : certified gap to the optimum at each value, in units of the loss; None without a certificate.
    chosen : position in ``values`` of the one picked: the best on validation, the first among equals.
    measures : the measures on the test queries by name (`structsvm.protocols.letor.measured`).
    unconverged : how many warnings of scikit-learn's kind (``ConvergenceWarning``) there were in training.
    """

    values: tuple[Value, ...]
    validation: tuple[float, ...] = field(repr=False)
    seconds: tuple[float, ...] = field(repr=False)
    gaps: tuple[float | None, ...] = field(repr=False)
    chosen: int
    measures: Mapping[str, float]
    unconverged: int = 0

    @property
    def value(self) -> Value:
        """The value picked."""
        return self.values[self.chosen]

    @property
    def at_an_end(self) -> str:
        """Which end of a range of numbers was picked, "least" or "largest"; "" where a further one would be no use."""
        numbers = not any(isinstance(value, str) for value in self.values)
        return which_end(self.validation, self.chosen) if numbers else ""


@frozen
class FoldResults:
    """The results of a fold.

    Parameters
    ----------
    name : of the fold.
    queries, documents : how many there are to train, to validate and to test.
    outcomes : of each model by name, in the order of the tables.
    features : of every single feature, "feature 1", ...; empty unless they were asked for.
    seconds : how long the fold took, reading and measuring included.
    """

    name: str
    queries: tuple[int, int, int]
    documents: tuple[int, int, int]
    outcomes: Mapping[str, Outcome] = field(repr=False)
    features: Mapping[str, Outcome] = field(repr=False)
    seconds: float


@frozen
class Benchmark:
    """The results of a benchmark.

    Parameters
    ----------
    title : what it is about, such as the name of the data.
    folds : in their order.
    """

    title: str
    folds: tuple[FoldResults, ...]

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models, in the order of the tables."""
        return tuple(self.folds[0].outcomes)

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the single features that all folds have."""
        return tuple(name for name in self.folds[0].features if all(name in fold.features for fold in self.folds))

    def of(self, name: str) -> tuple[Outcome, ...]:
        """Return the outcomes of a model or single feature, fold by fold."""
        return tuple((fold.features if name in fold.features else fold.outcomes)[name] for fold in self.folds)

    def mean(self, name: str, measure: str) -> float:
        """Return a measure of a model or single feature, the mean over the folds."""
        return fmean(outcome.measures[measure] for outcome in self.of(name))

    @property
    def ends(self) -> tuple[str, ...]:
        """Where validation picked the end of a range that was tried: a wider one may do better. A sentence each."""
        found = []
        for name in self.models:
            for end in ("least", "largest"):
                where = [fold.name for fold in self.folds if fold.outcomes[name].at_an_end == end]
                if where:
                    outcome = self.folds[0].outcomes[name]
                    value = outcome.values[0 if end == "least" else -1]
                    found.append(
                        f"{name}: validation picked the {end} value that was tried, {value:g}, in {', '.join(where)}"
                    )
        return tuple(found)

    @property
    def unconverged(self) -> tuple[str, ...]:
        """Where training ended short of the precision that was asked for. A sentence each."""
        found = []
        for name in self.models:
            times = {fold.name: fold.outcomes[name].unconverged for fold in self.folds}
            where = ", ".join(
                f"{fold} ({count} times)" if count > 1 else fold for fold, count in times.items() if count
            )
            if where:
                found.append(f"{name}: training did not converge in {where}")
        return tuple(found)
