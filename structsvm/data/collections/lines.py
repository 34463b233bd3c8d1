"""Formats of one record per line: JSON objects, and tables with tabs and without quotes."""

import json
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from structsvm.data.collections.files import File, Kind, Record
from structsvm.data.columns.base import require_distinct
from structsvm.exceptions import quoted
from structsvm.foundation.storage.archives import parse_json

ID_FIELDS: dict[Kind, tuple[str, ...]] = {
    "document": ("id", "_id", "docno", "doc_id", "docid"),
    "topic": ("id", "_id", "qid", "query_id", "topic_id"),
}
"""Default names of the field with the id; an object must have one of them."""


def read_objects(file: File) -> Iterator[Record]:
    """Yield the documents or topics of a file."""
    id_field = file.id_field
    for line, content in _filled_lines(file):
        fields = _object(file, line, content)
        if id_field is None:
            id_field = _id_field(file, line, fields)
        if id_field not in fields:
            has = ", ".join(map(quoted, list(fields)[:10])) or "none"
            raise file.fault(line, f"the object has no field {quoted(id_field)} for the id; its fields: {has}")
        name = fields.pop(id_field)
        if isinstance(name, bool) or not isinstance(name, str | int):
            raise file.fault(line, f"the id {quoted(json.dumps(name))} in field {quoted(id_field)} is not text")
        yield Record(line, str(name), text_fields(fields.items()))


def text_fields(fields: Iterable[tuple[str, Any]]) -> dict[str, str]:
    """Return the fields that are text, and lists of texts joined by line ends; drop other fields."""
    texts = {}
    for name, value in fields:
        if isinstance(value, str):
            texts[name] = value
        elif isinstance(value, list | tuple) and value and all(isinstance(part, str) for part in value):
            texts[name] = "\n".join(value)
    return texts


def _filled_lines(file: File) -> Iterator[tuple[int, str]]:
    return ((line, content) for line, content in file.lines() if content.strip())


def _object(file: File, line: int, content: str) -> dict[str, Any]:
    try:
        value = parse_json(content, allow_nan=True)
    except json.JSONDecodeError as error:
        shown = quoted(content[max(0, error.pos - 20) :])
        raise file.fault(line, f"this is not JSON: {error.msg}: column {error.pos + 1}, {shown}") from None
    except ValueError as error:
        # A name is repeated, brackets are nested too deeply, or a number has thousands of digits.
        raise file.fault(line, f"the JSON object cannot be read: {str(error)[:100]}") from None
    if not isinstance(value, dict):
        raise file.fault(
            line, f'{quoted(content)} is not a JSON object: write for example {{"id": "1", "text": "..."}}'
        )
    return value


def _id_field(file: File, line: int, fields: dict[str, Any]) -> str:
    names = ID_FIELDS[file.kind]
    candidates = [name for name in names if name in fields]
    if len(candidates) == 1:
        return candidates[0]
    problem = (
        f"both {' and '.join(map(quoted, candidates))} may be the id"
        if candidates
        else f"the object has no id: it lacks the fields {', '.join(names)}"
    )
    raise file.fault(line, f"{problem}. Name the field with id_field")


def read_table(file: File) -> Iterator[Record]:
    """Yield the documents or topics of a file with two columns, id and text."""
    for line, content in _filled_lines(file):
        cells = content.split("\t")
        if len(cells) != 2:
            raise file.fault(
                line,
                f"{_columns(cells)} in {quoted(content)}, but a line reads '<id> TAB <text>': use tsv-header if "
                "the first line names the columns",
            )
        yield Record(line, cells[0], {"text": cells[1]})


def read_table_with_header(file: File) -> Iterator[Record]:
    """Yield the documents or topics of a file with column names; the id is in the first column by default."""
    names: list[str] = []
    for line, content in _filled_lines(file):
        cells = content.split("\t")
        if not names:
            names = [cell.strip() for cell in cells]
            if len(names) < 2:
                raise file.fault(
                    line, f"the header {quoted(names[0])} names one column: it must name an id and at least one text"
                )
            require_distinct(names, partial(file.fault, line))
            id_field = names[0] if file.id_field is None else file.id_field
            if id_field not in names:
                raise file.fault(line, f"there is no column {quoted(id_field)}: the header names {', '.join(names)}")
            continue
        if len(cells) != len(names):
            raise file.fault(line, f"{_columns(cells)} in {quoted(content)}, but the header names {len(names)}")
        fields = dict(zip(names, cells, strict=True))
        yield Record(line, fields.pop(id_field), fields)


def _columns(cells: list[str]) -> str:
    return "there is 1 column" if len(cells) == 1 else f"there are {len(cells)} columns"
