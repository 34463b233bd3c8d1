"""Choose the terms of a query by their information about relevance."""

import numpy as np

from structsvm.foundation.types import BoolVector, IntVector, Vector
from structsvm.text import Postings


def mutual_information(postings: Postings, rows: IntVector, relevant: BoolVector) -> Vector:
    """Return the mutual information between the presence of each term and relevance, over some documents.

    ``Σ_{x, y} p(x, y) ln(p(x, y) / (p(x) p(y)))``, where x is whether the term is in a document and y whether the
    document is relevant; probabilities are shares of these documents. It is 0 if x or y is constant, and does not show
    whether the term is evidence for relevance or against it.

    Parameters
    ----------
    postings : counts of terms.
    rows : numbers of the documents, each once, shape (n,).
    relevant : whether each of them is relevant, shape (n,).

    Returns
    -------
    information : in nats, at least 0, shape (n_terms,).
    """
    n, R = len(rows), int(relevant.sum())
    kind = np.zeros(postings.n_documents, dtype=np.int8)
    kind[rows] = 1 + relevant
    of_postings = kind[postings.documents]
    present, both = (_a_term(of_postings >= least, postings.ptr) for least in (1, 2))
    cells = (
        (both, present, R),
        (present - both, present, n - R),
        (R - both, n - present, R),
        (n - R - present + both, n - present, n - R),
    )
    total = np.zeros(len(present))
    for cell, of_term, of_kind in cells:
        filled = cell > 0
        share = np.divide(n * cell, of_term * of_kind, out=np.ones(len(cell)), where=filled)
        total += cell / n * np.log(share)
    return np.maximum(total, 0.0)


def informative_terms(information: Vector, number: int) -> IntVector:
    """Return the numbers of the terms that tell most, in that order, equal ones alphabetically; shape (number,)."""
    return np.argsort(-information, kind="stable")[:number]


def _a_term(counted: BoolVector, ptr: IntVector) -> IntVector:
    """Return how many postings of each term are counted."""
    before = np.concatenate([[0], np.cumsum(counted, dtype=np.int64)])
    counts: IntVector = before[ptr[1:]] - before[ptr[:-1]]
    return counts
