"""Compute features of all candidates of all topics."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from attrs import evolve
from numpy.typing import ArrayLike, NDArray

from structsvm.data import Qrels, RankingData, Topic
from structsvm.data.pairs import as_ids, as_topics, number_pairs
from structsvm.data.runs import ByTopic, DataFrame, QrelsLike, as_qrels, frame_ids, mapping_rows
from structsvm.exceptions import InputError
from structsvm.features.scaling.names import SCORE_SCALINGS, scaling_named
from structsvm.features.scaling.scalings import scaled_by_query
from structsvm.foundation.frames import is_frame
from structsvm.foundation.settings import as_names, require_kind
from structsvm.foundation.types import IntVector, Matrix
from structsvm.text.index import WHOLE, Index
from structsvm.text.letor.catalogue import find_features
from structsvm.text.letor.feature import Evidence, Feature, IndexedField
from structsvm.text.retrieval import Topics, texts_of


class Candidates(Protocol):
    """Topic and document of each candidate, shape (n,) each: `Qrels`, a `Run`, joined runs or a `Pool`."""

    @property
    def qid(self) -> Any: ...

    @property
    def doc_ids(self) -> Any: ...


def letor_features(
    index: Index,
    topics: Topics,
    candidates: Candidates | DataFrame | ByTopic,
    qrels: QrelsLike | None = None,
    *,
    features: str | Feature | Iterable[str | Feature] = "released",
    fields: Iterable[str] | None = None,
    normalize: str | None = "query-min-max",
    query: str | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> RankingData:
    """Compute LETOR's features of candidate documents, field by field.

    Parameters
    ----------
    index : the index of the collection.
    topics : the topics, for example from `read_topics`; or the text of each query by the id of its topic. Topics
        without candidates are left out.
    candidates : pairs of topic and document: judgments (`Qrels`), a run, or the union of several runs' top k
        (`join_runs`); or a data frame or dictionary of them. Candidates of other topics are left out.
    qrels : the judgments, or a data frame or dictionary of them: labels are their grades, 0 for unjudged
        documents. None: all labels are 0.
    features : ``"released"`` or ``"lecture"``; names such as ``"L8"`` or ``"L8_lecture"``; names of retrieval
        functions, such as ``"tfidf"`` or ``"lm_dirichlet(mu=500)"``; `Feature` objects; or a list of names and objects.
    fields : fields of the index, in the order of the columns, or ``"whole"`` for all fields together
        (unless a field has this name). None: all fields, and ``"whole"`` if there are several.
    normalize : scaling within each query: ``"query-min-max"``, as in LETOR, from 0 to 1, and 0 if all documents are
        equal; ``"query-z-score"``, ``"query-sum"`` or ``"query-percentiles"``; or None.
    query : part of the topic that is the query; see `Topic.query`.
    progress : called with the numbers of finished and of all topics.

    Returns
    -------
    data : rows ordered by topic (by number if all topics are numbers) and by document id, descending, as
        trec_eval breaks ties. Columns are named ``field.feature``, such as ``title.L1``; all features of the
        first field come first.

    Raises
    ------
    UnknownNameError : no field, feature or retrieval function has this name.

    Examples
    --------
    >>> from structsvm.data import Qrels
    >>> from structsvm.text import Analyzer, Index
    >>> index = Index.build([("a", {"text": "a wing"}), ("b", {"text": "two wings"})], Analyzer("porter"))
    >>> judged = Qrels.from_grades(["1", "1"], ["a", "b"], [1, 0])
    >>> letor_features(index, {"1": "wings"}, judged, judged, fields=["text"]).X.shape
    (2, 15)
    """
    require_kind("index", index, Index, "an Index, such as Index.load returns")
    scaling = scaling_named("normalize", normalize, SCORE_SCALINGS)
    qrels = None if qrels is None else as_qrels(qrels)
    listed = find_features(features)
    if fields is None:
        fields = [*index.fields, *([WHOLE] if len(index.fields) > 1 else [])]
    sources = {name: IndexedField(index.part(name)) for name in as_names("fields", fields)}
    queries = {topic: Counter(index.analyzer.terms(text)) for topic, text in texts_of(topics, query).items()}
    qid, doc_ids = _pairs(candidates, queries)
    documents = _numbers(index, qid, doc_ids)
    ptr = np.concatenate([[0], np.flatnonzero(qid[1:] != qid[:-1]) + 1, [len(qid)]])
    X: Matrix = np.empty((len(qid), len(sources) * len(listed)))
    for done, (start, stop) in enumerate(pairwise(ptr.tolist()), start=1):
        evidence = [Evidence(source, queries[str(qid[start])], documents[start:stop]) for source in sources.values()]
        X[start:stop] = np.column_stack([feature.values(part) for part in evidence for feature in listed])
        progress(done, len(ptr) - 1)
    return RankingData(
        X=scaled_by_query(X, ptr, scaling),
        y=np.zeros(len(qid)) if qrels is None else qrels.labels(qid, doc_ids),
        qid=qid,
        doc_ids=doc_ids,
        feature_names=tuple(f"{name}.{feature.name}" for name in sources for feature in listed),
    )


def indexed_judgments(judgments: Qrels, index: Index, topics: Sequence[Topic]) -> tuple[Qrels, list[str]]:
    """Return the judgments of indexed documents, and the missing ids; all judgments if no document is indexed."""
    asked = np.isin(judgments.qid, [topic.id for topic in topics])
    there = index.numbers_of(judgments.doc_ids) >= 0
    if not (asked & there).any():
        return judgments, []
    missing = list(dict.fromkeys(judgments.doc_ids[asked & ~there].tolist()))
    columns = {name: getattr(judgments, name)[there] for name in ("qid", "doc_ids", "grades")}
    return evolve(judgments, **columns), missing


def _pairs(candidates: Any, topics: Mapping[str, Any]) -> tuple[NDArray[np.str_], NDArray[np.str_]]:
    """Return topic and document of each candidate of the topics, ordered."""
    if is_frame(candidates):
        asked, ids = frame_ids(candidates, "the data frame of candidates")
    elif isinstance(candidates, Mapping):
        topic, document, _ = mapping_rows(candidates, "the dictionary of candidates", "score")
        asked, ids = as_topics(topic), as_ids(document, "doc_ids")
    else:
        asked, ids = _ids(candidates, "qid"), _ids(candidates, "doc_ids")
    of_topics = np.array([topic in topics for topic in asked.tolist()], dtype=np.bool_)
    if not of_topics.any():
        raise InputError(
            f"no topic has candidates: the first topic is {next(iter(topics), None)!r}, the candidates' first is "
            f"{str(asked[0]) if len(asked) else None!r}"
        )
    pairs = number_pairs(asked[of_topics], ids[of_topics])
    key = np.unique(pairs.key)
    return pairs.qid(key), pairs.doc_ids(key)


def _ids(candidates: Any, name: str) -> NDArray[np.str_]:
    ids: ArrayLike | None = getattr(candidates, name, None)
    if ids is None:
        raise InputError(
            f"candidates must have a topic and a document id in each row, as Qrels, a Run or joined runs have, "
            f"got {type(candidates).__name__}; join_runs joins several runs"
        )
    return as_ids(ids, name)


def _numbers(index: Index, qid: NDArray[np.str_], doc_ids: NDArray[np.str_]) -> IntVector:
    """Return the number of each candidate in the index; raise InputError if one is missing."""
    numbers = index.numbers_of(doc_ids)
    missing = numbers < 0
    if missing.any():
        row = int(missing.argmax())
        others = len(set(doc_ids[missing].tolist())) - 1
        raise InputError(
            f"document {str(doc_ids[row])!r}, a candidate for topic {str(qid[row])!r}, is not in the index"
            f"{f', nor are {others} more' * bool(others)}: index the collection that the candidates are from"
        )
    return numbers
