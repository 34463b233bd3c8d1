"""Pooling: the union of the documents that several runs retrieved."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from structsvm.data.joining import as_runs, as_topics, first_documents, score_matrix
from structsvm.data.pairs import number_pairs, sort_topics
from structsvm.data.pool import Pool
from structsvm.data.qrels import Qrels, find_grades
from structsvm.data.run import Run
from structsvm.data.trec import FilePath, load_qrels, load_runs
from structsvm.exceptions import InputError
from structsvm.types import Vector


def load_pool(
    runs: FilePath | Iterable[FilePath],
    qrels: FilePath,
    *,
    depth: int = 1000,
    topics: Iterable[str | int] | None = None,
) -> Pool:
    """Read runs and judgments, and pool the runs.

    Parameters
    ----------
    runs : a folder of runs, or files; see `load_runs`.
    qrels : file of the judgments; see `load_qrels`.
    depth, topics : see `pool_runs`.

    Raises
    ------
    InputError : as `load_runs`, `load_qrels` and `pool_runs`.

    Examples
    --------
    >>> load_pool("robust03/runs", "robust03/qrels.txt", topics=range(601, 651))  # doctest: +SKIP
    Pool(50 topics, 208175 documents, 17 runs)
    """
    judgments = load_qrels(qrels)
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
    """
    asked, runs = as_topics(topics), as_runs(runs)
    tops = first_documents(runs, depth, asked)
    judgments = _of_topics(qrels, asked)
    parts: list[Run | Qrels] = [*tops, judgments]
    pairs = number_pairs(
        np.concatenate([part.qid.astype(object) for part in parts]),
        np.concatenate([part.doc_ids.astype(object) for part in parts]),
    )
    retrieved = sum(len(top.qid) for top in tops)
    key, X = score_matrix(tops, pairs.key[:retrieved])
    y = find_grades(key, pairs.key[retrieved:], judgments.grades)
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
