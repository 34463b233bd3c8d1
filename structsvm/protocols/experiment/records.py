"""The file of finished trials in the folder of an experiment."""

from pathlib import Path

from structsvm.protocols.experiment.results import Trial
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


def count_trials(folder: Path) -> int:
    """Return the number of trials that are finished in a folder."""
    return count_records(folder / NAME)
