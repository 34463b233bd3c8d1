"""The report of an experiment as one self-contained HTML page, and the files beside it."""

from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from structsvm.exceptions import NotInstalledError
from structsvm.foundation.settings import as_path, real_name
from structsvm.foundation.tables.formats import FILES as TABLES
from structsvm.foundation.tables.formats import environment, page_style, table_texts, write_texts
from structsvm.foundation.tables.table import P_VALUE, as_csv
from structsvm.plots.files import Plot
from structsvm.protocols.catalogue import needed_package
from structsvm.protocols.experiment.report import tables
from structsvm.protocols.experiment.report.plots import draw, figure_names
from structsvm.protocols.experiment.report.tables import VARIANTS, leading
from structsvm.protocols.results import MapRow, Results
from structsvm.registry.built_in import experiment_models

QUERIES, PAGE = "queries.csv", "report.html"
FILES = (*TABLES, QUERIES, *(f"figures/{name}.svg" for name in figure_names(VARIANTS)), PAGE)
"""Files of `write_report`, if both variants were run and a model is linear."""


@frozen
class Written:
    """The page and the other files of a report; ``missing`` is the reason why it has no plots, or ""."""

    page: Path
    tables: tuple[Path, ...]
    figures: tuple[Path, ...]
    missing: str


def as_page(results: Results, title: str) -> tuple[str, dict[str, Plot], str]:
    """Return the report as HTML, its plots by name, and the reason why it has no plots, or ""."""
    plots, missing = dict[str, Plot](), ""
    try:
        plots = draw(results)
    except NotInstalledError as error:
        missing = str(error)
    settings = {name: value for name, value in results.header.settings.items() if name != "models"}
    models = {name: _in_words(name, text, settings["bins"]) for name, text in results.header.settings["models"].items()}
    template = environment("structsvm.protocols.experiment.report").get_template("report.html.j2")
    page = template.render(
        style=page_style(),
        title=title,
        results=results,
        findings=findings(results),
        variants={variant: VARIANTS[variant] for variant in results.variants},
        tables=tables,
        settings=settings,
        models=models,
        plots=plots,
        missing=missing,
    )
    return page, plots, missing


def _in_words(name: str, text: str, bins: int) -> str:
    """Describe a built-in model; return the stored text of other models, and of models of other versions."""
    if name not in experiment_models.built_in or needed_package(name):
        return text
    model = experiment_models.create(name, bins=bins)
    return model.description if repr(model) == text else text


def findings(results: Results) -> tuple[str, ...]:
    """Return a summary for each variant: the first model, the best of the other models, and the best base function."""
    return tuple(_finding(variant, results.rows(variant)) for variant in results.variants)


def _finding(variant: str, rows: Sequence[MapRow]) -> str:
    reference, *rivals = leading(rows)
    models = [row for row in rows if not row.place]
    sentences = [f"{reference.name}, reading {VARIANTS[variant]}, has a MAP of {reference.map:.3f}."]
    for row in rivals:
        kind = "best base function" if row.place else "best other model" if len(models) > 2 else "other model"
        sentences.append(f"The {kind}, {row.name}, has {row.map:.3f}: {_compared(reference.name, row)}.")
    return " ".join(sentences)


def _compared(reference: str, row: MapRow) -> str:
    """Compare the reference with a row, whose wins are the reference's wins."""
    wins, losses, ties = row.wins or 0, row.losses or 0, row.ties or 0
    counts = f"{reference} is better on {wins} of {wins + losses + ties} queries and worse on {losses}"
    if ties:
        counts += f", the same on {ties}"
    if row.holm is None:
        return counts
    verdict = (
        "p\N{NO-BREAK SPACE}<\N{NO-BREAK SPACE}0.05"
        if row.holm < 0.05
        else "p\N{NO-BREAK SPACE}≥\N{NO-BREAK SPACE}0.05"
    )
    return f"{counts}, {verdict} ({row.p_value:{P_VALUE}}, or {row.holm:{P_VALUE}} by Holm's correction)"


def write_report(results: Results, folder: str | Path, *, title: str | None = None) -> Written:
    """Write an HTML page, and the tables in other formats; replace each file only when it is complete.

    ``report.html`` has all tables and figures. ``tables.txt``, ``tables.md``, ``tables.tex`` (for LaTeX with booktabs)
    and ``tables.json`` have the statistics of the data, MAP, differences, and training. ``tables.csv`` has MAP, in a
    line for each variant, denominator and row. ``queries.csv`` has average precision, in a line for each variant and
    query. The folder ``figures`` has each figure of the page as an SVG file.

    Parameters
    ----------
    results : results of `structsvm.protocols.experiment.run`.
    folder : folder of the files; created if it does not exist.
    title : title of the page; None: the name of the folder.

    Returns
    -------
    Written files: ``page``, ``tables``, ``figures``, and ``missing``, the reason why the page has no plots, or "".

    Raises
    ------
    InputError : a file cannot be written.

    Examples
    --------
    >>> from structsvm.data import load_digits_runs, pool_runs
    >>> from structsvm.protocols.experiment import Settings, run
    >>> pool = pool_runs(*load_digits_runs(n_queries=5, n_candidates=40, depth=10))
    >>> settings = Settings(trials=5, train=2, validation=1, models=["CombSUM"], variants=["with-best"])
    >>> written = write_report(run(pool, settings, "results", n_jobs=1), "results")
    >>> written.page.name, [path.name for path in written.tables][-2:]
    ('report.html', ['tables.json', 'queries.csv'])
    """
    folder = as_path("folder", folder)
    page, plots, missing = as_page(results, real_name(folder) if title is None else title)
    texts = table_texts(tables.experiment_tables(results), tables.map_tables(results))
    texts[QUERIES] = as_csv([tables.query_table(results, variant) for variant in results.variants])
    figures = {f"figures/{name}.svg": f"{plot.svg}\n" for name, plot in plots.items()}
    paths = write_texts({**texts, **figures, PAGE: page}, folder)
    return Written(paths[-1], paths[: len(texts)], paths[len(texts) : -1], missing)
