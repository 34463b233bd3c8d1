"""Frank-Wolfe in each partition as a source of cuts, beside 1-slack's cuts of planes at one point."""

import time
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from attrs import evolve, frozen

from benchmarks.harness.data import Ranking, letor_folder, m
from benchmarks.harness.folds import read_folds
from benchmarks.harness.measuring import Size
from benchmarks.harness.rows import Row, Target, without_data
from structsvm import Problem
from structsvm.foundation.types import IntVector, Vector
from structsvm.problem.coordinates import Coordinates
from structsvm.problem.planes import DualPlanes
from structsvm.problem.planes.capacity import places_within
from structsvm.problem.points import Cut
from structsvm.problem.sweep import sweep_examples
from structsvm.solvers.joint_step import improve_jointly
from structsvm.solvers.line_search import TOWARD_TARGET, lowest_on
from structsvm.solvers.qp import ActiveSet
from structsvm.solvers.working_set import WorkingSet

TITLE = "Local Frank-Wolfe as a source of cuts"
ABOUT = """
Two messages of partitions in a round of 1-slack with its line search, simulated in one process, `tol` = 0.001. With
"planes", each partition sends the sum of its planes at the current point, as `DistributedProblem` does. With "local
steps", each partition makes a pass of Frank-Wolfe from that point, with stored planes and as many steps on them as
`FrankWolfe`, and also sends the sum of its dual solution, which is a valid cut, too. "K cuts": the driver stores the
cuts of each partition in a separate group, and each partition assumes that all other partitions do not move. "one cut":
the driver adds the cuts up, and each partition assumes that all other partitions make the same step (σ' = K; Ma et al.,
"Adding vs. averaging in distributed primal-dual optimization", ICML 2015). The critical path is the processor time of
the slowest partition of each call, and of the driver; a line search counts as evenly spread work. Local steps end after
1.2 times the rounds of planes.
"""

CS = (10.0, 100.0, 1000.0, 10_000.0)
PARTITIONS = (2, 16)
TOL = 1e-3
MOST_ROUNDS = 200
TOGETHER = 6
SWEEPS = 10
PATIENCE = 50
MOST_MOVES = 20
ENOUGH = 1.3

_SWEPT, _JOINTLY, _MOST_JOINT_CUTS = 0.07, 0.02, 100
"""Parts of the gap met by a pass at which sweeps over planes, and joint steps, end, as of `FrankWolfe`."""


@frozen
class Way:
    """The message of a partition.

    Parameters
    ----------
    steps : whether partitions take local steps.
    apart : whether the cuts of each partition are a separate group.
    """

    steps: bool
    apart: bool


WAYS = {
    "planes, one cut": Way(steps=False, apart=False),
    "local steps, K cuts": Way(steps=True, apart=True),
    "local steps, one cut": Way(steps=True, apart=False),
}


class Shard:
    """A partition with its stored planes.

    Parameters
    ----------
    problem : the partition's part of the problem.
    sigma : factor by which the partition scales the effect of its steps.
    """

    def __init__(self, problem: Problem, sigma: float) -> None:
        self.problem, self.total = problem, float(problem.cap.sum())
        self._used = np.flatnonzero(problem.cap)
        self._scale = sigma**0.5
        self._others = np.zeros(problem.d)
        self._dual = DualPlanes(problem.d, problem.cap, places_within(problem.n, problem.d, 2**28))
        self._rng = np.random.default_rng(0)

    def planes(self, w: Vector) -> Cut:
        """Return the mean of the planes at some weights."""
        g, L = self.problem.weighted(self.problem.planes(self.problem.at(w)), self.total)
        return Cut(g, L.value)

    def steps(self, others: Vector) -> Cut:
        """Return the mean plane of the dual solution after a pass; the weights of the other partitions stay."""
        dual, arrays = self._dual, self._dual.arrays
        arrays.L[:] -= arrays.G @ ((others - self._others) / self._scale)
        self._others = others
        dual.refresh()
        coordinates = Coordinates(others, np.full(len(others), self._scale))
        order: IntVector = self._rng.permutation(self._used)
        met = sweep_examples(evolve(self.problem, coordinates=coordinates), dual, order)
        if not self._swept(_SWEPT * met):
            improve_jointly(dual, _JOINTLY * met, _MOST_JOINT_CUTS)
            self._swept(_JOINTLY * met)
        offset = dual.refresh() + 0.5 * float(dual.w @ dual.w)
        g = dual.w / self._scale
        return Cut(g / self.total, (offset + float(g @ others)) / self.total)

    def _swept(self, enough: float) -> bool:
        return self._dual.improve(self._rng.permutation(self._used), enough, SWEEPS) <= enough


class Fit:
    """A fit by cuts that partitions make one way.

    Parameters
    ----------
    problem : the problem, for the line search.
    count : number of partitions.
    way : their message.
    """

    def __init__(self, problem: Problem, count: int, way: Way) -> None:
        ends = np.linspace(0, problem.n, count + 1).astype(int)
        sigma = 1.0 if way.apart else float(count)
        self.problem, self.way = problem, way
        self.shards = [Shard(problem.block(low, high), sigma) for low, high in pairwise(ends.tolist())]
        self._share = np.array([shard.total for shard in self.shards]) / problem.total_cap
        caps = [shard.total for shard in self.shards] if way.apart else [problem.total_cap]
        self.cuts = WorkingSet(problem.d, np.array(caps), 10**6)
        self.path = self.gap = np.inf

    def run(self, most: int) -> int:
        """Fit, and return the number of rounds."""
        self.path, problem = 0.0, self.problem
        best = cutting = problem.origin()
        planes, moves = problem.planes(best), 0
        for number in range(1, most + 1):
            self._cut(cutting.w)
            began = time.thread_time()
            target = problem.at(self.cuts.w.copy())
            if moves >= MOST_MOVES:
                best, moves = problem.at(best.w), 0
                planes = problem.planes(best)
            line = problem.line(best, planes, target)
            if t := lowest_on(line.regularizer, line.hinges, TOGETHER):
                (best, planes), moves = line.at(t), moves + 1
            cutting = best.toward(target, TOWARD_TARGET)
            self.path += (time.thread_time() - began) / len(self.shards)
            self.gap = (problem.primal(planes, best) - self.cuts.dual) / problem.C
            if self.gap <= TOL:
                return number
        return most

    def _cut(self, w: Vector) -> None:
        began = time.thread_time()
        own = self._share[:, None] * self.cuts.w
        if self.way.apart:
            own = np.zeros_like(own)
            np.add.at(own, self.cuts.group, self.cuts.a[:, None] * self.cuts.G)
        self.path += time.thread_time() - began
        taken, found = [], []
        for shard, part in zip(self.shards, own, strict=True):
            began = time.thread_time()
            found.append([shard.planes(w), *([shard.steps(w - part)] if self.way.steps else [])])
            taken.append(time.thread_time() - began)
        began = time.thread_time()
        for cuts in zip(*found, strict=True):
            G, L = np.array([cut.g for cut in cuts]), np.array([cut.L for cut in cuts])
            group = np.arange(len(cuts))
            if not self.way.apart:
                G, L, group = (self._share @ G)[None], np.array([self._share @ L]), np.zeros(1, dtype=np.int64)
            self.cuts.add(G, L, group)
        self.cuts.solve(ActiveSet(), 0.05 * TOL * self.problem.C)
        self.cuts.prune(PATIENCE)
        self.path += max(taken) + time.thread_time() - began


def run(size: Size) -> Iterator[Row]:
    folder = letor_folder()
    if folder is None:
        yield without_data("MAP, MQ2008 fold 1", "planes")
    else:
        fold = read_folds(folder)[0][0]
        yield from _rows("MAP, MQ2008 fold 1", fold, "map", CS)
        yield from _rows("ROC area, MQ2008 fold 1", fold, "roc_area", CS)
    yield from _rows("MAP on a quarter of m", m(0.25 * size.scale), "map", CS[:-1])


def _rows(what: str, data: Ranking, loss: str, Cs: tuple[float, ...]) -> Iterator[Row]:
    problem = Problem.from_queries(data.X, data.y, data.qid, loss=loss, n_jobs=1)
    for way in WAYS.values():
        Fit(problem, 2, way).run(2)  # compiles
    for C in Cs:
        for count in PARTITIONS:
            most, path = MOST_ROUNDS, 0.0
            for name, way in WAYS.items():
                fit = Fit(problem.with_C(C), count, way)
                rounds = fit.run(most)
                most, path = (round(1.2 * rounds), fit.path) if not way.steps else (most, path)
                values = {"rounds": float(rounds), "gap": fit.gap, "critical": 1e3 * fit.path, "ratio": path / fit.path}
                note = "" if fit.gap <= TOL else "not at its end"
                yield Row(what=what, who=f"K = {count}: {name}", C=C, repeats=1, values=values, note=note)


def targets(rows: list[Row]) -> Iterator[Target]:
    local = [row for row in rows if "local" in row.who and (row.C or 0.0) >= 1000.0]
    for name in [name for name, way in WAYS.items() if way.steps]:
        ratios = [0.0 if row.note else row.values["ratio"] for row in local if row.who.endswith(name)]
        what = f"critical path of planes over {name}, C ≥ 1000, the worst"
        yield Target(what, ENOUGH, min(ratios, default=None), at_least=True)
