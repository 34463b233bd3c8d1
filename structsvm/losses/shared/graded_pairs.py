"""Losses of graded documents: weighted pairs of different grades."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import frozen

from structsvm.exceptions import InputError
from structsvm.foundation.types import Vector
from structsvm.losses.shared.pairs import JudgedPairs, PairEncoding, SwappedPairsLoss
from structsvm.losses.shared.weighted_labels import labels_that_count, weights_of
from structsvm.losses.user_methods import RAISED_AS_IS, method_failed


def graded(y: Any) -> Vector:
    """Return the labels of a query as numbers."""
    return np.asarray(y, dtype=np.float64)


class PairsOfGrades(PairEncoding):
    """An encoding by the pairs of a query with different labels; shares are weights over their sum in the query."""

    numeric_labels = True

    def weight(self, better: Vector, worse: Vector) -> Any:
        """Return the weights of pairs, at least 0, by the labels of their documents, shape (P,) each; 1 by default."""
        return 1.0

    def pairs(self, y: Any) -> JudgedPairs:
        """Return the weighted pairs with their shares."""
        grades = graded(y)
        better, worse = np.nonzero(grades[:, None] > grades)
        values = self._given(grades[better], grades[worse])
        if values.shape not in ((), better.shape):
            raise InputError(
                f"{self.title}.weight returned an array of shape {values.shape} for {len(better)} pairs: it must "
                "return one number per pair, or one for all"
            )
        weights = values * np.multiply(*weights_of(y)[[better, worse]])
        wrong = ~(np.isfinite(weights) & (weights >= 0.0))
        if wrong.any():
            pair = int(np.argmax(wrong))
            raise InputError(
                f"{self.title}.weight returned {weights[pair]:g} for a better document of label "
                f"{grades[better[pair]]:g} and a worse one of label {grades[worse[pair]]:g}: weights must be finite "
                "numbers of at least 0"
            )
        counted = weights > 0.0
        return JudgedPairs(len(grades), better[counted], worse[counted], weights[counted] / (weights.sum() or 1.0))

    def _given(self, better: Vector, worse: Vector) -> Vector:
        try:
            return np.asarray(self.weight(better, worse), dtype=np.float64)
        except RAISED_AS_IS:
            raise
        except Exception as error:
            met = ", ".join(f"{label:g}" for label in np.union1d(better, worse))
            more = (
                f"It was called for the {len(better)} pairs of a query whose documents have the labels {met}, with two "
                "arrays of them: it must return one number per pair, or one for all. Check it with such labels. "
            )
            raise method_failed(self, "weight", error, None, more) from error

    def usable(self, y: Any) -> bool:
        """Return True if the documents have more than one grade, and some pair has a weight."""
        return several_grades(y) and len(self.pairs(y)) > 0

    def why_none_usable(self, ys: Sequence[Any]) -> str:
        several = [y for y in ys if several_grades(y)]
        if self.why_unusable or any(len(self.pairs(y)) for y in several):
            return super().why_none_usable(ys)
        if several:
            return f"{self.title}.weight is 0 for each pair of their documents with different labels"
        return "in each, all documents have the same label. A pair needs two labels; check the labels and qid"


def several_grades(y: Any) -> bool:
    """Return True if the documents of a query have more than one grade."""
    grades = graded(labels_that_count(y))
    return len(grades) > 0 and bool(grades.max() > grades.min())


@frozen
class GradedPairsLoss(PairsOfGrades, SwappedPairsLoss):
    """Base class of losses of graded documents: the weighted share of pairs that are in the wrong order.

    The hinge is ``Σ v_ij max(0, 1 − (s_i − s_j)) / Σ v_ij``, over pairs with weights v_ij in which i has the larger
    label. A derived class defines only `weight`; the joint feature map, the loss, and the exact argmax in Python and in
    compiled code follow from it. The argmax takes O(n + P) for P weighted pairs, and their list 24 bytes per pair.

    An output has shape (2, n): for each document, the sum of ``v_ij / Σ v_ij`` over the swapped pairs in which it is i,
    then over the pairs in which it is j. Or it is a ranking, like truths and predictions: one number per document,
    larger is ahead, ties in document order.

    Examples
    --------
    >>> from structsvm import Ranker
    >>> class ByDifference(GradedPairsLoss):
    ...     def weight(self, better, worse):
    ...         return better - worse
    >>> ByDifference().loss(np.array([0.0, 1.0, 2.0]), np.array([1.0, 0.0, 2.0]))  # a pair of weight 1 of 4
    0.25
    >>> Ranker(ByDifference(), C=10).fit([[0.0], [1.0], [3.0]], [0, 1, 2], qid=[1, 1, 1]).result_.converged
    True
    """

    takes_document_weights = True

    @abstractmethod
    def weight(self, better: Vector, worse: Vector) -> Any:
        """Return the weights of pairs, by the labels of their documents, shape (P,) each.

        Weights are finite numbers of at least 0, shape (P,) or one for all.
        """


@frozen
class GradedRankingLoss(PairsOfGrades):
    """Base class of losses of rankings of graded documents, encoded by their pairs of different grades.

    A derived class defines ``loss`` and an exact ``loss_augmented_argmax``; it inherits the encoding, the prediction
    and the list of outputs for ``check_loss``. `weight` sets the weights of pairs in the encoding, by default all
    equal. If ``Δ`` sums ``v_ij (g_i − g_j)`` over swapped pairs, for grades g, sorting by ``s − g`` is the exact
    argmax. An output is one number per document, larger is ahead, ties in document order.

    Each of the P pairs of different grades changes ``encode`` by ``±½ v_ij``, with ``v_ij = 1 / P`` by default. If the
    pair is in the right order, the document ahead gets ``+½ v_ij`` and the other document ``−½ v_ij``; if it is
    swapped, the reverse. So swapping a pair lowers ``scores·c`` by ``v_ij (s_i − s_j)``.

    Examples
    --------
    >>> from structsvm import Ranker
    >>> class LostGrades(GradedRankingLoss):  # the mean difference of grades that are swapped
    ...     def loss(self, y, y_hat):
    ...         pairs, rank = self.pairs(y), np.argsort(np.argsort(-y_hat, kind="stable"))
    ...         swapped = rank[pairs.better] > rank[pairs.worse]
    ...         return float(np.mean((y[pairs.better] - y[pairs.worse]) * swapped))
    ...     def loss_augmented_argmax(self, scores, y):
    ...         return scores - y
    >>> X, y = [[0.0], [1.0], [3.0]], [0, 1, 2]
    >>> Ranker(LostGrades(), C=10).fit(X, y, qid=[1, 1, 1]).predict(X).argsort().tolist()
    [0, 1, 2]
    """
