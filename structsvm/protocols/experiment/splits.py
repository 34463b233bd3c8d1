"""Random splits of queries into training, validation and test sets, with equal shares for all queries."""

from typing import TypeAlias

import numpy as np
from scipy.optimize import linear_sum_assignment

from structsvm.exceptions import InputError
from structsvm.foundation.types import IntVector

_MOST_ROLES = 10_000_000
"""Largest number of queries times trials; drawing their splits takes some hundred megabytes."""


Split: TypeAlias = tuple[tuple[int, ...], ...]
"""The queries of a trial for training, validation and the test, by number, in ascending order."""


def balanced_splits(queries: int, *, trials: int, train: int, validation: int, random_state: int) -> tuple[Split, ...]:
    """Draw splits with every query equally often in each role, as perfect matchings of random costs (König, 1916)."""
    if trials * queries > _MOST_ROLES:
        raise InputError(f"too many trials for {queries} queries: use at most {_MOST_ROLES // queries}")
    if queries <= train + validation:
        raise InputError(
            f"there are {queries} queries, and training and validation take {train} + {validation} of them: leave at "
            "least one for the test"
        )
    rng = np.random.default_rng(random_state)
    place_of_role = np.repeat(np.arange(3), [train, validation, queries - train - validation])
    due = _visits(_shares(place_of_role, trials, rng), place_of_role, trials, rng)
    splits = []
    for _ in range(trials):
        # A place that a query does not need costs more than all places that it needs.
        cost = np.where(due > 0, rng.random(due.shape), queries + 1.0)
        query, place = linear_sum_assignment(cost)
        due[query, place] -= 1
        roles = place_of_role[place]
        splits.append(tuple(tuple(query[roles == role].tolist()) for role in range(3)))
    return tuple(splits)


def _shares(place_of_role: IntVector, trials: int, rng: np.random.Generator) -> IntVector:
    """Return the number of times that each query has each role, shape (queries, 3), within one in each role."""
    queries = len(place_of_role)
    whole, rest = np.divmod(trials * np.bincount(place_of_role, minlength=3), queries)
    shares = np.tile(whole, (queries, 1))
    # Repeat the permutation, so that all queries get the same number.
    receivers = np.resize(rng.permutation(queries), rest.sum())
    np.add.at(shares, (receivers, np.repeat(np.arange(3), rest)), 1)
    return shares


def _visits(shares: IntVector, place_of_role: IntVector, trials: int, rng: np.random.Generator) -> IntVector:
    """Return the number of times that each query has each place, shape (queries, places); margins are ``trials``."""
    visits = np.zeros((len(shares), len(place_of_role)), dtype=np.int64)
    for role in range(3):
        takers = rng.permutation(np.repeat(np.arange(len(shares)), shares[:, role]))
        places = np.repeat(np.flatnonzero(place_of_role == role), trials)
        np.add.at(visits, (takers, places), 1)
    return visits
