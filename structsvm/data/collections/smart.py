"""The format of the SMART system: ``.I id``, then sections such as ``.T`` and ``.W``, a line each before their text."""

import re
import warnings
from collections.abc import Iterator

from structsvm.data.collections.records import File, Record
from structsvm.exceptions import quoted

SECTIONS = {
    "T": "title",
    "A": "author",
    "B": "bibliography",
    "W": "text",
    "K": "keywords",
    "C": "categories",
    "N": "note",
}
"""Fields by section; ``.W`` of a topic is its description. Section ``.X``, numbers of other documents, is no text."""

_MARK = re.compile(r"\.([A-Z])(?:[ \t]+([^ \t].*?)|)[ \t]*")


def read(file: File) -> Iterator[Record]:
    """Yield the documents or topics of a file. A section that is there again continues its field.

    An ``.I`` without an id or anything else behind it is skipped at the end of a file, with a warning: MED ends so.

    Raises
    ------
    DataFormatError : text stands before the first section, an id is missing, or a section is not known.
    """
    names = SECTIONS | ({"W": "description"} if file.kind == "topic" else {})
    record: Record | None = None
    fields: dict[str, list[str]] = {}
    text: list[str] | None = None  # the section that is open
    bare = 0  # line of an .I without an id
    for line, content in file.lines():
        if bare and content.strip():
            raise file.fault(bare, f"there is no id behind .I: '.I 1' begins {file.kind} 1")
        mark = _MARK.fullmatch(content) if content.startswith(".") else None
        letter, rest = mark.groups() if mark else ("", None)
        if letter == "I":
            if record is not None:
                yield _made(record, fields)
            bare = line if rest is None else 0
            record, fields, text = Record(line, rest, {}) if rest else None, {}, None
        elif mark and rest is None:
            if record is None:
                raise file.fault(line, f"section {mark[0]} stands before the first .I, which begins a {file.kind}")
            if letter not in names and letter != "X":
                known = ", ".join(f".{each} ({name})" for each, name in names.items())
                raise file.fault(line, f"there is no section .{letter}; known: {known}, .X (references, left out)")
            text = fields.setdefault(names.get(letter, ""), [])
        elif text is not None:
            text.append(content)
        elif content.strip():
            where = f"before the first .I, which begins a {file.kind}" if record is None else "in no section such as .W"
            raise file.fault(line, f"{quoted(content)} stands {where}")
    if record is not None:
        yield _made(record, fields)
    if bare:
        warnings.warn(f"{file.path}, line {bare}: skipped the last .I, which has no id and no text", stacklevel=2)


def _made(record: Record, fields: dict[str, list[str]]) -> Record:
    return record._replace(fields={name: "\n".join(lines) for name, lines in fields.items() if name})
