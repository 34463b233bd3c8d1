"""The file of finished trials in the folder of Morgan's experiment."""

from contextlib import AbstractContextManager
from pathlib import Path

from structsvm.protocols.morgan.results import TopicTrial
from structsvm.storage import records
from structsvm.storage.records import Header, Kind, Records, count_records

NAME = "trials.jsonl"

_TRIALS = Kind(
    part=TopicTrial,
    key=lambda trial: trial.number,
    work="experiment",
    name="trial",
    names="trials",
    data="documents or judgments",
)


def count_topic_trials(folder: Path) -> int:
    """Return the number of trials that are finished in a folder."""
    return count_records(folder / NAME)


def open_topic_trials(folder: Path, header: Header) -> AbstractContextManager[Records[TopicTrial]]:
    """Open the trials of an experiment in a folder; see `structsvm.storage.records.open_records`."""
    return records.open_records(folder / NAME, header, _TRIALS)
