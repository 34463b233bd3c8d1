"""RankNet: a network that learns which of two documents is better."""

from __future__ import annotations  # `help` shows the types by name, not as the long unions that they are

import math
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from structsvm.estimators.parameters import random_of
from structsvm.estimators.ranking import Parts
from structsvm.exceptions import InputError
from structsvm.metrics import Measure
from structsvm.rankers.preferences import Preferences
from structsvm.rankers.rank_net_descent import Examples, decayed, descend, first_weights
from structsvm.rankers.ranker_file import curve
from structsvm.rankers.staged import HeldOut, StagedRanker
from structsvm.rankers.training import Training
from structsvm.serving.network import NetworkScorer, network_scores, standardised
from structsvm.serving.scorer import Description
from structsvm.settings import place, require_integer, require_number, require_switch
from structsvm.storage.archives import finite_numbers, require_numbers
from structsvm.types import BoolVector, IntVector, Matrix, Vector


class RankNet(StagedRanker):
    """A network trained by gradient descent on the cross entropy of pairs of documents.

    The cost of a pair with scores s_i and s_j is ``log(1 + e^o) − P̄·o``, where ``o = s_i − s_j`` and P̄ is the
    probability with which document i shall be ahead (Burges, Shaked, Renshaw, Lazier, Deeds, Hamilton and
    Hullender, "Learning to rank using gradient descent", ICML 2005, sections 3 and 4). Minimised is
    ``(1/Σκ) Σ_q κ_q C_q + ½ weight_decay ‖w‖²``, C_q being the mean over the pairs of query q, so that a query
    counts the same whatever its length. There is a step after each query, in an order drawn anew for each epoch; the
    gradients of its pairs are summed by document first, so that the network is passed once forward and once backward
    (Burges, "From RankNet to LambdaRank to LambdaMART: an overview", 2010, section 2.1). After an epoch whose mean cost
    is no less than that of the epoch before, steps are halved. Features are standardised by the
    rows learned from.

    Features are dense. It learns from labels, or from `Preferences`; with ``validation``, the weights are those of the
    epoch that is best on it. Where steps are so long that the weights overflow, `fit` raises an ``InputError``.

    Parameters
    ----------
    hidden : number of hidden units, which pass on the tanh of their weighted sum; 0 is a linear network.
    epochs : passes over the queries, at most.
    learning_rate : length of a step, at first.
    log_odds : the graded target: a document a grade better shall be ahead with probability P̄ = 1/(1 + e^−log_odds),
        its score that much larger; two grades, twice as much. With `Preferences`, for a unit of magnitude.
        None: P̄ = 1 for each better document, by however much.
    ties : learn from pairs of equal grades too, whose scores shall be equal (P̄ = ½).
    weight_decay : weight of ½‖w‖², which does not include the biases of hidden units.
    patience : epochs without a better measure of ``validation`` after which to stop; None: all epochs are run.
    measure : what `score` reports and ``validation`` is judged by, by name or as an object; None is "map".
    random_state : seed of the order of queries and of the first weights of hidden units.

    Attributes
    ----------
    weights_ : the weights of the network. Linear: shape (d,), for standardised features. Otherwise the
        ``hidden · d`` weights of the hidden units, unit after unit, their biases and the weights of what they pass on.
    path_ : the weights after each epoch, shape (epochs run, number of weights).
    best_iteration_ : the epoch, from 1, that ``weights_`` are of: the best by ``validation``, or the last.
    costs_ : mean cost C_q of each epoch, each C_q just before its step.
    validation_scores_ : the measure of ``validation`` after each epoch; None without it.
    scaler_ : scikit-learn's ``StandardScaler`` of the rows learned from.
    hidden_ : number of hidden units of the network that was trained.
    n_features_in_ : number of features.
    n_examples_ : number of queries learned from.
    n_left_out_ : number of queries without pairs, or of weight 0, which were not.

    Examples
    --------
    >>> from structsvm.rankers import RankNet
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [3.0, 1.0], [2.0, 0.0]], [0, 1, 2, 1]
    >>> RankNet(hidden=0, log_odds=None, random_state=0).fit(X, y).score(X, y)
    1.0
    """

    _kind = "rank_net"
    _counts: ClassVar[Mapping[str, int]] = {**StagedRanker._counts, "hidden_": 0}

    def __init__(
        self,
        hidden: int = 10,
        *,
        epochs: int = 100,
        learning_rate: float = 0.03,
        log_odds: float | None = 1.0,
        ties: bool = False,
        weight_decay: float = 0.001,
        patience: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        measure: str | Measure | None = None,
    ) -> None:
        self.hidden = hidden
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.log_odds = log_odds
        self.ties = ties
        self.weight_decay = weight_decay
        self.patience = patience
        self.random_state = random_state
        self.measure = measure

    def _learn(self, training: Training, usable: BoolVector, held_out: HeldOut | None) -> None:
        random = random_of(self)
        log_odds = math.inf if self.log_odds is None else self.log_odds
        examples = pair_examples(training, usable, log_odds=log_odds, ties=self.ties)
        scaler = self._scaler(examples.rows)
        examples = examples._replace(rows=_standardised(scaler, examples.rows))
        rows = None if held_out is None else _standardised(scaler, held_out.X)
        self._descend(examples, held_out, rows, random)
        self.scaler_ = scaler

    def _teaching(self, training: Training) -> BoolVector:
        if not self.ties:
            return training.with_pairs()
        if isinstance(training.y, Preferences):
            raise InputError("RankNet(ties=True) is for labels: what is to have equal scores cannot be a preference")
        return training.queries.sizes > 1

    def parts(self) -> Parts:
        """Return the weights of a linear network, or else how much of each feature all hidden units pass on together.

        That is ``Σ_h |v_h w_hk|`` of feature k, with w_hk its weight in unit h, and v_h that of what the unit passes on
        (Garson, "Interpreting neural-network connection weights", AI Expert 6(4), 1991, before it is divided).
        """
        check_is_fitted(self, "n_examples_")
        d, hidden = self.n_features_in_, self.hidden_
        if not hidden:
            return Parts.of("weight", self.weights_, "Weights are of standardised features.")
        passed_on = np.abs(self.weights_[-hidden:]) @ np.abs(self.weights_[: hidden * d].reshape(hidden, d))
        return Parts.of("importance", passed_on, "Importances are sums of products of weights.")

    def _scores(self, rows: Any) -> Vector:
        return network_scores(_standardised(self.scaler_, rows), self.weights_, self.hidden_)

    def _stages(self, rows: Any) -> Iterator[Vector]:
        z = _standardised(self.scaler_, rows)
        for weights in self.path_[: self.best_iteration_]:
            yield network_scores(z, weights, self.hidden_)

    def _scaler(self, rows: Matrix) -> StandardScaler:
        with np.errstate(over="ignore", invalid="ignore"):
            scaler = StandardScaler().fit(rows)
            usable = bool(np.isfinite(scaler.mean_).all() and np.isfinite(scaler.var_).all())
        if not usable:
            raise InputError(
                f"the features overflow where RankNet standardises them, the largest being {np.abs(rows).max():g}: "
                "divide them by a power of 10"
            )
        return scaler

    def _descend(
        self, examples: Examples, held_out: HeldOut | None, rows: Matrix | None, random: np.random.RandomState
    ) -> None:
        hidden = int(self.hidden)
        queries, d = len(examples.weights), examples.rows.shape[1]
        weights, decays = first_weights(hidden, d, random), decayed(hidden, d)
        rate = float(self.learning_rate)
        path: list[Vector] = []
        costs: list[float] = []
        values: list[float] = []
        for _ in range(self.epochs):
            order = random.permutation(queries)
            cost = descend(examples, order, hidden, rate, float(self.weight_decay), decays, weights)
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
                if self.patience is not None and len(values) - 1 - int(np.argmax(values)) >= self.patience:
                    break
        best = int(np.argmax(values)) if values else len(path) - 1
        self.hidden_ = hidden
        self.path_: Matrix = np.array(path)
        self.weights_: Vector = self.path_[best].copy()
        self.best_iteration_ = best + 1
        self.costs_: Vector = np.array(costs)
        self.validation_scores_: Vector | None = np.array(values) if values else None

    def _state(self) -> dict[str, Any]:
        return {
            "path": self.path_,
            "costs": self.costs_,
            "validation_scores": self.validation_scores_,
            "mean": self.scaler_.mean_,
            "scale": self.scaler_.scale_,
            "variance": self.scaler_.var_,
            "rows": np.array(self.scaler_.n_samples_seen_, dtype=np.int64),
        }

    def _restore(self, arrays: Mapping[str, Any], about: Description) -> None:
        network = NetworkScorer.of(about, arrays, self.hidden_, self.best_iteration_)
        require_numbers(arrays, "costs", (len(network.path),))
        require_numbers(arrays, "variance", (about.n_features,))
        require_numbers(arrays, "rows", (), np.int64)
        self.path_, self.weights_ = network.path, network.path[network.best - 1].copy()
        self.costs_ = finite_numbers(arrays, "costs")
        self.validation_scores_ = curve(arrays, "validation_scores", len(self.path_))
        self.scaler_ = scaler = StandardScaler()
        scaler.mean_, scaler.scale_, scaler.var_ = network.mean, network.scale, finite_numbers(arrays, "variance")
        scaler.n_samples_seen_, scaler.n_features_in_ = int(arrays["rows"]), about.n_features

    def _require_settings(self) -> None:
        require_integer(place(self, "hidden"), self.hidden, 0)
        require_integer(place(self, "epochs"), self.epochs, 1)
        require_number(place(self, "learning_rate"), self.learning_rate, above=0.0)
        require_number(place(self, "weight_decay"), self.weight_decay, at_least=0.0)
        require_number(place(self, "log_odds"), self.log_odds, above=0.0, optional=True)
        require_switch(place(self, "ties"), self.ties)
        random_of(self)


def _standardised(scaler: StandardScaler, X: Any) -> Matrix:
    return standardised(X, scaler.mean_, scaler.scale_)


def pair_examples(training: Training, usable: BoolVector, *, log_odds: float, ties: bool) -> Examples:
    """Return the queries to learn from, which all have pairs.

    Parameters
    ----------
    training : dense features, labels or preferences.
    usable : which queries are learned from, shape (Q,).
    log_odds : difference of scores aimed at for a unit of difference of grades, or of magnitude; may be infinite.
    ties : whether pairs of equal grades count.
    """
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
        begin = _cumulated(np.bincount(query, minlength=len(usable))[usable])
    else:
        grades = y if all_kept else y[kept]
    return Examples(
        rows=X if all_kept else X[kept],
        ptr=_cumulated(size[usable]),
        weights=weights / weights.mean(),
        grades=grades,
        log_odds=float(log_odds),
        ties=bool(ties),
        better=better,
        worse=worse,
        targets=targets,
        pair_ptr=begin,
    )


def _cumulated(sizes: IntVector) -> IntVector:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
