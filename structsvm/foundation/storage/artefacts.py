"""Kinds of files that this package writes and reads again, so that no output replaces a file of another kind."""

import os
import re
import stat
from collections.abc import Collection, Mapping
from pathlib import Path
from zipfile import BadZipFile, ZipFile

MODEL, CHECKPOINT, RESULT, ARRAYS = "a model", "a checkpoint", "the result of a fit", "a file of arrays"
INDEX, CACHE = "an index", "a cache of data"
PARTS = "a record of unfinished work"
ANY = "a file that its reader checks"

MAGIC: Mapping[str, bytes] = {INDEX: b"structsvm index\n", CACHE: b"structsvm cache\n"}
"""First bytes of files of mapped arrays by kind, of equal lengths."""

DIGESTS = "sha256"
"""Name of the text in an archive that has the digests of all other arrays."""

BEGINNING_OF_PARTS = b'{"settings":'

_BY_ARRAY = {"checkpoint": CHECKPOINT, "model": MODEL, "result": RESULT}
_STREAM = re.compile(r"/dev/(std(in|out|err)|fd/\d+)|/proc/[^/]+/fd/\d+")


def artefact_kind(path: Path) -> str | None:
    """Return the kind of an existing file; None for all files that this package does not read again, such as text."""
    with path.open("rb") as file:
        start = file.read(len(MAGIC[INDEX]))
    if start.startswith(b"PK"):
        try:
            with ZipFile(path) as archive:
                names = [name.removesuffix(".npy") for name in archive.namelist()]
        except (BadZipFile, OSError, ValueError):
            return None
        return kind_of_arrays(names) if DIGESTS in names else None
    if start.startswith(BEGINNING_OF_PARTS):
        return PARTS
    return next((kind for kind, magic in MAGIC.items() if start == magic), None)


def kind_of_arrays(names: Collection[str]) -> str:
    """Return the kind of an archive from the names of its arrays."""
    return next((kind for name, kind in _BY_ARRAY.items() if name in names), ARRAYS)


def replacement_refusal(path: Path, kind: str | None, *, strict: bool = True) -> str:
    """Return the reason why a new file of a kind must not replace an existing file; "" if it may.

    Unless ``strict``, it may also replace files that this package does not read again.
    """
    if is_protected(path):
        return f"{path} is write-protected: choose another file, or remove the protection (chmod u+w)"
    present = kind if kind == ANY else artefact_kind(path)
    if present == kind or (present is None and not strict):
        return ""
    if kind is None:
        return f"{path} is {present} and would be replaced: choose another file, or remove it first"
    return (
        f"{path} is not {kind} and would be replaced: choose another file for {kind.replace('a ', 'the ', 1)}, or "
        "remove it first"
    )


def is_protected(path: Path) -> bool:
    """Return whether the owner of a file or folder may not write to it, which does not stop the superuser."""
    return not path.stat().st_mode & stat.S_IWUSR or not os.access(path, os.W_OK)


def is_stream(path: Path) -> bool:
    """Return whether a path names an open stream of the process, which may lead to a regular file."""
    return bool(_STREAM.fullmatch(os.path.normpath(path)))
