"""What is told of compiling, and signals that come meanwhile."""

import gc
import signal
import time

import numba
import pytest
from numba.core import event

from structsvm.compute.compilation import compiled
from structsvm.compute.compile_progress import what_is_compiled


@pytest.fixture
def interrupting(monkeypatch, tmp_path):
    """Ctrl-C in the middle of what numba compiles, once."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    sent = []

    class Interrupting(event.Listener):
        def on_start(self, event):
            if event.data["name"].startswith("nopython_type_inference") and not sent:
                sent.append(True)
                signal.raise_signal(signal.SIGINT)

        def on_end(self, event):
            pass

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with event.install_listener("numba:run_pass", Interrupting()):
        yield sent
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_waits_until_compiling_has_ended(interrupting):
    function = compiled(doubled)
    with pytest.raises(KeyboardInterrupt):
        function(1.0)
    assert interrupting
    assert len(function.overloads) == 1
    assert function(1.0) == 2.0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def doubled(x):
    return 2.0 * x


def test_compiling_is_reported_while_it_lasts(caplog):
    reported = []

    class Slow(event.Listener):
        def on_start(self, event):
            reported.append((what_is_compiled(), gc.isenabled()))
            time.sleep(0.35)
            reported.append((what_is_compiled(), gc.isenabled()))

        def on_end(self, event):
            pass

    function = compiled(doubled, keep=False)
    with event.install_listener("numba:compile", Slow()), caplog.at_level("INFO", "structsvm"):
        assert function(1.0) == 2.0
    assert reported == [("", False), ("compiling doubled, 0 s", False)]
    assert gc.isenabled()
    assert what_is_compiled() == ""
    assert "compiled doubled in 0." in caplog.text


def test_functions_of_others_are_not_reported():
    reported = []

    class Looking(event.Listener):
        def on_start(self, event):
            reported.append(gc.isenabled())

        def on_end(self, event):
            pass

    with event.install_listener("numba:compile", Looking()):
        numba.njit(doubled)(1.0)
    assert reported == [True]
