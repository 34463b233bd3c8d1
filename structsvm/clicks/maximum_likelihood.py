"""Propensities that make the clicks of a log most likely."""

import warnings

import numpy as np
from numpy.typing import ArrayLike

from structsvm.arrays import numbers
from structsvm.clicks.log import ClickLog
from structsvm.clicks.position_bias import PositionBias, require_clicks
from structsvm.exceptions import InputError
from structsvm.settings import require_integer, require_kind
from structsvm.types import IntVector, Vector

_LEAST = 1e-6
"""Smallest probability, away from 0 and 1."""


def from_interventions(log: ClickLog, positions: int | None = None) -> PositionBias:
    """Estimate propensities from documents that were shown at two positions or more, as by several rankers.

    The estimate of all pairs of positions (Agarwal, Zaitsev, Wang, Li, Najork and Joachims, "Estimating position bias
    without intrusive interventions", WSDM 2019, section 4.3). Documents that were shown both at k and at k' look as
    relevant at one as at the other, so that their rates of clicks there are ``p_k r`` and ``p_k' r`` with the same r
    for each pair of positions; p and r maximise the likelihood. It holds where which of two rankings was shown, or
    whether two documents were swapped, does not depend on the user: swaps that were made for the purpose are such, too.

    Parameters
    ----------
    log : the log.
    positions : the first positions alone, of which propensities are estimated; None: all.

    Raises
    ------
    InputError : when a position has no clicks on documents that were shown elsewhere, too, or is not linked to the
        first one.

    Warns
    -----
    ConvergenceWarning : when the search for the largest likelihood ended before its end.

    Examples
    --------
    >>> from structsvm.clicks import ClickLog, from_interventions
    >>> log = ClickLog.of([1, 1, 1, 1], ["a", "b", "a", "b"], [1, 2, 2, 1], clicks=[8, 1, 4, 2], impressions=[10] * 4)
    >>> from_interventions(log).propensity.round(2).tolist()
    [1.0, 0.5]
    """
    from scipy.optimize import minimize
    from scipy.special import expit, logit

    require_kind("log", log, ClickLog, "a ClickLog")
    require_integer("positions", positions, 2, optional=True)
    clicks, missed = _rates_of_pairs(log, log.positions if positions is None else min(positions, log.positions))
    last = len(clicks)
    require_clicks(clicks.sum(axis=1))
    _require_linked(clicks + missed)
    above = np.triu_indices(last, 1)

    def probabilities(v: Vector) -> tuple[Vector, Vector]:
        relevance = np.zeros((last, last))
        relevance[above] = expit(v[last:])
        return expit(v[:last]), relevance + relevance.T

    def minus_likelihood(v: Vector) -> tuple[float, Vector]:
        p, r = probabilities(v)
        joint = np.clip(p[:, None] * r, _LEAST**2, 1.0 - _LEAST)
        slope = missed / (1.0 - joint) - clicks / joint
        of_p, of_r = (slope * r).sum(axis=1), slope * p[:, None]
        gradient = np.concatenate([of_p * p * (1.0 - p), ((of_r + of_r.T) * r * (1.0 - r))[above]])
        return -float(np.sum(clicks * np.log(joint) + missed * np.log1p(-joint))), gradient

    rates = clicks.sum(axis=1) / (clicks + missed).sum(axis=1)
    both = (clicks + clicks.T) / np.maximum(clicks + clicks.T + missed + missed.T, _LEAST)
    start = logit(np.clip(np.concatenate([rates / (1.1 * rates.max()), both[above]]), _LEAST, 1.0 - _LEAST))
    found = minimize(minus_likelihood, start, jac=True, method="L-BFGS-B", options={"maxiter": 5000, "maxfun": 10000})
    if not found.success:
        from sklearn.exceptions import ConvergenceWarning

        warnings.warn(
            f"the search for the likeliest propensities did not converge in {found.nit} iterations ({found.message}): "
            "they may not be the likeliest. Fewer positions, or a longer log, may help",
            ConvergenceWarning,
            stacklevel=2,
        )
    p, _ = probabilities(found.x)
    return PositionBias(p / p[0])


def _rates_of_pairs(log: ClickLog, last: int) -> tuple[Vector, Vector]:
    """Return, for each pair of positions, the rates of clicks and of none at the first of documents shown at both.

    Both are sums over the documents of queries, shape (positions, positions), 0 on the diagonal.
    """
    import scipy.sparse as sp

    kept = (log.position <= last) & (log.impressions > 0)
    pair, count = log.pairs()
    where = (pair[kept], log.position[kept] - 1)
    clicks, shown = (
        sp.csr_array(sp.coo_array((each[kept].astype(np.float64), where), shape=(count, last)))
        for each in (log.clicks, log.impressions)
    )
    seen = shown.copy()
    seen.data = np.ones_like(seen.data)
    inverse = shown.copy()
    inverse.data = 1.0 / inverse.data
    clicked = ((clicks * inverse).T @ seen).toarray()
    both = (seen.T @ seen).toarray()
    np.fill_diagonal(clicked, 0.0)
    np.fill_diagonal(both, 0.0)
    return clicked, np.maximum(both - clicked, 0.0)


def _require_linked(weights: Vector) -> None:
    from scipy.sparse.csgraph import connected_components

    _, part = connected_components(weights > 0.0, directed=False)
    if (part != part[0]).any():
        place = int(np.argmax(part != part[0])) + 1
        raise InputError(
            f"no document links position {place} to position 1: propensities are known up to a factor among "
            "positions that documents have in common. Take a longer log, or fewer positions"
        )


def from_log(log: ClickLog, features: ArrayLike | None = None, rounds: int = 100) -> PositionBias:
    """Estimate propensities from an ordinary log, by expectation maximisation.

    The position-based model with a relevance of each document of a query, or, with features, with a logistic regression
    of it on these: regression EM (Wang, Golbandi, Bendersky, Metzler and Najork, "Position bias estimation for unbiased
    learning to rank in personal search", WSDM 2018). Without features, documents must have been shown at several
    positions. With features, and one ranker that ranks by them, position and relevance cannot be told apart but by the
    form of the regression: prefer `from_interventions` where there are interventions.

    Parameters
    ----------
    log : the log.
    features : features of each row of the log, shape (rows, d); None: each document of a query has its own relevance.
    rounds : number of rounds of expectation and maximisation.

    Raises
    ------
    InputError : when a position has no clicks, or the features are not those of the rows.

    Examples
    --------
    >>> from structsvm.clicks import ClickLog, from_log
    >>> log = ClickLog.of([1, 1, 1, 1], ["a", "b", "a", "b"], [1, 2, 2, 1], clicks=[8, 1, 4, 2], impressions=[10] * 4)
    >>> from_log(log).propensity.round(2).tolist()
    [1.0, 0.5]
    """
    require_kind("log", log, ClickLog, "a ClickLog")
    require_integer("rounds", rounds, 1)
    place, last = log.position - 1, log.positions
    shown = log.impressions.astype(np.float64)
    require_clicks(np.bincount(place, log.clicks, last))
    at_places = np.bincount(place, shown, last)
    pair, count = log.pairs()
    rows = None if features is None else _rows(features, len(log))
    p = np.bincount(place, log.clicks, last) / at_places
    p = 0.9 * p / p.max()
    relevance = np.full(len(log), 0.5)
    for _ in range(rounds):
        joint = np.clip(p[place] * relevance, 0.0, 1.0 - _LEAST)
        missed = shown - log.clicks
        examined = log.clicks + missed * p[place] * (1.0 - relevance) / (1.0 - joint)
        relevant = log.clicks + missed * relevance * (1.0 - p[place]) / (1.0 - joint)
        p = np.clip(np.bincount(place, examined, last) / at_places, _LEAST, 1.0 - _LEAST)
        relevance = _means(relevant, shown, pair, count) if rows is None else _regressed(rows, relevant, shown)
        relevance = np.clip(relevance, _LEAST, 1.0 - _LEAST)
    return PositionBias(p / p[0])


def _means(relevant: Vector, shown: Vector, pair: "IntVector", count: int) -> Vector:
    total = np.bincount(pair, shown, count)
    means = np.divide(np.bincount(pair, relevant, count), total, out=np.full(count, 0.5), where=total > 0.0)
    return np.asarray(means[pair])


def _regressed(rows: Vector, relevant: Vector, shown: Vector) -> Vector:
    from sklearn.linear_model import LogisticRegression

    n = len(rows)
    weights = np.concatenate([relevant, shown - relevant])
    kept = weights > 0.0
    model = LogisticRegression(C=1e4, max_iter=200)
    model.fit(np.concatenate([rows, rows])[kept], np.repeat([1, 0], n)[kept], sample_weight=weights[kept])
    return np.asarray(model.predict_proba(rows)[:, 1])


def _rows(features: ArrayLike, n: int) -> Vector:
    rows = numbers(features, "features")
    if rows.ndim != 2 or len(rows) != n:
        raise InputError(f"features must have a row for each of the {n} rows of the log, got shape {rows.shape}")
    return rows
