"""Work of several threads stage by stage."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from structsvm.foundation.compute.compilation import compiled
from structsvm.foundation.compute.threads import (
    begin_stage,
    end_piece,
    ends_stage,
    next_piece,
    next_stage,
    run_stages,
    stage_counters,
    using,
)
from structsvm.foundation.types import IntVector

PIECES = 7


@compiled
def work(counters: IntVector, amount: IntVector, done: IntVector, pieces: int, leads: bool) -> bool:
    """Add an amount to each piece, stage after stage; say whether the leader's stage has ended."""
    stage = 0
    if leads:
        begin_stage(counters)
    while leads or next_stage(counters, stage):
        stage += 1
        piece = next_piece(counters, pieces)
        while piece >= 0:
            done[piece] += amount[0]
            end_piece(counters)
            piece = next_piece(counters, pieces)
        if leads:
            return ends_stage(counters, pieces)
    return False


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_each_piece_of_each_stage_is_done_once(n_jobs: int) -> None:
    counters, amount, done = stage_counters(), np.zeros(1, dtype=np.int64), np.zeros(PIECES, dtype=np.int64)
    total = 0

    def lead() -> None:
        nonlocal total
        for k in range(2000):
            amount[0] = k
            total += k
            assert work(counters, amount, done, PIECES, True)
            assert done.tolist() == [total] * PIECES

    work(stage_counters(), amount, done.copy(), PIECES, True)  # compiled before threads wait for it
    with using(n_jobs) as threads:
        run_stages(threads, lead, lambda: work(counters, amount, done, PIECES, False), counters, PIECES)


@pytest.mark.parametrize("raises", ["leader", "follower"])
def test_who_raises_ends_the_wait_of_the_others(raises: str) -> None:
    counters, taken = stage_counters(), threading.Barrier(2)

    def lead() -> None:
        begin_stage(counters)
        taken.wait(10.0)
        if raises == "leader":
            raise ZeroDivisionError
        assert not ends_stage(counters, 1)

    def follow() -> None:
        assert next_stage(counters, 0)
        assert next_piece(counters, 1) == 0
        taken.wait(10.0)
        if raises == "follower":
            raise ZeroDivisionError
        assert not next_stage(counters, 1)

    others = stage_counters()  # all is compiled before threads wait for each other
    begin_stage(others)
    assert next_piece(others, 1) == 0
    end_piece(others)
    assert ends_stage(others, 1)
    assert next_stage(others, 0)
    assert next_piece(others, 1) == -1
    with using(2) as threads, pytest.raises(ZeroDivisionError):
        run_stages(threads, lead, follow, counters, 2)


def test_ctrl_c_before_the_leader_begins_ends_the_wait_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    counters, began, led = stage_counters(), threading.Event(), []
    submit = ThreadPoolExecutor.submit

    def submit_and_interrupt(self: ThreadPoolExecutor, *arguments: Any) -> None:
        submit(self, *arguments)
        began.wait(10.0)
        raise KeyboardInterrupt

    def follow() -> None:
        began.set()
        assert not next_stage(counters, 0)

    others = stage_counters()  # compiled before threads wait for each other
    begin_stage(others)
    assert next_stage(others, 0)
    monkeypatch.setattr(ThreadPoolExecutor, "submit", submit_and_interrupt)
    with using(2) as threads, pytest.raises(KeyboardInterrupt):
        run_stages(threads, lambda: led.append(True), follow, counters, 2)
    assert not led
