"""Collections of the package ir_datasets by name, where it is installed."""

from collections.abc import Iterator
from typing import Any

from structsvm.data.collections.json_lines import texts
from structsvm.data.collections.records import Kind, Record
from structsvm.exceptions import InputError, NotInstalledError
from structsvm.storage.files import DATA_SET

_WANTED: dict[Kind, tuple[str, str]] = {"document": ("docs", "doc_id"), "topic": ("queries", "query_id")}


def read(name: str, kind: Kind) -> Iterator[Record]:
    """Yield the documents or topics of a data set; in place of lines they have numbers, from 1.

    Parameters
    ----------
    name : name of the data set, such as ``vaswani``.
    kind : what is read.

    Raises
    ------
    NotInstalledError : the package is missing.
    InputError : it knows no data set of that name, the data set has no documents or topics, or it cannot be read.
    """
    part, id_field = _WANTED[kind]
    for number, item in enumerate(_items(name, part), start=1):
        fields = item._asdict()
        yield Record(number, str(fields.pop(id_field)), texts(fields.items()))


def judgments(name: str) -> list[tuple[str, str, int]]:
    """Return topic, document and grade of each judgment of a data set.

    Raises
    ------
    NotInstalledError, InputError : as `read`; or the judgments have no grades.
    """
    found = list(_items(name, "qrels"))
    if not all(hasattr(item, "relevance") for item in found):
        raise InputError(f"the judgments of {name!r} of ir_datasets have no grades, but {', '.join(found[0]._fields)}")
    return [(item.query_id, item.doc_id, int(item.relevance)) for item in found]


def _items(name: str, part: str) -> Iterator[Any]:
    try:
        import ir_datasets
    except ImportError as error:
        raise NotInstalledError(
            f"{DATA_SET}{name} needs the package ir-datasets: pip install 'structural-svm[ir-datasets]' installs it "
            f"({error})"
        ) from None
    what = {"docs": "documents", "queries": "topics", "qrels": "judgments"}[part]
    try:
        data = ir_datasets.load(name)
        has = getattr(data, f"has_{part}")()
    except KeyError:
        raise InputError(
            f"ir_datasets has no data set {name!r}: 'ir_datasets list' lists them, as does https://ir-datasets.com"
        ) from None
    if not has:
        raise InputError(f"the data set {name!r} of ir_datasets has no {what}: a larger one that it is part of may")
    items = None
    while True:
        try:
            items = items or iter(getattr(data, f"{part}_iter")())
            item = next(items)
        except StopIteration:
            return
        except Exception as error:  # whatever reading or downloading raises there
            raise InputError(f"ir_datasets cannot read the {what} of {name!r}: {error}") from error
        yield item
