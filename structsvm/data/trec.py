"""Read TREC's runs and judgments (qrels), and write runs."""

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structsvm.data.blocks import Block, is_plain_number, read_blocks
from structsvm.data.cells import Cells
from structsvm.data.collections import ir_datasets
from structsvm.data.pairs import MOST_CHARACTERS, as_ids, require_words
from structsvm.data.runs import Qrels, Run, mapping_rows
from structsvm.data.trec_faults import (
    QRELS,
    RANK_CHARACTERS,
    RUN,
    LineFormat,
    are_numbers,
    as_grade,
    first_fault,
    form_of,
    other_order,
)
from structsvm.exceptions import DataFormatError, InputError, brief, quoted
from structsvm.foundation.settings import as_path, as_paths, is_integer, require_kind
from structsvm.foundation.storage.archives import parse_json
from structsvm.foundation.storage.files import DATA_SET, replacing
from structsvm.foundation.types import IntVector

FilePath: TypeAlias = str | PathLike[str]

_MOST_BYTES = 4 * MOST_CHARACTERS
"""Largest number of bytes of an id, in UTF-8 and in a vector."""

_LINES_AT_ONCE = 10_000

_JSON = re.compile(rb"""\s*\{\s*(["}]|\Z)""")
_OBJECT = 'a JSON file reads {{"<topic>": {{"<document>": <{}>, ...}}, ...}}'

_LISA = re.compile(rb"\s*Query[ \t]+[0-9]+[ \t\r]*\n")
_ENTRY = re.compile(r"\s*Query\s+(\d+)\s+(\d{1,9})\s+Relevant\s+Refs:\s+((?:\d+\s+)*)-1\s*", re.ASCII)

_COMMENT = re.compile(rb"^#.*", re.MULTILINE)


def load_run(path: FilePath, *, name: str | None = None) -> Run:
    r"""Read a run, that is, the documents that a system retrieved, in TREC's format.

    A line is ``<topic> Q0 <document> <rank> <score> <name>``; or the first line is a header, such as ``query_id doc_id
    score``; or the file is JSON, ``{"<topic>": {"<document>": <score>}}``. As in trec_eval, the score alone orders the
    documents: the second column, the rank, further columns, blank lines and lines that begin with ``#`` are ignored.
    The file is read once, so it may be a pipe; ``/dev/stdin`` is standard input.

    Parameters
    ----------
    path : the file, plain or compressed.
    name : name of the run. None: the name in the last line of the file, or else the file name without its ending.

    Raises
    ------
    DataFormatError : a line is not valid, or a topic has a document twice; the message names file and line.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("bm25.run").write_text("301 Q0 d1 1 9.5 bm25\n301 Q0 d2 2 7.5 bm25\n302 Q0 d1 1 3.0 bm25\n")
    >>> load_run("bm25.run")
    Run('bm25', 2 topics, 3 documents)
    """
    require_kind("name", name, str | None, "text or None")
    lines = _read(as_path("path", path), RUN)
    try:
        return Run.from_scores(name or lines.name, lines.topics, lines.documents, lines.numbers)
    except InputError as error:
        raise _repeated(lines) or DataFormatError(lines.path, None, str(error)) from None


def load_runs(folder_or_paths: FilePath | Iterable[FilePath]) -> list[Run]:
    r"""Read several runs with distinct names, such as all submissions to a track.

    Parameters
    ----------
    folder_or_paths : the files, plain or compressed; or a folder, whose files are read in the order of their names,
        except files that begin with a dot.

    Raises
    ------
    DataFormatError : as `load_run`.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("bm25.run").write_text("1 Q0 a 1 0.9 bm25\n1 Q0 b 2 0.5 bm25\n")
    >>> [run.name for run in load_runs(["bm25.run"])]
    ['bm25']
    """
    files: dict[str, Path] = {}
    runs = []
    for path in run_files(folder_or_paths):
        run = load_run(path)
        if run.name in files:
            raise InputError(
                f"two runs are named {run.name!r}: {files[run.name]} and {path}. Change the last column of one file, "
                "or leave one out"
            )
        files[run.name] = path
        runs.append(run)
    return runs


def run_files(folder_or_paths: FilePath | Iterable[FilePath]) -> list[Path]:
    """Return the files that `load_runs` reads."""
    if not isinstance(folder_or_paths, str | PathLike):
        return as_paths("runs", folder_or_paths)
    folder = as_path("runs", folder_or_paths)
    if not folder.is_dir():
        if folder.exists():
            return [folder]
        raise InputError(f"there is no folder {folder}")
    paths = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    if not paths:
        raise InputError(f"the folder {folder} has no runs")
    return paths


def load_qrels(path: FilePath, grades: Mapping[int, int] | None = None) -> Qrels:
    r"""Read judgments in the format of TREC's qrels.

    A line is ``<topic> <iteration> <document> <grade>``; or every line is ``<topic> <document> <grade>``, if the first
    line has three columns; or the first line is a header, as BEIR's ``query-id corpus-id score``; or the file is JSON,
    ``{"<topic>": {"<document>": <grade>}}``. The iteration, blank lines and lines that begin with ``#`` are ignored.
    Grades are whole numbers; above 0 is relevant, below 0 is not judged. Pipes work as in `load_run`.

    Lines in the order of SMART, ``<topic> <document> 0 0``, as in CACM and CISI, list relevant documents. Their ids are
    numbers, so leading zeros are dropped. A warning reports this order. LISA's own form is read as well: ``Query 1``,
    ``2 Relevant Refs:``, documents, ``-1``.

    Parameters
    ----------
    path : the file, plain or compressed; or ``ir_datasets:NAME``, the judgments of a data set of that package.
    grades : new grade for each grade in the file, such as ``{1: 4, 2: 3, 3: 2, 4: 1, 5: 0, -1: 0}`` for Cranfield,
        whose best grade is 1. None: grades do not change.

    Raises
    ------
    DataFormatError : a line is not valid, a document is judged twice for a topic, the columns seem to be in another
        order, or a grade is not among `grades`; the message names file and line.
    NotInstalledError : ``ir_datasets:`` without that package.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("qrels.txt").write_text("301 0 d1 1\n301 0 d2 2\n302 0 d1 2\n302 0 d3 0\n")
    >>> load_qrels("qrels.txt", grades={0: 0, 1: 2, 2: 1})  # grade 1 is the best in this file
    Qrels(2 topics, 1 of grade 0, 2 of grade 1, 1 of grade 2)
    """
    meaning = None if grades is None else _as_grades(grades)
    if isinstance(path, str) and path.startswith(DATA_SET):
        return _of_data_set(path, meaning)
    lines = _read(as_path("path", path), QRELS)
    if lines.is_smart:
        lines = _reordered(lines)
        meaning = {0: 1} if meaning is None else meaning
    if len(lines.documents) > 1 and (lines.documents == lines.documents[0]).all():
        _require_order(lines)
    numbers = lines.numbers if meaning is None else _translated(lines, meaning)
    try:
        return Qrels.from_grades(lines.topics, lines.documents, numbers)
    except InputError as error:
        _require_order(lines)
        raise _repeated(lines) or DataFormatError(lines.path, None, str(error)) from None


def write_run(path: str | PathLike[str], qid: ArrayLike, doc_ids: ArrayLike, scores: ArrayLike, tag: str) -> None:
    """Write a ranking atomically, as a run that trec_eval reads.

    Documents are ranked as by `Run.from_scores`. Scores have the precision of float32, in which trec_eval 9 compares
    scores. Later versions compare the written digits, and thus find the same ties.

    Parameters
    ----------
    path : the file, which is replaced if it exists.
    qid, doc_ids, scores : as for `Run.from_scores`, ids without blanks; leave out documents that were not retrieved.
    tag : name of the run, without blanks.

    Examples
    --------
    >>> from pathlib import Path
    >>> write_run("my.run", qid=[1, 1], doc_ids=["a", "b"], scores=[0.5, 2.0], tag="my")
    >>> print(Path("my.run").read_text(), end="")
    1 Q0 b 1 2.0 my
    1 Q0 a 2 0.5 my
    """
    lines = run_lines(Run.from_scores(tag, qid, doc_ids, scores))
    with replacing(as_path("path", path)) as file:
        file.writelines(lines)


def run_lines(run: Run) -> Iterator[str]:
    """Yield a run as text, in pieces of some thousand lines; raise InputError for ids that a run cannot contain."""
    topics, first, topic = np.unique(run.qid, return_index=True, return_inverse=True)
    require_words("the name", [run.name], "a run")
    require_words("the topic", topics.tolist(), "a run")
    if any(topic.startswith("#") for topic in topics.tolist()):
        raise InputError("a topic begins with '#', which makes its lines comments: rename it")
    require_words("the document id", run.doc_ids.tolist(), "a run")
    rank = np.arange(1, len(run.qid) + 1) - first[topic]
    return _pieces(run, rank.tolist())


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


def _reordered(lines: "_Lines") -> "_Lines":
    """Return judgments in SMART's order as lines in TREC's order, without leading zeros; warn about it."""
    topics, documents = lines.topics.tolist(), lines.second.tolist()
    zeros = ", and leading zeros of ids do not count (01 is 1)"
    padded = any(name.startswith("0") for name in (*topics, *documents))
    warnings.warn(
        f"{lines.path} has SMART's columns, topic, document, 0 and 0: its {len(topics)} documents are relevant"
        f"{zeros * padded}",
        stacklevel=3,
    )
    topics, documents = ([name.lstrip("0") or "0" for name in names] for names in (topics, documents))
    return lines._replace(topics=np.array(topics), documents=np.array(documents), second=lines.documents)


def _require_order(lines: "_Lines") -> None:
    """Raise DataFormatError if the columns of judgments seem to be in another order."""
    if not len(lines.second):
        return
    problem = other_order(
        lines.topics.tolist(), lines.second.tolist(), lines.documents.tolist(), lines.numbers.tolist()
    )
    if problem is not None:
        raise DataFormatError(lines.path, int(lines.number[0]), problem)


def _as_grades(grades: Mapping[int, int]) -> dict[int, int]:
    words = "a mapping from each grade in the file to a new whole number, such as {1: 2, 2: 1, 3: 0}"
    require_kind("grades", grades, Mapping, words)
    if not grades:
        raise InputError(f"grades must be {words}, got {brief(grades)}")
    for pair in grades.items():
        if not all(is_integer(grade) and -(2**63) <= grade < 2**63 for grade in pair):
            raise InputError(f"grades must be {words}, got {brief(pair[0])}: {pair[1]!r}")
    return {int(one): int(other) for one, other in grades.items()}


def _translated(lines: "_Lines", meaning: dict[int, int]) -> IntVector:
    distinct, first, place = np.unique(lines.numbers, return_index=True, return_inverse=True)
    unknown = [row for grade, row in zip(distinct.tolist(), first.tolist(), strict=True) if grade not in meaning]
    if unknown:
        row = min(unknown)
        raise DataFormatError(
            lines.path, int(lines.number[row]) or None, _without_meaning(int(lines.numbers[row]), meaning)
        )
    return np.array([meaning[grade] for grade in distinct.tolist()], dtype=np.int64)[place]


def _without_meaning(grade: int, meaning: dict[int, int]) -> str:
    return f"grade {grade} is missing in grades, which maps {', '.join(map(str, sorted(meaning)))}: add it"


def _of_data_set(source: str, meaning: dict[int, int] | None) -> Qrels:
    rows = ir_datasets.judgments(source.removeprefix(DATA_SET))
    if not rows:
        raise InputError(f"{source} has no judgments")
    if meaning is not None:
        unknown = next((grade for _, _, grade in rows if grade not in meaning), None)
        if unknown is not None:
            raise InputError(f"{source}: {_without_meaning(unknown, meaning)}")
        rows = [(topic, document, meaning[grade]) for topic, document, grade in rows]
    try:
        return Qrels.from_grades(*(list(column) for column in zip(*rows, strict=True)))
    except InputError as error:
        raise InputError(f"{source}: {error}") from None


class _Lines(NamedTuple):
    """Columns of the lines that are neither blank nor comments.

    ``number``, shape (n,), counts lines from 1, and is 0 in a file without lines. ``second`` is the second of four
    columns of judgments, and otherwise empty.
    """

    path: Path
    number: IntVector
    topics: NDArray[np.str_]
    documents: NDArray[np.str_]
    numbers: NDArray[Any]
    second: NDArray[np.str_]
    name: str

    @property
    def is_smart(self) -> bool:
        """True for judgments in SMART's order: topic, document, 0 and 0; documents are numbered from 1."""
        if not len(self.second) or (self.documents != "0").any() or self.numbers.any():
            return False
        second = self.second.tolist()
        return are_numbers(second) and are_numbers(self.topics.tolist()) and all(name.strip("0") for name in second)


def _read(path: Path, form: LineFormat) -> _Lines:
    try:
        with closing(read_blocks(path)) as blocks:
            parts: list[_Lines] = []
            for block in blocks:
                if not parts and form in (RUN, QRELS):
                    if _JSON.match(block.content):
                        return _of_json(path, b"".join([block.content, *(more.content for more in blocks)]), form)
                    if form is QRELS and _LISA.match(block.content):
                        return _of_lisa(path, b"".join([block.content, *(more.content for more in blocks)]))
                    form, block = form_of(block, form)
                part = _parse(block, form)
                if part is not None:
                    parts.append(part)
    except MemoryError:
        raise InputError(f"{path} cannot be read: there is not enough memory") from None
    if not parts:
        raise DataFormatError(path, None, f"the file is empty; {form.line}")
    numbers, topics, documents, values, second = (
        np.concatenate(pieces) for pieces in zip(*(part[1:-1] for part in parts), strict=True)
    )
    return _Lines(path, numbers, topics, documents, values, second, parts[-1].name)


def _parse(block: Block, form: LineFormat) -> _Lines | None:
    """Parse a block; return None if it has only blank lines and comments."""
    content = block.content
    if content.startswith(b"#") or b"\n#" in content:
        content = _COMMENT.sub(b"", content)
    cells = Cells(content)
    if not len(cells.line):
        return None
    topic, document, number = (form.columns.index(name) for name in ("topic", "document", form.number))
    columns = len(form.columns)
    rank = form.columns.index("rank") if "rank" in form.columns else None
    try:
        if not content.isascii():
            # Even unused columns must be UTF-8.
            content.decode()
        if not ((cells.count >= columns) if form.open else (cells.count == columns)).all():
            raise ValueError("a line has too few columns, or too many")
        if max(cells.lengths(topic).max(), cells.lengths(document).max()) > _MOST_BYTES:
            raise ValueError("an id is too long")
        if rank is not None and not cells.has_only(rank, RANK_CHARACTERS):
            raise ValueError("a rank is not a number")
        if any(is_plain_number(cells.text(row, columns - 1)) for row in np.flatnonzero(cells.count > columns).tolist()):
            raise ValueError("a line has a number after the score, and further columns")
        topics, documents = cells.texts(topic), cells.texts(document)
        if max(topics.itemsize, documents.itemsize) > _MOST_BYTES:
            raise ValueError("an id is too long")
        numbers = _numbers(cells, number, form)
        words = form is QRELS and cells.lengths(1).max() <= _MOST_BYTES
        second = cells.texts(1) if words else np.empty(0, np.str_)
        name = cells.text(-1, form.columns.index("name")) if "name" in form.columns else block.path.stem
    except (ValueError, OverflowError) as error:
        raise first_fault(block, form) or block.fault(0, f"this line or a later one cannot be read: {error}") from None
    return _Lines(block.path, block.line + cells.line, topics, documents, numbers, second, name)


def _of_json(path: Path, content: bytes, form: LineFormat) -> _Lines:
    try:
        topics, documents, numbers = mapping_rows(parse_json(content.decode()), "the JSON object", form.number)
        ids = as_ids(topics, "the topics"), as_ids(documents, "the documents")
    except ValueError as error:
        raise DataFormatError(path, None, f"{error}; {_OBJECT.format(form.number)}") from None
    return _Lines(path, np.zeros(len(topics), np.int64), *ids, np.array(numbers), np.empty(0, np.str_), path.stem)


def _of_lisa(path: Path, content: bytes) -> _Lines:
    text, at = content.decode(errors="replace"), 0
    rows = list[tuple[int, str, str]]()
    while at < len(text):
        entry, line = _ENTRY.match(text, at), 1 + text.count("\n", 0, at)
        documents = entry[3].split() if entry else []
        if entry is None or len(documents) != int(entry[2]):
            raise DataFormatError(
                path,
                line,
                "LISA's judgments read 'Query <topic>', '<number> Relevant Refs:', as many documents, and -1, got "
                f"{quoted(text[at:])}",
            )
        rows += [(line, entry[1], document) for document in documents]
        at = entry.end()
    if not rows:
        raise DataFormatError(path, None, "no query has relevant documents")
    numbers, topics, ids = (np.array(column) for column in zip(*rows, strict=True))
    return _Lines(path, numbers, topics, ids, np.ones(len(rows), np.int64), np.empty(0, np.str_), path.stem)


def _numbers(cells: Cells, column: int, form: LineFormat) -> NDArray[Any]:
    if form.whole:
        try:
            return cells.numbers(column, np.int64)
        except ValueError:
            texts = [cells.text(row, column) for row in range(len(cells.line))]
            if not all(map(is_plain_number, texts)):
                raise
            return np.array([as_grade(text) for text in texts], dtype=np.int64)
    numbers = cells.numbers(column, np.float64)
    if not np.isfinite(numbers).all():
        raise ValueError(f"a {form.number} is not finite")
    return numbers


def _repeated(lines: _Lines) -> DataFormatError | None:
    """Return the error of the first line that repeats a document of its topic, or None."""
    seen: dict[tuple[str, str], int] = {}
    for topic, document, number in zip(
        lines.topics.tolist(), lines.documents.tolist(), lines.number.tolist(), strict=True
    ):
        first = seen.setdefault((topic, document), number)
        if first != number:
            problem = f"document {quoted(document)} is in topic {quoted(topic)} twice, first in line {first}"
            return DataFormatError(lines.path, number, f"{problem}; leave one out")
    return None
