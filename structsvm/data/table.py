"""Read CSV, TSV and Parquet tables with named columns as ranking data."""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve, frozen
from numpy.typing import DTypeLike, NDArray

from structsvm.data.columns.base import ONLY_MISSING, ColumnFile, Wanted
from structsvm.data.columns.parquet import is_parquet, open_parquet
from structsvm.data.columns.text import open_text
from structsvm.data.dataset import RankingData
from structsvm.data.letor.growing import Growing
from structsvm.data.letor.reading import NEEDS
from structsvm.data.pairs import MOST_CHARACTERS, whole_names, whole_numbers
from structsvm.exceptions import DataFormatError, InputError, counted, first_of, quoted
from structsvm.foundation.categories import MOST_VALUES, are_few, encoded_names, one_hot, source_of, values_of
from structsvm.foundation.extras import needed
from structsvm.foundation.frames import is_id
from structsvm.foundation.memory import require_memory
from structsvm.foundation.settings import as_float_type, as_names, as_paths, require_choice, require_kind
from structsvm.foundation.types import IntVector, Matrix

_DOCID = "docid"


@frozen
class LeftOut:
    """Columns that are not features by default: ``others`` with reasons, and ``ids``, named as ids or an index.

    ``unknown`` names columns with categories that are not features, and counts their rows.
    """

    others: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


@frozen
class Naming:
    """Roles of columns, as in `load_table`; ``labels`` and ``queries`` are True if required.

    ``features`` may have names "column=value" for values of ``categories``.
    """

    label: str = "label"
    qid: str = "qid"
    docid: str | None = None
    features: tuple[str, ...] | None = None
    categories: tuple[str, ...] = ()
    labels: bool = True
    queries: bool = True
    weight: str | None = None


def load_table(
    path_or_paths: str | PathLike[str] | Iterable[str | PathLike[str]],
    *,
    label: str = "label",
    qid: str = "qid",
    docid: str | None = None,
    features: Iterable[str] | None = None,
    categories: Iterable[str] = (),
    dtype: DTypeLike = np.float64,
    labels: str = "required",
    queries: str = "required",
    weight: str | None = None,
) -> RankingData:
    r"""Read CSV, TSV or Parquet files with named columns as one data set.

    Parquet is detected by the first bytes of a file; it needs the package pyarrow. In text files, plain or compressed,
    the first line names the columns. Columns are separated by tabs if the first line has one, else by commas. Cells may
    be in double quotes, without line ends in them. Blanks around a cell are removed.

    A feature may be missing: its cell is empty, null, or one of the texts that pandas counts as missing, such as "NA".
    Numbers are then NaN. A text column has categories if it has 2 to 50 distinct values, each in two rows or more on
    average: each value becomes a feature "column=value" of 0 and 1. All are 0 if the text is missing or unknown.

    Parameters
    ----------
    path_or_paths : one file or several, with the same features in any order. No query id may be in two files.
    label : name of the column of labels.
    qid : name of the column of query ids, numbers or text; the rows of a query need not be adjacent.
    docid : name of the column of document ids. None: "docid" if the files have it.
    features : names of the feature columns, in the order of the result. None: all other columns of numbers or
        categories in the first file, except those named like ids ("id", "doc_id", "document", "queryId", ...) or like a
        saved index ("index", "level_0", "Unnamed: 0"), and a pandas index in Parquet. True and False are 1 and
        0. In text files, a column is numeric if all cells in the first megabytes are numbers or missing. If most cells
        but not all are numbers, the column is an error.
    categories : columns to read as categories, even if their values are numbers or many texts. To read another file
        with the same features, pass ``features=data.feature_names, categories=data.categories``.
    dtype : type of the features: float64 or float32.
    labels : "required"; or "optional", for documents to score: without the column, labels are NaN.
    queries : "required"; or "optional": without the column, a file is one query.
    weight : name of the column of weights, for ``sample_weight``; None: no weights.

    Returns
    -------
    data : `RankingData` with rows in the order of the files, dense; ``feature_names`` are the names of the columns,
        or "column=value".

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
    for what, optional in (("docid", docid), ("weight", weight)):
        require_kind(what, optional, str | None, "the name of a column, or None")
    require_choice("labels", labels, NEEDS)
    require_choice("queries", queries, NEEDS)
    named = None if features is None else as_names("features", features)
    declared = () if isinstance(categories, tuple) and not categories else as_names("categories", categories)
    naming = Naming(label, qid, docid, named, declared, labels == "required", queries == "required", weight)
    data, _ = read_tables(paths, naming, as_float_type(dtype))
    return data


def read_tables(paths: Sequence[Path], naming: Naming, dtype: DTypeLike) -> tuple[RankingData, LeftOut]:
    """Read files as one data set, and return it with the columns left out; see `load_table`."""
    rows = _Rows(naming, np.dtype(dtype))
    for path in paths:
        with open_table(path) as table:
            rows.read(table)
    return rows.data(paths[0]), rows.left_out


def open_table(path: Path) -> AbstractContextManager[ColumnFile]:
    """Open a table as Parquet if its first bytes match, else as text."""
    return open_parquet(path) if is_parquet(path) else open_text(path)


class _Rows:
    def __init__(self, naming: Naming, dtype: "np.dtype[Any]") -> None:
        self._naming, self._dtype = naming, dtype
        self._numbers: tuple[str, ...] | None = None
        self._texts: dict[str, list[str]] = {}
        self._columns: tuple[str, ...] = ()
        self._docid: str | None = None
        self._declared: frozenset[str] = frozenset()
        self._different: dict[str, dict[str, str]] = {}
        self._labels, self._queries, self._values = Growing(np.float64), Growing(np.int64), Growing(dtype)
        self._weights = Growing(np.float64)
        self._ids: dict[str, int] = {}
        self._home: dict[int, Path] = {}
        self._doc_ids: list[str] = []
        self.left_out = LeftOut()

    def read(self, table: ColumnFile) -> None:
        first = len(self._labels)
        label, qid = self._column(table, "label"), self._column(table, "qid")
        self._choose(table, first)
        features = self._numbers or ()
        texts = list(dict.fromkeys([*self._texts, *(name for name in (qid, self._docid) if name is not None)]))
        unnamed = features if self._naming.features is None else ()
        weight = self._naming.weight
        numbers = list(dict.fromkeys([*features, *(name for name in (label, weight) if name is not None)]))
        optional = [*features, *self._texts]
        for batch in table.batches(Wanted(numbers, texts, float(np.finfo(self._dtype).max), unnamed, optional)):
            count = len(batch.numbers)
            require_memory(
                count * len(features) * self._dtype.itemsize,
                f"{count:,} further rows of {len(features):,} features",
                "read fewer of them, or float32",
            )
            self._values.more(count * len(features)).reshape(count, -1)[:] = batch.numbers[:, : len(features)]
            self._labels.more(count)[:] = batch.numbers[:, numbers.index(label)] if label else np.nan
            if weight is not None:
                self._weights.more(count)[:] = batch.numbers[:, numbers.index(weight)]
            self._number(table.path, batch.texts[qid] if qid else np.full(count, str(table.path), object))
            for name, cells in self._texts.items():
                self._collect(name, cells, batch.texts[name].tolist())
            if self._docid is not None:
                self._doc_ids += batch.texts[self._docid].tolist()
        if len(self._labels) == first:
            raise DataFormatError(table.path, None, "the table has no rows")

    def _collect(self, name: str, cells: list[str], texts: list[str]) -> None:
        """Store texts, each value once, unless they are too many for categories."""
        values = self._different.setdefault(name, {})
        if self._is_plain(name) and name not in self._declared and len(values) > MOST_VALUES:
            cells.clear()
        else:
            cells += [values.setdefault(text, text) for text in texts]

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
        for name in (docid, self._naming.weight):
            if name is not None and name not in table.names:
                raise InputError(f"{table.path} has no column {quoted(name)}; its columns: {_listed(table.names)}")
        if first and docid != self._docid:
            raise InputError(f"{table.path} differs from the files before it: all files or none must have document ids")
        self._docid = docid
        roles = (self._naming.label, self._naming.qid, docid, self._naming.weight)
        others = [n for n in table.names if n not in roles]
        if not first:
            self._columns = self._chosen(table, others)
            self._declared = table.declared
            texts = [name for name in self._columns if name in self._naming.categories or _has_texts(table, name)]
            self._texts = {name: [] for name in texts}
            self._numbers = tuple(name for name in self._columns if name not in texts)
        missing = [name for name in self._columns if name not in table.names]
        if missing:
            raise InputError(f"{table.path} lacks features: {_listed(missing)}; its columns: {_listed(table.names)}")
        for name in self._numbers or ():
            if table.others.get(name, ONLY_MISSING) != ONLY_MISSING:
                raise InputError(
                    f"{table.path}: column {quoted(name)} has {table.others[name]}: leave it out of the features, or "
                    "make numbers of it, such as days of dates"
                )
        taken = [name for name in roles if name in self._columns]
        if taken:
            raise InputError(
                f"column {quoted(taken[0])} is a feature and has another role: leave it out of the features"
            )

    def _chosen(self, table: ColumnFile, others: list[str]) -> tuple[str, ...]:
        """Return the columns of the features, and note the columns left out."""
        if self._naming.features is not None:
            categories = [name for name in self._naming.categories if name in table.names]
            sources = {name: name if name in table.names else source_of(name, categories) for name in self._features}
            return tuple(dict.fromkeys(source or name for name, source in sources.items()))
        fault = next((f for n in others if not is_id(n) and self._is_plain(n) and (f := table.nearly_numeric(n))), None)
        if fault is not None:
            raise fault
        features = [name for name in others if name not in table.index]
        ids = [name for name in features if is_id(name) and name in table.numeric and self._is_plain(name)]
        reasons = {name: reason for name, reason in table.others.items() if name in features and self._is_plain(name)}
        reasons |= {name: "ids" for name in features if is_id(name) and name not in ids and self._is_plain(name)}
        self.left_out = LeftOut(tuple(f"{name} ({reason})" for name, reason in reasons.items()), tuple(ids))
        columns = tuple(name for name in features if name not in reasons and name not in ids)
        if not columns:
            raise _no_features(table.path, others, ids)
        return columns

    @property
    def _features(self) -> tuple[str, ...]:
        return self._naming.features or ()

    def _is_plain(self, name: str) -> bool:
        return name not in self._naming.categories

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

    def data(self, path: Path) -> RankingData:
        labels = self._labels.release()
        self._require_apart()
        plain = self._values.release().reshape(len(labels), len(self._numbers or ()))
        X, names, categories = self._encoded(plain, path) if self._texts else (plain, self._numbers, ())
        return RankingData(
            X=X,
            y=labels,
            qid=decoded_ids(list(self._ids), self._queries.release()),
            doc_ids=np.array(self._doc_ids) if self._docid is not None else None,
            feature_names=names,
            sample_weight=None if self._naming.weight is None else self._weights.release(),
            categories=categories,
        )

    def _encoded(self, plain: Matrix, path: Path) -> tuple[Matrix, tuple[str, ...], tuple[str, ...]]:
        """Return all features, their names and the columns of categories, after leaving out texts of many values."""
        values: dict[str, Sequence[str]] = {}
        for name in list(self._texts):
            different = {*self._different.get(name, {})} - {""}
            if stored := values_of(name, self._features):
                values[name] = stored
                if strange := different.difference(stored):
                    rows = counted(sum(cell in strange for cell in self._texts[name]), "row")
                    unknown = (*self.left_out.unknown, f"{name} ({rows}, such as {quoted(min(strange))})")
                    self.left_out = evolve(self.left_out, unknown=unknown)
            elif name in self._naming.categories or name in self._declared or are_few(len(different), len(plain)):
                values[name] = sorted(different)
            else:
                many = len(different) > MOST_VALUES
                count = f"more than {MOST_VALUES} texts" if many else counted(len(different), "text")
                reason = count if different else ONLY_MISSING
                if self._naming.features is not None:
                    raise InputError(
                        f"{path}: column {quoted(name)} has {reason}, not categories by default: leave it out of "
                        f"the features, or declare it (categories=[{name!r}], or --categories on the command line)"
                    )
                self.left_out = evolve(self.left_out, others=(*self.left_out.others, f"{name} ({reason})"))
        columns = [name for name in self._columns if name in values or name not in self._texts]
        if not columns:
            raise _no_features(path, self._columns, ())
        names = encoded_names(columns, values)
        place = {name: k for k, name in enumerate(self._numbers or ())}
        parts = [
            one_hot(self._texts[name], values[name]) if name in values else plain[:, place[name]][:, None]
            for name in columns
        ]
        X = np.concatenate(parts, axis=1, dtype=plain.dtype, casting="same_kind")
        categories = tuple(name for name in columns if values.get(name))
        if set(self._features) != set(names) or self._features == names:
            return X, names, categories
        return X.take([names.index(name) for name in self._features], axis=1), self._features, categories

    def _require_apart(self) -> None:
        """Raise InputError if a query is 1 in one file and 1.0 in another."""
        first = dict[str, int]()
        for number, name in enumerate(whole_names(list(self._ids))):
            other = first.setdefault(name, number)
            if self._home[other] != self._home[number]:
                raise _in_two_files(name, self._home[other], self._home[number])


def _has_texts(table: ColumnFile, name: str) -> bool:
    if name not in table.names or name in table.numeric or name in table.others:
        return False
    return table.nearly_numeric(name) is None


def _no_features(path: Path, others: Sequence[str], ids: Sequence[str]) -> InputError:
    named = ", unless it is named (features=[...], or --features on the command line)" if ids else ""
    return InputError(
        f"{path} has no column of numbers or categories that could be a feature{named}: {_listed(others)}"
    )


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
