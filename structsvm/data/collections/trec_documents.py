"""TREC's documents: ``<DOC> <DOCNO> id </DOCNO> ... </DOC>``, fields by tag."""

from collections.abc import Iterator

from structsvm.data.collections.records import File, Record
from structsvm.data.collections.sgml import TAG, Element, check_tag, elements, plain
from structsvm.exceptions import quoted

OUTSIDE = "text"
"""The field of the text that is in no element of a document; it is that of ``<TEXT>``, too."""


def read(file: File) -> Iterator[Record]:
    """Yield the documents of a file.

    Raises
    ------
    DataFormatError : `elements`; or a document has no ``<DOCNO>`` or two, or an element in it is not closed.
    """
    for element in elements(file, "DOC", "top"):
        fields = _fields(file, element)
        ids = fields.pop("docno", [])
        if len(ids) != 1:
            problem = "has no <DOCNO>" if not ids else f"has {len(ids)} <DOCNO>"
            raise file.fault(element.line, f"the document that begins here {problem}; it needs one, which holds its id")
        name = ids[0]
        if "<" in name:
            raise file.fault(element.line, f"there is a tag in <DOCNO>, which holds {quoted(name.strip())}")
        yield Record(element.line, name, {field: plain("\n".join(texts)) for field, texts in fields.items()})


def _fields(file: File, element: Element) -> dict[str, list[str]]:
    """Return the texts of the elements of a document by name in lower case, as they stand there."""
    text = element.text
    fields: dict[str, list[str]] = {}
    name, depth, at, opened = "", 0, 0, 0  # of the element that is open, if any; where its text or that outside begins
    for tag in TAG.finditer(text):
        check_tag(file, element, tag, "DOC")
        if tag["name"] is None:
            if not depth:
                _add(fields, OUTSIDE, text[at : tag.start()])
                at = tag.end()
            continue
        found = tag["name"].lower()
        if depth:
            if found == name and not tag["alone"]:
                depth += -1 if tag["end"] else 1
                if not depth:
                    fields.setdefault(name, []).append(text[at : tag.start()])
                    at = tag.end()
            continue
        _add(fields, OUTSIDE, text[at : tag.start()])
        at = tag.end()
        if tag["end"]:
            raise file.fault(element.line_of(tag.start()), f"{tag[0]} closes nothing: <{tag['name']}> is not open")
        if not tag["alone"]:
            name, depth, opened = found, 1, tag.start()
    if depth:
        problem = f"<{name.upper()}> is not closed by </{name.upper()}> before </DOC>"
        raise file.fault(element.line_of(opened), problem)
    _add(fields, OUTSIDE, text[at:])
    return fields


def _add(fields: dict[str, list[str]], name: str, text: str) -> None:
    if text and not text.isspace():
        fields.setdefault(name, []).append(text)
