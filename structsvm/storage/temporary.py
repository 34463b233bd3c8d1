"""Files and folders on their way to their place, and what is left of them where their process was killed."""

import errno
import os
import re
import secrets
import shutil
import stat
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from platform import node

from structsvm.storage.access import keep_access_within
from structsvm.storage.locks import lock

_LONGEST_NAME = 255
"""Bytes of a name, unless the file system says otherwise."""

_RANDOM = 8
"""Digits that tell files on their way to one place apart."""

_NEW, _BEFORE = "new", "before"
"""What is in a folder on its way: itself, and what was in its place, for the moment in which both are moved."""


@contextmanager
def on_the_way(target: Path) -> Iterator[Path]:
    """Create an empty file in the folder of ``target``, which is removed in the end unless it was renamed.

    It is locked all the time, which tells it from what a process left that was killed. If there is a file in the place,
    only its owner can read the new one until the caller says otherwise.

    Raises
    ------
    OSError : when it cannot be created.
    """
    path, descriptor = _created(target, _create_file)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


@contextmanager
def folder_on_the_way(target: Path) -> Iterator[Path]:
    """Create an empty folder beside the folder ``target``, whose place it takes in the end, unless there is an error.

    What was in ``target`` is there until then, and is removed after it. Locked as `on_the_way`.

    Raises
    ------
    OSError : when it cannot be created, or not be put in its place.
    """
    around, descriptor = _created(target, _create_folder)
    try:
        made, before = around / _NEW, around / _BEFORE
        made.mkdir()
        yield made
        try:
            keep_access_within(made, target)
            if target.exists():
                target.rename(before)
            made.rename(target)
        finally:
            _restore(before, target)
    finally:
        shutil.rmtree(around, ignore_errors=True)
        os.close(descriptor)


def _restore(before: Path, target: Path) -> None:
    """Put a folder back that was moved to make room, where nothing came to its place."""
    if before.exists() and not target.exists():
        before.rename(target)


def remove_leftovers(target: Path) -> None:
    """Remove what killed processes of this machine left of files and folders on their way to ``target``.

    That is what bears the name of such a file and of this machine, and no process has locked; where the file system
    has no locks, nothing is removed. A folder that was moved to make room comes back, if nothing is in its place.
    """
    name = re.compile(re.escape(_prefix(target)) + f"[0-9a-f]{{{_RANDOM}}}")
    with suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            if name.fullmatch(entry.name):
                remove = _remove_folder_unless_in_use if entry.is_dir(follow_symlinks=False) else _remove_unless_in_use
                remove(entry.path, target)


def _prefix(target: Path) -> str:
    ending = f".structsvm-{_machine()}-"
    return f".{_shortened(target.name, _longest_name(target.parent) - len(ending) - _RANDOM - 1)}{ending}"


def _shortened(name: str, most: int) -> str:
    """Return a name of at most so many bytes: a longer one with a digest in place of its end."""
    encoded = os.fsencode(name)
    if len(encoded) <= most:
        return name
    digest = sha256(encoded).hexdigest()[:16]
    return f"{encoded[: most - len(digest) - 1].decode(errors='ignore')}~{digest}"


def _longest_name(folder: Path) -> int:
    """Return how many bytes the names of files in a folder may have."""
    try:
        return os.pathconf(folder, "PC_NAME_MAX")
    except (AttributeError, OSError, ValueError):  # Windows, or there is no such folder
        return _LONGEST_NAME


@cache
def _machine() -> str:
    """Return what tells this machine from others that may use the folder, too."""
    return sha256(f"{node()} {uuid.getnode()}".encode()).hexdigest()[:8]


def _create_file(path: Path, mode: int) -> int:
    return os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666 & mode)


def _create_folder(path: Path, mode: int) -> int:
    path.mkdir(mode)
    return os.open(path, os.O_RDONLY)


def _created(target: Path, create: Callable[[Path, int], int]) -> tuple[Path, int]:
    if len(os.fsencode(target.name)) > _longest_name(target.parent):
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
    # Only the owner can open what takes the place of a file, which may be private, before it has that file's mode.
    mode = 0o700 if target.exists() else 0o777
    while True:
        path = target.with_name(f"{_prefix(target)}{secrets.token_hex(_RANDOM // 2)}")
        descriptor = create(path, mode)
        lock(descriptor, wait=True)
        if path.exists():  # else another process took it for a leftover before it was locked
            return path, descriptor
        os.close(descriptor)


def _remove_folder_unless_in_use(path: str, target: Path) -> None:
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        try:
            if lock(descriptor):
                _restore(Path(path, _BEFORE), target)
                shutil.rmtree(path)
        finally:
            os.close(descriptor)


def _remove_unless_in_use(path: str, _target: Path) -> None:
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
        try:
            if lock(descriptor) and stat.S_ISREG(os.fstat(descriptor).st_mode):
                Path(path).unlink()
        finally:
            os.close(descriptor)
