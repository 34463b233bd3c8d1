"""Retrieve the best documents of each topic as a run."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from structsvm.data import Run, Topic
from structsvm.data.collections.items import common_part
from structsvm.data.pairs import sort_topics
from structsvm.exceptions import InputError
from structsvm.foundation.compute.threads import in_blocks
from structsvm.foundation.settings import as_list, require_integer, require_kind
from structsvm.foundation.types import IntVector
from structsvm.registry import retrieval_functions
from structsvm.text.accumulation import BLOCK, NO_KEY, SPARE, best_documents, scores_and_places
from structsvm.text.functions import RetrievalFunction
from structsvm.text.functions.base import BoundQuery
from structsvm.text.index import Index

Topics: TypeAlias = Iterable[Topic] | Mapping[str, str]
"""Topics, or the texts of queries by the id of their topic."""

_AT_ONCE = 64
"""Topics per report of progress."""
_LARGEST = np.finfo(np.float32).max
_MOST_KEYS = 1 << 22
"""Largest number of keys of documents in memory at a time, unless a single topic has more."""
_ROUNDING = 1e-12
"""Largest rounding error of a score, relative to the sizes of its summands."""
_WORK = 0.02
"""Time per posting or document, relative to one document in an argmax."""


class _Best(NamedTuple):
    """The best documents of topics, topic after topic, best first; ``counts``, shape (n_topics,), delimits topics."""

    counts: IntVector
    doc_ids: NDArray[np.str_]
    scores: NDArray[np.float32]


class Retriever:
    """Rank the documents of an index by a retrieval function; statistics and weights are cached for later topics.

    Parameters
    ----------
    index, function, field : as for `retrieve`.

    Examples
    --------
    >>> from structsvm.text import Analyzer, Index
    >>> index = Index.build([("a", {"text": "a wing"}), ("b", {"text": "two wings"})], Analyzer("porter"))
    >>> Retriever(index).retrieve({"1": "wings"}).doc_ids.tolist()
    ['a', 'b']
    """

    def __init__(self, index: Index, function: str | RetrievalFunction = "bm25", field: str | None = None) -> None:
        require_kind("index", index, Index, "an Index, such as Index.load(folder) returns")
        self.index = index
        self.function: RetrievalFunction = retrieval_functions.create(function)
        self.field = field
        spelled = retrieval_functions.spell(self.function) or type(self.function).__name__
        self.name = spelled if field is None else f"{field}.{spelled}"
        self.scorer = self.function.bind(index.whole if field is None else index.part(field))
        self._ids, numbers = index.sorted_ids
        self._place = np.empty(len(numbers), dtype=np.int32)
        self._place[numbers] = np.arange(len(numbers), dtype=np.int32)
        added = self.scorer.added
        self._size_of_added = float(np.abs(added).max(initial=0.0))
        blocks = range(0, len(self._ids), BLOCK)
        self._most_added = np.array([added[first : first + BLOCK].max() if len(added) else 0.0 for first in blocks])

    def __repr__(self) -> str:
        field = "" if self.field is None else f", field={self.field!r}"
        return f"{type(self).__name__}({self.index!r}, {self.function!r}{field})"

    def retrieve(
        self,
        topics: Topics,
        top: int = 1000,
        *,
        query: str | None = None,
        name: str | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> Run:
        """Return the best documents of each topic; see `structsvm.text.retrieve`."""
        texts = texts_of(topics, query)
        run = self.ranked(texts, top, name=name, progress=progress)
        if len(run.qid) == 0:
            raise nothing_found(texts, self.field)
        return run

    def ranked(
        self,
        texts: Mapping[str, str],
        top: int,
        *,
        name: str | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> Run:
        """Return the best documents for the text of each topic; an empty run if the index has no term of the topics.

        ``progress`` is called with the number of finished topics.
        """
        require_integer("top", top, 1)
        names = sort_topics(texts)
        top = min(top, len(self._ids))
        at_once = max(1, min(_AT_ONCE, _MOST_KEYS // top))
        best: list[_Best] = []
        for first in range(0, len(names), at_once):
            counts = [Counter(self.index.analyzer.terms(texts[topic])) for topic in names[first : first + at_once]]
            some = [self.scorer.bound_query(query_counts) for query_counts in counts]
            best += self._best(some, top)
            if progress is not None:
                progress(len(some))
        sizes, doc_ids, scores = (np.concatenate(parts) for parts in zip(*best, strict=True))
        return Run(
            self.name if name is None else name,
            np.repeat(np.array(names, dtype=np.str_), sizes),
            doc_ids,
            np.clip(scores, -_LARGEST, _LARGEST).astype(np.float64),
        )

    def _best(self, queries: Sequence[BoundQuery], top: int) -> list[_Best]:
        """Return the best documents of queries, in batches."""
        ptr, n = self.scorer.postings.ptr, len(self._ids)
        work = [n + int((ptr[query.terms + 1] - ptr[query.terms]).sum()) for query in queries]

        # A block is empty if the query before it has more work than a block.
        def block(first: int, last: int) -> _Best | None:
            return self._best_of_some(queries[first:last], top) if first < last else None

        parts = in_blocks(block, np.concatenate([[0], np.cumsum(work)]), _WORK)
        return [best for best in parts if best is not None]

    def _best_of_some(self, queries: Sequence[BoundQuery], top: int) -> _Best:
        postings = self.scorer.postings
        documents = np.asarray(postings.documents).view()
        # Arrays from files are read-only, too, so one compiled version suffices.
        documents.flags.writeable = False
        terms = np.concatenate([query.terms for query in queries])
        keys = np.empty((len(queries), SPARE * top), dtype=np.int64)
        best_documents(
            np.cumsum([0, *(len(query.terms) for query in queries)]),
            postings.ptr[terms],
            postings.ptr[terms + 1],
            np.concatenate([query.weights for query in queries]),
            np.concatenate([query.most for query in queries]),
            np.array([query.score for query in queries]),
            np.array([_ROUNDING * (query.size + self._size_of_added) for query in queries]),
            documents,
            self.scorer.weights,
            self.scorer.rows(terms),
            self.scorer.dense,
            self.scorer.added,
            self._most_added,
            self._place,
            top,
            keys,
        )
        keys.sort(axis=1)
        best = keys[:, : -top - 1 : -1]
        there = best != NO_KEY
        scores, places = scores_and_places(best[there])
        return _Best(there.sum(axis=1), self._ids.take(places), scores)


def retrieve(
    index: Index,
    topics: Topics,
    function: str | RetrievalFunction = "bm25",
    top: int = 1000,
    *,
    query: str | None = None,
    field: str | None = None,
    name: str | None = None,
) -> Run:
    """Rank the documents of an index for each topic.

    Documents without a term of the topic are not retrieved; a topic that shares no term with any document is not in the
    run. Scores are summed in float64 and rounded to float32. As in all runs, documents with equal scores are ordered by
    document id, descending. The work is shared by the threads of numba.

    Parameters
    ----------
    index : the collection.
    topics : the topics, for example from `read_topics`; or the text of each query by the id of its topic.
    function : retrieval function, by name, as in ``"bm25"`` or ``"bm25(k1=0.9,b=0.4)"``, or as an object.
    top : largest number of documents to retrieve per topic, at least 1.
    query : part of the topic that is the query; see `Topic.query`.
    field : field of the documents to search, with its own lengths and term frequencies; None: all fields together.
    name : name of the run; None: the function's, after the field's if any.

    Raises
    ------
    UnknownNameError : the index lacks the field.

    Examples
    --------
    >>> from structsvm.text import Index
    >>> index = Index.build([("d1", {"text": "wings and flow"}), ("d2", {"text": "heat flow, flow"})])
    >>> retrieve(index, {"1": "flow over wings"}).doc_ids
    array(['d1', 'd2'], dtype='<U2')
    """
    return Retriever(index, function, field).retrieve(topics, top, query=query, name=name)


def nothing_found(topics: Sized, field: str | None = None) -> InputError:
    """Return the error that no document (in a field, if given) shares a term with a topic."""
    where = "" if field is None else f" in its field {field!r}"
    return InputError(
        f"no document has a term of any of {len(topics)} topics{where}: check that index and topics belong to "
        "the same collection and language"
    )


def texts_of(topics: Topics, query: str | None) -> dict[str, str]:
    """Return the text of each query by the id of its topic; raise InputError for invalid topics."""
    if isinstance(topics, Mapping):
        listed = [Topic(id, {"query": text}) for id, text in topics.items()]
    else:
        listed = as_list("topics", topics, "topics, such as read_topics returns, or the texts of queries by topic")
    texts: dict[str, str] = {}
    for topic in listed:
        require_kind("each of topics", topic, Topic, "a Topic, such as read_topics returns")
    query = common_part(listed) if query is None else query
    for topic in listed:
        if topic.id in texts:
            raise InputError(f"two topics have the id {topic.id!r}: leave one out")
        texts[topic.id] = topic.query(query)
    if not texts:
        raise InputError("there are no topics: pass at least one")
    return texts
