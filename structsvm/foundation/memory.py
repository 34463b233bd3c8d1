"""Measure available memory, and check it before large allocations."""

import math
import os
import sys
from contextlib import suppress
from pathlib import Path

from structsvm.exceptions import TooLargeError

_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")


def require_memory(size: float, what: str, way_out: str) -> None:
    """Raise `TooLargeError` if ``size`` bytes exceed the available memory, before the system kills the process."""
    if size < _ALWAYS:
        return
    there = available()
    if size > there:
        raise TooLargeError(f"{what} take {in_units(size)} of memory, but {in_units(there)} are available: {way_out}")


def require_columns(count: int) -> None:
    """Raise `TooLargeError` unless there is memory for a number for each column of X."""
    require_memory(8.0 * count, f"Numbers for each of the {count:,} columns of X", "leave empty columns out")


_ALWAYS = 2**26
"""Sizes in bytes below this are not checked."""


def available() -> float:
    """Return the bytes that the system, the control group and process limits leave for this process."""
    return max(0.0, min([_of_the_system(), *_of_the_group(), *_of_the_process()]))


def in_units(size: float) -> str:
    """Return a number of bytes as text: ``1.5 GiB``."""
    unit = 0
    while size >= 1024.0 and unit < len(_UNITS) - 1:
        size, unit = size / 1024.0, unit + 1
    return f"{size:,.0f} {_UNITS[unit]}" if unit == 0 or size >= 100.0 else f"{size:.1f} {_UNITS[unit]}"


def reset_peak() -> None:
    """Restart the measurement of `peak`, on Linux."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def peak() -> float | None:
    """Return the largest resident memory of this process since `reset_peak`, in MiB; None if not on Linux."""
    lines = _text("/proc/self/status").splitlines()
    return next((int(line.split()[1]) / 1024.0 for line in lines if line.startswith("VmHWM:")), None)


def _of_the_system() -> float:
    """Return Linux's estimate of the memory that is available, elsewhere all memory of the machine."""
    for line in _text("/proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            return 1024.0 * int(line.split()[1])
    return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")) if hasattr(os, "sysconf") else math.inf


def _of_the_group() -> list[float]:
    """Return the memory that a container's control group (version 2 or 1) leaves, if there is one."""
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
