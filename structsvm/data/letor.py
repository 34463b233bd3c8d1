"""LETOR's data format: svmlight text with query ids, one document a line."""

from collections.abc import Iterable, Sequence
from contextlib import closing
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from structsvm.compute.memory import require_memory
from structsvm.data.blocks import read_blocks
from structsvm.data.dataset import RankingData
from structsvm.data.letor_block import Rows, parse_block
from structsvm.exceptions import DataFormatError, InputError
from structsvm.settings import as_list, as_path, is_integer
from structsvm.types import IntVector, Matrix, Vector

if TYPE_CHECKING:
    import scipy.sparse as sp

_ITEM = 8
_LARGEST_INT32 = np.iinfo(np.int32).max
_AT_ONCE = 2**20
"""Numbers of a dense matrix that are filled at a time."""


def load_letor(
    path_or_paths: str | PathLike[str] | Iterable[str | PathLike[str]],
    *,
    n_features: int | None = None,
    doc_ids: bool = False,
    sparse: bool | None = None,
) -> RankingData:
    """Read files of LETOR, MSLR or Yahoo's challenge, or what svm_rank reads, as one data set.

    A line is ``<label> qid:<query> <index>:<value> ... # <comment>``: feature indices count from 1
    and ascend, values that are left out are 0, the comment may hold ``docid = <id>``. Columns are
    separated by blanks and tabs; a number is written in decimal digits, as ``-1.5`` or ``2e-3``. Each
    file is read once, in blocks, so it may be a pipe; ``/dev/stdin`` is standard input.

    Parameters
    ----------
    path_or_paths : one file or several, plain or gzip. Query ids identify queries over all files:
        an id in two files is an error, since files numbered apart would melt into each other.
    n_features : number of columns. None: the largest index in the files; give it when test data
        may lack the last features of the training data.
    doc_ids : whether to read the document ids in the comments.
    sparse : True for CSR, False for dense. None: CSR where it takes less than half the memory of
        dense rows, which are the faster ones to compute with.

    Returns
    -------
    RankingData : rows in the order of the files; column j is feature j + 1.

    Raises
    ------
    InputError : a file does not exist or cannot be read, or a query is in two files.
    DataFormatError : a line cannot be read or a number in it used: the message names file and line.

    Examples
    --------
    >>> data = load_letor(["S1.txt", "S2.txt", "S3.txt"])  # doctest: +SKIP
    >>> data  # doctest: +SKIP
    RankingData(471 queries, 9630 documents, 46 features, dense)
    """
    (data,) = load_letor_parts([path_or_paths], n_features=n_features, doc_ids=doc_ids, sparse=sparse)
    return data


def load_letor_parts(
    parts: Iterable[str | PathLike[str] | Iterable[str | PathLike[str]]],
    *,
    n_features: int | None = None,
    doc_ids: bool = False,
    sparse: bool | None = None,
) -> tuple[RankingData, ...]:
    """Read several data sets of the same columns, such as those to train, to validate and to test.

    Parameters
    ----------
    parts : the file or files of each data set. No query may be in two of them.
    n_features : number of columns of all. None: the largest index in any of the files.
    doc_ids, sparse : see `load_letor`; all data sets are dense, or all CSR.

    Raises
    ------
    InputError, DataFormatError : as `load_letor`.
    """
    groups = [_paths(each) for each in as_list("parts", parts, "a list of the files of each part")]
    if not groups:
        raise InputError("parts is empty: name the file or files of one data set at least")
    if n_features is not None and not is_integer(n_features, 1):
        raise InputError(f"n_features must be at least 1, or None; it is {n_features!r}")
    sets = [_read(paths, n_features, doc_ids, None) for paths in groups]
    _check_queries_apart(sets)
    width = n_features or max(each.width for each in sets)
    if sparse is None:
        sparse = _smaller_as_csr(sets, width)
    return tuple(each.data(width, sparse=sparse) for each in sets)


def load_rows(paths: Sequence[Path], *, n_features: int, doc_ids: bool, beyond: str) -> "LetorRows":
    """Read files of which no more than some features may be used, such as those that a model knows.

    Parameters
    ----------
    paths : the files. No query may be in two of them.
    n_features : the number of features.
    doc_ids : whether to read document ids.
    beyond : what is said of a line with a further feature.

    Raises
    ------
    InputError, DataFormatError : as `load_letor`.
    """
    rows = _read(paths, n_features, doc_ids, beyond)
    _check_queries_apart([rows])
    return rows


class LetorRows:
    """The rows of files, before it is known how many columns they have. Made by `load_rows`.

    Parameters
    ----------
    doc_ids : whether to read document ids.

    Attributes
    ----------
    width : the largest feature index in the files; 0 without features.
    """

    def __init__(self, *, doc_ids: bool) -> None:
        self.width = 0
        self._ends_of_files: list[tuple[Path, int]] = []
        self._labels, self._queries = _Growing(np.float64), _Growing(np.int64)
        self._ends, self._indices, self._values = _Growing(np.int64), _Growing(np.int32), _Growing(np.float64)
        self._doc_ids: list[str] | None = [] if doc_ids else None

    def read(self, path: Path, n_features: int | None, beyond: str | None) -> None:
        """Append what a file holds; see `load_rows`."""
        first, width = len(self._labels), 0
        try:
            with closing(read_blocks(path)) as blocks:
                for block in blocks:
                    rows = parse_block(block, n_features, doc_ids=self._doc_ids is not None, beyond=beyond)
                    self._append(rows)
                    width = max(width, rows.width)
        except MemoryError:
            raise InputError(
                f"{path} cannot be read: there is no memory for more than its first "
                f"{len(self._labels) - first:,} documents"
            ) from None
        if len(self._labels) == first:
            raise DataFormatError(path, None, "the file holds no documents")
        if width == 0 and n_features is None:
            raise DataFormatError(path, None, "no line has a feature; pass n_features if that is meant")
        self.width = max(self.width, width)
        self._ends_of_files.append((path, len(self._labels)))

    def _append(self, rows: Rows) -> None:
        self._ends.extend(rows.ends + len(self._values))
        self._labels.extend(rows.labels)
        self._queries.extend(rows.queries)
        self._indices.extend(rows.indices)
        self._values.extend(rows.values)
        if self._doc_ids is not None and rows.doc_ids is not None:
            self._doc_ids += rows.doc_ids

    @property
    def queries(self) -> list[tuple[Path, list[int]]]:
        """The query ids of each file, ascending."""
        starts = [0, *(end for _, end in self._ends_of_files)]
        return [
            (path, np.unique(self._queries.all[start:end]).tolist())
            for (path, end), start in zip(self._ends_of_files, starts, strict=False)
        ]

    def bytes(self, width: int) -> tuple[int, int]:
        """Return the memory that the features take as CSR, and as dense rows of a width."""
        rows, stored = len(self._labels), len(self._values)
        index = 4 if max(stored, width) <= _LARGEST_INT32 else 8
        return stored * (_ITEM + index) + (rows + 1) * index, rows * width * _ITEM

    def data(self, width: int, *, sparse: bool | None = None) -> RankingData:
        """Return the rows with a number of columns, once: their memory goes over to the result.

        Parameters
        ----------
        width : number of columns, at least that of the rows.
        sparse : see `load_letor`.

        Raises
        ------
        TooLargeError : there is no memory for dense rows.
        """
        if sparse is None:
            sparse = _smaller_as_csr([self], width)
        return RankingData(
            X=self._csr(width) if sparse else self._dense(width),
            y=self._labels.release(),
            qid=self._queries.release(),
            doc_ids=None if self._doc_ids is None else np.array(self._doc_ids),
        )

    def _csr(self, width: int) -> "sp.csr_array":
        import scipy.sparse as sp

        index = np.int32 if max(len(self._values), width) <= _LARGEST_INT32 else np.int64
        indptr = np.concatenate([[0], self._ends.release()]).astype(index)
        indices = self._indices.release().astype(index, copy=False)
        return sp.csr_array((self._values.release(), indices, indptr), shape=(len(self._labels), width))

    def _dense(self, width: int) -> Matrix:
        """Fill a matrix from its last rows, and let go of what it took: both at once are never in memory."""
        rows = len(self._labels)
        require_memory(
            _ITEM * rows * width,
            f"{rows:,} dense rows of {width:,} features",
            "sparse=True keeps what is not 0 alone",
        )
        X = np.empty((rows, width))
        indptr = np.concatenate([[0], self._ends.all])
        step = max(_AT_ONCE // width, 1)
        for start in reversed(range(0, rows, step)):
            ends = indptr[start : start + step + 1]
            values, indices = self._values.pop(ends[0]), self._indices.pop(ends[0])
            _fill(X[start : start + step], values, indices, ends - ends[0])
        return X


def _fill(part: Matrix, values: Vector, indices: NDArray[np.int32], indptr: IntVector) -> None:
    """Fill rows of a matrix; few of them without SciPy, which takes longer to be loaded than these to be filled."""
    if part.size < _AT_ONCE // 2:
        part[:] = 0.0
        part[np.repeat(np.arange(len(part)), np.diff(indptr)), indices] = values
        return
    import scipy.sparse as sp

    sp.csr_array((values, indices, indptr), shape=part.shape).toarray(out=part)


class _Growing:
    """A vector that grows and shrinks at its end, in place where the operating system can do so."""

    def __init__(self, dtype: DTypeLike) -> None:
        self._held: NDArray[Any] = np.empty(0, dtype=dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def all(self) -> NDArray[Any]:
        """What it holds; no longer valid when it has changed."""
        return self._held[: self._size]

    def extend(self, part: NDArray[Any]) -> None:
        """Append numbers."""
        size = self._size + len(part)
        if size > len(self._held):
            self._held.resize(size + size // 8, refcheck=False)
        self._held[self._size : size] = part
        self._size = size

    def pop(self, start: int) -> NDArray[Any]:
        """Take the numbers from a place on away, and return them."""
        taken = self._held[start : self._size].copy()
        self._held.resize(start, refcheck=False)
        self._size = start
        return taken

    def release(self) -> NDArray[Any]:
        """Return what it holds, of which the caller is the owner from now on."""
        self._held.resize(self._size, refcheck=False)
        return self._held


def _read(paths: Sequence[Path], n_features: int | None, doc_ids: bool, beyond: str | None) -> LetorRows:
    rows = LetorRows(doc_ids=doc_ids)
    for path in paths:
        rows.read(path, n_features, beyond)
    return rows


def _paths(path_or_paths: str | PathLike[str] | Iterable[str | PathLike[str]]) -> list[Path]:
    if isinstance(path_or_paths, str | PathLike):
        return [Path(path_or_paths)]
    paths = [as_path("a path", path) for path in as_list("paths", path_or_paths, "a path, or a list of them")]
    if not paths:
        raise InputError("the list of files is empty")
    return paths


def _check_queries_apart(sets: list[LetorRows]) -> None:
    home: dict[int, Path] = {}
    for path, queries in (file for each in sets for file in each.queries):
        shared = [query for query in queries if query in home]
        if shared:
            raise InputError(
                f"query {shared[0]} is in {home[shared[0]]} and in {path}, as are {len(shared) - 1} more queries. "
                "If the files are parts of one, join them before reading; if not, renumber the queries of one."
            )
        home.update(dict.fromkeys(queries, path))


def _smaller_as_csr(sets: list[LetorRows], width: int) -> bool:
    """Say whether CSR takes less than half the memory of dense rows."""
    sizes = [each.bytes(width) for each in sets]
    return 2 * sum(size for size, _ in sizes) < sum(size for _, size in sizes)
