"""What a benchmark found, by the measures of LETOR's evaluation tools."""

from collections.abc import Mapping
from statistics import fmean

import numpy as np
from attrs import field, frozen

from structsvm.metrics import AP, NDCG, Measure, P, rank_lists
from structsvm.protocols.model import look_up
from structsvm.protocols.pick import Picked
from structsvm.types import IntVector, Vector

CUTOFFS = range(1, 11)

_REPORTED = {f"ndcg@{k}": NDCG(k, discount="letor") for k in CUTOFFS}
"""NDCG as LETOR's tools have it, by the name that tables call it by."""

WIDER_RANGE = "a model with a wider range, given to benchmark(models=...) in Python, may do better"
"""What to do where validation picked the end of a range: no command has an option for it."""


@frozen
class Outcome(Picked):
    """A model in one fold: what was tried, what was picked, and how that did on the test queries.

    Parameters
    ----------
    values, validation, seconds, gaps, chosen : see `structsvm.protocols.pick.Picked`.
    measures : the measures on the test queries by name (`structsvm.protocols.letor.measured`), the one that picks
        among them.
    queries : the measure that picks of each test query.
    warm_started : whether training for a value started from the weights of the value before.
    unconverged : how many warnings of scikit-learn's kind (``ConvergenceWarning``) there were in training.

    Examples
    --------
    >>> from structsvm.protocols.letor import Outcome
    >>> outcome = Outcome(
    ...     values=(0.1, 1.0, 10.0), validation=(0.5, 0.7, 0.7), seconds=(0.2, 0.1, 0.1), gaps=(9e-4, 8e-4, 7e-4),
    ...     chosen=1, measures={"map": 0.65, "p@1": 0.5}, queries=(0.8, 0.5),
    ... )
    >>> outcome.value, outcome.measures["map"], outcome.at_an_end
    (1.0, 0.65, '')
    """

    measures: Mapping[str, float]
    queries: tuple[float, ...] = field(repr=False)
    warm_started: bool = False
    unconverged: int = 0


@frozen
class FoldResults:
    """The results of a fold.

    Parameters
    ----------
    name : name of the fold.
    queries, documents : how many there are to train, to validate and to test.
    outcomes : outcome of each model by name, in the order of the tables.
    features : of every single feature, "feature 1", or "feature 1 (title.L1)" where files name them; empty unless they
        were asked for.
    seconds : how long the fold took, reading and measuring included.

    Examples
    --------
    >>> import tempfile
    >>> from structsvm.data import load_digits_queries
    >>> from structsvm.protocols.letor import benchmark, write_folds
    >>> data, _ = load_digits_queries(n_train=9, n_candidates=20)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_folds(folder, data, folds=3)
    ...     results = benchmark(folder, "CombSUM", jobs=1)
    >>> for fold in results.folds:
    ...     print(fold.name, fold.queries, f"{fold.outcomes['CombSUM'].measures['map']:.2f}")
    Fold1 (3, 3, 3) 0.43
    Fold2 (3, 3, 3) 0.68
    Fold3 (3, 3, 3) 0.78
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
    measure : name of the measure that picks on the validation queries.

    Examples
    --------
    >>> import tempfile
    >>> from structsvm.data import load_digits_queries
    >>> from structsvm.protocols.letor import benchmark, write_folds
    >>> data, _ = load_digits_queries(n_train=9, n_candidates=20)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_folds(folder, data, folds=3)
    ...     results = benchmark(folder, ["CombSUM", "Borda"], jobs=1)
    >>> {name: round(results.mean(name, "ndcg@10"), 2) for name in results.models}
    {'CombSUM': 0.68, 'BordaCount': 0.68, 'Best feature': 0.56}
    """

    title: str
    folds: tuple[FoldResults, ...]
    measure: str = "map"

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models, in the order of the tables."""
        return tuple(self.folds[0].outcomes)

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the single features that all folds have."""
        return tuple(name for name in self.folds[0].features if all(name in fold.features for fold in self.folds))

    def of(self, name: str) -> tuple[Outcome, ...]:
        """Return the outcomes of a model or single feature, fold by fold.

        Raises
        ------
        UnknownNameError : some fold has none of that name.
        """
        return tuple(look_up("model of the benchmark", name, {**fold.outcomes, **fold.features}) for fold in self.folds)

    def measured(self, name: str, measure: str) -> tuple[float, ...]:
        """Return a measure of a model or single feature on the test queries, fold by fold.

        Raises
        ------
        UnknownNameError : there is no such model, or the measure was not taken.
        """
        return tuple(look_up("measure of the benchmark", measure, outcome.measures) for outcome in self.of(name))

    def mean(self, name: str, measure: str) -> float:
        """Return the mean over the folds of what `measured` returns."""
        return fmean(self.measured(name, measure))

    def queries(self, name: str) -> Vector:
        """Return the picking measure of a model or single feature on each test query of all folds."""
        return np.concatenate([outcome.queries for outcome in self.of(name)])

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


def as_reported(measure: Measure) -> Measure:
    """Return a measure as LETOR reports it: NDCG at 1 to 10 has LETOR's discounts there, and its plain name."""
    return _REPORTED.get(str(measure), measure)


def name_of(measure: Measure) -> str:
    """Return what results call a measure."""
    return next((name for name, reported in _REPORTED.items() if measure == reported), str(measure))


def measured(scores: Vector, y: Vector, qid: IntVector) -> dict[str, float]:
    """Return the means over queries of what LETOR reports.

    ``map``; ``p@1`` to ``p@10``, where places beyond the last document hold none that is relevant;
    ``ndcg@1`` to ``ndcg@10``, with gains ``2^grade - 1`` and discounts 1, 1, 1/log2(3), 1/log2(4), ...;
    and ``ndcg4@1`` to ``ndcg4@10``, the same as the tool of LETOR 4.0 counts it: 0 for a query with fewer
    than k documents. A query without a relevant document (a label above 0) counts 0 in all of them.
    Documents of one score keep their order.

    Parameters
    ----------
    scores : larger is ahead, shape (rows,).
    y : grades, shape (rows,).
    qid : query of each row.

    Raises
    ------
    InputError : a score is NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm.protocols.letor import measured
    >>> scores, grades = np.array([0.9, 0.5, 0.1, 0.3, 0.2]), np.array([0.0, 2.0, 1.0, 0.0, 1.0])
    >>> values = measured(scores, grades, qid=np.array([1, 1, 1, 2, 2]))
    >>> {name: round(values[name], 3) for name in ("map", "p@1", "ndcg@2", "ndcg@3", "ndcg4@3")}
    {'map': 0.542, 'p@1': 0.0, 'ndcg@2': 0.875, 'ndcg@3': 0.954, 'ndcg4@3': 0.454}
    """
    lists = rank_lists(scores, y, qid)
    documents = np.bincount(lists.query, minlength=len(lists.ids))
    ndcg = {k: _REPORTED[f"ndcg@{k}"].of(lists).values for k in CUTOFFS}
    return {
        "map": float(AP().of(lists).values.mean()),
        **{f"p@{k}": float(P(k).of(lists).values.mean()) for k in CUTOFFS},
        **{f"ndcg@{k}": float(ndcg[k].mean()) for k in CUTOFFS},
        **{f"ndcg4@{k}": float((ndcg[k] * (documents >= k)).mean()) for k in CUTOFFS},
    }
