"""The report of an experiment as one HTML page: without scripts, fonts or pictures from elsewhere."""

from importlib.resources import files
from typing import Any

from attrs import frozen

from structsvm.exceptions import NotInstalledError
from structsvm.protocols.experiment import Results
from structsvm.protocols.experiment.report.findings import findings
from structsvm.protocols.experiment.report.plots import Plots, draw
from structsvm.protocols.experiment.report.tables import (
    VARIANTS,
    fits_table,
    function_table,
    legend,
    map_table,
    path_table,
    query_table,
)
from structsvm.tables.templating import environment

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
            style=(files(_PACKAGE) / "templates" / "report.css").read_text(encoding="utf-8"),
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
