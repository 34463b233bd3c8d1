"""The formats of data files read slowly, from their definitions: what the readers must agree with."""

import gzip
import re
import struct
import zlib
from collections.abc import Sequence
from io import BytesIO
from typing import Any

from attrs import frozen

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_LARGEST_INDEX = 2**31 - 1
_MOST_BYTES = 2**27
_BLANKS = re.compile(r"[ \t\r\n]+")


class Refused(Exception):
    """The file is not what it should be."""


@frozen
class Letor:
    """The documents of LETOR files: labels, queries, features by index."""

    labels: Sequence[float]
    queries: Sequence[int]
    features: Sequence[dict[int, float]]


def read_letor(content: bytes) -> Letor:
    """Read ``<label> qid:<query> <index>:<value> ... # <comment>``, a document a line."""
    labels, queries, features = list[float](), list[int](), list[dict[int, float]]()
    for line in _lines(content):
        words = [word for word in re.split(r"[ \t]+", line.partition("#")[0]) if word]
        if not words:
            continue
        labels.append(_number(words[0]))
        name, _, query = words[1].partition(":") if len(words) > 1 else ("", "", "")
        if name != "qid":
            raise Refused(f"no query id in {line!r}")
        queries.append(_whole(query, 1 - 2**63, 2**63 - 1))
        row = dict[int, float]()
        for word in words[2:]:
            index, _, value = word.partition(":")
            number = _whole(index, 1, _LARGEST_INDEX)
            if row and number <= max(row):
                raise Refused(f"not ascending: {line!r}")
            row[number] = _number(value)
        features.append(row)
    if not labels:
        raise Refused("no documents")
    return Letor(labels, queries, features)


def read_run(content: bytes) -> tuple[str, dict[tuple[str, str], float]]:
    """Read ``<topic> Q0 <document> <rank> <score> <name>``: the name, and scores in float32 by topic and document."""
    scores, name = dict[tuple[str, str], float](), ""
    for cells in _cells(content):
        if len(cells) < 6:
            raise Refused(f"too few columns: {cells}")
        score = min(max(_number(cells[4]), -_LARGEST_SINGLE), _LARGEST_SINGLE)
        _add(scores, cells, struct.unpack("f", struct.pack("f", score))[0])
        name = cells[5]
    return name, scores


def read_qrels(content: bytes) -> dict[tuple[str, str], int]:
    """Read ``<topic> <iteration> <document> <grade>``, all without the second or none: grades by topic and document."""
    grades = dict[tuple[str, str], int]()
    rows = _cells(content)
    for cells in rows:
        if len(cells) != len(rows[0]) or len(cells) not in (3, 4):
            raise Refused(f"not four columns, nor three: {cells}")
        _add(grades, [cells[0], "", *cells[-2:]], _whole(cells[-1], -(2**63), 2**63 - 1))
    return grades


_LARGEST_SINGLE = struct.unpack("f", b"\xff\xff\x7f\x7f")[0]


def _add(values: dict[tuple[str, str], Any], cells: Sequence[str], value: float) -> None:
    pair = cells[0], cells[2]
    if pair in values or max(map(len, pair)) > 1000:
        raise Refused(f"twice, or too long: {pair}")
    values[pair] = value


def _cells(content: bytes) -> list[list[str]]:
    lines = [line for line in _lines(content) if not line.startswith("#")]
    if any("\udc80" <= sign <= "\udcff" for line in lines for sign in line):
        raise Refused("not UTF-8")
    found = [[cell for cell in _BLANKS.split(line) if cell] for line in lines]
    found = [cells for cells in found if cells]
    if not found:
        raise Refused("no lines")
    return found


def _lines(content: bytes) -> list[str]:
    """Return the lines; bytes that are no UTF-8 may be in comments."""
    if content[:2] == b"\x1f\x8b":
        try:
            with gzip.open(BytesIO(content)) as file:
                if len(text := file.read(_MOST_BYTES + 1)) > _MOST_BYTES:
                    raise Refused("a bomb")
                content = text
        except (OSError, EOFError, zlib.error):
            raise Refused("gzip") from None
    text = content.removeprefix(b"\xef\xbb\xbf").decode(errors="surrogateescape").rstrip("\r")
    if "\0" in text:
        raise Refused("binary")
    if re.search("\r(?![\r\n])", text):
        raise Refused("line ends of old")
    lines = re.split("\r*\n", text)
    if any(line.startswith("\ufeff") for line in lines):
        raise Refused("a byte order mark that begins no file")
    return lines


def _number(word: str) -> float:
    if not _NUMBER.fullmatch(word) or abs(number := float(word)) == float("inf"):
        raise Refused(f"no finite number: {word}")
    return number


def _whole(word: str, smallest: int, largest: int) -> int:
    if not _WHOLE.fullmatch(word) or len(word) > 4000 or not smallest <= int(word) <= largest:
        raise Refused(f"no whole number: {word}")
    return int(word)
