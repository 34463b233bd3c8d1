"""Runs: what retrieval systems submit to TREC, a ranking of documents for each topic."""

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike, NDArray

from structsvm.arrays import numbers
from structsvm.data.pairs import as_ids, first_repeated, number_topics, sort_topics
from structsvm.exceptions import InputError
from structsvm.types import IntVector, Vector

_LARGEST = float(np.finfo(np.float32).max)


@frozen(eq=False, repr=False)
class Run:
    """The documents that one system retrieved: topic after topic, best document first.

    The order is that of trec_eval 9: by score, descending; documents of equal score by id,
    descending. Measures that keep the order of ties, as ours do, then break them like trec_eval.
    Made by `load_run` and `Run.from_scores`.

    Parameters
    ----------
    name : name of the run, the last column of its file.
    qid : topic of each row, shape (n,).
    doc_ids : document of each row, shape (n,).
    scores : score of each row, shape (n,): finite, and rounded to float32, in which trec_eval 9
        compares scores.

    Examples
    --------
    >>> from structsvm.data import Run
    >>> run = Run.from_scores("bm25", qid=[1, 1], doc_ids=["a", "b"], scores=[0.5, 2.0])
    >>> run.doc_ids.tolist()
    ['b', 'a']
    """

    name: str
    qid: NDArray[np.str_]
    doc_ids: NDArray[np.str_]
    scores: Vector

    @classmethod
    def from_scores(cls, name: str, qid: ArrayLike, doc_ids: ArrayLike, scores: ArrayLike) -> "Run":
        """Rank documents by their scores.

        Parameters
        ----------
        name : name of the run.
        qid : topic of each document, shape (n,); numbers become their text.
        doc_ids : document ids, shape (n,), each once a topic.
        scores : finite scores, larger is ahead, shape (n,).

        Raises
        ------
        InputError : lengths differ, there are no rows, a score is not finite, or a topic has a
            document twice.
        """
        topics, documents, values = as_ids(qid, "qid"), as_ids(doc_ids, "doc_ids"), _as_scores(scores)
        if not len(topics) == len(documents) == len(values) > 0:
            raise InputError(
                f"run {name!r} must have a topic, a document id and a score per row, and a row at least: there are "
                f"{len(topics)} topics, {len(documents)} document ids and {len(values)} scores"
            )
        names, number = number_topics(topics)
        row = first_repeated(number, documents)
        if row is not None:
            raise InputError(
                f"run {name!r} has document {str(documents[row])!r} twice in topic {str(topics[row])!r}, again in row "
                f"{row}: a topic may rank a document once only"
            )
        place = {topic: k for k, topic in enumerate(sort_topics(names))}
        order = _ranked(np.array([place[topic] for topic in names])[number], values, documents)
        return cls(name, topics[order], documents[order], values[order])

    def __repr__(self) -> str:
        return f"Run({self.name!r}, {len(np.unique(self.qid))} topics, {len(self.qid)} documents)"


def _ranked(topic: IntVector, scores: Vector, doc_ids: NDArray[np.str_]) -> IntVector:
    """Return rows by topic, then score and then document id, both descending."""
    ahead = (topic[1:] > topic[:-1]) | ((topic[1:] == topic[:-1]) & (scores[1:] <= scores[:-1]))
    order = np.arange(len(topic)) if ahead.all() else np.lexsort((-scores, topic))
    tied = (topic[order[1:]] == topic[order[:-1]]) & (scores[order[1:]] == scores[order[:-1]])
    group = np.append(0, np.cumsum(~tied))
    among = np.flatnonzero(np.append(False, tied) | np.append(tied, False))
    rows = order[among]
    order[among] = rows[np.lexsort((doc_ids[rows], -group[among]))[::-1]]
    return order


def _as_scores(scores: ArrayLike) -> Vector:
    """Return scores rounded to float32; what is beyond its range becomes its largest number."""
    values = numbers(scores, "scores")
    if values.ndim != 1:
        raise InputError(f"scores must hold one number per row; their shape is {values.shape}")
    finite = np.isfinite(values)
    if not finite.all():
        row = int(finite.argmin())
        raise InputError(f"scores must be finite: row {row} has {values[row]}; leave out what was not retrieved")
    return np.clip(values, -_LARGEST, _LARGEST).astype(np.float32).astype(np.float64)
