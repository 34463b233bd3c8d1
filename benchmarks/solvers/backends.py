"""Every installed QP backend on MQ2008, with n-slack and 1-slack."""

from collections import defaultdict
from collections.abc import Iterator

from benchmarks.harness.data import letor_folder
from benchmarks.harness.measuring import Size
from benchmarks.harness.rows import Row, Target, without_data
from benchmarks.harness.store import ROOT
from structsvm import Problem
from structsvm.data import load_letor
from structsvm.plots import performance_profile
from structsvm.plots.files import write_figure
from structsvm.solvers import NSlack
from structsvm.solvers.comparison import Comparison, compare

TITLE = "Every QP backend on MQ2008"
ABOUT = """
MQ2008, training files of fold 1 (S1 to S3): MAP and ROC area, C = 1, 100 and 10,000, which are six fits for each solver
and tol, with 10 seconds for each. Every installed backend solves the QPs, of 1-slack and of n-slack with one QP per
pass (`batch=1000`). `Comparison.summary` explains the figures.
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
    folder = letor_folder()
    if folder is None:
        yield without_data("bounds", "all backends")
        return
    train = load_letor([folder / f"S{part}.txt" for part in (1, 2, 3)])
    problems = {name: Problem.from_queries(train.X, train.y, train.qid, loss=name) for name in ("map", "roc_area")}
    tables = []
    for tol in (1e-3, 1e-6):
        table = compare(
            problems,
            ["one-slack", NSlack(batch=1000)],
            "all",
            [1.0, 100.0, 1e4],
            tol=tol,
            time_limit=LIMIT * size.scale,
        )
        tables.append(table)
        for record in table.summary().records:
            values = {name: record[column] for column, name in NAMES.items() if record[column] is not None}
            yield Row(what=f"{record['solver']}, tol = {tol:.0e}", who=record["backend"], repeats=1, values=values)
    together = Comparison(tuple(row for table in tables for row in table), sum(table.planned for table in tables))
    yield Row(what="bounds", who="all backends", values={"fits": len(together.fits()), "overlap": _overlap(together)})
    if size.scale == 1.0:
        write_figure(performance_profile(together), PLOT)


def _overlap(table: Comparison) -> float:
    """Return the largest of the highest dual minus the lowest primal of a problem and C, in units of C."""
    bounds: dict[tuple[str, float], list[tuple[float, float]]] = defaultdict(list)
    for row in table:
        if row.primal is not None and row.dual is not None:
            bounds[row.loss, row.C].append((row.dual, row.primal))
    return max((max(d for d, _ in pairs) - min(p for _, p in pairs)) / C for (_, C), pairs in bounds.items())


def targets(rows: list[Row]) -> Iterator[Target]:
    overlap = next((row.values.get("overlap") for row in rows if row.what == "bounds"), None)
    yield Target("highest dual above the lowest primal, all backends, in units of C", 1e-9, overlap)
