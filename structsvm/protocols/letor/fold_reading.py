"""The data of a fold: files in LETOR's format, or tables with named columns."""

from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

from structsvm.data import RankingData, load_feature_names, load_letor_parts, load_table
from structsvm.data.columns.names import named_as_table
from structsvm.exceptions import InputError
from structsvm.protocols.letor.folds import Fold
from structsvm.settings import as_list, require_kind

_COLUMNS = ("label", "qid", "docid", "features")


def checked_columns(given: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return names of columns, of which some are a column each and "features" are several.

    Raises
    ------
    InputError : one is not, or there are others.
    """
    if given is None:
        return None
    require_kind("columns", given, Mapping, "a dict of names of columns, such as {'label': 'clicks'}")
    for role, name in given.items():
        if role not in _COLUMNS:
            raise InputError(f"columns has {role!r}: it may have {', '.join(_COLUMNS)}")
        if role != "features":
            require_kind(f"columns[{role!r}]", name, str, "the name of a column")
    features = {"features": as_list("columns['features']", given["features"], "names")} if "features" in given else {}
    return {**given, **features}


def read_fold(fold: Fold, columns: Mapping[str, Any] | None = None) -> tuple[tuple[RankingData, ...], tuple[str, ...]]:
    """Read the training, the validation and the test data of a fold, and the names of their features.

    Tables have columns "label" and "qid", and features in all others of numbers of the training files: see
    `structsvm.data.load_table`.

    Parameters
    ----------
    fold : its files.
    columns : those of `checked_columns`, with which all files are tables.

    Raises
    ------
    InputError, DataFormatError : as `load_letor_parts` and `load_table`; or some files are tables and some are not, or
        a query is in two of the three data sets.
    """
    parts = (fold.train, fold.validation, fold.test)
    paths = [Path(path) for part in parts for path in part]
    tables = [bool(columns) or named_as_table(path) for path in paths]
    if not any(tables):
        return load_letor_parts(parts), load_feature_names(fold.train[0]) or ()
    if not all(tables):
        raise InputError(
            f"{paths[tables.index(True)]} is a table by its name, and {paths[tables.index(False)]} is not: the files "
            "of a fold must be of one format"
        )
    train = load_table(fold.train, **columns or {})
    learned = {**(columns or {}), "features": train.feature_names}
    read = (train, *(load_table(part, **learned) for part in parts[1:]))
    for (files, one), (others, other) in combinations(zip(parts, read, strict=True), 2):
        shared = set(one.qid.tolist()) & set(other.qid.tolist())
        if shared:
            raise InputError(
                f"query {min(shared)} is in {' or '.join(map(str, files))}, and in {' or '.join(map(str, others))}: a "
                "query is in one set of a fold"
            )
    return read, train.feature_names or ()
