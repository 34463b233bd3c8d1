"""The topics that take part, with the documents that are relevant to each."""

from collections.abc import Iterable, Sequence

import numpy as np
from attrs import field, frozen

from examples.papers.morgan2004.split import FEWEST, FEWEST_OF_A_KIND
from structsvm.data import Qrels
from structsvm.exceptions import InputError
from structsvm.foundation.storage.records import digest
from structsvm.foundation.types import BoolVector, IntVector
from structsvm.text import Index


@frozen
class TopicCounts:
    """A topic of the experiment, with the numbers of its documents.

    Parameters
    ----------
    id : id of the topic.
    relevant : documents of the index that are relevant to it.

    Examples
    --------
    >>> from examples.papers.morgan2004 import TopicCounts
    >>> topics = (TopicCounts("301", relevant=25), TopicCounts("302", relevant=140))  # as MorganResults.topics has them
    >>> max(topics, key=lambda topic: topic.relevant).id
    '302'
    """

    id: str
    relevant: int


@frozen(eq=False)
class JudgedTopics:
    """The topics of an experiment. Made by `judged_topics`.

    Parameters
    ----------
    relevant : numbers of the relevant documents of each topic that takes part, ascending, by topic.
    left_out : other topics, and why they do not take part.
    missing : documents that are judged relevant to topics that take part and that the index does not have.
    documents : documents of the index.
    """

    relevant: dict[str, IntVector] = field(repr=False)
    left_out: dict[str, str]
    missing: int
    documents: int

    @property
    def counts(self) -> tuple[TopicCounts, ...]:
        """The topics with the number of relevant documents."""
        return tuple(TopicCounts(topic, len(rows)) for topic, rows in self.relevant.items())

    def labels(self, topic: str) -> BoolVector:
        """Return whether each document of the index is relevant to a topic, shape (n_documents,)."""
        labels = np.zeros(self.documents, dtype=bool)
        labels[self.relevant[topic]] = True
        return labels


def judged_topics(
    index: Index, qrels: Qrels, *, min_relevant: int, topics: Iterable[str] | None = None
) -> JudgedTopics:
    """Return the topics with enough relevant documents, in the order of the judgments.

    All documents of the index take part; documents without a judgment count as not relevant.

    Parameters
    ----------
    index : of the documents.
    qrels : which documents are relevant (grade above 0).
    min_relevant : relevant documents in the index that a topic must have.
    topics : topics to choose from; None: all that are judged.

    Raises
    ------
    InputError : the index has no documents or no terms, or lacks all judged documents, or no topic has enough relevant
        documents.
    """
    n = len(index.doc_ids)
    if not n or not len(index.whole.terms):
        raise InputError(
            f"the index has {n} documents and {len(index.whole.terms)} terms, too few for a query: index a collection "
            "with text"
        )
    numbers = {name: number for number, name in enumerate(index.doc_ids.tolist())}
    found: dict[str, list[int | None]] = {topic: [] for topic in dict.fromkeys(qrels.qid.tolist())}
    for topic, document in zip(qrels.qid[qrels.grades > 0].tolist(), _relevant_ids(qrels), strict=True):
        found[topic].append(numbers.get(document))
    if not any(document in numbers for document in qrels.doc_ids.tolist()):
        raise InputError(
            f"the index lacks all {len(qrels.doc_ids)} judged documents (the first judged is "
            f"{str(qrels.doc_ids[0])!r}, the first indexed {str(index.doc_ids[0])!r}): the judgments are of another "
            "collection"
        )
    relevant: dict[str, IntVector] = {}
    left_out: dict[str, str] = {}
    missing = 0
    for topic in found if topics is None else dict.fromkeys(topics):
        rows = [row for row in found.get(topic, []) if row is not None]
        reason = _reason(topic in found, len(rows), n, min_relevant)
        if reason:
            left_out[topic] = reason
            continue
        relevant[topic] = np.array(sorted(rows), dtype=np.int64)
        missing += len(found[topic]) - len(rows)
    if not relevant:
        most = max((sum(row is not None for row in found.get(topic, [])) for topic in left_out), default=0)
        raise InputError(
            f"each of the {len(left_out)} topics has fewer than {min_relevant} relevant documents in the index (the "
            f"most is {most}), or fewer than {FEWEST_OF_A_KIND} others: require fewer (--min-relevant, "
            "min_relevant=...), or use other judgments"
        )
    return JudgedTopics(relevant, left_out, missing, n)


def fingerprint(index: Index, topics: JudgedTopics) -> str:
    """Return a digest of the counts of an index and of its relevant documents."""
    whole = index.whole
    arrays = (whole.ptr, whole.documents, whole.counts, whole.lengths, *topics.relevant.values())
    texts = _joined(index.doc_ids.tolist()), _joined(whole.terms), _joined(topics.relevant)
    return digest([*texts, *map(np.ascontiguousarray, arrays)])


def _relevant_ids(qrels: Qrels) -> list[str]:
    ids: list[str] = qrels.doc_ids[qrels.grades > 0].tolist()
    return ids


def _reason(judged: bool, relevant: int, documents: int, least: int) -> str:
    """Return the reason why a topic does not take part; "" if it does."""
    if not judged:
        return "it is not judged"
    if relevant < least:
        return f"{relevant} of {least} relevant documents in the index"
    if documents < FEWEST:
        return f"{documents} documents in the index, and {FEWEST} are needed"
    return "" if documents - relevant >= FEWEST_OF_A_KIND else "nearly all documents are relevant"


def _joined(texts: Iterable[str] | Sequence[str]) -> bytes:
    return "\0".join(texts).encode()
