"""Okapi tf scores: how much a document is about a term."""

import numpy as np

from structsvm.text import Postings
from structsvm.types import IntVector, Matrix

K1 = 2.0
B = 0.75


def okapi_tf(postings: Postings, terms: IntVector) -> Matrix:
    """Return the Okapi tf score of some terms in every document.

    ``tf / (tf + k1 (1 − b + b |d| / avg))`` with k1 = 2 and b = 0.75, that is ``tf / (tf + 0.5 + 1.5 |d| / avg)``,
    where tf is how often the term is in the document, |d| the length of the document in tokens and avg the mean length
    over the collection (Robertson, Walker, Jones, Hancock-Beaulieu and Gatford, "Okapi at TREC-3", 1994). Scores are
    below 1, and 0 where the term is absent.

    Parameters
    ----------
    postings : counts of terms.
    terms : numbers of the terms, shape (k,).

    Returns
    -------
    values : shape (n_documents, k).
    """
    values = np.zeros((postings.n_documents, len(terms)))
    for column, term in enumerate(terms):
        those = slice(postings.ptr[term], postings.ptr[term + 1])
        documents, tf = postings.documents[those], postings.counts[those].astype(np.float64)
        length = postings.lengths[documents] / postings.average_length
        values[documents, column] = tf / (tf + K1 * (1.0 - B + B * length))
    return values
