"""The file of finished folds in the folder of a benchmark."""

from collections.abc import Mapping, Sequence
from hashlib import file_digest
from pathlib import Path
from typing import Any

from structsvm.data.group_sizes import sizes_beside
from structsvm.exceptions import InputError
from structsvm.metrics import Measure
from structsvm.protocols.letor.folds import Fold
from structsvm.protocols.letor.results import FoldResults, name_of
from structsvm.protocols.model import Model
from structsvm.settings import as_path
from structsvm.storage.records import Header, Kind, count_records, digest, versions

NAME = "folds.jsonl"

FOLDS = Kind(
    part=FoldResults,
    key=lambda results: results.name,
    work="benchmark",
    name="fold",
    names="folds",
    data="files of the folds",
    removal="replace it with --force (replace=True)",
)


def count_folds(folder: str | Path) -> int:
    """Return the number of folds that are finished in a folder.

    Parameters
    ----------
    folder : that of a benchmark, ``out`` of `benchmark`; 0 where there is no such folder yet.

    Examples
    --------
    >>> import tempfile
    >>> from structsvm.data import load_digits_queries
    >>> from structsvm.protocols.letor import benchmark, count_folds, write_folds
    >>> data, _ = load_digits_queries(n_train=9, n_candidates=20)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_folds(f"{folder}/data", data, folds=3)
    ...     _ = benchmark(f"{folder}/data", "CombSUM", jobs=1, out=f"{folder}/out")
    ...     count_folds(f"{folder}/out")
    3
    """
    return count_records(as_path("folder", folder) / NAME)


def header_of(
    folds: Sequence[Fold],
    models: Sequence[Model],
    measure: Measure,
    single_features: bool,
    normalise: str | None = None,
    columns: Mapping[str, Any] | None = None,
) -> Header:
    """Return what makes a benchmark the one it is, the content of its files, and of those of group sizes, among it."""
    settings = {
        "models": {model.name: repr(model) for model in models},
        "folds": [fold.name for fold in folds],
        "measure": name_of(measure),
        "single features": single_features,
    }
    if normalise is not None:
        settings["normalise"] = normalise
    if columns:
        settings["columns"] = dict(columns)
    roles = [(fold.train, fold.validation, fold.test) for fold in folds]
    read = [each for fold in roles for files in fold for path in files for each in (path, sizes_beside(path)) if each]
    content = {path: _content(path) for path in dict.fromkeys(read)}
    data = digest(content[path] for path in read)
    return Header(settings, data, versions())


def _content(path: Path) -> bytes:
    try:
        with Path(path).open("rb") as file:
            return file_digest(file, "sha256").digest()
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
