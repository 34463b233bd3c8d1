"""Read files in LETOR's format, in blocks that threads parse."""

import tempfile
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from functools import partial
from itertools import chain, islice
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn, TypeAlias, TypeVar

import numpy as np
from attrs import asdict, evolve, frozen
from numpy.typing import DTypeLike

from structsvm.data.blocks import Block, read_blocks
from structsvm.data.dataset import RankingData
from structsvm.data.letor.block import LineForm, has_query_ids, parse_block
from structsvm.data.letor.growing import Growing, GrowingFeatures
from structsvm.data.letor.side_files import Head, agreed, queries_of_sizes, sizes_beside, weights_beside
from structsvm.exceptions import DataFormatError, InputError, TooLargeError, brief, counted
from structsvm.foundation.settings import (
    as_float_type,
    as_list,
    as_path,
    as_paths,
    is_integer,
    require_choice,
    require_switch,
)

NEEDS = ("required", "optional")
"""Choices for columns that may be missing."""

_MOST_THREADS = 8
"""Largest number of parsing threads; more are limited by the serial work between blocks."""

Paths: TypeAlias = str | PathLike[str] | Iterable[str | PathLike[str]]
"""One file or several."""


def load_letor(
    path_or_paths: Paths,
    *,
    n_features: int | None = None,
    doc_ids: bool = False,
    sparse: bool | None = None,
    dtype: DTypeLike = np.float64,
    labels: str = "required",
    queries: str = "required",
    groups: Paths | None = None,
    zero_based: bool = False,
    cache: str | PathLike[str] | None = None,
) -> RankingData:
    r"""Read files of LETOR, MSLR or Yahoo's challenge, or files for svm_rank, LightGBM or XGBoost, as one data set.

    A line is ``<label> qid:<query> <index>:<value> ... # <comment>``: feature indices count from 1 and ascend, missing
    values are 0, and the comment may contain ``docid = <id>``. Lines may lack query ids if a file beside,
    ``train.txt.query`` or ``train.txt.group``, has the size of each query, one per line; these queries are numbered
    from 1; later files continue after the largest id so far. Each file is read once, in blocks, so it may be a pipe;
    ``/dev/stdin`` is standard input. Weights are read from ``train.txt.weight`` if it exists: of each row, as in
    LightGBM, or of each query, as in XGBoost.

    Parameters
    ----------
    path_or_paths : one file or several, plain or compressed. A query id in two files is an error, because it may mean
        two different queries.
    n_features : number of columns. None: the largest index in the files, or the number of names at their head if that
        is larger. Set it if test data may lack the last features of the training data.
    doc_ids : whether to read the document ids in the comments.
    sparse : True for CSR, False for dense. None: CSR if it takes less than half the memory of dense rows.
    dtype : type of the features: float64 or float32.
    labels : "required"; or "optional", for documents to score: if a line begins with its query id or its first
        feature, its label is NaN.
    queries : "required"; or "optional": a file without query ids and without a file of sizes is one query.
    groups : the file of query sizes, or one for each path, if it has another name.
    zero_based : the files count features from 0: column j is feature j. LightGBM and XGBoost read all files like this,
        so that a file that counts from 1 gets an empty column 0.
    cache : file for the result; later calls map it into memory instead of reading text. It is written again if a file
        or a setting has changed, or if it is damaged.

    Returns
    -------
    data : `RankingData` with rows in the order of the files; column j is feature j + 1 by default. Feature names come
        from comments at the heads of the files, as `write_letor` writes them.

    Raises
    ------
    DataFormatError : a line or a number in it is not valid; the message names file and line.
    NotInstalledError : a file is compressed with Zstandard, and the package that unpacks it is missing.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("S1.txt").write_text("2 qid:1 1:0.5 2:1.0 # docid = d1\n0 qid:1 1:0.1 2:0.3 # docid = d2\n")
    >>> data = load_letor("S1.txt", doc_ids=True)
    >>> data
    RankingData(1 query, 2 documents, 2 features, dense)
    >>> data.y.tolist(), data.doc_ids.tolist()
    ([2.0, 0.0], ['d1', 'd2'])
    """
    paths, sizes = as_paths("path_or_paths", path_or_paths), None if groups is None else as_paths("groups", groups)
    if sizes is not None and len(sizes) != len(paths):
        raise InputError(f"groups must be a file for each of the {len(paths)} data files, got {len(sizes)}")
    if n_features is not None and not is_integer(n_features, 1):
        raise InputError(f"n_features must be an integer of at least 1 or None, got {brief(n_features)}")
    require_choice("labels", labels, NEEDS)
    require_choice("queries", queries, NEEDS)
    if sparse is not None:
        require_switch("sparse", sparse)
    require_switch("doc_ids", doc_ids)
    require_switch("zero_based", zero_based)
    how = Reading(
        n_features=n_features,
        doc_ids=doc_ids,
        labels=labels == "required",
        queries=queries == "required",
        sparse=sparse,
        dtype=as_float_type(dtype),
        zero_based=zero_based,
    )
    data = _load([paths], sizes, how)[0] if cache is None else _cached(paths, sizes, how, as_path("cache", cache))
    return evolve(data, sample_weight=weights_beside(paths, data.qid))


def _cached(paths: list[Path], sizes: list[Path] | None, how: "Reading", cache: Path) -> RankingData:
    from structsvm.data.cache import cached

    beside = [sizes_file for path in paths if (sizes_file := sizes_beside(path))] if sizes is None else sizes
    settings = {**asdict(how), "dtype": np.dtype(how.dtype).name, "groups": sizes is not None}
    return cached(cache, [*paths, *beside], settings, lambda: _load([paths], sizes, how)[0])


def load_letor_parts(parts: Iterable[Paths], **settings: Any) -> tuple[RankingData, ...]:
    """Read data sets with the same columns, all dense or all CSR, such as training and test data; see `Reading`."""
    groups = [as_paths("each of parts", files) for files in as_list("parts", parts, "a list of the files of each part")]
    return tuple(_load(groups, None, Reading(**settings)))


def _load(groups: list[list[Path]], sizes: list[Path] | None, how: "Reading") -> list[RankingData]:
    sets = list[LetorRows]()
    for paths in groups:
        sets.append(read_rows(paths, how, sizes or (), sets[-1].largest_query if sets else 0))
    if len(sets) > 1:
        check_queries_apart(sets)
    names = agreed(named for rows in sets for named in rows.names)
    width = how.n_features or max(len(names or ()), *(rows.width for rows in sets))
    sparse = smaller_as_csr(sets, width) if how.sparse is None else how.sparse
    return [rows.data(width, sparse=sparse) for rows in sets]


@frozen
class Reading:
    """Settings of the reader; ``beyond`` replaces the message about features above ``n_features``.

    If ``doc_ids`` is None, they are read if each line has one.
    """

    n_features: int | None = None
    beyond: str | None = None
    doc_ids: bool | None = False
    labels: bool = True
    queries: bool = True
    sparse: bool | None = None
    dtype: DTypeLike = np.float64
    zero_based: bool = False


class LetorRows:
    """The rows of files, as read by `read_rows`; queries without an id get ids above ``taken``."""

    def __init__(self, how: Reading, taken: int = 0) -> None:
        self.width = 0
        self.names: list[tuple[Path, tuple[str, ...] | None]] = []
        self.without_queries: list[Path] = []
        self._how, self._taken = how, taken
        self._ends_of_files: list[tuple[Path, int]] = []
        self._labels, self._queries = Growing(np.float64), Growing(np.int64)
        self._features = GrowingFeatures(how.dtype, how.sparse, how.n_features)
        self._doc_ids: list[str] | None = None if how.doc_ids is False else []

    def read(self, path: Path, sizes: Path | None) -> None:
        """Append the rows of a file; ``sizes`` has the sizes of its queries, by default the file beside it."""
        first_index = 0 if self._how.zero_based else 1
        first, width, head = len(self._labels), 0, Head(first_index)
        beside = sizes or sizes_beside(path)
        try:
            with closing(read_blocks(path)) as blocks:
                form, start = LineForm(self._how.labels, True, first_index), list[Block]()
                if beside or not self._how.queries:
                    start, ids = _until_first_line(blocks, head)
                    form = form._replace(queries=ids and sizes is None)
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
                        self._labels.extend(rows.labels)
                        self._queries.extend(rows.queries)
                        self._features.append(rows)
                        if self._doc_ids is None or rows.doc_ids is None:
                            self._doc_ids = None
                        else:
                            self._doc_ids += rows.doc_ids
                        width = max(width, rows.width)
        except TooLargeError:
            raise
        except MemoryError:
            raise InputError(
                f"{path} cannot be read: there is no memory for more than its first "
                f"{len(self._labels) - first:,} documents. Read it as float32, or in parts"
            ) from None
        if len(self._labels) == first:
            raise DataFormatError(path, None, "the file has no documents")
        if width == 0 and self._how.n_features is None:
            raise DataFormatError(path, None, "no line has a feature: pass n_features if this is intended")
        if not form.queries:
            next_id, numbered = 1 + self._largest(first), self._queries.all[first:]
            numbered[:] = queries_of_sizes(beside, path, len(numbered), next_id) if beside else next_id
            if not beside:
                self.without_queries.append(path)
        self.width = max(self.width, width)
        self.names.append((path, head.names))
        self._ends_of_files.append((path, len(self._labels)))

    def _largest(self, rows: int) -> int:
        return int(self._queries.all[:rows].max(initial=self._taken))

    @property
    def largest_query(self) -> int:
        """Largest query id of these rows and of previous data sets."""
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
        """Feature names from the heads of the files; None if they have no names."""
        return agreed(self.names)

    def bytes(self, width: int) -> tuple[int, int]:
        """Return the bytes that the features take as CSR, and as dense rows of ``width``."""
        return self._features.bytes(width)

    def data(self, width: int, *, sparse: bool | None = None) -> RankingData:
        """Return the rows with ``width`` columns, once: the result takes over their memory."""
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


def read_rows(paths: Sequence[Path], how: Reading, groups: Sequence[Path] = (), taken: int = 0) -> LetorRows:
    """Read the files of one data set; ``groups`` has a file of query sizes for each path, or is empty."""
    rows = LetorRows(how, taken)
    for number, path in enumerate(paths):
        rows.read(path, groups[number] if groups else None)
    if len(paths) > 1:
        check_queries_apart([rows])
    return rows


def check_queries_apart(sets: Iterable[LetorRows]) -> None:
    """Raise InputError if a query is in two files."""
    home: dict[int, Path] = {}
    for path, queries in (file for rows in sets for file in rows.queries):
        shared = [query for query in queries if query in home]
        if shared:
            raise InputError(
                f"{counted(len(shared), 'query', 'queries')}, such as {shared[0]}, may be in one file only, but "
                f"{home[shared[0]]} and {path} have rows of {'it' if len(shared) == 1 else 'them'}: join "
                "files that are parts of one, or renumber the queries of one file"
            )
        home.update(dict.fromkeys(queries, path))


def smaller_as_csr(sets: Iterable[LetorRows], width: int) -> bool:
    """Return whether CSR takes less than half the memory of dense rows."""
    sizes = [rows.bytes(width) for rows in sets]
    return 2 * sum(size for size, _ in sizes) < sum(size for _, size in sizes)


def compile_reader() -> None:
    """Compile the reader, by a file that is too long to be parsed in Python."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "lines.txt"
        file.write_text("".join(f"{k % 3} qid:{k // 10} 1:0.5 2:{k}.25 3:-1e-3 4:7\n" for k in range(6_000)))
        load_letor(file)


def _until_first_line(blocks: Iterator[Block], head: Head) -> tuple[list[Block], bool]:
    """Return the blocks up to the first line that is not a comment, and whether that line has a query id."""
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
    from structsvm.foundation.compute.threads import using

    with using(None) as threads:
        return min(_MOST_THREADS, threads.count)


S = TypeVar("S")
T = TypeVar("T")


def in_order(function: Callable[[S], T], items: Iterable[S], threads: Callable[[], int]) -> Generator[T]:
    """Map a function that releases the GIL over items on ``threads()`` threads and yield the results in order."""
    tasks = _tasks(function, items)
    start = list(islice(tasks, 2))
    if len(start) < 2:
        yield from (task() for task in start)
        return
    most = threads()
    with ThreadPoolExecutor(most) as pool:
        waiting: deque[Future[T]] = deque()
        for task in chain(start, tasks):
            waiting.append(pool.submit(task))
            if len(waiting) > most:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _tasks(function: Callable[[S], T], items: Iterable[S]) -> Iterator[Callable[[], T]]:
    """Yield a task per item; if iteration fails, the last task raises the error."""
    try:
        for item in items:
            yield partial(function, item)
    except Exception as error:
        yield partial(_raised, error)


def _raised(error: Exception) -> NoReturn:
    raise error
