"""Write the report of a protocol: an HTML page, and tables and figures in other formats."""

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


def rendered(package: str, template: str, **values: Any) -> str:
    """Render a template of a package with values by name."""
    return environment(package).get_template(template).render(style=page_style(), **values)


def figure_files(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the files of figures, in the folder of the report."""
    return tuple(f"figures/{name}.svg" for name in names)


def written(
    folder: Path, texts: Mapping[str, str], page: str, figures: "Mapping[str, Plot | None]", missing: str
) -> Written:
    """Write the page, and other files and figures by name; replace each file only when all are complete."""
    plots = {name: f"{plot.svg}\n" for name, plot in figures.items() if plot is not None}
    files = dict(zip(figure_files(plots), plots.values(), strict=True))
    paths = write_texts({**texts, **files, PAGE: page}, folder)
    return Written(paths[-1], paths[: len(texts)], paths[len(texts) : -1], missing)
