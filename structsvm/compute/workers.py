"""What worker processes do beside their work. It is imported by each, and imports little."""

import logging
import os
import signal
import time
from collections.abc import Callable
from functools import cache
from threading import Thread
from typing import TypeVar

from structsvm.signals import ENDING

T = TypeVar("T")

_SECONDS_BETWEEN_LOOKS = 0.25


def stay_with(parent: int) -> None:
    """Leave signals and messages to the main process, and end with it, even where it is killed.

    A worker would go on for minutes otherwise, and Python would print what the library logs, once a worker.
    """
    logging.getLogger("structsvm").addHandler(logging.NullHandler())
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)
    _watch(parent)


def beside(parent: int, function: Callable[..., T], *arguments: object) -> T:
    """Call a function; where this is a worker of the process ``parent``, end with it from now on."""
    if os.getppid() == parent:
        _watch(parent)
    return function(*arguments)


@cache
def _watch(parent: int) -> None:
    Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    os._exit(1)
