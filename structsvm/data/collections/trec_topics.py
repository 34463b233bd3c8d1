"""TREC's topics: ``<top> <num> Number: id <title> ... </top>``, with closing tags of the parts or without."""

from collections.abc import Iterator

from structsvm.data.collections.records import File, Record
from structsvm.data.collections.sgml import TAG, Element, check_tag, elements, plain
from structsvm.exceptions import quoted

NAMES = {
    "title": "title",
    "desc": "description",
    "narr": "narrative",
    "smry": "summary",
    "con": "concepts",
    "dom": "domain",
    "fac": "factors",
    "nat": "nationality",
    "def": "definitions",
}
"""What parts are called, by tag; others by their tag."""

LABELS = {
    "num": ("Number:",),
    "title": ("Topic:",),
    "desc": ("Description:",),
    "narr": ("Narrative:",),
    "smry": ("Summary:",),
    "con": ("Concept(s):", "Concepts:"),
    "dom": ("Domain:",),
    "fac": ("Factor(s):", "Factors:"),
    "nat": ("Nationality:",),
    "def": ("Definition(s):", "Definitions:"),
}
"""Words that begin a part in the topics of the first TRECs, and say no more than its tag."""


def read(file: File) -> Iterator[Record]:
    """Yield the topics of a file.

    Raises
    ------
    DataFormatError : `elements`; or a topic has no ``<num>``, a part twice, or text outside of its parts.
    """
    for element in elements(file, "top", "DOC"):
        parts = _parts(file, element)
        name = parts.pop("num", None)
        if name is None:
            raise file.fault(element.line, "the topic that begins here has no <num>, which holds its id")
        yield Record(element.line, name, {NAMES.get(tag, tag): plain(text) for tag, text in parts.items()})


def _parts(file: File, element: Element) -> dict[str, str]:
    """Return the text of each part by its tag in lower case, without its label."""
    text = element.text
    parts: dict[str, str] = {}
    tags: list[str] = []  # that were opened and not closed; the last one is that of the part
    at = 0

    def end(place: int) -> None:
        """End the part that is open, or what is outside of all parts."""
        part = text[at:place]
        if tags and tags[-1] not in parts:
            parts[tags[-1]] = _without_label(tags[-1], part)
        elif plain(part).strip():
            line = element.line_of(at + len(part) - len(part.lstrip()))
            raise file.fault(line, f"{quoted(part.strip())} stands in no part of the topic, such as <title>")

    for tag in TAG.finditer(text):
        check_tag(file, element, tag, "top")
        if tag["name"] is None or tag["alone"]:
            continue
        name = tag["name"].lower()
        end(tag.start())
        at = tag.end()
        if not tag["end"]:
            if name in parts or name in tags:
                raise file.fault(element.line_of(tag.start()), f"<{name}> is in the topic twice: leave one out")
            tags.append(name)
        elif name in tags:
            del tags[tags.index(name) :]
        else:
            raise file.fault(element.line_of(tag.start()), f"{tag[0]} closes nothing: <{tag['name']}> is not open")
    end(len(text))
    return parts


def _without_label(tag: str, text: str) -> str:
    text = text.lstrip(" \t\n")
    for label in LABELS.get(tag, ()):
        if text.startswith(label):
            return text.removeprefix(label)
    return text
