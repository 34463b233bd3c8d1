"""Memory: how much there is, and a refusal of what does not fit before any of it is taken."""

import sys
from pathlib import Path

from structsvm.exceptions import TooLargeError

_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")


def require_memory(size: float, what: str, way_out: str) -> None:
    """Refuse what takes more memory than this process can have.

    Systems hand out more than they have, and end the process that uses it: nothing of what it did is left then.

    Parameters
    ----------
    size : bytes that are needed.
    what : what they are for, "20 cuts of 1,000 numbers".
    way_out : what to do.

    Raises
    ------
    TooLargeError : it says how much is needed, and how much there is.
    """
    if size < _ALWAYS:
        return
    there = available()
    if size > there:
        raise TooLargeError(f"{what} take {in_units(size)} of memory, and there are {in_units(there)}: {way_out}")


_ALWAYS = 2**26
"""Bytes that are not asked for."""


def available() -> float:
    """Return how many bytes this process can still have, by what the system, its group and its limits leave."""
    import psutil

    left = [float(psutil.virtual_memory().available), *_of_the_group(), *_of_the_process()]
    return max(0.0, min(left))


def in_units(size: float) -> str:
    """Return a number of bytes as people write it: ``1.5 GiB``."""
    unit = 0
    while size >= 1024.0 and unit < len(_UNITS) - 1:
        size, unit = size / 1024.0, unit + 1
    return f"{size:,.0f} {_UNITS[unit]}" if unit == 0 or size >= 100.0 else f"{size:.1f} {_UNITS[unit]}"


def _of_the_group() -> list[float]:
    """Return what the control group of a container leaves, where there is one (version 2 or 1)."""
    left = []
    for most, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ):
        limit, taken = _text(most).strip(), _text(used).strip()
        if limit.isdecimal() and taken.isdecimal():
            left.append(float(int(limit) - int(taken)))
    return left


def _of_the_process() -> list[float]:
    if sys.platform == "win32":
        return []
    import resource

    limit, pages = resource.getrlimit(resource.RLIMIT_AS)[0], _text("/proc/self/statm").split()
    if limit == resource.RLIM_INFINITY or not pages:
        return []
    return [float(limit - int(pages[0]) * resource.getpagesize())]


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii")
    except OSError:
        return ""
