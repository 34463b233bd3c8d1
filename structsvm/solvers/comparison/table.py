"""The table that a comparison returns: its columns, its display, and its text as CSV and JSON."""

import json
from collections.abc import Iterator
from typing import Any

from attrs import asdict, field, fields, filters, frozen

from structsvm.foundation.tables.table import Column, Table, as_csv
from structsvm.result import Result, Step
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

    - ``loss``, ``solver``, ``backend``, ``C``: the names of the combination.
    - ``tol``: target gap in units of the loss; ``gap`` is the certified gap, ``(primal − dual) / C``.
    - ``status``: "converged", "time limit", "iteration limit", "stalled", "interrupted" (Ctrl-C), "stopped" (by the
      callback), "not installed", "failed" (an error) or "crashed" (its process ended); ``note`` explains it.
    - ``primal``, ``dual``: the bounds of the optimum.
    - ``iterations``: passes, cuts or rounds, depending on the solver; ``passes`` over the data.
    - ``cuts`` at the end, ``peak_cuts``; ``qps`` solved by the backend, ``handovers`` to the built-in backend.
    - ``seconds`` in all; ``oracle_seconds`` in scores and argmaxes; ``solver_seconds`` in QPs or steps on planes; and
      separately, ``compile_seconds`` in compilation of machine code.
    - ``peak_memory`` of the backend's process during the run, in MiB, with Python and the data; None for the built-in
      backend, which has no separate process, and outside Linux.
    - ``curve``: pairs of seconds and the certified gap in units of C.

    Parameters
    ----------
    rows : the rows, in the order in which they ran.
    planned : number of combinations, of which Ctrl-C or the callback may have left out some.
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
        """Return each row as a dictionary of its columns, without its history."""
        return [row.record() for row in self.rows]

    def to_csv(self) -> str:
        """Return the table as CSV with a header line; None becomes an empty cell."""
        names = (column.name for column in fields(ComparisonRow) if column.name != "history")
        return as_csv([Table("", _COLUMNS, (tuple(self.records()),))], names)

    def table(self, loss: str, C: float, title: str) -> Table:
        """Return the rows of a problem and a C as a table for people."""
        rows = (row.record() for row in self.rows if (row.loss, row.C) == (loss, C))
        return Table(title, _COLUMNS, (tuple(rows),))

    def to_json(self) -> str:
        """Return the table as a JSON list of rows; ``curve`` is the list of [seconds, gap in units of C] of each."""
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


def row_of(
    combination: Combination,
    result: Result,
    *,
    status: str,
    note: str,
    seconds: float,
    qps: int | None,
    largest_qp: int,
) -> ComparisonRow:
    """Return the row of a result; ``seconds`` is the total time, ``qps`` is None without a backend."""
    last = result.history[-1]
    return ComparisonRow(
        **asdict(combination),
        tol=result.tol,
        status=status,
        note=note,
        gap=result.gap / result.C,
        primal=result.primal,
        dual=result.dual,
        iterations=last.iteration,
        passes=last.passes,
        cuts=len(result.cuts),
        peak_cuts=max(largest_qp, *(step.cuts for step in result.history), len(result.cuts)),
        qps=qps,
        handovers=result.handovers if qps is not None else None,
        oracle_seconds=last.oracle_seconds,
        solver_seconds=last.solver_seconds,
        seconds=seconds,
        compile_seconds=last.compile_seconds,
        history=result.history,
    )
