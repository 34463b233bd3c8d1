"""The protocol of an experiment: trials over balanced splits, kept as they finish."""

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from structsvm.compute.processes import one_thread
from structsvm.data import Pool
from structsvm.exceptions import InputError
from structsvm.operators import BinnedMatrix
from structsvm.protocols.experiment.collection import Collection
from structsvm.protocols.experiment.records import NAME, TRIALS
from structsvm.protocols.experiment.results import WITH_BEST, WITHOUT_BEST, Fit, Query, Ranked, Results, Trial
from structsvm.protocols.experiment.scoring import Precision, rank_base_functions, score_queries, tied_shares
from structsvm.protocols.experiment.settings import Settings
from structsvm.protocols.experiment.splits import Split, balanced_splits
from structsvm.protocols.feature_maps import FeatureMap
from structsvm.protocols.model import Candidate, Model
from structsvm.protocols.pick import Progress, QuerySet, fit_models
from structsvm.protocols.unfinished import run_missing
from structsvm.queries import Queries
from structsvm.storage.records import Header, open_records, versions
from structsvm.types import IntVector, Vector

RESULTS = "results.json"


def run(
    data: Collection | Pool,
    settings: Settings,
    out: str | Path,
    *,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Results:
    """Run an experiment, or go on with one that was interrupted.

    Yue, Finley, Radlinski and Joachims, "A Support Vector Method for Optimizing Average Precision",
    SIGIR 2007, sections 4 and 5. Each trial trains every model on some queries, picks its
    hyper-parameter by MAP on others, and tests it on the rest. Every finished trial is appended to a
    file in the output folder; a run that was ended in any way goes on from there, and its results are
    the same to the last digit, on any number of processes.

    Parameters
    ----------
    data : queries with the scores of base functions: `Collection.from_arrays`, or the pool of TREC runs
        that `structsvm.data.load_pool` made.
    settings : settings of the experiment; ``Settings()`` are those of the paper.
    out : folder for ``trials.jsonl`` and ``results.json``; made where it does not exist. Of one
        experiment only.
    jobs : processes that run trials; None: as many as there are processors.
    progress : is shown how far the experiment is.

    Raises
    ------
    InputError : when there are too few queries, base functions or relevant documents, or the output
        folder belongs to another experiment; it says why.
    KeyboardInterrupt : after Ctrl-C; finished trials are kept.

    Examples
    --------
    >>> import tempfile
    >>> from structsvm.data import load_digits_runs, pool_runs
    >>> from structsvm.protocols.experiment import Settings, run
    >>> pool = pool_runs(*load_digits_runs(n_queries=5, n_candidates=40, depth=10))
    >>> settings = Settings(trials=5, train=2, validation=1, models=["CombSUM", "Borda"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = run(pool, settings, folder, jobs=1)
    >>> {row.name: round(row.mean, 2) for row in results.rows("with-best")}
    {'CombSUM': 0.55, 'BordaCount': 0.5, 'rows': 0.65, 'euclidean': 0.61, 'cosine': 0.6}
    """
    collection = data if isinstance(data, Collection) else Collection.of_pool(data)
    if WITHOUT_BEST in settings.variants and len(collection.functions) < 2:
        raise InputError(
            "without the best base function there is none left to learn from: give two or more, or leave the "
            "variant 'without-best' out"
        )
    splits = balanced_splits(
        collection.n_queries,
        trials=settings.trials,
        train=settings.train,
        validation=settings.validation,
        seed=settings.seed,
    )
    header = Header(settings.as_text(), collection.fingerprint(), versions())
    folder = Path(out)
    with open_records(folder / NAME, header, TRIALS) as records:
        for trial in records.parts:
            _require_of(trial, settings, splits, folder)
        tested = np.bincount(np.concatenate([split.test for split in splits]), minlength=collection.n_queries)
        functions = rank_base_functions(collection, tested)

        def tasks(numbers: Sequence[int]) -> Iterator[tuple[Any, ...]]:
            models = settings.made()
            maps = dict.fromkeys(model.features for model in models)
            read = {each: each.within_queries(collection.X, collection.queries.number) for each in maps}
            best_first = np.array([collection.functions.index(function.name) for function in functions])
            columns = {WITH_BEST: best_first, WITHOUT_BEST: best_first[1:]}
            columns = {variant: columns[variant] for variant in settings.variants}
            return ((number, splits[number], collection, read, columns, models) for number in numbers)

        trials = run_missing(records, TRIALS, range(settings.trials), run_trial, tasks, jobs=jobs, progress=progress)
        results = Results(
            header=records.header.of_this_format(),
            queries=_queries(collection),
            left_out=collection.left_out,
            functions=functions,
            trials=trials,
        )
        results.save(folder / RESULTS)
    return results


def _queries(collection: Collection) -> tuple[Query, ...]:
    documents = collection.queries.sizes.tolist()
    relevant = np.add.reduceat(collection.relevant.astype(np.int64), collection.ptr[:-1]).tolist()
    return tuple(map(Query, collection.ids, documents, relevant, collection.judged.tolist()))


def _require_of(trial: Trial, settings: Settings, splits: Sequence[Split], folder: Path) -> None:
    """Refuse a trial that these settings do not come to."""
    split = Split(trial.train, trial.validation, trial.test)
    names = {model.name for model in settings.made()}
    if (
        not 0 <= trial.number < len(splits)
        or split != splits[trial.number]
        or trial.fits.keys() != set(settings.variants)
        or any(fits.keys() != names for fits in trial.fits.values())
    ):
        raise InputError(
            f"trial {trial.number} in {folder / NAME} has other queries, variants or models than this experiment: "
            "remove its line, and the trial is run again"
        )


def run_trial(
    number: int,
    split: Split,
    collection: Collection,
    read: Mapping[FeatureMap, Any],
    columns: Mapping[str, IntVector],
    models: Sequence[Model],
) -> Trial:
    """Run a trial, in one thread, so that its numbers do not depend on how many there are.

    Parameters
    ----------
    number : number of the trial.
    split : its queries.
    collection : the data.
    read : what `FeatureMap.within_queries` made of the scores, for every map that a model reads with.
    columns : the columns of these that models read, the best base function's first, by variant.
    models : in the order of the tables.
    """
    began = time.perf_counter()
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the gaps of SVMs are in the results
        warnings.filterwarnings("ignore", "all scores of .* functions are missing", UserWarning)
        fits = {}
        for variant, those in columns.items():
            ascending = np.sort(those)
            sets = [
                _query_set(collection, queries, read, ascending)
                for queries in (split.train, split.validation, split.test)
            ]
            where = f"trial {number}, {variant}"
            fits[variant] = fit_models(
                models, sets, where, partial(_fit, sets=sets, order=np.searchsorted(ascending, those))
            )
    return Trial(number, split.train, split.validation, split.test, time.perf_counter() - began, fits)


def _query_set(
    collection: Collection, queries: Sequence[int], read: Mapping[FeatureMap, Any], columns: IntVector
) -> QuerySet:
    rows = collection.queries.rows(queries)
    return QuerySet(
        read=lambda features: read[features][np.ix_(rows, columns)],
        y=collection.relevant[rows].astype(np.float64),
        queries=Queries.of_sizes(collection.queries.sizes[list(queries)]),
    )


def _fit(model: Model, matrices: Sequence[Any], sets: Sequence[QuerySet], order: IntVector) -> Fit:
    (X_train, X_validation, X_test), (train, validation, test) = matrices, sets

    def mean_ap(candidate: Candidate) -> float:
        return float(_precision(candidate.scores(X_validation, validation.queries.number), validation).ap.mean())

    def tested(chosen: int) -> dict[str, Any]:
        scores = [each.scores(X_test, test.queries.number) for each in candidates]
        precision = [_precision(each, test) for each in scores]
        picked, weights = precision[chosen], _of_functions(candidates[chosen].weights, X_train, len(order))
        return {
            "test": tuple(float(each.ap.mean()) for each in precision),
            "features": X_train.shape[1],
            "ranked": Ranked.of(picked.ap, picked.ap_over_ties, tied_shares(scores[chosen], test.queries.ptr)),
            "precision": tuple(picked.interpolated.mean(axis=0).tolist()),
            "weights": None if weights is None else tuple(weights[order].tolist()),
        }

    candidates = model.candidates(X_train, train.y, train.queries.number)
    return Fit.of(candidates, mean_ap, tested)


def _of_functions(weights: Vector | None, X: Any, functions: int) -> Vector | None:
    """Return weights of base functions for those of features: of indicators, the sums.

    Parameters
    ----------
    weights : of the features; None: there are none.
    X : the features.
    functions : number of base functions, in the order of whose columns the features are.
    """
    if weights is None or len(weights) != X.shape[1]:
        return None
    if isinstance(X, BinnedMatrix):
        of_feature = np.repeat(np.arange(functions), np.diff(X.offsets))
        return np.bincount(of_feature, weights, functions).astype(np.float64)
    return weights if len(weights) == functions else None


def _precision(scores: Vector, those: QuerySet) -> Precision:
    return score_queries(scores, those.y > 0.0, those.queries.ptr)
