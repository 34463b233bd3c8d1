"""Runs, which retrieval systems submit to TREC, and judgments: from arrays, data frames and dictionaries."""

import math
from collections.abc import Mapping
from functools import cached_property
from numbers import Real
from typing import Any, Protocol, TypeAlias

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike, NDArray

from structsvm.data.pairs import PairIndex, as_ids, as_topics, first_repeated, number_topics, sort_topics
from structsvm.exceptions import InputError, brief, counted, quoted
from structsvm.foundation.arrays import numbers
from structsvm.foundation.frames import as_narwhals, is_frame
from structsvm.foundation.memory import require_memory
from structsvm.foundation.queries import missing_rows
from structsvm.foundation.settings import repeated, require_kind
from structsvm.foundation.types import IntVector, Vector

_IDS = (("qid", "docno"), ("query_id", "doc_id"))
"""Columns of the topic and the document: of PyTerrier, of ir_measures."""


class DataFrame(Protocol):
    """A table with named columns: a data frame of pandas or polars, a pyarrow.Table, or another that narwhals reads."""

    @property
    def columns(self) -> Any: ...

    def __getitem__(self, column: str, /) -> Any: ...


_NUMBERS: Any = (Real, np.bool_)

ByTopic: TypeAlias = Mapping[Any, Mapping[Any, Any]]
"""Score or grade by topic and document, as in pytrec_eval, ranx and BEIR."""


def mapping_rows(scores: ByTopic, what: str, number: str) -> tuple[list[Any], list[Any], list[Any]]:
    """Return topic, document and value of each pair; ``what`` and ``number`` name mapping and values in messages."""
    topics, documents, values = list[Any](), list[Any](), list[Any]()
    if not scores:
        raise InputError(f"{what} is empty: it must map each topic to the {number}s of its documents")
    twice = repeated(map(str, scores))
    if twice is not None:
        raise InputError(f"{what} has topic {quoted(twice)} as text and as a number: merge the two")
    for topic, of_topic in scores.items():
        place = f"{what}, topic {quoted(str(topic))}"
        if not isinstance(of_topic, Mapping):
            raise InputError(
                f"{place}: expected a dictionary from document to {number}, such as {{'d1': 2}}, got {brief(of_topic)}"
            )
        if not of_topic:
            raise InputError(f"{place} has no documents: leave the topic out")
        for document, value in of_topic.items():
            if not (isinstance(value, _NUMBERS) and -math.inf < value < math.inf):
                place += f", document {quoted(str(document))}"
                raise InputError(f"{place}: the {number} must be a finite number, got {brief(value)}")
        topics += [topic] * len(of_topic)
        documents += of_topic
        values += of_topic.values()
    return topics, documents, values


def frame_ids(frame: DataFrame, what: str) -> tuple[NDArray[np.str_], NDArray[np.str_]]:
    """Return the topic and document id of each row; ``what`` names the frame in messages."""
    table = as_narwhals(frame, what)
    columns = table.columns
    pair_of_columns = next((pair for pair in _IDS if set(pair) <= set(columns)), None)
    if pair_of_columns is None:
        raise InputError(
            f"{what} must have the columns qid and docno, as in PyTerrier, or query_id and doc_id, as in ir_measures; "
            f"its columns are {_listed(columns)}"
        )
    qid, doc_ids = (_ids(table, what, name) for name in pair_of_columns)
    return qid, doc_ids


def frame_values(frame: DataFrame, what: str, *names: str) -> NDArray[Any]:
    """Return the values of the first of these columns that a frame has; ``what`` names the frame in messages."""
    table = as_narwhals(frame, what)
    columns = table.columns
    name = next((name for name in names if name in columns), None)
    if name is None:
        raise InputError(f"{what} must have a column {' or '.join(names)}; its columns are {_listed(columns)}")
    return _complete(table[name], f"{what}, column {name!r}")


def _ids(frame: Any, what: str, name: str) -> NDArray[np.str_]:
    place = f"{what}, column {name!r}"
    return as_ids(_complete(frame[name], place), place)


def _complete(column: Any, place: str) -> NDArray[Any]:
    """Return the values of a column; raise InputError if one is missing."""
    values: NDArray[Any] = column.to_numpy()
    missing = missing_rows(values)
    if missing.any():
        raise InputError(f"{place}: row {int(missing.argmax())} has no value; fill it in or leave the row out")
    return values


def _listed(columns: list[Any]) -> str:
    return ", ".join(map(str, columns)) or "none"


_LARGEST = float(np.finfo(np.float32).max)


@frozen(eq=False, repr=False)
class Run:
    """The documents that one system retrieved: topic after topic, best document first.

    The order is trec_eval 9's: by score, then by document id, both descending. Make a run with `load_run`,
    `Run.from_scores`, `Run.from_frame` or `Run.from_dict`.

    Parameters
    ----------
    name : name of the run, the last column of its file.
    qid : topic of each row, shape (n,).
    doc_ids : document of each row, shape (n,), each at most once per topic.
    scores : score of each row, shape (n,), finite and rounded to float32, because trec_eval 9 compares float32 scores.

    Examples
    --------
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
        name, qid, doc_ids, scores : as in `Run`, in any order; topics that are numbers become their text.
        """
        topics, documents, values = as_topics(qid), as_ids(doc_ids, "doc_ids"), _as_scores(scores)
        if not len(topics) == len(documents) == len(values) > 0:
            raise InputError(
                f"run {name!r} must have a topic, a document id and a score per row, and at least one row: got "
                f"{len(topics)} topics, {len(documents)} document ids and {len(values)} scores"
            )
        names, number = number_topics(topics)
        row = first_repeated(number, documents)
        if row is not None:
            raise InputError(
                f"run {name!r} has document {str(documents[row])!r} twice in topic {str(topics[row])!r}, again in row "
                f"{row}: leave one out"
            )
        place = {topic: k for k, topic in enumerate(sort_topics(names))}
        order = _ranked(np.array([place[topic] for topic in names])[number], values, documents)
        return cls(name, topics[order], documents[order], values[order])

    @classmethod
    def from_frame(cls, frame: DataFrame, name: str = "run") -> "Run":
        """Rank the documents of a data frame by their scores; functions that take runs also take data frames.

        The frame, of pandas, polars or pyarrow, has the columns ``qid``, ``docno`` and ``score``, as in PyTerrier, or
        ``query_id``, ``doc_id`` and ``score``, as in ir_measures. Raise InputError if a value is missing or wrong.

        Examples
        --------
        >>> import pandas as pd
        >>> results = pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "score": [0.5, 2.0]})
        >>> Run.from_frame(results, "bm25").doc_ids.tolist()
        ['b', 'a']
        """
        what = f"the data frame of run {name!r}"
        return cls.from_scores(name, *frame_ids(frame, what), frame_values(frame, what, "score"))

    @classmethod
    def from_dict(cls, scores: ByTopic, name: str = "run") -> "Run":
        """Rank the documents of ``{topic: {document: score}}``, as in pytrec_eval, ranx and BEIR.

        Functions that take runs also take these dictionaries. Scores must be finite, and each topic must have a
        document.

        Examples
        --------
        >>> Run.from_dict({"q1": {"a": 0.5, "b": 2.0}}, "bm25").doc_ids.tolist()
        ['b', 'a']
        """
        return cls.from_scores(name, *mapping_rows(scores, f"the dictionary of run {name!r}", "score"))

    def __repr__(self) -> str:
        return f"Run({self.name!r}, {counted(len(np.unique(self.qid)), 'topic')}, {counted(len(self.qid), 'document')})"


RunLike: TypeAlias = Run | DataFrame | ByTopic
"""A run, or the data frame or dictionary of one."""


def as_run(what: str, value: Any, name: str = "run") -> Run:
    """Return a run as it is, or the run of a data frame or dictionary with this name."""
    if is_frame(value):
        return Run.from_frame(value, name)
    if isinstance(value, Mapping):
        return Run.from_dict(value, name)
    require_kind(what, value, Run, "a Run, such as load_run returns, or a data frame or dictionary of results")
    run: Run = value
    return run


def _ranked(topic: IntVector, scores: Vector, doc_ids: NDArray[np.str_]) -> IntVector:
    """Return the order of rows by topic, then by score and by document id, both descending."""
    ahead = (topic[1:] > topic[:-1]) | ((topic[1:] == topic[:-1]) & (scores[1:] <= scores[:-1]))
    order = np.arange(len(topic)) if ahead.all() else np.lexsort((-scores, topic))
    tied = (topic[order[1:]] == topic[order[:-1]]) & (scores[order[1:]] == scores[order[:-1]])
    group = np.append(0, np.cumsum(~tied))
    among = np.flatnonzero(np.append(False, tied) | np.append(tied, False))
    rows = order[among]
    order[among] = rows[np.lexsort((doc_ids[rows], -group[among]))[::-1]]
    return order


def _as_scores(scores: ArrayLike) -> Vector:
    """Return scores rounded to float32 and clipped to its largest number."""
    values = numbers(scores, "scores")
    if values.ndim != 1:
        raise InputError(f"scores must have one number per row; their shape is {values.shape}")
    require_memory(8.0 * len(values), f"The {len(values):,} scores", "pass one score per row")
    finite = np.isfinite(values)
    if not finite.all():
        row = int(finite.argmin())
        raise InputError(
            f"scores must be finite: row {row} has {values[row]}. Leave out documents that were not retrieved"
        )
    return np.clip(values, -_LARGEST, _LARGEST).astype(np.float32).astype(np.float64)


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
        topics, documents, values = as_topics(qid), as_ids(doc_ids, "doc_ids"), numbers(grades, "grades")
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
        topics, documents = as_topics(qid), as_ids(doc_ids, "doc_ids")
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
