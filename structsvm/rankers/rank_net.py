"""RankNet: a network that learns which of two documents is better."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

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
from structsvm.rankers.staged import HeldOut, StagedData
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


@partial(compiled, reorder=True)
def score(rows: Matrix, weights: Vector, hidden: int, activations: Matrix, scores: Vector) -> None:
    """Write the scores of ``rows``, shape (n, d), and the ``activations`` of the hidden units, shape (n, hidden)."""
    n, d = rows.shape
    if hidden == 0:
        for i in range(n):
            total = 0.0
            for j in range(d):
                total += rows[i, j] * weights[j]
            scores[i] = total
        return
    biases = weights[hidden * d : hidden * (d + 1)]
    outputs = weights[hidden * (d + 1) :]
    for i in range(n):
        output = 0.0
        for k in range(hidden):
            unit = weights[k * d : (k + 1) * d]
            total = biases[k]
            for j in range(d):
                total += rows[i, j] * unit[j]
            activations[i, k] = math.tanh(total)
            output += outputs[k] * activations[i, k]
        scores[i] = output


@partial(compiled, reorder=True)
def add_gradient(
    rows: Matrix, weights: Vector, hidden: int, activations: Matrix, slopes: Vector, gradient: Vector
) -> None:
    """Add the gradient of a cost by the weights; ``slopes`` are its derivatives by the scores."""
    n, d = rows.shape
    if hidden == 0:
        for i in range(n):
            for j in range(d):
                gradient[j] += slopes[i] * rows[i, j]
        return
    outputs = weights[hidden * (d + 1) :]
    for i in range(n):
        for k in range(hidden):
            activation = activations[i, k]
            gradient[hidden * (d + 1) + k] += slopes[i] * activation
            slope = slopes[i] * outputs[k] * (1.0 - activation * activation)
            gradient[hidden * d + k] += slope
            unit = gradient[k * d : (k + 1) * d]
            for j in range(d):
                unit[j] += slope * rows[i, j]


@compiled
def cost_of_grades(scores: Vector, grades: Vector, log_odds: float, ties: bool, slopes: Vector) -> float:
    """Return the mean cost of pairs of different (with ``ties`` also equal) grades; write its derivatives by scores."""
    n = len(scores)
    slopes[:] = 0.0
    cost, pairs = 0.0, 0
    counted, target = 0.0, 0.5
    for i in range(n):
        for j in range(n):
            difference = grades[i] - grades[j]
            if difference < 0.0 or (difference == 0.0 and (not ties or j <= i)):
                continue
            if difference != counted:
                counted = difference
                target = 1.0 / (1.0 + math.exp(-difference * log_odds)) if difference > 0.0 else 0.5
            margin = scores[i] - scores[j]
            small = math.exp(-abs(margin))
            cost += max(margin, 0.0) + math.log1p(small) - target * margin
            slope = (1.0 if margin > 0.0 else small) / (1.0 + small) - target
            slopes[i] += slope
            slopes[j] -= slope
            pairs += 1
    if pairs > 0:
        slopes /= pairs
        cost /= pairs
    return cost


@compiled
def cost_of_pairs(scores: Vector, better: IntVector, worse: IntVector, targets: Vector, slopes: Vector) -> float:
    """Return the mean cost of listed pairs with target probabilities ``targets``, and write ``slopes``."""
    slopes[:] = 0.0
    cost, pairs = 0.0, len(better)
    for pair in range(pairs):
        i, j = better[pair], worse[pair]
        margin = scores[i] - scores[j]
        small = math.exp(-abs(margin))
        cost += max(margin, 0.0) + math.log1p(small) - targets[pair] * margin
        slope = (1.0 if margin > 0.0 else small) / (1.0 + small) - targets[pair]
        slopes[i] += slope
        slopes[j] -= slope
    if pairs > 0:
        slopes /= pairs
        cost /= pairs
    return cost


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
def add_query_gradient(
    examples: PairExamples,
    q: int,
    hidden: int,
    weights: Vector,
    activations: Matrix,
    scores: Vector,
    slopes: Vector,
    gradient: Vector,
) -> float:
    """Return the weighted mean cost of the pairs of query q, and add its gradient; other arrays are scratch memory."""
    first, last = examples.ptr[q], examples.ptr[q + 1]
    n, rows = last - first, examples.rows[first:last]
    score(rows, weights, hidden, activations, scores)
    if len(examples.better) > 0:
        a, b = examples.pair_ptr[q], examples.pair_ptr[q + 1]
        cost = cost_of_pairs(scores[:n], examples.better[a:b], examples.worse[a:b], examples.targets[a:b], slopes[:n])
    else:
        cost = cost_of_grades(scores[:n], examples.grades[first:last], examples.log_odds, examples.ties, slopes[:n])
    weight = float(examples.weights[q])
    slopes[:n] *= weight
    add_gradient(rows, weights, hidden, activations, slopes, gradient)
    return weight * cost


@compiled
def run_epoch(
    examples: PairExamples, order: IntVector, hidden: int, rate: float, decay: float, decays: Vector, weights: Vector
) -> float:
    """Take a gradient step of length ``rate`` for each query; return the weighted mean of the costs before it."""
    longest = np.max(np.diff(examples.ptr))
    activations = np.empty((longest, hidden))
    scores, slopes = np.empty(longest), np.empty(longest)
    gradient = np.empty(len(weights))
    cost = 0.0
    for q in order:
        gradient[:] = 0.0
        cost += add_query_gradient(examples, q, hidden, weights, activations, scores, slopes, gradient)
        for k in range(len(weights)):
            weights[k] -= rate * (gradient[k] + decay * decays[k] * weights[k])
    mean: float = cost / np.sum(examples.weights)
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


class RankNet(RankingEstimator):
    """RankNet: a network trained by gradient descent on the cross entropy of pairs of documents.

    The cost of a pair with scores s_i and s_j is ``log(1 + e^o) − P̄·o``, where ``o = s_i − s_j`` and P̄ is the target
    probability that document i is ahead (Burges, Shaked, Renshaw, Lazier, Deeds, Hamilton and Hullender, ICML 2005).
    RankNet minimizes ``(1/Σκ) Σ_q κ_q C_q + ½ weight_decay ‖w‖²``, where C_q is the mean cost over the pairs of query
    q, by a step for each query, in a new random order for each epoch. If the mean cost of an epoch does not decrease,
    steps are halved. Features are standardized by the training rows.

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

    def __init__(
        self,
        hidden_layer_sizes: int = 10,
        *,
        max_iter: int = 100,
        learning_rate: float = 0.03,
        log_odds: float | None = 1.0,
        ties: bool = False,
        weight_decay: float = 0.001,
        n_iter_no_change: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        measure: str | Measure | None = None,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.max_iter = max_iter
        self.learning_rate = learning_rate
        self.log_odds = log_odds
        self.ties = ties
        self.weight_decay = weight_decay
        self.n_iter_no_change = n_iter_no_change
        self.random_state = random_state
        self.measure = measure

    def fit(
        self,
        X: Any,
        y: Any,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        validation: tuple[Any, ...] | None = None,
    ) -> Self:
        """Learn from queries, step by step.

        Parameters
        ----------
        X : features, shape (rows, d), dense.
        y : labels, shape (rows,), larger is better; or `Preferences`.
        qid : as in `Ranker.fit`.
        sample_weight : as in `Ranker.fit`; only ratios matter.
        validation : (X, y, qid) of other queries, or (X, y) of one query, with labels y. The ranker keeps the steps up
            to the first with the best ``measure``. None: it keeps all steps.

        Warns
        -----
        OneQueryWarning : qid is missing, so all labeled rows are one query.
        """
        _require_settings(self)
        checked = StagedData.of(self, X, y, qid, sample_weight, validation)
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
        checked.finish(self, usable, model, arrays)
        return self

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
