"""The writer of runs in TREC's format."""

from collections.abc import Iterator
from os import PathLike

import numpy as np
from numpy.typing import ArrayLike

from structsvm.data.run import Run
from structsvm.data.words import require_words
from structsvm.exceptions import InputError
from structsvm.settings import as_path
from structsvm.storage.files import replacing

_LINES_AT_ONCE = 10_000


def write_run(path: str | PathLike[str], qid: ArrayLike, doc_ids: ArrayLike, scores: ArrayLike, tag: str) -> None:
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
    InputError : as `Run.from_scores`; the name, a topic or a document id is empty or has a blank, tab,
        line end or NUL in it; or the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from structsvm.data import write_run
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_run(Path(folder) / "my.run", qid=[1, 1], doc_ids=["a", "b"], scores=[0.5, 2.0], tag="my")
    ...     print((Path(folder) / "my.run").read_text(), end="")
    1 Q0 b 1 2.0 my
    1 Q0 a 2 0.5 my
    """
    lines = run_lines(Run.from_scores(tag, qid, doc_ids, scores))
    with replacing(as_path("path", path)) as file:
        file.writelines(lines)


def run_lines(run: Run) -> Iterator[str]:
    """Return a run as text, in pieces of some thousand lines.

    Raises
    ------
    InputError : the name, a topic or a document id is empty or has a blank, tab, line end or NUL in it,
        or a topic begins with ``#``.
    """
    topics, first, topic = np.unique(run.qid, return_index=True, return_inverse=True)
    require_words("the name", [run.name], "a run")
    require_words("the topic", topics.tolist(), "a run")
    if any(topic.startswith("#") for topic in topics.tolist()):
        raise InputError("a topic begins with '#', which makes its lines comments: give it another name")
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
