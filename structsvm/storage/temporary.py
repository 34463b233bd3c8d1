"""Files on their way to their place, and what is left of them where the process that wrote them was killed."""

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

from structsvm.storage.locks import lock


@contextmanager
def on_the_way(target: Path) -> Iterator[Path]:
    """Create an empty file in the folder of ``target``, which is removed in the end unless it was renamed.

    It is locked all the time, which tells it from what a process left that was killed.

    Raises
    ------
    OSError : when it cannot be created.
    """
    path, descriptor = _created(target)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def remove_leftovers(target: Path) -> None:
    """Remove what killed processes of this machine left of files on their way to ``target``.

    That is what bears the name of such a file and of this machine, and no process has locked; where the file system
    has no locks, nothing is removed.
    """
    name = re.compile(re.escape(_prefix(target)) + "[0-9a-f]{8}")
    with suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            if name.fullmatch(entry.name):
                _remove_unless_in_use(entry.path)


def _prefix(target: Path) -> str:
    return f".{target.name}.structsvm-{_machine()}-"


@cache
def _machine() -> str:
    """Return what tells this machine from others that may use the folder, too."""
    return sha256(f"{node()} {uuid.getnode()}".encode()).hexdigest()[:8]


def _created(target: Path) -> tuple[Path, int]:
    while True:
        path = target.with_name(f"{_prefix(target)}{secrets.token_hex(4)}")
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
        lock(descriptor, wait=True)
        if path.exists():  # else another process took it for a leftover before it was locked
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
