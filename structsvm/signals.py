"""Signals that ask a process to end, and how commands do. Importing this changes nothing."""

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
"""Those that there are. Terminals and batch systems send them to a whole group of processes."""

_ONE_WISH = 1.0
"""Seconds within which several signals count once: terminals, shells and batch systems send more than one."""

_SOON = 0.02
"""Seconds until a signal is sent again."""


class _Wishes:
    """What was asked for so far.

    Attributes
    ----------
    number : how often the end was asked for; the command says 1 itself when it begins to write what it has.
    last : when it was.
    signal : which one it was.
    terminals : standard output and error, where they were terminals.
    """

    number = 0
    last = -_ONE_WISH
    signal = signal.SIGINT
    terminals: tuple[int, ...] = ()


def end_as_ctrl_c_does() -> None:
    """Let SIGTERM and SIGHUP raise KeyboardInterrupt, as Ctrl-C does; what is ignored, as after nohup, stays so.

    The first signal ends the work. The second one is ignored, so that what there is by then is written; the
    third one ends that, too.
    """
    _Wishes.terminals = tuple(fd for fd in (1, 2) if os.isatty(fd))
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _wish)
    sys.unraisablehook = _ignored


def finish() -> None:
    """Say that the work is done and will be written: a first signal does not end that any more."""
    _Wishes.number = max(_Wishes.number, 1)


def leave() -> None:
    """Ignore signals from now on: the process is at its end."""
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)
    # Python kills itself at exit where Ctrl-C came in an eval, whose KeyboardInterrupt it takes for unhandled.
    exec("")


@contextmanager
def held() -> Iterator[None]:
    """Hold back signals that Python handles until work is done that must not be left halfway; then they count.

    Only the main thread is told of signals: in others nothing changes.
    """
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
        for number, handler in reversed(before.items()):  # that of Ctrl-C last: it may raise here
            signal.signal(number, handler)
        for number in dict.fromkeys(came):
            signal.raise_signal(number)


@contextmanager
def unwrapped() -> Iterator[None]:
    """Raise KeyboardInterrupt where another error came of it: compiled modules make an ImportError of it."""
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


def _wish(number: int, _frame: FrameType | None) -> None:
    _let_go_of_lost_terminals()
    now = time.monotonic()
    once_more = now - _Wishes.last < _ONE_WISH
    _Wishes.last, _Wishes.signal = now, signal.Signals(number)
    if once_more:
        return
    _Wishes.number += 1
    if _Wishes.number != 2:
        raise KeyboardInterrupt


def _ignored(exception: Any) -> None:
    """Send a signal again that came in a finaliser, whose exceptions Python shows and ignores."""
    if exception.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(exception)
        return
    _Wishes.number -= 1
    _Wishes.last = -_ONE_WISH
    Timer(_SOON, signal.raise_signal, [_Wishes.signal]).start()


def _let_go_of_lost_terminals() -> None:
    """Send output nowhere where its terminal is gone, as after SIGHUP: it must not fail before files are written."""
    for fd in _Wishes.terminals:
        if not os.isatty(fd):
            os.dup2(os.open(os.devnull, os.O_WRONLY), fd)
