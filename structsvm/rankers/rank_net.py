"""RankNet: a network that learns which of two documents is better."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from attrs import define, field

from structsvm.estimators.parameters import random_of
from structsvm.estimators.ranking import RankingEstimator
from structsvm.estimators.saving import Stored, curve
from structsvm.exceptions import InputError
from structsvm.features.scaling.scalings import Moments
from structsvm.foundation.compute.compilation import compiled
from structsvm.foundation.memory import require_memory
from structsvm.foundation.settings import place, require_integer, require_number, require_switch
from structsvm.foundation.storage.archives import finite_numbers
from structsvm.foundation.types import BoolVector, IntVector, Matrix, Vector
from structsvm.metrics import Measure
from structsvm.models.network import NetworkModel, network_scores, standardized
from structsvm.rankers import staged
from structsvm.rankers.staged import HeldOut, Learned, StagedData
from structsvm.registry.capabilities import Capabilities
from structsvm.training.choose import best_of
from structsvm.training.grouped import GroupedData
from structsvm.training.preferences import Preferences


def size(hidden: int, d: int) -> int:
    """Return the number of weights of a network of ``hidden`` units (0: linear) over d features."""
    return hidden * (d + 2) if hidden else d


def first_weights(hidden: int, d: int, random: np.random.RandomState) -> Vector:
    """Return the initial weights: 0 if linear, else uniform in ±1/√(inputs of the unit), with biases 0."""
    weights = np.zeros(size(hidden, d))
    if hidden:
        weights[: hidden * d] = random.uniform(-1.0, 1.0, hidden * d) / math.sqrt(d)
        weights[hidden * (d + 1) :] = random.uniform(-1.0, 1.0, hidden) / math.sqrt(hidden)
    return weights


def decayed(hidden: int, d: int) -> Vector:
    """Return 1 for each weight that decays and 0 for the biases, which do not."""
    which = np.ones(size(hidden, d))
    which[hidden * d : hidden * (d + 1)] = 0.0
    return which


@compiled
def cost_of_pair(margin: float, target: float) -> tuple[float, float]:
    """Return the cost of a pair with a difference of scores, and its derivative by the difference."""
    small = math.exp(-abs(margin))
    cost = max(margin, 0.0) + math.log1p(small) - target * margin
    return cost, (1.0 if margin > 0.0 else small) / (1.0 + small) - target


@compiled
def cost_of_grades(scores: Vector, grades: Vector, log_odds: float, ties: bool, slopes: Vector) -> float:
    """Return the mean cost of pairs of different (with ``ties`` also equal) grades; write its derivatives by scores."""
    n = len(scores)
    slopes[:] = 0.0
    total, pairs = 0.0, 0
    counted, target = 0.0, 0.5
    for i in range(n):
        for j in range(n):
            difference = grades[i] - grades[j]
            if difference < 0.0 or (difference == 0.0 and (not ties or j <= i)):
                continue
            if difference != counted:
                counted = difference
                target = 1.0 / (1.0 + math.exp(-difference * log_odds)) if difference > 0.0 else 0.5
            cost, slope = cost_of_pair(scores[i] - scores[j], target)
            total += cost
            slopes[i] += slope
            slopes[j] -= slope
            pairs += 1
    slopes /= max(pairs, 1)
    return total / max(pairs, 1)


@compiled
def cost_of_pairs(scores: Vector, better: IntVector, worse: IntVector, targets: Vector, slopes: Vector) -> float:
    """Return the mean cost of listed pairs with target probabilities ``targets``, and write ``slopes``."""
    slopes[:] = 0.0
    total, pairs = 0.0, max(len(better), 1)
    for pair in range(len(better)):
        i, j = better[pair], worse[pair]
        cost, slope = cost_of_pair(scores[i] - scores[j], targets[pair])
        total += cost
        slopes[i] += slope
        slopes[j] -= slope
    slopes /= pairs
    return total / pairs


class PairExamples(NamedTuple):
    """Queries and listed pairs (positions within the query of ``pair_ptr``), or else all pairs of different grades."""

    rows: Matrix
    ptr: IntVector
    weights: Vector
    grades: Vector
    log_odds: float
    ties: bool
    better: IntVector
    worse: IntVector
    targets: Vector
    pair_ptr: IntVector


@compiled
def query_gradient(examples: PairExamples, q: int, hidden: int, weights: Vector) -> tuple[float, Vector]:
    """Return the weighted mean cost of the pairs of query q, and its gradient by the weights."""
    first, last = examples.ptr[q], examples.ptr[q + 1]
    rows, d = examples.rows[first:last], examples.rows.shape[1]
    units, biases = weights[: hidden * d].reshape(hidden, d), weights[hidden * d : hidden * (d + 1)]
    outputs = weights[hidden * (d + 1) :]
    activations = np.tanh(rows @ units.T + biases) if hidden else rows
    scores = activations @ outputs
    slopes = np.empty(len(rows))
    if len(examples.better) > 0:
        a, b = examples.pair_ptr[q], examples.pair_ptr[q + 1]
        cost = cost_of_pairs(scores, examples.better[a:b], examples.worse[a:b], examples.targets[a:b], slopes)
    else:
        cost = cost_of_grades(scores, examples.grades[first:last], examples.log_odds, examples.ties, slopes)
    weight = float(examples.weights[q])
    slopes *= weight
    gradient = np.empty(len(weights))
    gradient[hidden * (d + 1) :] = slopes @ activations
    if hidden:
        of_units = slopes.reshape(-1, 1) * outputs * (1.0 - activations * activations)
        gradient[: hidden * d] = (of_units.T @ rows).ravel()
        gradient[hidden * d : hidden * (d + 1)] = of_units.sum(axis=0)
    return weight * cost, gradient


@compiled
def run_epoch(
    examples: PairExamples, order: IntVector, hidden: int, rate: float, decay: float, decays: Vector, weights: Vector
) -> float:
    """Take a gradient step of length ``rate`` for each query; return the weighted mean of the costs before it."""
    total = 0.0
    for q in order:
        cost, gradient = query_gradient(examples, q, hidden, weights)
        total += cost
        weights -= rate * (gradient + decay * decays * weights)
    mean: float = total / np.sum(examples.weights)
    return mean


def _require_settings(ranker: Any) -> None:
    require_integer(place(ranker, "hidden_layer_sizes"), ranker.hidden_layer_sizes, 0)
    require_integer(place(ranker, "max_iter"), ranker.max_iter, 1)
    require_number(place(ranker, "learning_rate"), ranker.learning_rate, above=0.0)
    require_number(place(ranker, "weight_decay"), ranker.weight_decay, at_least=0.0)
    require_number(place(ranker, "log_odds"), ranker.log_odds, above=0.0, optional=True)
    require_switch(place(ranker, "ties"), ranker.ties)
    random_of(ranker)


def _restore(ranker: Any) -> None:
    """Set and check the attributes of each epoch."""
    _require_settings(ranker)
    model, arrays = ranker.model_, ranker.model_.training.arrays
    if model.hidden != ranker.hidden_:
        raise ValueError(f"the network has {model.hidden} hidden units, but hidden_ is {ranker.hidden_}")
    ranker.path_ = finite_numbers(arrays, "path", (None, len(model.weights)))
    epochs = len(ranker.path_)
    ranker.costs_ = finite_numbers(arrays, "costs", (epochs,))
    ranker.weights_ = model.weights
    if ranker.best_iteration_ > epochs or not np.array_equal(ranker.path_[ranker.best_iteration_ - 1], model.weights):
        raise ValueError(f"the weights differ from the weights of epoch {ranker.best_iteration_} in path_")
    ranker.validation_scores_ = curve(arrays, "validation_scores", epochs)


@define(slots=False, eq=False, repr=False)
class RankNet(RankingEstimator):
    """RankNet: a network trained by gradient descent on the cross entropy of pairs of documents.

    The cost of a pair with scores s_i and s_j is ``log(1 + e^o) − P̄·o``, where ``o = s_i − s_j`` and P̄ is the target
    probability that document i is ahead (Burges, Shaked, Renshaw, Lazier, Deeds, Hamilton and Hullender, ICML 2005).
    RankNet minimizes ``(1/Σκ) Σ_q κ_q C_q + ½ weight_decay ‖w‖²`` with the weight κ_q of query q and the mean cost C_q
    of its pairs. An epoch takes a gradient step for each query, in random order. If the mean cost of an epoch does not
    decrease, steps are halved. Features are standardized by the training rows.

    Features are dense. The network learns from labels or from `Preferences`; with ``validation``, it keeps the weights
    of the best epoch. If the weights overflow because steps are too long, `fit` raises an ``InputError``.

    Parameters
    ----------
    hidden_layer_sizes : number of tanh units of the one hidden layer; 0 is a linear network.
    max_iter : largest number of passes over the queries.
    learning_rate : initial length of a step.
    log_odds : target difference of scores per grade, or per unit of magnitude with `Preferences`: a document that is
        one grade better is ahead with probability P̄ = 1/(1 + e^−log_odds). None: P̄ = 1 for all better documents.
    ties : learn from pairs of equal grades too, with equal scores as the target (P̄ = ½).
    weight_decay : weight of ½‖w‖², which does not include the biases of hidden units.
    n_iter_no_change : stop after this number of epochs without a better measure of ``validation``; None: never stop
        early.
    measure : measure of `score` and of ``validation``, as in `Ranker`.
    missing : replacement of NaN, as in `Ranker`.
    random_state : seed of the order of queries and of the first weights of hidden units.

    Attributes
    ----------
    model_ : the trained model.
    weights_ : the weights for standardized features. Linear: shape (d,). Otherwise the ``hidden · d`` weights of the
        hidden units, unit after unit, their biases and their output weights.
    path_ : the weights after each epoch, shape (epochs run, number of weights).
    best_iteration_ : epoch of ``weights_``, from 1: the best by ``validation``, or the last.
    costs_ : mean of C_q in each epoch, each C_q just before its step.
    validation_scores_ : the measure of ``validation`` after each epoch; None without it.
    scaling_ : standardization by the rows learned from.
    hidden_ : number of hidden units.
    n_features_in_, n_examples_, n_left_out_ : as in `RankSVM`.

    Examples
    --------
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [3.0, 1.0], [2.0, 0.0]], [0, 1, 2, 1]
    >>> qid = [1, 1, 1, 1]
    >>> RankNet(hidden_layer_sizes=0, log_odds=None, random_state=0).fit(X, y, qid=qid).score(X, y, qid=qid)
    1.0
    """

    capabilities = Capabilities(is_staged=True, takes_preferences=True)
    stored: ClassVar[Stored] = Stored("RankNet", NetworkModel, {**staged.FACTS, "hidden_": 0}, _restore)

    hidden_layer_sizes: int = 10
    max_iter: int = field(default=100, kw_only=True)
    learning_rate: float = field(default=0.03, kw_only=True)
    log_odds: float | None = field(default=1.0, kw_only=True)
    ties: bool = field(default=False, kw_only=True)
    weight_decay: float = field(default=0.001, kw_only=True)
    n_iter_no_change: int | None = field(default=None, kw_only=True)
    random_state: int | np.random.RandomState | None = field(default=None, kw_only=True)
    measure: str | Measure | None = field(default=None, kw_only=True)
    missing: str | float | None = field(default=None, kw_only=True)

    fit = staged.fit
    _require_settings = _require_settings

    def _learned(self, checked: StagedData) -> Learned:
        grouped, held_out = checked.grouped, checked.held_out
        usable = grouped.usable(_teaching(grouped, ties=self.ties))
        random = random_of(self)
        log_odds = math.inf if self.log_odds is None else self.log_odds
        examples = pair_examples(grouped, usable, log_odds=log_odds, ties=self.ties)
        weights = np.repeat(examples.weights, np.diff(examples.ptr))
        scaling = Moments.of(examples.rows, weights).standard(centered=True)
        examples = examples._replace(rows=standardized(examples.rows, scaling))
        rows = None if held_out is None else standardized(held_out.X, scaling)
        self._descend(examples, held_out, rows, random)
        model = partial(NetworkModel, scaling=scaling, hidden=self.hidden_, weights=self.weights_)
        arrays = {"path": self.path_, "costs": self.costs_, "validation_scores": self.validation_scores_}
        return Learned(usable, model, arrays)

    predict = staged.predict

    def staged_predict(self, X: Any) -> Iterator[Vector]:
        """Yield the scores of rows, shape (rows,), after each epoch up to the best; the last are as from `predict`."""
        z = standardized(staged.fitted_features(self, X), self.model_.scaling)
        for weights in self.path_[: self.best_iteration_]:
            yield network_scores(z, weights, self.hidden_)

    def _descend(
        self, examples: PairExamples, held_out: HeldOut | None, rows: Matrix | None, random: np.random.RandomState
    ) -> None:
        hidden = int(self.hidden_layer_sizes)
        queries, d = len(examples.weights), examples.rows.shape[1]
        require_memory(8.0 * hidden * (d + 2.0), f"{hidden:,} hidden units", "choose fewer (hidden_layer_sizes)")
        weights, decays = first_weights(hidden, d, random), decayed(hidden, d)
        rate = float(self.learning_rate)
        path: list[Vector] = []
        costs: list[float] = []
        values: list[float] = []
        for _ in range(self.max_iter):
            order = random.permutation(queries)
            cost = run_epoch(examples, order, hidden, rate, float(self.weight_decay), decays, weights)
            if not (math.isfinite(cost) and np.isfinite(weights).all()):
                raise InputError(
                    f"the weights overflowed in epoch {len(path) + 1}: RankNet needs a smaller learning_rate than "
                    f"{self.learning_rate:g}, or a smaller weight_decay than {self.weight_decay:g}"
                )
            if costs and cost >= costs[-1]:
                rate /= 2.0
            path.append(weights.copy())
            costs.append(cost)
            if held_out is not None and rows is not None:
                values.append(held_out.value(network_scores(rows, weights, hidden)))
                since = len(values) - 1 - best_of(values)
                if self.n_iter_no_change is not None and since >= self.n_iter_no_change:
                    break
        best = best_of(values) if values else len(path) - 1
        self.hidden_ = hidden
        self.path_: Matrix = np.array(path)
        self.weights_: Vector = self.path_[best].copy()
        self.best_iteration_ = best + 1
        self.costs_: Vector = np.array(costs)
        self.validation_scores_: Vector | None = np.array(values) if values else None


def _teaching(grouped: GroupedData, *, ties: bool) -> BoolVector:
    """Return a mask of the queries to learn from: with a pair of grades, or of documents if ties teach."""
    if not ties:
        return grouped.with_pairs()
    if isinstance(grouped.y, Preferences):
        raise InputError("RankNet(ties=True) needs labels, because preferences have no ties: set ties=False")
    return grouped.queries.sizes > 1


def pair_examples(grouped: GroupedData, usable: BoolVector, *, log_odds: float, ties: bool) -> PairExamples:
    """Return the usable queries with their pairs; ``log_odds`` may be infinite."""
    ptr, y = grouped.queries.ptr, grouped.y
    X: Any = grouped.X
    weights = grouped.shares[usable]
    size = grouped.queries.sizes
    used = np.repeat(usable, size)
    all_used = bool(usable.all())
    grades, begin = np.zeros(0), np.zeros(int(usable.sum()) + 1, dtype=np.int64)
    better, worse, targets = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0)
    if isinstance(y, Preferences):
        query = y.queries(ptr)
        order = np.argsort(query, kind="stable")
        order = order[usable[query[order]]]
        first = ptr[query[order]]
        better, worse = y.better[order] - first, y.worse[order] - first
        targets = 1.0 / (1.0 + np.exp(-log_odds * y.magnitude[order]))
        begin = np.append(0, np.cumsum(np.bincount(query, minlength=len(usable))[usable]))
    else:
        grades = y if all_used else y[used]
    return PairExamples(
        rows=X if all_used else X[used],
        ptr=np.append(0, np.cumsum(size[usable])),
        weights=weights / weights.mean(),
        grades=grades,
        log_odds=float(log_odds),
        ties=bool(ties),
        better=better,
        worse=worse,
        targets=targets,
        pair_ptr=begin,
    )
