"""What Dask raises of lost workers and late answers is told in our words, and what a task raises is left as it is."""

import asyncio
import time
from types import SimpleNamespace

import numpy as np
import pytest

from structsvm.distributed import DaskCluster
from structsvm.distributed.workers import Workers, WorkersLost, require_finished
from structsvm.exceptions import ClusterError, InputError
from structsvm.foundation.compute.environment import numba

LIMIT = 60.0


def late(value, *arguments):
    raise TimeoutError("the store did not answer")


def itself(value, *arguments):
    return value


def test_what_a_task_raises_is_its_own_error(client):
    from distributed.comm import CommClosedError

    def closed(value, *arguments):
        raise CommClosedError("the store hung up")

    cluster, workers = DaskCluster(client, timeout=LIMIT), Workers(client, LIMIT)
    kept = cluster.keep(abs, [1, 2])
    for function, kind in ((late, TimeoutError), (closed, CommClosedError)):
        with pytest.raises(kind, match="the store"):
            cluster.keep(function, [1])
        with pytest.raises(kind, match="the store"):
            cluster.ask(function, kept)
        with pytest.raises(kind, match="the store"):
            workers.fetch([workers.submit(function, 1)])


def test_inputs_that_were_cancelled_are_an_error_of_the_cluster(client):
    future = client.scatter([5])[0]
    client.cancel([future])
    until = time.monotonic() + LIMIT
    while future.status != "cancelled" and time.monotonic() < until:
        time.sleep(0.01)
    cluster = DaskCluster(client, timeout=LIMIT)
    kept = cluster.keep(abs, [future])
    with pytest.raises(ClusterError, match=r"lost with its workers .*: workers may .*scattered by hand"):
        cluster.ask(itself, kept)
    with pytest.raises(ClusterError, match=r"lost with its workers .*: workers may .*scattered by hand"):
        Workers(client, LIMIT).fetch([future])


def test_arguments_that_find_no_workers_are_an_error_of_the_cluster(client, monkeypatch):
    def scatter(*given, **how):
        raise TimeoutError("No valid workers found")

    monkeypatch.setattr("structsvm.distributed.dask_cluster._SENT_ONCE", 16)
    cluster = DaskCluster(client, timeout=LIMIT)
    kept = cluster.keep(abs, [1])
    monkeypatch.setattr(client, "scatter", scatter)
    with pytest.raises(ClusterError, match="idle for 60 seconds, but values to be sent are left. There are 2 workers"):
        cluster.ask(itself, kept, np.zeros(10))


def test_a_task_that_killed_its_workers_is_lost():
    from distributed.scheduler import KilledWorker

    class Killed:
        status = "error"

        def result(self):
            raise KilledWorker("task", SimpleNamespace(address="tcp://a:1"), 3)

    with pytest.raises(WorkersLost, match="Attempted to run task"):
        require_finished(Killed())


def test_a_worker_without_this_package_is_told_what_to_install():
    class Missing:
        status = "error"

        def __init__(self, name):
            self.name = name

        def result(self):
            raise ModuleNotFoundError(f"No module named {self.name!r}", name=self.name)

    with pytest.raises(
        InputError, match="a worker cannot import structsvm.distributed: .* pip install structural-svm=="
    ):
        require_finished(Missing("structsvm.distributed"))
    with pytest.raises(ModuleNotFoundError, match="somebody"):
        require_finished(Missing("somebody"))


def test_results_that_do_not_come_are_waited_for_no_longer_than_the_limit(client, monkeypatch):
    async def never(*given, **how):
        await asyncio.sleep(2.0)

    workers = Workers(client, 0.5)
    settled = workers.settle([workers.submit(abs, 1)])
    monkeypatch.setattr(client, "_gather", never)
    with pytest.raises(ClusterError, match="idle for 0.5 seconds, but 1 result is left. There are 2 workers"):
        workers.fetch(settled)


def test_a_scheduler_that_does_not_answer_is_waited_for_no_longer_than_the_limit(client, monkeypatch, tmp_path):
    from structsvm.distributed import read_partitions
    from tests.distributed.queries import letor_files, ranking

    class Mute:
        def __init__(self, scheduler):
            self.scheduler = scheduler

        def __getattr__(self, name):
            return getattr(self.scheduler, name)

        async def ncores(self):
            await asyncio.sleep(2.0)

    paths = letor_files(ranking(queries=2), [], tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(client, "scheduler", Mute(client.scheduler))
        with pytest.raises(ClusterError, match="scheduler cannot be reached"):
            read_partitions(paths, client=client, timeout=0.5)


def test_nothing_is_left_of_a_call(client):
    """Neither the number of threads of a worker, nor where what was kept had been."""

    def set_threads():
        numba.set_num_threads(numba.config.NUMBA_NUM_THREADS)

    places = list(client.nthreads())
    client.gather([client.submit(set_threads, workers=[place], pure=False) for place in places])
    cluster = DaskCluster(client, timeout=LIMIT)
    for _ in range(4):
        kept = cluster.keep(abs, [1, 2])
        assert cluster.ask(itself, kept) == [1, 2]
    assert len(cluster._places) <= 4
    threads = [client.submit(numba.get_num_threads, workers=[place], pure=False) for place in places]
    assert client.gather(threads) == [numba.config.NUMBA_NUM_THREADS] * len(places)
