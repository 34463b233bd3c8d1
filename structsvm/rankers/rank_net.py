"""RankNet: a network that learns which of two documents is better."""

# `help` then shows types by name instead of as long unions.
from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from structsvm.estimators.choosing import best_of
from structsvm.estimators.parameters import random_of
from structsvm.estimators.trained import Arrays, curve
from structsvm.exceptions import InputError
from structsvm.features.scaling.scalings import Moments
from structsvm.foundation.memory import require_memory
from structsvm.foundation.settings import place, require_integer, require_number, require_switch
from structsvm.foundation.storage.archives import finite_numbers
from structsvm.foundation.types import BoolVector, Matrix, Vector
from structsvm.metrics import Measure
from structsvm.models.network import NetworkModel, network_scores, standardized
from structsvm.rankers.preferences import Preferences
from structsvm.rankers.rank_net_descent import PairExamples, decayed, first_weights, run_epoch
from structsvm.rankers.staged import HeldOut, StagedRanker
from structsvm.rankers.training import TrainingQueries


class RankNet(StagedRanker):
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

    _saved_as = "RankNet"
    _form = NetworkModel
    model_: NetworkModel
    _kept: ClassVar[Mapping[str, Any]] = {**StagedRanker._kept, "hidden_": 0}

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

    def _learn(self, training: TrainingQueries, usable: BoolVector, held_out: HeldOut | None) -> Arrays:
        random = random_of(self)
        log_odds = math.inf if self.log_odds is None else self.log_odds
        examples = pair_examples(training, usable, log_odds=log_odds, ties=self.ties)
        weights = np.repeat(examples.weights, np.diff(examples.ptr))
        self.scaling_ = Moments.of(examples.rows, weights).standard(centered=True)
        examples = examples._replace(rows=standardized(examples.rows, self.scaling_))
        rows = None if held_out is None else standardized(held_out.X, self.scaling_)
        self._descend(examples, held_out, rows, random)
        return {"path": self.path_, "costs": self.costs_, "validation_scores": self.validation_scores_}

    def _teaching(self, training: TrainingQueries) -> BoolVector:
        if not self.ties:
            return training.with_pairs()
        if isinstance(training.y, Preferences):
            raise InputError("RankNet(ties=True) needs labels, because preferences have no ties: set ties=False")
        return training.queries.sizes > 1

    def _stages(self, rows: Any) -> Iterator[Vector]:
        z = standardized(rows, self.scaling_)
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

    def _model(self, **known: Any) -> NetworkModel:
        return NetworkModel(scaling=self.scaling_, hidden=self.hidden_, weights=self.weights_, **known)

    def _restore(self) -> None:
        super()._restore()
        model, arrays = self.model_, self.model_.training.arrays
        if model.hidden != self.hidden_:
            raise ValueError(f"the network has {model.hidden} hidden units, but hidden_ is {self.hidden_}")
        self.path_ = finite_numbers(arrays, "path", (None, len(model.weights)))
        epochs = len(self.path_)
        self.costs_ = finite_numbers(arrays, "costs", (epochs,))
        self.weights_, self.scaling_ = model.weights, model.scaling
        if self.best_iteration_ > epochs or not np.array_equal(self.path_[self.best_iteration_ - 1], self.weights_):
            raise ValueError(f"the weights differ from the weights of epoch {self.best_iteration_} in path_")
        self.validation_scores_ = curve(arrays, "validation_scores", epochs)

    def _require_settings(self) -> None:
        require_integer(place(self, "hidden_layer_sizes"), self.hidden_layer_sizes, 0)
        require_integer(place(self, "max_iter"), self.max_iter, 1)
        require_number(place(self, "learning_rate"), self.learning_rate, above=0.0)
        require_number(place(self, "weight_decay"), self.weight_decay, at_least=0.0)
        require_number(place(self, "log_odds"), self.log_odds, above=0.0, optional=True)
        require_switch(place(self, "ties"), self.ties)
        random_of(self)


def pair_examples(training: TrainingQueries, usable: BoolVector, *, log_odds: float, ties: bool) -> PairExamples:
    """Return the usable queries with their pairs; ``log_odds`` may be infinite."""
    ptr, y = training.queries.ptr, training.y
    X: Any = training.X
    weights = training.shares[usable]
    size = training.queries.sizes
    kept = np.repeat(usable, size)
    all_kept = bool(usable.all())
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
        grades = y if all_kept else y[kept]
    return PairExamples(
        rows=X if all_kept else X[kept],
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
