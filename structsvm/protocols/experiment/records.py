"""The file of finished trials in the folder of an experiment."""

from pathlib import Path

from structsvm.protocols.experiment.results import Trial
from structsvm.settings import as_path
from structsvm.storage.records import Kind, count_records

NAME = "trials.jsonl"

TRIALS = Kind(
    part=Trial,
    key=lambda trial: trial.number,
    work="experiment",
    name="trial",
    names="trials",
    data="documents, scores or judgments",
)


def count_trials(folder: str | Path) -> int:
    """Return the number of trials that are finished in a folder.

    Parameters
    ----------
    folder : that of an experiment, ``out`` of `run`; 0 where there is no such folder yet.

    Examples
    --------
    >>> import tempfile
    >>> from structsvm.data import load_digits_runs, pool_runs
    >>> from structsvm.protocols.experiment import Settings, count_trials, run
    >>> pool = pool_runs(*load_digits_runs(n_queries=5, n_candidates=40, depth=10))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     before = count_trials(folder)
    ...     _ = run(pool, Settings(trials=3, train=2, validation=1, models=["CombSUM"]), folder, jobs=1)
    ...     before, count_trials(folder)
    (0, 3)
    """
    return count_records(as_path("folder", folder) / NAME)
