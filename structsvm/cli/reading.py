"""What `predict` and `evaluate` read."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from structsvm.cli.console import counted
from structsvm.exceptions import DataFormatError

if TYPE_CHECKING:
    from structsvm import Ranker
    from structsvm.data import RankingData


def read_model_and_data(model: Path, paths: Sequence[Path], *, doc_ids: bool = False) -> "tuple[Ranker, RankingData]":
    """Read a ranker, and data with its number of features.

    Features beyond the last one in the data are 0, as all features are that a line leaves
    out; a note says so.

    Parameters
    ----------
    model : file of the ranker.
    paths : LETOR files.
    doc_ids : whether to read document ids too.

    Raises
    ------
    ModelFileError : when the model cannot be read.
    DataFormatError : when the data cannot be, or have features that the model does not know.
    """
    from structsvm import Ranker
    from structsvm.data import load_letor

    ranker = Ranker.load(model)
    known: int = ranker.n_features_in_
    data = load_letor(paths, doc_ids=doc_ids)
    found = data.X.shape[1]
    if found < known:
        click.echo(
            f"structsvm: note: the model has {counted(known, 'feature')}, the data only the first {found}; "
            "the others are taken as 0",
            err=True,
        )
    if found != known:
        try:
            data = load_letor(paths, n_features=known, doc_ids=doc_ids)
        except DataFormatError as error:
            raise DataFormatError(
                error.path,
                error.line,
                f"there is a feature beyond the {known} that the model {model} was trained on",
            ) from None
    return ranker, data
