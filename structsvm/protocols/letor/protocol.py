"""LETOR's protocol: train, pick on validation MAP, test; fold by fold."""

import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Self, TypeAlias

from attrs import evolve, field, frozen
from joblib import cpu_count
from sklearn.exceptions import ConvergenceWarning

from structsvm.compute.processes import one_thread, spread
from structsvm.data import RankingData, load_letor_parts
from structsvm.exceptions import InputError
from structsvm.metrics import AP
from structsvm.protocols import Candidate, FeatureMap, Model
from structsvm.protocols.letor.catalogue import BestFeature, create_model, installed_model_names
from structsvm.protocols.letor.folds import Fold, find_folds
from structsvm.protocols.letor.measures import measured
from structsvm.protocols.letor.results import Benchmark, FoldResults, Outcome
from structsvm.protocols.pick import Picked, naming, require_models, transformed
from structsvm.queries import Queries
from structsvm.types import IntVector, Vector

Progress: TypeAlias = Callable[[int, int], None]
"""Is shown the number of folds that are done and that of all, at the start and after each fold."""


def benchmark(
    data: str | Path | Sequence[Fold],
    models: str | Model | Sequence[str | Model] | None = None,
    *,
    single_features: bool = False,
    jobs: int | None = None,
    title: str | None = None,
    progress: Progress | None = None,
) -> Benchmark:
    """Train, pick and test models by LETOR's protocol.

    In each fold a model is fitted on the training queries for every value of its hyper-parameter, the
    value with the largest MAP on the validation queries is picked (the first among equals), and that
    model ranks the test queries. A query without relevant documents counts 0. The single feature that
    is best on validation is a further row.

    Parameters
    ----------
    data : folder with folds (`find_folds`), or the folds.
    models : names (`model_names`) or objects, or one alone; None: all that have a name and need
        no package that is not installed.
    single_features : measure every single feature, too.
    jobs : processes, each of which runs one fold at a time, in one thread; None: as many as there are
        processors.
    title : of the results; None: the name of the folder.
    progress : is shown how far the benchmark is.

    Raises
    ------
    InputError : when there are no folds or no models, a file cannot be read, two models have one name, a
        model cannot learn from the data, or no validation or no test document is relevant; it says why.
    """
    made = _made(models)
    rivals = (*made, BestFeature())
    folds = find_folds(data) if isinstance(data, str | Path) else tuple(data)
    _require_different("models", rivals)
    _require_different("folds", folds)
    if title is None:
        title = Path(data).resolve().name if isinstance(data, str | Path) else ""
    if progress:
        progress(0, len(folds))
    found: dict[str, FoldResults] = {}
    tasks = ((fold.located(), rivals, single_features) for fold in folds)
    with closing(spread(run_fold, tasks, min(jobs or cpu_count(), len(folds)))) as finished:
        for results in finished:
            found[results.name] = results
            if progress:
                progress(len(found), len(folds))
    return Benchmark(title, tuple(found[fold.name] for fold in folds))


def _made(models: str | Model | Sequence[str | Model] | None) -> tuple[Model, ...]:
    if models is None:
        models = installed_model_names()
    named = (models,) if isinstance(models, str | Model) or not isinstance(models, Iterable) else tuple(models)
    if not named:
        raise InputError("models is empty: name one at least, or leave it out for all that are installed")
    require_models(named)
    return tuple(create_model(each) if isinstance(each, str) else each for each in named)


def _require_different(what: str, named: Sequence[Model] | Sequence[Fold]) -> None:
    twice = [name for name, times in Counter(each.name for each in named).items() if times > 1]
    if twice or not named:
        problem = f"{twice[0]} is there twice" if twice else "there are none"
        raise InputError(f"{what} must have different names: {problem}")


@frozen(eq=False)
class Part:
    """The queries that have one role in a fold, one after the other.

    Parameters
    ----------
    X : features, shape (rows, d).
    y : grades, shape (rows,).
    qid : number of the query of each row, from 0 and ascending, shape (rows,).
    """

    X: Any = field(repr=False)
    y: Vector = field(repr=False)
    qid: IntVector = field(repr=False)

    @classmethod
    def of(cls, data: RankingData) -> Self:
        """Group the rows of a data set by query."""
        queries = Queries.of(data.qid, len(data.y))
        return cls(*map(queries.grouped, (data.X, data.y, queries.number)))

    @property
    def queries(self) -> int:
        """Number of queries."""
        return int(self.qid[-1]) + 1

    def read_by(self, features: FeatureMap) -> Any:
        """Return what a feature map makes of the documents of each query."""
        return features.within_queries(self.X, self.qid)


def run_fold(fold: Fold, models: Sequence[Model], single_features: bool) -> FoldResults:
    """Run one fold, in one thread, so that its numbers do not depend on how many there are.

    Parameters
    ----------
    fold : its files.
    models : in the order of the tables.
    single_features : measure every single feature, too.
    """
    began = time.perf_counter()
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # those of training are counted
        parts = [Part.of(data) for data in load_letor_parts([fold.train, fold.validation, fold.test])]
        _require_relevant(fold, parts)
        outcomes: dict[str, Outcome] = {}
        for features in dict.fromkeys(model.features for model in models):
            readers = [model for model in models if model.features == features]
            with naming(readers[0], fold.name):
                matrices = transformed(features, [part.read_by(features) for part in parts])
            for model in readers:
                outcomes[model.name] = _tried(model, matrices, parts, fold)
        singles = _features(parts) if single_features else {}
    return FoldResults(
        name=fold.name,
        queries=(parts[0].queries, parts[1].queries, parts[2].queries),
        documents=(len(parts[0].y), len(parts[1].y), len(parts[2].y)),
        outcomes={model.name: outcomes[model.name] for model in models},
        features=singles,
        seconds=time.perf_counter() - began,
    )


def _require_relevant(fold: Fold, parts: Sequence[Part]) -> None:
    """Refuse validation and test queries on which every model would do equally badly."""
    for files, part, role in ((fold.validation, parts[1], "picks nothing"), (fold.test, parts[2], "tells nothing")):
        if not (part.y > 0).any():
            raise InputError(
                f"{fold.name}: no document of {', '.join(map(str, files))} is relevant (a label above 0), so that MAP "
                f"is 0 for every model and {role}: check the labels, or leave the fold out"
            )


def _tried(model: Model, matrices: Sequence[Any], parts: Sequence[Part], fold: Fold) -> Outcome:
    train = parts[0]
    with naming(model, fold.name):
        with _unconverged() as counted:
            candidates = model.candidates(matrices[0], train.y, train.qid)
        return evolve(_picked(candidates, matrices, parts), unconverged=len(counted))


@contextmanager
def _unconverged() -> Iterator[list[str]]:
    """Collect what is said of no convergence; other warnings are shown as ever."""
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


def _picked(candidates: Sequence[Candidate], matrices: Sequence[Any], parts: Sequence[Part]) -> Outcome:
    (_, X_validation, X_test), (_, validation, test) = matrices, parts
    picked = Picked.of(candidates, partial(_map, X=X_validation, part=validation))
    scores = candidates[picked.chosen].scores(X_test, test.qid)
    return Outcome(
        values=picked.values,
        validation=picked.validation,
        seconds=picked.seconds,
        gaps=picked.gaps,
        chosen=picked.chosen,
        measures=measured(scores, test.y, test.qid),
    )


def _map(candidate: Candidate, X: Any, part: Part) -> float:
    return AP().mean(candidate.scores(X, part.qid), part.y, part.qid)


def _features(parts: Sequence[Part]) -> dict[str, Outcome]:
    train = parts[0]
    matrices = [part.X for part in parts]
    each = BestFeature().candidates(train.X, train.y, train.qid)
    return {str(candidate.value): _picked([candidate], matrices, parts) for candidate in each}
