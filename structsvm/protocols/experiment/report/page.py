"""The report of an experiment as one HTML page, without scripts, fonts or pictures from elsewhere, and its files."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

from structsvm.exceptions import NotInstalledError
from structsvm.protocols.experiment import Results, Row
from structsvm.protocols.experiment.report.plots import Plots, draw
from structsvm.protocols.experiment.report.tables import (
    VARIANTS,
    all_tables,
    fits_table,
    function_table,
    leading,
    legend,
    map_table,
    map_tables,
    path_table,
    query_table,
)
from structsvm.significance import SignedRankTest
from structsvm.tables import as_csv
from structsvm.tables.formats import environment, page_style
from structsvm.tables.writing import FILES as TABLES
from structsvm.tables.writing import table_texts, write_texts

PAGE = "report.html"
QUERIES = "queries.csv"
FILES = (*TABLES, QUERIES, PAGE)
"""What `write_report` writes."""

_PACKAGE = "structsvm.protocols.experiment.report"


@frozen
class Page:
    """A page.

    Parameters
    ----------
    html : its text.
    missing : why it has no plots, and the way out; "" where it has them.
    """

    html: str
    missing: str


def as_page(results: Results, title: str) -> Page:
    """Return the report as HTML; without Matplotlib it has no plots, and says how to get them.

    Parameters
    ----------
    results : of an experiment.
    title : of the page.
    """
    plots: Plots | None = None
    missing = ""
    try:
        plots = draw(results)
    except NotInstalledError as error:
        missing = str(error)
    settings: dict[str, Any] = dict(results.header.settings)
    variants = results.variants
    html = (
        environment(_PACKAGE)
        .get_template("report.html.j2")
        .render(
            title=title,
            style=page_style(),
            results=results,
            findings=findings(results),
            variants={variant: VARIANTS[variant] for variant in variants},
            over_pool={variant: map_table(results, variant) for variant in variants},
            by_judged={variant: map_table(results, variant, "judged") for variant in variants},
            queries={variant: query_table(results, variant) for variant in variants},
            paths={variant: path_table(results, variant) for variant in variants},
            functions=function_table(results),
            fits={variant: fits_table(results, variant) for variant in variants},
            legend=legend(results),
            models=settings.pop("models"),
            settings=settings,
            plots=plots,
            missing=missing,
        )
    )
    return Page(html, missing)


def findings(results: Results) -> tuple[str, ...]:
    """Return a sentence or two for each variant: the first model, the best other one, and the best base function."""
    return tuple(_finding(variant, results.rows(variant)) for variant in results.variants)


def _finding(variant: str, rows: Sequence[Row]) -> str:
    reference, *rivals = leading(rows)
    models = [row for row in rows if not row.place]
    sentences = [f"{reference.name}, reading {VARIANTS[variant]}, has a MAP of {reference.mean:.3f}."]
    for row in rivals:
        what = "best base function" if row.place else "best other model" if len(models) > 2 else "other model"
        if row.against:
            sentences.append(f"The {what}, {row.name}, has {row.mean:.3f}: {_compared(reference.name, row.against)}.")
    return " ".join(sentences)


def _compared(reference: str, against: SignedRankTest) -> str:
    verdict = "significant" if against.significant else "not significant"
    queries = against.wins + against.losses + against.ties
    counts = f"{reference} is better on {against.wins} of {queries} queries and worse on {against.losses}"
    if against.ties:
        counts += f", the same on {against.ties}"
    return f"{counts}, {verdict} at 0.95 (p\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{against.p_value:.2g})"


@frozen
class Written:
    """What was written.

    Parameters
    ----------
    page : the HTML page.
    tables : files of tables.
    missing : why the page has no plots, and the way out; "" where it has them.
    """

    page: Path
    tables: tuple[Path, ...]
    missing: str


def write_report(results: Results, folder: str | Path, *, title: str | None = None) -> Written:
    """Write an HTML page, and the tables in other formats; each file takes its place when it is complete.

    ``report.html`` has everything. ``tables.txt``, ``tables.md``, ``tables.tex`` (for LaTeX with
    booktabs) and ``tables.json`` have the statistics of the data, MAP, and training; ``tables.csv``
    has MAP, a line for each variant, denominator and row; ``queries.csv`` has average precision, a line
    for each variant and query.

    Parameters
    ----------
    results : of an experiment.
    folder : for the files; made where it does not exist.
    title : of the page; None: the name of the folder.

    Raises
    ------
    InputError : when a file cannot be written.
    """
    folder = Path(folder)
    page = as_page(results, Path(os.path.realpath(folder)).name if title is None else title)
    texts = table_texts(all_tables(results), map_tables(results))
    texts[QUERIES] = as_csv([query_table(results, variant) for variant in results.variants])
    *tables, _ = write_texts({**texts, PAGE: page.html}, folder)
    return Written(folder / PAGE, tuple(tables), page.missing)
