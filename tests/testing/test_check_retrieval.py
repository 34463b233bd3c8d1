"""Retrieval functions with one fault each: the check must find and locate it."""

import math

import attrs
import numpy as np
import pytest

from structsvm.exceptions import InputError
from structsvm.registry import retrieval_functions
from structsvm.testing import check_retrieval
from structsvm.text.functions.language_models import AbsoluteDiscount, Dirichlet
from structsvm.text.functions.tf_idf import BM25, Cosine, Okapi


@pytest.mark.parametrize("name", retrieval_functions.names())
def test_built_in_functions_pass(name):
    check_retrieval(retrieval_functions.create(name))


def lucene(query, document, documents):
    N, average = len(documents), sum(map(len, documents)) / len(documents)
    score = 0.0
    for term, q in query.items():
        df, tf = sum(term in other for other in documents), document.count(term)
        idf = math.log(1 + (N - df + 0.5) / (df + 0.5))
        score += q * idf * tf / (tf + 1.2 * (1 - 0.75 + 0.75 * len(document) / average))
    return score


def test_the_definition_is_compared_with():
    check_retrieval(BM25(), definition=lucene)
    with pytest.raises(AssertionError, match="expected the score of the definition"):
        check_retrieval(BM25(b=0.5), definition=lucene)


@attrs.frozen
class MeanOfPostings(Okapi):
    """A weight that depends on other terms."""

    def weights(self, found):
        return found.tf / found.tf.mean()


@attrs.frozen
class PlaceAmongPostings(Okapi):
    def weights(self, found):
        return np.arange(1.0, len(found.tf) + 1.0)


@attrs.frozen
class WritesToCounts(Okapi):
    def weights(self, found):
        found.tf[:] += 1.0
        return found.tf


@attrs.frozen
class WritesToPostings(Okapi):
    def of_documents(self, documents):
        documents.lengths[0] += 1


@attrs.frozen
class NoLogarithm(Okapi):
    """Minus infinity if all documents have the term."""

    def weights(self, found):
        with np.errstate(divide="ignore"):
            return np.log(found.collection.n_documents / found.df - 1.0) * found.tf


@attrs.frozen
class OneTooFew(Okapi):
    def weights(self, found):
        return found.tf[:-1]


@attrs.frozen
class FirstTermCounts(Okapi):
    """The weight of a query's term depends on its position."""

    def query_weights(self, counts, terms):
        return counts * np.arange(1.0, len(counts) + 1.0)


@attrs.frozen
class PlaceOfDocument(Dirichlet):
    def document_scores(self, documents):
        return np.arange(len(documents.lengths), dtype=float)


@attrs.frozen
class NoNorm(Cosine):
    """Not a number for documents without terms."""

    def of_documents(self, documents):
        return np.full(len(documents.lengths), np.nan)


@attrs.frozen
class EmptyDocuments(AbsoluteDiscount):
    def unseen(self, documents):
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.bincount(documents.documents, minlength=documents.n_documents) / documents.lengths


@attrs.frozen
class InfiniteQuery(Okapi):
    def query_score(self, counts, terms):
        return float("inf")


class Remembers(Okapi):
    """Not frozen, and counts its calls."""

    calls = 0

    def weights(self, found):
        type(self).calls += 1
        return found.tf * self.calls


class Unequal(Okapi):
    __slots__ = ()
    __eq__ = object.__eq__
    __hash__ = object.__hash__


@attrs.frozen(slots=False)
class WithFunction(Okapi):
    scale: object = attrs.field(default=lambda tf: tf)


@attrs.frozen
class WithList(Okapi):
    values: list = attrs.field(factory=list)


@attrs.frozen
class DropsEqualTerms(Okapi):
    """Raises a custom error if a collection has one document."""

    def weights(self, found):
        return found.tf / np.array([1.0 / (found.collection.n_documents - 1) for _ in found.tf])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (MeanOfPostings(), "the same weight for a posting by itself as among others"),
        (PlaceAmongPostings(), "no effect of the order of documents|the same weight for a posting by itself"),
        (WritesToCounts(), "read-only"),
        (WritesToPostings(), "expected unchanged postings, got other values"),
        (NoLogarithm(), "-inf among them"),
        (OneTooFew(), r"numbers of shape \(0,\)"),
        (PlaceOfDocument(), "no effect of the order of documents"),
        (NoNorm(), "nan among them"),
        (EmptyDocuments(), "inf|nan"),
        (InfiniteQuery(), "weight or score that is not finite"),
        (Remembers(), "takes new attributes|the same scores the second time"),
        (Unequal(), "an equal object after pickling"),
        (WithFunction(), "cannot be pickled|an equal object after pickling"),
        (WithList(), "has no hash"),
        (DropsEqualTerms(), "ZeroDivisionError"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_faults_are_found(function, message):
    with pytest.raises(AssertionError, match=message):
        check_retrieval(function)


def test_a_fault_in_the_query_is_found_by_the_definition():
    def okapi_of_lucene(query, document, documents):
        return lucene(query, document, documents)

    with pytest.raises(AssertionError, match="expected the score of the definition"):
        check_retrieval(FirstTermCounts(), definition=okapi_of_lucene)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [(Okapi, "is a class"), ("okapy", "Did you mean 'okapi'"), (None, "is not a valid retrieval function")],
)
def test_no_function(wrong, message):
    with pytest.raises(InputError, match=message):
        check_retrieval(wrong)


def test_a_function_by_name():
    check_retrieval("okapi", collections=2)
