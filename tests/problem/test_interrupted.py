"""Ctrl-C during a call of compiled code is not reported as a fault of the kernel."""

import signal
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from structsvm import Problem
from structsvm.problem import sweep as sweeps
from structsvm.problem.planes import DualPlanes


@pytest.fixture
def interrupted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Press Ctrl-C while numba passes a kernel to compiled code; numba then raises another error."""
    seen: list[str] = []

    def interrupt(frame: Any, event: str, _argument: Any) -> None:
        if event == "call" and frame.f_code.co_name == "_numba_unpickle":
            sys.setprofile(None)
            seen.append(frame.f_code.co_name)
            signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.setprofile(interrupt)
    yield seen
    sys.setprofile(None)
    signal.signal(signal.SIGINT, before)


def planes(problem: Problem) -> None:
    problem.planes(problem.origin())


def visits(problem: Problem) -> None:
    sweeps.sweep_examples(problem, DualPlanes(problem.d, problem.cap, 3), np.arange(problem.n))


@pytest.mark.parametrize("call", [planes, visits])
def test_ctrl_c_while_a_kernel_is_handed_over_ends_the_call(
    call: Callable[[Problem], None], request: pytest.FixtureRequest
) -> None:
    problem = Problem.from_queries([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1], loss="map", n_jobs=1)
    call(problem)  # compiled before
    seen = request.getfixturevalue("interrupted")
    with pytest.raises(KeyboardInterrupt):
        call(problem)
    assert seen
    call(problem)
