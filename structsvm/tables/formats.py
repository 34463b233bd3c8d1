"""Tables in the formats of files."""

import csv
import io
import json
from collections.abc import Sequence

from structsvm.tables.base import Table
from structsvm.tables.templating import environment

_TEMPLATES = "structsvm.tables"


def as_markdown(tables: Sequence[Table]) -> str:
    """Return tables as Markdown, in the flavour of GitHub, which has no sections."""
    return environment(_TEMPLATES).get_template("tables.md.j2").render(tables=tables)


def as_latex(tables: Sequence[Table]) -> str:
    """Return tables as LaTeX: a ``table`` each, which needs the packages booktabs and fontenc (T1)."""
    return environment(_TEMPLATES).get_template("tables.tex.j2").render(tables=tables)


def as_csv(tables: Sequence[Table]) -> str:
    """Return the records of tables as CSV, with one line of headings; what is None is empty.

    Raises
    ------
    ValueError : when a record has other names than the first one.
    """
    text = io.StringIO()
    records = [record for table in tables for record in table.records]
    writer = csv.DictWriter(text, list(records[0]) if records else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()


def as_json(tables: Sequence[Table]) -> str:
    """Return tables as a JSON list of objects with ``title``, ``rows`` (the records) and ``notes``.

    Raises
    ------
    ValueError : when a number is not finite, which JSON cannot say.
    """
    content = [{"title": table.title, "rows": table.records, "notes": table.notes} for table in tables]
    return json.dumps(content, indent=2, allow_nan=False, ensure_ascii=False) + "\n"
