"""Clicks of users who do not exist, to see what biased clicks do to a ranker."""

import numpy as np
from numpy.typing import ArrayLike

from structsvm.arrays import numbers
from structsvm.clicks.log import ClickLog
from structsvm.clicks.model import ClickModel
from structsvm.exceptions import InputError
from structsvm.metrics.ranking import rank_documents
from structsvm.registry import click_models
from structsvm.settings import require_choice, require_integer
from structsvm.types import IntVector

SHOWN = ("ranked", "swapped", "shuffled")
"""How results are shown: by score; by score, with the first and another document swapped; in random order."""


def simulate(
    scores: ArrayLike,
    relevance: ArrayLike,
    qid: ArrayLike | None,
    bias: ClickModel | str,
    *,
    sessions: int = 1,
    shown: str = "ranked",
    seed: int = 0,
) -> ClickLog:
    """Draw clicks by a click model.

    Parameters
    ----------
    scores : score of each row, by which the ranker that was in use showed the documents of a query, shape (rows,).
    relevance : probability that a document is clicked where it is examined, from 0 to 1, shape (rows,): such as 1 for
        relevant ones and 0.1, the noise, for others.
    qid : query id of each row; None: all rows are one query.
    bias : the click model, or its name: how likely each position is examined. Documents behind its positions are not
        shown.
    sessions : how often each query is asked.
    shown : "ranked": by score. "swapped": in each session, the first document and one that is shown, drawn by chance,
        change places. "shuffled": in random order.
    seed : seed of the random numbers.

    Returns
    -------
    A log whose documents are numbers of rows.

    Raises
    ------
    InputError : when the arrays do not fit each other, or relevance is no probability.

    Examples
    --------
    >>> from structsvm.clicks import PowerBias, simulate
    >>> users = PowerBias(1.0, positions=3)
    >>> log = simulate([3.0, 2.0, 1.0], [1.0, 0.0, 1.0], qid=[1, 1, 1], bias=users, sessions=1000)
    >>> log.position.tolist(), log.clicks.tolist()
    ([1, 2, 3], [1000, 0, 344])
    """
    model: ClickModel = click_models.create(bias)
    require_integer("sessions", sessions, 1)
    require_integer("seed", seed, 0)
    require_choice("shown", shown, SHOWN)
    chance = numbers(relevance, "relevance")
    ranking = rank_documents(scores, qid)
    ids = np.zeros(len(ranking.order), dtype=np.int64) if qid is None else np.asarray(qid)
    if chance.shape != ranking.order.shape or not ((chance >= 0.0) & (chance <= 1.0)).all():
        raise InputError("relevance must hold a probability, from 0 to 1, for each row")
    if (model.propensity + model.offset > 1.0).any():
        raise InputError("the propensities of users must be probabilities, and one is above 1")
    rng = np.random.default_rng(seed)
    if shown == "ranked":
        return _drawn(rng, ranking.order, ranking.rank, np.full(len(ids), sessions), chance, ids, model)
    first = np.flatnonzero(ranking.rank == 1)
    sizes = np.minimum(np.diff(first, append=len(ids)), len(model.propensity))
    logs = [
        _drawn(rng, ranking.order, place, np.ones(len(ids), dtype=np.int64), chance, ids, model)
        for place in (
            _swapped(rng, ranking.rank, first, sizes) if shown == "swapped" else _shuffled(rng, ranking.query)
            for _ in range(sessions)
        )
    ]
    return ClickLog.joined(logs)


def _drawn(
    rng: np.random.Generator,
    row: IntVector,
    place: IntVector,
    times: IntVector,
    chance: "np.ndarray[tuple[int], np.dtype[np.float64]]",
    ids: "np.ndarray[tuple[int], np.dtype[np.generic]]",
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
