"""Handle signals that end a process, for commands. Importing this module changes nothing."""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from types import FrameType
from typing import Any

ENDING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""Signals of this system that end a process. Terminals and batch systems send them to a whole process group."""

_AS_ONE = 1.0
"""Seconds within which several signals count as one, because terminals, shells and batch systems repeat them."""

_SOON = 0.02
"""Seconds until a lost signal is sent again."""


class _Interrupts:
    """The number of signals so far, time and kind of the last one, and output descriptors that are terminals."""

    number = 0
    last = -_AS_ONE
    signal = signal.SIGINT
    terminals: tuple[int, ...] = ()


def end_as_ctrl_c_does() -> None:
    """Make SIGTERM and SIGHUP raise KeyboardInterrupt like Ctrl-C, unless they are ignored, as under nohup."""
    _Interrupts.terminals = tuple(fd for fd in (1, 2) if os.isatty(fd))
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)
    sys.unraisablehook = _ignored


def finish() -> None:
    """From now on ignore the first signal, because the work is done and its results are being written."""
    _Interrupts.number = max(_Interrupts.number, 1)


def leave() -> None:
    """Ignore signals from now on, because the process is about to exit."""
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)
    # After Ctrl-C in an eval, Python kills itself at exit, because it considers the KeyboardInterrupt unhandled.
    exec("")


@contextmanager
def held() -> Iterator[None]:
    """Delay signals until the block ends; only the main thread receives signals, so others are not affected."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []

    def later(number: int, _frame: FrameType | None) -> None:
        came.append(number)

    before = {number: handler for number in ENDING if callable(handler := signal.getsignal(number))}
    for number in before:
        signal.signal(number, later)
    try:
        yield
    finally:
        # Restore the handler of Ctrl-C last, because it may raise here.
        for number, handler in reversed(before.items()):
            signal.signal(number, handler)
        for number in dict.fromkeys(came):
            signal.raise_signal(number)


@contextmanager
def unwrapped() -> Iterator[None]:
    """Raise KeyboardInterrupt instead of an error that it caused; compiled modules turn it into an ImportError."""
    try:
        yield
    except Exception as error:
        if _came_of_interruption(error):
            raise KeyboardInterrupt from None
        raise


def _came_of_interruption(error: BaseException | None) -> bool:
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return error is not None


def _interrupt(number: int, _frame: FrameType | None) -> None:
    _let_go_of_lost_terminals()
    now = time.monotonic()
    once_more = now - _Interrupts.last < _AS_ONE
    _Interrupts.last, _Interrupts.signal = now, signal.Signals(number)
    if once_more:
        return
    _Interrupts.number += 1
    if _Interrupts.number != 2:
        raise KeyboardInterrupt


def _ignored(exception: Any) -> None:
    """Send a signal again if it came in a finalizer, whose exceptions Python prints and ignores."""
    if exception.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(exception)
        return
    _Interrupts.number -= 1
    _Interrupts.last = -_AS_ONE
    Timer(_SOON, signal.raise_signal, [_Interrupts.signal]).start()


def _let_go_of_lost_terminals() -> None:
    """Redirect output to the null device if its terminal is gone, as after SIGHUP, so that files are still written."""
    for fd in _Interrupts.terminals:
        if not os.isatty(fd):
            os.dup2(os.open(os.devnull, os.O_WRONLY), fd)
