"""Parts of tables that have intervals, or compare systems in pairs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from structsvm.evaluation.significance import PairedTests, holm, paired_tests
from structsvm.evaluation.significance.intervals import mean_interval
from structsvm.evaluation.significance.paired import TESTS
from structsvm.exceptions import counted
from structsvm.foundation.tables.table import Column, Record, Table
from structsvm.foundation.types import Vector

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
    return (
        Column.number("difference", "difference", "+.4f"),
        interval_column(level, "+.4f"),
        Column("W/L/T", wins_losses_ties),
        *tests,
    )


def holm_column(test: str = "randomization") -> Column:
    """Return the column of Holm's correction of a test."""
    return Column.p_value("Holm", f"holm_{test}", missing=NO_TEST)


def holm_note(comparisons: int, test: str = "randomization") -> str:
    """Return the note about `holm_column`."""
    return f"Holm: p {TESTS[test].label}, corrected for {counted(comparisons, 'comparison')}."


def wins_losses_ties(record: Record) -> str:
    """Return the queries that were won, lost and tied, "7/4/1"; "–" for the reference itself."""
    return "–" if record["wins"] is None else f"{record['wins']}/{record['losses']}/{record['ties']}"


def interval_text(low: float | None, high: float | None, form: str = ".4f") -> str:
    """Return the text of an interval; "-" for None."""
    return NO_TEST if low is None else f"[{low:{form}}, {high:{form}}]"


def interval_record(values: Vector, value_range: tuple[float, float]) -> dict[str, Any]:
    """Return "low" and "high", the ends of the 95% interval of a mean over queries; None without variance."""
    low, high = mean_interval(values, value_range=value_range) or (None, None)
    return {"low": low, "high": high}


def interval_note(queries: int, parts: str, count: int) -> str:
    """Return the note about intervals of means; ``parts`` is "folds" or "trials", and ``count`` their number."""
    note = (
        f"95% interval: Student's t, over the {counted(queries, 'test query', 'test queries')} of all {parts}, {CUT}."
    )
    if count < 2:
        return note
    return (
        f"{note} {parts.capitalize()} share training queries, so the interval shows how far the mean depends on the "
        "test queries, not how far it depends on the training queries."
    )


def paired_table(
    title: str,
    heading: str,
    sections: Sequence[Mapping[str, tuple[Vector, Vector]]],
    value_range: tuple[float, float],
    *,
    last: str = "randomization",
) -> Table:
    """Return a table of mean differences, given two lists of values of queries by name, in sections.

    Holm's correction of the test ``last`` is a column. The records have the corrections of all tests.
    """
    comparisons = {
        name: paired_tests(*pair, value_range=value_range) for section in sections for name, pair in section.items()
    }
    records = {
        name: {"model": name, **paired_record(paired), **{f"holm_{test}": p for test, p in by_holm.items()}}
        for (name, paired), by_holm in zip(comparisons.items(), corrected([*comparisons.values()]), strict=True)
    }
    queries = max((paired.queries for paired in comparisons.values()), default=0)
    return Table(
        title=title,
        columns=(Column.text(heading, "model"), *paired_columns(), holm_column(last)),
        sections=tuple(tuple(records[name] for name in section) for section in sections),
        notes=(
            f"Over {counted(queries, 'test query', 'test queries')}. {paired_note('queries')} "
            f"{holm_note(len(comparisons), last)} -: no variance.",
        ),
    )
