"""`auto` beside the solvers that it chooses from, on problems of all kinds."""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from typing import Any

import numpy as np
import scipy.sparse as sp
from attrs import evolve
from scipy.optimize import linear_sum_assignment
from sklearn.datasets import load_digits

from benchmarks.harness.data import Ranking, dense, graded, letor_folder, sparse
from benchmarks.harness.folds import read_folds
from benchmarks.harness.measuring import Size
from benchmarks.harness.rows import Row, Target, without_data
from benchmarks.losses.sequences import hidden_markov
from structsvm import Problem
from structsvm.exceptions import InputError
from structsvm.foundation.types import IntVector, Vector
from structsvm.inference.sets import Assignment, FeasibleSet
from structsvm.losses import GraphHamming, Loss, MultiLabelHamming, PartHamming
from structsvm.result import Step
from structsvm.solvers import Auto, FrankWolfe, NSlack, OneSlack, Solver

TITLE = 'How `solver="auto"` chooses'
ABOUT = """
Problems of all kinds, most of them small, at two values of C and `tol` = 0.001; MQ2008 at larger C and `tol` = 1e-6.
"CPU seconds" are the median of up to five fits on one thread after an uncounted one. "calls" are the argmaxes
of each example. "ratio" and "ratio of calls" divide the numbers of `auto` by the smallest of all solvers. A solver
stops if it has not converged after twice the time of `auto` and a second. `NSlack(batch=1000)` solves one QP per pass;
`NSlack`, one QP per constraint, runs for losses in Python only. The argmax of "slow matchings" takes 10 ms.
"""

CS = (10.0, 1000.0)
SOLVERS: tuple[Solver, ...] = (Auto(), FrankWolfe(), OneSlack(), NSlack(batch=1000))
IN_PYTHON = (*SOLVERS, NSlack())
LETOR = "MQ2008 fold 1, MAP"
LETOR_CS = (1e2, 1e4, 1e5, 1e6)
LETOR_TOL = 1e-6
LONGEST = 60.0
"""Seconds after which `auto` stops."""
REPEATED = 1.0
"""Seconds after which a fit is not repeated."""
FEW = 3
"""Iterations of fits that compile."""
ENOUGH = 1.25
"""Largest ratio that `auto` should have."""


class Partners(FeasibleSet):
    """Assignments of k rows to k columns, found in Python.

    Parameters
    ----------
    side : k.
    seconds : CPU time of each maximization.
    """

    def __init__(self, side: int, seconds: float = 0.0) -> None:
        self.side, self.seconds = side, seconds

    @property
    def size(self) -> int:
        return self.side**2

    def maximize(self, scores: Vector) -> Vector:
        began = time.process_time()
        parts = np.zeros((self.side, self.side))
        parts[linear_sum_assignment(scores.reshape(parts.shape), maximize=True)] = 1.0
        while time.process_time() < began + self.seconds:
            pass
        return parts.ravel()


class Words(Loss[IntVector, int]):
    """The class of a document, by a sparse joint feature of its words."""

    classes, words = 4, 20_000

    def joint_feature(self, x: IntVector, y: int) -> Any:
        place = np.zeros(len(x), dtype=np.int64), x + y * self.words
        return sp.csr_array((np.ones(len(x)), place), shape=(1, self.classes * self.words))

    def loss(self, y: int, y_hat: int) -> float:
        return float(y != y_hat)

    def loss_augmented_argmax(self, x: IntVector, y: int, w: Vector) -> int:
        return int(np.argmax(self._values(x, w) + (np.arange(self.classes) != y)))

    def argmax(self, x: IntVector, w: Vector) -> int:
        return int(np.argmax(self._values(x, w)))

    def _values(self, x: IntVector, w: Vector) -> Vector:
        return np.asarray(w.reshape(self.classes, self.words)[:, x].sum(axis=1))


def _ranking(data: Ranking, loss: str) -> Problem:
    return Problem.from_queries(data.X, data.y, data.qid, loss=loss)


def _ranks(loss: str, queries: int, documents: int, features: int) -> Callable[[float], Problem]:
    return lambda scale: _ranking(dense(_some(queries, scale), documents, features), loss)


def _wide(features: int) -> Callable[[float], Problem]:
    return lambda scale: _ranking(sparse(_some(2000, scale), 20, features, 20), "map")


def _some(count: int, scale: float) -> int:
    return max(8, round(count * scale))


def _grades(scale: float) -> Problem:
    data, _, _ = graded((_some(1000, scale), 1, 1), 40)
    return Problem.from_queries(data.X, data.y, data.qid, loss="ndcg")


def _digits(scale: float) -> Problem:
    X, y = load_digits(return_X_y=True)
    few = slice(_some(len(X), scale))
    return Problem.from_examples(X[few] / 16.0, y[few], loss="multiclass")


def _classes(n: int, d: int, K: int) -> Callable[[float], Problem]:
    def problem(scale: float) -> Problem:
        rng = np.random.default_rng(0)
        X = rng.standard_normal((_some(n, scale), d))
        y = np.argmax(X @ rng.standard_normal((d, K)) + 3.0 * rng.standard_normal((len(X), K)), axis=1)
        return Problem.from_examples(X, y % K if K > 2 else y, loss="multiclass")

    return problem


def _text(scale: float) -> Problem:
    rng, K, d = np.random.default_rng(0), 20, 50_000
    n, words = _some(2000, scale), 60
    y = rng.integers(0, K, n)
    topics = rng.integers(0, d, (K, 500))
    own = rng.random((n, words)) < 0.3
    index = np.where(own, topics[y[:, None], rng.integers(0, 500, own.shape)], d * rng.random(own.shape) ** 3)
    X = sp.csr_array((np.ones(index.size), (np.repeat(np.arange(n), words), index.ravel().astype(int))), shape=(n, d))
    return Problem.from_examples(X, y, loss="multiclass")


def _binary(scale: float) -> Problem:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((_some(20_000, scale), 40))
    y = X @ rng.standard_normal(40) + 3.0 * rng.standard_normal(len(X)) > 0.0
    return Problem.from_queries(X, y.astype(np.float64), loss="zero_one")


def _sequences(n: int) -> Callable[[float], Problem]:
    return lambda scale: Problem.from_examples(*hidden_markov(_some(n, scale)), loss="chain_hamming")


def _labels(edges: str) -> Callable[[float], Problem]:
    def problem(scale: float) -> Problem:
        rng = np.random.default_rng(0)
        X, common = rng.standard_normal((_some(1000, scale), 50)), rng.standard_normal((50, 8))
        noise = rng.standard_normal((len(X), 8)) + 2.0 * rng.standard_normal((len(X), 1))
        return Problem.from_examples(X, (X @ common / 4.0 + noise > 0.0).astype(int), loss=MultiLabelHamming(edges))

    return problem


def _grids(side: int) -> Callable[[float], Problem]:
    """Return images with noise, labeled by pixel; with one row they are chains."""

    def problem(scale: float) -> Problem:
        rng, K, rows = np.random.default_rng(0), 3, 6 if side > 1 else 1
        places = np.arange(rows * 6).reshape(rows, 6)
        across, down = (
            np.column_stack((a.ravel(), b.ravel()))
            for a, b in ((places[:, :-1], places[:, 1:]), (places[:-1], places[1:]))
        )
        edges = np.concatenate((across, down))
        xs, ys = [], []
        for _ in range(_some(600 if side == 1 else 150, scale)):
            y = np.repeat(np.repeat(rng.integers(0, K, (-(-rows // 2), 3)), 2, axis=0), 2, axis=1)[:rows].ravel()
            xs.append((np.eye(K)[y] + rng.standard_normal((y.size, K)), edges))
            ys.append(y)
        return Problem.from_examples(xs, ys, loss=GraphHamming())

    return problem


def _matchings(n: int, feasible: FeasibleSet, d: int = 10) -> Callable[[float], Problem]:
    def problem(scale: float) -> Problem:
        rng = np.random.default_rng(1)
        w, xs = rng.standard_normal(d), list(rng.standard_normal((_some(n, scale), feasible.size, d)))
        ys = [feasible.maximize(x @ w + 2.0 * rng.standard_normal(feasible.size)) for x in xs]
        return Problem.from_examples(xs, ys, loss=PartHamming(feasible), n_jobs=1)

    return problem


def _documents(scale: float) -> Problem:
    rng = np.random.default_rng(0)
    xs = [(Words.words * rng.random(15) ** 3).astype(np.int64) for _ in range(_some(200, scale))]
    return Problem.from_examples(xs, [int(x[:5].sum() % Words.classes) for x in xs], loss=Words(), n_jobs=1)


KINDS: dict[str, Callable[[float], Problem]] = {
    "MAP": _ranks("map", 600, 100, 136),
    "MAP, short queries": _ranks("map", 5000, 8, 30),
    "MAP, long queries": _ranks("map", 60, 1000, 50),
    "MAP, 10 queries": _ranks("map", 10, 300, 60),
    "ROC area": _ranks("roc_area", 600, 100, 60),
    "NDCG": _grades,
    "p@5": _ranks("p@5", 800, 50, 30),
    "MAP, 100 features": _wide(100),
    "MAP, 10000 features": _wide(10_000),
    "binary": _binary,
    "digits": _digits,
    "5 classes": _classes(20_000, 20, 5),
    "50 classes": _classes(3000, 30, 50),
    "20 classes of text": _text,
    "100 sequences": _sequences(100),
    "500 sequences": _sequences(500),
    "labels without edges": _labels("none"),
    "labels in a tree": _labels("tree"),
    "labels in pairs": _labels("complete"),
    "graphs, trees": _grids(1),
    "graphs, grids": _grids(6),
    "matchings": _matchings(1000, Assignment(5, 5)),
    "matchings in Python": _matchings(100, Partners(5)),
    "200 matchings in Python": _matchings(200, Partners(8), 40),
    "600 matchings in Python": _matchings(600, Partners(4)),
    "slow matchings": _matchings(20, Partners(5, 0.01)),
    "sparse joint features": _documents,
}
"""Functions of the scale that make problems."""


def run(size: Size) -> Iterator[Row]:
    for what, kind in KINDS.items():
        problem = kind(size.scale)
        _warm_up(problem)
        for C in CS:
            yield from _solved(what, problem.with_C(C), size)
    folder = letor_folder()
    if folder is None:
        yield without_data(LETOR, "Auto")
        return
    problem = _ranking(read_folds(folder)[0][0], "map")
    _warm_up(problem)
    for C in LETOR_CS:
        yield from _solved(LETOR, problem.with_C(C), size, LETOR_TOL)


def targets(rows: list[Row]) -> Iterator[Target]:
    for name, what in (("ratio", "CPU seconds"), ("calls_ratio", "calls for losses in Python")):
        ratios = [row.values[name] for row in rows if name in row.values]
        yield Target(f"{what} of `auto` over the best solver's, the worst", ENOUGH, max(ratios, default=None))


def _solved(what: str, problem: Problem, size: Size, tol: float = 1e-3) -> Iterator[Row]:
    rows: list[Row] = []
    longest = LONGEST
    for solver in SOLVERS if problem.has_kernel else IN_PYTHON:
        row = _fitted(what, problem, evolve(solver, tol=tol), size, longest)
        longest = min(longest, 2.0 * row.values.get("cpu", longest) + 1.0)
        rows.append(row)
    rows[0].values.update(_ratios(rows, "cpu", "ratio"))
    if not problem.has_kernel:
        rows[0].values.update(_ratios(rows, "solved", "calls_ratio"))
    yield from rows


def _warm_up(problem: Problem) -> None:
    """Compile all solvers, by fits to a few examples."""
    few = problem.block(0, min(problem.n, 5))
    for solver in SOLVERS:
        with suppress(InputError):
            solver.solve(few, callback=lambda step: step.iteration >= FEW)


def _ratios(rows: list[Row], name: str, ratio: str) -> dict[str, float]:
    """Return the value of the first row over the smallest."""
    values = [row.values[name] for row in rows if name in row.values and not row.note]
    return {ratio: rows[0].values[name] / min(values)} if values else {}


def _fitted(what: str, problem: Problem, solver: Solver, size: Size, longest: float) -> Row:
    who, seconds = type(solver).__name__, []
    if isinstance(solver, NSlack) and solver.batch > 1:
        who = "NSlack(batch=1000)"
    try:
        for number in count():
            began = time.process_time()
            result = solver.solve(problem, callback=lambda step: _is_late(step, longest))
            took = time.process_time() - began
            # The first fit brings the data into the cache, and may compile.
            if number > 0 or (took > REPEATED and not result.history[-1].compile_seconds):
                seconds.append(took)
            if len(seconds) == min(size.repeats, 5) or sum(seconds) > REPEATED:
                break
    except InputError as error:
        return Row(what=what, who=who, C=problem.C, note=str(error).partition(":")[0])
    last = result.history[-1]
    values = {
        "cpu": float(np.median(seconds)),
        "solved": last.argmaxes,
        "passes": last.passes,
        "gap": result.gap / problem.C,
    }
    note = "" if result.converged else result.status.value
    return Row(what=what, who=who, C=problem.C, repeats=len(seconds), values=values, note=note)


def _is_late(step: Step, longest: float) -> bool:
    return step.seconds > longest
