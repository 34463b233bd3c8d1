"""From 1 to 1,024 partitions in one process, and from there to 10⁹ queries."""

import time
from collections.abc import Iterator
from functools import partial
from itertools import pairwise

import numpy as np
from attrs import evolve

from benchmarks.clusters.network import Even, ShiftedExponential, Tree
from benchmarks.clusters.network.plan import BYTES, DATACENTRE, Costs, Data, Machines, driver_seconds, fits
from benchmarks.harness.data import Ranking, dense
from benchmarks.harness.measuring import Size, clock
from benchmarks.harness.rows import Row, Target, pick
from structsvm import Problem
from structsvm.distributed import Cluster, DistributedProblem, InProcess, Partition
from structsvm.foundation.types import Matrix, Vector
from structsvm.result import Step
from structsvm.solvers import OneSlack

TITLE = "The plan to internet scale"
PAGE = "benchmarks/clusters/scale.md"
ABOUT = """
Rounds, calls and bytes with 1 to 1,024 partitions, counted in one process, and a model of a cluster with 10⁹ queries.
"""

PARTITIONS = (1, 16, 128, 1024)
CS = (10.0, 100.0, 1000.0, 10_000.0)
QUERIES, DOCUMENTS, FEATURES = 2048, 100, 136
GROWTH = tuple((queries, C) for queries in (250, 500, 1000, 2000, 4000, 8000) for C in (100.0, 1000.0))
QP_OF = (1000.0, 10_000.0, 100_000.0)
WORKERS = (16, 256, 1024, 16_384)

ROUNDS, STEPS = 25, (7, 6)
"""Rounds of a planned fit, and the number of steps t in each of its two calls along the line."""

TRIALS = 100
CUTS = 25


def run(size: Size) -> Iterator[Row]:
    yield from _partitions(size)
    yield from _more_queries(size)
    found = [*_costs(size), *_driver(size)]
    yield from found
    costs = as_costs(found)
    rng = np.random.default_rng(0)
    yield from _clusters(costs, rng)
    yield from _plans(costs, rng)
    yield from _many_weights(costs)


def _partitions(size: Size) -> Iterator[Row]:
    """Fit with more and more partitions of the same queries."""
    data = dense(max(32, round(QUERIES * size.scale)), DOCUMENTS, FEATURES)
    for C in CS:
        result = OneSlack().solve(Problem.from_queries(data.X, data.y, data.qid, loss="map", C=C))
        values = {"rounds": float(len(result.history) - 1), "gap": result.gap / C}
        yield Row(what="partitions", who="one machine", C=C, repeats=1, values=values)
    for count in PARTITIONS:
        cluster = InProcess()
        problem = _spread(cluster, data, min(count, data.qid[-1] + 1))
        for C in CS:
            values = _counted(cluster, problem.with_C(C), OneSlack())
            yield Row(what="partitions", who=f"K = {count:,}", C=C, repeats=1, values=values)


def _spread(cluster: Cluster, data: Ranking, partitions: int) -> DistributedProblem:
    ends = np.searchsorted(data.qid, [queries[0] for queries in np.array_split(np.unique(data.qid), partitions)])
    rows = [slice(*two) for two in pairwise([*ends.tolist(), len(data.y)])]
    parts = [Partition(data.X[each], data.y[each], data.qid[each]) for each in rows]
    return DistributedProblem.from_queries(cluster, parts, loss="map")


def _counted(cluster: InProcess, problem: DistributedProblem, solver: OneSlack) -> dict[str, float]:
    """Fit; return the bytes of a round, its time in a partition, and the time of the driver, as medians."""
    log = cluster.log
    log.clear()
    ends = [(time.perf_counter(), 0)]

    def note(step: Step) -> None:
        ends.append((time.perf_counter(), len(log)))

    result = solver.solve(problem, callback=note)
    rounds = len(result.history) - 1
    driver, partition = [], []
    for (began, first), (ended, last) in pairwise(ends[1:]):
        calls = log[first:last]
        driver.append(ended - began - sum(call.wall for call in calls))
        partition.append(sum(float(np.median(call.seconds)) for call in calls))
    return {
        "rounds": float(rounds),
        "calls": len(log) / rounds,
        "down": sum(call.down for call in log) / rounds / 1e3,
        "up": sum(call.up for call in log) / rounds / 1e3,
        "partition": 1e3 * float(np.median(partition)),
        "driver": 1e3 * float(np.median(driver)),
        "gap": result.gap / problem.C,
    }


def _more_queries(size: Size) -> Iterator[Row]:
    for queries, C in GROWTH:
        data = dense(max(20, round(queries * size.scale)), DOCUMENTS, FEATURES, dtype=np.float32)
        result = OneSlack().solve(Problem.from_queries(data.X, data.y, data.qid, loss="map", C=C))
        values = {"rounds": float(len(result.history) - 1), "gap": result.gap / C}
        yield Row(what="queries", who=f"{queries:,} queries", C=C, values=values)


def _costs(size: Size) -> Iterator[Row]:
    """Time the work of a round on a query, on one core."""
    data = dense(max(20, round(1000 * size.scale)), DOCUMENTS, FEATURES, dtype=np.float32)
    problem = Problem.from_queries(data.X, data.y, data.qid, loss="map", C=1000.0)
    w = OneSlack(tol=0.01).solve(problem).w
    point = problem.at(w)
    planes = problem.planes(point)
    works = {
        "scores": lambda: problem.at(w),
        "argmax": lambda: problem.planes(point),
        "cut": lambda: problem.cut(planes),
    }
    for who, work in works.items():
        seconds, _ = clock(work, size.repeats)
        yield Row(
            what="costs", who=who, repeats=len(seconds), values={"microseconds": 1e6 * np.median(seconds) / problem.n}
        )


def _driver(size: Size) -> Iterator[Row]:
    """Time the work of the driver in a round: the products of a new cut with all cuts, the QP, and its w."""
    data = dense(max(20, round(1000 * size.scale)), DOCUMENTS, FEATURES)
    for C in QP_OF:
        problem = Problem.from_queries(data.X, data.y, data.qid, loss="map", C=C)
        history = OneSlack(max_iter=400).solve(problem).history
        took = np.diff([step.solver_seconds for step in history[-10:]])
        who = f"C = {C:,.0f}: {history[-1].cuts} cuts of {FEATURES}"
        yield Row(what="driver", who=who, repeats=len(took), values={"driver": 1e3 * float(np.median(took))})
    rng = np.random.default_rng(0)
    for d in (10**4, 10**5, 10**6):
        G, g = rng.normal(size=(CUTS, d)), rng.normal(size=d)
        a = rng.random(CUTS)
        seconds, _ = clock(partial(_products, G, g, a), size.repeats)
        values = {"driver": 1e3 * min(seconds)}
        yield Row(what="driver", who=f"products of {CUTS} cuts of {d:,}", repeats=len(seconds), values=values)


def _products(G: Matrix, g: Vector, a: Vector) -> tuple[Vector, Vector]:
    """Return the products of all cuts with a new one, and their weighted sum."""
    return G @ g, a @ G


def as_costs(rows: list[Row]) -> Costs:
    """Return costs in seconds from rows of measurements."""
    read = {row.who: 1e-6 * row.values["microseconds"] for row in rows if row.what == "costs"}
    drivers = {row.who: 1e-3 * row.values["driver"] for row in rows if row.what == "driver"}
    qp = next(seconds for who, seconds in drivers.items() if who.startswith("C = "))
    values = DOCUMENTS * FEATURES
    dot = drivers[f"products of {CUTS} cuts of {10**6:,}"] / (2.0 * CUTS * 10**6)
    return Costs(read["scores"] / values, read["cut"] / values, read["argmax"], dot, qp)


def _clusters(costs: Costs, rng: np.random.Generator) -> Iterator[Row]:
    """Sample rounds of clusters whose workers have 10⁶ queries each."""
    calm = evolve(DATACENTRE, spread=Even(), life=None)
    kinds = {
        "all alike": calm,
        "lognormal": evolve(DATACENTRE, life=None),
        "exponential": evolve(calm, spread=ShiftedExponential(0.2)),
        "lognormal, machines live 30 days": DATACENTRE,
        "lognormal, machines live one day": evolve(DATACENTRE, life=86_400.0),
    }
    for workers in WORKERS:
        data = Data(1e6 * workers, DOCUMENTS, FEATURES, FEATURES)
        for who, machines in kinds.items():
            values = _planned(data, evolve(machines, workers=workers), costs, rng)
            yield Row(what="clusters", who=f"K = {workers:,}, {who}", values=values)


def _plans(costs: Costs, rng: np.random.Generator) -> Iterator[Row]:
    sizes = ((6, 1), (6, 16), (7, 16), (8, 64), (8, 256), (9, 256), (9, 1024), (9, 4096), (9, 16_384))
    for power, workers in sizes:
        data = Data(10.0**power, DOCUMENTS, FEATURES, FEATURES)
        values = {
            "held": data.bytes / workers / 1e9,
            **_planned(data, evolve(DATACENTRE, workers=workers), costs, rng),
        }
        yield Row(what="plans", who=f"10^{power} queries, K = {workers:,}", values=values)


def _planned(data: Data, machines: Machines, costs: Costs, rng: np.random.Generator) -> dict[str, float]:
    sampled = fits(data, machines, costs, rounds=ROUNDS, steps=STEPS, trials=TRIALS, rng=rng)
    minutes = [one.total.sum() / 60.0 for one in sampled]
    work, network, driver = (
        float(sum(one.sum() for one in parts))
        for parts in (
            [one.work for one in sampled],
            [one.down + one.up for one in sampled],
            [one.driver for one in sampled],
        )
    )
    total = work + network + driver
    return {
        "round": float(np.median([one.total for one in sampled])),
        "work": work / total,
        "network": network / total,
        "qp": driver / total,
        "minutes": float(np.median(minutes)),
        "late": float(np.quantile(minutes, 0.95)),
    }


def _many_weights(costs: Costs) -> Iterator[Row]:
    """Yield the cost of d numbers per round for a driver of 1,024 workers."""
    tree = DATACENTRE.tree
    for power in range(3, 10):
        data = Data(1e9, DOCUMENTS, 200, 10**power, width=8)
        both = {
            name: 2.0 * one.seconds(1024, BYTES * data.weights)
            for name, one in {"star": Tree(tree.link), "tree": tree, "parts": evolve(tree, servers=32)}.items()
        }
        values = {
            "cuts": BYTES * ROUNDS * data.weights / 1e9,
            **both,
            "driver": 1e3 * driver_seconds(data, DATACENTRE, costs, ROUNDS),
        }
        yield Row(what="weights", who=f"d = 10^{power}", values=values)


def targets(rows: list[Row]) -> Iterator[Target]:
    most = pick(rows, "rounds", what="partitions", who="K = 1,024", C=1000.0)
    yield Target("1,024 partitions, C = 1000: rounds", 25, most)
