"""The data of a fold: files in LETOR's format, or tables with named columns."""

from itertools import combinations
from pathlib import Path

from structsvm.data import RankingData, load_feature_names, load_letor_parts, load_table
from structsvm.data.columns.names import named_as_table
from structsvm.exceptions import InputError
from structsvm.protocols.letor.folds import Fold


def read_fold(fold: Fold) -> tuple[tuple[RankingData, ...], tuple[str, ...]]:
    """Read the training, the validation and the test data of a fold, and the names of their features.

    Tables have columns "label" and "qid", and features in all others of numbers of the training files: see
    `structsvm.data.load_table`.

    Raises
    ------
    InputError, DataFormatError : as `load_letor_parts` and `load_table`; or some files are tables and some are not, or
        a query is in two of the three data sets.
    """
    parts = (fold.train, fold.validation, fold.test)
    paths = [Path(path) for part in parts for path in part]
    tables = [named_as_table(path) for path in paths]
    if not any(tables):
        return load_letor_parts(parts), load_feature_names(fold.train[0]) or ()
    if not all(tables):
        raise InputError(
            f"{paths[tables.index(True)]} is a table by its name, and {paths[tables.index(False)]} is not: the files "
            "of a fold must be of one format"
        )
    train = load_table(fold.train)
    read = (train, *(load_table(part, features=train.feature_names) for part in parts[1:]))
    for (files, one), (others, other) in combinations(zip(parts, read, strict=True), 2):
        shared = set(one.qid.tolist()) & set(other.qid.tolist())
        if shared:
            raise InputError(
                f"query {min(shared)} is in {' or '.join(map(str, files))}, and in {' or '.join(map(str, others))}: a "
                "query is in one set of a fold"
            )
    return read, train.feature_names or ()
