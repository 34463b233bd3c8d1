"""Click logs: positions, impressions and clicks of documents."""

from collections.abc import Iterable
from os import PathLike
from typing import Any, Self

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray

from structsvm.data.columns.base import Wanted
from structsvm.data.table import decoded_ids, open_table
from structsvm.exceptions import DataFormatError, InputError, quoted
from structsvm.foundation.arrays import numbers
from structsvm.foundation.settings import as_list, as_path, require_kind
from structsvm.foundation.types import IntVector


def _counts(values: Any, what: str, smallest: int) -> IntVector:
    array = numbers(values, what)
    wrong = ~((array >= smallest) & (array == np.floor(array)) & (array < 2.0**53))
    if array.ndim != 1 or wrong.any():
        shown = f"got {array[wrong][0]:g} in row {int(wrong.argmax())}" if array.ndim == 1 else f"shape {array.shape}"
        raise InputError(f"{what} must be a vector of whole numbers from {smallest}, {shown}")
    return array.astype(np.int64)


@frozen(eq=False)
class ClickLog:
    """Documents shown at positions in the results of queries, with their numbers of clicks.

    A row is one impression of a document, or the sum of all impressions of a query's document at a position. Make a log
    with `of` or `read`.

    Parameters
    ----------
    qid : query id of each row, shape (rows,).
    document : the document of each row: its number or its id, shape (rows,).
    position : position of the document, from 1, shape (rows,).
    clicks : number of clicks at this position, at most one per impression, shape (rows,).
    impressions : number of impressions at this position, shape (rows,).

    Examples
    --------
    >>> log = ClickLog.of(qid=[1, 1], document=["a", "b"], position=[1, 2], clicks=[3, 1], impressions=[10, 10])
    >>> log.clicks.tolist()
    [3, 1]
    """

    qid: NDArray[Any] = field(repr=False)
    document: NDArray[Any] = field(repr=False)
    position: IntVector = field(repr=False)
    clicks: IntVector = field(repr=False)
    impressions: IntVector = field(repr=False)

    @classmethod
    def of(
        cls,
        qid: ArrayLike,
        document: ArrayLike,
        position: ArrayLike,
        clicks: ArrayLike,
        impressions: ArrayLike | None = None,
    ) -> Self:
        """Make a log from arrays; ``clicks`` may be booleans, and by default each row is one impression."""
        queries, documents = np.asarray(qid), np.asarray(document)
        clicked = np.asarray(clicks)
        clicked = _counts(clicked.astype(np.int64) if clicked.dtype == np.bool_ else clicked, "clicks", 0)
        places = _counts(position, "position", 1)
        shown = np.ones_like(clicked) if impressions is None else _counts(impressions, "impressions", 0)
        shapes = [queries.shape, documents.shape, places.shape, clicked.shape, shown.shape]
        if len(set(shapes)) > 1:
            raise InputError(
                "qid, document, position, clicks and impressions must be vectors of one length, got shapes "
                f"{', '.join(map(str, shapes))}"
            )
        more = clicked > shown
        if more.any():
            row = int(more.argmax())
            raise InputError(
                f"row {row} of the log has {clicked[row]} clicks and {shown[row]} impressions: an impression has at "
                "most one click"
            )
        return cls(queries, documents, places, clicked, shown)

    @classmethod
    def read(
        cls,
        path: str | PathLike[str],
        *,
        qid: str = "qid",
        document: str = "docid",
        position: str = "position",
        clicks: str = "clicked",
        impressions: str | None = None,
    ) -> Self:
        """Read a table with named columns, CSV, TSV or Parquet, like `structsvm.data.load_table`.

        Parameters
        ----------
        path : the file.
        qid, document, position, clicks, impressions : names of columns. Without the last, a row is one impression.

        Raises
        ------
        DataFormatError : a cell is invalid.
        """
        place = as_path("path", path)
        counted = [position, clicks, *([] if impressions is None else [impressions])]
        for name in (qid, document, *counted):
            require_kind("the name of a column", name, str, "text")
        with open_table(place) as table:
            missing = [name for name in (qid, document, *counted) if name not in table.names]
            if missing:
                listed = ", ".join(map(quoted, table.names[:12]))
                raise InputError(f"{place} has no column {quoted(missing[0])}; its columns: {listed}")
            batches = list(table.batches(Wanted(counted, list(dict.fromkeys((qid, document))), 2.0**53)))
        if not batches:
            raise DataFormatError(place, None, "the table has no rows")
        columns = np.concatenate([batch.numbers for batch in batches]).T
        ids, documents = (_identifiers([batch.texts[name] for batch in batches]) for name in (qid, document))
        try:
            return cls.of(ids, documents, *columns)
        except InputError as error:
            raise InputError(f"{place}: {error}") from None

    @classmethod
    def joined(cls, logs: Iterable["ClickLog"]) -> Self:
        """Merge several logs into one."""
        listed = as_list("logs", logs, "a list of ClickLog")
        for log in listed:
            require_kind("a log", log, ClickLog, "a ClickLog")
        if not listed:
            raise InputError("the list of logs is empty: pass at least one")
        names = ("qid", "document", "position", "clicks", "impressions")
        return cls(*(np.concatenate([getattr(log, name) for log in listed]) for name in names))

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.clicks)

    @property
    def positions(self) -> int:
        """The last position with an impression; 0 for an empty log."""
        return int(self.position.max(initial=0))

    def pairs(self) -> tuple[NDArray[np.intp], int]:
        """Return the number of each row's query-document pair, from 0, and the number of pairs."""
        queries = np.unique(self.qid, return_inverse=True)[1]
        documents, document = np.unique(self.document, return_inverse=True)
        distinct, number = np.unique(queries * max(1, len(documents)) + document, return_inverse=True)
        return number, len(distinct)


def _identifiers(columns: list[NDArray[np.object_]]) -> NDArray[Any]:
    names, codes = np.unique(np.concatenate(columns).astype(str), return_inverse=True)
    return decoded_ids(names.tolist(), codes)
