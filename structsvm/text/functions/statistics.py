"""What retrieval functions know: of a collection, its documents, terms, and the occurrences of terms in documents."""

from typing import Self

import numpy as np
from attrs import frozen

from structsvm.text.postings import Postings
from structsvm.types import Vector


@frozen
class CollectionStatistics:
    """Statistics of a collection as a whole.

    Parameters
    ----------
    n_documents : number of documents, those without a term too: N.
    n_terms : number of different terms.
    n_tokens : sum of the lengths of all documents: ``|C|``.

    Examples
    --------
    >>> from structsvm.text import Index
    >>> from structsvm.text.functions import CollectionStatistics
    >>> index = Index.build([("a", {"text": "wing flow wing"}), ("b", {"text": "heat wing"})])
    >>> CollectionStatistics.of(index.whole)
    CollectionStatistics(n_documents=2, n_terms=3, n_tokens=5)
    >>> CollectionStatistics.of(index.whole).average_length
    2.5
    """

    n_documents: int
    n_terms: int
    n_tokens: int

    @property
    def average_length(self) -> float:
        """Tokens a document, those without a term too: avg."""
        return self.n_tokens / self.n_documents if self.n_documents else 0.0

    @classmethod
    def of(cls, postings: Postings) -> Self:
        """Return the statistics of a collection."""
        return cls(postings.n_documents, len(postings.terms), postings.n_tokens)


@frozen(eq=False)
class TermStatistics:
    """Terms that are in some document, one for each number in df and cf.

    Parameters
    ----------
    df : number of documents that each term is in, at least 1.
    cf : how often each term is in the collection, at least df.
    collection : the collection.

    Examples
    --------
    >>> from structsvm.text import Index
    >>> from structsvm.text.functions import DocumentStatistics
    >>> index = Index.build([("a", {"text": "wing flow wing"}), ("b", {"text": "heat wing"})])
    >>> terms = DocumentStatistics.of(index.whole).terms
    >>> dict(zip(index.whole.terms, terms.share.round(3).tolist(), strict=True))
    {'flow': 0.2, 'heat': 0.2, 'wing': 0.6}
    """

    df: Vector
    cf: Vector
    collection: CollectionStatistics

    @property
    def share(self) -> Vector:
        """Share of each term in all tokens, ``cf / |C|``: the language model of the collection."""
        return self.cf / self.collection.n_tokens


@frozen(eq=False)
class DocumentStatistics:
    """All documents of a collection.

    Parameters
    ----------
    length : tokens of each, shape (n_documents,); 0 for an empty one.
    postings : which terms each has, and how often.
    collection : the collection.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm.text import Index
    >>> from structsvm.text.functions import DocumentStatistics
    >>> index = Index.build([("a", {"text": "wing flow wing"}), ("b", {"text": "heat wing"})])
    >>> documents = DocumentStatistics.of(index.whole)
    >>> documents.length, documents.n_different()
    (array([3., 2.]), array([2., 2.]))
    >>> documents.norm(np.ones(3)).round(3)  # of counts (1, 2) and (1, 1)
    array([2.236, 1.414])
    """

    length: Vector
    postings: Postings
    collection: CollectionStatistics

    @classmethod
    def of(cls, postings: Postings) -> Self:
        """Return the statistics of a collection."""
        return cls(postings.lengths.astype(np.float64), postings, CollectionStatistics.of(postings))

    @property
    def terms(self) -> TermStatistics:
        """All terms of the collection, in the order of the postings."""
        return TermStatistics(
            self.postings.document_frequency.astype(np.float64),
            self.postings.collection_frequency.astype(np.float64),
            self.collection,
        )

    def n_different(self) -> Vector:
        """Return how many different terms each document has, shape (n_documents,)."""
        return np.bincount(self.postings.documents, minlength=len(self.length)).astype(np.float64)

    def norm(self, weights: Vector) -> Vector:
        """Return the Euclidean norm of each document's counts times weights of the terms, shape (n_documents,).

        Parameters
        ----------
        weights : a weight for each term, shape (n_terms,).
        """
        found = self.postings
        squares = np.square(found.counts * np.repeat(weights, np.diff(found.ptr)))
        return np.sqrt(np.bincount(found.documents, squares, minlength=len(self.length)))


@frozen(eq=False)
class Occurrences:
    """Postings, each of a term and a document that has it; arrays hold one number for each posting, shape (n,).

    They may be all documents of one term, or any others: what is made of a posting must not depend on the others.

    Parameters
    ----------
    tf : how often the document has the term, at least 1.
    length : tokens of the document, at least tf: ``|d|``.
    document : what `RetrievalFunction.of_documents` returned for the document; NaN, shape (1,), where that is None.
    terms : the terms: the one of all postings, with numbers of shape (1,), or that of each, of shape (n,).

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm.text.functions import CollectionStatistics, Okapi, Occurrences, TermStatistics
    >>> collection = CollectionStatistics(n_documents=100, n_terms=500, n_tokens=1000)
    >>> wing = TermStatistics(df=np.array([8.0]), cf=np.array([12.0]), collection=collection)
    >>> found = Occurrences(
    ...     tf=np.array([1.0, 3.0]), length=np.array([10.0, 10.0]), document=np.array([np.nan]), terms=wing)
    >>> Okapi().weights(found).round(3)
    array([2.387, 3.751])
    """

    tf: Vector
    length: Vector
    document: Vector
    terms: TermStatistics

    @property
    def df(self) -> Vector:
        """Number of documents that have the term."""
        return self.terms.df

    @property
    def cf(self) -> Vector:
        """How often the collection has the term."""
        return self.terms.cf

    @property
    def collection(self) -> CollectionStatistics:
        """The collection."""
        return self.terms.collection
