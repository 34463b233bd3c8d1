"""Joining runs: the scores that several runs gave the same documents, side by side."""

from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from structsvm.data.pairs import number_pairs, sort_topics
from structsvm.data.run import Run
from structsvm.exceptions import InputError
from structsvm.types import IntVector, Matrix


@frozen(eq=False, repr=False)
class JoinedRuns:
    """The documents that any of several runs retrieved for a topic, without judgments. Made by `join_runs`.

    Rows are ordered as in a `Pool`: by topic and by document id, descending.

    Parameters
    ----------
    X : score of each document in each run, shape (n, number of runs); NaN where the run did not
        retrieve the document.
    qid : topic of each document, shape (n,).
    doc_ids : document ids, shape (n,).
    run_names : names of the runs, in the order of the columns.
    """

    X: Matrix
    qid: NDArray[np.str_]
    doc_ids: NDArray[np.str_]
    run_names: tuple[str, ...]

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics, in the order of the rows."""
        return sort_topics(np.unique(self.qid).tolist())

    def __repr__(self) -> str:
        return f"JoinedRuns({len(self.topics)} topics, {len(self.qid)} documents, {len(self.run_names)} runs)"


def join_runs(runs: Sequence[Run], *, depth: int = 1000, topics: Iterable[str | int] | None = None) -> JoinedRuns:
    """Join runs: the documents of a topic are those that any run has among its first `depth`.

    What `pool_runs` does where there are judgments.

    Parameters
    ----------
    runs : the runs, each of a name of its own.
    depth : how many documents of a run are taken for a topic, the best ones, at least 1.
    topics : the topics that are asked for. None: all of the runs.

    Raises
    ------
    InputError : there are no runs, two have the same name, `depth` or `topics` is not what it should
        be, or the runs have none of the topics.

    Examples
    --------
    >>> from structsvm.data import Run, join_runs
    >>> one = Run.from_scores("one", qid=[7, 7], doc_ids=["x", "y"], scores=[2.0, 1.0])
    >>> two = Run.from_scores("two", qid=[7], doc_ids=["y"], scores=[0.5])
    >>> joined = join_runs([one, two])
    >>> joined
    JoinedRuns(1 topics, 2 documents, 2 runs)
    >>> joined.X
    array([[1. , 0.5],
           [2. , nan]])
    """
    asked, runs = as_topics(topics), as_runs(runs)
    tops = first_documents(runs, depth, asked)
    pairs = number_pairs(
        np.concatenate([top.qid.astype(object) for top in tops]),
        np.concatenate([top.doc_ids.astype(object) for top in tops]),
    )
    if len(pairs.key) == 0:
        raise InputError(f"no run has any of the {len(asked or ())} topics that are asked for")
    key, X = score_matrix(tops, pairs.key)
    return JoinedRuns(X, pairs.qid(key), pairs.doc_ids(key), tuple(run.name for run in runs))


def as_runs(runs: Any) -> list[Run]:
    """Return runs as a list.

    Raises
    ------
    InputError : they are one run, or something else.
    """
    if isinstance(runs, Run):
        raise InputError(f"runs must be a list of runs, such as [run, other], got one run, {runs.name!r}")
    if isinstance(runs, str) or not isinstance(runs, Iterable):
        raise InputError(f"runs must be a list of runs, such as load_runs returns, got {runs!r}")
    listed = list(runs)
    for number, run in enumerate(listed):
        if not isinstance(run, Run):
            raise InputError(f"runs must be Runs, such as load_run(path) returns, but runs[{number}] is {run!r}")
    return listed


def as_topics(topics: Iterable[str | int] | None) -> set[str] | None:
    """Return the topics that are asked for as text; None: all.

    Raises
    ------
    InputError : they are one text.
    """
    if isinstance(topics, str):
        raise InputError(f"topics must be a list of topics, such as [{topics!r}]")
    return None if topics is None else {str(topic) for topic in topics}


def first_documents(runs: Sequence[Run], depth: int, topics: set[str] | None) -> list[Run]:
    """Return the best documents of each run, for some topics or for all.

    Raises
    ------
    InputError : there are no runs, two have the same name, or `depth` is not a whole number of at least 1.
    """
    names = [run.name for run in runs]
    if not names:
        raise InputError("there are no runs to pool")
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"two runs are named {twice[0]!r}: load_run(path, name=...) gives one of them another name")
    if not isinstance(depth, Integral) or isinstance(depth, bool) or depth < 1:
        raise InputError(f"depth must be a whole number of at least 1; it is {depth!r}")
    return [_first(run, depth, topics) for run in runs]


def score_matrix(tops: Sequence[Run], key: IntVector) -> tuple[IntVector, Matrix]:
    """Return the documents of all runs, ascending, and the score of each in each run, NaN where it has none.

    Parameters
    ----------
    tops : the runs.
    key : number of each document, one run after the other.
    """
    sizes = [len(top.qid) for top in tops]
    documents, row = np.unique(key, return_inverse=True)
    X = np.full((len(documents), len(tops)), np.nan)
    X[row, np.repeat(np.arange(len(tops)), sizes)] = np.concatenate([top.scores for top in tops])
    return documents, X


def _first(run: Run, depth: int, topics: set[str] | None) -> Run:
    starts = np.flatnonzero(np.concatenate([[True], run.qid[1:] != run.qid[:-1]]))
    sizes = np.diff(starts, append=len(run.qid))
    wanted = np.array([topics is None or topic in topics for topic in run.qid[starts].tolist()], dtype=np.bool_)
    rank = np.arange(len(run.qid)) - np.repeat(starts, sizes)
    rows = np.repeat(wanted, sizes) & (rank < depth)
    return Run(run.name, run.qid[rows], run.doc_ids[rows], run.scores[rows])
