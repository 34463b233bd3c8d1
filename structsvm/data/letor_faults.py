"""What is wrong with a LETOR file, and in which line. Slow, so read only after the reader has failed."""

import math
from pathlib import Path

from structsvm.exceptions import DataFormatError
from structsvm.files import open_bytes

_LINE = "a line reads '<label> qid:<query> <index>:<value> ...'"
_LARGEST_INDEX = 2**31 - 1


def first_fault(path: Path, n_features: int | None) -> DataFormatError | None:
    """Return the error of the first faulty line, or None if no line is at fault.

    Parameters
    ----------
    path : the file, plain or gzip.
    n_features : largest feature index allowed; None: any.
    """
    with open_bytes(path) as file:
        for number, line in enumerate(file, start=1):
            try:
                _check_line(line.partition(b"#")[0], n_features)
            except ValueError as fault:
                return DataFormatError(path, number, str(fault))
    return None


def _check_line(content: bytes, n_features: int | None) -> None:
    """Raise ValueError, with the fault as its message, unless the line is blank or right."""
    try:
        parts = content.decode().split()
    except UnicodeDecodeError:
        raise ValueError("this is not text; LETOR files are text, plain or compressed with gzip") from None
    if "\0" in content.decode():
        raise ValueError("this is binary or UTF-16, not text; LETOR files are UTF-8 or ASCII")
    if not parts:
        return
    label, *entries = parts
    _finite(label, f"the label {label!r}")
    if not entries or not entries[0].startswith("qid:"):
        found = f"after the label comes {entries[0]!r}" if entries else "there is only a label"
        raise ValueError(f"no query id: {found}, but {_LINE}")
    query = _whole(entries[0].removeprefix("qid:"))
    if query is None or abs(query) >= 2**63:
        raise ValueError(f"the query id in {entries[0]!r} must be a whole number of 64 bits")
    previous = 0
    for entry in entries[1:]:
        previous = _check_feature(entry, previous, n_features)


def _check_feature(entry: str, previous: int, n_features: int | None) -> int:
    """Return the index of a feature, or raise ValueError with its fault."""
    name, colon, value = entry.partition(":")
    if not colon:
        raise ValueError(f"{entry!r} has no colon: {_LINE}")
    index = _whole(name)
    if index is None:
        raise ValueError(f"the feature index in {entry!r} must be a whole number")
    if index == 0:
        raise ValueError(f"{entry!r} has index 0, but LETOR counts features from 1; add 1 to every index of the file")
    if not 0 < index <= _LARGEST_INDEX:
        raise ValueError(f"the feature index in {entry!r} must be from 1 to {_LARGEST_INDEX}")
    if index <= previous:
        raise ValueError(f"feature {index} comes after feature {previous}; indices must ascend, each at most once")
    if n_features is not None and index > n_features:
        raise ValueError(f"feature {index} is beyond n_features={n_features}; pass n_features={index} or more, or None")
    _finite(value, f"the value of feature {index}, {value!r},")
    return index


def _finite(text: str, what: str) -> None:
    try:
        number = float(text)
    except ValueError:
        raise ValueError(f"{what} is not a number") from None
    if not math.isfinite(number):
        raise ValueError(f"{what} is not finite; leave out what is missing, or replace it")


def _whole(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None
