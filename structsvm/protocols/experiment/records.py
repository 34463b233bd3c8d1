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
from structsvm.files import naming
from structsvm.protocols.experiment.results import FORMAT, Header, Trial, as_json, from_json

NAME = "trials.jsonl"

_BEGINNING = b'{"settings":'


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
        _write(self.file, as_json(trial))


def count_trials(folder: Path) -> int:
    """Return the number of trials that are finished in a folder."""
    path = folder / NAME
    return max(path.read_bytes().count(b"\n") - 1, 0) if path.exists() else 0


@contextmanager
def open_records(folder: Path, header: Header) -> Iterator[Records]:
    """Open the trials of an experiment in a folder, which is made if it does not exist.

    A last line without an end is what a process was writing when it was killed: it is dropped. Without
    any trial, the folder is free for another experiment.

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
    file.seek(0)
    content = file.read()
    head, *lines = content.split(b"\n")
    torn = lines.pop() if lines else b""
    if not lines:  # no trial yet: whose header it is does not matter
        if not _BEGINNING.startswith(head[: len(_BEGINNING)]):
            raise _not_ours(path)
        file.truncate(0)
        _write(file, as_json(header))
        return Records(header, (), file)
    found = _header(path, head)
    _require_same(path, found, header)
    file.truncate(len(content) - len(torn))
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


def _write(file: BufferedRandom, line: str) -> None:
    rest = line.encode() + b"\n"
    with naming(Path(file.name), "Finished trials are kept, and the same command goes on with them"):
        while rest:  # by no buffer, which would be written again when the file is closed
            rest = rest[os.write(file.fileno(), rest) :]
        os.fsync(file.fileno())


def _header(path: Path, line: bytes) -> Header:
    try:
        found = from_json(line.decode(), Header)
    except ValueError:
        raise _not_ours(path) from None
    if found.format > FORMAT:
        raise InputError(
            f"{path} was written by a newer version of structural-svm: upgrade, or choose another output folder"
        )
    return found


def _not_ours(path: Path) -> InputError:
    return InputError(f"{path} is not a file of trials: choose another output folder")


def _require_same(path: Path, found: Header, header: Header) -> None:
    """Refuse the trials of another experiment, and say what differs."""
    differences = [*_differences(found.settings, header.settings)]
    if found.data != header.data:
        differences.append("the documents, scores or judgments are others")
    if differences:
        raise InputError(
            f"{path.parent} belongs to another experiment ({'; '.join(differences)}): choose another output folder, "
            "or remove that one"
        )


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
