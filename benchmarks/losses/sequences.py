"""Sequence labeling: chains of labels by Viterbi's algorithm."""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from attrs import evolve

from benchmarks.harness.data import letters
from benchmarks.harness.measuring import Size, class_of, clock, warm_up
from benchmarks.harness.rows import Row, Target, pick, quotient, without_data
from benchmarks.peers import chain_bcfw
from structsvm import Problem
from structsvm.solvers import Auto, OneSlack, Solver

TITLE = "Sequence labeling"
ABOUT = """
`ChainHamming` on sequences of a hidden Markov model: n sequences of 10 to 29 positions with 10 states and 20
features, and 600 words of 4 to 11 positions with 26 states and 128 features that are 0 or 1, the shape of the
letters data of Taskar et al. (2003). Then on the letters data: fold 1 with 704 words, and all other 6,173 words. The
unit is all maximizations once: one product of BLAS for the scores of all letters, then Viterbi's algorithm in compiled
code, values only. BCFW is block-coordinate Frank-Wolfe with gap sampling (Osokin et al., ICML 2016) in numba, which
stops after a minute. Times are CPU seconds.
"""

COUNTS = (250, 1000, 4000, 16_000)
WORDS = "600 words"
LETTERS = "letters, fold 1"
OTHERS = "letters, all words but fold 1"
STATES = 26
C = 10.0
CS = (10.0, 100.0, 1000.0)
TOL = 1e-3
LONGEST = 60.0
"""Seconds after which the peer stops."""


def run(size: Size) -> Iterator[Row]:
    for n in COUNTS:
        problem = Problem.from_examples(*hidden_markov(max(25, round(n * size.scale))), loss="chain_hamming", C=C)
        for solver in (Auto(), OneSlack()):
            yield _solve(f"n = {n:,}", problem, solver, size)
    xs, ys = hidden_markov(max(25, round(600 * size.scale)), K=STATES, d=128, shortest=4, longest=11)
    problem = Problem.from_examples([(x > 0.5).astype(np.float64) for x in xs], ys, loss="chain_hamming", C=C)
    for solver in (Auto(), OneSlack()):
        yield _solve(WORDS, problem, solver, size)
    yield from _on_letters(size)


def targets(rows: list[Row]) -> Iterator[Target]:
    few, many = (pick(rows, "cpu", what=f"n = {n:,}", who="auto") for n in (1000, 16_000))
    yield Target("16 times the sequences: times the CPU seconds of a fit", 20.0, quotient(many, few))
    for C, units in zip(CS, (200.0, 1000.0, 4000.0), strict=True):
        ours = pick(rows, "sweeps", what=LETTERS, who="auto", C=C)
        yield Target(f"Letters, fold 1, C = {C:g}", units, ours, unit="maximizations of all words")
    for C in CS:
        ours = pick(rows, "cpu", what=LETTERS, who="auto", C=C)
        theirs = pick(rows, "cpu", what=LETTERS, who="BCFW", C=C)
        yield Target(f"Letters, fold 1, C = {C:g}: share of the CPU seconds of BCFW", 1.0, quotient(ours, theirs))
    few, many = (pick(rows, "cpu", what=what, who="auto", C=100.0) for what in (LETTERS, OTHERS))
    yield Target("Letters, 9 times the words: times the CPU seconds of a fit", 10.0, quotient(many, few))


def _on_letters(size: Size) -> Iterator[Row]:
    found = letters()
    if found is None:
        yield without_data(LETTERS, "auto", "letters")
        return
    xs, ys, folds = found
    chosen = {LETTERS: np.flatnonzero(folds == 1), OTHERS: np.flatnonzero(folds != 1)}
    for what, words in chosen.items():
        few = words[: max(25, round(len(words) * size.scale))]
        own = [xs[i] for i in few], [ys[i] for i in few]
        unit = chain_bcfw.seconds_of_maxima(*own, STATES)
        for C in CS if what == LETTERS else CS[1:2]:
            problem = Problem.from_examples(*own, loss="chain_hamming", C=C)
            for solver in (Auto(), OneSlack()) if what == LETTERS else (Auto(),):
                row = _solve(what, problem, solver, size)
                yield evolve(row, values={**row.values, "sweeps": row.values["cpu"] / unit})
            if what == LETTERS:
                yield _peer(own, C, unit)


def _peer(words: tuple[list[Any], list[Any]], C: float, unit: float) -> Row:
    chain_bcfw.fit(words[0][:2], words[1][:2], STATES, C, TOL, longest=0.0)
    fit = chain_bcfw.fit(*words, STATES, C, TOL, LONGEST)
    values = {"cpu": fit.seconds, "fastest": fit.seconds, "passes": float(fit.passes)}
    values |= {"gap": (fit.primal - fit.dual) / C, "sweeps": fit.seconds / unit}
    return Row(what=LETTERS, who="BCFW with gap sampling", C=C, repeats=1, values=values)


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
    seconds, result = clock(lambda: solver.solve(problem), size.repeats, time.process_time)
    values = {"cpu": float(np.median(seconds)), "fastest": min(seconds)}
    values |= {"passes": result.history[-1].passes, "gap": result.gap / result.C}
    who = class_of(result)
    return Row(
        what=what,
        who=f"auto ({who})" if solver.name == "auto" else who,
        C=problem.C,
        repeats=len(seconds),
        values=values,
    )
