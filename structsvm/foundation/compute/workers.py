"""Set up worker processes. Every worker imports this module, so it imports little."""

import logging
import os
import signal
import time
from collections.abc import Callable
from functools import cache
from threading import Thread
from typing import TypeVar

from structsvm.foundation.signals import ENDING

T = TypeVar("T")

_SECONDS_BETWEEN_LOOKS = 0.25


def stay_with(parent: int) -> None:
    """Ignore signals, suppress log messages, and end this worker with the main process, which may be killed."""
    logging.getLogger("structsvm").addHandler(logging.NullHandler())
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)
    _watch(parent)


def run_in_worker(parent: int, function: Callable[..., T], *arguments: object) -> T:
    """Call a function; if this process is a worker of ``parent``, end it when the parent ends."""
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
