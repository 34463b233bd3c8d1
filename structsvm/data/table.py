"""Read CSV, TSV and Parquet tables with named columns as ranking data."""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import DTypeLike, NDArray

from structsvm.data.columns.base import ColumnFile, Wanted
from structsvm.data.columns.parquet import is_parquet, open_parquet
from structsvm.data.columns.text import open_text
from structsvm.data.dataset import RankingData
from structsvm.data.letor.growing import Growing
from structsvm.data.letor.reading import NEEDS
from structsvm.data.pairs import MOST_CHARACTERS, whole_names, whole_numbers
from structsvm.exceptions import DataFormatError, InputError, first_of, quoted
from structsvm.foundation.extras import needed
from structsvm.foundation.frames import is_id
from structsvm.foundation.memory import require_memory
from structsvm.foundation.settings import as_float_type, as_names, as_paths, require_choice, require_kind
from structsvm.foundation.types import IntVector

_DOCID = "docid"


@frozen
class LeftOut:
    """Columns that are not features by default: ``words`` are not numeric, ``ids`` have names of ids or of an index."""

    words: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()


@frozen
class Naming:
    """Roles of columns, as in `load_table`; ``labels`` and ``queries`` are True if required."""

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

    Parquet is detected by the first bytes of a file; it needs the package pyarrow. In text files, plain or compressed,
    the first line names the columns. Columns are separated by tabs if the first line has one, else by commas. Cells may
    be in double quotes, without line ends in them. Blanks around a cell are removed, and no used cell may be empty.

    Parameters
    ----------
    path_or_paths : one file or several, with the same features in any order. No query id may be in two files.
    label : name of the column of labels.
    qid : name of the column of query ids, numbers or text; the rows of a query need not be adjacent.
    docid : name of the column of document ids. None: "docid" if the files have it.
    features : names of the feature columns, in the order of the result. None: all other numeric columns of the first
        file, except columns with names of ids, such as "id", "doc_id", "document" or "queryId", or of a saved index,
        "index", "level_0" or "Unnamed: 0", and a pandas index in Parquet. True and False are 1 and 0. In text files, a
        column is numeric if all cells in the first megabytes are numbers. If most cells but not all are numbers, the
        column is an error.
    dtype : type of the features: float64 or float32.
    labels : "required"; or "optional", for documents to score: without the column, labels are NaN.
    queries : "required"; or "optional": without the column, a file is one query.

    Returns
    -------
    data : `RankingData` with rows in the order of the files, dense; ``feature_names`` are the names of the columns.

    Raises
    ------
    DataFormatError : a cell is not valid; the message names the file, the line (the row in Parquet) and the column.
    NotInstalledError : pyarrow is missing.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("train.csv").write_text("session,bm25,age,clicks\na,1.5,3,1\na,0.5,7,0\nb,2.5,1,1\n")
    >>> data = load_table("train.csv", label="clicks", qid="session")
    >>> data
    RankingData(2 queries, 3 documents, 2 features, dense)
    >>> data.feature_names
    ('bm25', 'age')
    """
    paths = as_paths("path_or_paths", path_or_paths)
    for what, name in (("label", label), ("qid", qid)):
        require_kind(what, name, str, "the name of a column")
    require_kind("docid", docid, str | None, "the name of a column, or None")
    require_choice("labels", labels, NEEDS)
    require_choice("queries", queries, NEEDS)
    named = None if features is None else as_names("features", features)
    naming = Naming(label, qid, docid, named, labels == "required", queries == "required")
    data, _ = read_tables(paths, naming, as_float_type(dtype))
    return data


def read_tables(paths: Sequence[Path], naming: Naming, dtype: DTypeLike) -> tuple[RankingData, LeftOut]:
    """Read files as one data set, and return it with the columns left out; see `load_table`."""
    rows = _Rows(naming, np.dtype(dtype))
    for path in paths:
        with open_table(path) as table:
            rows.read(table)
    return rows.data(), rows.left_out


def open_table(path: Path) -> AbstractContextManager[ColumnFile]:
    """Open a table as Parquet if its first bytes match, else as text."""
    return open_parquet(path) if is_parquet(path) else open_text(path)


class _Rows:
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
        first = len(self._labels)
        label, qid = self._column(table, "label"), self._column(table, "qid")
        self._choose(table, first)
        features = self._features or ()
        texts = [name for name in (qid, self._docid) if name is not None]
        unnamed = features if self._naming.features is None else ()
        numbers = list(dict.fromkeys([*features, *([label] if label else [])]))
        for batch in table.batches(Wanted(numbers, texts, float(np.finfo(self._dtype).max), unnamed)):
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
        """Return the name of the column of labels or queries; None if it is missing and may be."""
        name: str = getattr(self._naming, role)
        if name in table.names:
            return name
        needed = self._naming.labels if role == "label" else self._naming.queries
        if needed:
            raise InputError(
                f"{table.path} has no column {quoted(name)}: name the column of {_ROLES[role]} ({role}=..., or "
                f"--{role} COLUMN on the command line); its columns: {_listed(table.names)}"
            )
        return None

    def _choose(self, table: ColumnFile, first: int) -> None:
        """Choose features and document ids by the first table; later tables must have the same."""
        docid = self._naming.docid
        if docid is None and _DOCID in table.names:
            docid = _DOCID
        if docid is not None and docid not in table.names:
            raise InputError(f"{table.path} has no column {quoted(docid)}; its columns: {_listed(table.names)}")
        if first and docid != self._docid:
            raise InputError(f"{table.path} differs from the files before it: all files or none must have document ids")
        self._docid = docid
        others = [n for n in table.names if n not in (self._naming.label, self._naming.qid, docid)]
        if self._features is None:
            values = [name for name in others if not is_id(name)]
            fault = next((fault for name in values if (fault := table.nearly_numeric(name))), None)
            if fault is not None:
                raise fault
            features = [name for name in others if name not in table.index]
            numbers = [name for name in features if name in table.numeric]
            self._features = tuple(name for name in numbers if not is_id(name))
            self.left_out = LeftOut(
                words=tuple(name for name in features if name not in table.numeric),
                ids=tuple(name for name in numbers if is_id(name)),
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
            raise InputError(f"{table.path} lacks features: {_listed(missing)}; its columns: {_listed(table.names)}")
        taken = [name for name in (self._naming.label, self._naming.qid, docid) if name in self._features]
        if taken:
            raise InputError(
                f"column {quoted(taken[0])} is a feature and has another role: leave it out of the features"
            )

    def _number(self, path: Path, ids: NDArray[np.object_]) -> None:
        with needed("tables need pandas", "tools"):
            import pandas as pd
        codes, distinct = pd.factorize(ids)
        numbers = np.empty(len(distinct), np.int64)
        for k, name in enumerate(distinct.tolist()):
            if not name or len(name) > MOST_CHARACTERS:
                long = f"{quoted(name)} is too long: it may have {MOST_CHARACTERS} characters"
                what = long if name else "is empty"
                raise DataFormatError(path, None, f"a query id in column {quoted(self._naming.qid)} {what}")
            numbers[k] = self._ids.setdefault(name, len(self._ids))
            home = self._home.setdefault(int(numbers[k]), path)
            if home != path:
                raise _in_two_files(name, home, path)
        self._queries.extend(numbers[codes])

    def data(self) -> RankingData:
        features = self._features or ()
        labels = self._labels.release()
        self._require_apart()
        return RankingData(
            X=self._values.release().reshape(len(labels), len(features)),
            y=labels,
            qid=decoded_ids(list(self._ids), self._queries.release()),
            doc_ids=np.array(self._doc_ids) if self._docid is not None else None,
            feature_names=features,
        )

    def _require_apart(self) -> None:
        """Raise InputError if a query is 1 in one file and 1.0 in another."""
        first = dict[str, int]()
        for number, name in enumerate(whole_names(list(self._ids))):
            other = first.setdefault(name, number)
            if self._home[other] != self._home[number]:
                raise _in_two_files(name, self._home[other], self._home[number])


def _in_two_files(query: str, path: Path, other: Path) -> InputError:
    return InputError(
        f"query {query} is in {path} and in {other}: join files that are parts of one, or renumber the queries of one "
        "file"
    )


_ROLES = {"label": "labels", "qid": "query ids"}


def decoded_ids(names: list[str], codes: IntVector) -> "IntVector | NDArray[np.str_]":
    """Return ids as int64 if all are whole numbers in Python's notation, or 1.0 instead of 1, else as text."""
    numbers = whole_numbers(whole_names(names))
    return np.array(names)[codes] if numbers is None else np.array(numbers, dtype=np.int64)[codes]


def _listed(names: Iterable[str]) -> str:
    return first_of(map(quoted, names), 12)
