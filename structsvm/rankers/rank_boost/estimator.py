"""RankBoost."""

from __future__ import annotations  # `help` shows the types by name, not as the long unions that they are

import math
import warnings
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from structsvm.estimators.fitting import checked_features
from structsvm.estimators.parameters import measure_of, require_integer
from structsvm.estimators.ranking import RankingEstimator
from structsvm.exceptions import ZeroWeightsWarning
from structsvm.metrics import Measure
from structsvm.rankers.held_out import HeldOut
from structsvm.rankers.preferences import Preferences
from structsvm.rankers.rank_boost.coded_features import CodedFeatures
from structsvm.rankers.rank_boost.pair_weights import Pairs, pairs_of_labels, pairs_of_preferences
from structsvm.rankers.rank_boost.stumps import add_coded_stump, add_stumps, best_stump
from structsvm.rankers.training import Training, checked_training, require_dense, usable_queries
from structsvm.types import BoolVector, IntVector, Vector

_ROUNDING = 1e-12
"""How far r stays from ±1 where α is made of it, which would be infinite; and what sums of shares may be off by."""


class RankBoost(RankingEstimator):
    """Boosting of weak rankers that each look at one feature, weighting the pairs that are still in the wrong order.

    A round finds the feature f and the threshold θ of the weak ranker ``h(x) = 1[x_f > θ]`` with the largest
    ``|r|``, ``r = Σ D(x0, x1) (h(x1) − h(x0))`` over the pairs of a document x1 that is better than x0 in its
    query, and adds ``α h`` to the scores, ``α = ½ ln((1 + r) / (1 − r))``. The weights D of pairs, equal at
    first, are then multiplied by ``exp(α (h(x0) − h(x1)))`` and divided by their sum. A missing feature (NaN)
    is neither above nor below: h is what makes ``|r|`` larger, the same for all documents that lack it. (Freund,
    Iyer, Schapire and Singer, "An efficient boosting algorithm for combining preferences", Journal of Machine
    Learning Research 4, 2003.) Pairs of labels are never listed: a round costs a look at one small integer for each
    feature and document.

    Parameters
    ----------
    n_rounds : number of rounds, at most; fewer are kept with ``validation``.
    max_thresholds : number of thresholds of a feature, at most: quantiles of the values that the training documents
        in pairs have, or all of these values where they are not more. A value that many documents have counts for one
        of ``max_thresholds + 1`` equal parts, as in LightGBM's bins. LETOR's baseline has 255. None: all values.
    measure : what `score` reports, and what the rounds are chosen by, by name ("map", "ndcg@10", "p@5", ...)
        or as an object; None is "map".

    Attributes
    ----------
    n_rounds_ : number T of weak rankers that are kept.
    features_ : feature of each, shape (T,).
    thresholds_ : threshold of each, shape (T,), a value of the training data as float64; values of float32 data are
        compared as the numbers that they are, so predict from the type that was learned from. −inf is below all values,
        so that only missing ones are not above.
    missing_ : what each gives to documents whose feature is missing, True being 1, shape (T,).
    alphas_ : weight α of each, shape (T,); it has the sign of r.
    r_ : r of each, shape (T,).
    losses_ : mean of ``exp(s(x0) − s(x1))`` over the pairs after each round, by their weights before the first.
        It never increases, and bounds the share of pairs in the wrong order from above. Of all rounds, also
        those that were not kept.
    validation_scores_ : the measure on the validation data after each round, also those that were not kept;
        None without such data, and where there is no weak ranker.
    n_features_in_ : number of features.
    n_examples_ : number of queries learned from.
    n_left_out_ : number of queries without pairs, or of weight 0, which were not.

    Examples
    --------
    >>> from structsvm.rankers import RankBoost
    >>> X, y, qid = [[0.1], [0.9], [0.5], [0.2], [0.8]], [0, 1, 2, 0, 1], [1, 1, 1, 2, 2]
    >>> ranker = RankBoost(n_rounds=10).fit(X, y, qid)
    >>> ranker.thresholds_[:1]
    array([0.2])
    >>> ranker.score(X, y, qid)
    1.0
    """

    __metadata_request__fit: ClassVar[dict[str, Any]] = {"qid": True, "sample_weight": True}

    def __init__(
        self, n_rounds: int = 300, *, max_thresholds: int | None = 255, measure: str | Measure | None = None
    ) -> None:
        self.n_rounds = n_rounds
        self.max_thresholds = max_thresholds
        self.measure = measure

    def fit(
        self,
        X: Any,
        y: Any,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        validation: tuple[Any, ...] | None = None,
    ) -> Self:
        """Learn from pairs of documents of a query of which one is better.

        Parameters
        ----------
        X : features, one document a row, dense, NaN where missing, shape (rows, d).
        y : labels, shape (rows,), of which larger is better: pairs are all those of different labels within a
            query, of equal weight. Or `Preferences`: their magnitudes are the weights of the pairs.
        qid : query id of each row (not group sizes); rows of a query need not be together.
            None: all rows are one query.
        sample_weight : weight of each row, the same for all rows of a query: that of each of its pairs.
        validation : (X, y, qid) of other queries, or (X, y) of one query, y being labels. The rounds up to the one
            after which ``measure`` is largest there are kept, the first of equals. None: all rounds are kept.

        Raises
        ------
        InputError : when the data cannot be used; it says why.

        Warns
        -----
        ZeroWeightsWarning : when no weak ranker tells better from worse, so that all scores are 0.
        """
        require_integer(self, "n_rounds", 1)
        if self.max_thresholds is not None:
            require_integer(self, "max_thresholds", 1)
        measure_of(self)
        require_dense(self, X)
        training = checked_training(self, X, y, qid, sample_weight, missing=True, takes_preferences=True)
        held_out = HeldOut.of(self, validation, missing=True)
        if held_out is not None:
            require_dense(self, held_out.X)
        usable_queries(self, training, training.with_pairs())
        self._boost(training, _pairs(training))
        self.validation_scores_: Vector | None = None
        if self.n_rounds_ == 0:
            warnings.warn(
                "no threshold of a feature tells better documents from worse ones: all scores are 0",
                ZeroWeightsWarning,
                stacklevel=2,
            )
        elif held_out is not None:
            values = [held_out.value(scores) for scores in self._stages(np.asarray(held_out.X))]
            self.validation_scores_ = np.array(values)
            self._keep(int(np.argmax(values)) + 1)
        return self

    def predict(self, X: Any) -> Vector:
        """Return the score of each row; within a query, larger is ahead. Shape (rows,)."""
        rows = self._checked_rows(X)
        return self._add(rows, slice(None), np.zeros(len(rows)))

    def staged_predict(self, X: Any) -> Iterator[Vector]:
        """Yield the score of each row after each round that is kept; the last are those of `predict`.

        Parameters
        ----------
        X : as in `predict`.

        Yields
        ------
        Scores, shape (rows,): ``n_rounds_`` times.
        """
        rows = self._checked_rows(X)
        for scores in self._stages(rows):
            yield scores.copy()

    def _boost(self, training: Training, pairs: Pairs) -> None:
        coded = CodedFeatures.of(np.asarray(training.X), pairs.rows, self.max_thresholds)
        sizes = np.array([len(each) for each in coded.thresholds])
        scores, potentials = np.zeros(len(pairs.rows)), np.empty(len(pairs.rows))
        before = pairs.write_potentials(scores, potentials)
        features, thresholds, missing, alphas, rs, losses = [], [], [], [], [], []
        for _ in range(self.n_rounds if len(coded.features) > 0 else 0):
            f, place, filled, r = best_stump(coded.codes, sizes, coded.missing, potentials)
            if r == 0.0:
                break
            alpha = math.atanh(max(min(r, 1.0 - _ROUNDING), _ROUNDING - 1.0))
            certain = potentials.copy() if abs(r) >= 1.0 - _ROUNDING else None
            add_coded_stump(coded.codes[f], sizes[f], place, filled, alpha, scores)
            log_weight = pairs.write_potentials(scores, potentials)
            features.append(coded.features[f])
            thresholds.append(coded.thresholds[f][place] if place >= 0 else -np.inf)
            missing.append(filled)
            alphas.append(alpha)
            rs.append(r)
            losses.append(math.exp(log_weight - before))
            if certain is not None and np.allclose(potentials, certain, rtol=0.0, atol=_ROUNDING):
                break  # all pairs were in order and keep their weights: every round would be like this one
        self.n_rounds_ = len(rs)
        self.features_: IntVector = np.array(features, dtype=np.int64)
        self.thresholds_: Vector = np.array(thresholds, dtype=np.float64)
        self.missing_: BoolVector = np.array(missing, dtype=np.bool_)
        self.alphas_: Vector = np.array(alphas, dtype=np.float64)
        self.r_: Vector = np.array(rs, dtype=np.float64)
        self.losses_: Vector = np.array(losses, dtype=np.float64)

    def _keep(self, rounds: int) -> None:
        self.n_rounds_ = rounds
        for name in ("features_", "thresholds_", "missing_", "alphas_", "r_"):
            setattr(self, name, getattr(self, name)[:rounds])

    def _stages(self, rows: NDArray[Any]) -> Iterator[Vector]:
        """Yield the same scores again and again, with one weak ranker after the other added to them."""
        scores = np.zeros(len(rows))
        for t in range(self.n_rounds_):
            yield self._add(rows, slice(t, t + 1), scores)

    def _add(self, rows: NDArray[Any], rounds: slice, scores: Vector) -> Vector:
        """Add the weak rankers of some rounds to the scores, in place."""
        used, places = np.unique(self.features_[rounds], return_inverse=True)
        add_stumps(rows, used, places, self.thresholds_[rounds], self.missing_[rounds], self.alphas_[rounds], scores)
        return scores

    def _checked_rows(self, X: Any) -> NDArray[Any]:
        check_is_fitted(self, "alphas_")
        require_dense(self, X)
        return np.asarray(checked_features(self, X, reset=False, missing=True))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _pairs(training: Training) -> Pairs:
    """Return the pairs to learn from."""
    if isinstance(training.y, Preferences):
        return pairs_of_preferences(training.y, training.ptr, training.shares)
    return pairs_of_labels(training.y, training.ptr, training.shares)
