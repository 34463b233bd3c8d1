"""The file of finished trials: a header and one trial a line, JSON, each on disk before the next one counts."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedRandom
from pathlib import Path
from typing import Any

from attrs import frozen

from structsvm.exceptions import DataFormatError, InputError
from structsvm.experiment.encoding import as_json, from_json
from structsvm.experiment.results import FORMAT, Header, Trial

NAME = "trials.jsonl"


@frozen(eq=False)
class Records:
    """An open file of trials, locked against other processes. Made by `open_records`.

    Parameters
    ----------
    header : what it begins with: of the versions that began the experiment.
    trials : those that it held when it was opened.
    file : the file, at its end.
    """

    header: Header
    trials: tuple[Trial, ...]
    file: BufferedRandom

    def append(self, trial: Trial) -> None:
        """Write a trial, and wait until it is on disk."""
        self.file.write(as_json(trial).encode() + b"\n")
        self.file.flush()
        os.fsync(self.file.fileno())


@contextmanager
def open_records(folder: Path, header: Header) -> Iterator[Records]:
    """Open the trials of an experiment in a folder, which is made if it does not exist.

    A last line without an end is what a process was writing when it was killed: it is dropped.

    Parameters
    ----------
    folder : of one experiment.
    header : of the experiment that is to go on there, or to begin.

    Raises
    ------
    InputError : the folder belongs to another experiment, or another process works in it, or it cannot be written.
    DataFormatError : a line before the last one cannot be read.
    """
    path = folder / NAME
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = path.open("a+b")
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(
                f"another process runs the experiment in {folder}: wait for it, or choose another folder"
            ) from None
        yield _read(path, file, header)


def _read(path: Path, file: BufferedRandom, header: Header) -> Records:
    """Read the trials; leave the file with a header and whole lines only."""
    first = as_json(header).encode() + b"\n"
    file.seek(0)
    content = file.read()
    whole = content[: content.rfind(b"\n") + 1]
    if not whole and first.startswith(content):  # nothing yet, or killed within the header
        file.truncate(0)
        file.write(first)
        file.flush()
        os.fsync(file.fileno())
        return Records(header, (), file)
    head, *lines = (whole or content).splitlines()
    found = _same(path, head, header)
    file.truncate(len(whole))
    trials: dict[int, Trial] = {}
    for number, line in enumerate(lines, start=2):
        try:
            trial = from_json(line.decode(), Trial)
        except ValueError as error:
            raise DataFormatError(
                path, number, f"it is no trial ({error}): remove the line, and the trial is run again"
            ) from None
        trials.setdefault(trial.number, trial)
    return Records(found, tuple(trials[number] for number in sorted(trials)), file)


def _same(path: Path, head: bytes, header: Header) -> Header:
    """Read the header; refuse that of another experiment, and say what differs."""
    try:
        found = from_json(head.decode(), Header)
    except ValueError:
        raise InputError(f"{path} is not a file of trials: choose another output folder") from None
    if found.format > FORMAT:
        raise InputError(
            f"{path} was written by a newer version of structural-svm: upgrade, or choose another output folder"
        )
    differences = [*_differences(found.settings, header.settings)]
    if found.data != header.data:
        differences.append("the documents, scores or judgments are others")
    if differences:
        raise InputError(
            f"{path.parent} belongs to another experiment ({'; '.join(differences)}): choose another output folder, "
            "or remove that one"
        )
    return found


def _differences(theirs: dict[str, Any], ours: dict[str, Any]) -> Iterator[str]:
    for name, value in ours.items():
        if name == "models":
            yield from _differences_of_models(theirs.get(name, {}), value)
        elif theirs.get(name) != value:
            yield f"{name} was {theirs.get(name)}, and is {value}"


def _differences_of_models(theirs: dict[str, str], ours: dict[str, str]) -> Iterator[str]:
    if list(theirs) != list(ours):
        yield f"models were {', '.join(theirs)}, and are {', '.join(ours)}"
        return
    changed = [name for name in ours if theirs[name] != ours[name]]
    if changed:
        yield f"the settings of {', '.join(changed)} are others"
