"""The table that a comparison returns, how it is shown, and its text as CSV and JSON."""

import json
from collections.abc import Iterator
from typing import Any

from attrs import asdict, field, fields, filters, frozen

from structsvm.comparison.combinations import Combination
from structsvm.result import Result, Step
from structsvm.tables import Column, Table, as_csv


@frozen(kw_only=True)
class Row:
    """The outcome of one combination. Figures are None where there is no result.

    Parameters
    ----------
    loss, solver, backend, C : names of what was run; see `Combination`.
    tol : gap asked for, in units of the loss.
    status : "converged", "time limit", "iteration limit", "stalled", "interrupted" (Ctrl-C), "stopped" (by the
        callback), "not installed" or "failed".
    note : why it did not converge, and the way out; "" where it did.
    gap : certified gap in units of C: ``(primal − dual) / C``, to be compared with ``tol``.
    primal, dual : the bounds of the optimum.
    iterations : iterations of the solver: passes, cuts or rounds, as it counts them.
    passes : passes over the data; one evaluates all scores and combines all features.
    cuts : cuts in the working set at the end.
    peak_cuts : the most there were at any time.
    qps : QPs that a backend was asked for; None where the solver has none, or chose it for itself.
    handovers : how many of them the backend left to the built-in one.
    oracle_seconds, solver_seconds : time in scores and argmaxes, and in QPs or Frank-Wolfe's steps on kept planes.
    seconds : time in all, until the result was there.
    history : the steps on the way.

    Examples
    --------
    >>> from structsvm import Problem
    >>> from structsvm.comparison import compare
    >>> problem = Problem.from_queries([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1], loss="map")
    >>> (row,) = compare(problem, "one-slack", "active-set", tol=1e-4)
    >>> row.status, row.gap <= row.tol
    ('converged', True)
    >>> seconds, gap = row.curve[-1]
    >>> gap <= row.tol, seconds <= row.seconds
    (True, True)
    """

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
    history: tuple[Step, ...] = field(default=(), repr=False)

    def record(self) -> dict[str, Any]:
        """Return all but the history, by name."""
        return asdict(self, filter=filters.exclude("history"))

    @property
    def curve(self) -> list[tuple[float, float]]:
        """Seconds and the certified gap at that time, in units of C, step by step."""
        return [(step.seconds, step.gap / step.C) for step in self.history]


@frozen
class Comparison:
    """A table with a row for each combination that was run.

    ``pandas.DataFrame(comparison.records())`` makes a data frame of it.

    Parameters
    ----------
    rows : the rows, in the order in which they were run.
    planned : number of combinations; there are fewer rows where Ctrl-C or the callback ended the comparison.
    interrupted : whether Ctrl-C did.

    Examples
    --------
    >>> from structsvm import Problem
    >>> from structsvm.comparison import compare
    >>> problem = Problem.from_queries([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1], loss="map")
    >>> comparison = compare(problem, ["one-slack", "frank-wolfe"], "active-set")
    >>> [(row["solver"], row["status"]) for row in comparison.records()]
    [('one-slack', 'converged'), ('frank-wolfe', 'converged')]
    >>> comparison.to_csv().splitlines()[0].split(",")[:6]
    ['loss', 'solver', 'backend', 'C', 'tol', 'status']
    """

    rows: tuple[Row, ...]
    planned: int
    interrupted: bool = False

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def records(self) -> list[dict[str, Any]]:
        """Return each row as a dictionary of its columns, without its history."""
        return [row.record() for row in self.rows]

    def to_csv(self) -> str:
        """Return the table as CSV with a line of headings; what is None is empty."""
        names = (column.name for column in fields(Row) if column.name != "history")
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
) -> Row:
    """Return the row of a result.

    Parameters
    ----------
    combination, result : what was run, and what came of it.
    status, note : as in `Row`.
    seconds : time in all.
    qps : number of QPs; None where there was no backend.
    largest_qp : cuts in the largest of them, which may have been there in the middle of an iteration.
    """
    last = result.history[-1]
    return Row(
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
        history=result.history,
    )
