"""Folds made of a data set, in files as LETOR lays them out."""

from contextlib import ExitStack
from os import PathLike
from pathlib import Path

import numpy as np

from structsvm.data import RankingData
from structsvm.data.letor_writing import LetorText
from structsvm.exceptions import InputError
from structsvm.protocols.letor.folds import FEWEST_SETS, numbered_entries
from structsvm.settings import as_path, require_integer, require_kind
from structsvm.storage.files import check_writable, output_folder, replacing


def fold_files(folder: str | PathLike[str], folds: int) -> tuple[Path, ...]:
    """Return the files that `write_folds` writes: ``S1.txt`` to ``Sn.txt``."""
    return tuple(Path(folder) / f"S{number}.txt" for number in range(1, folds + 1))


def write_folds(folder: str | PathLike[str], data: RankingData, *, folds: int = 5, seed: int = 0) -> tuple[Path, ...]:
    """Split queries into sets of equal size and write each to a file: LETOR's rotation, as `find_folds` reads it.

    The queries are shuffled by ``numpy.random.default_rng(seed).permutation`` in their order of appearance and
    cut into ``folds`` parts; the first ones have a query more where they do not come out even. A file has its
    queries in the order of the data. All files are put in their places when all are written.

    Parameters
    ----------
    folder : where to; it is made if it is not there, and must hold no folds but such files, which are replaced.
    data : the documents, with ids and names of features where they have any; see `write_letor`.
    folds : number of files, at least 3.
    seed : draws the order of the queries.

    Returns
    -------
    paths : the files, ``S1.txt``, ``S2.txt``, ...

    Raises
    ------
    InputError : there are fewer queries than files, the folder holds other folds, or as `write_letor`.

    Examples
    --------
    >>> import tempfile
    >>> from structsvm.data import load_digits_queries
    >>> from structsvm.protocols.letor import find_folds, write_folds
    >>> data, _ = load_digits_queries(n_train=12, n_candidates=20)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = write_folds(folder, data, folds=4)
    ...     folds = find_folds(folder)
    >>> [path.name for path in paths], len(folds), len(folds[0].train)
    (['S1.txt', 'S2.txt', 'S3.txt', 'S4.txt'], 4, 2)
    """
    require_kind("data", data, RankingData, "RankingData, such as load_letor returns")
    require_integer("folds", folds, FEWEST_SETS)
    require_integer("seed", seed, 0)
    target = as_path("folder", folder)
    text = LetorText.of(data.X, data.y, data.qid, data.doc_ids, data.feature_names)
    queries = list(dict.fromkeys(text.queries.tolist()))
    if len(queries) < folds:
        raise InputError(f"there are {len(queries)} queries: too few for {folds} folds, which need a query each")
    paths = fold_files(target, folds)
    require_place_for_folds(target, folds)
    order = np.random.default_rng(seed).permutation(len(queries))
    with output_folder(target), ExitStack() as stack:
        files = [stack.enter_context(replacing(path)) for path in paths]
        for file, part in zip(files, np.array_split(order, folds), strict=True):
            chosen = [queries[k] for k in part.tolist()]
            file.writelines(text.rows(np.isin(text.queries, chosen)).pieces())
    return paths


def require_place_for_folds(folder: Path, folds: int) -> None:
    """Refuse a folder in which other folds would be read beside, or in the place of, those that are written.

    Raises
    ------
    InputError : it names one of them; or the folder is there, and a file cannot be written in it.
    """
    ours = {path.name.lower() for path in fold_files(folder, folds)}
    other = next((path for path in numbered_entries(folder) if path.name.lower() not in ours), None)
    if other is not None:
        raise InputError(f"{folder} holds {other.name}, of other folds: choose another folder, or remove it")
    if folder.is_dir():
        for path in fold_files(folder, folds):
            check_writable(path)
