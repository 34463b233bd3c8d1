"""The formats of collections by name, and which of them a file is in."""

import re
from collections.abc import Iterator, Mapping
from itertools import chain

from attrs import evolve

from structsvm.data.collections import json_lines, smart, trec_documents, trec_topics, tsv
from structsvm.data.collections.records import File, Kind, Reader, Record
from structsvm.data.collections.text import Piece
from structsvm.exceptions import DataFormatError, InputError, quoted

AUTO = "auto"

FORMATS: Mapping[str, Mapping[Kind, Reader]] = {
    "trec": {"document": trec_documents.read, "topic": trec_topics.read},
    "smart": {"document": smart.read, "topic": smart.read},
    "jsonl": {"document": json_lines.read, "topic": json_lines.read},
    "tsv": {"document": tsv.read, "topic": tsv.read},
    "tsv-header": {"document": tsv.read_with_header, "topic": tsv.read_with_header},
}
"""Readers by the name of the format and by what a file holds."""

_NAMED = ("jsonl", "tsv-header")
"""Formats in which fields have names of one's own."""

_BEGINNINGS = {
    "trec": re.compile(r"<(doc|top)[\s>]|<!--", re.IGNORECASE),
    "smart": re.compile(r"\.I[ \t\n]"),
    "jsonl": re.compile(r"\{"),
}
"""How files begin, in formats that none of the others can be taken for."""


def records(file: File, form: str) -> Iterator[Record]:
    """Yield what is in a file of a format by name; `AUTO`: of the format that its beginning shows.

    Raises
    ------
    InputError : the file names the field of the id, and the format has none of one's own names.
    DataFormatError : as the reader of the format; or the beginning is that of no format, or of several.
    """
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
            f"the option id_field, got {file.id_field!r}, is for {' and '.join(_NAMED)}: in {form}, as {file.path} is, "
            "the id has its place"
        )
    yield from FORMATS[form][file.kind](file)


def _format_of(file: File, begun: list[Piece]) -> str:
    last = begun[-1].text if begun else ""
    text = last.lstrip()
    if not text:
        raise file.fault(None, f"the file is empty: there is no {file.kind} in it")
    for name, beginning in _BEGINNINGS.items():
        if beginning.match(text):
            return name
    raise _unknown(file, begun[-1].line + last.count("\n", 0, len(last) - len(text)), text.partition("\n")[0])


def _unknown(file: File, line: int, first: str) -> DataFormatError:
    if first.startswith("["):
        problem = "is that of a JSON array; JSON lines have an object a line: jq -c '.[]' FILE > NEW writes them"
    elif "\t" in first:
        problem = (
            "is that of a table, and it does not say whether it has a header: "
            "the option format does, by tsv, or tsv-header where the first line names the columns"
        )
    else:
        problem = (
            f"is that of no format that can be told by it: the option format names one of {', '.join(FORMATS)} "
            f"(trec begins with <{'DOC' if file.kind == 'document' else 'top'}>, smart with .I, jsonl with a brace)"
        )
    return file.fault(line, f"the beginning {quoted(first)} {problem}")
