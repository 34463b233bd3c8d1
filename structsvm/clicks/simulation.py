"""Simulate clicks, to study the effect of biased clicks on a ranker."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structsvm.clicks.base import ClickModel
from structsvm.clicks.log import ClickLog
from structsvm.exceptions import InputError
from structsvm.foundation.arrays import numbers
from structsvm.foundation.queries import Queries
from structsvm.foundation.settings import RandomSource, random_generator, require_choice, require_integer
from structsvm.foundation.types import IntVector, Vector
from structsvm.metrics.ranking import as_vector
from structsvm.registry.built_in import click_models

SHOWN = ("ranked", "swapped", "shuffled")


def simulate(
    scores: ArrayLike,
    relevance: ArrayLike,
    qid: ArrayLike | None,
    bias: ClickModel | str,
    *,
    sessions: int = 1,
    shown: str = "ranked",
    random_state: RandomSource = 0,
) -> ClickLog:
    """Draw clicks from a click model.

    Parameters
    ----------
    scores : score of each row in the ranker that showed the documents, shape (rows,).
    relevance : probability that a user clicks an examined document, from 0 to 1, shape (rows,).
    qid : query id of each row; None: all rows are one query.
    bias : the click model, or its name. Documents beyond its last position are not shown.
    sessions : number of sessions per query.
    shown : "ranked": by score, equal scores in one random order. "swapped": each session swaps the first document of
        this order with a random one. "shuffled": in random order.
    random_state : seed, NumPy Generator or RandomState; None: new clicks at each call.

    Returns
    -------
    log : a `ClickLog` whose documents are row numbers.

    Examples
    --------
    >>> from structsvm.clicks import PowerBias
    >>> users = PowerBias(1.0, positions=3)
    >>> log = simulate([3.0, 2.0, 1.0], [1.0, 0.0, 1.0], qid=[1, 1, 1], bias=users, sessions=1000)
    >>> log.position.tolist(), log.clicks.tolist()
    ([1, 2, 3], [1000, 0, 344])
    """
    model: ClickModel = click_models.create(bias)
    require_integer("sessions", sessions, 1)
    require_choice("shown", shown, SHOWN)
    chance, values = numbers(relevance, "relevance"), as_vector(scores, "scores")
    queries = Queries.of(qid, len(values))
    ids = queries.ids[queries.number]
    if chance.shape != values.shape or not ((chance >= 0.0) & (chance <= 1.0)).all():
        raise InputError("relevance must be a probability, from 0 to 1, for each row")
    if (model.propensity + model.offset > 1.0).any():
        raise InputError("propensity plus offset must be at most 1 at every position: scale the model down")
    rng = random_generator(random_state)
    queries = queries.sorted_by(-values, chance)
    order, first = queries.order, queries.ptr[:-1]
    query = queries.number[order]
    if ((np.diff(values[order]) == 0.0) & (np.diff(query) == 0)).any():
        order = order[np.lexsort((rng.random(len(order)), -values[order], query))]
    rank = np.arange(1, len(order) + 1) - first[query]
    if shown == "ranked":
        return _drawn(rng, order, rank, np.full(len(ids), sessions), chance, ids, model)
    sizes = np.minimum(queries.sizes, len(model.propensity))
    logs = [
        _drawn(rng, order, place, np.ones(len(ids), dtype=np.int64), chance, ids, model)
        for place in (
            _swapped(rng, rank, first, sizes) if shown == "swapped" else _shuffled(rng, query) for _ in range(sessions)
        )
    ]
    return ClickLog.joined(logs)


def _drawn(
    rng: np.random.Generator,
    row: IntVector,
    place: IntVector,
    times: IntVector,
    chance: Vector,
    ids: NDArray[Any],
    bias: ClickModel,
) -> ClickLog:
    seen = place <= len(bias.propensity)
    row, place, times = row[seen], place[seen], times[seen]
    return ClickLog(
        ids[row], row, place, rng.binomial(times, chance[row] * bias.at(place) + bias.offset_at(place)), times
    )


def _swapped(rng: np.random.Generator, rank: IntVector, first: IntVector, sizes: IntVector) -> IntVector:
    place = rank.copy()
    other = first + rng.integers(0, sizes)
    place[first], place[other] = place[other], place[first]
    return place


def _shuffled(rng: np.random.Generator, query: IntVector) -> IntVector:
    order = np.lexsort([rng.random(len(query)), query])
    place = np.empty(len(query), dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(np.bincount(query))])[query]
    place[order] = np.arange(len(query)) - starts[order] + 1
    return place
