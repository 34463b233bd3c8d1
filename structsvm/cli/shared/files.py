"""Read models with data of the same width, and write outputs."""

import gzip
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, TextIO
from zipfile import is_zipfile

import click

from structsvm.cli.shared.console import note
from structsvm.cli.shared.data import Columns, read_as_wide
from structsvm.cli.shared.paths import is_special
from structsvm.exceptions import InputError, ModelFileError, counted, printable
from structsvm.foundation.storage.files import errors_naming, replacement, replacing

if TYPE_CHECKING:
    from structsvm.data import RankingData
    from structsvm.models import TrainedModel


def read_model_and_data(
    model: Path,
    paths: Sequence[Path],
    *,
    columns: Columns,
    doc_ids: bool | None = False,
    labels: bool = True,
    queries: bool = True,
) -> "tuple[TrainedModel, RankingData]":
    """Read a model, and data with its features; missing features at the end are 0, with a note."""
    from structsvm.loading import load_model
    from structsvm.models.joint import JointModel

    try:
        scorer = load_model(model)
    except ModelFileError as error:
        swapped = next((path for path in paths if path.is_file() and is_zipfile(path)), None)
        if swapped is None:
            raise
        raise InputError(f"{error}. {swapped} looks like one: the model comes first, then the data") from error
    if isinstance(scorer, JointModel):
        raise ModelFileError(
            f"{model}: this file contains a {scorer.title}: read it with {scorer.title}.load in Python, or show its "
            "weights with structsvm show"
        )
    width = scorer.n_features
    trained = scorer.training.trained
    zero_based = None if trained is None else trained.zero_based

    def few(count: int) -> None:
        has = f"only the first {count}" if count else "no features"
        unknown = zero_based is columns.zero_based is None
        hint = ". If its training data were read with zero_based=True, add --zero-based" if unknown else ""
        note(f"the model has {counted(width, 'feature')}, the data {has}; missing features are 0{hint}")

    counted_from = ", counted from 0 as in its training files (see --one-based)" if zero_based else ""
    beyond = f"there is a feature beyond the {width} that the model {model} was trained on{counted_from}"
    return scorer, read_as_wide(
        paths,
        width,
        beyond,
        scorer.feature_names,
        categories=scorer.categories,
        doc_ids=doc_ids,
        few=few,
        columns=columns,
        zero_based=zero_based,
        labels=labels,
        queries=queries or scorer.by_query,
        sparse=None if scorer.takes_sparse else False,
    )


def note_drift(model: "TrainedModel", data: "RankingData", *, always: bool = False) -> None:
    """Print a note if features have drifted since the training, or in any case if ``always``."""
    from structsvm.models.drift import ARRAYS

    if always or set(ARRAYS) <= set(model.training.arrays):
        checked = model.check(data.X, data.qid if len(data.qid) == len(data.y) else None)
        if always or len(checked.drifted):
            for line in str(checked).split("\n"):
                note(line)


def is_standard_output(path: Path) -> bool:
    """Return whether a path stands for standard output."""
    return str(path) in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


def write_text(pieces: Iterable[str], output: Path | None) -> None:
    """Write text to standard output, or atomically to a file, as gzip if its name ends in .gz."""
    if output is None or is_standard_output(output):
        shown = sys.stdout.isatty()
        for text in pieces:
            if shown:
                text = "\n".join(map(printable, text.split("\n")))
            click.echo(text.encode("utf-8", "surrogateescape"), nl=False)
        return
    with _opened(output) as file:
        file.writelines(pieces)


@contextmanager
def _opened(output: Path) -> Iterator[TextIO]:
    if is_special(output):
        # A stream that a shell opened with >> leads to a file whose content must stay.
        with errors_naming(output), output.open("a", encoding="utf-8", errors="surrogateescape") as file:
            yield file
    elif output.suffix.lower() == ".gz":
        # The gzip header has no name and no time, so that equal texts give equal files.
        with (
            replacement(output) as temporary,
            temporary.open("wb") as raw,
            gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as zipped,
            TextIOWrapper(zipped, encoding="utf-8", errors="surrogateescape") as file,
        ):
            yield file
    else:
        with replacing(output) as file:
            yield file
