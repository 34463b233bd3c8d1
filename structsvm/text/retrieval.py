"""Retrieve the best documents of each topic as a run."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sized
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from structsvm.data import Run, Topic
from structsvm.data.collections.items import common_part
from structsvm.data.pairs import sort_topics
from structsvm.exceptions import InputError
from structsvm.foundation.settings import as_list, require_integer, require_kind
from structsvm.foundation.types import Vector
from structsvm.registry import retrieval_functions
from structsvm.text.functions import RetrievalFunction
from structsvm.text.index import Index

Topics: TypeAlias = Iterable[Topic] | Mapping[str, str]
"""Topics, or the texts of queries by the id of their topic."""

_LARGEST = np.finfo(np.float32).max


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
        self._place = np.argsort(numbers)

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

        ``progress`` is called with 1 after each topic.
        """
        require_integer("top", top, 1)
        names, best = sort_topics(texts), list[tuple[NDArray[np.str_], Vector]]()
        for topic in names:
            best.append(self._best(texts[topic], top))
            if progress is not None:
                progress(1)
        doc_ids, scores = (np.concatenate(parts) for parts in zip(*best, strict=True))
        sizes = [len(ids) for ids, _ in best]
        return Run(self.name if name is None else name, np.repeat(names, sizes), doc_ids, scores)

    def _best(self, text: str, top: int) -> tuple[NDArray[np.str_], Vector]:
        """Return ids and scores of the best documents with a term of a query."""
        scores, matches = self.scorer.scores_and_matches(Counter(self.index.analyzer.terms(text)))
        places = self._place[matches]
        values = np.clip(scores[matches] + 0.0, -_LARGEST, _LARGEST).astype(np.float32).astype(np.float64)
        if len(values) > top:
            best = values >= np.partition(values, -top)[-top]
            places, values = places[best], values[best]
        order = np.lexsort((places, values))[: -top - 1 : -1]
        return self._ids[places[order]], values[order]


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
    document id, descending.

    Parameters
    ----------
    index : the collection.
    topics : the topics, for example from `read_topics`; or the text of each query by the id of its topic.
    function : retrieval function, by name, as in ``"bm25"`` or ``"bm25(k1=0.9,b=0.4)"``, or as an object.
    top : largest number of documents to retrieve per topic, at least 1.
    query : part of the topic that is the query; see `Topic.query`.
    field : field of the documents to search, with its own lengths and term frequencies; None: all fields together.
    name : name of the run; None: the names of the field, if any, and of the function.

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
