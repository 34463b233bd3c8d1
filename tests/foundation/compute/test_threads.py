"""The number of threads, and the data that they share."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import joblib
import numba
import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from structsvm.exceptions import InputError
from structsvm.foundation.compute.atomics import add
from structsvm.foundation.compute.compilation import compiled
from structsvm.foundation.compute.threads import (
    Threads,
    blas,
    in_blocks,
    one_blas_thread,
    over_blocks,
    require_jobs,
    thread_count,
    using,
)
from structsvm.foundation.types import IntVector, Vector
from tests.slow import slow

ALL = numba.get_num_threads()


def in_worker(n_jobs: int | None = None) -> int:
    return thread_count(n_jobs)


def test_jobs_are_counted_as_scikit_learn_counts_them() -> None:
    assert [thread_count(n_jobs) for n_jobs in (1, 3, -1, None)] == [1, 3, ALL, ALL]
    assert thread_count(-2) == max(1, ALL - 1)
    assert thread_count(-ALL - 5) == 1


@pytest.mark.parametrize("n_jobs", [0, True, 1.5, "2"])
def test_no_jobs_are_refused(n_jobs: Any) -> None:
    with pytest.raises(InputError, match="n_jobs must be a number of threads .*, -1 for all cores, .*got"):
        require_jobs("n_jobs", n_jobs)


def test_none_is_what_joblib_says() -> None:
    with joblib.parallel_config(n_jobs=3):
        assert thread_count(None) == 3
        assert thread_count(2) == 2
    with joblib.parallel_config(n_jobs=-1):
        assert thread_count(None) == ALL


@pytest.mark.parametrize("backend", ["threading", *slow("loky", "multiprocessing")])
def test_none_is_one_thread_in_a_worker(backend: str) -> None:
    counts = joblib.Parallel(n_jobs=2, backend=backend)([joblib.delayed(in_worker)(n) for n in (None, None, 2)])
    assert counts == [1, 1, 2]


def test_threads_end_with_their_block_and_are_shared_within_it() -> None:
    before = set(threading.enumerate())
    with using(3) as threads:
        met = set[str]()
        barrier = threading.Barrier(3)

        def work() -> None:
            met.add(threading.current_thread().name)
            barrier.wait(10)

        threads.together(work, 8)
        assert len(met) == 3
        with using(None) as inner, using(3) as same:
            assert inner is same is threads
        with using(2) as fewer:
            assert fewer is not threads
    assert set(threading.enumerate()) <= before


def test_no_more_threads_than_are_of_use() -> None:
    threads = Threads(4)
    threads.together(lambda: None, 1)
    assert threads._pool is None


def test_what_another_thread_raises_is_raised() -> None:
    barrier = threading.Barrier(2)

    def work() -> None:
        barrier.wait(10)
        if threading.current_thread() is not threading.main_thread():
            raise ValueError("in another thread")

    with using(2) as threads, pytest.raises(ValueError, match="in another thread"):
        threads.together(work, 2)


def test_what_is_raised_waits_for_the_other_threads() -> None:
    """They write to arrays that the caller uses afterwards."""
    barrier, done = threading.Barrier(2), []

    def work() -> None:
        barrier.wait(10)
        if threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt
        time.sleep(0.05)
        done.append(True)

    with using(2) as threads:
        with pytest.raises(KeyboardInterrupt):
            threads.together(work, 2)
        assert done


@pytest.mark.skipif(os.name == "nt", reason="signals are sent as on POSIX")
@pytest.mark.parametrize("times", [1, 2, 3])
def test_ctrl_c_waits_for_the_other_threads_however_often_it_comes(times: int) -> None:
    began, over, done = threading.Event(), threading.Event(), []

    def work() -> None:
        if threading.current_thread() is not threading.main_thread():
            began.set()
            over.wait(10)
            time.sleep(0.05)
            done.append(True)
        else:
            began.wait(10)

    def interrupt() -> None:
        began.wait(10)
        for _ in range(times):
            time.sleep(0.05)
            os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.05)
        over.set()

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    interrupter = threading.Thread(target=interrupt)
    try:
        with using(2) as threads:
            interrupter.start()
            with pytest.raises(KeyboardInterrupt):
                threads.together(work, 2)
            assert done
    finally:
        signal.signal(signal.SIGINT, before)
        over.set()
        interrupter.join()


@pytest.mark.parametrize("place", ["submit", "cancel"])
def test_ctrl_c_while_work_is_handed_out_or_taken_back_waits_too(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    began, done, interrupted = threading.Event(), [], []

    def work() -> None:
        if threading.current_thread() is not threading.main_thread():
            began.set()
            time.sleep(0.05)
            done.append(True)
        else:
            began.wait(10)

    kind = ThreadPoolExecutor if place == "submit" else Future
    usual = getattr(kind, place)

    def interrupted_once(self: Any, *arguments: Any) -> Any:
        result = usual(self, *arguments)
        if not interrupted:
            began.wait(10)
            interrupted.append(True)
            raise KeyboardInterrupt
        return result

    monkeypatch.setattr(kind, place, interrupted_once)
    with using(2) as threads:
        with pytest.raises(KeyboardInterrupt):
            threads.together(work, 2)
        assert done


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_what_is_begun_aside_is_given_when_asked_for(n_jobs: int) -> None:
    with using(n_jobs) as threads:
        asked = [threads.aside(lambda k=k: k * k) for k in range(5)]
        assert [ask() for ask in asked] == [0, 1, 4, 9, 16]


def test_what_is_aside_is_done_by_another_thread_and_by_one_when_it_is_asked_for() -> None:
    began, names = threading.Event(), []

    def work() -> None:
        names.append(threading.current_thread().name)
        began.set()

    with using(2) as threads:
        ask = threads.aside(work)
        assert began.wait(10)
        ask()
    with using(1) as threads:
        ask = threads.aside(work)
        assert len(names) == 1
        ask()
    assert names[0].startswith("structsvm")
    assert names[1] == threading.current_thread().name


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_is_raised_aside_is_raised_where_it_is_asked_for(n_jobs: int) -> None:
    def fail() -> None:
        raise ValueError("aside")

    with using(n_jobs) as threads:
        ask, _ = threads.aside(fail), threads.aside(fail)  # the second is never asked for
        assert threads.aside(lambda: 3)() == 3
        threads.together(lambda: None, 2)
        with pytest.raises(ValueError, match="aside"):
            ask()


def test_work_together_does_not_wait_for_what_is_aside() -> None:
    over, done = threading.Event(), []
    with using(2) as threads:
        ask = threads.aside(lambda: over.wait(10))
        threads.together(lambda: done.append(threading.current_thread()), 2)
        assert done == [threading.current_thread()]
        over.set()
        assert ask()


def test_the_end_of_the_block_waits_for_what_is_aside() -> None:
    """It reads arrays of the caller's."""
    began, done = threading.Event(), []

    def work() -> None:
        began.set()
        time.sleep(0.05)
        done.append(True)

    with using(2) as threads:
        threads.aside(work)
        began.wait(10)
    assert done


def test_what_is_aside_may_use_threads_of_its_own() -> None:
    def square(k: int) -> int:
        return k * k

    def nested() -> int:
        with using(2) as threads:
            ask = threads.aside(lambda: square(3))
            threads.together(lambda: None, 2)
            return ask() + square(1)

    with using(2) as threads:
        ask = threads.aside(nested)
        assert nested() == 10  # of the same block: it is taken when the other thread is free
        assert ask() == 10


@pytest.mark.parametrize("most", [3, 100])
def test_blocks_do_not_depend_on_the_number_of_threads(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("structsvm.foundation.compute.threads._BLOCK", 10)
    ptr = np.cumsum([0, *np.random.default_rng(0).integers(0, 9, 50)])
    blocks = []
    for n_jobs in (1, 2, 8):
        with using(n_jobs):
            blocks.append(in_blocks(lambda i, j: (i, j), ptr, most=most))
    assert blocks[0] == blocks[1] == blocks[2]
    assert 1 < len(blocks[0]) <= most
    starts, ends = zip(*blocks[0], strict=True)
    assert (starts[0], ends[-1]) == (0, 50)
    assert starts[1:] == ends[:-1]


def test_each_block_is_taken_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("structsvm.foundation.compute.threads._BLOCK", 10)
    ptr = np.cumsum([0, *np.random.default_rng(0).integers(0, 9, 50)])
    for n_jobs in (1, 2, 8):
        taken = np.zeros(50)

        def loop(bounds: IntVector, counters: IntVector, taken: Vector = taken) -> None:
            assert len(bounds) > 10
            count_taken(bounds, counters, taken)

        with using(n_jobs):
            over_blocks(loop, ptr)
        assert (taken == 1.0).all()


@compiled
def count_taken(bounds: IntVector, counters: IntVector, taken: Vector) -> None:
    while True:
        block = add(counters, 0, 1)
        if block >= len(bounds) - 1:
            return
        for i in range(bounds[block], bounds[block + 1]):
            taken[i] += 1.0


def test_one_thread_where_nothing_is_compiled() -> None:
    code = "from structsvm.foundation.compute.threads import thread_count; print(thread_count(8))"
    run = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, capture_output=True, check=True
    )
    assert run.stdout.split() == [b"1"]


def test_blas_has_one_thread_within_the_block_and_its_number_again_after_it() -> None:
    def of_blas() -> set[int]:
        return {library["num_threads"] for library in blas().info()}

    @one_blas_thread()
    def inside() -> set[int]:
        return of_blas()

    with threadpool_limits(2, user_api="blas"), ThreadPoolExecutor(1) as pool:
        before = of_blas()
        with one_blas_thread():
            # No library of NumPy's may be known, as Apple's Accelerate is not.
            assert inside() <= {1}
            assert pool.submit(inside).result() <= {1}
        assert of_blas() == before
