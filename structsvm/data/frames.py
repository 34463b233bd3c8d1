"""Runs and judgments in data frames of pandas or polars, with the columns of PyTerrier or of ir_measures."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from structsvm.data.pairs import as_ids
from structsvm.exceptions import InputError
from structsvm.foundation.queries import missing_rows

_IDS = (("qid", "docno"), ("query_id", "doc_id"))
"""Columns of the topic and the document: of PyTerrier, of ir_measures."""


class DataFrame(Protocol):
    """A table with named columns, such as a data frame of pandas or polars."""

    @property
    def columns(self) -> Any: ...

    def __getitem__(self, column: str, /) -> Any: ...


def is_frame(value: Any) -> bool:
    """Return whether a value is a data frame."""
    return hasattr(value, "columns") and hasattr(value, "__getitem__")


def frame_ids(frame: DataFrame, what: str) -> tuple[NDArray[np.str_], NDArray[np.str_]]:
    """Return the topic and document id of each row; ``what`` names the frame in messages."""
    columns = list(frame.columns)
    chosen = next((pair for pair in _IDS if set(pair) <= set(columns)), None)
    if chosen is None:
        raise InputError(
            f"{what} must have the columns qid and docno, as in PyTerrier, or query_id and doc_id, as in ir_measures; "
            f"its columns are {_listed(columns)}"
        )
    qid, doc_ids = (_ids(frame, what, name) for name in chosen)
    return qid, doc_ids


def frame_values(frame: DataFrame, what: str, *names: str) -> NDArray[Any]:
    """Return the values of the first of these columns that a frame has; ``what`` names the frame in messages."""
    columns = list(frame.columns)
    name = next((name for name in names if name in columns), None)
    if name is None:
        raise InputError(f"{what} must have a column {' or '.join(names)}; its columns are {_listed(columns)}")
    return _complete(frame[name], f"{what}, column {name!r}")


def _ids(frame: DataFrame, what: str, name: str) -> NDArray[np.str_]:
    place = f"{what}, column {name!r}"
    values = _complete(frame[name], place)
    if values.dtype.kind == "f":
        raise InputError(f"{place}: ids must be text or whole numbers, not fractions, got {values.dtype}")
    return as_ids(values, place)


def _complete(column: Any, place: str) -> NDArray[Any]:
    """Return the values of a column; raise InputError if one is missing."""
    values: NDArray[Any] = np.asarray(column)
    missing = missing_rows(values)
    if missing.any():
        raise InputError(f"{place}: row {int(missing.argmax())} has no value; fill it in or leave the row out")
    return values


def _listed(columns: list[Any]) -> str:
    return ", ".join(map(str, columns)) or "none"
