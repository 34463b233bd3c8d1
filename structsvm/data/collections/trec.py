"""TREC's documents, ``<DOC> <DOCNO> id </DOCNO> ... </DOC>``, and topics, ``<top> <num> Number: id ... </top>``."""

from collections.abc import Iterator

from structsvm.data.collections.files import File, Record
from structsvm.data.collections.sgml import TAG, Element, check_tag, elements, plain
from structsvm.exceptions import quoted

_OUTSIDE = "text"
"""Field of text outside of elements; text in ``<TEXT>`` also belongs to it."""

_PARTS = {
    "title": ("title", "Topic:"),
    "desc": ("description", "Description:"),
    "narr": ("narrative", "Narrative:"),
    "smry": ("summary", "Summary:"),
    "con": ("concepts", "Concept(s):", "Concepts:"),
    "dom": ("domain", "Domain:"),
    "fac": ("factors", "Factor(s):", "Factors:"),
    "nat": ("nationality", "Nationality:"),
    "def": ("definitions", "Definition(s):", "Definitions:"),
    "num": ("num", "Number:"),
}
"""Names of parts by tag, and the labels that repeat the tag at the beginning of a part in topics of the first TRECs."""


def read_trec(file: File) -> Iterator[Record]:
    """Return an iterator over the documents or topics of a file."""
    return _documents(file) if file.kind == "document" else _topics(file)


def _documents(file: File) -> Iterator[Record]:
    for element in elements(file, "DOC", "top"):
        fields = _fields(file, element)
        ids = fields.pop("docno", [])
        if len(ids) != 1:
            problem = "has no <DOCNO>" if not ids else f"has {len(ids)} <DOCNO>"
            raise file.fault(element.line, f"the document that begins here {problem}: write one, with its id")
        name = ids[0]
        if "<" in name:
            raise file.fault(element.line, f"<DOCNO> contains a tag, {quoted(name.strip())}: write the id alone")
        yield Record(element.line, name, {field: plain("\n".join(texts)) for field, texts in fields.items()})


def _fields(file: File, element: Element) -> dict[str, list[str]]:
    """Return the raw texts of the elements of a document by name in lower case."""
    text = element.text
    fields: dict[str, list[str]] = {}
    # The open element, if any, its depth, and the start of its text or of the text outside elements.
    name, depth, at, opened = "", 0, 0, 0
    for tag in TAG.finditer(text):
        check_tag(file, element, tag, "DOC")
        if tag["name"] is None:
            if not depth:
                _add(fields, _OUTSIDE, text[at : tag.start()])
                at = tag.end()
            continue
        opening = tag["name"].lower()
        if depth:
            if opening == name and not tag["alone"]:
                depth += -1 if tag["end"] else 1
                if not depth:
                    fields.setdefault(name, []).append(text[at : tag.start()])
                    at = tag.end()
            continue
        _add(fields, _OUTSIDE, text[at : tag.start()])
        at = tag.end()
        if tag["end"]:
            raise file.fault(element.line_of(tag.start()), f"{tag[0]} closes <{tag['name']}>, which is not open")
        if not tag["alone"]:
            name, depth, opened = opening, 1, tag.start()
    if depth:
        problem = f"<{name.upper()}> is not closed by </{name.upper()}> before </DOC>"
        raise file.fault(element.line_of(opened), problem)
    _add(fields, _OUTSIDE, text[at:])
    return fields


def _add(fields: dict[str, list[str]], name: str, text: str) -> None:
    if text and not text.isspace():
        fields.setdefault(name, []).append(text)


def _topics(file: File) -> Iterator[Record]:
    for element in elements(file, "top", "DOC"):
        parts = _parts(file, element)
        name = parts.pop("num", None)
        if name is None:
            raise file.fault(element.line, "the topic that begins here has no <num>: write one, with its id")
        yield Record(element.line, name, {_PARTS.get(tag, (tag,))[0]: plain(text) for tag, text in parts.items()})


def _parts(file: File, element: Element) -> dict[str, str]:
    """Return the text of each part by its tag in lower case, without its label."""
    text = element.text
    parts: dict[str, str] = {}
    # Open tags; the last one is the tag of the part.
    tags: list[str] = []
    at = 0

    def end(place: int) -> None:
        """Store the text of the open part."""
        part = text[at:place]
        if tags and tags[-1] not in parts:
            parts[tags[-1]] = _without_label(tags[-1], part)
        elif plain(part).strip():
            line = element.line_of(at + len(part) - len(part.lstrip()))
            raise file.fault(
                line, f"{quoted(part.strip())} is outside of the parts of the topic: put it into one, such as <title>"
            )

    for tag in TAG.finditer(text):
        check_tag(file, element, tag, "top")
        if tag["name"] is None or tag["alone"]:
            continue
        name = tag["name"].lower()
        end(tag.start())
        at = tag.end()
        if not tag["end"]:
            if name in parts or name in tags:
                raise file.fault(element.line_of(tag.start()), f"the topic has <{name}> twice: leave one out")
            tags.append(name)
        elif name in tags:
            del tags[tags.index(name) :]
        else:
            raise file.fault(element.line_of(tag.start()), f"{tag[0]} closes <{tag['name']}>, which is not open")
    end(len(text))
    return parts


def _without_label(tag: str, text: str) -> str:
    text = text.lstrip(" \t\n")
    for label in _PARTS.get(tag, (tag,))[1:]:
        if text.startswith(label):
            return text.removeprefix(label)
    return text
