"""The results of a benchmark, in the measures of LETOR's evaluation tools."""

import numpy as np
from attrs import frozen

from structsvm.foundation.types import IntVector, Vector
from structsvm.metrics import AP, NDCG, Measure, P, rank_lists
from structsvm.metrics.base import TieRange
from structsvm.protocols.results import Fit, Results, look_up
from structsvm.registry import measures

CUTOFFS = range(1, 11)

MODELS, FEATURES = "models", "features"
"""Groups of fits: models, and single features if requested."""

SHOWN = ("map", *(f"{name}@{k}" for name in ("p", "ndcg") for k in (1, 5, 10)))
"""Measures of the summary. Results have their values for each query, so that means have intervals."""

_REPORTED = {f"ndcg@{k}": NDCG(k, discount="letor") for k in CUTOFFS}
"""NDCG with the discounts of LETOR's tools, by its name in tables."""

LOWEST, HIGHEST = "lowest", "highest"
"""Ends of the range of the validation measure over the orders of equal scores, for each query of a fit with ties."""

WIDER_RANGE = "a model with a wider range, given to benchmark(models=...) in Python, may do better"
"""Advice if validation picked the end of a range. It mentions Python because no command has an option for ranges."""


@frozen(kw_only=True)
class Benchmark(Results):
    """The results of a benchmark.

    Parameters
    ----------
    header : settings, data and versions.
    trials : the folds in order, as ``trial.fits[group][name]`` with the groups "models" and, if measured, "features":
        every single feature, "feature 1", or "feature 1 (title.L1)" if files name them.
    title : title in tables, such as the name of the data.

    Examples
    --------
    >>> from structsvm.data import load_digits_queries
    >>> from structsvm.protocols.letor import benchmark, write_folds
    >>> data, _ = load_digits_queries(n_train=9, n_candidates=20)
    >>> _ = write_folds("folds", data, folds=3)
    >>> results = benchmark("folds", ["CombSUM", "Borda"], n_jobs=1)
    >>> {name: round(results.mean(name, "ndcg@10"), 2) for name in results.models}
    {'CombSUM': 0.68, 'BordaCount': 0.67, 'Best feature': 0.56}
    """

    title: str = ""

    @property
    def measure(self) -> str:
        """Name of the measure that chooses hyper-parameters on the validation queries."""
        return str(self.header.settings["measure"])

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the single features that all folds have."""
        first, *others = (fold.fits.get(FEATURES, {}) for fold in self.trials)
        return tuple(name for name in first if all(name in fits for fits in others))

    def of(self, name: str) -> tuple[Fit, ...]:
        """Return the fits of a model or single feature, fold by fold."""
        folds = ({**fold.fits[MODELS], **fold.fits.get(FEATURES, {})} for fold in self.trials)
        return tuple(look_up("benchmark model", name, fits) for fits in folds)

    def by_fold(self, name: str) -> dict[str, Fit]:
        """Return the fits of a model or single feature by the name of the fold."""
        return dict(zip((fold.name for fold in self.trials), self.of(name), strict=True))

    def measured(self, name: str, measure: str) -> tuple[float, ...]:
        """Return a measure of a model or single feature on the test queries, fold by fold."""
        return tuple(look_up("benchmark measure", measure, fit.measures) for fit in self.of(name))

    def mean(self, name: str, measure: str) -> float:
        """Return the mean of a measure over the test queries of all folds.

        Each query counts once. Published figures of LETOR are means of the folds' means instead, which `measured`
        returns; both are equal if folds have equally many test queries.
        """
        return float(np.average(self.measured(name, measure), weights=[len(fold.test) for fold in self.trials]))

    def queries(self, name: str, measure: str | None = None) -> Vector:
        """Return the values of a model or single feature on each test query of all folds.

        ``measure`` is one of `with_intervals`; None: the measure of validation.
        """
        measure = measure or self.measure
        values = [look_up("measure with values of queries", measure, fit.queries) for fit in self.of(name)]
        return np.concatenate(values)

    @property
    def with_intervals(self) -> tuple[str, ...]:
        """Names of the measures with values of queries: the measure of validation, then the measures of the summary."""
        return tuple(dict.fromkeys((self.measure, *SHOWN)))

    @property
    def n_queries(self) -> int:
        """Number of the test queries of all folds."""
        return sum(len(fold.test) for fold in self.trials)

    @property
    def ends(self) -> tuple[str, ...]:
        """Sentences about models for which validation picked the end of a range; a wider range may do better."""
        sentences = []
        for name in self.models:
            for end, position in (("least", 0), ("largest", -1)):
                fits = {fold: fit for fold, fit in self.by_fold(name).items() if fit.at_an_end == end}
                if fits:
                    value = next(iter(fits.values())).values[position]
                    folds = ", ".join(fits)
                    sentences.append(f"{name}: validation picked the {end} value that was tried, {value:g}, in {folds}")
        return tuple(sentences)

    @property
    def ties(self) -> tuple[str, ...]:
        """Sentences about models whose measure depends on the order of documents with equal scores."""
        sentences = []
        for name in self.models:
            queries = [fit.queries for fit in self.of(name)]
            low, high = (np.concatenate([of.get(end, of[self.measure]) for of in queries]) for end in (LOWEST, HIGHEST))
            ties = TieRange.of(low, high, lambda values: float(values.mean()))
            if ties.queries:
                sentences.append(f"{name}: {ties.note(self.measure.upper(), self.n_queries)}")
        return tuple(sentences)

    @property
    def unconverged(self) -> tuple[str, ...]:
        """Sentences about models whose training did not converge."""
        sentences = []
        for name in self.models:
            times = {fold: fit.unconverged for fold, fit in self.by_fold(name).items() if fit.unconverged}
            if times:
                where = (f"{fold} ({count} times)" if count > 1 else fold for fold, count in times.items())
                sentences.append(f"{name}: training did not converge in {', '.join(where)}")
        return tuple(sentences)


def as_reported(measure: Measure) -> Measure:
    """Return a measure as LETOR reports it: NDCG at 1 to 10 uses LETOR's discounts and has its plain name."""
    return _REPORTED.get(str(measure), measure)


def name_of(measure: Measure) -> str:
    """Return the name of a measure in results."""
    return next((name for name, reported in _REPORTED.items() if measure == reported), str(measure))


def value_range_of(name: str) -> tuple[float, float]:
    """Return the range of a measure, given its name in results."""
    measure: Measure = _REPORTED.get(name) or measures.create(name)
    return measure.value_range


def measured(scores: Vector, y: Vector, qid: IntVector) -> dict[str, Vector]:
    """Return LETOR's measures of each query by name; in ``ndcg4@k``, a query of fewer than k documents counts as 0."""
    lists = rank_lists(scores, y, qid)
    documents = np.bincount(lists.query, minlength=len(lists.ids))
    ndcg = {k: _REPORTED[f"ndcg@{k}"].of(lists).values for k in CUTOFFS}
    return {
        "map": AP().of(lists).values,
        **{f"p@{k}": P(k).of(lists).values for k in CUTOFFS},
        **{f"ndcg@{k}": ndcg[k] for k in CUTOFFS},
        **{f"ndcg4@{k}": ndcg[k] * (documents >= k) for k in CUTOFFS},
    }
