"""Categories: a column of texts with few values becomes features of 0 and 1, named "column=value"."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structsvm.exceptions import InputError
from structsvm.foundation.arrays import reads_as_number
from structsvm.foundation.frames import as_narwhals, column_names, read_frame
from structsvm.foundation.memory import require_memory
from structsvm.foundation.queries import missing_rows
from structsvm.foundation.types import Matrix

MOST_VALUES = 50
"""Largest number of different texts in a column that counts as categories without a declaration."""

_TRUTHS = {"true", "false"}
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([T ].*)?")


def are_few(values: int, rows: int) -> bool:
    """Return whether a column of texts has few different ones: from 2 to 50, on average in two rows or more."""
    return 1 < values <= MOST_VALUES and 2 * values <= rows


def are_dates(texts: Iterable[str]) -> bool:
    """Return whether all texts look like dates, such as 2024-02-29, 29.02.2024 or 2024-02-29 10:30."""
    return all(_DATE.fullmatch(text.strip()) for text in texts)


def source_of(feature: str, categories: Iterable[str]) -> str | None:
    """Return the column of categories that a feature is a value of, or None."""
    return next((column for column in categories if feature.startswith(f"{column}=")), None)


def values_of(column: str, features: Iterable[str]) -> list[str]:
    """Return the values of a column of categories that are features."""
    return [feature[len(column) + 1 :] for feature in features if feature.startswith(f"{column}=")]


def one_hot(texts: Sequence[str | None], values: Sequence[str]) -> Matrix:
    """Return 1 at the value of each row and 0 elsewhere, shape (rows, values); rows of other texts are all 0."""
    place = {value: k for k, value in enumerate(values)}
    codes = np.fromiter((place.get(text, -1) if text else -1 for text in texts), np.int64, len(texts))
    require_memory(8.0 * len(codes) * len(values), f"{len(values):,} features of categories", "declare fewer")
    out = np.zeros((len(codes), len(values)))
    rows = np.flatnonzero(codes >= 0)
    out[rows, codes[rows]] = 1.0
    return out


def encoded_names(columns: Sequence[str], values: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the names of features, with "column=value" for the values of columns of categories."""
    for name in columns:
        if source_of(name, values) is not None:
            raise InputError(f"the column {name!r} is named like a value of another column: rename it")
    of_column = ([f"{name}={value}" for value in values[name]] if name in values else [name] for name in columns)
    return tuple(chain.from_iterable(of_column))


def categories_in(X: Any) -> tuple[str, ...]:
    """Return the columns of a data frame that are categories: declared ones of texts, and texts with few values.

    Declared texts that are all numbers do not count, nor do other texts that are mostly numbers, truth values or dates.
    """
    import narwhals.stable.v2 as nw

    frame = as_narwhals(X)
    return tuple(
        name
        for name, kind in frame.schema.items()
        if isinstance(name, str)
        and kind in (nw.Categorical, nw.Enum, nw.String)
        and _are_categories(frame[name], declared=kind != nw.String)
    )


def _are_categories(column: Any, *, declared: bool) -> bool:
    cells = column.drop_nulls().to_list()
    values = set(cells)
    if declared:
        return any(isinstance(value, str) and not reads_as_number(value) for value in values)
    if not are_few(len(values), len(column)) or are_dates(values) or {text.lower() for text in values} <= _TRUTHS:
        return False
    return 2 * sum(map(reads_as_number, cells)) <= len(cells)


def read_encoded(
    X: Any, categories: Sequence[str], names: Sequence[str] | None = None, owner: str = ""
) -> tuple[NDArray[Any], list[str] | None]:
    """Return numbers and names of a data frame as `read_frame` does, with categories as features of 0 and 1.

    ``names`` are names of features. X may contain the features of a categorical column instead of the column itself.
    """
    columns = column_names(X)
    present = [column for column in categories if column in columns]
    for column in categories:
        if column not in columns and not {n for n in names or () if source_of(n, [column])} <= {*columns}:
            raise InputError(f"X lacks the column of categories {column!r} that {owner}: add it, or rename a column")
    if not present:
        return read_frame(X, names, owner)
    frame = as_narwhals(X)
    texts = {column: _texts(frame[column].to_list()) for column in present}
    if names is None:
        values = {column: sorted({text for text in cells if text}) for column, cells in texts.items()}
        names = encoded_names(columns, values)
    plain = [k for k, name in enumerate(names) if source_of(name, present) is None]
    out = np.empty((len(frame), len(names)))
    if plain:
        out[:, plain] = read_frame(X, [names[k] for k in plain], owner)[0]
    for column, cells in texts.items():
        places = [k for k, name in enumerate(names) if source_of(name, present) == column]
        out[:, places] = one_hot(cells, values_of(column, (names[k] for k in places)))
    return out, list(names)


def _texts(cells: list[Any]) -> list[str | None]:
    entries = np.empty(len(cells), dtype=object)
    entries[:] = cells
    missing = missing_rows(entries).tolist()
    return [None if lacks else str(cell).strip() for cell, lacks in zip(cells, missing, strict=True)]
