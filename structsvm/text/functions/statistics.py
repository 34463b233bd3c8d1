"""Statistics of terms and occurrences, the input of retrieval functions."""

from typing import Self

import numpy as np
from attrs import frozen

from structsvm.foundation.types import IntVector, Vector
from structsvm.text.postings import Postings


@frozen(eq=False)
class TermStatistics:
    """Terms of a collection.

    Parameters
    ----------
    df : number of documents with each term, at least 1, shape (n,).
    cf : occurrences of each term in the collection, at least df, shape (n,).
    collection : the collection; its ``n_documents`` is N, ``n_tokens`` is ``|C|``, and ``average_length`` is avg.

    Examples
    --------
    >>> from structsvm.text import Index
    >>> index = Index.build([("a", {"text": "wing flow wing"}), ("b", {"text": "heat wing"})])
    >>> terms = TermStatistics.of(index.whole)
    >>> dict(zip(index.whole.terms, terms.share.round(3).tolist(), strict=True))
    {'flow': 0.2, 'heat': 0.2, 'wing': 0.6}
    """

    df: Vector
    cf: Vector
    collection: Postings

    @classmethod
    def of(cls, collection: Postings, terms: IntVector | slice = slice(None)) -> Self:
        """Return the statistics of the terms with these numbers, by default of all."""
        df, cf = collection.document_frequency[terms], collection.collection_frequency[terms]
        return cls(df.astype(np.float64), cf.astype(np.float64), collection)

    @property
    def share(self) -> Vector:
        """Share of each term in all tokens, ``cf / |C|``: the language model of the collection."""
        return self.cf / self.collection.n_tokens


@frozen(eq=False)
class Occurrences:
    """Postings, each of a term and a document with that term; arrays have shape (n,).

    The postings may be all documents of one term or any selection, so a weight must depend on a single posting.

    Parameters
    ----------
    tf : occurrences of the term in the document, at least 1.
    length : tokens of the document, ``|d|``, at least tf.
    document : result of `RetrievalFunction.of_documents` for the document; NaN, shape (1,), if that is None.
    terms : the terms: one for all postings, with numbers of shape (1,), or one for each, shape (n,).

    Examples
    --------
    >>> from structsvm.registry import retrieval_functions
    >>> from structsvm.text import Index
    >>> from structsvm.text.functions import TermStatistics
    >>> index = Index.build([("a", {"text": "wing flow wing"}), ("b", {"text": "heat"}), ("c", {"text": "heat"})])
    >>> wing = TermStatistics.of(index.whole, np.array([index.whole.find("wing")]))
    >>> found = Occurrences(tf=np.array([2.0]), length=np.array([3.0]), document=np.array([np.nan]), terms=wing)
    >>> retrieval_functions.create("okapi").weights(found).round(3)
    array([0.573])
    """

    tf: Vector
    length: Vector
    document: Vector
    terms: TermStatistics

    @property
    def df(self) -> Vector:
        """Number of documents with the term."""
        return self.terms.df

    @property
    def cf(self) -> Vector:
        """Occurrences of the term in the collection."""
        return self.terms.cf

    @property
    def collection(self) -> Postings:
        """The collection, with its ``n_documents``, ``n_tokens`` and ``average_length``."""
        return self.terms.collection
