"""Ctrl-C held back while numba compiles."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from types import FrameType
from typing import Any


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back until the block has ended; then it does what it would have done.

    Only the main thread is ever interrupted; elsewhere nothing is held back.
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    came: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: came.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if came:
            handler(*came[0])


def compile_undisturbed(dispatcher: Any) -> None:
    """Let a function of numba's be compiled to the end once that has begun.

    An interrupted compilation leaves numba with generators and locks that no later one in the process can use
    ("generator raised StopIteration").
    """
    compilation: Callable[..., Any] = dispatcher.compile

    @wraps(compilation)
    def undisturbed(*arguments: Any) -> Any:
        with interrupts_held():
            return compilation(*arguments)

    dispatcher.compile = undisturbed
