"""Check a retrieval function."""

import pickle
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import TypeAlias

import numpy as np

from structsvm.exceptions import CheckError, InputError
from structsvm.foundation.settings import require_integer
from structsvm.foundation.types import IntVector, Vector
from structsvm.registry import retrieval_functions
from structsvm.text import Postings, RetrievalFunction
from structsvm.text.functions.base import Scorer

_TERMS = "abcdefghij"
_UNKNOWN = "zz"

Definition: TypeAlias = Callable[[Mapping[str, int], Sequence[str], Sequence[Sequence[str]]], float]
"""The score of one document: of the counts of a query, the document's tokens, and all documents."""


def check_retrieval(
    function: str | RetrievalFunction,
    *,
    definition: Definition | None = None,
    random_state: int = 0,
    collections: int = 20,
) -> None:
    """Check that a retrieval function scores documents as if documents and terms were scored one at a time.

    The check uses random small collections and queries: terms in all documents or in one, terms that queries repeat or
    that no document has, documents without a term, and collections of one document. It requires that

    - weights and scores are finite numbers, one for each posting or document, and arguments are not written to,
    - a posting's weight does not depend on the other postings in the same call,
    - scores do not depend on the order of documents, on the order of the query's terms, or on terms that no document
      has, and are the same the second time,
    - scores equal ``definition``, if it is given,
    - the function is a value: equal to itself after pickling (if its class can be imported), hashable, without
      attributes that can be assigned, and equal to the function that its name creates, if it has a name.

    Parameters
    ----------
    function : the function to check, as an object or by name.
    definition : the formula for the score of one document, in plain Python: ``definition(query, document, documents)``
        gets the counts of the query's terms that a document has, the tokens of the document, and the tokens of all
        documents. Only documents with a term of the query are compared.
    random_state : seed of the random collections.
    collections : number of collections, at least 1.

    Raises
    ------
    CheckError : the first mistake found; the message gives the collection, the query, the expected and the actual
        value.

    Examples
    --------
    >>> check_retrieval("okapi(k1=0.9)")
    """
    resolved: RetrievalFunction = retrieval_functions.create(function)
    require_integer("random_state", random_state, 0)
    require_integer("collections", collections, 1)
    _check_value(resolved)
    random = np.random.default_rng(random_state)
    for number in range(collections):
        documents = _random_documents(random, number)
        query = _random_query(random, documents)
        _check_scores(resolved, definition, documents, query, random, f"seed {random_state}, collection {number}")


def _check_value(function: RetrievalFunction) -> None:
    def require(truth: bool, expected: str, got: object) -> None:
        if not truth:
            raise CheckError(f"{function!r}: expected {expected}, got {got}.")

    try:
        copied = pickle.loads(pickle.dumps(function)) if _can_be_found(type(function)) else copy(function)
        equal = copied == function
    except Exception as error:
        raise CheckError(f"{function!r} cannot be pickled: {type(error).__name__}: {error}.") from error
    require(equal, "an equal object after pickling: derive it as a frozen attrs class", repr(copied))
    try:
        same = hash(function) == hash(copied)
    except TypeError as error:
        raise CheckError(f"{function!r} has no hash: {error}. Settings must be frozen values.") from error
    require(same, "the same hash after pickling", "another")
    try:
        function.unheard_of = 1  # type: ignore[attr-defined]
    except AttributeError:
        pass
    else:
        raise CheckError(f"{function!r} takes new attributes: expected a frozen attrs class, without state.")
    name = retrieval_functions.spell(function)
    if name is not None:
        require(
            retrieval_functions.create(name) == function, f"the function that its name {name!r} creates", "another one"
        )


def _can_be_found(kind: type) -> bool:
    """Return True if pickle finds a class by its name, which requires that a module contains it."""
    return getattr(sys.modules.get(kind.__module__), kind.__qualname__, None) is kind


def _check_scores(
    function: RetrievalFunction,
    definition: Definition | None,
    documents: list[list[str]],
    query: dict[str, int],
    random: np.random.Generator,
    label: str,
) -> None:
    place = f"{label}, documents {documents}, query {query}"

    def require_equal(scores: Vector, expected: Vector, what: str) -> None:
        if not np.allclose(scores, expected, rtol=1e-9, atol=1e-12):
            at = int(np.argmax(~np.isclose(scores, expected, rtol=1e-9, atol=1e-12)))
            raise CheckError(
                f"{function!r} on {place}: expected {what}, {expected[at]:.6g} for document {at}, got {scores[at]:.6g}."
            )

    postings = _counted(documents)
    before = [np.array(array) for array in (postings.documents, postings.counts, postings.lengths)]
    scores = _scores(function, postings, query, place)
    after = (postings.documents, postings.counts, postings.lengths)
    if not all(np.array_equal(one, other) for one, other in zip(before, after, strict=True)):
        raise CheckError(f"{function!r} on {place}: expected unchanged postings, got other values.")
    require_equal(_scores(function, postings, query, place), scores, "the same scores the second time")
    require_equal(
        _scores(function, postings, dict(reversed(query.items())), place), scores, "no effect of the terms' order"
    )
    without = {term: count for term, count in query.items() if term != _UNKNOWN}
    require_equal(_scores(function, postings, without, place), scores, "no effect of a term that no document has")
    order = random.permutation(len(documents))
    shuffled = _scores(function, _counted([documents[k] for k in order]), query, place)
    require_equal(shuffled, scores[order], "no effect of the order of documents")
    require_equal(
        _one_by_one(function, postings, query, place), scores, "the same weight for a posting by itself as among others"
    )
    if definition is not None:
        common = [k for k, document in enumerate(documents) if set(document) & set(without)]
        defined = [float(definition(without, documents[k], documents)) for k in common]
        expected = scores.copy()
        expected[common] = defined
        require_equal(scores, expected, "the score of the definition")


def _scores(function: RetrievalFunction, postings: Postings, query: Mapping[str, int], place: str) -> Vector:
    try:
        scores = function.bind(postings).scores(query)
    except InputError as error:
        raise CheckError(f"{error} On {place}.") from None
    except Exception as error:
        raise CheckError(f"{function!r} on {place}: {type(error).__name__}: {error}.") from error
    if not np.isfinite(scores).all():
        raise CheckError(f"{function!r} on {place}: expected finite scores, got {scores}.")
    return scores


class _OneByOne(Scorer):
    """Computes the weights of one posting at a time."""

    def weigh(self, term: int, where: slice) -> Vector:
        return np.concatenate([Scorer.weigh(self, term, slice(at, at + 1)) for at in range(where.start, where.stop)])


def _one_by_one(function: RetrievalFunction, postings: Postings, query: Mapping[str, int], place: str) -> Vector:
    try:
        return _OneByOne(function, postings).scores(query)
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise CheckError(f"{function!r} on {place}, a posting at a time: {what}.") from error


def _random_documents(random: np.random.Generator, number: int) -> list[list[str]]:
    """Return documents as lists of tokens; the first two collections are edge cases."""
    if number == 0:
        return [["a"]]
    if number == 1:
        return [["a", "b", "a"], [], ["a"], ["a", "c", "c", "c"]]
    size = int(random.integers(2, 12))
    lengths = random.integers(0, 15, size)
    lengths[0] += 1
    shares = 1.0 / np.arange(1, len(_TERMS) + 1)
    return [random.choice(list(_TERMS), length, p=shares / shares.sum()).tolist() for length in lengths]


def _random_query(random: np.random.Generator, documents: list[list[str]]) -> dict[str, int]:
    terms_of_all = sorted({term for document in documents for term in document})
    terms = random.choice(terms_of_all, random.integers(1, min(len(terms_of_all), 5) + 1), replace=False).tolist()
    counts = random.integers(1, 4, len(terms)).tolist()
    return dict(zip(terms, counts, strict=True)) | {_UNKNOWN: 2}


def _counted(documents: Sequence[Sequence[str]]) -> Postings:
    terms = sorted({term for document in documents for term in document})
    postings = [[(k, n) for k, document in enumerate(documents) if (n := Counter(document)[term])] for term in terms]
    pairs: IntVector = np.array([pair for pairs_of_term in postings for pair in pairs_of_term], dtype=np.int64)
    return Postings(
        terms,
        np.concatenate([[0], np.cumsum([len(pairs_of_term) for pairs_of_term in postings], dtype=np.int64)]),
        pairs[:, 0].astype(np.int32),
        pairs[:, 1].astype(np.uint8),
        np.array([len(document) for document in documents], dtype=np.int32),
    )
