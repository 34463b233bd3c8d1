"""Judgments: which documents are relevant to a topic, and how much."""

from functools import cached_property

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike, NDArray

from structsvm.arrays import numbers
from structsvm.data.pairs import PairIndex, as_ids, first_repeated, number_topics
from structsvm.exceptions import InputError
from structsvm.types import IntVector, Vector


@frozen(eq=False, repr=False)
class Qrels:
    """The judgments of a collection. Made by `load_qrels` and `Qrels.from_grades`.

    Parameters
    ----------
    qid : topic of each judgment, shape (m,).
    doc_ids : document of each judgment, shape (m,).
    grades : grade of each judgment, whole numbers, shape (m,). Above 0 is relevant; below 0 means
        that the document was set apart for judging and not judged, so it is taken as not relevant.

    Examples
    --------
    >>> from structsvm.data import Qrels
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
        qid : topic of each judgment, shape (m,); numbers become their text.
        doc_ids : document ids, shape (m,), each once a topic.
        grades : whole numbers, shape (m,).

        Raises
        ------
        InputError : lengths differ, there are no rows, a grade is not a whole number, or a document
            is judged twice for a topic.
        """
        topics, documents, values = as_ids(qid, "qid"), as_ids(doc_ids, "doc_ids"), numbers(grades, "grades")
        if not values.shape == topics.shape == documents.shape or len(values) == 0:
            raise InputError(
                "qrels must have a topic, a document id and a grade per row, and a row at least: there are "
                f"{len(topics)} topics, {len(documents)} document ids and grades of shape {values.shape}"
            )
        if not (np.isfinite(values) & (values == np.rint(values))).all():
            raise InputError("grades must be whole numbers, such as 0, 1 and 2")
        row = first_repeated(number_topics(topics)[1], documents)
        if row is not None:
            raise InputError(
                f"document {str(documents[row])!r} is judged twice for topic {str(topics[row])!r}, again in row {row}"
            )
        return cls(topics, documents, values)

    @cached_property
    def index(self) -> PairIndex:
        """The rows of the judgments by topic and document."""
        return PairIndex(as_ids(self.qid, "qid"), as_ids(self.doc_ids, "doc_ids"))

    @property
    def judged(self) -> tuple[Vector, NDArray[np.str_]]:
        """Grades and topics of all judgments, which measures take as ``judged``."""
        return self.grades, self.qid

    def labels(self, qid: ArrayLike, doc_ids: ArrayLike) -> Vector:
        """Return the grade of each document, 0 where it was not judged.

        Parameters
        ----------
        qid : topic of each document, shape (n,).
        doc_ids : document ids, shape (n,).

        Returns
        -------
        labels : shape (n,), none of them below 0.
        """
        return unjudged_as_zero(self.grades_of(qid, doc_ids))

    def grades_of(self, qid: ArrayLike, doc_ids: ArrayLike) -> Vector:
        """Return the grade of each document as it stands, below 0 too, NaN where the judgments do not have it.

        Measures take these for labels, with ``judged``, and so know which documents were judged.

        Parameters
        ----------
        qid : topic of each document, shape (n,).
        doc_ids : document ids, shape (n,).

        Returns
        -------
        grades : shape (n,).
        """
        topics, documents = as_ids(qid, "qid"), as_ids(doc_ids, "doc_ids")
        if len(topics) != len(documents):
            raise InputError(f"there are {len(topics)} topics and {len(documents)} document ids: a row has one of each")
        row = self.index.rows(topics, documents)
        return np.append(self.grades, np.nan)[row]

    def __repr__(self) -> str:
        grades, counts = np.unique(self.grades, return_counts=True)
        parts = [f"{count} of grade {grade:g}" for grade, count in zip(grades, counts, strict=True)]
        return f"Qrels({len(np.unique(self.qid))} topics, {', '.join(parts)})"


def find_grades(key: IntVector, judged: IntVector, grades: Vector) -> Vector:
    """Return the grade of each key, NaN for those that are not among the judged ones.

    Parameters
    ----------
    key : what is looked up, shape (n,).
    judged : keys of the judgments, shape (m,).
    grades : grades of the judgments, shape (m,).
    """
    if len(judged) == 0:
        return np.full(len(key), np.nan)
    order = np.argsort(judged)
    place = order[np.minimum(np.searchsorted(judged, key, sorter=order), len(judged) - 1)]
    return np.where(judged[place] == key, grades[place], np.nan)


def unjudged_as_zero(grades: Vector) -> Vector:
    """Return grades with 0 in the place of those below 0 and of NaN: what was not judged is not relevant."""
    return np.where(grades > 0.0, grades, 0.0)
