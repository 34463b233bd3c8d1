"""Fusion of TREC runs."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from structsvm.data import Qrels, Run, join_runs
from structsvm.exceptions import InputError
from structsvm.fusion.base import Fusion
from structsvm.fusion.methods import fusion_method
from structsvm.settings import require_integer, require_kind
from structsvm.types import Vector


def fuse_runs(
    runs: Sequence[Run],
    method: str | Fusion,
    *,
    depth: int = 1000,
    length: int | None = 1000,
    name: str | None = None,
    topics: Iterable[str | int] | None = None,
    qrels: Qrels | None = None,
) -> Run:
    """Combine several runs into one, as `structsvm fuse` does.

    The candidates of a topic are the documents that any run has among its first `depth`. A run that
    lacks a topic counts there as one that retrieved nothing.

    Parameters
    ----------
    runs : the runs, each of a name of its own.
    method : name of the method ("comb-mnz", "borda", ...), or an object with settings, as in ``CombMNZ("z")``.
    depth : how many documents of a run are taken for a topic, the best ones, at least 1.
    length : how many documents the fused run has for a topic, at most, the best ones; None: all.
    name : name of the fused run; None: "fused".
    topics : the topics that are asked for. None: all of the runs.
    qrels : judgments, for a method that learns, such as `WeightedCombSUM`: it learns from those topics of the runs
        that have a relevant document in them, whether or not they are among ``topics``. Documents that were not judged
        are not relevant. Measure the fused run on other topics.

    Returns
    -------
    The fused run. As in any run, scores are rounded to float32, and equal ones are ordered by
    document id, descending. Where that would merge different points of voting, as from 2^23 on, the scores
    count the smaller ones of the topic instead: 1 for the fewest points, 2 for the next, ...

    Raises
    ------
    InputError : as `join_runs`; there is no such method, it has wrong settings, `length` is not an integer of at least
        1, or `qrels` is missing, is not needed, or has no relevant document of the runs.

    Examples
    --------
    >>> from structsvm.fusion import fuse_runs
    >>> from structsvm.data import Run
    >>> one = Run.from_scores("one", qid=[7, 7], doc_ids=["x", "y"], scores=[2.0, 1.0])
    >>> two = Run.from_scores("two", qid=[7, 7], doc_ids=["z", "y"], scores=[0.5, 0.4])
    >>> fused = fuse_runs([one, two], "borda")
    >>> fused.doc_ids, fused.scores
    (array(['z', 'y', 'x'], dtype='<U1'), array([4., 4., 4.]))
    """
    if not isinstance(method, str | Fusion):
        raise InputError(f"method must be a name, such as 'comb-mnz', or an object, such as CombMNZ(), got {method!r}")
    require_integer("length", length, 1, optional=True)
    chosen: Fusion = fusion_method(method) if isinstance(method, str) else clone(method)
    joined = join_runs(runs, depth=depth, topics=topics)
    if chosen.learns:
        fit_to_judged(chosen, runs, qrels, depth=depth)
    elif qrels is not None:
        raise InputError(f"{type(chosen).__name__} learns nothing from judgments: leave qrels out")
    else:
        chosen.fit(joined.X, qid=joined.qid)
    scores = chosen.predict(joined.X, qid=joined.qid)
    if chosen._points:
        scores = _told_apart(scores, joined.qid)
    fused = Run.from_scores("fused" if name is None else name, joined.qid, joined.doc_ids, scores)
    if length is None:
        return fused
    _, first, topic = np.unique(fused.qid, return_index=True, return_inverse=True)
    kept = np.arange(len(fused.qid)) - first[topic] < length
    return Run(fused.name, fused.qid[kept], fused.doc_ids[kept], fused.scores[kept])


def fit_to_judged(method: Fusion, runs: Sequence[Run], qrels: Qrels | None, *, depth: int = 1000) -> None:
    """Let a method learn from the topics of which a relevant document was retrieved.

    Parameters
    ----------
    method : one that learns; it is fitted.
    runs, qrels, depth : as in `fuse_runs`.

    Raises
    ------
    InputError : as `join_runs`; or `qrels` is missing, or has no relevant document of the runs.
    """
    if qrels is None:
        raise InputError(
            f"{type(method).__name__} learns its weights from judgments: pass qrels, those of training topics"
        )
    require_kind("qrels", qrels, Qrels, "Qrels, such as load_qrels returns")
    joined = join_runs(runs, depth=depth)
    labels = qrels.labels(joined.qid, joined.doc_ids)
    rows = np.isin(joined.qid, joined.qid[labels > 0.0])
    if not rows.any():
        raise InputError(
            "qrels has no relevant document that the runs retrieved: are topics and document ids those of the runs?"
        )
    method.fit(joined.X[rows], labels[rows], qid=joined.qid[rows])


def _told_apart(points: Vector, qid: NDArray[np.str_]) -> Vector:
    """Return points as they are if float32 tells them apart within each topic, or else their ranks, from 1."""
    topic = np.unique(qid, return_inverse=True)[1]
    order = np.lexsort((points, topic))
    ascending, new_topic = points[order], np.diff(topic[order]) > 0
    more = (np.diff(ascending) > 0.0) & ~new_topic
    if not (more & (np.diff(ascending.astype(np.float32)) == 0.0)).any():
        return points
    level = np.concatenate([[0], np.cumsum(more)])
    first = np.concatenate([[0], np.flatnonzero(new_topic) + 1])
    ranks = np.empty_like(points)
    ranks[order] = 1.0 + level - np.repeat(level[first], np.diff(first, append=len(points)))
    return ranks
