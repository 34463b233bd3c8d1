"""TREC's files, one document a line: readers of runs and judgments (qrels), and the writer of runs."""

import csv
import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structsvm.data.qrels import Qrels
from structsvm.data.run import Run
from structsvm.data.trec_faults import BLANKS, QRELS, RUN, Format, first_fault, is_plain
from structsvm.exceptions import DataFormatError, InputError
from structsvm.files import open_bytes, replacing
from structsvm.settings import as_list, as_path, require_kind

if TYPE_CHECKING:
    import pandas as pd

FilePath: TypeAlias = str | PathLike[str]

_LINES_AT_ONCE = 10_000
_COMMENT = re.compile(rb"^#.*", re.MULTILINE)


def load_run(path: FilePath, *, name: str | None = None) -> Run:
    """Read a run: the documents that a system retrieved, in TREC's format.

    A line is ``<topic> Q0 <document> <rank> <score> <name>``. As in trec_eval, the score alone orders
    the documents: the second column and the rank are ignored, as are further columns, blank lines, and
    lines that begin with ``#``. Parsed by `pandas.read_csv`.

    Parameters
    ----------
    path : the file, plain or gzip.
    name : name of the run. None: the name in the last line of the file.

    Raises
    ------
    InputError : the file does not exist or cannot be read.
    DataFormatError : a line cannot be read, or a document is twice in a topic: the message names file
        and line.

    Examples
    --------
    >>> load_run("input.pircRBa1.gz")  # doctest: +SKIP
    Run('pircRBa1', 100 topics, 100000 documents)
    """
    path = as_path("path", path)
    table = _read(path, RUN)
    tags = table["name"].to_numpy(dtype=object)
    try:
        if not tags.all():
            raise ValueError("a line is too short")
        return Run.from_scores(name or tags[-1], table["topic"], table["document"], _numbers(table, RUN))
    except (ValueError, OverflowError) as error:
        raise _fault(path, RUN, str(error)) from None


def load_runs(folder_or_paths: FilePath | Iterable[FilePath]) -> list[Run]:
    """Read several runs, such as all submissions to a track.

    Parameters
    ----------
    folder_or_paths : the files, plain or gzip; or a folder, all of whose files are read except those
        whose names begin with a dot.

    Returns
    -------
    runs : in the order of the files, in a folder by name.

    Raises
    ------
    InputError : there are no files, or two runs have the same name.
    DataFormatError : as `load_run`.
    """
    files: dict[str, Path] = {}
    runs = []
    for path in run_files(folder_or_paths):
        run = load_run(path)
        if run.name in files:
            raise InputError(
                f"two runs are named {run.name!r}: {files[run.name]} and {path}. The name is the last column of a run: "
                "change it in one of the files, or leave one out"
            )
        files[run.name] = path
        runs.append(run)
    return runs


def run_files(folder_or_paths: FilePath | Iterable[FilePath]) -> list[Path]:
    """Return the files that `load_runs` reads; see there.

    Raises
    ------
    InputError : there are none.
    """
    if not isinstance(folder_or_paths, str | PathLike):
        given = as_list("runs", folder_or_paths, "a folder, or a list of paths")
        paths = [as_path("a path of a run", path) for path in given]
        if not paths:
            raise InputError("the list of runs is empty")
        return paths
    folder = Path(folder_or_paths)
    if not folder.is_dir():
        if folder.exists():
            return [folder]
        raise InputError(f"there is no folder {folder}")
    paths = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    if not paths:
        raise InputError(f"there are no runs in the folder {folder}")
    return paths


def load_qrels(path: FilePath) -> Qrels:
    """Read judgments, in the format of TREC's qrels.

    A line is ``<topic> <iteration> <document> <grade>``. The second column is ignored, as are blank
    lines and lines that begin with ``#``. Grades are whole numbers; above 0 is relevant, below 0 is not
    judged. Parsed by `pandas.read_csv`.

    Parameters
    ----------
    path : the file, plain or gzip.

    Raises
    ------
    InputError : the file does not exist or cannot be read.
    DataFormatError : a line cannot be read, or a document is judged twice for a topic: the message
        names file and line.

    Examples
    --------
    >>> load_qrels("robust03/qrels.txt")  # doctest: +SKIP
    Qrels(100 topics, 122722 of grade 0, 5667 of grade 1, 407 of grade 2)
    """
    path = as_path("path", path)
    table = _read(path, QRELS)
    try:
        return Qrels.from_grades(table["topic"], table["document"], _numbers(table, QRELS))
    except (ValueError, OverflowError) as error:
        raise _fault(path, QRELS, str(error)) from None


def write_run(path: FilePath, qid: ArrayLike, doc_ids: ArrayLike, scores: ArrayLike, tag: str) -> None:
    """Write a ranking as a run that trec_eval reads. The file is written whole or not at all.

    Documents are ranked as by `Run.from_scores`. Scores are written to the precision of float32, in
    which trec_eval 9 compares them: its later versions, which compare what is written, then find the
    same ties.

    Parameters
    ----------
    path : the file, which is replaced if it exists.
    qid : topic of each document, shape (n,); numbers become their text.
    doc_ids : document ids, shape (n,), each once a topic.
    scores : finite scores, larger is ahead, shape (n,). Leave out what was not retrieved.
    tag : name of the run.

    Raises
    ------
    InputError : as `Run.from_scores`; the name, a topic or a document id is empty or has a blank, tab or
        line end in it; or the file cannot be written.
    """
    lines = run_lines(Run.from_scores(tag, qid, doc_ids, scores))
    with replacing(as_path("path", path)) as file:
        file.writelines(lines)


def run_lines(run: Run) -> Iterator[str]:
    """Return a run as text, in pieces of some thousand lines.

    Raises
    ------
    InputError : the name, a topic or a document id is empty or has a blank, tab or line end in it,
        or a topic begins with ``#``.
    """
    topics, first, topic = np.unique(run.qid, return_index=True, return_inverse=True)
    _check_words("the name", [run.name])
    _check_words("the topic", topics.tolist())
    if any(topic.startswith("#") for topic in topics.tolist()):
        raise InputError("a topic begins with '#', which makes its lines comments: give it another name")
    _check_words("the document id", run.doc_ids.tolist())
    rank = np.arange(1, len(run.qid) + 1) - first[topic]
    return _pieces(run, rank.tolist())


def _read(path: Path, form: Format) -> "pd.DataFrame":
    """Read the columns of a file as text. In rows that are too short, the last ones are empty."""
    import pandas as pd

    with open_bytes(path) as file:
        content = file.read().removeprefix(BOM_UTF8)
    if content.startswith(b"#") or b"\n#" in content:
        content = _COMMENT.sub(b"", content)
    try:
        table = pd.read_csv(
            BytesIO(content),
            sep=r"\s+",
            header=None,
            names=form.columns,
            usecols=list(form.columns) if form.open else None,
            dtype=str,
            na_filter=False,
            quoting=csv.QUOTE_NONE,
            low_memory=False,
        )
    except ValueError as error:
        raise _fault(path, form, f"pandas cannot read it: {error}") from None
    if table.empty:
        raise DataFormatError(path, None, f"the file is empty; {form.line}")
    if b"\0" in content or not isinstance(table.index, pd.RangeIndex):  # an index holds columns beyond the last
        raise _fault(path, form, "it is binary, or has too many columns")
    return table


def _numbers(table: "pd.DataFrame", form: Format) -> NDArray[Any]:
    texts: NDArray[np.object_] = table[form.number].to_numpy(dtype=object)
    if not all(map(is_plain, texts)):
        raise ValueError(f"a {form.number} is no number")
    return texts.astype(np.int64 if form.whole else np.float64)


def _fault(path: Path, form: Format, otherwise: str) -> DataFormatError:
    return first_fault(path, form) or DataFormatError(path, None, otherwise)


def _pieces(run: Run, rank: list[int]) -> Iterator[str]:
    for start in range(0, len(rank), _LINES_AT_ONCE):
        piece = slice(start, start + _LINES_AT_ONCE)
        rows = zip(
            run.qid[piece].tolist(),
            run.doc_ids[piece].tolist(),
            rank[piece],
            run.scores[piece].astype(np.float32).astype(np.str_).tolist(),
            strict=True,
        )
        yield "".join(f"{topic} Q0 {document} {place} {score} {run.name}\n" for topic, document, place, score in rows)


def _check_words(what: str, words: Iterable[str]) -> None:
    for word in words:
        require_kind(what, word, str, "text")
        if not word or BLANKS.search(word):
            raise InputError(
                f"{what} {word!r} must have no blank, tab or line end in it, and not be empty, to stand in a run"
            )
