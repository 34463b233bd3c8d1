"""The position-based click model, and three estimates of its propensities from logs."""

import warnings
from typing import Any, Self

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray

from structsvm.clicks.base import ClickModel
from structsvm.clicks.log import ClickLog
from structsvm.exceptions import InputError
from structsvm.foundation.arrays import numbers
from structsvm.foundation.settings import require_integer, require_kind
from structsvm.foundation.types import IntVector, Vector

_LEAST = 1e-6
"""Smallest probability, away from 0 and 1."""


def _propensities(values: Any) -> Vector:
    array = numbers(values, "propensity")
    if array.ndim != 1 or not len(array) or not ((array > 0.0) & np.isfinite(array)).all():
        raise InputError(f"propensity must be a vector of positive finite numbers, one per position, got {array}")
    return array


@frozen(eq=False)
class PositionBias(ClickModel):
    """The position-based model: users click a document if they examine it and it looks relevant.

    ``P(click on d at position k) = p_k · P(d looks relevant)``. Clicks determine the ``p_k`` only up to a factor, so
    estimates have ``p_1 = 1`` (Joachims, Swaminathan and Schnabel, WSDM 2017, section 5.2).

    Parameters
    ----------
    propensity : p, shape (positions,), each above 0.

    Examples
    --------
    >>> from structsvm.clicks import ClickLog
    >>> PositionBias([1.0, 0.4]).at([2, 1]).tolist()
    [0.4, 1.0]
    >>> log = ClickLog.of([1, 1, 1, 1], ["a", "b", "a", "b"], [1, 2, 2, 1], clicks=[8, 1, 4, 2], impressions=[10] * 4)
    >>> PositionBias.from_interventions(log).propensity.round(2).tolist()
    [1.0, 0.5]
    """

    propensity: Vector = field(converter=_propensities)

    @classmethod
    def from_randomized(cls, log: ClickLog) -> Self:
        """Estimate propensities from a log of documents shown at random positions.

        In such a log, each position has the mean relevance of all documents, so click rates are proportional to
        propensities (Wang, Bendersky, Metzler and Najork, "Learning to rank with selection bias in personal search",
        SIGIR 2016). This estimate makes the fewest assumptions, but users must accept results in random order.
        """
        require_kind("log", log, ClickLog, "a ClickLog")
        clicks = np.bincount(log.position - 1, log.clicks, log.positions)
        _require_clicks(clicks)
        rates = clicks / np.bincount(log.position - 1, log.impressions, log.positions)
        return cls(rates / rates[0])

    @classmethod
    def from_interventions(cls, log: ClickLog, positions: int | None = None) -> Self:
        """Estimate propensities from documents that were shown at two or more positions, for example by two rankers.

        This is the all-pairs estimate (Agarwal, Zaitsev, Wang, Li, Najork and Joachims, "Estimating position bias
        without intrusive interventions", WSDM 2019, section 4.3). Documents that were shown both at k and at k' are
        equally relevant at both, so their click rates are ``p_k r`` and ``p_k' r`` with one r for each pair of
        positions; p and r maximize the likelihood. The choice between two rankings, or of swapping two documents, must
        not depend on the user.

        ``positions`` limits the estimate to the first positions. Each position needs clicks on documents that were also
        shown at another position. Such documents must link each position to the first, directly or through others.

        Warns
        -----
        ConvergenceWarning : the maximization of the likelihood did not converge.
        """
        require_kind("log", log, ClickLog, "a ClickLog")
        require_integer("positions", positions, 2, optional=True)
        return cls(_by_pairs(log, positions))

    @classmethod
    def from_log(cls, log: ClickLog, features: ArrayLike | None = None, rounds: int = 100) -> Self:
        """Estimate propensities from an ordinary log, by expectation maximization.

        Without features, the model has a relevance for each document of a query, and documents must have been shown at
        several positions. With features, a logistic regression models the relevance: this is regression EM (Wang,
        Golbandi, Bendersky, Metzler and Najork, "Position bias estimation for unbiased learning to rank in personal
        search", WSDM 2018). If a single ranker used the same features, only the form of the regression separates
        position from relevance. Prefer `from_interventions` if the log has interventions.

        Parameters
        ----------
        log : the log.
        features : features of each row of the log, shape (rows, d); None: a relevance for each document of a query.
        rounds : number of rounds of expectation and maximization.
        """
        require_kind("log", log, ClickLog, "a ClickLog")
        require_integer("rounds", rounds, 1)
        return cls(_by_expectation(log, features, rounds))


def _by_pairs(log: ClickLog, positions: int | None) -> Vector:
    from scipy.optimize import minimize
    from scipy.special import expit, logit

    clicks, missed = _rates_of_pairs(log, log.positions if positions is None else min(positions, log.positions))
    last = len(clicks)
    _require_linked(clicks + missed)
    _require_clicks(clicks.sum(axis=1), "no document that was also shown at another position")
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
    fit = minimize(minus_likelihood, start, jac=True, method="L-BFGS-B", options={"maxiter": 5000, "maxfun": 10000})
    if not fit.success:
        from sklearn.exceptions import ConvergenceWarning

        warnings.warn(
            f"the estimate of propensities did not converge in {fit.nit} iterations ({fit.message}), so the "
            "likelihood may not be at its maximum. Use fewer positions, or a longer log",
            ConvergenceWarning,
            stacklevel=3,
        )
    p, _ = probabilities(fit.x)
    return np.asarray(p / p[0])


def _rates_of_pairs(log: ClickLog, last: int) -> tuple[Vector, Vector]:
    """Return sums of click and no-click rates at the first of two positions, over documents shown at both."""
    import scipy.sparse as sp

    reached = (log.position <= last) & (log.impressions > 0)
    pair, count = log.pairs()
    where = (pair[reached], log.position[reached] - 1)
    clicks, shown = (
        sp.csr_array(sp.coo_array((numbers[reached].astype(np.float64), where), shape=(count, last)))
        for numbers in (log.clicks, log.impressions)
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
    """Require documents that link each position to the first; ``weights`` count the documents shown at both of two."""
    from scipy.sparse.csgraph import connected_components

    if len(weights) and not weights.any():
        raise InputError(
            f"no document was shown at two of the first {len(weights)} positions, so propensities cannot be compared: "
            "use a log with interventions, or PositionBias.from_log with features"
        )
    _, part = connected_components(weights > 0.0, directed=False)
    if len(part) and (part != part[0]).any():
        place = int(np.argmax(part != part[0])) + 1
        raise InputError(
            f"no document links position {place} to position 1, so their propensities cannot be compared: use a "
            "longer log, or fewer positions"
        )


def _by_expectation(log: ClickLog, features: ArrayLike | None, rounds: int) -> Vector:
    place, last = log.position - 1, log.positions
    shown = log.impressions.astype(np.float64)
    _require_clicks(np.bincount(place, log.clicks, last))
    at_places = np.bincount(place, shown, last)
    pair, count = log.pairs()
    rows = None if features is None else numbers(features, "features")
    if rows is not None and (rows.ndim != 2 or len(rows) != len(log)):
        raise InputError(f"features must have a row for each of the {len(log)} rows of the log, got shape {rows.shape}")
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
    return np.asarray(p / p[0])


def _means(relevant: Vector, shown: Vector, pair: IntVector, count: int) -> Vector:
    total = np.bincount(pair, shown, count)
    means = np.divide(np.bincount(pair, relevant, count), total, out=np.full(count, 0.5), where=total > 0.0)
    return np.asarray(means[pair])


def _regressed(rows: Vector, relevant: Vector, shown: Vector) -> Vector:
    from sklearn.linear_model import LogisticRegression

    n = len(rows)
    weights = np.concatenate([relevant, shown - relevant])
    weighted = weights > 0.0
    model = LogisticRegression(C=1e4, max_iter=200)
    model.fit(np.concatenate([rows, rows])[weighted], np.repeat([1, 0], n)[weighted], sample_weight=weights[weighted])
    return np.asarray(model.predict_proba(rows)[:, 1])


def _require_clicks(clicks: NDArray[Any], none: str = "no document") -> None:
    """Require a click at each position; ``none`` is the subject of the message."""
    if not len(clicks):
        raise InputError("the log is empty: propensities cannot be estimated without clicks")
    if not clicks.all():
        raise InputError(
            f"{none} was clicked at position {int(np.argmin(clicks)) + 1}, so the propensity of this position cannot "
            "be estimated: use a longer log, or leave out the rows of this position and later ones"
        )
