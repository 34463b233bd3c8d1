"""Every installed QP backend on MQ2008, with n-slack and 1-slack, and on recorded programs."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import numpy as np
from attrs import evolve

from benchmarks.harness.data import letor_folder, programs_folder
from benchmarks.harness.measuring import Size, clock
from benchmarks.harness.page import table
from benchmarks.harness.rows import Row, Target, without_data
from benchmarks.harness.store import ROOT
from structsvm import Problem
from structsvm.data import load_letor
from structsvm.plots import performance_profile
from structsvm.plots.files import write_figure
from structsvm.registry import backends
from structsvm.solvers import NSlack
from structsvm.solvers.comparison import Comparison, compare
from structsvm.solvers.comparison.combinations import installed_backends
from structsvm.solvers.qp import ActiveSet, DualQP, GeneralBackend, QPBackend, QPSolvers
from structsvm.solvers.qp.qpsolvers import ACCURATE

TITLE = "Every QP backend on MQ2008"
ABOUT = """
MQ2008, training files of fold 1 (S1 to S3): MAP and ROC area, C = 1, 100 and 10,000, which are six fits for each solver
and tol, with 10 seconds for each. Every installed backend solves the QPs, of 1-slack and of n-slack with one QP per
pass (`batch=1000`). `Comparison.summary` explains the figures.

Recorded programs: about 8 of each sequence of ROC area on 200 queries of 50 documents, of up to 500 cuts, because a
backend gets subsets of larger ones. Each backend solves each program three times, from no start, in one scaling after
the other until its gap is at most 1e-6 times the optimum. "Handed over" counts the programs at which no scaling
reaches it. Seconds are the shortest of the three sums. The built-in backend's seconds, for the ratio, are measured
directly afterwards. "qpsolvers' settings" are the backend without our accuracy settings.
"""
PAGE = "docs/comparing.md"
PLOT = ROOT / "docs" / "_static" / "backends.svg"

LIMIT = 10.0  # seconds
NAMES = {
    "fits": "fits",
    "converged": "converged",
    "fastest": "fastest_fits",
    "ratio": "ratio",
    "solver_seconds": "solver_seconds",
    "seconds": "seconds",
    "iterations": "iterations",
    "qps": "programs",
    "handovers": "handed_over",
    "gap": "gap",
    "peak_memory": "mebibytes",
}
"""The name of a benchmark's column for each column of a summary."""


def run(size: Size) -> Iterator[Row]:
    yield from _mq2008(size)
    yield from _recorded()


def _mq2008(size: Size) -> Iterator[Row]:
    folder = letor_folder()
    if folder is None:
        yield without_data("bounds", "all backends")
        return
    train = load_letor([folder / f"S{part}.txt" for part in (1, 2, 3)])
    problems = {name: Problem.from_queries(train.X, train.y, train.qid, loss=name) for name in ("map", "roc_area")}
    comparisons = []
    for tol in (1e-3, 1e-6):
        comparison = compare(
            problems,
            ["one-slack", NSlack(batch=1000)],
            "all",
            [1.0, 100.0, 1e4],
            tol=tol,
            time_limit=LIMIT * size.scale,
        )
        comparisons.append(comparison)
        for record in comparison.summary().records:
            values = {name: record[column] for column, name in NAMES.items() if record[column] is not None}
            yield Row(what=f"{record['solver']}, tol = {tol:.0e}", who=record["backend"], repeats=1, values=values)
    together = Comparison(
        tuple(row for comparison in comparisons for row in comparison), sum(each.planned for each in comparisons)
    )
    yield Row(what="bounds", who="all backends", values={"fits": len(together.fits()), "overlap": _overlap(together)})
    if size.scale == 1.0:
        write_figure(performance_profile(together), PLOT)


def _overlap(comparison: Comparison) -> float:
    """Return the largest of the highest dual minus the lowest primal of a problem and C, in units of C."""
    bounds: dict[tuple[str, float], list[tuple[float, float]]] = defaultdict(list)
    for row in comparison:
        if row.primal is not None and row.dual is not None:
            bounds[row.loss, row.C].append((row.dual, row.primal))
    return max((max(d for d, _ in pairs) - min(p for _, p in pairs)) / C for (_, C), pairs in bounds.items())


ACCURACY = 1e-6
"""Gap at which a recorded program is solved, relative to its optimum."""

REPEATS = 3
"""Number of timings of the recorded programs; the rows have the shortest."""


def _recorded() -> Iterator[Row]:
    folder = programs_folder()
    for what, pattern in (("recorded 1-slack", "seq1_*.npz"), ("recorded n-slack", "seqn_*.npz")):
        if folder is None:
            yield without_data(what, "all backends", "reference/qp beside it")
            continue
        programs = [program for path in sorted(folder.glob(pattern)) for program in _programs(path)]
        for name in installed_backends():
            yield Row(what=what, who=name, repeats=REPEATS, values=_values(backends.create(name), programs))
            if name in ACCURATE:
                with patch.dict(ACCURATE, clear=True):
                    values = _values(QPSolvers(name), programs)
                yield Row(what=what, who=f"{name}, qpsolvers' settings", repeats=REPEATS, values=values)


def _programs(path: Path) -> Iterator[DualQP]:
    """Yield about 8 programs of a recorded sequence, evenly spaced."""
    file = np.load(path)
    H, b, C = file["H"], file["L"], float(file["C"])
    group = file["gid"].astype(np.int64) if "gid" in file else np.zeros(len(b), np.int64)
    sizes = file["sizes"].tolist() if "sizes" in file else range(1, len(b) + 1)
    sizes = [k for k in sizes if k <= GeneralBackend.shrink_from]
    groups = int(group.max()) + 1
    for k in sizes[:: -max(1, len(sizes) // 8)]:
        program = DualQP(H[:k, :k], b[:k], group[:k], np.full(groups, C / groups), 0.0)
        yield evolve(program, tol=ACCURACY * program.dual(ActiveSet().solve(program).a))


def _values(backend: QPBackend, programs: list[DualQP]) -> dict[str, float]:
    """Return the figures of a backend at all programs, and its time beside the built-in backend's."""
    # The first call imports its package.
    _gap(backend, programs[-1])
    seconds, ratios = clock(lambda: [_gap(backend, program) / program.tol for program in programs], REPEATS)
    base, _ = clock(lambda: [_gap(ActiveSet(), program) for program in programs], REPEATS)
    gaps = np.array(ratios)
    return {
        "seconds": min(seconds),
        "ratio": min(seconds) / min(base),
        "programs": len(programs),
        "handed_over": int(np.count_nonzero(gaps > 1.0)),
        "relative_gap": ACCURACY * float(gaps.max()),
    }


def _gap(backend: QPBackend, program: DualQP) -> float:
    """Return the certified gap that a backend reaches without the built-in one."""
    if not isinstance(backend, GeneralBackend):
        return backend.solve(program).gap
    gap = program.gap(np.zeros(program.size))
    for attempt in backend.attempts(program, None):
        gap = min(gap, program.gap(program.project(attempt.a)))
        if gap <= program.tol:
            break
    return gap


def targets(rows: list[Row]) -> Iterator[Target]:
    overlap = next((row.values.get("overlap") for row in rows if row.what == "bounds"), None)
    yield Target("highest dual above the lowest primal, all backends, in units of C", 1e-9, overlap)


FITS = {
    f"{solver}, tol = {tol}": f"{solver}, {tol}"
    for solver in ("one-slack", "n-slack(batch=1000)")
    for tol in ("1e-03", "1e-06")
}


def tables(rows: list[Row]) -> dict[str, str]:
    """Return the table of the page: the seconds of all fits by backend."""
    values = {(row.what, row.who): row.values for row in rows if row.values}
    names = list(dict.fromkeys(row.who for row in rows if row.what in FITS))

    def fit(what: str, who: str) -> str:
        of = values[what, who]
        notes = [f"{of['converged']:.0f} of {of['fits']:.0f}"] * (of["converged"] < of["fits"])
        notes += [f"{of['handed_over']:.0f} handed over"] * (of["handed_over"] > 0)
        return f"{of['seconds']:.1f}" + f" ({', '.join(notes)})" * bool(notes)

    def memory(who: str) -> str:
        return f"{max(values[what, who].get('mebibytes', 0.0) for what in FITS):.0f}"

    fits = ([f"`{who}`", *(fit(what, who) for what in FITS), memory(who)] for who in names)
    overlap = next(row.values["overlap"] for row in rows if row.what == "bounds")
    if overlap > 1e-9:
        raise ValueError(f"bounds of backends contradict each other: rewrite {PAGE}, which says that they agree")
    return {
        "fits": table(("backend", *FITS.values(), "peak MiB"), fits),
    }
