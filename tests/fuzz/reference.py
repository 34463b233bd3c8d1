"""The formats of data files read slowly, from their definitions, as references for the readers."""

import bz2
import gzip
import json
import lzma
import re
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from typing import Any

from attrs import frozen

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_LARGEST_INDEX = 2**31 - 1
_MOST_BYTES = 2**27
_BLANKS = re.compile(r"[ \t\r\n]+")


class Refused(Exception):
    """The file is invalid."""


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
        queries.append(_whole(query, -(2**63), 2**63 - 1))
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
        if set(cells[3]) - set("0123456789+-.") or (len(cells) > 6 and not set(cells[5]) - set("0123456789+-.eE")):
            raise Refused(f"an id with a blank: {cells}")
        score = min(max(_number(cells[4]), -_LARGEST_SINGLE), _LARGEST_SINGLE)
        _add(scores, cells, struct.unpack("f", struct.pack("f", score))[0])
        name = cells[5]
    return name, _named_by_whole_numbers(scores)


def read_qrels(content: bytes) -> dict[tuple[str, str], int]:
    """Read ``<topic> <iteration> <document> <grade>``, all without the second or none: grades by topic and document."""
    grades = dict[tuple[str, str], int]()
    text = "\n".join(_lines(content))
    if re.match(r"\s*\{\s*([\"}]|\Z)", text):
        return _of_json(text)
    if re.match(r"\s*Query[ \t]+[0-9]+[ \t]*\n", text):
        return _of_lisa(text)
    if (smart := _smart(rows := _rows_of_judgments(content))) is not None:
        return smart
    for cells in rows:
        if len(cells) != len(rows[0]) or len(cells) not in (3, 4):
            raise Refused(f"not four columns, nor three: {cells}")
        word = cells[-1]
        if not _WHOLE.fullmatch(word) and (number := _number(word)) == int(number):
            word = str(int(number))  # such as 1.0
        _add(grades, [cells[0], "", *cells[-2:]], _whole(word, -(2**63), 2**63 - 1))
    seconds, documents = ({cells[k] for cells in rows} for k in (1, -2))
    if len(rows) > 1 and len(rows[0]) == 4 and len(documents) == 1 < len(seconds):
        raise Refused("columns in another order")
    return _named_by_whole_numbers(grades)


def _rows_of_judgments(content: bytes) -> list[list[str]]:
    """Return the cells of each line, in the order of TREC's four columns if a header names them."""
    rows = _cells(content)
    if rows[0] == ["query-id", "corpus-id", "score"]:
        if not rows[1:]:
            raise Refused("only a header")
        if any(len(row) != 3 for row in rows):
            raise Refused("not the columns of the header")
        return rows[1:]
    return rows


def _of_json(text: str) -> dict[tuple[str, str], int]:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise Refused("a name twice")
        return dict(pairs)

    try:
        result = json.loads(text, object_pairs_hook=once)
    except (ValueError, RecursionError):
        raise Refused("no JSON") from None
    grades = dict[tuple[str, str], int]()
    if not result or not all(isinstance(of_topic, dict) and of_topic for of_topic in result.values()):
        raise Refused("no documents")
    for topic, of_topic in result.items():
        for document, grade in of_topic.items():
            if not isinstance(grade, int | float) or not abs(grade) < 2**63 or grade != int(grade):
                raise Refused(f"no whole number: {grade}")
            _add(grades, [topic, "", document], int(grade))
    return _named_by_whole_numbers(grades)


def _of_lisa(text: str) -> dict[tuple[str, str], int]:
    words, grades = text.split(), dict[tuple[str, str], int]()
    while words:
        name, topic, count, *heading = [*words, *[""] * 5][:5]
        if (name, *heading) != ("Query", "Relevant", "Refs:") or "-1" not in words:
            raise Refused("no query")
        documents, words = words[5 : words.index("-1")], words[words.index("-1") + 1 :]
        if not all(word.isascii() and word.isdecimal() for word in (topic, count, *documents)):
            raise Refused("no numbers")
        if len(documents) != int(count):
            raise Refused("another number of documents")
        for document in documents:
            _add(grades, [topic, "", document], 1)
    if not grades:
        raise Refused("no documents")
    return grades


def _smart(rows: list[list[str]]) -> dict[tuple[str, str], int] | None:
    """Return the judgments of lines ``topic document 0 0``, all with numbers, or None."""
    if any(len(row) != 4 or not (row[0] + row[1]).isascii() for row in rows):
        return None
    if not all(row[0].isdecimal() and row[1].isdecimal() and int(row[1]) and row[2] == "0" for row in rows):
        return None
    if any(not _NUMBER.fullmatch(row[3]) or float(row[3]) for row in rows):
        return None
    grades = dict[tuple[str, str], int]()
    for topic, document, *_ in rows:
        _add(grades, [str(int(topic)), "", str(int(document))], 1)
    return grades


def read_collection(content: bytes, form: str, *, topics: bool) -> dict[str, dict[str, str]]:
    """Read documents or topics in a format of `COLLECTIONS`: fields by id."""
    lines = _lines(content)
    if any("\udc80" <= sign <= "\udcff" for line in lines for sign in line):
        raise Refused("not UTF-8")
    result = dict[str, dict[str, str]]()
    for name, fields in COLLECTIONS[form](lines, topics):
        name = name.strip(" \t\r\n")
        fields = {field: text.strip() for field, text in fields.items() if text.strip()}
        if not name or _BLANKS.search(name) or len(name) > 1000 or name in result:
            raise Refused(f"no id, or there twice: {name!r}")
        if topics and (not fields or name.startswith("#")):
            raise Refused(f"no topic: {name!r}")
        if any("\ud800" <= sign <= "\udfff" for text in [name, *fields, *fields.values()] for sign in text):
            raise Refused("half a character")
        result[name] = fields
    if not result:
        raise Refused("nothing there")
    return result


def _rows_of_smart(lines: list[str], topics: bool) -> list[tuple[str, dict[str, str]]]:
    names = {"T": "title", "A": "author", "B": "bibliography", "W": "text"}
    names |= {"K": "keywords", "C": "categories", "N": "note", "X": ""}
    result = list[tuple[str, dict[str, str]]]()
    section = None
    for number, line in enumerate(lines, start=1):
        begin = re.fullmatch(r"\.I(?:[ \t]+(.*?))?[ \t]*", line)
        mark = re.fullmatch(r"\.([A-Z])[ \t]*", line)
        if begin:
            if not begin[1] and any(each.strip() for each in lines[number:]):
                raise Refused("no id")
            if not begin[1]:
                break
            result.append((begin[1], {}))
            section = None
        elif mark:
            if not result or mark[1] not in names:
                raise Refused(f"a section out of place: {line}")
            section = names[mark[1]]
            result[-1][1].setdefault(section, "")
        elif section is not None:
            result[-1][1][section] += f"{line}\n"
        elif line.strip():
            raise Refused(f"text out of place: {line}")
    return [(name, {field: text for field, text in fields.items() if field}) for name, fields in result]


def _rows_of_json(lines: list[str], topics: bool) -> list[tuple[str, dict[str, str]]]:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise Refused("a field twice")
        return dict(pairs)

    result = list[tuple[str, dict[str, str]]]()
    field = ""
    for line in filter(str.strip, lines):
        try:
            row = json.loads(line, object_pairs_hook=once)
        except (ValueError, RecursionError):
            raise Refused(f"no JSON: {line[:50]}") from None
        if not isinstance(row, dict):
            raise Refused("no object")
        names = ["id", "_id", *(("qid", "query_id", "topic_id") if topics else ("docno", "doc_id", "docid"))]
        ids = [name for name in names if name in row] if not field else [field]
        if len(ids) != 1 or ids[0] not in row or type(row[ids[0]]) not in (str, int):
            raise Refused(f"no id: {row}")
        field = ids[0]
        texts = {key: value for key, value in row.items() if isinstance(value, str) and key != field}
        for key, value in row.items():
            if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
                texts[key] = "\n".join(value)
        result.append((str(row[field]), texts))
    return result


def _rows_of_table(lines: list[str], topics: bool) -> list[tuple[str, dict[str, str]]]:
    rows = [line.split("\t") for line in lines if line.strip()]
    if any(len(row) != 2 for row in rows):
        raise Refused("not two columns")
    return [(name, {"text": text}) for name, text in rows]


def _rows_with_header(lines: list[str], topics: bool) -> list[tuple[str, dict[str, str]]]:
    rows = [line.split("\t") for line in lines if line.strip()]
    names = [name.strip() for name in rows[0]] if rows else []
    if len(names) < 2 or not all(names) or len(set(names)) < len(names) or any(len(row) != len(names) for row in rows):
        raise Refused("not the columns of the header")
    return [(row[0], dict(zip(names[1:], row[1:], strict=True))) for row in rows[1:]]


def _rows_of_lisa(lines: list[str], topics: bool) -> list[tuple[str, dict[str, str]]]:
    result = list[tuple[str, dict[str, str]]]()
    text: list[str] | None = None
    for line in lines:
        if text is None:
            if mark := re.fullmatch("[ \t]*([0-9]+)[ \t]*" if topics else "Document[ \t]+([0-9]+)[ \t]*", line):
                name, text = mark[1], []
            elif line.strip():
                raise Refused(f"text out of place: {line}")
        elif topics and line.rstrip().endswith("#"):
            result.append((name, {"text": "\n".join([*text, line.rstrip()[:-1]])}))
            text = None
        elif not topics and re.fullmatch("[*]{10,}[ \t]*", line):
            title, _, rest = "\n".join(text).lstrip("\n").partition("\n\n")
            result.append((name, {"title": title, "text": rest}))
            text = None
        else:
            text.append(line)
    if text is not None:
        raise Refused("not closed")
    return result


COLLECTIONS: Mapping[str, Callable[[list[str], bool], list[tuple[str, dict[str, str]]]]] = {
    "smart": _rows_of_smart,
    "lisa": _rows_of_lisa,
    "jsonl": _rows_of_json,
    "tsv": _rows_of_table,
    "tsv-header": _rows_with_header,
}

_LARGEST_SINGLE = struct.unpack("f", b"\xff\xff\x7f\x7f")[0]


def _add(values: dict[tuple[str, str], Any], cells: Sequence[str], value: float) -> None:
    pair = cells[0], cells[2]
    if pair in values or max(map(len, pair)) > 1000:
        raise Refused(f"twice, or too long: {pair}")
    values[pair] = value


def _named_by_whole_numbers(values: dict[tuple[str, str], Any]) -> dict[tuple[str, str], Any]:
    """Write topics without ".0" if all are whole numbers, because pandas writes 1.0 instead of 1 after a merge."""
    if not all(re.fullmatch(r"-?[0-9]+(\.0+)?", topic) for topic, _ in values):
        return values
    result = dict[tuple[str, str], Any]()
    for (topic, document), value in values.items():
        _add(result, [topic.partition(".")[0], "", document], value)
    return result


def _cells(content: bytes) -> list[list[str]]:
    lines = [line for line in _lines(content) if not line.startswith("#")]
    if any("\udc80" <= sign <= "\udcff" for line in lines for sign in line):
        raise Refused("not UTF-8")
    result = [[cell for cell in _BLANKS.split(line) if cell] for line in lines]
    result = [cells for cells in result if cells]
    if not result:
        raise Refused("no lines")
    return result


def _lines(content: bytes) -> list[str]:
    """Return the lines; comments may have bytes that are not UTF-8."""
    packed = {b"\x1f\x8b": gzip.open, b"BZh91AY&SY": bz2.open, b"\xfd7zXZ\0": lzma.open}
    unpack = next((unpack for start, unpack in packed.items() if content.startswith(start)), None)
    if unpack is not None:
        try:
            with unpack(BytesIO(content)) as file:
                if len(text := file.read(_MOST_BYTES + 1)) > _MOST_BYTES:
                    raise Refused("a bomb")
                content = text
        except (OSError, EOFError, zlib.error, lzma.LZMAError):
            raise Refused("a damaged stream") from None
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
