"""RankBoost: boosting of weak rankers on pairs of documents, from preferences or from different grades."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from attrs import define, field
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from structsvm.estimators.ranking import RankingEstimator
from structsvm.estimators.saving import Stored, curve
from structsvm.exceptions import ZeroWeightsWarning, stacklevel_of_user
from structsvm.foundation.settings import place, require_integer
from structsvm.foundation.storage.archives import finite_numbers
from structsvm.foundation.types import BoolVector, IntVector, Vector
from structsvm.metrics import Measure
from structsvm.models.stumps import StumpModel
from structsvm.rankers import staged
from structsvm.rankers.rank_boost_kernels import (
    CodedFeatures,
    add_coded_stump,
    add_stumps,
    best_stump,
    write_graded_potentials,
    write_listed_potentials,
)
from structsvm.rankers.staged import Learned, StagedData
from structsvm.registry.capabilities import Capabilities
from structsvm.training.choose import best_of
from structsvm.training.grouped import with_grades
from structsvm.training.preferences import Preferences

_ROUNDING = 1e-12
"""Smallest distance of r from ±1, where α would be infinite; also the tolerance for sums of shares."""


def _require_settings(ranker: Any) -> None:
    require_integer(place(ranker, "n_estimators"), ranker.n_estimators, 1)
    require_integer(place(ranker, "max_thresholds"), ranker.max_thresholds, 1, optional=True)


def _restore(ranker: Any) -> None:
    """Set and check the attributes of each round."""
    _require_settings(ranker)
    model, arrays, rounds = ranker.model_, ranker.model_.training.arrays, ranker.best_iteration_
    if len(model.alphas) != rounds:
        raise ValueError(f"it has {len(model.alphas)} weak rankers, but best_iteration_ is {rounds}")
    ranker.features_, ranker.thresholds_ = model.features, model.thresholds
    ranker.missing_, ranker.alphas_ = model.missing, model.alphas
    ranker.r_ = finite_numbers(arrays, "r", (rounds,))
    ranker.losses_ = finite_numbers(arrays, "losses", (None,))
    ranker.validation_scores_ = curve(arrays, "validation_scores", len(ranker.losses_))


@define(slots=False, eq=False, repr=False)
class RankBoost(RankingEstimator):
    """RankBoost: boosting of weak rankers that each compare one feature with a threshold.

    ``D(x0, x1)`` is the weight of a pair of a worse document x0 and a better one x1, equal at first. A round chooses
    the weak ranker ``h(x) = 1[x_f > θ]`` with the largest ``|r|``, for ``r = Σ D(x0, x1) (h(x1) − h(x0))``. It adds ``α
    h`` to the scores, with ``α = ½ ln((1 + r) / (1 − r))``, multiplies each D by ``exp(α (h(x0) − h(x1)))``, and
    normalizes D. A missing feature (NaN) is neither above nor below: h is 0 or 1 for all documents that lack it,
    whichever makes ``|r|`` larger (Freund, Iyer, Schapire and Singer, JMLR 4, 2003). Pairs of labels are never listed.

    Features are dense. The ranker learns from all pairs of different labels within a query, or from `Preferences`,
    whose magnitudes are the weights of the pairs; the weight of a query multiplies its pairs' weights. `fit` emits a
    ``ZeroWeightsWarning`` if no weak ranker separates better documents from worse ones, so that all scores are 0.

    Parameters
    ----------
    n_estimators : largest number of rounds; ``validation`` may keep fewer.
    max_thresholds : largest number of thresholds of a feature: quantiles of its values in training, or all values if
        there are fewer. The quantiles divide the values into ``max_thresholds + 1`` equal parts; a frequent value fills
        one part alone, as in LightGBM's bins. None: all values.
    measure : measure of `score` and of ``validation``, as in `Ranker`.

    Attributes
    ----------
    model_ : the trained model.
    best_iteration_ : number T of weak rankers that are kept.
    features_ : feature of each weak ranker, shape (T,).
    thresholds_ : threshold of each weak ranker, shape (T,), a value of the training data; −inf separates missing
        values.
    missing_ : value of each weak ranker for documents whose feature is missing, shape (T,), boolean.
    alphas_ : weight α of each weak ranker, shape (T,); it has the sign of r.
    r_ : r of each weak ranker, shape (T,).
    losses_ : weighted mean of ``exp(s(x0) − s(x1))`` over the pairs after each round, which bounds the share of pairs
        in the wrong order from above.
    validation_scores_ : the measure of ``validation`` after each round; None without ``validation`` or weak rankers.
    n_features_in_, n_examples_, n_left_out_ : as in `RankSVM`.

    Examples
    --------
    >>> X, y, qid = [[0.1], [0.9], [0.5], [0.2], [0.8]], [0, 1, 2, 0, 1], [1, 1, 1, 2, 2]
    >>> ranker = RankBoost(n_estimators=10).fit(X, y, qid)
    >>> ranker.thresholds_[:1]
    array([0.2])
    >>> ranker.score(X, y, qid)
    1.0
    """

    capabilities = Capabilities(is_staged=True, takes_missing=True, takes_preferences=True)
    stored: ClassVar[Stored] = Stored("RankBoost", StumpModel, {**staged.FACTS, "best_iteration_": 0}, _restore)

    n_estimators: int = 300
    max_thresholds: int | None = field(default=255, kw_only=True)
    measure: str | Measure | None = field(default=None, kw_only=True)

    fit = staged.fit
    _require_settings = _require_settings

    def _learned(self, checked: StagedData) -> Learned:
        grouped, held_out = checked.grouped, checked.held_out
        usable = grouped.usable(grouped.with_pairs())
        list_pairs: Any = pairs_of_preferences if isinstance(grouped.y, Preferences) else pairs_of_labels
        self._boost(grouped.X, list_pairs(grouped.y, grouped.queries.ptr, grouped.shares))
        self.validation_scores_: Vector | None = None
        if self.best_iteration_ == 0:
            warnings.warn(
                "no threshold of a feature separates better documents from worse ones: all scores are 0",
                ZeroWeightsWarning,
                stacklevel=stacklevel_of_user(),
            )
        elif held_out is not None:
            values = [held_out.value(scores) for scores in self._stages(held_out.X)]
            self.validation_scores_ = np.array(values)
            self.best_iteration_: int = best_of(values) + 1
            for name in ("features_", "thresholds_", "missing_", "alphas_", "r_"):
                setattr(self, name, getattr(self, name)[: self.best_iteration_])
        model = partial(
            StumpModel,
            features=self.features_,
            thresholds=self.thresholds_,
            alphas=self.alphas_,
            missing=self.missing_,
        )
        arrays = {"r": self.r_, "losses": self.losses_, "validation_scores": self.validation_scores_}
        return Learned(usable, model, arrays)

    def _boost(self, X: Any, pairs: WeightedPairs) -> None:
        coded = CodedFeatures.of(X, pairs.rows, self.max_thresholds)
        sizes = np.array([len(values) for values in coded.thresholds])
        scores, potentials = np.zeros(len(pairs.rows)), np.empty(len(pairs.rows))
        before = pairs.write_potentials(scores, potentials)
        features, thresholds, missing, alphas, rs, losses = [], [], [], [], [], []
        for _ in range(self.n_estimators if len(coded.features) > 0 else 0):
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
                # All pairs are in order and keep their weights, so every further round would repeat this one.
                break
        self.best_iteration_ = len(rs)
        self.features_: IntVector = np.array(features, dtype=np.int64)
        self.thresholds_: Vector = np.array(thresholds, dtype=np.float64)
        self.missing_: BoolVector = np.array(missing, dtype=np.bool_)
        self.alphas_: Vector = np.array(alphas, dtype=np.float64)
        self.r_: Vector = np.array(rs, dtype=np.float64)
        self.losses_: Vector = np.array(losses, dtype=np.float64)

    def predict(self, X: Any) -> Vector:
        """Return the score of each row, shape (rows,); higher is better within a query.

        A compiled sum takes a fiftieth of the time of ``model_.predict``, and returns the same bits.
        """
        check_is_fitted(self, "model_")
        rows = self.model_.checked(X)
        return self._add(rows, slice(None), np.zeros(len(rows)))

    def staged_predict(self, X: Any) -> Iterator[Vector]:
        """Yield the scores of rows, shape (rows,), after each round up to the best; the last are as from `predict`."""
        yield from self._stages(staged.fitted_features(self, X))

    def _stages(self, rows: Any) -> Iterator[Vector]:
        scores = np.zeros(len(rows))
        for t in range(self.best_iteration_):
            yield self._add(rows, slice(t, t + 1), scores).copy()

    def _add(self, rows: NDArray[Any], rounds: slice, scores: Vector) -> Vector:
        """Add the weak rankers of some rounds to the scores in place."""
        used, places = np.unique(self.features_[rounds], return_inverse=True)
        add_stumps(rows, used, places, self.thresholds_[rounds], self.missing_[rounds], self.alphas_[rounds], scores)
        return scores


class WeightedPairs(NamedTuple):
    """Rows in pairs, and the function that writes their potentials at scores; it returns the log of all weights."""

    rows: IntVector
    write_potentials: Callable[[Vector, Vector], float]


def pairs_of_labels(y: Vector, ptr: IntVector, weights: Vector) -> WeightedPairs:
    """Return all pairs of different labels within queries, weighted by ``weights`` of the queries, shape (Q,)."""
    first = ptr[:-1]
    usable = with_grades(y, ptr) & (weights > 0.0)
    query = np.repeat(np.arange(len(first)), np.diff(ptr))
    rows = np.flatnonzero(usable[query])
    rows = rows[np.lexsort((y[rows], query[rows]))]
    new_query, new_grade = np.ones(len(rows), dtype=bool), np.ones(len(rows), dtype=bool)
    new_query[1:] = query[rows][1:] != query[rows][:-1]
    new_grade[1:] = y[rows][1:] != y[rows][:-1]
    groups = np.flatnonzero(new_query | new_grade)
    bounds = np.append(groups, len(rows)), np.append(np.flatnonzero(new_query[groups]), len(groups))
    logs = np.log(weights[usable])
    return WeightedPairs(rows, lambda scores, potentials: write_graded_potentials(scores, *bounds, logs, potentials))


def pairs_of_preferences(preferences: Preferences, ptr: IntVector, weights: Vector) -> WeightedPairs:
    """Return the listed pairs, weighted by their magnitudes times ``weights`` of the queries, shape (Q,)."""
    query = preferences.queries(ptr)
    usable = weights[query] > 0.0
    better, worse, query = preferences.better[usable], preferences.worse[usable], query[usable]
    rows, place = np.unique(np.concatenate([better, worse]), return_inverse=True)
    ends = place[: len(better)], place[len(better) :]
    logs = np.log(preferences.magnitude[usable]) + np.log(weights[query])
    return WeightedPairs(rows, lambda scores, potentials: write_listed_potentials(scores, *ends, logs, potentials))
