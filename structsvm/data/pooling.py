"""Joining and pooling runs: the scores that several runs gave the same documents, side by side."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structsvm.data.dataset import JoinedRuns, Pool
from structsvm.data.pairs import number_pairs, sort_topics
from structsvm.data.qrels import Qrels, find_grades, unjudged_as_zero
from structsvm.data.run import Run
from structsvm.data.trec import FilePath, load_qrels, load_runs
from structsvm.exceptions import InputError
from structsvm.settings import as_list, repeated, require_integer, require_kind
from structsvm.types import IntVector, Matrix, Vector


def load_pool(
    runs: FilePath | Iterable[FilePath],
    qrels: FilePath,
    *,
    depth: int = 1000,
    topics: Iterable[str | int] | None = None,
    grades: Mapping[int, int] | None = None,
) -> Pool:
    r"""Read runs and judgments, and pool the runs.

    Parameters
    ----------
    runs : a folder of runs, or files; see `load_runs`.
    qrels : file of the judgments; see `load_qrels`.
    depth, topics : see `pool_runs`.
    grades : new grades for those in the judgments; see `load_qrels`.

    Raises
    ------
    InputError : as `load_runs`, `load_qrels` and `pool_runs`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from structsvm.data import load_pool
    >>> _ = Path("qrels.txt").write_text("301 0 d1 1\n302 0 d3 1\n")
    >>> for name in ("one.run", "two.run"):
    ...     _ = Path(name).write_text(f"301 Q0 d1 1 2.0 {name}\n301 Q0 d2 2 1.0 {name}\n302 Q0 d3 1 1.0 {name}\n")
    >>> load_pool(["one.run", "two.run"], "qrels.txt", topics=range(301, 351))
    Pool(2 topics, 3 documents, 2 runs)
    """
    judgments = load_qrels(qrels, grades)
    return pool_runs(load_runs(runs), judgments, depth=depth, topics=topics)


def pool_runs(
    runs: Sequence[Run], qrels: Qrels, *, depth: int = 1000, topics: Iterable[str | int] | None = None
) -> Pool:
    """Pool runs: the documents of a topic are those that any run has among its first `depth`.

    Documents that were not judged are not relevant. Topics of which no relevant document is in the
    pool, or which only the runs or only the judgments know, are left out; `Pool.left_out` names them.
    The pool of section 4 of Yue, Finley, Radlinski and Joachims (SIGIR 2007), with its depth of 1000.

    Parameters
    ----------
    runs : the runs, each of a name of its own.
    qrels : the judgments.
    depth : how many documents of a run are taken for a topic, the best ones, at least 1.
    topics : the topics that are asked for. None: all of the runs and of the judgments.

    Raises
    ------
    InputError : there are no runs, two have the same name, `depth` or `topics` is not what it should
        be, or no topic is left.

    Examples
    --------
    >>> from structsvm.data import Qrels, Run, pool_runs
    >>> found = {"one": ["a", "b"], "two": ["b", "c"]}
    >>> runs = [Run.from_scores(name, [1, 1], ids, [2.0, 1.0]) for name, ids in found.items()]
    >>> pool = pool_runs(runs, Qrels.from_grades([1, 1], ["a", "c"], [1, 0]))
    >>> pool.X.shape
    (3, 2)
    """
    asked, runs = _as_topics(topics), _as_runs(runs)
    tops = _first_documents(runs, depth, asked)
    require_kind("qrels", qrels, Qrels, "Qrels, such as load_qrels returns")
    judgments = _of_topics(qrels, asked)
    parts: list[Run | Qrels] = [*tops, judgments]
    pairs = number_pairs(
        np.concatenate([part.qid for part in parts]),
        np.concatenate([part.doc_ids for part in parts]),
    )
    retrieved = sum(len(top.qid) for top in tops)
    key, X = _score_matrix(tops, pairs.key[:retrieved])
    y = unjudged_as_zero(find_grades(key, pairs.key[retrieved:], judgments.grades))
    qid = pairs.qid(key)
    left_out = _reasons(pairs.topics.tolist() if asked is None else sort_topics(asked), qid, y, judgments)
    kept = ~np.isin(qid, list(left_out))
    if not kept.any():
        raise InputError(f"no topic is left for the pool: {_some(left_out) or 'no topics were asked for'}")
    return Pool(
        X=X[kept],
        y=y[kept],
        qid=qid[kept],
        doc_ids=pairs.doc_ids(key[kept]),
        run_names=tuple(run.name for run in runs),
        qrels=_of_topics(judgments, set(qid[kept].tolist())),
        left_out=left_out,
    )


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
    asked, runs = _as_topics(topics), _as_runs(runs)
    tops = _first_documents(runs, depth, asked)
    pairs = number_pairs(
        np.concatenate([top.qid for top in tops]),
        np.concatenate([top.doc_ids for top in tops]),
    )
    if len(pairs.key) == 0:
        raise InputError(f"no run has any of the {len(asked or ())} topics that are asked for")
    key, X = _score_matrix(tops, pairs.key)
    return JoinedRuns(X, pairs.qid(key), pairs.doc_ids(key), tuple(run.name for run in runs))


def _as_runs(runs: Any) -> list[Run]:
    """Return runs as a list.

    Raises
    ------
    InputError : they are one run, or something else.
    """
    if isinstance(runs, Run):
        raise InputError(f"runs must be a list of runs, such as [run, other], got one run, {runs.name!r}")
    if isinstance(runs, str) or not isinstance(runs, Iterable):
        raise InputError(f"runs must be a list of runs, such as load_runs returns, got {runs!r}")
    listed = as_list("runs", runs, "a list of runs")
    for number, run in enumerate(listed):
        if not isinstance(run, Run):
            raise InputError(f"runs must be Runs, such as load_run(path) returns, but runs[{number}] is {run!r}")
    return listed


def _as_topics(topics: Iterable[str | int] | None) -> set[str] | None:
    """Return the topics that are asked for as text; None: all.

    Raises
    ------
    InputError : they are one text.
    """
    if isinstance(topics, str):
        raise InputError(f"topics must be a list of topics, such as [{topics!r}]")
    return None if topics is None else {str(topic) for topic in as_list("topics", topics, "a list of topics")}


def _first_documents(runs: Sequence[Run], depth: int, topics: set[str] | None) -> list[Run]:
    """Return the best documents of each run, for some topics or for all.

    Raises
    ------
    InputError : there are no runs, two have the same name, or `depth` is not an integer of at least 1.
    """
    names = [run.name for run in runs]
    if not names:
        raise InputError("there are no runs to pool")
    twice = repeated(names)
    if twice is not None:
        raise InputError(f"two runs are named {twice!r}: load_run(path, name=...) gives one of them another name")
    require_integer("depth", depth, 1)
    return [_first(run, depth, topics) for run in runs]


def _score_matrix(tops: Sequence[Run], key: IntVector) -> tuple[IntVector, Matrix]:
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
    starts = np.flatnonzero(np.concatenate([[True], run.qid[1:] != run.qid[:-1]])[: len(run.qid)])
    sizes = np.diff(starts, append=len(run.qid))
    wanted = np.array([topics is None or topic in topics for topic in run.qid[starts].tolist()], dtype=np.bool_)
    rank = np.arange(len(run.qid)) - np.repeat(starts, sizes)
    rows = np.repeat(wanted, sizes) & (rank < depth)
    return Run(run.name, run.qid[rows], run.doc_ids[rows], run.scores[rows])


def _of_topics(qrels: Qrels, topics: set[str] | None) -> Qrels:
    """Return the judgments for some topics, or for all."""
    if topics is None:
        return qrels
    rows = np.isin(qrels.qid, list(topics))
    return Qrels(qrels.qid[rows], qrels.doc_ids[rows], qrels.grades[rows])


def _reasons(topics: Iterable[str], qid: NDArray[np.str_], y: Vector, judgments: Qrels) -> dict[str, str]:
    """Say why topics are left out: those without a relevant document among the documents (qid, y)."""
    pooled, judged = set(qid.tolist()), set(judgments.qid.tolist())
    found = set(qid[y > 0].tolist())
    relevant = Counter(judgments.qid[judgments.grades > 0].tolist())
    return {topic: _reason(topic, pooled, judged, relevant[topic]) for topic in topics if topic not in found}


def _reason(topic: str, pooled: set[str], judged: set[str], relevant: int) -> str:
    if topic not in pooled:
        return "no run has it" if topic in judged else "no run has it and it is not judged"
    if topic not in judged:
        return "it is not judged"
    if relevant == 0:
        return "no document is judged relevant"
    return f"the runs retrieved no relevant document, of {relevant} that were judged"


def _some(left_out: dict[str, str]) -> str:
    shown = [f"{topic}, since {reason}" for topic, reason in list(left_out.items())[:3]]
    return "; ".join(shown) + (f"; and {len(left_out) - 3} more" if len(left_out) > 3 else "")
