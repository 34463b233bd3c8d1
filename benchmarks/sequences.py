"""Sequence labelling: chains of labels by Viterbi's algorithm."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.measuring import Size, class_of, clock, warm_up
from benchmarks.rows import Row, Target, pick, quotient
from structsvm import Problem
from structsvm.solvers import Auto, OneSlack, Solver

TITLE = "Sequence labelling"
ABOUT = """
`ChainHamming` on sequences of a hidden Markov model: n sequences of 10 to 29 positions with 10 states and 20
features, and 600 words of 4 to 11 positions with 26 states and 128 features that are 0 or 1, the shape of the
letters data of Taskar et al. (2003). `auto` is Frank-Wolfe on both.
"""

COUNTS = (250, 1000, 4000, 16_000)
WORDS = "600 words"
C = 10.0


def run(size: Size) -> Iterator[Row]:
    for n in COUNTS:
        problem = Problem.from_examples(*hidden_markov(max(25, round(n * size.scale))), loss="chain_hamming", C=C)
        yield _solve(f"n = {n:,}", problem, Auto(), size)
    xs, ys = hidden_markov(max(25, round(600 * size.scale)), K=26, d=128, shortest=4, longest=11)
    problem = Problem.from_examples([(x > 0.5).astype(np.float64) for x in xs], ys, loss="chain_hamming", C=C)
    for solver in (Auto(), OneSlack()):
        yield _solve(WORDS, problem, solver, size)


def targets(rows: list[Row]) -> Iterator[Target]:
    few, many = (pick(rows, "seconds", what=f"n = {n:,}") for n in (1000, 16_000))
    yield Target("16 times the sequences: times the seconds of a fit", 20.0, quotient(many, few))


def hidden_markov(
    n: int, K: int = 10, d: int = 20, shortest: int = 10, longest: int = 29, seed: int = 0
) -> tuple[list[Any], list[Any]]:
    """Return n sequences of observations and of states."""
    rng = np.random.default_rng(seed)
    steps, means = rng.dirichlet(np.full(K, 0.3), K), rng.standard_normal((K, d))
    ys = [np.zeros(length, dtype=np.int64) for length in rng.integers(shortest, longest + 1, n)]
    for y in ys:
        y[0] = rng.integers(K)
        for t in range(1, len(y)):
            y[t] = rng.choice(K, p=steps[y[t - 1]])
    return [0.5 * means[y] + rng.standard_normal((len(y), d)) for y in ys], ys


def _solve(what: str, problem: Problem, solver: Solver, size: Size) -> Row:
    warm_up(problem, solver)
    seconds, result = clock(lambda: solver.solve(problem), size.repeats)
    values = {"seconds": float(np.median(seconds)), "fastest": min(seconds)}
    values |= {"passes": result.history[-1].passes, "gap": result.gap / C}
    who = class_of(result)
    return Row(
        what=what, who=f"auto ({who})" if solver.name == "auto" else who, C=C, repeats=len(seconds), values=values
    )
