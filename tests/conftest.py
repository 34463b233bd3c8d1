"""Settings of all tests."""

import atexit
import gc
import os
import re
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# The first example of a test may compile; shared machines are slow at times. Examples are a few cells or documents, so
# that 25 are enough; a test may set its own number. They are equal in every run, so that a change fails for its own
# faults only; --hypothesis-profile=explore draws new ones.
settings.register_profile("structsvm", deadline=None, max_examples=25, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=25)
settings.load_profile("structsvm")

# A shell without job control starts background jobs, and so their children, with Ctrl-C ignored; tests send it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Under nohup, processes ignore SIGHUP, and their children, too; tests send it to children. Programs start with the
# default action for a signal that has a handler here.
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_: None)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect no garbage during the collection of tests, and exempt the tests and their imports later.

    Python would visit millions of lasting objects again and again: a tenth of the time of all tests.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


def _compile_once(run: str) -> None:
    """Let one worker of pytest-xdist compile a function that two need, and the second worker read it."""
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.dispatcher import Dispatcher

    from structsvm.foundation.storage.temporary import lock

    folder = Path(tempfile.gettempdir()) / f"structsvm-tests-{run}"
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    compile_, under_way = Dispatcher.compile, set[str]()

    def compile_alone(self: Any, signature: Any) -> Any:
        name = re.sub(r"\W", "_", f"{self.py_func.__module__}.{self.py_func.__qualname__}")
        with global_compiler_lock, ExitStack() as stack:
            if name not in under_way:
                under_way.add(name)
                stack.callback(under_way.discard, name)
                folder.mkdir(exist_ok=True)
                file = stack.enter_context((folder / name).open("ab"))
                for _ in range(600):
                    with suppress(BlockingIOError):
                        lock(file)
                        break
                    time.sleep(0.1)
            return compile_(self, signature)

    Dispatcher.compile = compile_alone


if "PYTEST_XDIST_TESTRUNUID" in os.environ:
    _compile_once(os.environ["PYTEST_XDIST_TESTRUNUID"])
