"""Collections of the package ir_datasets by name."""

from collections.abc import Iterator
from typing import Any

from structsvm.data.collections.files import Kind, Record
from structsvm.data.collections.lines import text_fields
from structsvm.exceptions import InputError
from structsvm.foundation.extras import needed
from structsvm.foundation.storage.files import DATA_SET

_WANTED: dict[Kind, tuple[str, str]] = {"document": ("docs", "doc_id"), "topic": ("queries", "query_id")}


def read_ir_dataset(name: str, kind: Kind) -> Iterator[Record]:
    """Yield the documents or topics of a data set, such as ``vaswani``; items numbered from 1 replace lines."""
    part, id_field = _WANTED[kind]
    for number, item in enumerate(_items(name, part), start=1):
        fields = item._asdict()
        yield Record(number, str(fields.pop(id_field)), text_fields(fields.items()))


def judgments(name: str) -> list[tuple[str, str, int]]:
    """Return topic, document and grade of each judgment of a data set."""
    items = list(_items(name, "qrels"))
    if not all(hasattr(item, "relevance") for item in items):
        raise InputError(
            f"the judgments of {name!r} of ir_datasets have no grades: their fields are {', '.join(items[0]._fields)}"
        )
    return [(item.query_id, item.doc_id, int(item.relevance)) for item in items]


def _items(name: str, part: str) -> Iterator[Any]:
    with needed(f"{DATA_SET}{name} needs the package ir-datasets", "ir-datasets"):
        import ir_datasets
    what = {"docs": "documents", "queries": "topics", "qrels": "judgments"}[part]
    try:
        data = ir_datasets.load(name)
        has = getattr(data, f"has_{part}")()
    except KeyError:
        raise InputError(
            f"ir_datasets has no data set {name!r}: see 'ir_datasets list' or https://ir-datasets.com"
        ) from None
    if not has:
        raise InputError(
            f"the data set {name!r} of ir_datasets has no {what}: try the larger data set that contains it"
        )
    try:
        yield from getattr(data, f"{part}_iter")()
    except Exception as error:
        # Reading or downloading may raise anything.
        raise InputError(f"ir_datasets cannot read the {what} of {name!r}: {error}") from error
