"""Indexes: the counts of a collection, field by field."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Self

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from structsvm.text.analyzer import Analyzer
from structsvm.text.postings import Postings


@frozen(eq=False, repr=False)
class Index:
    """The counts of a collection.

    Parameters
    ----------
    analyzer : makes terms of documents and of queries.
    doc_ids : ids of the documents, in the order of the collection, shape (n_documents,).
    fields : the counts of each field by name.
    whole : the counts of all fields together: the same object where there is one field only.
    """

    analyzer: Analyzer
    doc_ids: NDArray[np.str_]
    fields: Mapping[str, Postings]
    whole: Postings

    @classmethod
    def build(cls, documents: Iterable[tuple[str, Mapping[str, str]]], analyzer: Analyzer) -> Self:
        """Index documents, each an id and the text of its fields by name."""
        ids, rows = [], []
        for name, fields in documents:
            ids.append(name)
            rows.append({field: Counter(analyzer.terms(text)) for field, text in fields.items()})
        names = sorted({field for row in rows for field in row})
        made = {field: _postings([row.get(field, Counter()) for row in rows]) for field in names}
        whole = made[names[0]] if len(names) == 1 else _postings([sum(row.values(), Counter()) for row in rows])
        return cls(analyzer, np.array(ids), made, whole)


def _postings(rows: list[Counter[str]]) -> Postings:
    terms = sorted({term for row in rows for term in row})
    found: dict[str, list[tuple[int, int]]] = {term: [] for term in terms}
    for document, row in enumerate(rows):
        for term, count in row.items():
            found[term].append((document, count))
    pairs = np.array([pair for term in terms for pair in found[term]], dtype=np.int64).reshape(-1, 2)
    return Postings(
        terms,
        np.concatenate([[0], np.cumsum([len(found[term]) for term in terms], dtype=np.int64)]),
        pairs[:, 0].astype(np.int32),
        pairs[:, 1].astype(np.uint16),
        np.array([sum(row.values()) for row in rows], dtype=np.int32),
    )
