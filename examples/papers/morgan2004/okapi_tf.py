"""Okapi tf scores: how much a document is about a term."""

import numpy as np
from attrs import frozen

from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.text import Postings, RetrievalFunction
from structsvm.text.functions import Occurrences


@frozen
class _OkapiTF(RetrievalFunction):
    """The saturated count of BM25 alone, without idf: ``tf / (tf + 0.5 + 1.5 |d| / avg)``, that is k1 = 2 and b = 0.75.

    Robertson, Walker, Jones, Hancock-Beaulieu and Gatford, "Okapi at TREC-3", 1994.
    """

    def weights(self, found: Occurrences) -> Vector:
        """Return the saturated tf."""
        return found.tf / (found.tf + (0.5 + 1.5 * found.length / found.collection.average_length))


def okapi_tf(postings: Postings, terms: IntVector) -> Matrix:
    """Return the Okapi tf score of some terms in every document: below 1, and 0 if the term is absent.

    Parameters
    ----------
    postings : counts of terms.
    terms : numbers of the terms, shape (k,).

    Returns
    -------
    values : shape (n_documents, k).
    """
    scorer = _OkapiTF().bind(postings)
    return np.column_stack([scorer.scores({postings.terms[term]: 1.0}) for term in terms.tolist()])
