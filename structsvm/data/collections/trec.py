"""TREC's documents, ``<DOC> <DOCNO> id </DOCNO> ... </DOC>``, and topics, ``<top> <num> Number: id ... </top>``."""

import re
from collections.abc import Iterator
from html.entities import html5
from typing import NamedTuple

from structsvm.data.collections.files import File, Record
from structsvm.exceptions import DataFormatError, quoted

LONGEST = 2**26
"""Largest number of characters per element, because an element that is not closed would fill memory."""

_LONGEST_TAG = 4096
_REFERENCE = re.compile(r"&(?:#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z][A-Za-z0-9]*));")
_BETWEEN = re.compile(r"\s*(?:<!--.*?-->\s*)*", re.DOTALL)

TAG = re.compile(
    r"<(?:(?P<end>/?)(?P<name>[A-Za-z][A-Za-z0-9_.:-]*)(?:\s[^<>]*?)?(?P<alone>/?)>|!--.*?-->|(?P<odd>!--|!\[CDATA\[))",
    re.DOTALL,
)
"""A tag, a comment, or a construct that is not supported."""


class Element(NamedTuple):
    """An element such as ``<DOC>...</DOC>``; ``line`` is the line of its content, from 1."""

    line: int
    text: str

    def line_of(self, at: int) -> int:
        """Return the line of a position in the text."""
        return self.line + self.text.count("\n", 0, at)


def elements(file: File, name: str, other: str) -> Iterator[Element]:
    """Yield the elements with one name, with only white space and comments between; users may confuse ``other``."""
    letters = "".join(f"[{letter.upper()}{letter.lower()}]" for letter in name)
    opening, closing = re.compile(rf"<{letters}(?:\s[^<>]*)?>"), re.compile(rf"</{letters}\s*>")
    text, line = "", 1
    for piece in file.pieces:
        text, at = text + piece.text, 0
        while True:
            begin = _BETWEEN.match(text, at).end()  # type: ignore[union-attr]  # it also matches the empty string
            line += text.count("\n", at, begin)
            at = begin
            begun = opening.match(text, at)
            if begun is None:
                if _can_go_on(text, at):
                    break
                raise _stray(file, line, text, at, name, other)
            ended = closing.search(text, begun.end())
            if ended is None:
                if opening.search(text, begun.end()):
                    raise file.fault(line, _not_closed(name, "the next one begins"))
                if len(text) - at > LONGEST:
                    raise file.fault(
                        line, f"<{name}> is longer than {LONGEST:,} characters: is it closed by </{name}>?"
                    )
                break
            yield Element(line + text.count("\n", at, begun.end()), text[begun.end() : ended.start()])
            line += text.count("\n", at, ended.end())
            at = ended.end()
        text = text[at:]
    if text:
        begun = opening.match(text)
        problem = f"{quoted(text)} is outside of any <{name}>" if begun is None else _not_closed(name, "the file ends")
        raise file.fault(line, problem)


def _can_go_on(text: str, at: int) -> bool:
    """Return whether a tag or comment may begin here whose end has not been read yet."""
    if at == len(text):
        return True
    if text.startswith("<!--", at):
        return len(text) - at <= LONGEST
    return text.startswith("<", at) and len(text) - at <= _LONGEST_TAG and ">" not in text[at:]


def _stray(file: File, line: int, text: str, at: int, name: str, other: str) -> DataFormatError:
    tag = text[at : at + _LONGEST_TAG].partition("\n")[0]
    if re.match(rf"<{other}[\s>]", tag, re.IGNORECASE):
        kinds = {"DOC": "documents", "top": "topics"}
        return file.fault(
            line, f"<{other}> begins {kinds[other]}, but {kinds[name]} are read, which begin with <{name}>"
        )
    return file.fault(line, f"{quoted(tag)} is outside of any <{name}>: put it into one, or leave it out")


def _not_closed(name: str, until: str) -> str:
    return f"<{name}> is not closed by </{name}> before {until}"


def check_tag(file: File, element: Element, match: "re.Match[str]", name: str) -> None:
    """Raise DataFormatError for a tag that an element of this name cannot contain."""
    if match["odd"]:
        problem = "the comment is not closed by -->" if match["odd"] == "!--" else "a CDATA section cannot be read"
        raise file.fault(element.line_of(match.start()), f"{problem}: {quoted(match.string[match.start() :])}")
    if match["name"] and match["name"].lower() == name.lower():
        raise file.fault(element.line, _not_closed(name, "the next one begins"))


def plain(text: str) -> str:
    """Return text with tags and comments replaced by blanks, and HTML's references, ``&amp;``, by characters."""
    if "<" in text:
        text = TAG.sub(" ", text)
    return _REFERENCE.sub(_character, text) if "&" in text else text


def _character(reference: "re.Match[str]") -> str:
    decimal, hexadecimal, name = reference.groups()
    if name:
        return html5.get(f"{name};", reference[0])
    number = int(decimal) if decimal else int(hexadecimal, 16)
    is_character = 0 < number < 0x110000 and not 0xD800 <= number < 0xE000
    return chr(number) if is_character else reference[0]


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
