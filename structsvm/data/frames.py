"""Runs and judgments in data frames with the columns of PyTerrier or ir_measures, and in dictionaries."""

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from structsvm.data.pairs import as_ids
from structsvm.exceptions import InputError, brief, quoted
from structsvm.foundation.frames import as_narwhals
from structsvm.foundation.queries import missing_rows
from structsvm.foundation.settings import repeated

_IDS = (("qid", "docno"), ("query_id", "doc_id"))
"""Columns of the topic and the document: of PyTerrier, of ir_measures."""


class DataFrame(Protocol):
    """A table with named columns: a data frame of pandas or polars, a pyarrow.Table, or another that narwhals reads."""

    @property
    def columns(self) -> Any: ...

    def __getitem__(self, column: str, /) -> Any: ...


_NUMBERS: Any = (Real, np.bool_)

ByTopic: TypeAlias = Mapping[Any, Mapping[Any, Any]]
"""Score or grade by topic and document, as in pytrec_eval, ranx and BEIR."""


def mapping_rows(scores: ByTopic, what: str, number: str) -> tuple[list[Any], list[Any], list[Any]]:
    """Return topic, document and value of each pair; ``what`` and ``number`` name mapping and values in messages."""
    topics, documents, values = list[Any](), list[Any](), list[Any]()
    if not scores:
        raise InputError(f"{what} is empty: it must map each topic to the {number}s of its documents")
    twice = repeated(map(str, scores))
    if twice is not None:
        raise InputError(f"{what} has topic {quoted(twice)} as text and as a number: merge the two")
    for topic, of_topic in scores.items():
        place = f"{what}, topic {quoted(str(topic))}"
        if not isinstance(of_topic, Mapping):
            raise InputError(
                f"{place}: expected a dictionary from document to {number}, such as {{'d1': 2}}, got {brief(of_topic)}"
            )
        if not of_topic:
            raise InputError(f"{place} has no documents: leave the topic out")
        for document, value in of_topic.items():
            if not (isinstance(value, _NUMBERS) and -math.inf < value < math.inf):
                place += f", document {quoted(str(document))}"
                raise InputError(f"{place}: the {number} must be a finite number, got {brief(value)}")
        topics += [topic] * len(of_topic)
        documents += of_topic
        values += of_topic.values()
    return topics, documents, values


def frame_ids(frame: DataFrame, what: str) -> tuple[NDArray[np.str_], NDArray[np.str_]]:
    """Return the topic and document id of each row; ``what`` names the frame in messages."""
    table = as_narwhals(frame, what)
    columns = table.columns
    pair_of_columns = next((pair for pair in _IDS if set(pair) <= set(columns)), None)
    if pair_of_columns is None:
        raise InputError(
            f"{what} must have the columns qid and docno, as in PyTerrier, or query_id and doc_id, as in ir_measures; "
            f"its columns are {_listed(columns)}"
        )
    qid, doc_ids = (_ids(table, what, name) for name in pair_of_columns)
    return qid, doc_ids


def frame_values(frame: DataFrame, what: str, *names: str) -> NDArray[Any]:
    """Return the values of the first of these columns that a frame has; ``what`` names the frame in messages."""
    table = as_narwhals(frame, what)
    columns = table.columns
    name = next((name for name in names if name in columns), None)
    if name is None:
        raise InputError(f"{what} must have a column {' or '.join(names)}; its columns are {_listed(columns)}")
    return _complete(table[name], f"{what}, column {name!r}")


def _ids(frame: Any, what: str, name: str) -> NDArray[np.str_]:
    place = f"{what}, column {name!r}"
    return as_ids(_complete(frame[name], place), place)


def _complete(column: Any, place: str) -> NDArray[Any]:
    """Return the values of a column; raise InputError if one is missing."""
    values: NDArray[Any] = column.to_numpy()
    missing = missing_rows(values)
    if missing.any():
        raise InputError(f"{place}: row {int(missing.argmax())} has no value; fill it in or leave the row out")
    return values


def _listed(columns: list[Any]) -> str:
    return ", ".join(map(str, columns)) or "none"
