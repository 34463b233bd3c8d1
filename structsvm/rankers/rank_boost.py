"""RankBoost: boosting of weak rankers on pairs of documents, given or of different grades."""

from __future__ import annotations  # `help` shows the types by name, not as the long unions that they are

import math
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from attrs import frozen
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from structsvm.estimators.ranking import Parts
from structsvm.exceptions import ZeroWeightsWarning, stacklevel_of_user
from structsvm.metrics import Measure
from structsvm.rankers.preferences import Preferences
from structsvm.rankers.rank_boost_potentials import write_graded_potentials, write_listed_potentials
from structsvm.rankers.rank_boost_stumps import CodedFeatures, add_coded_stump, add_stumps, best_stump
from structsvm.rankers.ranker_file import curve
from structsvm.rankers.staged import HeldOut, StagedRanker
from structsvm.rankers.training import Training, with_grades
from structsvm.serving.scorer import Description
from structsvm.serving.stumps import StumpScorer
from structsvm.settings import place, require_integer
from structsvm.storage.archives import finite_numbers, require_numbers, shape
from structsvm.types import BoolVector, IntVector, Vector

_ROUNDING = 1e-12
"""How far r stays from ±1 where α is made of it, which would be infinite; and what sums of shares may be off by."""


class RankBoost(StagedRanker):
    """Boosting of weak rankers that each look at one feature, weighting the pairs that are still in the wrong order.

    A round finds the feature f and the threshold θ of the weak ranker ``h(x) = 1[x_f > θ]`` with the largest
    ``|r|``, ``r = Σ D(x0, x1) (h(x1) − h(x0))`` over the pairs of a document x1 that is better than x0 in its
    query, and adds ``α h`` to the scores, ``α = ½ ln((1 + r) / (1 − r))``. The weights D of pairs, equal at
    first, are then multiplied by ``exp(α (h(x0) − h(x1)))`` and divided by their sum. A missing feature (NaN)
    is neither above nor below: h is what makes ``|r|`` larger, the same for all documents that lack it. (Freund,
    Iyer, Schapire and Singer, "An efficient boosting algorithm for combining preferences", Journal of Machine
    Learning Research 4, 2003.) Pairs of labels are never listed: a round costs a look at one small integer for each
    feature and document.

    Features are dense, NaN where missing. Of labels, all pairs of different ones within a query are learned from, of
    equal weight; of `Preferences`, the magnitudes are the weights of the pairs. The weight of a query is that of each
    of its pairs. A ``ZeroWeightsWarning`` says that no weak ranker tells better from worse, so that all scores are 0.

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
    best_iteration_ : number T of weak rankers that are kept.
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

    _kind = "rank_boost"
    _counts: ClassVar[Mapping[str, int]] = {**StagedRanker._counts, "best_iteration_": 0}
    _takes_missing = True

    def __init__(
        self, n_rounds: int = 300, *, max_thresholds: int | None = 255, measure: str | Measure | None = None
    ) -> None:
        self.n_rounds = n_rounds
        self.max_thresholds = max_thresholds
        self.measure = measure

    def _require_settings(self) -> None:
        require_integer(place(self, "n_rounds"), self.n_rounds, 1)
        require_integer(place(self, "max_thresholds"), self.max_thresholds, 1, optional=True)

    def _learn(self, training: Training, usable: BoolVector, held_out: HeldOut | None) -> None:
        self._boost(training.X, _pairs(training))
        self.validation_scores_: Vector | None = None
        if self.best_iteration_ == 0:
            warnings.warn(
                "no threshold of a feature tells better documents from worse ones: all scores are 0",
                ZeroWeightsWarning,
                stacklevel=stacklevel_of_user(),
            )
        elif held_out is not None:
            values = [held_out.value(scores) for scores in self._stages(held_out.X)]
            self.validation_scores_ = np.array(values)
            self._keep(int(np.argmax(values)) + 1)

    def _boost(self, X: Any, pairs: GradedPairs | ListedPairs) -> None:
        coded = CodedFeatures.of(X, pairs.rows, self.max_thresholds)
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
        self.best_iteration_ = len(rs)
        self.features_: IntVector = np.array(features, dtype=np.int64)
        self.thresholds_: Vector = np.array(thresholds, dtype=np.float64)
        self.missing_: BoolVector = np.array(missing, dtype=np.bool_)
        self.alphas_: Vector = np.array(alphas, dtype=np.float64)
        self.r_: Vector = np.array(rs, dtype=np.float64)
        self.losses_: Vector = np.array(losses, dtype=np.float64)

    def _state(self) -> dict[str, Any]:
        return {
            "features": self.features_,
            "thresholds": self.thresholds_,
            "missing": self.missing_,
            "alphas": self.alphas_,
            "r": self.r_,
            "losses": self.losses_,
            "validation_scores": self.validation_scores_,
        }

    def _restore(self, arrays: Mapping[str, Any], about: Description) -> None:
        stumps = StumpScorer.of(about, arrays, self.best_iteration_)
        self.features_, self.thresholds_ = stumps.features, stumps.thresholds
        self.missing_, self.alphas_ = stumps.missing, stumps.alphas
        require_numbers(arrays, "r", (self.best_iteration_,))
        require_numbers(arrays, "losses", shape(arrays, "losses")[:1])
        self.r_, self.losses_ = finite_numbers(arrays, "r"), finite_numbers(arrays, "losses")
        self.validation_scores_ = curve(arrays, "validation_scores", len(self.losses_))

    def _keep(self, rounds: int) -> None:
        self.best_iteration_ = rounds
        for name in ("features_", "thresholds_", "missing_", "alphas_", "r_"):
            setattr(self, name, getattr(self, name)[:rounds])

    def parts(self) -> Parts:
        """Return the weak rankers and their weights; weights of the same feature and threshold are added up."""
        check_is_fitted(self, "n_examples_")
        sums: dict[tuple[int, float, bool], float] = {}
        kept = (self.features_.tolist(), self.thresholds_.tolist(), self.missing_.tolist())
        for weak, alpha in zip(zip(*kept, strict=True), self.alphas_.tolist(), strict=True):
            sums[weak] = sums.get(weak, 0.0) + alpha
        rows = (
            {"feature": feature, "threshold": above if np.isfinite(above) else None, "missing": missing, "value": total}
            for (feature, above, missing), total in sorted(sums.items(), key=lambda item: -abs(item[1]))
        )
        said = "A document gets the weight where its feature is above the threshold, or missing and missing is True."
        return Parts("weight", tuple(rows), (said,))

    def _scores(self, rows: Any) -> Vector:
        return self._add(rows, slice(None), np.zeros(len(rows)))

    def _stages(self, rows: Any) -> Iterator[Vector]:
        scores = np.zeros(len(rows))
        for t in range(self.best_iteration_):
            yield self._add(rows, slice(t, t + 1), scores).copy()

    def _add(self, rows: NDArray[Any], rounds: slice, scores: Vector) -> Vector:
        """Add the weak rankers of some rounds to the scores, in place."""
        used, places = np.unique(self.features_[rounds], return_inverse=True)
        add_stumps(rows, used, places, self.thresholds_[rounds], self.missing_[rounds], self.alphas_[rounds], scores)
        return scores


def _pairs(training: Training) -> GradedPairs | ListedPairs:
    """Return the pairs to learn from."""
    ptr, shares = training.queries.ptr, training.shares
    if isinstance(training.y, Preferences):
        return pairs_of_preferences(training.y, ptr, shares)
    return pairs_of_labels(training.y, ptr, shares)


@frozen(eq=False)
class GradedPairs:
    """All pairs of different grades within queries, never listed. See `write_graded_potentials`.

    Parameters
    ----------
    rows : rows of the training data that are in pairs, shape (n,). Potentials are theirs, in this order.
    groups, queries, log_weights : see `write_graded_potentials`.
    """

    rows: IntVector
    groups: IntVector
    queries: IntVector
    log_weights: Vector

    def write_potentials(self, scores: Vector, potentials: Vector) -> float:
        """Write the potentials of the rows at these scores, and return the log of all weight."""
        return float(write_graded_potentials(scores, self.groups, self.queries, self.log_weights, potentials))


@frozen(eq=False)
class ListedPairs:
    """Pairs one by one. See `write_listed_potentials`, and `GradedPairs` for the rows."""

    rows: IntVector
    better: IntVector
    worse: IntVector
    log_weights: Vector

    def write_potentials(self, scores: Vector, potentials: Vector) -> float:
        """Write the potentials of the rows at these scores, and return the log of all weight."""
        return float(write_listed_potentials(scores, self.better, self.worse, self.log_weights, potentials))


def pairs_of_labels(y: Vector, ptr: IntVector, weights: Vector) -> GradedPairs:
    """Take all pairs of different labels within each query, with the weight of the query.

    Parameters
    ----------
    y : labels, shape (rows,); larger is better.
    ptr : where the rows of each query begin, shape (Q + 1,).
    weights : weight of a pair of each query, shape (Q,); a query of weight 0 has no use.
    """
    first = ptr[:-1]
    usable = with_grades(y, ptr) & (weights > 0.0)
    query = np.repeat(np.arange(len(first)), np.diff(ptr))
    rows = np.flatnonzero(usable[query])
    rows = rows[np.lexsort((y[rows], query[rows]))]
    new_query, new_grade = np.ones(len(rows), dtype=bool), np.ones(len(rows), dtype=bool)
    new_query[1:] = query[rows][1:] != query[rows][:-1]
    new_grade[1:] = y[rows][1:] != y[rows][:-1]
    groups = np.flatnonzero(new_query | new_grade)
    return GradedPairs(
        rows=rows,
        groups=np.append(groups, len(rows)),
        queries=np.append(np.flatnonzero(new_query[groups]), len(groups)),
        log_weights=np.log(weights[usable]),
    )


def pairs_of_preferences(preferences: Preferences, ptr: IntVector, weights: Vector) -> ListedPairs:
    """Take listed pairs, each with its magnitude times the weight of its query.

    Parameters
    ----------
    preferences : pairs of rows.
    ptr : where the rows of each query begin, shape (Q + 1,).
    weights : weight of each query, shape (Q,); the pairs of one of weight 0 have no use.
    """
    query = preferences.queries(ptr)
    usable = weights[query] > 0.0
    better, worse, query = preferences.better[usable], preferences.worse[usable], query[usable]
    rows, place = np.unique(np.concatenate([better, worse]), return_inverse=True)
    return ListedPairs(
        rows=rows,
        better=place[: len(better)],
        worse=place[len(better) :],
        log_weights=np.log(preferences.magnitude[usable]) + np.log(weights[query]),
    )
