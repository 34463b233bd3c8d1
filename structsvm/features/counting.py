"""Counting the documents of a query."""

from typing import NamedTuple

import numpy as np

from structsvm.types import IntVector, Vector


class Counts(NamedTuple):
    """For each document, the documents of its query by some function.

    Parameters
    ----------
    higher : how many have a higher score.
    all : how many there are.
    """

    higher: IntVector
    all: IntVector


def count_higher(scores: Vector, query: IntVector) -> Counts:
    """Count the documents of the same query with a higher score, and all of them.

    Parameters
    ----------
    scores : one a document, not NaN, at least one.
    query : number of the query of each document.
    """
    order = np.lexsort((-scores, query))
    ranked, owner = scores[order], query[order]
    place = np.arange(len(order))
    new_query = np.append(True, owner[1:] != owner[:-1])
    new_score = new_query | np.append(True, ranked[1:] != ranked[:-1])
    first_of_query = np.maximum.accumulate(np.where(new_query, place, 0))
    first_of_score = np.maximum.accumulate(np.where(new_score, place, 0))
    higher = np.empty(len(order), dtype=np.int64)
    higher[order] = first_of_score - first_of_query
    return Counts(higher, np.bincount(query)[query])
