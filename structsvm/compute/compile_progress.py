"""What is being compiled, for progress lines. Importing this loads no numba."""

import gc
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from structsvm.signals import held

logger = logging.getLogger("structsvm")

_SOON = 0.3
"""Seconds of compiling below which nothing is reported."""

_thread = threading.local()
_running: list[tuple[str, float]] = []
"""Function that each thread compiles, and when that began; functions that it calls are part of it."""


@contextmanager
def compiling(name: str) -> Iterator[None]:
    """Report that a function is being compiled, and hold signals and garbage collection back meanwhile.

    A KeyboardInterrupt within numba's compiler leaves the process unable to compile. Without garbage collection
    compiling takes a tenth less time: the compiler makes many objects that stay.
    """
    if getattr(_thread, "busy", False):
        yield
        return
    begun, collects = (name.strip("_"), time.monotonic()), gc.isenabled()
    _thread.busy = True
    _running.append(begun)
    gc.disable()
    try:
        with held():
            yield
    finally:
        _thread.busy = False
        _running.remove(begun)
        if collects:
            gc.enable()
        seconds = time.monotonic() - begun[1]
        if seconds > _SOON:
            logger.info("compiled %s in %.1f s", begun[0], seconds)


def what_is_compiled() -> str:
    """Return "compiling ..., 3 s", or "" if nothing is being compiled, or not for long."""
    try:
        name, began = _running[0]
    except IndexError:
        return ""
    seconds = time.monotonic() - began
    return f"compiling {name}, {seconds:.0f} s" if seconds > _SOON else ""
