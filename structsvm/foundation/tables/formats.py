"""Tables as Markdown, LaTeX and JSON, and files of tables in every format."""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from structsvm.exceptions import InputError, printable
from structsvm.foundation.extras import needed
from structsvm.foundation.storage.files import replacement
from structsvm.foundation.tables.table import Table, as_csv, as_text, with_notes_once

if TYPE_CHECKING:
    from jinja2 import Environment

FILES = ("tables.txt", "tables.md", "tables.tex", "tables.csv", "tables.json")
"""Names of the files of `table_texts`."""

_TEMPLATES = "structsvm.foundation.tables"
_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        '"': r"\textquotedbl{}",
        "|": r"\textbar{}",
        # LaTeX takes "[" or "*" after the end of a row for an argument.
        "[": "{[}",
        "*": r"\textasteriskcentered{}",
        **{character: "\\" + character for character in "&%$#_{}"},
    }
)


def as_markdown(tables: Sequence[Table], *, escaped: bool = True) -> str:
    """Return tables as GitHub's Markdown, which has no sections; unless ``escaped``, the texts are Markdown already."""
    shown = escape_markdown if escaped else str
    return environment(_TEMPLATES).get_template("tables.md.j2").render(tables=tables, shown=shown)


def as_latex(tables: Sequence[Table]) -> str:
    """Return tables as LaTeX, one ``table`` environment each, for the packages booktabs and fontenc (T1)."""
    return environment(_TEMPLATES).get_template("tables.tex.j2").render(tables=tables)


def as_json(tables: Sequence[Table]) -> str:
    """Return tables as a JSON list of objects with ``title``, ``rows`` (the records) and ``notes``."""
    content = [{"title": table.title, "rows": table.records, "notes": table.notes} for table in tables]
    try:
        text = json.dumps(content, indent=2, allow_nan=False, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"a table has a value that JSON cannot contain ({error}): use finite numbers and texts"
        ) from None
    return re.sub(r"[^\n]", lambda sign: sign[0] if sign[0].isprintable() else json.dumps(sign[0])[1:-1], text) + "\n"


def escape_latex(text: str) -> str:
    """Return `printable` text with LaTeX's special characters escaped."""
    return printable(text).translate(_LATEX)


def escape_markdown(text: str) -> str:
    """Return `printable` text with Markdown's special characters escaped, also for a cell of a table."""
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", printable(" ".join(text.split())))


def page_style() -> str:
    """Return the style sheet of HTML pages."""
    return (files(_TEMPLATES) / "templates" / "page.css").read_text(encoding="utf-8")


@cache
def environment(package: str) -> "Environment":
    """Return Jinja's environment for the templates of a package and of this one; values are `printable` and escaped."""
    with needed("reports need Jinja2", "tools"):
        from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, select_autoescape
    jinja = Environment(
        loader=ChoiceLoader([PackageLoader(folder) for folder in dict.fromkeys((package, _TEMPLATES))]),
        autoescape=select_autoescape(["html.j2"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        # Do not convert Markup, which is a subclass of str.
        finalize=lambda value: printable(value) if type(value) is str else value,
    )
    jinja.filters["latex"] = escape_latex
    return jinja


def table_texts(tables: Sequence[Table], for_csv: Sequence[Table]) -> dict[str, str]:
    """Return the text of each file by name; ``for_csv`` are the tables of the CSV file."""
    once = with_notes_once(tables)
    texts = ("\n\n".join(map(as_text, once)), as_markdown(once), as_latex(tables), as_csv(for_csv), as_json(tables))
    return dict(zip(FILES, texts, strict=True))


def write_texts(texts: Mapping[str, str], folder: Path) -> tuple[Path, ...]:
    """Write files to a folder and its subfolders by name, and make folders; all replace old files when complete."""
    with ExitStack() as complete:
        for name, text in texts.items():
            file = complete.enter_context(replacement(folder / name, makes_folders=True))
            file.write_text(text, encoding="utf-8")
    return tuple(folder / name for name in texts)
