"""Write temporary files that replace other files when complete, with their access rights and locks."""

import errno
import os
import re
import secrets
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from platform import node
from typing import IO

try:
    import fcntl
# Windows does not have this module.
except ImportError:
    fcntl = None  # type: ignore[assignment]

_LONGEST_NAME = 255
"""Bytes of a file name if the file system does not report a limit."""

_RANDOM = 8
"""Random hexadecimal digits in the name of a temporary file."""


@contextmanager
def on_the_way(target: Path, folder: Path) -> Iterator[Path]:
    """Create an empty file for ``target``, locked to mark it as in use; remove it on exit unless it was renamed."""
    path, descriptor = _created(target, folder)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def remove_leftovers(target: Path, folder: Path) -> None:
    """Remove temporary files for ``target`` that killed processes of this machine left; they have no lock."""
    name = re.compile(re.escape(_prefix(target, folder)) + f"[0-9a-f]{{{_RANDOM}}}")
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if name.fullmatch(entry.name):
                _remove_unless_in_use(entry.path)


def with_ending(path: Path, ending: str) -> Path:
    """Return the path with an ASCII ending added to its name, which is shortened if the file system requires it."""
    return path.with_name(_shortened(path.name, _longest_name(path.parent) - len(ending)) + ending)


def _prefix(target: Path, folder: Path) -> str:
    ending = f".structsvm-{_machine()}-"
    return f".{_shortened(target.name, _longest_name(folder) - len(ending) - _RANDOM - 1)}{ending}"


def _shortened(name: str, most: int) -> str:
    """Return the name, or its beginning with a digest if it is longer than ``most`` bytes."""
    encoded = os.fsencode(name)
    if len(encoded) <= most:
        return name
    digest = sha256(encoded).hexdigest()[:16]
    return f"{encoded[: most - len(digest) - 1].decode(errors='ignore')}~{digest}"


def _longest_name(folder: Path) -> int:
    """Return the most bytes that a file name in this folder may have."""
    try:
        return os.pathconf(folder, "PC_NAME_MAX")
    except (AttributeError, OSError, ValueError):
        # Windows has no pathconf, or the folder does not exist.
        return _LONGEST_NAME


@cache
def _machine() -> str:
    """Return an identifier of this machine, because several may share the folder."""
    return sha256(f"{node()} {uuid.getnode()}".encode()).hexdigest()[:8]


def _created(target: Path, folder: Path) -> tuple[Path, int]:
    if len(os.fsencode(target.name)) > _longest_name(folder):
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
    # The replaced file may be private, so only the owner may open the new one until it gets that file's mode.
    mode = 0o600 if target.exists() else 0o666
    while True:
        path = folder / f"{_prefix(target, folder)}{secrets.token_hex(_RANDOM // 2)}"
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, mode)
        lock(descriptor, wait=True)
        # Another process may have removed it as a leftover before it was locked.
        if path.exists():
            return path, descriptor
        os.close(descriptor)


def _remove_unless_in_use(path: str) -> None:
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
        try:
            if lock(descriptor) and stat.S_ISREG(os.fstat(descriptor).st_mode):
                Path(path).unlink()
        finally:
            os.close(descriptor)


def keep_access(new: Path, old: Path) -> None:
    """Copy mode, owner and group from ``old`` to its replacement; another group gets only the rights of others."""
    # Some file systems have no modes, and the old file may be gone by now.
    with suppress(OSError):
        before = old.stat()
        after = _owned(new, before)
        mode = before.st_mode & 0o777
        if after.st_gid != before.st_gid:
            mode &= ~0o070 | (mode & 0o007) << 3
        new.chmod(mode)


def _owned(new: Path, before: os.stat_result) -> os.stat_result:
    """Set owner and group, or the group alone if the owner cannot be changed, and return the new status."""
    after = new.stat()
    for owner in (before.st_uid, -1):
        if (after.st_uid, after.st_gid) != (before.st_uid, before.st_gid):
            with suppress(OSError):
                os.chown(new, owner, before.st_gid)
            after = new.stat()
    return after


def lock(file: IO[bytes] | int, *, wait: bool = False) -> bool:
    """Lock an open file, or return False without file locks; unless it waits, raise BlockingIOError if it is taken."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        raise
    except OSError:
        return False
    return True
