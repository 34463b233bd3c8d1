"""Measures as cells of a table and as entries of a report."""

from typing import TYPE_CHECKING, Any

import click

from structsvm.cli.console import print_table
from structsvm.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from structsvm.metrics import Measure, RankedLists

_EMPTY = {
    "zero": "counted as 0, as LETOR's tools and trec_eval do; --empty skip leaves them out",
    "skip": "left out; --empty zero counts them as 0, as LETOR's tools and trec_eval do",
}


def measured(measure: "Measure", lists: "RankedLists") -> dict[str, Any]:
    """Return the mean, the number of queries for which the measure is undefined, and what these count.

    Raises
    ------
    InputError : the measure is undefined for every query, and these are left out.
    """
    import numpy as np

    values = measure.of(lists).values
    if not len(values):
        raise InputError(f"{measure} has no mean: it is undefined for every query")
    undefined = int(np.isnan(measure.values(lists)).sum())
    return {"mean": float(values.mean()), "undefined": undefined, "empty": measure.empty}


def of_each_query(measure: "Measure", lists: "RankedLists") -> dict[str, float]:
    """Return the value of each query, by its id as text."""
    ids, values = measure.of(lists)
    return dict(zip(map(str, ids.tolist()), values.tolist(), strict=True))


def cell(value: float | None) -> str:
    """Return a value with four digits, "-" for none."""
    return "-" if value is None else f"{value:.4f}"


def print_queries(table: "Mapping[str, Mapping[str, float]]", *, title: str = "") -> None:
    """Print values by measure and query, a query a row."""
    ids = dict.fromkeys(query for values in table.values() for query in values)
    rows = ([query, *(cell(values.get(query)) for values in table.values())] for query in ids)
    print_table(["query", *table], rows, title=title, numbers_from=1)


def print_undefined(reports: "Iterable[dict[str, Any]]") -> None:
    """Say what the queries counted for which a measure was undefined, if there were any."""
    for empty in dict.fromkeys(of["empty"] for of in reports if of["undefined"]):
        click.echo(f"Queries without a value, such as those without relevant documents, are {_EMPTY[empty]}.")
