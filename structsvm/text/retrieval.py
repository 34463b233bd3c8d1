"""Retrieval: the best documents of each topic, as a run."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from structsvm.compute.blocks import in_blocks
from structsvm.data import Run, Topic
from structsvm.data.pairs import sort_topics
from structsvm.exceptions import InputError
from structsvm.registry import retrieval_functions
from structsvm.settings import as_list, require_integer, require_kind
from structsvm.text.accumulation import BLOCK, NO_KEY, SPARE, best_documents, scores_and_places
from structsvm.text.functions import RetrievalFunction
from structsvm.text.functions.base import BoundQuery
from structsvm.text.index import Index
from structsvm.types import IntVector

Topics: TypeAlias = Iterable[Topic] | Mapping[str, str]
"""Topics, or the texts of queries by the id of their topic."""

_AT_ONCE = 64
"""Topics after which progress is shown."""
_LARGEST = np.finfo(np.float32).max
_MOST_KEYS = 1 << 22
"""Keys of documents that are held at a time, but those of a topic."""
_ROUNDING = 1e-12
"""What rounding changes a score by, at most, as part of the sizes of what is added up."""
_WORK = 0.02
"""Time that a posting or document takes, in units of the argmax of one."""


class _Best(NamedTuple):
    """The best documents of topics, topic after topic, best first.

    Parameters
    ----------
    counts : how many each topic has, shape (n_topics,).
    doc_ids, scores : their ids and scores.
    """

    counts: IntVector
    doc_ids: NDArray[np.str_]
    scores: NDArray[np.float32]


class Retriever:
    """Ranks the documents of an index by a retrieval function. What depends on these alone is computed once.

    Parameters
    ----------
    index : the collection.
    function : the function, by name or as an object.
    field : field of the documents that is looked at; None: all fields together.

    Raises
    ------
    InputError : the index is none, or there is no such function.
    UnknownNameError : the index has no such field.

    Examples
    --------
    >>> from structsvm.text import Analyzer, Index, Retriever
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
        ids = np.asarray(index.doc_ids)
        order = np.argsort(ids, kind="stable")
        self._ids = ids[order]
        self._place = np.empty(len(order), dtype=np.int32)
        self._place[order] = np.arange(len(order), dtype=np.int32)
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
        """Return the best documents of each topic, as `retrieve`; none where no topic has a term of the index.

        Parameters
        ----------
        texts : the text of each query by the id of its topic.
        top, name : see `structsvm.text.retrieve`.
        progress : is given the numbers of topics that are done.
        """
        require_integer("top", top, 1)
        names = sort_topics(texts)
        top = min(top, len(self._ids))
        at_once = max(1, min(_AT_ONCE, _MOST_KEYS // top))
        found: list[_Best] = []
        for first in range(0, len(names), at_once):
            some = [self.scorer.bound_query(self._counts(texts[topic])) for topic in names[first : first + at_once]]
            found += self._best(some, top)
            if progress is not None:
                progress(len(some))
        counts, doc_ids, scores = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return Run(
            self.name if name is None else name,
            np.repeat(np.array(names, dtype=np.str_), counts),
            doc_ids,
            np.clip(scores, -_LARGEST, _LARGEST).astype(np.float64),
        )

    def _counts(self, text: str) -> Counter[str]:
        return Counter(self.index.analyzer.terms(text))

    def _best(self, queries: Sequence[BoundQuery], top: int) -> list[_Best]:
        """Return the best documents of queries, in parts."""
        ptr, n = self.scorer.postings.ptr, len(self._ids)
        work = [n + int((ptr[query.terms + 1] - ptr[query.terms]).sum()) for query in queries]

        def block(first: int, last: int) -> _Best:
            return self._best_of_some(queries[first:last], top)

        return in_blocks(block, np.concatenate([[0], np.cumsum(work)]), _WORK)

    def _best_of_some(self, queries: Sequence[BoundQuery], top: int) -> _Best:
        postings = self.scorer.postings
        documents = np.asarray(postings.documents).view()
        documents.flags.writeable = False  # in memory as in a file, so that machine code is made once
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

    Documents that have no term of a topic are not retrieved; a topic of which no document has a term is not in the run.
    Scores are summed in float64, and ranked as in all runs: rounded to float32, equal ones by document id, descending.
    Work is spread over the threads of numba.

    Parameters
    ----------
    index : the collection.
    topics : the topics, such as `read_topics` returns; or the text of each query by the id of its topic.
    function : retrieval function, by name, as in ``"bm25"`` or ``"bm25(k1=0.9,b=0.4)"``, or as an object.
    top : how many documents of a topic are retrieved, at most, at least 1.
    query : part of the topic that is the query, see `Topic.query`. None: the description, or all that there is.
    field : field of the documents that is looked at, with its own lengths and frequencies of terms; None: all fields
        together.
    name : name of the run; None: that of the function, after that of the field where one is asked for.

    Raises
    ------
    InputError : two topics have one id, one lacks the part that is asked for, there is no such function, or no topic
        has a term that the index has.
    UnknownNameError : the index has no such field.

    Examples
    --------
    >>> from structsvm.data import Document
    >>> from structsvm.text import Index, retrieve
    >>> documents = [Document("d1", {"text": "wings and flow"}), Document("d2", {"text": "heat flow, flow"})]
    >>> run = retrieve(Index.build(documents), {"1": "flow over wings"})
    >>> run.doc_ids
    array(['d1', 'd2'], dtype='<U2')
    """
    return Retriever(index, function, field).retrieve(topics, top, query=query, name=name)


def nothing_found(topics: Sized, field: str | None = None) -> InputError:
    """Return the error for topics of which no document has a term, in a field if one is asked for."""
    where = "" if field is None else f" in its field {field!r}"
    return InputError(
        f"no document has a term of any of {len(topics)} topics{where}: is the index one of the collection that they "
        "are for, and are its terms in their language?"
    )


def texts_of(topics: Topics, query: str | None) -> dict[str, str]:
    """Return the text of each query by the id of its topic.

    Parameters
    ----------
    topics, query : see `retrieve`.

    Raises
    ------
    InputError : there are none, they are something else, two have one id, or one lacks the part.
    """
    if isinstance(topics, Mapping):
        listed = [Topic(id, {"query": text}) for id, text in topics.items()]
    else:
        listed = as_list("topics", topics, "topics, such as read_topics returns, or the texts of queries by topic")
    texts: dict[str, str] = {}
    for topic in listed:
        require_kind("each of topics", topic, Topic, "a Topic, such as read_topics returns")
        if topic.id in texts:
            raise InputError(f"two topics have the id {topic.id!r}: leave one out")
        texts[topic.id] = topic.query(query)
    if not texts:
        raise InputError("there are no topics")
    return texts
