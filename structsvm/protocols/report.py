"""Write the report of a protocol: an HTML page, and tables in other formats."""

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import frozen

from structsvm.exceptions import NotInstalledError
from structsvm.foundation.tables.formats import environment, page_style, write_texts

if TYPE_CHECKING:
    from structsvm.plots.files import Plot

P = TypeVar("P")

PAGE = "report.html"
FIGURES = "figures"
"""Folder of the figures beside the page, one SVG file each."""


@frozen
class Written:
    """The page and the other files of a report; ``missing`` is the reason why it has no plots, or ""."""

    page: Path
    tables: tuple[Path, ...]
    figures: tuple[Path, ...]
    missing: str


def plots_of(draw: Callable[[], P]) -> tuple[P | None, str]:
    """Return the plots of a function and ""; or None and the reason, if Matplotlib is missing."""
    try:
        return draw(), ""
    except NotInstalledError as error:
        return None, str(error)


def rendered(package: str, template: str, **shown: Any) -> str:
    """Render a template of a package with values by name."""
    return environment(package).get_template(template).render(style=page_style(), **shown)


def title_of(folder: Path, title: str | None) -> str:
    """Return the title of a page; the default is the name of the folder."""
    return Path(os.path.realpath(folder)).name if title is None else title


def figure_files(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the files of figures, in the folder of the report."""
    return tuple(f"{FIGURES}/{name}.svg" for name in names)


def written(
    folder: Path, texts: Mapping[str, str], page: str, figures: "Mapping[str, Plot | None]", missing: str
) -> Written:
    """Write the page, and other files and figures by name; replace each file only when all are complete."""
    drawn = {name: plot.svg for name, plot in figures.items() if plot is not None}
    files = dict(zip(figure_files(drawn), (f"{svg}\n" for svg in drawn.values()), strict=True))
    paths = write_texts({**texts, **files, PAGE: page}, folder)
    return Written(paths[-1], paths[: len(texts)], paths[len(texts) : -1], missing)
