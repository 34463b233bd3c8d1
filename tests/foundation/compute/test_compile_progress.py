"""Reports of compilation, and signals that arrive meanwhile."""

import gc
import signal
import time

import numba
import pytest
from numba.core import event

from structsvm.foundation.compute.compilation import compiled, compiled_part
from structsvm.foundation.compute.compile_progress import compile_seconds, running_time, what_is_compiled
from tests.slow import slow


@pytest.fixture
def interrupting(monkeypatch, tmp_path):
    """Press Ctrl-C once while numba compiles."""
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


@pytest.mark.parametrize("keep", [True, *slow(False)])
@pytest.mark.parametrize(("on_disk", "wanted"), [(None, "compiling doubled, 0 s"), ("machine code", "")])
def test_what_is_compiled_is_told_while_it_is(on_disk, wanted, keep, monkeypatch, caplog):
    told = []
    gc.enable()

    def slow(self, signature):
        told.append(what_is_compiled())
        assert not gc.isenabled()
        self._cache.load_overload(signature, None)
        time.sleep(0.35)
        told.append(what_is_compiled())

    cache = numba.core.caching.FunctionCache if keep else numba.core.caching.NullCache
    monkeypatch.setattr(cache, "load_overload", lambda *_: on_disk)
    monkeypatch.setattr(numba.core.registry.CPUDispatcher, "compile", slow)
    spent, ran = compile_seconds(), running_time()
    with caplog.at_level("INFO", "structsvm"):
        compiled(doubled, keep=keep).compile("never")
    spent, ran = compile_seconds() - spent, running_time() - ran
    assert (spent >= 0.35, ran >= 0.35) == ((True, False) if on_disk is None else (False, True))
    assert told == ["", wanted]
    assert gc.isenabled()
    assert what_is_compiled() == ""
    assert ("compiled doubled in 0." in caplog.text) is (on_disk is None)
    assert ("kept on disk" in caplog.text) is (on_disk is None and keep)


def test_a_part_is_called_from_python_and_from_compiled_code():
    @compiled_part
    def part(x):
        return x + 1.0

    @compiled
    def whole(x):
        return 2.0 * part(x)

    assert whole(1.0) == 4.0
    assert part(1.0) == 2.0
    assert part(2) == 3.0
