"""LETOR's data format: svmlight text with query ids, one document a line."""

import re
from collections.abc import Iterable
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file

from structsvm.compute.memory import require_memory
from structsvm.data.dataset import RankingData
from structsvm.data.letor_faults import first_fault
from structsvm.exceptions import DataFormatError, InputError
from structsvm.files import open_bytes
from structsvm.settings import as_list, as_path, is_integer
from structsvm.types import IntVector, Vector

_DOC_ID = re.compile(rb"#\s*docid\s*=\s*(\S+)")


def load_letor(
    path_or_paths: str | PathLike[str] | Iterable[str | PathLike[str]],
    *,
    n_features: int | None = None,
    doc_ids: bool = False,
    sparse: bool | None = None,
) -> RankingData:
    """Read files of LETOR, MSLR or Yahoo's challenge, or what svm_rank reads, as one data set.

    A line is ``<label> qid:<query> <index>:<value> ... # <comment>``: feature indices count from 1
    and ascend, values that are left out are 0, the comment may hold ``docid = <id>``. Parsed by
    `sklearn.datasets.load_svmlight_file`.

    Parameters
    ----------
    path_or_paths : one file or several, plain or gzip. Query ids identify queries over all files:
        an id in two files is an error, since files numbered apart would melt into each other.
    n_features : number of columns. None: the largest index in the files; give it when test data
        may lack the last features of the training data.
    doc_ids : whether to read the document ids in the comments, which takes a second pass.
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
    paths = [path for group in groups for path in group]
    files = [_read(path, n_features) for path in paths]
    _check_queries_apart(paths, files)
    width = n_features or max(file.X.shape[1] for file in files)
    if sparse is None:
        sparse = _smaller_as_csr(files, width)
    left = iter(files)
    return tuple(_joined(group, list(islice(left, len(group))), width, doc_ids, sparse) for group in groups)


def _joined(paths: list[Path], files: list["_Part"], width: int, doc_ids: bool, sparse: bool) -> RankingData:
    X = sp.vstack([_widen(file.X, width) for file in files], format="csr")
    if not sparse:
        require_memory(8.0 * X.shape[0] * width, f"{X.shape[0]:,} dense rows of {width:,} features", "pass sparse=True")
    return RankingData(
        X=X if sparse else X.toarray(),
        y=np.concatenate([file.y for file in files]),
        qid=np.concatenate([file.qid for file in files]),
        doc_ids=np.concatenate([_doc_ids(path) for path in paths]) if doc_ids else None,
    )


class _Part(NamedTuple):
    """What one file holds."""

    X: sp.csr_array
    y: Vector
    qid: IntVector


def _paths(path_or_paths: str | PathLike[str] | Iterable[str | PathLike[str]]) -> list[Path]:
    if isinstance(path_or_paths, str | PathLike):
        return [Path(path_or_paths)]
    paths = [as_path("a path", path) for path in as_list("paths", path_or_paths, "a path, or a list of them")]
    if not paths:
        raise InputError("the list of files is empty")
    return paths


def _read(path: Path, n_features: int | None) -> _Part:
    with open_bytes(path) as file:
        try:
            X, y, qid = load_svmlight_file(file, zero_based=False, query_id=True)
        except (ValueError, OverflowError) as error:
            raise _fault(path, n_features, f"scikit-learn cannot read it: {error}") from error
    if len(y) == 0:
        raise DataFormatError(path, None, "the file holds no documents")
    if len(qid) != len(y) or not (np.isfinite(y).all() and np.isfinite(X.data).all()):
        raise _fault(path, n_features, "a query id is missing, or a number is not finite")
    if X.nnz == 0 and n_features is None:
        raise DataFormatError(path, None, "no line has a feature; pass n_features if that is meant")
    if n_features is not None and X.nnz and X.shape[1] > n_features:
        raise _fault(path, n_features, f"a feature is beyond n_features={n_features}")
    X.eliminate_zeros()
    return _Part(sp.csr_array(X), np.array(y), np.array(qid))


def _fault(path: Path, n_features: int | None, otherwise: str) -> DataFormatError:
    return first_fault(path, n_features) or DataFormatError(path, None, otherwise)


def _check_queries_apart(paths: list[Path], parts: list[_Part]) -> None:
    home: dict[int, Path] = {}
    for path, part in zip(paths, parts, strict=True):
        queries = np.unique(part.qid).tolist()
        shared = [query for query in queries if query in home]
        if shared:
            raise InputError(
                f"query {shared[0]} is in {home[shared[0]]} and in {path}, as are {len(shared) - 1} more queries. "
                "If the files are parts of one, join them before reading; if not, renumber the queries of one."
            )
        home.update(dict.fromkeys(queries, path))


def _widen(X: sp.csr_array, width: int) -> sp.csr_array:
    """Return X with `width` columns, and with 32-bit indices where these suffice."""
    index = np.int32 if max(X.nnz, width) <= np.iinfo(np.int32).max else np.int64
    return sp.csr_array((X.data, X.indices.astype(index), X.indptr.astype(index)), shape=(X.shape[0], width))


def _smaller_as_csr(files: list[_Part], width: int) -> bool:
    """Say whether CSR takes less than half the memory of dense rows."""
    rows, stored = sum(file.X.shape[0] for file in files), sum(file.X.nnz for file in files)
    index = 4 if max(stored, width) <= np.iinfo(np.int32).max else 8
    item = files[0].X.data.itemsize
    return 2 * (stored * (item + index) + (rows + 1) * index) < rows * width * item


def _doc_ids(path: Path) -> NDArray[np.str_]:
    found = []
    with open_bytes(path) as file:
        for number, line in enumerate(file, start=1):
            if not line.partition(b"#")[0].strip():
                continue
            match = _DOC_ID.search(line)
            if match is None:
                raise DataFormatError(path, number, "there is no comment '#docid = ...', so the document has no id")
            found.append(match[1].decode(errors="replace"))
    return np.array(found)
