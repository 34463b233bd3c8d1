"""What is being compiled, for progress lines. Signals wait until it is done. Importing this loads no numba."""

import gc
import logging
import threading
import time
from collections.abc import Callable
from typing import Any

from structsvm.signals import held

logger = logging.getLogger("structsvm")

_SOON = 0.3
"""Seconds of compiling below which it is not worth telling."""

_thread = threading.local()
_running: list[tuple[str, float]] = []
"""What threads compile, the name of the function and when that began; those that it calls are part of it."""


def watched(dispatcher: Any) -> None:
    """Let a function of numba's say while it is compiled, and let no signal fall into that.

    A KeyboardInterrupt within numba's compiler leaves the process unable to compile. Python's garbage collection is off
    meanwhile, which saves a tenth of the time: the compiler makes many objects that stay. Machine code that is read
    from disk counts as compiled already. Call this after caching is switched on.
    """
    kept = getattr(dispatcher, "_cache", None)
    if kept is None or not hasattr(kept, "load_overload"):  # a numba that does it otherwise
        return
    name = dispatcher.py_func.__name__.strip("_")
    dispatcher.compile = _watching(dispatcher.compile, name, kept=kept.cache_path is not None)
    kept.load_overload = _compiling_if_missing(kept.load_overload)


def _watching(compile_: Callable[[Any], Any], name: str, *, kept: bool) -> Callable[[Any], Any]:
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
                _running.remove(begun)
                seconds = time.monotonic() - begun[1]
                if seconds > _SOON:
                    end = "; machine code is kept on disk" if kept else ""
                    logger.info("compiled %s in %.1f s%s", name, seconds, end)

    return compile_and_tell


def _compiling_if_missing(load: Callable[..., Any]) -> Callable[..., Any]:
    """Take note that what was asked for is compiled now, where its machine code is not on disk."""

    def load_or_begin(*arguments: Any) -> Any:
        found = load(*arguments)
        if found is None and getattr(_thread, "asked_for", None) is not None and _thread.begun is None:
            _thread.begun = _thread.asked_for, time.monotonic()
            _running.append(_thread.begun)
        return found

    return load_or_begin


def what_is_compiled() -> str:
    """Return "compiling ..., 3 s", or "" where nothing is, or not for long."""
    try:
        name, began = _running[0]
    except IndexError:
        return ""
    seconds = time.monotonic() - began
    return f"compiling {name}, {seconds:.0f} s" if seconds > _SOON else ""
