"""Judgments: the grade of relevance of documents to topics."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike, NDArray

from structsvm.data.frames import ByTopic, DataFrame, frame_ids, frame_values, mapping_rows
from structsvm.data.pairs import PairIndex, as_ids, as_topics, first_repeated, number_topics
from structsvm.exceptions import InputError, counted
from structsvm.foundation.arrays import numbers
from structsvm.foundation.frames import is_frame
from structsvm.foundation.settings import require_kind
from structsvm.foundation.types import Vector


@frozen(eq=False, repr=False)
class Qrels:
    """The judgments of a collection; see `load_qrels`, `Qrels.from_grades`, `Qrels.from_frame`, `Qrels.from_dict`.

    Parameters
    ----------
    qid : topic of each judgment, shape (m,).
    doc_ids : document of each judgment, shape (m,), each at most once per topic.
    grades : grade of each judgment, whole numbers, shape (m,). Above 0 is relevant; below 0 means that the document
        was selected for judging but not judged, so it counts as not relevant.

    Examples
    --------
    >>> qrels = Qrels.from_grades(qid=[1, 1], doc_ids=["a", "b"], grades=[0, 2])
    >>> qrels.grades.tolist()
    [0.0, 2.0]
    """

    qid: NDArray[np.str_]
    doc_ids: NDArray[np.str_]
    grades: Vector

    @classmethod
    def from_grades(cls, qid: ArrayLike, doc_ids: ArrayLike, grades: ArrayLike) -> "Qrels":
        """Make judgments from arrays.

        Parameters
        ----------
        qid, doc_ids, grades : as in `Qrels`; topics that are numbers become their text.
        """
        topics, documents, values = as_topics(qid, "qid"), as_ids(doc_ids, "doc_ids"), numbers(grades, "grades")
        if not values.shape == topics.shape == documents.shape or len(values) == 0:
            raise InputError(
                "qrels must have a topic, a document id and a grade per row, and at least one row: got "
                f"{len(topics)} topics, {len(documents)} document ids and grades of shape {values.shape}"
            )
        whole = np.isfinite(values) & (values == np.rint(values))
        if not whole.all():
            wrong = int(whole.argmin())
            raise InputError(f"grades must be whole numbers, such as 0, 1 and 2: row {wrong} has {values[wrong]}")
        row = first_repeated(number_topics(topics)[1], documents)
        if row is not None:
            raise InputError(
                f"document {str(documents[row])!r} is judged twice for topic {str(topics[row])!r}, again in row {row}: "
                "leave one out"
            )
        return cls(topics, documents, values)

    @classmethod
    def from_frame(cls, frame: DataFrame) -> "Qrels":
        """Make judgments from a data frame; functions that take judgments also take data frames.

        The frame, of pandas, polars or pyarrow, has the columns ``qid``, ``docno`` and ``label``, as in PyTerrier, or
        ``query_id``, ``doc_id`` and ``relevance``, as in ir_measures. Raise InputError if a value is missing or wrong.

        Examples
        --------
        >>> import pandas as pd
        >>> Qrels.from_frame(pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "label": [0, 2]}))
        Qrels(1 topic, 1 of grade 0, 1 of grade 2)
        """
        what = "the data frame of judgments"
        return cls.from_grades(*frame_ids(frame, what), frame_values(frame, what, "label", "relevance"))

    @classmethod
    def from_dict(cls, grades: ByTopic) -> "Qrels":
        """Make judgments from ``{topic: {document: grade}}``, as in pytrec_eval, ranx and BEIR.

        Functions that take judgments also take these dictionaries. Each topic must have a document.

        Examples
        --------
        >>> Qrels.from_dict({"q1": {"a": 0, "b": 2}})
        Qrels(1 topic, 1 of grade 0, 1 of grade 2)
        """
        return cls.from_grades(*mapping_rows(grades, "the dictionary of judgments", "grade"))

    @cached_property
    def index(self) -> PairIndex:
        return PairIndex(as_ids(self.qid, "qid"), as_ids(self.doc_ids, "doc_ids"))

    @property
    def judged(self) -> tuple[Vector, NDArray[np.str_]]:
        """Grades and topics of all judgments: the ``judged`` argument of measures."""
        return self.grades, self.qid

    def labels(self, qid: ArrayLike, doc_ids: ArrayLike) -> Vector:
        """Return the grade of each document by topic and id, 0 if it was not judged, shape (n,)."""
        return unjudged_as_zero(self.grades_of(qid, doc_ids))

    def grades_of(self, qid: ArrayLike, doc_ids: ArrayLike) -> Vector:
        """Return the original grade of each document by topic and id, shape (n,); NaN if it is not in the judgments.

        Measures accept these grades as labels together with ``judged``, to distinguish unjudged documents.
        """
        topics, documents = as_topics(qid, "qid"), as_ids(doc_ids, "doc_ids")
        if len(topics) != len(documents):
            raise InputError(
                f"qid and doc_ids must be of equal length: got {len(topics)} topics and {len(documents)} document ids"
            )
        row = self.index.rows(topics, documents)
        return np.append(self.grades, np.nan)[row]

    def __repr__(self) -> str:
        grades, counts = np.unique(self.grades, return_counts=True)
        parts = [f"{count} of grade {grade:g}" for grade, count in zip(grades, counts, strict=True)]
        return f"Qrels({counted(len(np.unique(self.qid)), 'topic')}, {', '.join(parts)})"


QrelsLike: TypeAlias = Qrels | DataFrame | ByTopic
"""Judgments, or the data frame or dictionary of them."""


def as_qrels(value: Any) -> Qrels:
    """Return judgments as they are; convert a data frame or dictionary."""
    if is_frame(value):
        return Qrels.from_frame(value)
    if isinstance(value, Mapping):
        return Qrels.from_dict(value)
    require_kind("qrels", value, Qrels, "Qrels, such as load_qrels returns, or a data frame or dictionary of judgments")
    qrels: Qrels = value
    return qrels


def unjudged_as_zero(grades: Vector) -> Vector:
    """Return grades with 0 instead of NaN and negative grades, because unjudged documents count as not relevant."""
    return np.where(grades > 0.0, grades, 0.0)
