"""Signals that end a command."""

import os
import signal
import subprocess
import sys
import time

import pytest

from structsvm.foundation import signals


@pytest.fixture
def handled(monkeypatch):
    """Let signals end things as they do in commands."""
    before = {number: signal.getsignal(number) for number in signals.ENDING}
    for name, value in {"number": 0, "last": -1.0, "terminals": ()}.items():
        monkeypatch.setattr(signals._Interrupts, name, value)
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    signals.end_as_ctrl_c_does()
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def send(number=signal.SIGTERM, *, later=True):
    if later:
        signals._Interrupts.last -= 10.0
    signal.raise_signal(number)


@pytest.mark.parametrize("number", signals.ENDING)
def test_each_is_ctrl_c(handled, number):
    with pytest.raises(KeyboardInterrupt):
        send(number)


def test_a_second_wish_lets_what_there_is_be_written_and_a_third_does_not(handled):
    with pytest.raises(KeyboardInterrupt):
        send()
    send(later=False)
    send(signal.SIGINT, later=False)  # all of them one wish
    send()
    with pytest.raises(KeyboardInterrupt):
        send()


class Dying:
    def __del__(self):
        send()


def let_it_die():
    Dying()
    time.sleep(0.2)


def test_one_that_comes_in_a_finalizer_is_not_lost(handled, capsys):
    with pytest.raises(KeyboardInterrupt):
        let_it_die()
    assert capsys.readouterr().err == ""


def test_work_that_is_done_is_written_whatever_comes(handled):
    signals.finish()
    send()
    with pytest.raises(KeyboardInterrupt):
        send()


def test_what_is_ignored_stays_ignored(handled):
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signals.end_as_ctrl_c_does()
    send(signal.SIGHUP)


def test_at_the_end_nothing_comes_through(handled):
    signals.leave()
    send()
    send()


def test_a_terminal_that_is_gone_gets_nothing(handled, monkeypatch):
    leader, follower = os.openpty()
    monkeypatch.setattr(signals._Interrupts, "terminals", (follower,))
    os.close(leader)
    with pytest.raises(OSError, match="Input/output error"):
        os.write(follower, b"lost")
    with pytest.raises(KeyboardInterrupt):
        send(signal.SIGHUP)
    os.write(follower, b"nowhere")
    os.close(follower)


def test_ctrl_c_in_an_eval_does_not_change_the_exit_code():
    statements = """
import sys
from structsvm.foundation.signals import leave

def press():
    raise KeyboardInterrupt

try:
    eval("press()")
except KeyboardInterrupt:
    leave()
    sys.exit(1)
"""
    assert subprocess.run([sys.executable, "-c", statements]).returncode == 1


def test_the_library_takes_no_signals():
    changed = """
import signal
before = [signal.getsignal(number) for number in (1, 2, 15)]
import structsvm.cli, structsvm.foundation.signals
print(before == [signal.getsignal(number) for number in (1, 2, 15)])
"""
    assert subprocess.run([sys.executable, "-c", changed], capture_output=True, text=True).stdout == "True\n"
