"""The mean over the orders of documents with equal scores, for measures that ignore ties."""

from collections.abc import Callable
from itertools import combinations, product
from math import factorial, prod

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from structsvm.foundation.types import IntVector, Vector
from structsvm.metrics.ranking import RankedLists

_MOST = 1000
"""Number of orders of a query that are tried at most."""


def mean_over_orders(values: Callable[[RankedLists], Vector], lists: RankedLists) -> Vector:
    """Return the mean of a measure's values over the orders of tied documents; see `Measure.expected`."""
    means = values(evolve(lists, ties="input"))
    groups = lists.groups
    if groups is None:
        return means
    kinds = np.unique([lists.label, lists.is_judged, lists.is_pooled], axis=1, return_inverse=True)[1].ravel()
    of_group = lists.query[groups.first]
    for query in np.unique(of_group):
        rows, judged = np.flatnonzero(lists.query == query), lists.judged[lists.judged_query == query]
        tied = np.split(groups.rows, np.cumsum(groups.size)[:-1])
        orders = _orders([tied[group] for group in np.flatnonzero(of_group == query)], kinds)
        n, places = len(orders), np.tile(rows, (len(orders), 1))
        changing = np.sort(orders[0])
        places[:, changing - rows[0]] = orders
        flat = places.ravel()
        means[query] = values(
            RankedLists(
                ids=np.arange(n),
                query=np.repeat(np.arange(n), len(rows)),
                rank=np.tile(lists.rank[rows], n),
                label=lists.label[flat],
                tied=np.zeros(len(flat), dtype=np.bool_),
                is_judged=lists.is_judged[flat],
                is_pooled=lists.is_pooled[flat],
                judged=np.tile(judged, n),
                judged_query=np.repeat(np.arange(n), len(judged)),
                ties="input",
            )
        ).mean()
    return means


def _orders(tied: list[IntVector], kinds: IntVector) -> NDArray[np.int64]:
    """Return orders of the rows of tie groups, shape (orders, rows): all that differ in kinds, or random ones."""
    counts = [np.unique(kinds[rows], return_counts=True)[1].tolist() for rows in tied]
    if prod(factorial(sum(of)) // prod(map(factorial, of)) for of in counts) <= _MOST:
        return np.array([np.concatenate(order) for order in product(*(_arrangements(rows, kinds) for rows in tied))])
    rng = np.random.default_rng(0)
    return np.array([np.concatenate([rng.permutation(rows) for rows in tied]) for _ in range(_MOST)])


def _arrangements(rows: IntVector, kinds: IntVector) -> list[IntVector]:
    """Return all orders of the rows that differ in kinds."""
    of_first = kinds[rows] == kinds[rows[0]]
    first, others = rows[of_first], rows[~of_first]
    if not len(others):
        return [rows]
    orders = []
    for places in combinations(range(len(rows)), len(first)):
        is_first = np.zeros(len(rows), dtype=np.bool_)
        is_first[list(places)] = True
        for rest in _arrangements(others, kinds):
            order = np.empty(len(rows), dtype=np.int64)
            order[is_first], order[~is_first] = first, rest
            orders.append(order)
    return orders
