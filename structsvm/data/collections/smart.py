"""Formats of the SMART system (``.I id``, then sections such as ``.T`` and ``.W``) and of the collection LISA."""

import re
import warnings
from collections.abc import Iterator

from structsvm.data.collections.files import File, Record
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
"""Fields by section. Section ``.X``, references to documents, is not text."""

_MARK = re.compile(r"\.([A-Z])(?:[ \t]+([^ \t].*?)|)[ \t]*")


def read_smart(file: File) -> Iterator[Record]:
    """Yield the documents or topics of a file.

    A repeated section continues its field. A last ``.I`` without id and text is skipped with a warning.
    """
    record: Record | None = None
    fields: dict[str, list[str]] = {}
    text: list[str] | None = None  # lines of the open section
    bare = 0  # line number of an .I without an id
    for line, content in file.lines():
        if bare and content.strip():
            raise file.fault(bare, ".I has no id: write for example '.I 1'")
        mark = _MARK.fullmatch(content) if content.startswith(".") else None
        letter, rest = mark.groups() if mark else ("", None)
        if letter == "I":
            if record is not None:
                yield _made(record, fields)
            bare = line if rest is None else 0
            record, fields, text = Record(line, rest, {}) if rest else None, {}, None
        elif mark and rest is None:
            if record is None:
                raise file.fault(line, f"section {mark[0]} comes before the first .I, which begins a {file.kind}")
            if letter not in SECTIONS and letter != "X":
                sections = ", ".join(f".{letter_of_section} ({name})" for letter_of_section, name in SECTIONS.items())
                raise file.fault(
                    line, f"unknown section .{letter}; choose {sections}, or .X (references, which are left out)"
                )
            text = fields.setdefault(SECTIONS.get(letter, ""), [])
        elif text is not None:
            text.append(content)
        elif content.strip():
            where = (
                f"before the first .I, which begins a {file.kind}"
                if record is None
                else "outside of the sections, such as .W"
            )
            raise file.fault(line, f"{quoted(content)} is {where}")
    if record is not None:
        yield _made(record, fields)
    if bare:
        warnings.warn(f"{file.path}, line {bare}: skipped the last .I, which has no id and no text", stacklevel=2)


def _made(record: Record, fields: dict[str, list[str]]) -> Record:
    return record._replace(fields={name: "\n".join(lines) for name, lines in fields.items() if name})


_DOCUMENT = re.compile(r"Document[ \t]+([0-9]+)[ \t]*", re.ASCII)
_NUMBER = re.compile(r"[ \t]*([0-9]+)[ \t]*", re.ASCII)
_ASTERISKS = re.compile(r"\*{10,}[ \t]*")

LISA = re.compile(rf"(?:{_DOCUMENT.pattern}|{_NUMBER.pattern})\n")


def read_lisa(file: File) -> Iterator[Record]:
    """Yield the documents, with title and text, or the topics, with text, of a file."""
    documents = file.kind == "document"
    heading, example = (_DOCUMENT, "Document 1") if documents else (_NUMBER, "1")
    begun, name, lines = 0, "", list[str]()
    for line, content in file.lines():
        if not begun:
            match = heading.fullmatch(content)
            if match:
                begun, name, lines = line, match[1], []
            elif content.strip():
                raise file.fault(
                    line,
                    f"{quoted(content)} is outside of any {file.kind}, which begins with a line such as '{example}'",
                )
            continue
        closed = _ASTERISKS.fullmatch(content) if documents else content.rstrip().endswith("#")
        if not closed:
            lines.append(content)
            continue
        if not documents:
            yield Record(begun, name, {"text": "\n".join([*lines, content.rstrip().removesuffix("#")])})
        else:
            title, _, text = "\n".join(lines).lstrip("\n").partition("\n\n")
            yield Record(begun, name, {"title": title, "text": text})
        begun = 0
    if begun:
        end = "a line of asterisks" if documents else "'#' at the end of its last line"
        raise file.fault(begun, f"the {file.kind} that begins here is not closed by {end}")
