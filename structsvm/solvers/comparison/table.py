"""The table that a comparison returns: its columns, its display, and its text as CSV and JSON."""

import json
import math
from collections import defaultdict
from collections.abc import Iterator
from statistics import median_low
from typing import Any

from attrs import asdict, field, fields, filters, frozen

from structsvm.foundation.tables.table import Column, Record, Table, as_csv
from structsvm.result import Step
from structsvm.solvers.comparison.combinations import Combination

UNFINISHED = ("interrupted", "stopped", "not installed")
"""Statuses of rows that the same comparison runs again."""


@frozen(kw_only=True)
class ComparisonRow:
    """The outcome of one combination; see `Comparison`. A figure is None if there is no result."""

    loss: str
    solver: str
    backend: str | None
    C: float
    tol: float
    status: str
    note: str = ""
    gap: float | None = None
    primal: float | None = None
    dual: float | None = None
    iterations: int | None = None
    passes: float | None = None
    cuts: int | None = None
    peak_cuts: int | None = None
    qps: int | None = None
    handovers: int | None = None
    oracle_seconds: float | None = None
    solver_seconds: float | None = None
    seconds: float | None = None
    compile_seconds: float | None = None
    peak_memory: float | None = None
    history: tuple[Step, ...] = field(default=(), repr=False)

    @property
    def combination(self) -> Combination:
        """The names of this run."""
        return Combination(self.loss, self.solver, self.backend, self.C)

    def record(self) -> dict[str, Any]:
        """Return all columns by name, without the history."""
        return asdict(self, filter=filters.exclude("history"))

    @property
    def curve(self) -> list[tuple[float, float]]:
        """Seconds and the certified gap at that time, in units of C, step by step."""
        return [(step.seconds, step.gap / step.C) for step in self.history]


@frozen
class Comparison:
    """A table with one row for each combination that ran; iterate over it, or make a data frame of ``records()``.

    Each row has these columns as attributes, None if the run has no result:

    - ``loss``, ``solver``, ``backend``, ``C``: the combination.
    - ``tol``: target gap in units of the loss; ``gap`` is the certified gap, ``(primal − dual) / C``.
    - ``status``: "converged", "time limit", "iteration limit", "stalled", "interrupted" (Ctrl-C), "stopped" (by the
      callback), "not installed", "failed" (an error) or "crashed" (its process ended); ``note`` explains it.
    - ``primal``, ``dual``: the bounds of the optimum.
    - ``iterations`` of the solver; ``passes`` over the data.
    - ``cuts`` at the end; ``peak_cuts``; ``qps`` given to the backend; ``handovers``, QPs finished by the built-in one.
    - ``seconds`` in all; ``oracle_seconds`` in scores and argmaxes; ``solver_seconds`` in QPs or steps on planes; and
      separately, ``compile_seconds`` in compilation of machine code.
    - ``peak_memory`` of the backend's process during the run, in MiB, with Python and the data; None outside Linux, and
      if only the built-in backend, which needs no separate process, was compared.
    - ``curve``: pairs of seconds and the certified gap in units of C.

    Parameters
    ----------
    rows : the rows, in the order in which they ran.
    planned : number of combinations, even if Ctrl-C or the callback left some out.
    interrupted : True if Ctrl-C ended the comparison.

    Examples
    --------
    >>> from structsvm import Problem
    >>> from structsvm.solvers.comparison import compare
    >>> problem = Problem.from_queries([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1], loss="map")
    >>> comparison = compare(problem, ["one-slack", "frank-wolfe"], "active-set")
    >>> [(row["solver"], row["status"]) for row in comparison.records()]
    [('one-slack', 'converged'), ('frank-wolfe', 'converged')]
    >>> comparison.to_csv().splitlines()[0].split(",")[:6]
    ['loss', 'solver', 'backend', 'C', 'tol', 'status']
    """

    rows: tuple[ComparisonRow, ...]
    planned: int
    interrupted: bool = False

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[ComparisonRow]:
        return iter(self.rows)

    @property
    def common_failure(self) -> str:
        """The reason why all combinations failed; "" if some succeeded or the reasons differ."""
        reasons = {row.note for row in self.rows}
        return reasons.pop() if len(reasons) == 1 and all(row.gap is None for row in self.rows) else ""

    def records(self) -> list[dict[str, Any]]:
        """Return each row as a dictionary of its columns, except ``curve``."""
        return [row.record() for row in self.rows]

    def to_csv(self) -> str:
        """Return the table as CSV with a header line; None becomes an empty cell."""
        names = (column.name for column in fields(ComparisonRow) if column.name != "history")
        return as_csv([Table("", _COLUMNS, (tuple(self.records()),))], names)

    def table(self, loss: str, C: float, title: str) -> Table:
        """Return the rows of one problem, by its name in ``loss``, and one C as a table for people."""
        rows = (row.record() for row in self.rows if (row.loss, row.C) == (loss, C))
        return Table(title, _COLUMNS, (tuple(rows),))

    def fits(self) -> list[dict[str, ComparisonRow]]:
        """Return a dictionary of rows by backend for each fit (problem, solver, C, tol) that every backend ran."""
        fits: dict[tuple[str, str, float, float], dict[str, ComparisonRow]] = defaultdict(dict)
        for row in self.rows:
            if row.backend is not None and row.status not in UNFINISHED:
                fits[row.loss, row.solver, row.C, row.tol][row.backend] = row
        backends = {backend for rows in fits.values() for backend in rows}
        return [rows for rows in fits.values() if len(rows) == len(backends)]

    def summary(self) -> Table:
        """Return a table with a row for each solver and backend, over the fits of `fits`.

        "fastest" counts the fits in which the backend has the shortest ``solver_seconds``. "times the fastest" is the
        median of its ``solver_seconds`` divided by the shortest, or "–" if it solves less than half of the fits. For
        both, a fit is solved if it converged with no QP handed over. Seconds, iterations, QPs and hand-overs are sums;
        gap and memory are maxima.
        """
        groups: dict[str, list[dict[str, ComparisonRow]]] = defaultdict(list)
        for rows in self.fits():
            groups[next(iter(rows.values())).solver].append(rows)
        sections = tuple(tuple(_totals(solver, name, fits) for name in fits[0]) for solver, fits in groups.items())
        return Table("Each backend over all fits", _SUMMARY, sections)

    def to_json(self) -> str:
        """Return the table as a JSON list of rows, each with its ``curve``, a list of [seconds, gap in units of C]."""
        return json.dumps([{**row.record(), "curve": row.curve} for row in self.rows], indent=2) + "\n"


_COLUMNS = (
    Column.text("solver", "solver"),
    Column.text("backend", "backend", missing="–"),
    Column.text("status", "status"),
    Column.number("gap / C", "gap", ".1e", missing="–"),
    Column.number("primal", "primal", ".6g", missing="–"),
    Column.number("iterations", "iterations", "d", missing="–"),
    Column.number("cuts", "cuts", "d", missing="–"),
    Column.number("peak", "peak_cuts", "d", missing="–"),
    Column.number("oracle wall s", "oracle_seconds", ".2f", missing="–"),
    Column.number("solver wall s", "solver_seconds", ".2f", missing="–"),
    Column.number("wall s", "seconds", ".2f", missing="–"),
    Column.number("compile s", "compile_seconds", ".2f", missing="–"),
    Column.number("peak MiB", "peak_memory", ".0f", missing="–"),
    Column.number("handed over", "handovers", "d", missing="–"),
)


_SUMMARY = (
    Column.text("solver", "solver"),
    Column.text("backend", "backend"),
    Column.number("fits", "fits"),
    Column.number("converged", "converged"),
    Column.number("fastest", "fastest"),
    Column.number("times the fastest", "ratio", ".3g", missing="–"),
    Column.number("solver wall s", "solver_seconds", ",.2f"),
    Column.number("wall s", "seconds", ",.2f"),
    Column.number("iterations", "iterations"),
    Column.number("programs", "qps"),
    Column.number("handed over", "handovers"),
    Column.number("gap / C", "gap", ".1e", missing="–"),
    Column.number("peak MiB", "peak_memory", ".0f", missing="–"),
)


def time_ratios(rows: dict[str, ComparisonRow], *, handed_over: bool = False) -> dict[str, float]:
    """Return the time of each backend at a fit over the shortest, at least 1, infinite if it did not solve the fit.

    The time is that in the working set and its QPs: argmaxes take the same time with every backend. With
    ``handed_over``, rows with programs handed over count as solved, but never as the fastest if another row does.
    """
    seconds = {
        name: row.solver_seconds for name, row in rows.items() if row.status == "converged" and row.solver_seconds
    }
    alone = {name: time for name, time in seconds.items() if not rows[name].handovers}
    solved = seconds if handed_over else alone
    fastest = min((alone or seconds).values(), default=1.0)
    return {name: max(1.0, solved[name] / fastest) if name in solved else math.inf for name in rows}


def _totals(solver: str, backend: str, fits: list[dict[str, ComparisonRow]]) -> Record:
    rows = [fit[backend] for fit in fits]
    ratios = [time_ratios(fit)[backend] for fit in fits]
    ratio = median_low(ratios)
    values = {name: [value for row in rows if (value := getattr(row, name)) is not None] for name in (*_SUMS, *_PEAKS)}
    return {
        "solver": solver,
        "backend": backend,
        "fits": len(rows),
        "converged": sum(row.status == "converged" for row in rows),
        "fastest": ratios.count(1.0),
        "ratio": ratio if math.isfinite(ratio) else None,
        **{name: sum(values[name]) for name in _SUMS},
        **{name: max(values[name], default=None) for name in _PEAKS},
    }


_SUMS = ("solver_seconds", "seconds", "iterations", "qps", "handovers")
_PEAKS = ("gap", "peak_memory")
