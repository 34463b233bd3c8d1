"""The protocol of an experiment: trials over balanced splits, kept as they finish."""

import platform
from collections.abc import Callable
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from typing import TypeAlias

import numpy as np

from structsvm.compute.processes import spread
from structsvm.data import Pool
from structsvm.exceptions import InputError
from structsvm.protocols.experiment.baselines import rank_base_functions
from structsvm.protocols.experiment.collection import Collection
from structsvm.protocols.experiment.records import open_records
from structsvm.protocols.experiment.results import WITHOUT_BEST, Header, Query, Results
from structsvm.protocols.experiment.settings import Settings
from structsvm.protocols.experiment.splits import balanced_splits
from structsvm.protocols.experiment.trial import Material, run_trial

Progress: TypeAlias = Callable[[int, int], None]
"""Is shown the number of trials that are done and that of all, at the start and after each trial."""

RESULTS = "results.json"

_COMPUTING = ("structural-svm", "numpy", "scipy", "numba", "scikit-learn")


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
    settings : of the experiment; ``Settings()`` are those of the paper.
    out : folder for ``trials.jsonl`` and ``results.json``; made where it does not exist. Of one
        experiment only.
    jobs : processes that run trials; None: as many as there are processors.
    progress : is shown how far the experiment is.

    Raises
    ------
    InputError : when there are too few queries, base functions or relevant documents, or the output
        folder belongs to another experiment; it says why.
    KeyboardInterrupt : after Ctrl-C; finished trials are kept.
    """
    collection = data if isinstance(data, Collection) else of_pool(data)
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
    header = Header(settings.as_text(), collection.fingerprint(), _versions())
    folder = Path(out)
    with open_records(folder, header) as records:
        done = {trial.number: trial for trial in records.trials}
        todo = [number for number in range(settings.trials) if number not in done]
        functions = rank_base_functions(collection)
        if progress:
            progress(len(done), settings.trials)
        if todo:
            _require_same_versions(folder, records.header, header)
            models = settings.made()
            best = collection.functions.index(functions[0].name)
            material = Material.of(collection, best, models)
            tasks = ((number, splits[number], material, models, settings.variants) for number in todo)
            with closing(spread(run_trial, tasks, jobs)) as finished:  # an interruption ends the workers at once
                for trial in finished:
                    records.append(trial)
                    done[trial.number] = trial
                    if progress:
                        progress(len(done), settings.trials)
        results = Results(
            header=records.header,
            queries=_queries(collection),
            left_out=collection.left_out,
            functions=functions,
            trials=tuple(done[number] for number in range(settings.trials)),
        )
        results.save(folder / RESULTS)
    return results


def of_pool(pool: Pool) -> Collection:
    """Return the pool of TREC runs as the data of an experiment."""
    return Collection.from_arrays(  # without document ids: the rows of a pool are in the tie order of trec_eval
        pool.X,
        pool.y,
        pool.qid,
        functions=pool.run_names,
        judged=pool.relevant_judged,
        left_out=pool.left_out,
    )


def _queries(collection: Collection) -> tuple[Query, ...]:
    documents = np.diff(collection.ptr).tolist()
    relevant = np.add.reduceat(collection.relevant.astype(np.int64), collection.ptr[:-1]).tolist()
    return tuple(map(Query, collection.ids, documents, relevant, collection.judged.tolist()))


def _versions() -> dict[str, str]:
    return {"python": platform.python_version()} | {name: version(name) for name in _COMPUTING}


def _require_same_versions(folder: Path, begun: Header, header: Header) -> None:
    """Refuse to go on with other versions: the trials of one experiment would not be of one kind."""
    changed = [
        f"{name} was {begun.versions.get(name)}, and is {now}"
        for name, now in header.versions.items()
        if begun.versions.get(name) != now
    ]
    if changed:
        raise InputError(
            f"the experiment in {folder} was begun with other versions ({'; '.join(changed)}): go on with those, or "
            "choose another output folder"
        )
