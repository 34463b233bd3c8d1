"""Tables with named columns as ranking data: CSV, TSV and Parquet."""

import re
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import DTypeLike, NDArray

from structsvm.data.columns.base import ColumnFile
from structsvm.data.columns.parquet import START, open_parquet
from structsvm.data.columns.text import open_text
from structsvm.data.dataset import RankingData
from structsvm.data.growing import Growing
from structsvm.data.pairs import MOST_CHARACTERS
from structsvm.exceptions import DataFormatError, InputError, quoted
from structsvm.memory import require_memory
from structsvm.settings import as_float_type, as_list, as_path, repeated, require_choice, require_kind
from structsvm.types import IntVector

_DOCID = "docid"
_NEEDS = ("required", "optional")
_ID = re.compile(r"(.*[\W_])?id|(doc|document|query|page|item|user|session|url)(id|no)?|[qd]id|.*[a-z]I[Dd]")
"""Names of columns whose numbers name something, where they are not said to be features."""

_NUMBER = 20
"""Characters that a whole number of 64 bits has at most."""


@frozen
class LeftOut:
    """Columns that are not features, though nothing was said of them.

    Parameters
    ----------
    words : those that are not of numbers.
    ids : those of numbers whose names are of ids.
    """

    words: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()


@frozen
class Naming:
    """Which columns of a table are what.

    Parameters
    ----------
    label : the column of labels; they must be there unless ``labels`` is False, and are NaN where the column is not.
    qid : the column of query ids; they must be there unless ``queries`` is False, else each file is one query.
    docid : the column of document ids; None: the one of that name, if it is there.
    features : those of features; None: all other columns of numbers but those that are named as ids.
    labels, queries : see above.
    """

    label: str = "label"
    qid: str = "qid"
    docid: str | None = None
    features: tuple[str, ...] | None = None
    labels: bool = True
    queries: bool = True


def load_table(
    path_or_paths: str | PathLike[str] | Iterable[str | PathLike[str]],
    *,
    label: str = "label",
    qid: str = "qid",
    docid: str | None = None,
    features: Iterable[str] | None = None,
    dtype: DTypeLike = np.float64,
    labels: str = "required",
    queries: str = "required",
) -> RankingData:
    r"""Read CSV, TSV or Parquet files with named columns as one data set.

    Parquet is told by the first bytes of a file; it needs the package pyarrow. Of text, plain or compressed, the first
    line names the columns, which tabs separate if there is one in it, and commas if not. Cells may be in double quotes,
    without line ends in them. Blanks around a cell are none of it. Numbers are in decimal digits, and no cell that is
    used may be empty.

    Parameters
    ----------
    path_or_paths : one file or several, of the same features; they may be in another order. A query id in two files
        is an error.
    label : name of the column of labels.
    qid : name of the column of query ids, numbers or text; rows of a query need not be together.
    docid : name of the column of document ids. None: "docid" if there is one.
    features : names of the feature columns, in the order that they are to have. None: all other columns of
        numbers, in the order of the first file; in text, those that have numbers alone in its first megabytes. A
        column that has mostly numbers there is an error, as is a cell that is none further down. Columns that are
        named as ids, such as "id", "doc_id", "document" or "queryId", are left out though they have numbers, as are in
        Parquet those of an index of pandas'.
    dtype : type of the features: float64 or float32.
    labels : "required"; or "optional", for documents to be scored: without the column, labels are NaN.
    queries : "required"; or "optional": without the column, a file is one query.

    Returns
    -------
    RankingData : rows in the order of the files, dense; ``feature_names`` are the names of the columns.

    Raises
    ------
    InputError : a file does not exist or cannot be read, a column is missing, or a query is in two files.
    DataFormatError : a cell cannot be used: the message names the file, the line (the row in Parquet) and the column.
    NotInstalledError : pyarrow is missing.

    Examples
    --------
    >>> from pathlib import Path
    >>> from structsvm.data import load_table
    >>> _ = Path("train.csv").write_text("session,bm25,age,clicks\na,1.5,3,1\na,0.5,7,0\nb,2.5,1,1\n")
    >>> data = load_table("train.csv", label="clicks", qid="session")
    >>> data
    RankingData(2 queries, 3 documents, 2 features, dense)
    >>> data.feature_names
    ('bm25', 'age')
    """
    if isinstance(path_or_paths, str | PathLike):
        paths = [Path(path_or_paths)]
    else:
        paths = [as_path("a path", path) for path in as_list("paths", path_or_paths, "a path, or a list of them")]
    if not paths:
        raise InputError("the list of files is empty")
    for what, name in (("label", label), ("qid", qid)):
        require_kind(what, name, str, "the name of a column")
    require_kind("docid", docid, str | None, "the name of a column, or None")
    require_choice("labels", labels, _NEEDS)
    require_choice("queries", queries, _NEEDS)
    named = None if features is None else _as_names(features)
    naming = Naming(label, qid, docid, named, labels == "required", queries == "required")
    data, _ = read_tables(paths, naming, as_float_type("dtype", dtype))
    return data


def read_tables(paths: Sequence[Path], naming: Naming, dtype: DTypeLike) -> tuple[RankingData, LeftOut]:
    """Read files as one data set, and return the columns that were left out, too; see `load_table`."""
    rows = _Rows(naming, np.dtype(dtype))
    for path in paths:
        with open_table(path) as table:
            rows.read(table)
    return rows.data(), rows.left_out


def open_table(path: Path) -> AbstractContextManager[ColumnFile]:
    """Open a table, in Parquet where its first bytes say so, else of text."""
    try:
        if path.is_file():  # a pipe is read once
            with path.open("rb") as file:
                if file.read(len(START)) == START:
                    return open_parquet(path)
    except OSError:  # told where it is read
        pass
    return open_text(path)


class _Rows:
    """The rows of tables."""

    def __init__(self, naming: Naming, dtype: "np.dtype[Any]") -> None:
        self._naming, self._dtype = naming, dtype
        self._features = naming.features
        self._docid: str | None = None
        self._labels, self._queries, self._values = Growing(np.float64), Growing(np.int64), Growing(dtype)
        self._ids: dict[str, int] = {}
        self._home: dict[int, Path] = {}
        self._doc_ids: list[str] = []
        self.left_out = LeftOut()

    def read(self, table: ColumnFile) -> None:
        """Append what a table holds."""
        first = len(self._labels)
        label, qid = self._column(table, "label"), self._column(table, "qid")
        self._choose(table, first)
        features = self._features or ()
        texts = [name for name in (qid, self._docid) if name is not None]
        unnamed = features if self._naming.features is None else ()
        numbers = list(dict.fromkeys([*features, *([label] if label else [])]))
        for batch in table.batches(numbers, texts, float(np.finfo(self._dtype).max), unnamed):
            count = len(batch.numbers)
            require_memory(
                count * len(features) * self._dtype.itemsize,
                f"{count:,} further rows of {len(features):,} features",
                "read fewer of them, or float32",
            )
            self._values.more(count * len(features)).reshape(count, -1)[:] = batch.numbers[:, : len(features)]
            self._labels.more(count)[:] = batch.numbers[:, numbers.index(label)] if label else np.nan
            self._number(table.path, batch.texts[qid] if qid else np.full(count, str(table.path), object))
            if self._docid is not None:
                self._doc_ids += batch.texts[self._docid].tolist()
        if len(self._labels) == first:
            raise DataFormatError(table.path, None, "the table has no rows")

    def _column(self, table: ColumnFile, role: str) -> str | None:
        """Return the name of the column of labels or of query ids; None where it may be missing and is."""
        name: str = getattr(self._naming, role)
        if name in table.names:
            return name
        needed = self._naming.labels if role == "label" else self._naming.queries
        if needed:
            raise InputError(
                f"{table.path} has no column {quoted(name)}: name the one of {_ROLES[role]} ({role}=..., or --{role} "
                f"COLUMN on the command line), or rename it so; there are {_listed(table.names)}"
            )
        return None

    def _choose(self, table: ColumnFile, first: int) -> None:
        """Settle which columns are features and document ids, by the first table; later ones must have them, too."""
        docid = self._naming.docid
        if docid is None and _DOCID in table.names:
            docid = _DOCID
        if docid is not None and docid not in table.names:
            raise InputError(f"{table.path} has no column {quoted(docid)}: there are {_listed(table.names)}")
        if first and docid != self._docid:
            raise InputError(f"{table.path} and the files before it do not both have document ids: name files that do")
        self._docid = docid
        others = [n for n in table.names if n not in (self._naming.label, self._naming.qid, docid)]
        if self._features is None:
            values = [name for name in others if not _is_id(name)]
            fault = next((fault for name in values if (fault := table.nearly_numeric(name))), None)
            if fault is not None:
                raise fault
            own = [name for name in others if name not in table.index]
            numbers = [name for name in own if name in table.numeric]
            self._features = tuple(name for name in numbers if not _is_id(name))
            self.left_out = LeftOut(
                words=tuple(name for name in own if name not in table.numeric),
                ids=tuple(name for name in numbers if _is_id(name)),
            )
            if not self._features:
                raise InputError(
                    f"{table.path} has no column of numbers that could be a feature, unless it is named "
                    f"(features=[...], or --features on the command line): {_listed(others)}"
                    if self.left_out.ids
                    else f"{table.path} has no column of numbers that could be a feature: {_listed(others)}"
                )
        there = set(table.names)
        missing = [name for name in self._features if name not in there]
        if missing:
            raise InputError(
                f"{table.path} has no column {quoted(missing[0])}, which is a feature"
                f"{f', as are {len(missing) - 1} more that it does not have' if missing[1:] else ''}: there are "
                f"{_listed(table.names)}"
            )
        taken = [name for name in (self._naming.label, self._naming.qid, docid) if name in self._features]
        if taken:
            raise InputError(f"column {quoted(taken[0])} is a feature and something else too: name another column")

    def _number(self, path: Path, ids: NDArray[np.object_]) -> None:
        import pandas as pd

        codes, found = pd.factorize(ids)
        numbers = np.empty(len(found), np.int64)
        for k, name in enumerate(found.tolist()):
            if not name or len(name) > MOST_CHARACTERS:
                long = f"{quoted(name)} is too long: it may have {MOST_CHARACTERS} characters"
                what = long if name else "is empty"
                raise DataFormatError(path, None, f"a query id in column {quoted(self._naming.qid)} {what}")
            numbers[k] = self._ids.setdefault(name, len(self._ids))
            home = self._home.setdefault(int(numbers[k]), path)
            if home != path:
                raise InputError(
                    f"query {name} is in {home} and in {path}. If the files are parts of one, join them before "
                    "reading; if not, renumber the queries of one."
                )
        self._queries.extend(numbers[codes])

    def data(self) -> RankingData:
        """Return the rows, once."""
        features = self._features or ()
        labels = self._labels.release()
        return RankingData(
            X=self._values.release().reshape(len(labels), len(features)),
            y=labels,
            qid=as_ids(list(self._ids), self._queries.release()),
            doc_ids=np.array(self._doc_ids) if self._docid is not None else None,
            feature_names=features,
        )


_ROLES = {"label": "labels", "qid": "query ids"}


def as_ids(names: list[str], codes: IntVector) -> "IntVector | NDArray[np.str_]":
    """Return ids as numbers where all of them are written as Python writes whole numbers of 64 bits."""
    if all(len(name) <= _NUMBER and name.lstrip("-").isdecimal() and name.isascii() for name in names):
        numbers = [int(name) for name in names]
        if all(str(a) == b and -(2**63) <= a < 2**63 for a, b in zip(numbers, names, strict=True)):
            return np.array(numbers, dtype=np.int64)[codes]
    return np.array(names)[codes]


def _is_id(name: str) -> bool:
    """Say whether a column is named as one of ids."""
    return _ID.fullmatch(name) is not None or _ID.fullmatch(name.lower()) is not None


def _as_names(features: Iterable[str]) -> tuple[str, ...]:
    words = "a list of names of columns"
    if isinstance(features, str):
        raise InputError(f"features must be {words}, got the text {features!r}")
    names = as_list("features", features, words)
    for name in names:
        require_kind("each of features", name, str, "the name of a column")
    twice = repeated(names)
    if twice is not None or not names:
        raise InputError(f"features names {twice!r} twice" if names else "features is empty: name a column at least")
    return tuple(names)


def _listed(names: Iterable[str]) -> str:
    shown = list(names)
    more = f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
    return ", ".join(map(quoted, shown[:_SHOWN])) + more


_SHOWN = 12
