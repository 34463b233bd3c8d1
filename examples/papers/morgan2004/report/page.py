"""The report of Morgan's experiment: one HTML page, and its files."""

from functools import partial
from pathlib import Path
from typing import Any

from attrs import fields

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
from structsvm.foundation.settings import real_name
from structsvm.foundation.tables.formats import FILES as TABLES
from structsvm.foundation.tables.formats import table_texts
from structsvm.protocols.report import PAGE, Written, figure_files, plots_of, rendered, written

TOPICS = "topics.csv"
PLOTS = figure_files(each.name for each in fields(Plots))
FILES = (*TABLES, TOPICS, PAGE, *PLOTS)
"""The files that `write_morgan_report` writes; plots if Matplotlib is installed and the results hold their data."""

_PACKAGE = "examples.papers.morgan2004.report"


def write_morgan_report(results: MorganResults, folder: str | Path, *, title: str | None = None) -> Written:
    """Write an HTML page, tables and plots; replace old files only when all are complete.

    ``report.html`` has everything. ``tables.txt``, ``tables.md``, ``tables.tex`` (for LaTeX with booktabs) and
    ``tables.json`` have all tables; ``tables.csv`` has average precision against query length, the mean over topics,
    and ``topics.csv`` that of each topic. The folder ``figures`` has the plots, ``curves.svg``, ``differences.svg``,
    ``lines.svg``, ``topics.svg``, ``precision.svg`` and ``weights.svg``; they need Matplotlib.

    Parameters
    ----------
    results : results of an experiment.
    folder : folder of the files; created if it does not exist.
    title : title of the page; None: the name of the folder.

    Raises
    ------
    InputError : when a file cannot be written.
    """
    folder = Path(folder)
    plots, missing = plots_of(partial(draw, results))
    texts = table_texts(all_tables(results), [curve_table(results)])
    texts[TOPICS] = line_table(results).to_csv()
    figures = {} if plots is None else {each.name: getattr(plots, each.name) for each in fields(Plots)}
    settings: dict[str, Any] = dict(results.header.settings)
    page = rendered(
        _PACKAGE,
        "morgan.html.j2",
        title=real_name(folder) if title is None else title,
        results=results,
        data=data_table(results),
        pick=pick_table(results),
        differences=difference_table(results),
        curve=curve_table(results),
        values=value_table(results),
        topics=topic_table(results),
        time=time_table(results),
        methods=settings.pop("models"),
        settings=settings,
        plots=plots,
        missing=missing,
    )
    return written(folder, texts, page, figures, missing)
