"""The folds of a data set, as LETOR lays them out."""

import re
from collections.abc import Iterable
from itertools import chain, islice
from pathlib import Path

from attrs import frozen

from structsvm.exceptions import InputError
from structsvm.settings import as_path

_FILE = re.compile(r"(?P<stem>.+?)\.(txt|csv|tsv|parquet)(\.(gz|bz2|xz|zst))?", re.IGNORECASE)
_FOLD = re.compile(r"fold[ _-]?(\d+)", re.IGNORECASE)
_SET = re.compile(r"S(\d+)", re.IGNORECASE)
_ROLES = {"train": ("train",), "validate": ("vali", "valid", "validation"), "test": ("test",)}
FEWEST_SETS = 3
_SHOWN = 5


@frozen
class Fold:
    """The files of a fold.

    Parameters
    ----------
    name : its name in tables.
    train : files that models learn from.
    validation : files that pick their hyper-parameters.
    test : files that they are tested on.

    Examples
    --------
    >>> import tempfile
    >>> from structsvm.data import load_digits_queries
    >>> from structsvm.protocols.letor import Fold, benchmark, write_folds
    >>> data, _ = load_digits_queries(n_train=9, n_candidates=20)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     old, newer, newest = write_folds(folder, data, folds=3)
    ...     fold = Fold("by year", train=(old,), validation=(newer,), test=(newest,))
    ...     results = benchmark([fold], "CombSUM", jobs=1)  # one fold, without the rotation
    >>> results.folds[0].name, results.folds[0].queries
    ('by year', (3, 3, 3))
    """

    name: str
    train: tuple[Path, ...]
    validation: tuple[Path, ...]
    test: tuple[Path, ...]

    def located(self) -> "Fold":
        """Return the fold with absolute paths, which other processes understand wherever they work."""
        parts = (self.train, self.validation, self.test)
        return Fold(self.name, *(tuple(Path(path).absolute() for path in part) for part in parts))


def find_folds(folder: str | Path) -> tuple[Fold, ...]:
    """Find the folds in a folder.

    It has subfolders ``Fold1``, ``Fold2``, ... with ``train.txt``, ``vali.txt`` (or ``valid.txt``,
    ``validation.txt``) and ``test.txt`` each; or these three files itself, which are one fold; or ``S1.txt``
    to ``Sn.txt``, n ≥ 3: LETOR's rotation, in which fold k learns from n - 2 of them, beginning with Sk,
    validates on the next one and tests on the one after that. Files may be compressed (``train.txt.gz``), or tables
    with named columns (``train.csv``, ``.tsv`` or ``.parquet``).

    Parameters
    ----------
    folder : the folder; other files and folders in it do not matter.

    Raises
    ------
    InputError : when there are none, or a file of one is missing or there twice; it says which.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from structsvm.protocols.letor import find_folds
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("S1.txt", "S2.txt", "S3.txt", "S4.txt"):
    ...         _ = (Path(folder) / name).write_text("1 qid:1 1:0.5")
    ...     fold = find_folds(folder)[1]
    >>> [[path.name for path in part] for part in (fold.train, fold.validation, fold.test)]
    [['S2.txt', 'S3.txt'], ['S4.txt'], ['S1.txt']]
    """
    folder = as_path("folder", folder)
    if not folder.is_dir():
        kind = "is a file: name the folder that holds the folds" if folder.exists() else "does not exist"
        raise InputError(f"{folder} {kind}")
    entries = sorted(folder.iterdir())
    numbered = _by_number(_FOLD, ((each.name, each) for each in entries if each.is_dir()))
    if numbered:
        return tuple(_of_folder(numbered[number]) for number in sorted(numbered))
    files = _text_files(folder)
    sets = _by_number(_SET, files)
    if sets:
        return _rotated(folder, sets)
    if any(stem.lower() in names for stem, _ in files for names in _ROLES.values()):
        return (_of_folder(folder),)
    raise InputError(
        f"{folder} holds no folds: there must be folders Fold1, Fold2, ... with train.txt, vali.txt and test.txt each, "
        "or these three files, or S1.txt, S2.txt, ..."
    )


def numbered_entries(folder: Path) -> list[Path]:
    """Return what `find_folds` would take for a fold or a set of a folder, by name; none if there is no folder."""
    entries = sorted(folder.iterdir()) if folder.is_dir() else []
    sets = {path for stem, path in _text_files(folder) if _SET.fullmatch(stem)} if entries else set()
    return [path for path in entries if path in sets or (path.is_dir() and _FOLD.fullmatch(path.name))]


def _of_folder(folder: Path) -> Fold:
    files = _text_files(folder)
    every = set(chain.from_iterable(_ROLES.values()))
    form = next((path.name[len(stem) :] for stem, path in files if stem.lower() in every), ".txt")
    found = []
    for role, names in _ROLES.items():
        fitting = [path for stem, path in files if stem.lower() in names]
        if not fitting:
            raise InputError(f"{folder} has no file to {role} with: {' or '.join(name + form for name in names)}")
        if len(fitting) > 1:
            raise InputError(
                f"{folder} has two files to {role} with, {fitting[0].name} and {fitting[1].name}: keep one"
            )
        found.append((fitting[0],))
    return Fold(folder.resolve().name, *found)


def _rotated(folder: Path, sets: dict[int, Path]) -> tuple[Fold, ...]:
    count = max(max(sets), FEWEST_SETS)
    absent = count - sum(number > 0 for number in sets)
    if 0 in sets or absent:
        there = _first(path.name for path in sets.values())
        missing = (f"S{number}.txt" for number in range(1, count + 1) if number not in sets)
        but = f", but not {_first(missing)}" if absent else ""
        raise InputError(f"{folder} has {there}{but}: the sets of LETOR's rotation count from 1")
    ring = [sets[number] for number in range(1, count + 1)]
    turned = [ring[k:] + ring[:k] for k in range(count)]
    return tuple(Fold(f"Fold{k}", tuple(each[:-2]), (each[-2],), (each[-1],)) for k, each in enumerate(turned, start=1))


def _first(names: Iterable[str]) -> str:
    """Return the names, or the first few and dots; there may be millions."""
    shown = list(islice(names, _SHOWN + 1))
    return ", ".join(shown[:_SHOWN]) + (", ..." if len(shown) > _SHOWN else "")


def _text_files(folder: Path) -> list[tuple[str, Path]]:
    found = ((_FILE.fullmatch(path.name), path) for path in sorted(folder.iterdir()) if path.is_file())
    return [(match["stem"], path) for match, path in found if match]


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
