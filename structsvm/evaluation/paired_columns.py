"""Columns of tables that have intervals, or compare systems in pairs."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from structsvm.evaluation.significance import PairedTests, holm
from structsvm.evaluation.significance.paired import TESTS
from structsvm.exceptions import counted
from structsvm.foundation.tables.table import Column, Record

CUT = "cut at the ends of the measure's range"
"""The part of notes about intervals that says that they do not leave the range."""

NO_TEST = "-"
"""Shown for a p-value or an interval that does not exist."""


def paired_note(queries: str, level: str = "95%") -> str:
    """Return the note about intervals and tests; ``queries`` is "queries" or "topics"."""
    tests = ", ".join(test.description.format(queries=queries) for test in TESTS.values())
    return f"{level} interval: Student's t over {queries}, {CUT}. p: {tests}."


def paired_record(paired: PairedTests) -> dict[str, Any]:
    """Return the record that `paired_columns` shows."""
    low, high = paired.interval or (None, None)
    return {
        "difference": paired.difference,
        "low": low,
        "high": high,
        "wins": paired.wins,
        "losses": paired.losses,
        "ties": paired.ties,
        **{f"p_{name}": value for name, value in paired.p_values.items()},
    }


def corrected(
    paired: Sequence[PairedTests],
    correction: Callable[[Iterable[float | None]], list[float | None]] = holm,
) -> list[dict[str, float | None]]:
    """Return the corrected p-values of each comparison, by test; a test is corrected for all comparisons."""
    by_test = {test: correction([pair.p_values[test] for pair in paired]) for test in TESTS}
    return [{test: p_values[k] for test, p_values in by_test.items()} for k in range(len(paired))]


def interval_column(level: str = "95%", form: str = ".4f") -> Column:
    """Return a column for the interval from "low" to "high" of a record."""
    return Column(f"{level} interval", lambda record: interval_text(record["low"], record["high"], form))


def paired_columns(level: str = "95%") -> tuple[Column, ...]:
    """Return columns for difference, interval of the given level, wins, losses, ties and p-values."""
    tests = (Column.p_value(f"p {test.label}", f"p_{name}", missing=NO_TEST) for name, test in TESTS.items())
    return (*difference_columns(level), *tests)


def holm_column(test: str = "randomization") -> Column:
    """Return the column of Holm's correction of a test."""
    return Column.p_value("Holm", f"holm_{test}", missing=NO_TEST)


def holm_note(comparisons: int, test: str = "randomization") -> str:
    """Return the note about `holm_column`."""
    return f"Holm: p {TESTS[test].label}, corrected for {counted(comparisons, 'comparison')}."


def difference_columns(level: str = "95%") -> tuple[Column, ...]:
    """Return the columns of a mean difference: its value, its interval, and wins, losses and ties."""
    return (
        Column.number("difference", "difference", "+.4f"),
        interval_column(level, "+.4f"),
        Column("W/L/T", wins_losses_ties),
    )


def wins_losses_ties(record: Record) -> str:
    """Return the queries that were won, lost and tied, "7/4/1"; "–" for the reference itself."""
    return "–" if record["wins"] is None else f"{record['wins']}/{record['losses']}/{record['ties']}"


def interval_text(low: float | None, high: float | None, form: str = ".4f") -> str:
    """Return the text of an interval; "-" for None."""
    return NO_TEST if low is None else f"[{low:{form}}, {high:{form}}]"
