"""Find, read and write folds in LETOR's layout."""

import re
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from itertools import chain, combinations
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen

from structsvm.data import RankingData, load_table
from structsvm.data.columns.base import all_tables
from structsvm.data.letor.reading import load_letor_parts
from structsvm.data.letor.writing import LetorText
from structsvm.exceptions import InputError, counted, first_of
from structsvm.foundation.settings import as_list, as_path, real_name, require_integer, require_kind
from structsvm.foundation.storage.files import check_writable, replacing

_COLUMNS = ("label", "qid", "docid", "features")
_FILE = re.compile(r"(?P<stem>.+?)\.(txt|csv|tsv|parquet)(\.(gz|bz2|xz|zst))?", re.IGNORECASE)
_FOLD = re.compile(r"fold[ _-]?(\d+)", re.IGNORECASE)
_SET = re.compile(r"S(\d+)", re.IGNORECASE)
_ROLES = {"train": ("train",), "validate": ("vali", "valid", "validation"), "test": ("test",)}
FEWEST_SETS = 3


@frozen
class Fold:
    """The files of a fold.

    Parameters
    ----------
    name : name in tables.
    train, validation, test : files for training, for the choice of hyper-parameters, and for the test.

    Examples
    --------
    >>> from structsvm.data import load_digits_queries
    >>> from structsvm.protocols.letor import benchmark, write_folds
    >>> data, _ = load_digits_queries(n_train=9, n_candidates=20)
    >>> old, newer, newest = write_folds("by-year", data, folds=3)
    >>> fold = Fold("by year", train=(old,), validation=(newer,), test=(newest,))
    >>> results = benchmark([fold], "CombSUM", n_jobs=1)  # one fold, without the rotation
    >>> trial = results.trials[0]
    >>> trial.name, len(trial.train), len(trial.validation), len(trial.test)
    ('by year', 3, 3, 3)
    """

    name: str
    train: tuple[Path, ...]
    validation: tuple[Path, ...]
    test: tuple[Path, ...]

    @property
    def parts(self) -> tuple[tuple[Path, ...], ...]:
        """The training, validation and test files."""
        return self.train, self.validation, self.test

    def located(self) -> "Fold":
        """Return the fold with absolute paths, because other processes may have another working folder."""
        return Fold(self.name, *(tuple(Path(path).absolute() for path in part) for part in self.parts))


def find_folds(folder: str | Path) -> tuple[Fold, ...]:
    """Find the folds in a folder, or rotate its sets ``S1.txt`` to ``Sn.txt`` as LETOR does."""
    folder = as_path("folder", folder)
    if not folder.is_dir():
        kind = "is a file: name the folder that holds the folds" if folder.exists() else "does not exist"
        raise InputError(f"{folder} {kind}")
    entries = sorted(folder.iterdir())
    numbered = _by_number(_FOLD, ((path.name, path) for path in entries if path.is_dir()))
    if numbered:
        return tuple(_of_folder(numbered[number]) for number in sorted(numbered))
    files = _text_files(folder)
    sets = _by_number(_SET, files)
    if sets:
        return _rotated(folder, sets)
    if any(stem.lower() in names for stem, _ in files for names in _ROLES.values()):
        return (_of_folder(folder),)
    raise InputError(
        f"{folder} has no folds: it needs folders Fold1, Fold2, ... with train.txt, vali.txt and test.txt each, "
        "or these three files, or S1.txt, S2.txt, ..."
    )


def numbered_entries(folder: Path) -> list[Path]:
    """Return the entries of a folder that `find_folds` would read; empty if the folder does not exist."""
    entries = sorted(folder.iterdir()) if folder.is_dir() else []
    sets = {path for stem, path in _text_files(folder) if _SET.fullmatch(stem)} if entries else set()
    return [path for path in entries if path in sets or (path.is_dir() and _FOLD.fullmatch(path.name))]


def _of_folder(folder: Path) -> Fold:
    files = _text_files(folder)
    every = set(chain.from_iterable(_ROLES.values()))
    form = next((path.name[len(stem) :] for stem, path in files if stem.lower() in every), ".txt")
    parts = []
    for role, names in _ROLES.items():
        fitting = [path for stem, path in files if stem.lower() in names]
        if not fitting:
            raise InputError(f"{folder} has no file to {role} with: {' or '.join(name + form for name in names)}")
        if len(fitting) > 1:
            raise InputError(
                f"{folder} has two files to {role} with, {fitting[0].name} and {fitting[1].name}: keep one"
            )
        parts.append((fitting[0],))
    return Fold(real_name(folder), *parts)


def _rotated(folder: Path, sets: dict[int, Path]) -> tuple[Fold, ...]:
    count = max(max(sets), FEWEST_SETS)
    absent = count - sum(number > 0 for number in sets)
    if 0 in sets or absent:
        there = first_of(path.name for path in sets.values())
        missing = (f"S{number}.txt" for number in range(1, count + 1) if number not in sets)
        but = f", but not {first_of(missing)}" if absent else ""
        raise InputError(f"{folder} has {there}{but}: the sets of LETOR's rotation count from 1")
    ring = [sets[number] for number in range(1, count + 1)]
    rotations = (ring[k:] + ring[:k] for k in range(count))
    return tuple(
        Fold(f"Fold{k}", tuple(train), (validation,), (test,))
        for k, (*train, validation, test) in enumerate(rotations, start=1)
    )


def _text_files(folder: Path) -> list[tuple[str, Path]]:
    matches = ((_FILE.fullmatch(path.name), path) for path in sorted(folder.iterdir()) if path.is_file())
    return [(match["stem"], path) for match, path in matches if match]


def _by_number(pattern: re.Pattern[str], named: Iterable[tuple[str, Path]]) -> dict[int, Path]:
    numbered: dict[int, Path] = {}
    for name, path in named:
        match = pattern.fullmatch(name)
        if match is None:
            continue
        other = numbered.setdefault(int(match[1]), path)
        if other != path:
            raise InputError(f"{path.parent} has both {other.name} and {path.name}: keep one")
    return dict(sorted(numbered.items()))


def checked_columns(columns: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return names of columns, several for "features" and one for other roles; raise InputError for anything else."""
    if columns is None:
        return None
    require_kind("columns", columns, Mapping, "a dict of names of columns, such as {'label': 'clicks'}")
    names = dict(columns)
    for role, name in columns.items():
        if role not in _COLUMNS:
            raise InputError(f"columns has {role!r}: it may have {', '.join(_COLUMNS)}")
        if role == "features":
            names[role] = as_list("columns['features']", name, "names")
        else:
            require_kind(f"columns[{role!r}]", name, str, "the name of a column")
    return names


def read_fold(fold: Fold, columns: Mapping[str, Any] | None = None) -> tuple[tuple[RankingData, ...], tuple[str, ...]]:
    """Read the training, validation and test data of a fold, and the names of their features; see `load_table`."""
    if not columns and not all_tables([Path(path) for part in fold.parts for path in part]):
        data = load_letor_parts(fold.parts)
        return data, data[0].feature_names or ()
    train = load_table(fold.train, **columns or {})
    names = {**(columns or {}), "features": train.feature_names}
    data = (train, *(load_table(part, **names) for part in fold.parts[1:]))
    for (files, one), (others, other) in combinations(zip(fold.parts, data, strict=True), 2):
        shared = set(one.qid.tolist()) & set(other.qid.tolist())
        if shared:
            raise InputError(
                f"query {min(shared)} is in {' or '.join(map(str, files))}, and in {' or '.join(map(str, others))}: a "
                "query must be in one set of a fold only"
            )
    return data, train.feature_names or ()


def fold_files(folder: str | PathLike[str], folds: int) -> tuple[Path, ...]:
    """Return the files of `write_folds`: ``S1.txt`` to ``Sn.txt``."""
    return tuple(Path(folder) / f"S{number}.txt" for number in range(1, folds + 1))


def write_folds(
    folder: str | PathLike[str], data: RankingData, *, folds: int = 5, random_state: int = 0
) -> tuple[Path, ...]:
    """Split queries into sets of equal size and write each to a file, for LETOR's rotation in `benchmark`.

    The queries, in order of appearance, are shuffled by
    ``numpy.random.default_rng(random_state).permutation`` and cut into ``folds`` parts; the first parts have one more
    query if the division leaves a remainder. Within a file, queries keep the order of the data. Files replace existing
    ones only when all are complete.

    Parameters
    ----------
    folder : folder of the files; created if it does not exist. It must not contain other folds.
    data : the documents, with ids and names of features if available; see `write_letor`.
    folds : number of files, at least 3.
    random_state : seed of the order of the queries.

    Returns
    -------
    paths : the files, ``S1.txt``, ``S2.txt``, ...

    Raises
    ------
    InputError : there are fewer queries than files, the folder holds other folds, or as `write_letor`.

    Examples
    --------
    >>> from structsvm.data import load_digits_queries
    >>> data, _ = load_digits_queries(n_train=12, n_candidates=20)
    >>> paths = write_folds("folds", data, folds=4)
    >>> [path.name for path in paths]
    ['S1.txt', 'S2.txt', 'S3.txt', 'S4.txt']
    """
    require_kind("data", data, RankingData, "RankingData, such as load_letor returns")
    require_integer("folds", folds, FEWEST_SETS)
    require_integer("random_state", random_state, 0)
    target = as_path("folder", folder)
    text = LetorText.of(data.X, data.y, data.qid, data.doc_ids, data.feature_names)
    queries = list(dict.fromkeys(text.queries.tolist()))
    if len(queries) < folds:
        raise InputError(
            f"{counted(len(queries), 'query is', 'queries are')} too few for {folds} folds: choose fewer folds"
        )
    paths = fold_files(target, folds)
    require_place_for_folds(target, folds)
    order = np.random.default_rng(random_state).permutation(len(queries))
    with ExitStack() as stack:
        files = [stack.enter_context(replacing(path, makes_folders=True)) for path in paths]
        for file, part in zip(files, np.array_split(order, folds), strict=True):
            ids = [queries[k] for k in part.tolist()]
            file.writelines(text.rows(np.isin(text.queries, ids)).pieces())
    return paths


def require_place_for_folds(folder: Path, folds: int) -> None:
    """Raise InputError if a folder is not writable, or has folds that would mix with the new folds."""
    ours = {path.name.lower() for path in fold_files(folder, folds)}
    other = next((path for path in numbered_entries(folder) if path.name.lower() not in ours), None)
    if other is not None:
        raise InputError(f"{folder} has {other.name}, a file of other folds: choose another folder, or remove it")
    for path in fold_files(folder, folds):
        check_writable(path, makes_folders=True)
