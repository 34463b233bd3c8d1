"""LETOR's protocol: train, pick on the validation queries, test; fold by fold."""

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve, field, frozen
from sklearn.exceptions import ConvergenceWarning

from structsvm.compute.processes import one_thread
from structsvm.data import RankingData
from structsvm.exceptions import InputError
from structsvm.metrics import Measure
from structsvm.normalisation import learned, normalisation_named
from structsvm.protocols.feature_maps import AsGiven, FeatureMap
from structsvm.protocols.letor.catalogue import create_model, installed_model_names
from structsvm.protocols.letor.fold_reading import checked_columns, read_fold
from structsvm.protocols.letor.folds import Fold, find_folds
from structsvm.protocols.letor.records import FOLDS, NAME, header_of
from structsvm.protocols.letor.results import Benchmark, FoldResults, Outcome, as_reported, measured, name_of
from structsvm.protocols.model import Candidate, Model, as_models, require_different_names
from structsvm.protocols.pick import Progress, QuerySet, fit_models
from structsvm.protocols.unfinished import run_missing
from structsvm.queries import Queries
from structsvm.registry import measures
from structsvm.settings import as_list, require_kind
from structsvm.storage.records import open_records
from structsvm.types import IntVector, Vector


@frozen
class BestFeature(Model):
    """The single feature that ranks the validation queries best, the larger its value the further ahead.

    Its candidates are all features; nothing is trained.

    Parameters
    ----------
    name, features : see `structsvm.protocols.Model`; by default it reads the features as they are given.
    names : names of the features, in their order; none for those of which the number is all there is.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm.protocols.letor import BestFeature
    >>> X, y, qid = np.array([[0.2, 3.0], [0.9, 1.0]]), np.array([0.0, 1.0]), np.zeros(2, np.int64)
    >>> for candidate in BestFeature(names=("tf", "idf")).candidates(X, y, qid):
    ...     print(candidate.value, candidate.scores(X, qid))
    feature 1 (tf) [0.2 0.9]
    feature 2 (idf) [3. 1.]
    """

    name: str = "Best feature"
    features: FeatureMap = field(factory=AsGiven)
    names: tuple[str, ...] = field(default=(), repr=False)

    def candidates(self, X: Any, y: Vector, qid: IntVector) -> Sequence[Candidate]:
        """Return the features, numbered from 1 as in LETOR's files, and with their names."""
        return [Candidate(self._called(k), partial(_column, k), 0.0) for k in range(X.shape[1])]

    def _called(self, k: int) -> str:
        return f"feature {k + 1}" + (f" ({self.names[k]})" if k < len(self.names) else "")


def _column(k: int, X: Any, _qid: IntVector) -> Vector:
    column = X[:, [k]]
    return np.asarray(column.toarray() if hasattr(column, "toarray") else column, dtype=np.float64).ravel()


def benchmark(
    data: str | Path | Sequence[Fold],
    models: str | Model | Sequence[str | Model] | None = None,
    *,
    measure: str | Measure = "map",
    single_features: bool = False,
    jobs: int | None = None,
    title: str | None = None,
    out: str | Path | None = None,
    replace: bool = False,
    normalise: str | None = None,
    columns: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> Benchmark:
    """Train, pick and test models by LETOR's protocol.

    In each fold a model is fitted on the training queries for every value of its hyper-parameter, the
    value with the largest ``measure`` on the validation queries is picked (the first among equals), and that
    model ranks the test queries. A query without relevant documents counts 0. The single feature that
    is best on validation is a further row.

    Parameters
    ----------
    data : folder with folds (`find_folds`), or the folds.
    models : names (`model_names`) or objects, or one alone; None: all that have a name and need
        no package that is not installed.
    measure : measure that picks and that compares models query by query: by name ("map", "ndcg@10", "p@5", ...) or as
        an object. NDCG at 1 to 10 by its name is LETOR's, as in the tables.
    single_features : measure every single feature, too.
    jobs : processes, each of which runs one fold at a time, in one thread; None: as many as there are
        processors.
    title : title of the results; None: the name of the folder.
    out : folder that finished folds are kept in, a file ``folds.jsonl``: the same benchmark, ended in any way, goes on
        from there and comes to the same results. None: they are not kept.
    replace : whether folds of another benchmark that are there may be dropped.
    normalise : what is done to the features that all models read: "query-min-max", "query-z-score" or "standard" (by
        the training queries of a fold); see `Ranker`. None: nothing.
    columns : of files that are tables, the names of their columns, those of ``label``, ``qid``, ``docid`` and
        ``features`` that differ from the defaults of `structsvm.data.load_table`: ``{"label": "clicks"}``. Where it is
        given, all files are tables.
    progress : is shown how far the benchmark is.

    Raises
    ------
    InputError : when there are no folds or no models, a file cannot be read, two models have one name, a
        model cannot learn from the data, no validation or no test document is relevant, or ``out`` belongs to another
        benchmark; it says why.
    KeyboardInterrupt : after Ctrl-C; finished folds are kept.

    Examples
    --------
    >>> import tempfile
    >>> from structsvm.data import load_digits_queries
    >>> from structsvm.protocols.letor import benchmark, write_folds
    >>> data, _ = load_digits_queries(n_train=9, n_candidates=20)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_folds(folder, data, folds=3)
    ...     results = benchmark(folder, ["CombSUM", "Borda"], measure="ndcg@10", jobs=1)
    >>> for name in results.models:
    ...     print(f"{name:12} {results.mean(name, 'ndcg@10'):.2f}")
    CombSUM      0.68
    BordaCount   0.68
    Best feature 0.47
    """
    normalise = normalisation_named("normalise", normalise)
    picking = as_reported(measures.create(measure))
    chosen = as_models(installed_model_names() if models is None else models)
    if not chosen:
        raise InputError("models is empty: name one at least, or leave it out for all that are installed")
    rivals = (*(create_model(each) if isinstance(each, str) else each for each in chosen), BestFeature())
    if isinstance(data, str | Path):
        folds = find_folds(data)
    else:
        folds = tuple(as_list("data", data, "a folder, or a list of folds"))
    for fold in folds:
        require_kind("each of data", fold, Fold, "a Fold")
    require_different_names("models", rivals)
    require_different_names("folds", folds)
    if title is None:
        title = Path(data).resolve().name if isinstance(data, str | Path) else ""
    named = checked_columns(columns)
    header = header_of(folds, rivals, picking, single_features, normalise, named)
    with open_records(Path(out) / NAME, header, FOLDS, replace=replace) if out else nullcontext() as kept:
        by_name = {fold.name: fold for fold in folds}

        def tasks(names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
            return ((by_name[name].located(), rivals, picking, single_features, normalise, named) for name in names)

        found = run_missing(kept, FOLDS, list(by_name), run_fold, tasks, jobs=jobs, progress=progress)
    return Benchmark(title, found, name_of(picking))


def run_fold(
    fold: Fold,
    models: Sequence[Model],
    measure: Measure,
    single_features: bool,
    normalise: str | None = None,
    columns: Mapping[str, Any] | None = None,
) -> FoldResults:
    """Run one fold, in one thread, so that its numbers do not depend on how many there are.

    Parameters
    ----------
    fold : its files.
    models : in the order of the tables.
    measure : what picks.
    single_features : measure every single feature, too.
    normalise, columns : see `benchmark`.
    """
    began = time.perf_counter()
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # those of training are counted
        read, names = read_fold(fold, columns)
        sets = [_query_set(data) for data in (read if normalise is None else _normalised(read, normalise))]
        _require_relevant(fold, sets, measure)
        named = [evolve(model, names=names) if isinstance(model, BestFeature) else model for model in models]
        outcomes = fit_models(named, sets, fold.name, partial(_fit, sets=sets, measure=measure))
        singles = _single_features(sets, names, measure) if single_features else {}
    train, validation, test = sets
    return FoldResults(
        name=fold.name,
        queries=(len(train.queries), len(validation.queries), len(test.queries)),
        documents=(len(train.y), len(validation.y), len(test.y)),
        outcomes=outcomes,
        features=singles,
        seconds=time.perf_counter() - began,
    )


def _normalised(sets: Sequence[RankingData], normalise: str) -> list[RankingData]:
    """Return data sets with features normalised as the first one says."""
    normaliser = learned(normalise, sets[0].X)
    return [evolve(data, X=normaliser.rows(data.X, Queries.of(data.qid, len(data.y)))) for data in sets]


def _query_set(data: RankingData) -> QuerySet:
    """Return a data set with the rows of each query together."""
    given = Queries.of(data.qid, len(data.y))
    X, y = given.grouped(data.X), given.grouped(data.y)
    queries = Queries.of_sizes(given.sizes, given.ids)
    return QuerySet(lambda features: features.within_queries(X, queries.number), y, queries)


def _require_relevant(fold: Fold, sets: Sequence[QuerySet], measure: Measure) -> None:
    """Refuse validation and test queries on which every model would do equally badly."""
    for files, queries, role in ((fold.validation, sets[1], "picks nothing"), (fold.test, sets[2], "tells nothing")):
        if not (queries.y > 0).any():
            raise InputError(
                f"{fold.name}: no document of {', '.join(map(str, files))} is relevant (a label above 0), so that "
                f"{name_of(measure)} is 0 for every model and {role}: check the labels, or leave the fold out"
            )


def _fit(model: Model, matrices: Sequence[Any], sets: Sequence[QuerySet], measure: Measure) -> Outcome:
    train = sets[0]
    with _unconverged() as counted:
        candidates = model.candidates(matrices[0], train.y, train.queries.number)
    return _picked(candidates, matrices, sets, measure, warm_started=model.warm_started, unconverged=len(counted))


@contextmanager
def _unconverged() -> Iterator[list[str]]:
    """Collect the warnings that training did not converge; others are shown as usual."""
    said: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("always", ConvergenceWarning)
        show = warnings.showwarning

        def collect(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if issubclass(category, ConvergenceWarning):
                said.append(str(message))
            else:
                show(message, category, *where, **more)

        warnings.showwarning = collect
        yield said


def _picked(
    candidates: Sequence[Candidate], matrices: Sequence[Any], sets: Sequence[QuerySet], measure: Measure, **known: Any
) -> Outcome:
    """Pick a candidate on the validation queries and measure it on the test queries; `known` are further fields."""
    (_, X_validation, X_test), (_, validation, test) = matrices, sets

    def validated(candidate: Candidate) -> float:
        number = validation.queries.number
        return measure.mean(candidate.scores(X_validation, number), validation.y, number)

    def tested(chosen: int) -> dict[str, Any]:
        number = test.queries.number
        scores = candidates[chosen].scores(X_test, number)
        values = measure.per_query(scores, test.y, number).values
        means = {**measured(scores, test.y, number), name_of(measure): float(values.mean())}
        return {"measures": means, "queries": tuple(values.tolist()), **known}

    return Outcome.of(candidates, validated, tested)


def _single_features(sets: Sequence[QuerySet], names: tuple[str, ...], measure: Measure) -> dict[str, Outcome]:
    train = sets[0]
    matrices = [each.read(AsGiven()) for each in sets]
    each = BestFeature(names=names).candidates(matrices[0], train.y, train.queries.number)
    return {str(candidate.value): _picked([candidate], matrices, sets, measure) for candidate in each}
