"""The report of Morgan's experiment: one HTML page, and its files."""

import os
from pathlib import Path
from typing import Any

from attrs import fields, frozen

from examples.papers.morgan2004.report.plots import Plots, draw
from examples.papers.morgan2004.report.tables import (
    all_tables,
    curve_table,
    data_table,
    difference_table,
    line_table,
    pick_table,
    time_table,
    topic_table,
    value_table,
)
from examples.papers.morgan2004.results import MorganResults
from structsvm.exceptions import NotInstalledError
from structsvm.tables import as_csv
from structsvm.tables.formats import environment, page_style
from structsvm.tables.writing import FILES as TABLES
from structsvm.tables.writing import table_texts, write_texts

PAGE = "report.html"
TOPICS = "topics.csv"
PLOTS = tuple(f"{each.name}.svg" for each in fields(Plots))
FILES = (*TABLES, TOPICS, PAGE, *PLOTS)
"""What `write_morgan_report` writes; plots where Matplotlib is installed and the results hold what they show."""

_PACKAGE = "examples.papers.morgan2004.report"


@frozen
class Written:
    """What was written.

    Parameters
    ----------
    page : the HTML page.
    others : files of tables and plots.
    missing : why there are no plots, and the way out; "" where there are.
    """

    page: Path
    others: tuple[Path, ...]
    missing: str


def write_morgan_report(results: MorganResults, folder: str | Path, *, title: str | None = None) -> Written:
    """Write an HTML page, tables and plots; each file takes its place when all are complete.

    ``report.html`` has everything. ``tables.txt``, ``tables.md``, ``tables.tex`` (for LaTeX with booktabs) and
    ``tables.json`` have all tables; ``tables.csv`` has average precision against query length, the mean over topics,
    and ``topics.csv`` that of each topic. The plots are ``curves.svg``, ``differences.svg``, ``lines.svg``,
    ``topics.svg``, ``precision.svg`` and ``weights.svg``; without Matplotlib there are none.

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
    plots: Plots | None = None
    missing = ""
    try:
        plots = draw(results)
    except NotInstalledError as error:
        missing = str(error)
    texts = table_texts(all_tables(results), [curve_table(results)])
    texts[TOPICS] = as_csv([line_table(results)])
    if plots is not None:
        drawn = {each.name: getattr(plots, each.name) for each in fields(Plots)}
        texts |= {f"{name}.svg": f"{plot.svg}\n" for name, plot in drawn.items() if plot is not None}
    name = Path(os.path.realpath(folder)).name if title is None else title
    *others, page = write_texts({**texts, PAGE: _html(results, name, plots, missing)}, folder)
    return Written(page, tuple(others), missing)


def _html(results: MorganResults, title: str, plots: Plots | None, missing: str) -> str:
    settings: dict[str, Any] = dict(results.header.settings)
    return (
        environment(_PACKAGE)
        .get_template("morgan.html.j2")
        .render(
            title=title,
            style=page_style(),
            results=results,
            data=data_table(results),
            pick=pick_table(results),
            differences=difference_table(results),
            curve=curve_table(results),
            values=value_table(results),
            topics=topic_table(results),
            time=time_table(results),
            methods=settings.pop("methods"),
            settings=settings,
            plots=plots,
            missing=missing,
        )
    )
