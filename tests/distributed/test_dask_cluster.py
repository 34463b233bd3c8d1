"""Fits on Dask workers in other processes reach the optimum, even if workers die."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from structsvm.distributed import DaskCluster, DistributedProblem, Partition
from structsvm.exceptions import ClusterError, InputError
from structsvm.foundation.types import Vector
from structsvm.problem import Problem
from structsvm.result import Result
from structsvm.solvers import OneSlack
from tests.distributed.queries import assert_same_optimum
from tests.small_problems import PlainROCArea, ranking_arrays

distributed = pytest.importorskip("distributed", reason="needs the extra dask")

pytestmark = pytest.mark.slow

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


def parts_of(K: int, path: Path | None = None) -> list[Partition]:
    X, y, qid = arrays()
    if path is not None:
        X = X * float(path.read_text())
    return [Partition(X[qid % K == k], y[qid % K == k], qid[qid % K == k]) for k in range(K)]


def read_again(client: Any, K: int, path: Path) -> list[Any]:
    """Return futures of partitions whose values depend on a file."""
    path.write_text("1")
    whole = client.submit(parts_of, K, path)
    return [client.submit(lambda parts, k=k: parts[k], whole) for k in range(K)]


def processes(client: Any) -> list[int]:
    return [nanny.pid for nanny in client.cluster.workers.values() if nanny.pid]


def assert_optimal(result: Result, C: float, loss: Any = "map") -> None:
    one = Problem.from_queries(*arrays(), loss=loss, C=C)
    point = one.at(result.w)
    assert_same_optimum(result, OneSlack(tol=1e-5).solve(one))
    assert result.primal == one.primal(one.planes(point), point)


@pytest.mark.parametrize(("K", "loss"), [(1, "map"), (5, "roc_area"), (5, PlainROCArea())])
def test_fits_reach_the_optimum_of_one_machine(client: Any, K: int, loss: Any) -> None:
    cluster = DaskCluster(client, timeout=WAIT)
    problem = DistributedProblem.from_queries(cluster, parts_of(K), loss=loss, C=100.0)
    result = OneSlack(tol=1e-5).solve(problem)
    assert_optimal(result, 100.0, loss)
    last = result.history[-1]
    assert 0 < last.calls <= 4 * len(result.history)
    assert last.sent == sum(call.asked * (call.down + call.up) for call in cluster.log[-last.calls :])
    assert all(call.asked <= 2 for call in cluster.log[-last.calls :])


def test_futures_and_large_arguments_lead_to_the_optimum(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("structsvm.distributed.dask_cluster._SENT_ONCE", 16)
    parts = read_again(client, 3, tmp_path / "scale")
    assert_optimal(OneSlack(tol=1e-5).solve(DistributedProblem.from_queries(DaskCluster(client), parts, C=10.0)), 10.0)


def test_killed_workers_do_not_change_the_optimum(client: Any) -> None:
    problem = DistributedProblem.from_queries(DaskCluster(client, timeout=WAIT), parts_of(4), C=1000.0)
    killed = []

    def kill(step: Any) -> None:
        if step.iteration in (1, 4):
            victim = processes(client)[0]
            os.kill(victim, signal.SIGKILL)
            killed.append(victim)

    result = OneSlack(tol=1e-5).solve(problem, callback=kill)
    assert len(killed) == 2
    assert_optimal(result, 1000.0)


def test_data_that_change_before_they_are_read_again_are_errors(client: Any, tmp_path: Path) -> None:
    path = tmp_path / "scale"
    parts = read_again(client, 2, path)
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
        problem = DistributedProblem.from_queries(DaskCluster(client, timeout=3.0), parts_of(2), C=1000.0)

        def leave(step: Any) -> None:
            if step.iteration == 2:
                workers.scale(0)
                client.sync(workers._correct_state)

        with pytest.raises(ClusterError, match=r"were idle for 3 seconds.*no workers left.*fit\.npz"):
            OneSlack(tol=1e-6).solve(problem, callback=leave, checkpoint=file)
        stored = Result.load(file)
        assert len(stored.history) >= 3
        workers.scale(1)
        client.wait_for_workers(1, timeout=60)
        again = DistributedProblem.from_queries(DaskCluster(client, timeout=WAIT), parts_of(2), C=1000.0)
        result = OneSlack(tol=1e-6).solve(again, checkpoint=file)
    assert_optimal(result, 1000.0)
    assert [step.iteration for step in result.history] == list(range(len(result.history)))
    assert result.history[-1].calls > stored.history[-1].calls
