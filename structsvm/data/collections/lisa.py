"""Format of the collection LISA: ``Document 1``, title, blank line, text and asterisks; topics end with ``#``."""

import re
from collections.abc import Iterator

from structsvm.data.collections.files import File, Record
from structsvm.exceptions import quoted

_DOCUMENT = re.compile(r"Document[ \t]+([0-9]+)[ \t]*", re.ASCII)
_NUMBER = re.compile(r"[ \t]*([0-9]+)[ \t]*", re.ASCII)
_ASTERISKS = re.compile(r"\*{10,}[ \t]*")

BEGINNING = re.compile(rf"(?:{_DOCUMENT.pattern}|{_NUMBER.pattern})\n")


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
