"""LETOR's data format: svmlight text with query ids, one document a line."""

from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import TypeAlias

import numpy as np
from attrs import asdict
from numpy.typing import DTypeLike

from structsvm.data.dataset import RankingData
from structsvm.data.feature_names import agreed
from structsvm.data.group_sizes import sizes_beside
from structsvm.data.letor_rows import LetorRows, Reading, check_queries_apart, read_rows, smaller_as_csr
from structsvm.exceptions import InputError
from structsvm.settings import as_float_type, as_list, as_path, is_integer, require_choice

_NEEDS = ("required", "optional")

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
    cache: str | PathLike[str] | None = None,
) -> RankingData:
    r"""Read files of LETOR, MSLR or Yahoo's challenge, or what svm_rank, LightGBM or XGBoost read, as one data set.

    A line is ``<label> qid:<query> <index>:<value> ... # <comment>``: feature indices count from 1
    and ascend, values that are left out are 0, the comment may hold ``docid = <id>``. Columns are
    separated by blanks and tabs; a number is written in decimal digits, as ``-1.5`` or ``2e-3``. Each
    file is read once, in blocks, so it may be a pipe; ``/dev/stdin`` is standard input.

    Lines may have no query ids if the sizes of the queries are in a file beside, as LightGBM and XGBoost
    have it: ``train.txt.query`` or ``train.txt.group``, a number a line. These queries are numbered from 1,
    or on from the largest id in the files before.

    Parameters
    ----------
    path_or_paths : one file or several, plain or compressed with gzip, bzip2, xz or Zstandard, which the
        content tells. Query ids identify queries over all files: an id in two files is an error, since
        files numbered apart would melt into each other.
    n_features : number of columns. None: the largest index in the files, or the number of names at their
        head if that is larger; give it when test data may lack the last features of the training data.
    doc_ids : whether to read the document ids in the comments.
    sparse : True for CSR, False for dense. None: CSR where it takes less than half the memory of
        dense rows, which are the faster ones to compute with.
    dtype : type of the features: float64, or float32, which takes half the memory.
    labels : "required"; or "optional", for documents to be scored: where a line begins with its query id or
        its first feature, its label is NaN.
    queries : "required"; or "optional": a file that tells no queries, in its lines or beside, is one query.
    groups : the file of the sizes of queries, if it has another name than those above; or a file for each path.
    cache : file in which the result is kept, for a later call to map it into memory instead of reading text. It is
        made anew where a file has changed, where other settings ask for other data, and where it is damaged.

    Returns
    -------
    RankingData : rows in the order of the files; column j is feature j + 1. It has the names of features that
        comments at the heads of the files hold, as `write_letor` puts them there.

    Raises
    ------
    InputError : a file does not exist or cannot be read, a query is in two files, or files name features
        differently.
    DataFormatError : a line cannot be read or a number in it used: the message names file and line.
    NotInstalledError : a file is compressed with Zstandard, and the package that unpacks it is missing.

    Examples
    --------
    >>> from pathlib import Path
    >>> from structsvm.data import load_letor
    >>> _ = Path("S1.txt").write_text("2 qid:1 1:0.5 2:1.0 # docid = d1\n0 qid:1 1:0.1 2:0.3 # docid = d2\n")
    >>> _ = Path("S2.txt").write_text("1 qid:2 1:0.7 2:0.2 # docid = d1\n0 qid:2 1:0.4 2:0.9 # docid = d3\n")
    >>> data = load_letor(["S1.txt", "S2.txt"])
    >>> data
    RankingData(2 queries, 4 documents, 2 features, dense)
    >>> data.y.tolist(), data.qid.tolist()
    ([2.0, 0.0, 1.0, 0.0], [1, 1, 2, 2])
    """
    paths, sizes = _paths(path_or_paths), None if groups is None else _paths(groups)
    if sizes is not None and len(sizes) != len(paths):
        raise InputError(f"groups must be a file for each of the {len(paths)} files of data; there are {len(sizes)}")
    how = _reading(n_features, doc_ids, sparse, dtype, labels, queries)
    if cache is None:
        return _load([paths], [sizes], how)[0]
    from structsvm.data.cache import cached

    beside = [each for path in paths if (each := sizes_beside(path))] if sizes is None else sizes
    settings = {**asdict(how), "dtype": np.dtype(how.dtype).name, "groups": sizes is not None}
    return cached(as_path("cache", cache), [*paths, *beside], settings, lambda: _load([paths], [sizes], how)[0])


def load_letor_parts(
    parts: Iterable[Paths],
    *,
    n_features: int | None = None,
    doc_ids: bool = False,
    sparse: bool | None = None,
    dtype: DTypeLike = np.float64,
) -> tuple[RankingData, ...]:
    r"""Read several data sets of the same columns, such as those to train, to validate and to test.

    Parameters
    ----------
    parts : the file or files of each data set. No query may be in two of them; those whose sizes are in files beside
        are numbered on from part to part.
    n_features : number of columns of all. None: the largest index in any of the files, or the number of names.
    doc_ids, sparse, dtype : see `load_letor`; all data sets are dense, or all CSR.

    Raises
    ------
    InputError, DataFormatError : as `load_letor`, of the files of all parts.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from structsvm.data import load_letor_parts
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for number, name in enumerate("ab"):
    ...         _ = (Path(folder) / name).write_text(f"1 qid:{number} 1:0.5 2:1\n0 qid:{number} 1:0.25\n")
    ...     train, test = load_letor_parts([Path(folder) / "a", Path(folder) / "b"])
    >>> train.X.shape, test.X.shape
    ((2, 2), (2, 2))
    """
    groups = [_paths(each) for each in as_list("parts", parts, "a list of the files of each part")]
    if not groups:
        raise InputError("parts is empty: name the file or files of one data set at least")
    how = _reading(n_features, doc_ids, sparse, dtype, "required", "required")
    return tuple(_load(groups, [None] * len(groups), how))


def load_rows(paths: Sequence[Path], how: Reading, groups: Sequence[Path] = ()) -> LetorRows:
    """Read files before it is known how many columns they are to have.

    Parameters
    ----------
    paths : the files. No query may be in two of them.
    how : how they are read.
    groups : a file of group sizes for each; none: those that are beside files without query ids.

    Raises
    ------
    InputError, DataFormatError : as `load_letor`.
    """
    rows = read_rows(paths, groups or [None] * len(paths), how)
    check_queries_apart([rows])
    return rows


def _load(groups: list[list[Path]], sizes: Sequence[list[Path] | None], how: Reading) -> list[RankingData]:
    sets = list[LetorRows]()
    for paths, told in zip(groups, sizes, strict=True):
        taken = sets[-1].largest_query if sets else 0
        sets.append(read_rows(paths, told or [None] * len(paths), how, taken))
    check_queries_apart(sets)
    names = agreed(named for each in sets for named in each.names)
    width = how.n_features or max(len(names or ()), *(each.width for each in sets))
    sparse = smaller_as_csr(sets, width) if how.sparse is None else how.sparse
    return [each.data(width, sparse=sparse) for each in sets]


def _reading(
    n_features: int | None, doc_ids: bool, sparse: bool | None, dtype: DTypeLike, labels: str, queries: str
) -> Reading:
    if n_features is not None and not is_integer(n_features, 1):
        raise InputError(f"n_features must be at least 1, or None; it is {n_features!r}")
    require_choice("labels", labels, _NEEDS)
    require_choice("queries", queries, _NEEDS)
    return Reading(
        n_features=n_features,
        doc_ids=doc_ids,
        labels=labels == "required",
        queries=queries == "required",
        sparse=sparse,
        dtype=as_float_type("dtype", dtype),
    )


def _paths(path_or_paths: Paths) -> list[Path]:
    if isinstance(path_or_paths, str | PathLike):
        return [Path(path_or_paths)]
    paths = [as_path("a path", path) for path in as_list("paths", path_or_paths, "a path, or a list of them")]
    if not paths:
        raise InputError("the list of files is empty")
    return paths
