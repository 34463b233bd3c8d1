"""Rounds, calls and bytes of 1-slack on partitions, against one machine."""

import time
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.harness.data import Ranking, dense, letor_folder, m
from benchmarks.harness.folds import read_folds
from benchmarks.harness.measuring import Size
from benchmarks.harness.rows import Row, Target, pick, quotient, without_data
from structsvm import Problem, Result
from structsvm.distributed import Cluster, DaskCluster, DistributedProblem, InProcess, Partition
from structsvm.solvers import OneSlack

TITLE = "Partitions"
ABOUT = """
OneSlack on data in partitions (`structsvm.distributed`), with `tol` = 0.001. Rounds are its iterations. In-process
counts are as on a cluster with one partition per worker; kB count all numbers sent and answered, by all workers
together, in a round. With Dask there are two worker processes on this machine, and the time of a round is wall time.
The driver's time is the time outside of partitions; it includes merging their answers.
"""

CS = (1.0, 10.0, 100.0, 1000.0, 10_000.0)
PARTITIONS = (2, 32)


def run(size: Size) -> Iterator[Row]:
    folder = letor_folder()
    if folder is None:
        yield without_data("MAP, MQ2008 fold 1", "OneSlack")
    else:
        fold = read_folds(folder)[0][0]
        yield from _rounds("MAP, MQ2008 fold 1", fold, "map", CS, with_dask=True)
        yield from _rounds("ROC area, MQ2008 fold 1", fold, "roc_area", CS, with_dask=True)
    yield from _driver(size)
    yield from _rounds("ROC area on m", m(size.scale), "roc_area", CS[:-1])
    yield from _rounds("MAP on m", m(size.scale), "map", CS)


def _rounds(what: str, data: Ranking, loss: str, Cs: tuple[float, ...], with_dask: bool = False) -> Iterator[Row]:
    for C in Cs:
        one = Problem.from_queries(data.X, data.y, data.qid, loss=loss, C=C)
        yield _row(what, "one machine", C, one)
    for count in PARTITIONS:
        for C in Cs:
            yield _row(what, f"{count} partitions", C, _spread(InProcess(), data, count, loss, C))
    if not with_dask:
        return
    if find_spec("distributed") is None:
        yield Row(what=what, who="Dask", note="not installed")
        return
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as workers,
        Client(workers) as client,
    ):
        for C in Cs:
            problem = _spread(DaskCluster(client), data, 8, loss, C)
            yield _row(what, "8 partitions, Dask", C, problem)


def _row(what: str, who: str, C: float, problem: Any) -> Row:
    began = time.perf_counter()
    result: Result = OneSlack().solve(problem)
    seconds = time.perf_counter() - began
    last, rounds = result.history[-1], len(result.history) - 1
    values = {"rounds": float(rounds), "gap": result.gap / C}
    if last.calls:
        values |= {"calls": last.calls / max(rounds, 1), "sent": last.sent / 1e3 / max(rounds, 1)}
    if "Dask" in who:
        values["round"] = seconds / max(rounds, 1)
        work = sum(sum(call.seconds) for call in problem.cluster.log[-last.calls :])
        values["beside"] = 1e3 * (seconds - work / 2) / max(rounds, 1)
    note = "" if result.converged else "not converged"
    return Row(what=what, who=who, C=C, repeats=1, values=values, note=note)


def _driver(size: Size) -> Iterator[Row]:
    """Time the driver with almost no work in partitions: more partitions, more weights, more cuts."""
    for count, d in ((8, 136), (64, 136), (512, 136), (64, 1360), (64, 13_600)):
        data = dense(max(count, round(512 * size.scale)), 10, d)
        cluster = InProcess()
        problem = _spread(cluster, data, count, "map", 100.0)
        taken = []
        for _ in range(2):
            before, began = len(cluster.log), time.perf_counter()
            result = OneSlack(max_iter=6, tol=1e-9).solve(problem)
            work = sum(sum(call.seconds) for call in cluster.log[before:])
            taken.append((time.perf_counter() - began - work) / (len(result.history) - 1))
        yield Row(
            what="driver",
            who=f"{count} partitions, {d:,} weights",
            C=100.0,
            repeats=2,
            values={"driver": 1e3 * min(taken)},
        )


def _spread(cluster: Cluster, data: Ranking, count: int, loss: str, C: float) -> DistributedProblem:
    number = np.unique(data.qid, return_inverse=True)[1]
    rows = [np.flatnonzero(number % count == k) for k in range(count)]
    parts = [Partition(data.X[own], data.y[own], data.qid[own]) for own in rows]
    return DistributedProblem.from_queries(cluster, parts, loss=loss, C=C)


def targets(rows: list[Row]) -> Iterator[Target]:
    whats = dict.fromkeys(row.what for row in rows if row.what != "driver")
    ratios, gaps = [], []
    for row in rows:
        if row.what in whats and row.who != "one machine" and row.values:
            ratios.append(
                quotient(row.values["rounds"], pick(rows, "rounds", what=row.what, who="one machine", C=row.C))
            )
            gaps.append(row.values["gap"])
    yield Target(
        "rounds, as a multiple of the rounds on one machine, at most", 1.2, max(filter(None, ratios), default=None)
    )
    yield Target("certified gap / C", 1e-3, max(gaps, default=None))
    beside = [row.values["beside"] for row in rows if "beside" in row.values]
    yield Target("time of a round with Dask beside its work", 50.0, max(beside, default=None), unit=" ms")
