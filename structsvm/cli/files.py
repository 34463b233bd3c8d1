"""What commands read and write: models with LETOR data of the same width, and outputs."""

import gzip
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO
from zipfile import is_zipfile

import click

from structsvm.cli.console import counted, note
from structsvm.cli.data import Columns, read_as_wide
from structsvm.exceptions import InputError, ModelFileError, printable
from structsvm.storage.files import check_writable, errors_naming, replacement, replacing

if TYPE_CHECKING:
    from structsvm.data import RankingData
    from structsvm.serving import Scorer


def read_model(path: Path, *, structural: bool = False) -> Any:
    """Read a ranker of any kind, with all that was fitted.

    Parameters
    ----------
    path : its file.
    structural : whether a structural SVM is read as well: of a loss of the user's own, there is but its text.

    Raises
    ------
    ModelFileError : when it cannot be read, or is of another kind.
    """
    from structsvm.registry import rankers
    from structsvm.serving.kinds import STRUCTURAL, UNNAMED, WHOLE
    from structsvm.serving.reading import class_at, kind_in, scores_no_rows

    kind = kind_in(path)
    if kind in WHOLE and not (structural and kind in STRUCTURAL):
        raise scores_no_rows(path, kind)
    target = (UNNAMED | WHOLE).get(kind)
    found: Any = rankers.find(kind) if target is None else class_at(target)
    return found.load(path)


def read_model_and_data(
    model: Path,
    paths: Sequence[Path],
    *,
    doc_ids: bool = False,
    columns: Columns = Columns(),  # noqa: B008
    labels: bool = True,
    queries: bool = True,
) -> "tuple[Scorer, RankingData]":
    """Read a model to score documents with, and data with its number of features.

    Features beyond the last one in the data are 0, as all features are that a line leaves
    out; a note says so. Tables are read by the names of the features that the model has.

    Parameters
    ----------
    model : file of the ranker.
    paths : files of LETOR's format, or tables.
    doc_ids : whether to read document ids too.
    columns : what is in them.
    labels, queries : whether these must be there.

    Raises
    ------
    ModelFileError : when the model cannot be read.
    DataFormatError : when the data cannot be, or have features that the model does not know.
    """
    from structsvm.serving.reading import load_scorer

    try:
        scorer = load_scorer(model)
    except ModelFileError as error:
        swapped = next((path for path in paths if path.is_file() and is_zipfile(path)), None)
        if swapped is None:
            raise
        raise InputError(f"{error}. {swapped} looks like one: the model comes first, then the data") from error
    known = scorer.n_features

    def few(found: int) -> None:
        has = f"only the first {found}" if found else "none"
        note(f"the model has {counted(known, 'feature')}, the data {has}; the others are taken as 0")

    beyond = f"there is a feature beyond the {known} that the model {model} was trained on"
    return scorer, read_as_wide(
        paths,
        known,
        beyond,
        scorer.feature_names,
        doc_ids=doc_ids,
        few=few,
        columns=columns,
        labels=labels,
        queries=queries or getattr(scorer, "normaliser", None) is not None,
        sparse=None if scorer.takes_sparse else False,
    )


def check_output(output: Path | None) -> None:
    """Make sure that an output can be written, before the work begins; None is standard output.

    Raises
    ------
    InputError : when it cannot be.
    """
    if output is not None and not _special(output):
        check_writable(output)


def write_text(pieces: Iterable[str], output: Path | None) -> None:
    """Write text in pieces to a file, whole or not at all, as gzip if its name ends in .gz; or to standard output.

    Bytes of ids are written as they are, but for what a terminal would act on.
    """
    if output is None:
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
    if _special(output):
        with errors_naming(output), output.open("w", encoding="utf-8", errors="surrogateescape") as file:
            yield file
    elif output.suffix.lower() == ".gz":
        # Neither name nor time is kept in it, so that equal text makes equal files.
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


def _special(output: Path) -> bool:
    """Say whether it is a pipe or a device, which is written to as it comes; it cannot be replaced."""
    return output.exists() and not output.is_file() and not output.is_dir()
