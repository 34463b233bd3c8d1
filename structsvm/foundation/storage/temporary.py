"""Write temporary files that replace other files when complete, with their access rights and locks."""

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
    name = re.compile(re.escape(_prefix(target)) + f"[0-9a-f]{{{_RANDOM}}}")
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if name.fullmatch(entry.name):
                _remove_unless_in_use(entry.path)


def _prefix(target: Path) -> str:
    # A digest of the name, because the name may be as long as the file system allows.
    return f".structsvm-{_machine()}-{sha256(os.fsencode(target.name)).hexdigest()[:16]}-"


@cache
def _machine() -> str:
    """Return an identifier of this machine, because several may share the folder."""
    return sha256(f"{node()} {uuid.getnode()}".encode()).hexdigest()[:8]


def _created(target: Path, folder: Path) -> tuple[Path, int]:
    # The replaced file may be private, so only the owner may open the new one until it gets that file's mode.
    try:
        target.stat()
        mode = 0o600
    except FileNotFoundError:
        mode = 0o666
    while True:
        path = folder / f"{_prefix(target)}{secrets.token_hex(_RANDOM // 2)}"
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
