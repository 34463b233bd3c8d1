"""Intervals and paired comparisons in the tables of all protocols."""

from collections.abc import Mapping, Sequence
from typing import Any

from structsvm.evaluation.paired_columns import (
    CUT,
    corrected,
    holm_column,
    holm_note,
    paired_columns,
    paired_note,
    paired_record,
)
from structsvm.evaluation.significance import paired_tests
from structsvm.evaluation.significance.intervals import mean_interval
from structsvm.exceptions import counted
from structsvm.foundation.tables.table import Column, Table
from structsvm.foundation.types import Vector


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
