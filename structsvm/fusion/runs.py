"""Fusion of TREC runs."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from structsvm.data import join_runs
from structsvm.data.runs import QrelsLike, Run, RunLike, as_qrels
from structsvm.exceptions import InputError, brief
from structsvm.foundation.settings import require_integer
from structsvm.foundation.types import Vector
from structsvm.fusion.base import Fusion
from structsvm.registry import fusions


def fuse_runs(
    runs: Sequence[RunLike],
    method: str | Fusion,
    *,
    depth: int = 1000,
    length: int | None = 1000,
    name: str | None = None,
    topics: Iterable[str | int] | None = None,
    qrels: QrelsLike | None = None,
) -> Run:
    """Combine several runs into one.

    The candidates of a topic are the first ``depth`` documents of each run. A run without the topic counts as a run
    that retrieved no documents.

    Parameters
    ----------
    runs : the runs, with distinct names; or data frames or dictionaries (`Run.from_frame`, `Run.from_dict`),
        named run 1, run 2, ...
    method : name of the method ("comb-mnz", "rrf(rank_constant=10)", ...), or an object with settings.
    depth : number of best documents that a run contributes to a topic, at least 1.
    length : largest number of documents of the fused run for a topic; None: all.
    name : name of the fused run; None: "fused".
    topics : the topics to fuse. None: all topics of the runs.
    qrels : judgments, for a method that learns, such as `WeightedCombSUM`. It learns from every topic with a
        relevant document in the runs; unjudged documents are not relevant. Measure the fused run on other topics.

    Returns
    -------
    The fused run. Scores are rounded to float32, and documents with equal scores are ordered by document id,
    descending. If rounding would make different totals of points equal (from 2^23 on), the scores are ranks from
    below: 1 for the fewest points in the topic, 2 for the next, ...

    Examples
    --------
    >>> from structsvm.data import Run
    >>> one = Run.from_scores("one", qid=[7, 7], doc_ids=["x", "y"], scores=[2.0, 1.0])
    >>> two = Run.from_scores("two", qid=[7, 7], doc_ids=["z", "y"], scores=[0.5, 0.4])
    >>> fused = fuse_runs([one, two], "borda")
    >>> fused.doc_ids, fused.scores
    (array(['z', 'y', 'x'], dtype='<U1'), array([4., 4., 4.]))
    """
    if not isinstance(method, str | Fusion):
        raise InputError(
            f"method must be a name, such as 'comb-mnz', or an object, such as CombMNZ(), got {brief(method)}"
        )
    require_integer("length", length, 1, optional=True)
    fusion = method_named(method) if isinstance(method, str) else clone(method)
    joined = join_runs(runs, depth=depth, topics=topics)
    if fusion.learns:
        fit_to_judged(fusion, runs, qrels, depth=depth)
    elif qrels is not None:
        raise InputError(f"{type(fusion).__name__} does not use judgments: leave qrels out")
    else:
        fusion.fit(joined.X, qid=joined.qid)
    scores = fusion.predict(joined.X, qid=joined.qid)
    if fusion._points:
        scores = _told_apart(scores, joined.qid)
    fused = Run.from_scores("fused" if name is None else name, joined.qid, joined.doc_ids, scores)
    if length is None:
        return fused
    _, first, topic = np.unique(fused.qid, return_index=True, return_inverse=True)
    within = np.arange(len(fused.qid)) - first[topic] < length
    return Run(fused.name, fused.qid[within], fused.doc_ids[within], fused.scores[within])


def method_named(name: str, **settings: Any) -> Fusion:
    """Return a method of fusion by its registered name, with checked settings."""
    method: Fusion = fusions.create(name, **settings)
    method._require_settings()
    return method


def fit_to_judged(method: Fusion, runs: Sequence[RunLike], qrels: QrelsLike | None, *, depth: int = 1000) -> None:
    """Fit a method that learns, on the topics with a relevant retrieved document; arguments as in `fuse_runs`."""
    if qrels is None:
        raise InputError(
            f"{type(method).__name__} learns its weights from judgments: pass judgments of training topics as qrels"
        )
    qrels = as_qrels(qrels)
    joined = join_runs(runs, depth=depth)
    labels = qrels.labels(joined.qid, joined.doc_ids)
    rows = np.isin(joined.qid, joined.qid[labels > 0.0])
    if not rows.any():
        raise InputError(
            "qrels has no relevant document that the runs retrieved: check that qrels and runs have the same topics "
            "and document ids"
        )
    method.fit(joined.X[rows], labels[rows], qid=joined.qid[rows])


def _told_apart(points: Vector, qid: NDArray[np.str_]) -> Vector:
    """Return points if float32 preserves their differences within each topic, else their ranks, from 1."""
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
