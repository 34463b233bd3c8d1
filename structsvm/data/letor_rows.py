"""The rows of files in LETOR's format, before it is known how many columns they have."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
from attrs import frozen
from numpy.typing import DTypeLike

from structsvm.compute.ahead import in_order
from structsvm.data.blocks import Block, read_blocks
from structsvm.data.dataset import RankingData
from structsvm.data.feature_names import Head, agreed
from structsvm.data.group_sizes import queries_of_sizes, sizes_beside
from structsvm.data.growing import Growing, GrowingFeatures
from structsvm.data.letor_block import Rows, parse_block
from structsvm.data.letor_line import Form, has_query_ids
from structsvm.exceptions import DataFormatError, InputError, TooLargeError

_MOST_THREADS = 8
"""Threads that parse: each has a block, and more are no faster than what is done between them."""


@frozen
class Reading:
    """How files are read.

    Parameters
    ----------
    n_features : largest feature index allowed, and number of columns; None: any.
    beyond : what is said of a line with a further feature; None: how to allow it.
    doc_ids : whether to read document ids.
    labels : whether each line must have a label.
    queries : whether queries must be told; else a file that does not tell them is one query.
    sparse : whether rows are CSR; None decides by memory.
    dtype : of the features.
    """

    n_features: int | None = None
    beyond: str | None = None
    doc_ids: bool = False
    labels: bool = True
    queries: bool = True
    sparse: bool | None = None
    dtype: DTypeLike = np.float64


class LetorRows:
    """The rows of files. Made by `read_rows`.

    Parameters
    ----------
    how : how they are read.
    taken : the largest query id of other data sets; those that are given here are larger.

    Attributes
    ----------
    width : the largest feature index in the files; 0 without features.
    names : each file with the names of features at its head, which may be fewer than its features; None without.
    without_queries : the files that do not tell their queries, each of which is one.
    """

    def __init__(self, how: Reading, taken: int = 0) -> None:
        self.width = 0
        self.names: list[tuple[Path, tuple[str, ...] | None]] = []
        self.without_queries: list[Path] = []
        self._how, self._taken = how, taken
        self._ends_of_files: list[tuple[Path, int]] = []
        self._labels, self._queries = Growing(np.float64), Growing(np.int64)
        self._features = GrowingFeatures(how.dtype, how.sparse, how.n_features)
        self._doc_ids: list[str] | None = [] if how.doc_ids else None

    def read(self, path: Path, sizes: Path | None) -> None:
        """Append what a file holds.

        Parameters
        ----------
        path : the file.
        sizes : the file with the sizes of its queries; None: the one beside it, where lines have no query ids.

        Raises
        ------
        InputError, DataFormatError, TooLargeError : as `structsvm.data.load_letor`.
        """
        first, width, head = len(self._labels), 0, Head(strict=False)
        beside = sizes or sizes_beside(path)
        try:
            with closing(read_blocks(path)) as blocks:
                form, start = Form(self._how.labels), list[Block]()
                if beside or not self._how.queries:
                    start, ids = _until_first_line(blocks, head)
                    form = Form(self._how.labels, ids and sizes is None)
                parse = partial(
                    parse_block,
                    n_features=self._how.n_features,
                    doc_ids=self._how.doc_ids,
                    beyond=self._how.beyond,
                    form=form,
                    dtype=self._how.dtype,
                )
                with closing(in_order(parse, _shown(chain(start, blocks), head), _threads)) as parsed:
                    for rows in parsed:
                        self._append(rows)
                        width = max(width, rows.width)
        except TooLargeError:
            raise
        except MemoryError:
            raise InputError(
                f"{path} cannot be read: there is no memory for more than its first "
                f"{len(self._labels) - first:,} documents"
            ) from None
        if len(self._labels) == first:
            raise DataFormatError(path, None, "the file holds no documents")
        if width == 0 and self._how.n_features is None:
            raise DataFormatError(path, None, "no line has a feature; pass n_features if that is meant")
        if not form.queries:
            self._number_queries(path, beside, first)
        self.width = max(self.width, width)
        self.names.append((path, head.names))
        self._ends_of_files.append((path, len(self._labels)))

    def _append(self, rows: Rows) -> None:
        self._labels.extend(rows.labels)
        self._queries.extend(rows.queries)
        self._features.append(rows)
        if self._doc_ids is not None and rows.doc_ids is not None:
            self._doc_ids += rows.doc_ids

    def _number_queries(self, path: Path, sizes: Path | None, first: int) -> None:
        """Give ids to the queries of the last file, whose rows begin at ``first``, after those of the files before."""
        known = 1 + self._largest(first)
        rows = self._queries.all[first:]
        if sizes is None:
            self.without_queries.append(path)
            rows[:] = known
        else:
            rows[:] = queries_of_sizes(sizes, path, len(rows), known)

    def _largest(self, rows: int) -> int:
        return int(self._queries.all[:rows].max(initial=self._taken))

    @property
    def largest_query(self) -> int:
        """The largest query id here and in the data sets before."""
        return self._largest(len(self._queries))

    @property
    def queries(self) -> list[tuple[Path, list[int]]]:
        """The query ids of each file, ascending."""
        starts = [0, *(end for _, end in self._ends_of_files)]
        return [
            (path, np.unique(self._queries.all[start:end]).tolist())
            for (path, end), start in zip(self._ends_of_files, starts, strict=False)
        ]

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of features at the heads of the files; None without.

        Raises
        ------
        InputError : files have different names.
        """
        return agreed(self.names)

    def bytes(self, width: int) -> tuple[int, int]:
        """Return the memory that the features take as CSR, and as dense rows of a width."""
        return self._features.bytes(width)

    def data(self, width: int, *, sparse: bool | None = None) -> RankingData:
        """Return the rows with a number of columns, once: their memory goes over to the result.

        Parameters
        ----------
        width : number of columns, at least that of the rows.
        sparse : whether they are CSR; None decides by memory.

        Raises
        ------
        TooLargeError : there is no memory for dense rows.
        """
        if sparse is None:
            sparse = smaller_as_csr([self], width)
        names = self.feature_names
        return RankingData(
            X=self._features.release(width, sparse=sparse),
            y=self._labels.release(),
            qid=self._queries.release(),
            doc_ids=None if self._doc_ids is None else np.array(self._doc_ids),
            feature_names=names if names and len(names) == len(set(names)) == width else None,
        )


def read_rows(paths: Sequence[Path], sizes: Sequence[Path | None], how: Reading, taken: int = 0) -> LetorRows:
    """Read files of one data set; see `LetorRows` and its `read`."""
    rows = LetorRows(how, taken)
    for path, told in zip(paths, sizes, strict=True):
        rows.read(path, told)
    return rows


def check_queries_apart(sets: Iterable[LetorRows]) -> None:
    """Require that no query is in two files.

    Raises
    ------
    InputError : one is.
    """
    home: dict[int, Path] = {}
    for path, queries in (file for each in sets for file in each.queries):
        shared = [query for query in queries if query in home]
        if shared:
            raise InputError(
                f"query {shared[0]} is in {home[shared[0]]} and in {path}, as are {len(shared) - 1} more queries. "
                "If the files are parts of one, join them before reading; if not, renumber the queries of one."
            )
        home.update(dict.fromkeys(queries, path))


def smaller_as_csr(sets: Iterable[LetorRows], width: int) -> bool:
    """Say whether CSR takes less than half the memory of dense rows."""
    sizes = [each.bytes(width) for each in sets]
    return 2 * sum(size for size, _ in sizes) < sum(size for _, size in sizes)


def _until_first_line(blocks: Iterator[Block], head: Head) -> tuple[list[Block], bool]:
    """Return the block of the first line that is no comment, if there is one, and whether that has a query id."""
    for block in blocks:
        ids = has_query_ids(block.content)
        if ids is not None:
            return [block], ids
        head.read(block)
    return [], True


def _shown(blocks: Iterable[Block], head: Head) -> Iterator[Block]:
    for block in blocks:
        if not head.ended:
            head.read(block)
        yield block


def _threads() -> int:
    from structsvm.compute.threads import using

    with using(None) as threads:
        return min(_MOST_THREADS, threads.count)
