"""Run a protocol: fit, tune and test models in trials, store each finished trial, and return all trials."""

import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from itertools import repeat
from pathlib import Path
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from attrs import field, frozen
from joblib import cpu_count
from sklearn.exceptions import ConvergenceWarning

from structsvm.exceptions import InputError
from structsvm.foundation.compute.compile_progress import compile_seconds
from structsvm.foundation.compute.processes import one_thread, spread
from structsvm.foundation.queries import Queries
from structsvm.foundation.settings import as_path
from structsvm.foundation.storage.records import Header, RecordType, count_records, open_records, versions
from structsvm.foundation.types import Vector
from structsvm.metrics import Measure
from structsvm.protocols.feature_maps import FeatureMap
from structsvm.protocols.model import Candidate, ProtocolModel
from structsvm.protocols.results import ModelFit, Trial
from structsvm.training.choose import FittedCandidate, HeldScores, choose

Progress: TypeAlias = Callable[[int, int], None]
"""Receives the numbers of finished and of all trials or folds, at the start and after each trial or fold."""

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
    """Models with the same training, validation and test queries.

    ``group`` is the key in `Trial.fits`, and ``where`` the place in error messages.
    """

    group: str
    where: str
    models: Sequence[ProtocolModel]
    sets: tuple[QuerySet, QuerySet, QuerySet]


class Plan(ABC):
    """Base class of protocols: trials, the queries and models of each trial, and measures; must be picklable."""

    kind: ClassVar[RecordType[Any]]
    file: ClassVar[str]
    expected_warnings: ClassVar[tuple[str, ...]] = ()
    """Beginnings of warnings that trials do not show."""

    tests_each_value: ClassVar[bool] = False
    """Whether to measure every value of the hyper-parameter on the test queries, too."""

    measure: Measure
    """Measure whose mean over the validation queries chooses hyper-parameters."""

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
    def test(self, scores: Vector, queries: QuerySet) -> tuple[Mapping[str, float], Mapping[str, Vector]]:
        """Return the means of all measures of the chosen model by name, and the values of queries to store."""

    def weights(self, group: str, weights: Vector, X: Any) -> Vector | None:
        """Return the weights to store, given the weights of the training features X; None: store none."""
        return None

    def contradiction(self, trial: Any) -> str:
        """Return the contents of a stored trial that do not match the settings; "" if all match."""
        return ""

    def ready(self, names: Sequence[str]) -> Iterator[Self]:
        """Yield the plan for each missing trial, with all data that the trial needs."""
        return repeat(self, len(names))


def run_plan(
    plan: Plan, folder: Path | None, *, n_jobs: int | None, progress: Progress | None, replace: bool = False
) -> tuple[Header, tuple[Any, ...]]:
    """Run the trials that the folder lacks; return the header and all trials.

    ``replace`` drops stored trials of another plan.
    """
    header = plan.header()
    path = None if folder is None else folder / plan.file
    with nullcontext() if path is None else open_records(path, header, plan.kind, replace=replace) as records:
        done: dict[str, Any] = {}
        for trial in records.parts if records else ():
            contradiction = plan.contradiction(trial)
            if contradiction:
                raise InputError(
                    f"trial {trial.name} in {path} has {contradiction} than this experiment: remove its line to run "
                    "the trial again"
                )
            done[trial.name] = trial
        missing = [name for name in plan.names if name not in done]
        if progress:
            progress(len(done), len(plan.names))
        if missing:
            if records:
                records.require_versions(versions())
            tasks = zip(plan.ready(missing), missing, strict=True)
            with closing(spread(run_trial, tasks, min(n_jobs or cpu_count(), len(missing)))) as finished:
                for trial in finished:
                    if records:
                        records.append(trial)
                    done[trial.name] = trial
                    if progress:
                        progress(len(done), len(plan.names))
        return records.header if records else header, tuple(done[name] for name in plan.names)


def count_trials(folder: str | Path) -> int:
    """Return the number of finished trials or folds in the output folder of a protocol; 0 without a folder."""
    return sum(count_records(as_path("folder", folder) / name) for name in (TRIALS, FOLDS))


def run_trial(plan: Plan, name: str) -> Trial:
    """Run one trial in one thread, so that results do not depend on the number of threads."""
    began = time.perf_counter()
    with one_thread(), warnings.catch_warnings():
        # `tuned` counts the convergence warnings of training.
        warnings.simplefilter("ignore", ConvergenceWarning)
        for beginning in plan.expected_warnings:
            warnings.filterwarnings("ignore", beginning, UserWarning)
        fits = {}
        for case in plan.cases(name):
            fits[case.group] = fit_models(case, plan)
    train, validation, test = (tuple(map(str, part.queries.ids.tolist())) for part in case.sets)
    one, two, three = (len(part.y) for part in case.sets)
    return Trial(name, train, validation, test, (one, two, three), time.perf_counter() - began, fits)


def fit_models(case: Case, plan: Plan) -> dict[str, ModelFit]:
    """Fit, tune and test models; return fits by name. Models that read the same features share one matrix."""
    fits: dict[str, ModelFit] = {}
    for features in dict.fromkeys(model.features for model in case.models):
        readers = [model for model in case.models if model.features == features]
        with naming_model(readers[0], case.where):
            raw = [part.read(features) for part in case.sets]
            transformer = features.transformer().fit(raw[0])
            matrices = [transformer.transform(X) for X in raw]
        for model in readers:
            with naming_model(model, case.where):
                fits[model.name] = tuned(model, matrices, case, plan)
    return {model.name: fits[model.name] for model in case.models}


def tuned(model: ProtocolModel, matrices: Sequence[Any], case: Case, plan: Plan) -> ModelFit:
    """Fit a model for each value of its hyper-parameter, choose the first best on validation, and test it.

    ``matrices`` are the features of the training, validation and test queries.
    """
    train, validation, test = zip(matrices, case.sets, strict=True)
    compiled, messages = compile_seconds(), list[str]()

    def fit(part: tuple[Any, QuerySet], fold: int) -> list[FittedCandidate]:
        X, queries = part
        with _unconverged(messages):
            return [FittedCandidate(candidate) for candidate in model.candidates(X, queries.y, queries.queries.number)]

    def score(candidate: Candidate, part: tuple[Any, QuerySet]) -> HeldScores:
        X, queries = part
        qid = queries.queries.number
        return HeldScores((plan.measure.mean(candidate.scores(X, qid), queries.y, qid),))

    choice = choose([(train, validation)], 1, fit, score, quiet=False)
    (fold,) = choice.folds
    candidates: list[Candidate] = [fitted.fitted for fitted in fold.candidates]
    best, (X, queries) = candidates[choice.best], test
    measures, by_query = plan.test(best.scores(X, queries.queries.number), queries)
    weights = None if best.weights is None else plan.weights(case.group, best.weights, matrices[0])
    return ModelFit(
        measures=measures,
        queries={name: tuple(values.tolist()) for name, values in by_query.items()},
        validation=tuple(held.scores[0] for held in fold.scores),
        test=tuple(score(candidate, test).scores[0] for candidate in candidates if plan.tests_each_value),
        values=tuple(candidate.value for candidate in candidates),
        seconds=tuple(candidate.seconds for candidate in candidates),
        gaps=tuple(candidate.gap for candidate in candidates),
        chosen=choice.best,
        features=matrices[0].shape[1],
        weights=None if weights is None else tuple(np.asarray(weights).tolist()),
        warm_started=model.warm_started,
        unconverged=len(messages),
        compile_seconds=compile_seconds() - compiled,
    )


@contextmanager
def _unconverged(messages: list[str]) -> Iterator[None]:
    """Collect the messages of convergence warnings; show other warnings as usual."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", ConvergenceWarning)
        show = warnings.showwarning

        def collect(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if issubclass(category, ConvergenceWarning):
                messages.append(str(message))
            else:
                show(message, category, *where, **more)

        warnings.showwarning = collect
        yield


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
