"""Workers of Dask in processes of their own: the same optimum, also where they die."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from structsvm.distributed import DaskCluster, DistributedProblem, Partition
from structsvm.exceptions import ClusterError, InputError
from structsvm.foundation.types import Vector
from structsvm.problem import Problem
from structsvm.result import Result
from structsvm.solvers import OneSlack
from tests.small_problems import PlainROCArea, ranking_arrays

distributed = pytest.importorskip("distributed", reason="needs the extra dask")

WAIT = 120.0
"""Seconds after which a call is given up; the machine may be busy."""


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def arrays() -> tuple[Any, Vector, Vector]:
    return ranking_arrays(0, queries=40, documents=8, d=5)


def made(K: int, path: Path | None = None) -> list[Partition]:
    X, y, qid = arrays()
    if path is not None:
        X = X * float(path.read_text())
    return [Partition(X[qid % K == k], y[qid % K == k], qid[qid % K == k]) for k in range(K)]


def processes(client: Any) -> list[int]:
    return [nanny.pid for nanny in client.cluster.workers.values() if nanny.pid]


def assert_optimal(result: Result, C: float, loss: Any = "map") -> None:
    one = Problem.from_queries(*arrays(), loss=loss, C=C)
    expected = OneSlack(tol=1e-5).solve(one)
    point = one.at(result.w)
    assert result.converged
    assert result.primal == one.primal(one.planes(point), point)
    assert result.dual <= expected.primal
    assert expected.dual <= result.primal


@pytest.mark.parametrize(("K", "loss"), [(1, "map"), (5, "roc_area"), (5, PlainROCArea())])
def test_the_optimum(client: Any, K: int, loss: Any) -> None:
    cluster = DaskCluster(client, timeout=WAIT)
    problem = DistributedProblem.from_queries(cluster, made(K), loss=loss, C=100.0)
    result = OneSlack(tol=1e-5).solve(problem)
    assert_optimal(result, 100.0, loss)
    last = result.history[-1]
    assert 0 < last.calls <= 4 * len(result.history)
    assert last.sent == sum(call.asked * (call.down + call.up) for call in cluster.log[-last.calls :])
    assert all(call.asked <= 2 for call in cluster.log[-last.calls :])


def test_partitions_may_be_futures_of_what_workers_read(client: Any, tmp_path: Path) -> None:
    path = tmp_path / "scale"
    path.write_text("1")
    whole = client.submit(made, 3, path)
    parts = [client.submit(lambda parts, k=k: parts[k], whole) for k in range(3)]
    assert_optimal(OneSlack(tol=1e-5).solve(DistributedProblem.from_queries(DaskCluster(client), parts, C=10.0)), 10.0)


def test_large_arguments_are_sent_once(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("structsvm.distributed.dask_cluster._SENT_ONCE", 16)
    problem = DistributedProblem.from_queries(DaskCluster(client, timeout=WAIT), made(3), C=10.0)
    assert_optimal(OneSlack(tol=1e-5).solve(problem), 10.0)


def test_a_worker_that_is_killed_changes_nothing(client: Any) -> None:
    """What it had is made again elsewhere, and the scores that it knew are made of weights."""
    problem = DistributedProblem.from_queries(DaskCluster(client, timeout=WAIT), made(4), C=1000.0)
    killed = []

    def kill(step: Any) -> None:
        if step.iteration in (1, 4):
            victim = processes(client)[0]
            os.kill(victim, signal.SIGKILL)
            killed.append(victim)

    result = OneSlack(tol=1e-5).solve(problem, callback=kill)
    assert len(killed) == 2
    assert_optimal(result, 1000.0)


def test_data_that_changed_when_they_were_read_again_are_refused(client: Any, tmp_path: Path) -> None:
    path = tmp_path / "scale"
    path.write_text("1")
    whole = client.submit(made, 2, path)
    parts = [client.submit(lambda parts, k=k: parts[k], whole) for k in range(2)]
    problem = DistributedProblem.from_queries(DaskCluster(client, timeout=WAIT), parts, C=1000.0)

    def change(step: Any) -> None:
        if step.iteration == 1:
            path.write_text("2")
            for pid in processes(client):
                os.kill(pid, signal.SIGKILL)

    with pytest.raises(InputError, match="partition [01] was read again"):
        OneSlack(tol=1e-6).solve(problem, callback=change)


def test_no_workers_left_is_an_error_that_names_the_checkpoint(tmp_path: Path) -> None:
    file = tmp_path / "fit.npz"
    local = {"threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(n_workers=1, **local) as workers, distributed.Client(workers) as client:
        problem = DistributedProblem.from_queries(DaskCluster(client, timeout=3.0), made(2), C=1000.0)

        def leave(step: Any) -> None:
            if step.iteration == 2:
                workers.scale(0)
                client.sync(workers._correct_state)

        with pytest.raises(ClusterError, match=r"were idle for 3 seconds.*no workers left.*fit\.npz"):
            OneSlack(tol=1e-6).solve(problem, callback=leave, checkpoint=file)
        kept = Result.load(file)
        assert len(kept.history) >= 3
        workers.scale(1)
        client.wait_for_workers(1, timeout=60)
        again = DistributedProblem.from_queries(DaskCluster(client, timeout=WAIT), made(2), C=1000.0)
        result = OneSlack(tol=1e-6).solve(again, checkpoint=file)
    assert_optimal(result, 1000.0)
    assert [step.iteration for step in result.history] == list(range(len(result.history)))
    assert result.history[-1].calls > kept.history[-1].calls


def test_a_scheduler_that_is_gone_is_an_error() -> None:
    local = {"threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(n_workers=1, **local) as workers, distributed.Client(workers) as client:
        problem = DistributedProblem.from_queries(DaskCluster(client, timeout=5.0), made(2), C=1000.0)
        client.close()
        with pytest.raises(ClusterError, match="scheduler cannot be reached"):
            OneSlack(tol=1e-6).solve(problem)


def test_without_a_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributed, "get_client", lambda: (_ for _ in ()).throw(ValueError("none")))
    with pytest.raises(InputError, match="there is no Dask client"):
        DaskCluster()


@pytest.mark.parametrize("timeout", [0.0, -1.0, np.inf, "ten"])
def test_the_timeout_is_a_number(timeout: Any) -> None:
    with pytest.raises(InputError, match="timeout"):
        DaskCluster(object(), timeout=timeout)
