"""SGML of TREC files: elements, tags and character references."""

import re
from collections.abc import Iterator
from html.entities import html5
from typing import NamedTuple

from structsvm.data.collections.files import File
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
