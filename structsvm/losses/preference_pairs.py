"""The share of listed pairs that are swapped: the loss of the ranking SVM for preference judgments."""

from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np
from attrs import cmp_using, field, frozen

from structsvm.arrays import numbers
from structsvm.exceptions import InputError
from structsvm.losses.base import ScoreLoss
from structsvm.metrics.ranking import rank_documents
from structsvm.settings import at_least
from structsvm.types import BoolVector, IntVector, Vector


def preference_pairs(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` of the most violated set of swapped pairs and return its loss.

    ``labels`` holds the better documents of the pairs, then the worse ones, then the share of each
    pair in the sum of the magnitudes.
    """
    pairs = len(labels) // 3
    out[:] = 0.0
    loss = 0.0
    for pair in range(pairs):
        better = int(labels[pair])
        worse = int(labels[pairs + pair])
        if scores[better] - 1.0 < scores[worse]:
            share = labels[2 * pairs + pair]
            out[better] += share
            out[worse] -= share
            loss += share
    return loss


_SAME = cmp_using(eq=np.array_equal)


def _documents(values: Any) -> IntVector:
    given = np.asarray(values)
    if given.size and given.dtype.kind not in "iu":
        raise InputError(f"documents of pairs must be numbers of documents, integers from 0; they are {given.dtype}")
    return given.astype(np.int64)


def magnitudes(values: Any) -> Vector:
    """Return the magnitudes of pairs as float64.

    Raises
    ------
    InputError : when they are not real numbers.
    """
    return numbers(values, "magnitudes")


@frozen
class JudgedPairs:
    """Pairs of documents of one query of which one is better: the true output of `PreferencePairs`.

    Parameters
    ----------
    documents : number of documents of the query.
    better, worse : numbers of the better and the worse document of each pair, from 0, shape (P,).
    magnitude : how much each pair counts, above 0, shape (P,).

    Raises
    ------
    InputError : when the lengths differ, a document is not in the query or better than itself, or a magnitude is
        not a positive finite number.
    """

    documents: int = field(validator=at_least(0))
    better: IntVector = field(converter=_documents, eq=_SAME, hash=False)
    worse: IntVector = field(converter=_documents, eq=_SAME, hash=False)
    magnitude: Vector = field(converter=magnitudes, eq=_SAME, hash=False)

    def __attrs_post_init__(self) -> None:
        if not self.better.shape == self.worse.shape == self.magnitude.shape == (len(self),):
            raise InputError(
                "better, worse and magnitude must be vectors of one length, got shapes "
                f"{self.better.shape}, {self.worse.shape} and {self.magnitude.shape}"
            )
        known = (np.minimum(self.better, self.worse) >= 0) & (np.maximum(self.better, self.worse) < self.documents)
        positive = np.isfinite(self.magnitude) & (self.magnitude > 0.0)
        right = known & (self.better != self.worse) & positive
        if not right.all():
            pair = int(np.argmin(right))
            raise InputError(
                f"pair {pair} ({self.better[pair]}, {self.worse[pair]}, {self.magnitude[pair]:g}) must be of two "
                f"different documents from 0 to {self.documents - 1}, with a positive finite magnitude"
            )

    def __len__(self) -> int:
        """Return the number of pairs."""
        return self.better.size


@frozen
class PreferencePairs(ScoreLoss[Any]):
    """The share of judged pairs that are in the wrong order, each counted by its magnitude.

    Its hinge is ``1/M Σ_p m_p max(0, 1 − (s_i − s_j))`` over the pairs p of a better i and a worse j, with magnitudes
    m_p of sum M: that of the ranking SVM (Joachims, KDD 2002, section 4.2) for pairs that are
    given, and not made of grades as in `SwappedPairs`. ``Ψ(x, ŷ) = 1/(2M) Σ_p ŷ_p m_p (x_i − x_j)`` with ``ŷ_p = −1``
    where the pair is swapped and 1 elsewhere. Pairs may contradict each other. The argmax takes O(n + P).

    The truth is a `JudgedPairs`. An output says of each pair whether it is swapped, boolean, shape (P,); or is
    a ranking, as the prediction is: one number per document, larger is ahead, ties in document order.
    Queries without pairs are not usable.

    Examples
    --------
    >>> from structsvm.rankers import Preferences, RankSVM
    >>> RankSVM(C=10).fit([[1.0], [2.0]], Preferences(better=[1], worse=[0]), [0, 0]).n_pairs_
    1
    """

    kernel = staticmethod(preference_pairs)

    def labels(self, y: JudgedPairs) -> Vector:
        """Return the better documents, the worse ones, and the share of each pair in the sum of magnitudes."""
        return np.concatenate([y.better, y.worse, self._shares(y)])

    def usable(self, y: JudgedPairs) -> bool:
        """Say whether the query has pairs.

        Raises
        ------
        InputError : when the truth is not a `JudgedPairs`.
        """
        if not isinstance(y, JudgedPairs):
            raise InputError(
                f"PreferencePairs learns from JudgedPairs, one a query, and got {type(y).__name__}: give these to "
                "StructuralSVM, or Preferences to structsvm.rankers.RankSVM. Labels are for SwappedPairs"
            )
        return len(y) > 0

    def encode(self, y_hat: JudgedPairs | BoolVector | Vector, y: JudgedPairs) -> Vector:
        """Return the coefficient of each document: half the shares of the pairs that it wins less those it loses."""
        signed = np.where(self._swapped(y_hat, y), -0.5, 0.5) * self._shares(y)
        return np.asarray(np.bincount(y.better, signed, y.documents) - np.bincount(y.worse, signed, y.documents))

    def loss(self, y: JudgedPairs, y_hat: JudgedPairs | BoolVector | Vector) -> float:
        """Return the share of the pairs that are swapped."""
        return float(self._shares(y)[self._swapped(y_hat, y)].sum())

    def loss_augmented_argmax(self, scores: Vector, y: JudgedPairs) -> BoolVector:
        """Swap the pairs with ``s_i − s_j < 1``."""
        return np.asarray(scores[y.better] - 1.0 < scores[y.worse])

    def argmax(self, scores: Vector) -> Vector:
        """Return the scores: sorting by them maximises ``w·Ψ``."""
        return scores

    def outputs(self, y: JudgedPairs) -> Iterable[BoolVector]:
        """Return all sets of swapped pairs."""
        return (np.array(swapped, dtype=np.bool_) for swapped in product([False, True], repeat=len(y)))

    def _shares(self, y: JudgedPairs) -> Vector:
        return np.asarray(y.magnitude / y.magnitude.sum())

    def _swapped(self, y_hat: JudgedPairs | BoolVector | Vector, y: JudgedPairs) -> BoolVector:
        if isinstance(y_hat, JudgedPairs):
            return np.zeros(len(y), dtype=np.bool_)
        if y_hat.dtype == np.bool_:
            return y_hat.astype(np.bool_)
        order = rank_documents(y_hat).order
        standing = np.empty(len(order))
        standing[order] = -np.arange(len(order))
        return np.asarray(standing[y.better] < standing[y.worse])
