"""Ctrl-C while numba compiles."""

import os
import signal
import threading

import pytest

from structsvm.compute.compilation import compiled, compiled_part
from structsvm.compute.interrupts import interrupts_held


@pytest.fixture(autouse=True)
def python_handler():
    """A suite that is started in the background ignores the signal."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("decorate", [compiled, compiled_part])
def test_a_compilation_ends_before_it_is_told_of(decorate, monkeypatch):
    def twice(number):
        return 2 * number

    function = decorate(twice)
    maker = type(function._compiler)
    compile_now, ended = maker.compile, []

    def disturbed(self, *arguments):
        os.kill(os.getpid(), signal.SIGINT)
        result = compile_now(self, *arguments)
        ended.append(result)
        return result

    with monkeypatch.context() as patched:
        patched.setattr(maker, "compile", disturbed)
        with pytest.raises(KeyboardInterrupt):
            function(3)
    assert len(ended) == 1
    assert function(3) == 6
    assert decorate(twice)(3) == 6


def test_it_is_told_of_once_and_at_the_end():
    done = []

    def interrupted():
        with interrupts_held():
            with interrupts_held():
                signal.raise_signal(signal.SIGINT)
                signal.raise_signal(signal.SIGINT)
            done.append("inner")
        done.append("outer")

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert done == ["inner"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_who_ignores_it_is_not_told():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with interrupts_held():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_other_threads_hold_nothing_back():
    seen = []

    def look():
        with interrupts_held():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]
