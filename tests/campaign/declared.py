"""Losses over feasible sets: all named sets, small programs, and an oracle in Python."""

from itertools import combinations, product
from typing import Any

import numpy as np
from attrs import evolve

from structsvm import Problem
from structsvm.foundation.types import Vector
from structsvm.inference.sets import (
    Alignment,
    Arborescence,
    Assignment,
    DirectedPath,
    FeasibleSet,
    Knapsack,
    Oracle,
    Program,
    ProjectiveTree,
    Segmentation,
    SpanningTree,
    Subset,
)
from structsvm.inference.sets.base import output_alone
from structsvm.losses import PartHamming, Regret
from structsvm.solvers import Auto, FrankWolfe, NSlack, OneSlack
from tests.campaign.cases import Case

STARTS = ("cold", "same data", "saved", "other C", "other solver")


def positive(scores: Vector) -> Vector:
    """Return the best of all subsets of parts."""
    return (scores > 0.0) * 1.0


class AnyParts(Oracle):
    def outputs(self) -> Any:
        return map(np.array, product((0.0, 1.0), repeat=self.size))


def declared(number: int) -> Case:
    """Make a case over a random set: Hamming loss or regret, in one of the three layouts of features."""
    rng = np.random.default_rng([number, 6])
    feasible = _set(rng)
    n, p, C = int(rng.integers(1, 8)), feasible.size, float(10.0 ** rng.uniform(-2.0, 4.0))
    loose = isinstance(feasible, Program) and feasible.gap > 0.0
    # Regret needs the proved best decision for the true costs.
    regret = not loose and rng.integers(2)
    loss: Any = PartHamming(feasible, average=bool(rng.integers(2)))
    if regret:
        loss = Regret(feasible, maximize=bool(rng.integers(2)))
    rows, parts = rng.standard_normal((n, 2)), rng.standard_normal((n, p, 2))
    xs = [list(rows), list(parts), list(zip(rows, parts, strict=True))][rng.integers(3)]
    ys = list(rng.standard_normal((n, p)))
    if not regret:
        ys = [output_alone(feasible.maximize(y)) for y in ys]
    # Constraints may differ by example.
    if not regret and isinstance(feasible, Program) and rng.integers(2):
        sets = [feasible.fixed({int(k): float(y[k])}) for y, k in zip(ys, rng.integers(0, p, n), strict=True)]
        xs = [(*(x if isinstance(x, tuple) else (x,)), one) for x, one in zip(xs, sets, strict=True)]
    intercept = float(rng.choice([0.0, 0.7]))
    weights = np.append(rng.choice([0.0, 0.25, 1.0, 3.0], n - 1), 1.0) if rng.integers(2) else np.ones(n)
    problem = Problem.from_examples(xs, ys, loss=loss, C=C, sample_weight=weights, intercept=intercept)
    tol = float(10.0 ** rng.uniform(-6.0, -2.0))
    solvers = [Auto(tol=tol), OneSlack(tol=tol), NSlack(tol=tol), NSlack(tol=tol, batch=n), FrankWolfe(tol=tol)]
    examples = list(zip(xs, ys, strict=True))
    start = STARTS[rng.integers(len(STARTS))]
    return Case(number, problem, loss, examples, weights, intercept, True, solvers[rng.integers(5)], start)


def _set(rng: np.random.Generator) -> FeasibleSet:
    pairs = list(combinations(range(4), 2))
    edges = [(tail, head) for tail in range(3) for head in range(1, 3) if tail != head]
    program = Program((rng.integers(0, 4, (2, 4)), [4.0, 5.0]))
    makers = [
        lambda: Subset(n=5, k=int(rng.integers(1, 5))),
        lambda: Knapsack(rng.integers(1, 4, 4), int(rng.integers(3, 8))),
        lambda: Assignment(2, int(rng.integers(2, 4)), partial=bool(rng.integers(2))),
        lambda: DirectedPath.grid(int(rng.integers(2, 4)), 3),
        lambda: SpanningTree(4, pairs),
        lambda: Arborescence(3, edges),
        lambda: ProjectiveTree(int(rng.integers(2, 4))),
        lambda: Alignment(2, int(rng.integers(2, 4))),
        lambda: Segmentation(int(rng.integers(2, 5)), 2, 2),
        lambda: program,
        lambda: evolve(program, gap=0.05),
        lambda: AnyParts(positive, size=4),
    ]
    return makers[rng.integers(len(makers))]()
