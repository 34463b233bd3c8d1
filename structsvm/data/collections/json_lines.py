"""JSON lines: an object a line."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from structsvm.data.collections.records import File, Kind, Record
from structsvm.exceptions import quoted
from structsvm.settings import repeated

ID_FIELDS: dict[Kind, tuple[str, ...]] = {
    "document": ("id", "_id", "docno", "doc_id", "docid"),
    "topic": ("id", "_id", "qid", "query_id", "topic_id"),
}
"""Names of the field that holds the id, unless another is given: an object must have one of these."""


def read(file: File) -> Iterator[Record]:
    """Yield the documents or topics of a file.

    Raises
    ------
    DataFormatError : a line is not a JSON object, or has a field twice, or no id.
    """
    id_field = file.id_field
    for line, content in file.lines():
        if not content or content.isspace():
            continue
        fields = _object(file, line, content)
        if id_field is None:
            id_field = _id_field(file, line, fields)
        if id_field not in fields:
            has = f"there is {', '.join(map(quoted, list(fields)[:10]))}" if fields else "it is empty"
            raise file.fault(line, f"the object has no field {quoted(id_field)}, which holds the id: {has}")
        name = fields.pop(id_field)
        if isinstance(name, bool) or not isinstance(name, str | int):
            raise file.fault(line, f"the id {quoted(json.dumps(name))} in field {quoted(id_field)} is not text")
        yield Record(line, str(name), texts(fields.items()))


def texts(fields: Iterable[tuple[str, Any]]) -> dict[str, str]:
    """Return the fields that are text, and lists of texts, a line each; all others are no text."""
    found = {}
    for name, value in fields:
        if isinstance(value, str):
            found[name] = value
        elif isinstance(value, list | tuple) and value and all(isinstance(each, str) for each in value):
            found[name] = "\n".join(value)
    return found


class _Repeated(ValueError):
    """A field is there twice."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise _Repeated(repeated(name for name, _ in pairs))
    return fields


def _object(file: File, line: int, content: str) -> dict[str, Any]:
    try:
        value = json.loads(content, object_pairs_hook=_once)
    except _Repeated as error:
        raise file.fault(line, f"the field {quoted(str(error))} is there twice in one object") from None
    except json.JSONDecodeError as error:
        shown = quoted(content[max(0, error.pos - 20) :])
        raise file.fault(line, f"this is not JSON: {error.msg}: column {error.pos + 1}, {shown}") from None
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits, thousands of brackets
        raise file.fault(line, f"this is not JSON of documents: {str(error)[:100]}") from None
    if not isinstance(value, dict):
        raise file.fault(line, f'{quoted(content)} is no JSON object, such as {{"id": "1", "text": "..."}}')
    return value


def _id_field(file: File, line: int, fields: dict[str, Any]) -> str:
    names = ID_FIELDS[file.kind]
    found = [name for name in names if name in fields]
    if len(found) == 1:
        return found[0]
    problem = (
        f"both {' and '.join(map(quoted, found))} may be the id"
        if found
        else f"none of the fields {', '.join(names)} is there, which hold ids"
    )
    raise file.fault(line, f"{problem}: the option id_field names the field")
