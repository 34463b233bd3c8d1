"""The plan of a benchmark: LETOR's protocol, fold by fold."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from hashlib import file_digest
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve, field, frozen

from structsvm.data import RankingData
from structsvm.data.letor.side_files import UNREAD, WEIGHTS, sizes_beside, warn_of_unread
from structsvm.exceptions import InputError
from structsvm.features.scaling.names import scaling_named
from structsvm.features.scaling.scalings import learn_scaling
from structsvm.foundation.queries import Queries
from structsvm.foundation.settings import as_list, as_path, real_name, require_kind
from structsvm.foundation.storage.files import errors_reading
from structsvm.foundation.storage.records import Header, RecordType, digest, versions
from structsvm.foundation.types import IntVector, Vector
from structsvm.metrics import Measure, rank_lists
from structsvm.protocols.catalogue import as_models, needed_package
from structsvm.protocols.feature_maps import AsGiven, FeatureMap
from structsvm.protocols.letor.folds import Fold, checked_columns, find_folds, read_fold
from structsvm.protocols.letor.measures import SHOWN, as_reported, letor_values, name_of
from structsvm.protocols.model import Candidate, ProtocolModel, require_different_names
from structsvm.protocols.plan import FOLDS, Case, Plan, Progress, QuerySet, run_plan
from structsvm.protocols.results import FEATURES, HIGHEST, LOWEST, MODELS, Results, Trial
from structsvm.registry import benchmark_models, measures


@frozen
class BestFeature(ProtocolModel):
    """The single feature that ranks the validation queries best, or a ``column`` without a choice.

    ``feature_names`` are names of the first features.
    """

    name: str = "Best feature"
    features: FeatureMap = field(factory=AsGiven)
    feature_names: tuple[str, ...] = field(default=(), repr=False)
    column: int | None = field(default=None, repr=False)

    def candidates(self, X: Any, y: Vector, qid: IntVector) -> Sequence[Candidate]:
        """Return the features, numbered from 1 as in LETOR's files, and with their names."""
        columns = range(X.shape[1]) if self.column is None else [self.column]
        return [Candidate(self.label(k), partial(_column, k), 0.0) for k in columns]

    def label(self, k: int) -> str:
        """Return the number and the name of a feature."""
        return f"feature {k + 1}" + (f" ({self.feature_names[k]})" if k < len(self.feature_names) else "")


def _column(k: int, X: Any, _qid: IntVector) -> Vector:
    column = X[:, [k]]
    return np.asarray(column.toarray() if hasattr(column, "toarray") else column, dtype=np.float64).ravel()


def benchmark(
    data: str | Path | Sequence[Fold],
    models: str | ProtocolModel | Sequence[str | ProtocolModel] | None = None,
    *,
    measure: str | Measure = "map",
    single_features: bool = False,
    n_jobs: int | None = None,
    title: str | None = None,
    out: str | Path | None = None,
    replace: bool = False,
    normalize: str | None = None,
    columns: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> Results:
    """Train, tune and test models by LETOR's protocol.

    In each fold, a model is fitted on the training queries for every value of its hyper-parameter. The model with the
    largest ``measure`` on the validation queries (the first among equals) ranks the test queries. A query without
    relevant documents counts as 0. A further row of the results is the single feature that is best on validation.

    Parameters
    ----------
    data : folder with folds: ``Fold1`` to ``Fold5`` with ``train.txt``, ``vali.txt`` and ``test.txt``, or ``S1.txt`` to
        ``S5.txt`` for LETOR's rotation; or a list of `Fold`.
    models : one or several names (`structsvm.registry.benchmark_models`) or objects; None: all named models whose
        packages are installed.
    measure : measure that chooses hyper-parameters, and compares models query by query: a name ("map", "ndcg@10",
        "p@5", ...) or an object. "ndcg@1" to "ndcg@10" are LETOR's NDCG.
    single_features : also measure every single feature.
    n_jobs : number of processes, each of which runs one fold at a time, in one thread; None: one per processor.
    title : title of the results; None: the name of the folder.
    out : folder of ``folds.jsonl``, from which an interrupted benchmark resumes with the same results; None: no file.
    replace : drop stored folds of another benchmark.
    normalize : scaling of the features for all models: "query-min-max", "query-z-score" or "standard" (by the training
        queries of a fold); None: no scaling.
    columns : arguments ``label``, ``qid``, ``docid`` and ``features`` of `structsvm.data.load_table`, such as
        ``{"label": "clicks"}``; all files are then read as tables.
    progress : called with the numbers of finished folds and of all folds.

    Raises
    ------
    InputError : no fold or model is given, a file cannot be read, two models have one name, a model cannot learn
        from the data, no validation or no test document is relevant, or ``out`` belongs to another benchmark.
    KeyboardInterrupt : after Ctrl-C; finished folds are stored.

    Examples
    --------
    >>> from structsvm.data import load_digits_queries
    >>> from structsvm.protocols.letor import write_folds
    >>> data, _ = load_digits_queries(n_train=9, n_candidates=20)
    >>> _ = write_folds("folds", data, folds=3)
    >>> results = benchmark("folds", ["CombSUM", "Borda"], measure="ndcg@10", n_jobs=1)
    >>> for name in results.models:
    ...     print(f"{name:12} {results.mean(name, 'ndcg@10'):.2f}")
    CombSUM      0.68
    BordaCount   0.67
    Best feature 0.47
    """
    chooser = as_reported(measures.create(measure))
    rivals = models_of(models)
    if isinstance(data, str | Path):
        folds = find_folds(data)
    else:
        folds = tuple(as_list("data", data, "a folder, or a list of folds"))
    for fold in folds:
        require_kind("each of data", fold, Fold, "a Fold")
    require_different_names("models", rivals)
    require_different_names("folds", folds)
    paths = dict.fromkeys(Path(path) for fold in folds for path in (*fold.train, *fold.validation, *fold.test))
    warn_of_unread(list(paths), (*WEIGHTS, *UNREAD), "A benchmark counts all queries alike")
    if title is None:
        title = real_name(as_path("data", data)) if isinstance(data, str | Path) else ""
    plan = BenchmarkPlan(
        folds={fold.name: fold.located() for fold in folds},
        models=rivals,
        measure=chooser,
        single_features=single_features,
        normalize=scaling_named("normalize", normalize),
        columns=checked_columns(columns),
    )
    folder = as_path("out", out) if out else None
    header, trials = run_plan(plan, folder, n_jobs=n_jobs, progress=progress, replace=replace)
    return Results(header=header, trials=trials, title=title)


def models_of(models: str | ProtocolModel | Sequence[str | ProtocolModel] | None) -> tuple[ProtocolModel, ...]:
    """Return the models of the tables with the best single feature; None means all installed models."""
    installed = (name for name in benchmark_models.names() if not needed_package(name))
    objects = as_models(list(installed) if models is None else models, benchmark_models)
    if not objects:
        raise InputError("models is empty: name at least one, or leave it out for all installed models")
    return (*objects, *(() if any(isinstance(model, BestFeature) for model in objects) else (BestFeature(),)))


@frozen(eq=False, kw_only=True)
class BenchmarkPlan(Plan):
    """The folds of a benchmark; see `benchmark`."""

    kind = RecordType(
        part=Trial,
        key=lambda trial: trial.name,
        work="benchmark",
        name="fold",
        names="folds",
        data="files of the folds",
        removal="replace it with --force (replace=True)",
    )
    file = FOLDS

    folds: Mapping[str, Fold]
    models: tuple[ProtocolModel, ...]
    measure: Measure
    single_features: bool
    normalize: str | None
    columns: dict[str, Any] | None

    @property
    def names(self) -> Sequence[str]:
        """Names of the folds."""
        return list(self.folds)

    def header(self) -> Header:
        """Return the settings, and a hash of the files of the folds and their group sizes."""
        settings = {
            "models": {model.name: repr(model) for model in self.models},
            "folds": list(self.folds),
            "measure": name_of(self.measure),
            "single features": self.single_features,
        }
        if self.normalize is not None:
            settings["normalize"] = self.normalize
        if self.columns:
            settings["columns"] = dict(self.columns)
        files = [path for fold in self.folds.values() for part in fold.parts for path in part]
        paths = [path for file in files for path in (file, sizes_beside(file)) if path]
        content = {path: _content(path) for path in dict.fromkeys(paths)}
        return Header(settings, digest(content[path] for path in paths), versions())

    def cases(self, name: str) -> Iterator[Case]:
        """Yield the models, and then the single features if requested."""
        fold = self.folds[name]
        data, feature_names = read_fold(fold, self.columns)
        train, validation, test = map(_query_set, _scaled(data, self.normalize))
        sets = (train, validation, test)
        _require_relevant(fold, sets, self.measure)
        best = BestFeature(feature_names=feature_names)
        yield Case(MODELS, name, [best if isinstance(model, BestFeature) else model for model in self.models], sets)
        if self.single_features:
            columns = range(data[0].X.shape[1])
            yield Case(FEATURES, name, [evolve(best, name=best.label(k), column=k) for k in columns], sets)

    def test(self, scores: Vector, queries: QuerySet) -> tuple[Mapping[str, float], Mapping[str, Vector]]:
        """Return the means of LETOR's measures and of the validation measure, and the values of the shown measures."""
        qid, name = queries.queries.number, name_of(self.measure)
        values = {**letor_values(scores, queries.y, qid), name: self.measure.per_query(scores, queries.y, qid).values}
        stored = {shown: values[shown] for shown in (name, *SHOWN)}
        lists = rank_lists(scores, queries.y, qid)
        if lists.straddling is not None:
            stored[LOWEST], stored[HIGHEST] = self.measure.ends_over_ties(lists)
        return {measure: float(of_queries.mean()) for measure, of_queries in values.items()}, stored


def _scaled(sets: Sequence[RankingData], normalize: str | None) -> Sequence[RankingData]:
    """Return data sets with features normalized by the statistics of the first data set."""
    if normalize is None:
        return sets
    scaling = learn_scaling(normalize, sets[0].X)
    return [evolve(data, X=scaling.rows(data.X, Queries.of(data.qid, len(data.y)))) for data in sets]


def _query_set(data: RankingData) -> QuerySet:
    """Return a data set with the rows of each query together."""
    unsorted = Queries.of(data.qid, len(data.y))
    X, y = unsorted.grouped(data.X), unsorted.grouped(data.y)
    queries = Queries.of_sizes(unsorted.sizes, unsorted.ids)
    return QuerySet(lambda features: features.within_queries(X, queries.number), y, queries)


def _require_relevant(fold: Fold, sets: Sequence[QuerySet], measure: Measure) -> None:
    """Raise InputError if the measure is 0 for every model on the validation or test queries."""
    for files, queries, lost in (
        (fold.validation, sets[1], "cannot choose between values"),
        (fold.test, sets[2], "cannot compare models"),
    ):
        if not (queries.y > 0).any():
            raise InputError(
                f"{fold.name}: no document of {', '.join(map(str, files))} is relevant (a label above 0), so "
                f"{name_of(measure)} is 0 for every model and {lost}: check the labels, or leave the fold out"
            )


def _content(path: Path) -> bytes:
    with errors_reading(path), path.open("rb") as file:
        return file_digest(file, "sha256").digest()
