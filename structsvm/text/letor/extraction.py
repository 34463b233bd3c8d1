"""Features of all candidates of all topics, as data to learn from."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structsvm.data import Qrels, RankingData
from structsvm.data.pairs import as_ids, number_pairs
from structsvm.exceptions import InputError
from structsvm.features import QueryMinMax
from structsvm.settings import as_names, require_choice, require_kind
from structsvm.text.index import WHOLE, Index
from structsvm.text.letor.catalogue import find_features
from structsvm.text.letor.evidence import Evidence, IndexedField
from structsvm.text.letor.feature import Feature
from structsvm.text.retrieval import Topics, texts_of
from structsvm.types import IntVector

NORMALISATIONS = ("query-min-max", "none")


class Candidates(Protocol):
    """Pairs of a topic and a document: `Qrels`, a `Run`, `JoinedRuns` or a `Pool`.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> from structsvm.text import Analyzer, Index
    >>> from structsvm.text.letor import letor_features
    >>> class Pairs(NamedTuple):
    ...     qid: list
    ...     doc_ids: list
    >>> index = Index.build([("a", {"text": "a wing"}), ("b", {"text": "two wings"})], Analyzer("porter"))
    >>> data = letor_features(index, {"1": "wings"}, Pairs(["1", "1"], ["a", "b"]), features=["L1", "H1"])
    >>> data.doc_ids.tolist(), data.X.shape
    (['b', 'a'], (2, 2))
    """

    @property
    def qid(self) -> Any:
        """Topic of each pair, shape (n,)."""

    @property
    def doc_ids(self) -> Any:
        """Document of each pair, shape (n,)."""


def letor_features(
    index: Index,
    topics: Topics,
    candidates: Candidates,
    qrels: Qrels | None = None,
    *,
    features: str | Feature | Iterable[str | Feature] = "released",
    fields: Iterable[str] | None = None,
    normalise: str = "query-min-max",
    query: str | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> RankingData:
    """Return the features of candidates, field by field.

    Parameters
    ----------
    index : the index of the collection.
    topics : the topics, such as `read_topics` returns; or the text of each query by the id of its topic. Those
        without candidates are left out.
    candidates : the documents whose features are wanted, and for which topics: the judged ones (`Qrels`),
        a run, or the union of several runs' top k (`join_runs`). Those of other topics are left out.
    qrels : the judgments: labels are their grades, 0 where a document was not judged. None: all labels are 0.
    features : which features; see `find_features`.
    fields : the fields they are of, in this order: names of the index, or ``"whole"`` for all fields together
        (unless a field has this name). None: all fields, and the whole document where there are several.
    normalise : ``"query-min-max"``, LETOR's: within a query each feature goes from 0 to 1, and is 0 where it is
        the same for all documents; or ``"none"``.
    query : part of the topic that is the query, see `Topic.query`. None: the description, or all that there is.
    progress : is given the number of topics done and that of all.

    Returns
    -------
    data : rows ordered by topic (by number where all topics are numbers) and by document id, descending, as
        trec_eval breaks ties. Columns are named ``field.feature``, such as ``title.L1``; all features of the
        first field come first.

    Raises
    ------
    InputError : no topic has candidates, a candidate is not in the index, a topic is there twice, or an
        argument is not what it should be.
    UnknownNameError : there is no field or feature of a name.

    Examples
    --------
    >>> from structsvm.data import Qrels
    >>> from structsvm.text import Analyzer, Index
    >>> from structsvm.text.letor import letor_features
    >>> index = Index.build([("a", {"text": "a wing"}), ("b", {"text": "two wings"})], Analyzer("porter"))
    >>> judged = Qrels.from_grades(["1", "1"], ["a", "b"], [1, 0])
    >>> letor_features(index, {"1": "wings"}, judged, judged, fields=["text"]).X.shape
    (2, 15)
    """
    require_kind("index", index, Index, "an Index, such as Index.load returns")
    require_choice("normalise", normalise, NORMALISATIONS)
    require_kind("qrels", qrels, Qrels | None, "Qrels, such as load_qrels returns, or None")
    chosen = find_features(features)
    sources = _sources(index, fields)
    queries = {topic: Counter(index.analyzer.terms(text)) for topic, text in texts_of(topics, query).items()}
    qid, doc_ids = _pairs(candidates, queries)
    documents = _numbers(index, qid, doc_ids)
    starts = np.flatnonzero(np.concatenate([[True], qid[1:] != qid[:-1]]))
    X = np.empty((len(qid), len(sources) * len(chosen)))
    for done, rows in enumerate(np.split(np.arange(len(qid)), starts[1:]), start=1):
        counts = queries[str(qid[rows[0]])]
        X[rows[0] : rows[-1] + 1] = _values(list(sources.values()), chosen, counts, documents[rows])
        progress(done, len(starts))
    if normalise == "query-min-max":
        X = QueryMinMax().fit_transform(X, qid=qid)
    return RankingData(
        X=X,
        y=np.zeros(len(qid)) if qrels is None else qrels.labels(qid, doc_ids),
        qid=qid,
        doc_ids=doc_ids,
        feature_names=tuple(f"{name}.{feature.name}" for name in sources for feature in chosen),
    )


def _values(
    sources: Sequence[IndexedField], features: Sequence[Feature], query: Mapping[str, int], documents: IntVector
) -> NDArray[np.float64]:
    columns = []
    for source in sources:
        evidence = Evidence(source, query, documents)
        columns += [feature.values(evidence) for feature in features]
    return np.column_stack(columns)


def _sources(index: Index, fields: Iterable[str] | None) -> dict[str, IndexedField]:
    """Return the fields that are asked for, by name."""
    if fields is None:
        fields = [*index.fields, *([WHOLE] if len(index.fields) > 1 else [])]
    return {name: IndexedField(index.part(name)) for name in as_names("fields", fields)}


def _pairs(candidates: Candidates, topics: Mapping[str, Any]) -> tuple[NDArray[np.str_], NDArray[np.str_]]:
    """Return topic and document of each candidate, ordered, for the topics that are asked for."""
    asked, ids = _ids(candidates, "qid"), _ids(candidates, "doc_ids")
    kept = np.array([topic in topics for topic in asked.tolist()], dtype=np.bool_)
    if not kept.any():
        raise InputError(
            f"no topic has candidates: the first topic is {next(iter(topics), None)!r}, the candidates' first is "
            f"{str(asked[0]) if len(asked) else None!r}"
        )
    pairs = number_pairs(asked[kept], ids[kept])
    key = np.unique(pairs.key)
    return pairs.qid(key), pairs.doc_ids(key)


def _ids(candidates: Candidates, name: str) -> NDArray[np.str_]:
    ids: ArrayLike | None = getattr(candidates, name, None)
    if ids is None:
        raise InputError(
            f"candidates must have a topic and a document id a row, as Qrels, a Run or joined runs have, "
            f"got {type(candidates).__name__}; join_runs joins several runs"
        )
    return as_ids(ids, name)


def _numbers(index: Index, qid: NDArray[np.str_], doc_ids: NDArray[np.str_]) -> IntVector:
    """Return the number of each candidate in the index."""
    known = np.asarray(index.doc_ids)
    order = np.argsort(known)
    place = np.minimum(np.searchsorted(known, doc_ids, sorter=order), len(order) - 1)
    numbers: IntVector = order[place]
    missing = known[numbers] != doc_ids
    if missing.any():
        row = int(missing.argmax())
        others = len(set(doc_ids[missing].tolist())) - 1
        raise InputError(
            f"document {str(doc_ids[row])!r}, a candidate for topic {str(qid[row])!r}, is not in the index"
            f"{f', nor are {others} more' * bool(others)}: index the collection that the candidates are from"
        )
    return numbers
