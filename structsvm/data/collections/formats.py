"""Formats of collections by name, and their detection."""

import re
from collections.abc import Iterator, Mapping
from itertools import chain

from attrs import evolve

from structsvm.data.collections import lines, smart, trec
from structsvm.data.collections.files import File, Piece, Reader, Record
from structsvm.exceptions import InputError, quoted

AUTO = "auto"

FORMATS: Mapping[str, Reader] = {
    "trec": trec.read_trec,
    "smart": smart.read_smart,
    "lisa": smart.read_lisa,
    "jsonl": lines.read_objects,
    "tsv": lines.read_table,
    "tsv-header": lines.read_table_with_header,
}
"""Readers by format name."""

_NAMED = ("jsonl", "tsv-header")
"""Formats whose fields have names chosen by the user."""

_BEGINNINGS = {
    "trec": re.compile(r"<(doc|top)[\s>]|<!--", re.IGNORECASE),
    "smart": re.compile(r"\.I[ \t\n]"),
    "lisa": smart.LISA,
    "jsonl": re.compile(r"\{"),
}
"""Unambiguous beginnings of files by format."""


def records_of(file: File, form: str) -> Iterator[Record]:
    """Yield the records of a file in a named format; `AUTO` detects the format from its beginning."""
    if form == AUTO:
        begun = list[Piece]()
        for piece in file.pieces:
            begun.append(piece)
            if not piece.text.isspace():
                break
        form = _format_of(file, begun)
        file = evolve(file, pieces=chain(begun, file.pieces))
    if file.id_field is not None and form not in _NAMED:
        raise InputError(
            f"id_field={file.id_field!r} is only for the formats {' and '.join(_NAMED)}, but {file.path} is {form}: "
            "leave it out"
        )
    yield from FORMATS[form](file)


def _format_of(file: File, begun: list[Piece]) -> str:
    last = begun[-1].text if begun else ""
    text = last.lstrip()
    if not text:
        raise file.fault(None, f"the file is empty: it must have a {file.kind}")
    for name, beginning in _BEGINNINGS.items():
        if beginning.match(text):
            return name
    first = text.partition("\n")[0]
    if first.startswith("["):
        problem = "is a JSON array: jq -c '.[]' FILE > NEW writes one object per line, which the format jsonl reads"
    elif "\t" in first:
        problem = "is a table: name its format, tsv or, if the first line names the columns, tsv-header"
    else:
        tag = "DOC" if file.kind == "document" else "top"
        problem = (
            f"matches no format: name one of {', '.join(FORMATS)} (trec begins with <{tag}>, smart with .I, jsonl with "
            "{)"
        )
    line = begun[-1].line + last.count("\n", 0, len(last) - len(text))
    raise file.fault(line, f"the beginning {quoted(first)} {problem}")
