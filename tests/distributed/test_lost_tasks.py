"""Lost workers cost time only; lost data and late answers are errors of the cluster, and tasks raise their own."""

import asyncio
import gc
import time
from types import SimpleNamespace

import numpy as np
import pytest

from structsvm import Ranker
from structsvm.distributed import DaskCluster, DaskRanker, read_partitions
from structsvm.distributed.workers import Workers, WorkersLost, require_finished
from structsvm.exceptions import ClusterError, InputError
from tests.distributed.queries import CUTS, DATA, arrays, assert_same_optimum, letor_files, ranking

LIMIT = 60.0


def late(value, *arguments):
    raise TimeoutError("the store did not answer")


def itself(value, *arguments):
    return value


def test_tasks_raise_their_own_errors(client):
    from distributed.comm import CommClosedError

    def closed(value, *arguments):
        raise CommClosedError("the store hung up")

    cluster, workers = DaskCluster(client, timeout=LIMIT), Workers(client, LIMIT)
    numbers = cluster.keep(abs, [1, 2])
    for function, kind in ((late, TimeoutError), (closed, CommClosedError)):
        for call in (
            lambda function=function: cluster.keep(function, [1]),
            lambda function=function: cluster.ask(function, numbers),
            lambda function=function: workers.fetch([workers.submit(function, 1)]),
        ):
            with pytest.raises(kind, match="the store"):
                call()


def test_cancelled_data_are_an_error_of_the_cluster(client):
    future = client.scatter([5])[0]
    client.cancel([future])
    until = time.monotonic() + LIMIT
    while future.status != "cancelled" and time.monotonic() < until:
        time.sleep(0.01)
    cluster = DaskCluster(client, timeout=20.0)
    of_cancelled, results = cluster.keep(abs, [future]), cluster.keep(sum, [[1.0], [2.0]])
    restrictions = client.run_on_scheduler(
        lambda dask_scheduler: [dask_scheduler.tasks[result.key].worker_restrictions for result in results]
    )
    assert restrictions == [None, None]
    client.cancel(results, force=True)
    lost = r"lost with its workers .*: workers may .*scattered by hand"
    for call, match in (
        (lambda: cluster.ask(itself, of_cancelled), lost),
        (lambda: cluster.ask(abs, results), f"{lost}.* This happened 3 times"),
        (lambda: Workers(client, LIMIT).fetch([future]), lost),
    ):
        with pytest.raises(ClusterError, match=match):
            call()


def test_arguments_without_workers_are_an_error_of_the_cluster(client, monkeypatch):
    def scatter(*values, **settings):
        raise TimeoutError("No valid workers found")

    monkeypatch.setattr("structsvm.distributed.dask_cluster._SENT_ONCE", 16)
    cluster = DaskCluster(client, timeout=LIMIT)
    numbers = cluster.keep(abs, [1])
    monkeypatch.setattr(client, "scatter", scatter)
    with pytest.raises(ClusterError, match="idle for 60 seconds, but values to be sent are left. There are 2 workers"):
        cluster.ask(itself, numbers, np.zeros(10))


@pytest.mark.parametrize(
    ("error", "kind", "match"),
    [
        ("killed", WorkersLost, "Attempted to run task"),
        (
            "structsvm.distributed",
            InputError,
            "a worker cannot import structsvm.distributed: .* pip install structural-",
        ),
        ("somebody", ModuleNotFoundError, "somebody"),
    ],
)
def test_errors_of_killed_workers_and_missing_packages_are_explained(error, kind, match):
    from distributed.scheduler import KilledWorker

    class Failed:
        status = "error"

        def result(self):
            if error == "killed":
                raise KilledWorker("task", SimpleNamespace(address="tcp://a:1"), 3)
            raise ModuleNotFoundError(f"No module named {error!r}", name=error)

    with pytest.raises(kind, match=match):
        require_finished(Failed())


def test_late_results_are_an_error_after_the_limit(client, monkeypatch):
    async def never(*values, **settings):
        await asyncio.sleep(2.0)

    workers = Workers(client, 0.5)
    settled = workers.settle([workers.submit(abs, 1)])
    monkeypatch.setattr(client, "_gather", never)
    with pytest.raises(ClusterError, match="idle for 0.5 seconds, but 1 result is left. There are 2 workers"):
        workers.fetch(settled)


def test_a_silent_scheduler_is_an_error_after_the_limit(client, monkeypatch, tmp_path):
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


def lose(client):
    """Remove a worker as if its machine were gone."""
    address = next(iter(client.nthreads()))

    async def remove(dask_scheduler=None):
        await dask_scheduler.remove_worker(address, stimulus_id="test", expected=False)

    client.run_on_scheduler(remove)


@pytest.mark.filterwarnings("ignore")
def test_files_of_a_lost_worker_are_read_again(tmp_path):
    from distributed import Client, LocalCluster

    paths = letor_files(DATA, CUTS, tmp_path)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        lost = []

        def callback(step):
            if step.iteration == 4 and not lost:
                lost.append(step)
                lose(client)

        ranker = DaskRanker("map", C=1000.0, tol=1e-6, client=client, timeout=60.0).fit(paths, callback=callback)
        assert lost
        assert len(client.nthreads()) == 1
        undisturbed = DaskRanker("map", C=1000.0, tol=1e-6, client=client, timeout=60.0).fit(paths)
    np.testing.assert_array_equal(ranker.coef_, undisturbed.coef_)
    alone = Ranker("map", C=1000.0, tol=1e-6, solver="one-slack").fit(DATA.X, DATA.y, DATA.qid)
    assert_same_optimum(ranker.result_, alone.result_)


@pytest.mark.slow
def test_a_fit_leaves_nothing_at_the_workers(client):
    gc.collect()
    before = sum(map(len, client.has_what().values()))
    ranker = DaskRanker("map", C=1.0, client=client).fit(*arrays(DATA))
    assert ranker.score(*arrays(DATA)) > 0.5
    until = time.monotonic() + 20.0
    while sum(map(len, client.has_what().values())) > before and time.monotonic() < until:
        gc.collect()
        time.sleep(0.05)
    assert sum(map(len, client.has_what().values())) <= before
