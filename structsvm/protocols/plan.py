"""Run a protocol: fit, tune and test models in trials, store each finished trial, and return the results."""

import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from itertools import repeat
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeAlias, TypeVar

import numpy as np
from attrs import field, frozen
from joblib import cpu_count
from sklearn.exceptions import ConvergenceWarning

from structsvm.estimators.choosing import best_of
from structsvm.exceptions import InputError
from structsvm.foundation.compute.compile_progress import compile_seconds
from structsvm.foundation.compute.processes import one_thread, spread
from structsvm.foundation.queries import Queries
from structsvm.foundation.settings import as_path
from structsvm.foundation.storage.records import Header, Kind, count_records, open_records, versions
from structsvm.foundation.types import Vector
from structsvm.protocols.feature_maps import FeatureMap
from structsvm.protocols.model import Candidate, ProtocolModel
from structsvm.protocols.results import Fit, Results, Trial

R = TypeVar("R", bound=Results)

Progress: TypeAlias = Callable[[int, int], None]
"""Receives the numbers of finished and of all trials or folds, at the start and after each trial or fold."""

Measured: TypeAlias = tuple[Mapping[str, float], Mapping[str, tuple[float, ...]]]
"""Means of measures over the test queries by name, and values of some of them for each query, shape (Q,) each."""

TRIALS, FOLDS = "trials.jsonl", "folds.jsonl"
"""Files of finished trials: of an experiment, and of a benchmark."""


@frozen(eq=False)
class QuerySet:
    """A set of queries, with the rows of each query together; ``read`` returns the features of a feature map."""

    read: Callable[[FeatureMap], Any]
    y: Vector = field(repr=False)
    queries: Queries


@frozen(eq=False)
class Case:
    """Models with the same ``sets`` of queries; ``group`` is the key in `Trial.fits`, ``where`` the place in errors."""

    group: str
    where: str
    models: Sequence[ProtocolModel]
    sets: tuple[QuerySet, QuerySet, QuerySet]


class Plan(ABC, Generic[R]):
    """Base class of protocols: trials, the queries and models of each trial, and measures; must be picklable."""

    kind: ClassVar[Kind[Any]]
    file: ClassVar[str]
    expected_warnings: ClassVar[tuple[str, ...]] = ()
    """Beginnings of warnings that trials do not show."""

    measures_each_value: ClassVar[tuple[str, ...]] = ()
    """Sets besides validation on which to measure every value of the hyper-parameter: "train", "test"."""

    @property
    @abstractmethod
    def names(self) -> Sequence[str]:
        """Names of all trials, in order."""

    @abstractmethod
    def header(self) -> Header:
        """Return settings, data and versions, which identify the plan of stored trials."""

    @abstractmethod
    def cases(self, name: str) -> Iterator[Case]:
        """Yield the cases of a trial."""

    @abstractmethod
    def mean(self, scores: Vector, queries: QuerySet) -> float:
        """Return the mean over queries of the measure that chooses hyper-parameters."""

    @abstractmethod
    def test(self, scores: Vector, queries: QuerySet) -> Measured:
        """Return all measures of the picked model."""

    def weights(self, group: str, weights: Vector, X: Any) -> Vector | None:
        """Return the weights to store, given the weights of the training features X; None: store none."""
        return None

    @abstractmethod
    def results(self, header: Header, trials: tuple[Any, ...], folder: Path | None) -> R:
        """Return the results, and write their files to the folder."""

    def require(self, trial: Any, path: Path) -> None:
        """Raise InputError if a stored trial does not match the settings."""

    def ready(self, names: Sequence[str]) -> Iterator[Self]:
        """Yield the plan for each missing trial, with all data that the trial needs."""
        return repeat(self, len(names))

    def trial(self, name: str, case: Case, fits: dict[str, dict[str, Fit]], seconds: float) -> Trial:
        """Return a trial, given one of its cases and all its fits."""
        train, validation, test = (tuple(map(str, each.queries.ids.tolist())) for each in case.sets)
        one, two, three = (len(each.y) for each in case.sets)
        return Trial(
            name=name,
            train=train,
            validation=validation,
            test=test,
            documents=(one, two, three),
            seconds=seconds,
            fits=fits,
        )


def run_trial(plan: Plan[Any], name: str) -> Trial:
    """Run one trial in one thread, so that results do not depend on the number of threads."""
    began = time.perf_counter()
    with one_thread(), warnings.catch_warnings():
        # `fit_models` counts the convergence warnings of training.
        warnings.simplefilter("ignore", ConvergenceWarning)
        for beginning in plan.expected_warnings:
            warnings.filterwarnings("ignore", beginning, UserWarning)
        fits = {}
        for case in plan.cases(name):
            fits[case.group] = fit_models(case, plan)
    return plan.trial(name, case, fits, time.perf_counter() - began)


def run_plan(
    plan: Plan[R], folder: Path | None, *, n_jobs: int | None, progress: Progress | None, replace: bool = False
) -> R:
    """Run the trials that the folder lacks, and return all results; ``replace`` drops trials of another plan."""
    header = plan.header()
    path = None if folder is None else folder / plan.file
    with nullcontext() if path is None else open_records(path, header, plan.kind, replace=replace) as kept:
        done: dict[str, Any] = {}
        if kept:
            for trial in kept.parts:
                plan.require(trial, kept.path)
                done[trial.name] = trial
        missing = [name for name in plan.names if name not in done]
        if progress:
            progress(len(done), len(plan.names))
        if missing and kept:
            kept.require_versions(versions())
        if missing:
            tasks = zip(plan.ready(missing), missing, strict=True)
            with closing(spread(run_trial, tasks, min(n_jobs or cpu_count(), len(missing)))) as finished:
                for trial in finished:
                    if kept:
                        kept.append(trial)
                    done[trial.name] = trial
                    if progress:
                        progress(len(done), len(plan.names))
        trials = tuple(done[name] for name in plan.names)
        return plan.results(kept.header if kept else header, trials, folder)


def count_trials(folder: str | Path) -> int:
    """Return the number of finished trials or folds in the output folder of a protocol; 0 without a folder."""
    return sum(count_records(as_path("folder", folder) / name) for name in (TRIALS, FOLDS))


def different(trial: str, path: Path, what: str) -> InputError:
    """Return the error for a stored trial that does not match the settings."""
    return InputError(
        f"trial {trial} in {path} has {what} than this experiment: remove its line to run the trial again"
    )


def fit_models(case: Case, plan: Plan[Any]) -> dict[str, Fit]:
    """Fit, pick and test models; return fits by name. Models that read the same features share one matrix."""
    found: dict[str, Fit] = {}
    for features in dict.fromkeys(model.features for model in case.models):
        readers = [model for model in case.models if model.features == features]
        with naming_model(readers[0], case.where):
            read = [each.read(features) for each in case.sets]
            transformer = features.transformer().fit(read[0])
            matrices = [transformer.transform(each) for each in read]
        for model in readers:
            with naming_model(model, case.where):
                found[model.name] = _fit(model, matrices, case, plan)
    return {model.name: found[model.name] for model in case.models}


def _fit(model: ProtocolModel, matrices: Sequence[Any], case: Case, plan: Plan[Any]) -> Fit:
    train, validation, test = case.sets
    compiled = compile_seconds()
    with _unconverged() as warned:
        candidates = model.candidates(matrices[0], train.y, train.queries.number)

    def scores(of: Candidate, which: int) -> Vector:
        return of.scores(matrices[which], case.sets[which].queries.number)

    validated = tuple(plan.mean(scores(each, 1), validation) for each in candidates)
    chosen = best_of(validated)
    further: dict[str, Any] = {}
    if "train" in plan.measures_each_value:
        further["train"] = tuple(plan.mean(scores(each, 0), train) for each in candidates)
    if "test" in plan.measures_each_value:
        tried = [scores(each, 2) for each in candidates]
        further["test"] = tuple(plan.mean(each, test) for each in tried)
        measures, queries = plan.test(tried[chosen], test)
    else:
        measures, queries = plan.test(scores(candidates[chosen], 2), test)
    learned = candidates[chosen].weights
    kept = None if learned is None else plan.weights(case.group, learned, matrices[0])
    return Fit(
        measures=measures,
        queries=queries,
        values=tuple(each.value for each in candidates),
        validation=validated,
        seconds=tuple(each.seconds for each in candidates),
        gaps=tuple(each.gap for each in candidates),
        chosen=chosen,
        features=matrices[0].shape[1],
        weights=None if kept is None else tuple(np.asarray(kept).tolist()),
        warm_started=model.warm_started,
        unconverged=len(warned),
        compile_seconds=compile_seconds() - compiled,
        **further,
    )


@contextmanager
def _unconverged() -> Iterator[list[str]]:
    """Collect convergence warnings; show other warnings as usual."""
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


@contextmanager
def naming_model(model: ProtocolModel, where: str) -> Iterator[None]:
    """Add the model and the place to messages of ValueErrors, and of scikit-learn's TypeError for sparse features."""
    try:
        yield
    except ValueError as error:
        raise InputError(f"{model.name} in {where}: {error}") from error
    except TypeError as error:
        if not str(error).startswith("Sparse data was passed"):
            raise
        raise InputError(
            f"{model.name} in {where}: its estimator does not support sparse features: use features=AsGiven(dense=True)"
        ) from error
