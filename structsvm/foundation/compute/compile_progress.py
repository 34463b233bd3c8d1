"""Report progress and time of compilation; signals wait until it is done. Importing this does not load numba."""

import gc
import logging
import threading
import time
from collections.abc import Callable
from typing import Any

from structsvm.foundation.signals import held

logger = logging.getLogger("structsvm")

_SOON = 0.3
"""Seconds of compiling that go unreported."""

_thread = threading.local()
_running: list[tuple[str, float]] = []
"""Function name and start time of each compilation under way; nested compilations are part of the outer one."""

_lock = threading.Lock()


class _Spent:
    """Wall-clock seconds during which some thread compiled; ``since`` is the start of such a time under way."""

    seconds = 0.0
    since = 0.0


def watched(dispatcher: Any) -> None:
    """Report when a numba function is compiled, and delay signals, which break its compiler for this process."""
    disk_cache = getattr(dispatcher, "_cache", None)
    # Another numba may have a different cache; then nothing is reported.
    if disk_cache is None or not hasattr(disk_cache, "load_overload"):
        return
    name = dispatcher.py_func.__name__.strip("_")
    dispatcher.compile = _watching(dispatcher.compile, name, stored=disk_cache.cache_path is not None)
    disk_cache.load_overload = _compiling_if_missing(disk_cache.load_overload)


def _watching(compile_: Callable[[Any], Any], name: str, *, stored: bool) -> Callable[[Any], Any]:
    def compile_and_tell(signature: Any) -> Any:
        if getattr(_thread, "asked_for", None) is not None:
            return compile_(signature)
        collects = gc.isenabled()
        _thread.asked_for, _thread.begun = name, None
        try:
            with held():
                gc.disable()
                return compile_(signature)
        finally:
            begun, _thread.asked_for = _thread.begun, None
            if collects:
                gc.enable()
            if begun is not None:
                with _lock:
                    _running.remove(begun)
                    now = time.monotonic()
                    _Spent.seconds += 0.0 if _running else now - _Spent.since
                seconds = now - begun[1]
                if seconds > _SOON:
                    end = "; machine code is kept on disk" if stored else ""
                    logger.info("compiled %s in %.1f s%s", name, seconds, end)

    return compile_and_tell


def _compiling_if_missing(load: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap the cache lookup so that a miss records the start of compilation."""

    def load_or_begin(*arguments: Any) -> Any:
        overload = load(*arguments)
        if overload is None and getattr(_thread, "asked_for", None) is not None and _thread.begun is None:
            with _lock:
                _thread.begun = _thread.asked_for, time.monotonic()
                if not _running:
                    _Spent.since = _thread.begun[1]
                _running.append(_thread.begun)
        return overload

    return load_or_begin


def compile_seconds() -> float:
    """Return the wall-clock seconds that this process has spent compiling so far."""
    with _lock:
        return _Spent.seconds + (time.monotonic() - _Spent.since if _running else 0.0)


def running_time() -> float:
    """Return a clock in seconds, like `time.perf_counter`, that stops during compilation."""
    return time.monotonic() - compile_seconds()


def what_is_compiled() -> str:
    """Return "compiling ..., 3 s", or "" if nothing has been compiling for long."""
    try:
        name, began = _running[0]
    except IndexError:
        return ""
    seconds = time.monotonic() - began
    return f"compiling {name}, {seconds:.0f} s" if seconds > _SOON else ""
