"""Locks on open files, which end with the process that holds them, however it ends."""

from typing import IO

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


def lock(file: IO[bytes] | int, *, wait: bool = False) -> bool:
    """Lock an open file against other processes; say whether it could be, as some file systems have no locks.

    Parameters
    ----------
    file : the file, or its descriptor.
    wait : until no other process holds the lock.

    Raises
    ------
    BlockingIOError : when another process holds the lock.
    """
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        raise
    except OSError:
        return False
    return True
