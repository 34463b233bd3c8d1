"""Which queries train, choose and test a model in each trial: at random, and each as often as any other."""

import numpy as np
from attrs import frozen
from scipy.optimize import linear_sum_assignment

from structsvm.exceptions import InputError
from structsvm.settings import require_integer
from structsvm.types import IntVector

_MOST_ROLES = 10_000_000
"""Queries of all trials together: their splits take some hundred megabytes while they are drawn."""


@frozen
class Split:
    """The queries of one trial, by number, in ascending order.

    Parameters
    ----------
    train : queries that models learn from.
    validation : queries on which the hyper-parameter of a model is picked.
    test : all other queries.

    Examples
    --------
    >>> from structsvm.protocols.experiment import balanced_splits
    >>> split = balanced_splits(6, trials=3, train=2, validation=1, seed=0)[0]
    >>> len(split.train), len(split.validation), len(split.test)
    (2, 1, 3)
    >>> sorted(split.train + split.validation + split.test)
    [0, 1, 2, 3, 4, 5]
    """

    train: tuple[int, ...]
    validation: tuple[int, ...]
    test: tuple[int, ...]


def balanced_splits(queries: int, *, trials: int, train: int, validation: int, seed: int) -> tuple[Split, ...]:
    """Draw the splits of all trials so that every query has each role equally often.

    Where the numbers do not divide, a query has a role at most once more than any other. Such
    splits exist for all numbers: with its share of the roles, a query is a node of degree
    ``trials`` in a bipartite multigraph, as is each of the ``queries`` places of a trial, and a
    regular bipartite multigraph is a sum of perfect matchings (König, 1916), which are the trials.
    Each of them is drawn with random costs.

    Parameters
    ----------
    queries : number of queries.
    trials : number of trials.
    train, validation : queries of a trial that are trained on and that pick; the others are tested on.
    seed : the same seed gives the same splits.

    Raises
    ------
    InputError : no query is left to test on, or there are more trials than can be drawn.

    Examples
    --------
    >>> from structsvm.protocols.experiment import balanced_splits
    >>> splits = balanced_splits(6, trials=2, train=2, validation=2, seed=0)
    >>> len(splits)
    2
    """
    for name, value in (("queries", queries), ("trials", trials), ("train", train), ("validation", validation)):
        require_integer(name, value, 1)
    require_integer("seed", seed, 0)
    if trials * queries > _MOST_ROLES:
        raise InputError(
            f"there are more trials than can be drawn for {queries} queries: ask for {_MOST_ROLES // queries} at most"
        )
    if queries <= train + validation:
        raise InputError(
            f"there are {queries} queries, and {train} + {validation} of them are asked for to train and to validate: "
            "at least one more must be left to test on"
        )
    rng = np.random.default_rng(seed)
    place_of_role = np.repeat(np.arange(3), [train, validation, queries - train - validation])
    due = _visits(_shares(place_of_role, trials, rng), place_of_role, trials, rng)
    splits = []
    for _ in range(trials):
        cost = np.where(due > 0, rng.random(due.shape), queries + 1.0)  # a place that is not due is never worth it
        query, place = linear_sum_assignment(cost)
        due[query, place] -= 1
        roles = place_of_role[place]
        splits.append(Split(*(tuple(query[roles == role].tolist()) for role in range(3))))
    return tuple(splits)


def _shares(place_of_role: IntVector, trials: int, rng: np.random.Generator) -> IntVector:
    """Return how often each query has each role, shape (queries, 3): rows sum to ``trials``, and differ by one."""
    queries = len(place_of_role)
    each, rest = np.divmod(trials * np.bincount(place_of_role, minlength=3), queries)
    shares = np.tile(each, (queries, 1))
    receivers = np.resize(rng.permutation(queries), rest.sum())  # round after round: all get the same number
    np.add.at(shares, (receivers, np.repeat(np.arange(3), rest)), 1)
    return shares


def _visits(shares: IntVector, place_of_role: IntVector, trials: int, rng: np.random.Generator) -> IntVector:
    """Return how often each query takes each place, shape (queries, places): rows and columns sum to ``trials``."""
    visits = np.zeros((len(shares), len(place_of_role)), dtype=np.int64)
    for role in range(3):
        takers = rng.permutation(np.repeat(np.arange(len(shares)), shares[:, role]))
        places = np.repeat(np.flatnonzero(place_of_role == role), trials)
        np.add.at(visits, (takers, places), 1)
    return visits
