"""The report of a protocol: an HTML page beside tables in other formats."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from attrs import frozen

from structsvm.exceptions import NotInstalledError
from structsvm.foundation.tables.formats import environment, page_style, write_texts

P = TypeVar("P")

PAGE = "report.html"


@frozen
class Written:
    """The page and the other files of a report; ``missing`` is the reason why it has no plots, or ""."""

    page: Path
    tables: tuple[Path, ...]
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


def written(folder: Path, texts: Mapping[str, str], page: str, missing: str) -> Written:
    """Write the page and other files by name; replace each file only when all are complete."""
    *tables, path = write_texts({**texts, PAGE: page}, folder)
    return Written(path, tuple(tables), missing)
