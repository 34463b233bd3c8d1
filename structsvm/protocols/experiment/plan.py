"""The settings and the plan of an experiment: trials over balanced splits of the queries of a pool."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any, Self

import numpy as np
from attrs import Attribute, asdict, evolve, field, filters, frozen

from structsvm.data import Pool
from structsvm.exceptions import InputError, brief
from structsvm.features.operators import BinnedMatrix
from structsvm.foundation.queries import Queries
from structsvm.foundation.settings import as_path, at_least, require_kind
from structsvm.foundation.storage.records import Header, RecordType, digest, versions
from structsvm.foundation.types import BoolVector, IntVector, Vector
from structsvm.metrics import AP, rank_lists
from structsvm.protocols.catalogue import PAPER_MODELS, as_models
from structsvm.protocols.experiment.splits import Split, balanced_splits
from structsvm.protocols.feature_maps import FeatureMap
from structsvm.protocols.model import ProtocolModel, require_different_names
from structsvm.protocols.plan import TRIALS, Case, Plan, Progress, QuerySet, run_plan
from structsvm.protocols.results import (
    MAP,
    TIED,
    VARIANTS,
    WITH_BEST,
    WITHOUT_BEST,
    BaseFunction,
    Query,
    Results,
    Trial,
)
from structsvm.registry.built_in import experiment_models

RESULTS = "results.json"


def _listed(models: Any) -> tuple[Any, ...]:
    """Return one or several models or names of models as a tuple."""
    return (models,) if isinstance(models, str) or not isinstance(models, Iterable) else tuple(models)


def _some_variants(_: Any, attribute: "Attribute[Any]", value: tuple[str, ...]) -> None:
    if not value or len(set(value)) < len(value) or not set(value) <= set(VARIANTS):
        raise InputError(f"Settings(variants=...) must be one or both of {', '.join(VARIANTS)}, got {brief(value)}")


@frozen(kw_only=True)
class Settings:
    """The settings of an experiment; the defaults are as in the paper.

    Parameters
    ----------
    trials : number of trials.
    train, validation : numbers of queries of each trial for training, and for the choice of the hyper-parameter; all
        other queries are test queries.
    bins : thresholds of each base function.
    random_state : seed of the splits.
    models : names of models, shown by ``structsvm list models``, or objects; the first is compared with each other
        model. Default: as in the paper.
    variants : "with-best": models read all base functions; "without-best": all but the best one. Default: both.

    Examples
    --------
    >>> Settings(trials=10).trials
    10
    """

    trials: int = field(default=50, validator=at_least(1))
    train: int = field(default=10, validator=at_least(1))
    validation: int = field(default=5, validator=at_least(1))
    bins: int = field(default=50, validator=at_least(1))
    random_state: int = field(default=0, validator=at_least(0))
    models: tuple[str | ProtocolModel, ...] = field(default=PAPER_MODELS, converter=_listed)
    variants: tuple[str, ...] = field(default=VARIANTS, converter=_listed, validator=_some_variants)

    def __attrs_post_init__(self) -> None:
        require_different_names("Settings(models=...)", self.as_objects())

    def as_objects(self) -> tuple[ProtocolModel, ...]:
        """Return the models as objects."""
        return as_models(self.models, experiment_models, bins=self.bins)

    def as_text(self) -> dict[str, Any]:
        """Return the settings for JSON, with each model by name as text."""
        models = {model.name: repr(model) for model in self.as_objects()}
        return {
            **asdict(self, filter=filters.exclude("models", "variants")),
            "variants": list(self.variants),
            "models": models,
        }


def run(
    pool: Pool,
    settings: Settings,
    out: str | Path,
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Results:
    """Run an experiment, or resume an interrupted one.

    The experiment is from Yue, Finley, Radlinski and Joachims, "A Support Vector Method for Optimizing Average
    Precision", SIGIR 2007, sections 4 and 5. Each trial trains every model on some queries, chooses its hyper-parameter
    by MAP on other queries, and tests it on the remaining queries. Finished trials are stored in the output folder; a
    resumed run gives the same results to the last digit, on any number of processes.

    Parameters
    ----------
    pool : queries with the scores of base functions, from `structsvm.data.pool_runs`.
    settings : settings of the experiment; ``Settings()`` are as in the paper.
    out : folder for ``trials.jsonl`` and ``results.json``, of one experiment only; created if it does not exist.
    n_jobs : number of processes; None: one per processor.
    progress : called with the numbers of finished trials and of all trials.

    Raises
    ------
    InputError : there are too few queries, base functions or relevant documents, or the output folder belongs to
        another experiment.
    KeyboardInterrupt : after Ctrl-C; finished trials are stored.

    Examples
    --------
    >>> from structsvm.data import load_digits_runs, pool_runs
    >>> from structsvm.protocols.experiment import Settings
    >>> pool = pool_runs(*load_digits_runs(n_queries=5, n_candidates=40, depth=10))
    >>> settings = Settings(trials=5, train=2, validation=1, models=["CombSUM", "Borda"])
    >>> results = run(pool, settings, "results", n_jobs=1)
    >>> {row.name: round(row.map, 2) for row in results.rows("with-best")}
    {'CombSUM': 0.55, 'BordaCount': 0.5, 'rows': 0.66, 'euclidean': 0.6, 'cosine': 0.59}
    """
    require_kind("pool", pool, Pool, "a Pool, such as pool_runs returns")
    if WITHOUT_BEST in settings.variants and len(pool.run_names) < 2:
        raise InputError(
            "the variant 'without-best' needs at least two base functions: add one, or leave the variant out"
        )
    plan, folder = ExperimentPlan.of(pool, settings), as_path("out", out)
    results = plan.results(*run_plan(plan, folder, n_jobs=n_jobs, progress=progress))
    results.save(folder / RESULTS)
    return results


@frozen(eq=False)
class ExperimentPlan(Plan):
    """The trials of an experiment, over ``splits`` of a pool's queries; `ready` fills ``read``, features by query."""

    kind = RecordType(
        part=Trial,
        key=lambda trial: trial.name,
        work="experiment",
        name="trial",
        names="trials",
        data="documents, scores or judgments",
    )
    file = TRIALS
    tests_each_value = True
    expected_warnings = ("all scores of .* functions are missing",)
    measure = AP()

    pool: Pool
    settings: Settings
    queries: Queries
    models: tuple[ProtocolModel, ...]
    splits: tuple[Split, ...]
    functions: tuple[BaseFunction, ...]
    read: Mapping[FeatureMap, Any] = field(factory=dict)

    @classmethod
    def of(cls, pool: Pool, settings: Settings) -> Self:
        """Draw the splits and rank the base functions."""
        queries = Queries.of(pool.qid, len(pool.y))
        splits = balanced_splits(
            len(queries),
            trials=settings.trials,
            train=settings.train,
            validation=settings.validation,
            random_state=settings.random_state,
        )
        functions = rank_base_functions(pool, queries.number)
        return cls(pool, settings, queries, settings.as_objects(), splits, functions)

    @property
    def names(self) -> Sequence[str]:
        """Numbers of the trials, from 0."""
        return [str(number) for number in range(len(self.splits))]

    def header(self) -> Header:
        """Return the settings, and a hash of all data that results depend on."""
        relevant, judged = self.pool.y > 0, np.array(list(self.pool.relevant_judged.values()), dtype=np.int64)
        arrays = (np.ascontiguousarray(array).data for array in (self.pool.X, relevant, self.queries.ptr, judged))
        names = "\0".join([*self.queries.ids.tolist(), "", *self.pool.run_names]).encode()
        return Header(self.settings.as_text(), digest([*arrays, names]), versions())

    def ready(self, names: Sequence[str]) -> Iterator[Self]:
        """Compute features within queries once for all trials."""
        maps = dict.fromkeys(model.features for model in self.models)
        read = {features: features.within_queries(self.pool.X, self.queries.number) for features in maps}
        return repeat(evolve(self, read=read), len(names))

    def cases(self, name: str) -> Iterator[Case]:
        """Yield the variants: models read all base functions, or all but the best one."""
        for variant in self.settings.variants:
            columns = np.sort(self._columns(variant))
            train, validation, test = (self._query_set(queries, columns) for queries in self.splits[int(name)])
            yield Case(variant, f"trial {name}, {variant}", self.models, (train, validation, test))

    def test(self, scores: Vector, queries: QuerySet) -> tuple[Mapping[str, float], Mapping[str, Vector]]:
        """Return average precision and shares of ties."""
        return measures_of(scores, queries.y > 0.0, queries.queries.number)

    def weights(self, group: str, weights: Vector, X: Any) -> Vector | None:
        """Return the weights of base functions, best first; for indicators, sum the weights of each function."""
        if len(weights) != X.shape[1]:
            return None
        columns = self._columns(group)
        if isinstance(X, BinnedMatrix):
            of_feature = np.repeat(np.arange(len(columns)), np.diff(X.offsets))
            weights = np.bincount(of_feature, weights, len(columns)).astype(np.float64)
        return weights[np.searchsorted(np.sort(columns), columns)] if len(weights) == len(columns) else None

    def contradiction(self, trial: Trial) -> str:
        """Return a difference of a trial from the plan: other queries, variants or models."""
        names = {model.name for model in self.models}
        same = (
            trial.name in self.names
            and (trial.train, trial.validation, trial.test) == self._ids(self.splits[int(trial.name)])
            and trial.fits.keys() == set(self.settings.variants)
            and all(fits.keys() == names for fits in trial.fits.values())
        )
        return "" if same else "other queries, variants or models"

    def results(self, header: Header, trials: tuple[Trial, ...]) -> Results:
        """Return the results, with the counts of the pool."""
        pool, queries = self.pool, self.queries
        counts = (queries.ids.tolist(), queries.sizes.tolist(), pool.relevant.values(), pool.relevant_judged.values())
        return Results(
            header=header,
            queries=tuple(map(Query, *counts)),
            left_out=dict(pool.left_out),
            functions=self.functions,
            trials=trials,
        )

    def _columns(self, variant: str) -> IntVector:
        """Return the columns of the base functions that models read, the best function's first."""
        best_first = np.array([self.pool.run_names.index(function.name) for function in self.functions])
        return {WITH_BEST: best_first, WITHOUT_BEST: best_first[1:]}[variant]

    def _query_set(self, queries: Sequence[int], columns: IntVector) -> QuerySet:
        rows, numbers = self.queries.rows(queries), list(queries)
        return QuerySet(
            read=lambda features: self.read[features][np.ix_(rows, columns)],
            y=(self.pool.y[rows] > 0).astype(np.float64),
            queries=Queries.of_sizes(self.queries.sizes[numbers], self.queries.ids[numbers]),
        )

    def _ids(self, split: Split) -> tuple[tuple[str, ...], ...]:
        ids = self.queries.ids
        return tuple(tuple(ids[list(part)].tolist()) for part in split)


def measures_of(
    scores: Vector, relevant: BoolVector, query: IntVector
) -> tuple[Mapping[str, float], Mapping[str, Vector]]:
    """Return means of a ranker's measures, and values of queries, by name; NaN scores are tied last."""
    missing = np.isnan(scores)
    retrieved = np.bincount(query, ~missing)
    lists = rank_lists(np.where(missing, -np.inf, scores), relevant, query)
    tied = (lists.tied | np.append(lists.tied[1:], False)) & (lists.rank <= retrieved[lists.query])
    queries = {MAP: AP().values(lists), TIED: lists.total(tied) / np.maximum(retrieved, 1.0)}
    return {MAP: float(queries[MAP].mean())}, queries


def rank_base_functions(pool: Pool, query: IntVector) -> tuple[BaseFunction, ...]:
    """Return the base functions as rankers, best MAP first."""
    functions = []
    for name, scores in zip(pool.run_names, pool.X.T, strict=True):
        measures, values = measures_of(scores, pool.y > 0, query)
        queries = {measure: tuple(of_queries.tolist()) for measure, of_queries in values.items()}
        share = float((~np.isnan(scores)).mean())
        functions.append(BaseFunction(name=name, retrieved=share, measures=measures, queries=queries))
    return tuple(sorted(functions, key=lambda function: -round(function.mean_ap, 12)))
