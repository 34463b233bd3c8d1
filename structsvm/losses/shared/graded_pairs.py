"""What losses of graded documents share: the pairs of different grades, each with a weight."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from itertools import permutations
from typing import Any

import numpy as np
from attrs import frozen

from structsvm.exceptions import InputError, StructSVMError
from structsvm.losses.shared.judged_pairs import JudgedPairs
from structsvm.losses.shared.pair_encoding import PairEncoding, SwappedPairsLoss
from structsvm.types import Vector


def graded(y: Any) -> Vector:
    """Return the labels of a query as numbers."""
    return np.asarray(y, dtype=np.float64)


class PairsOfGrades(PairEncoding):
    """An encoding by the pairs of a query in which the better document has the larger label.

    The share of a pair is its weight over those of all pairs of the query. Queries whose documents have all the same
    label, or no pair with a weight, are not usable.
    """

    numeric_labels = True

    def weight(self, better: Vector, worse: Vector) -> Any:
        """Return what pairs count, by the labels of their documents; 1 by default.

        Parameters
        ----------
        better, worse : labels of the better and the worse document of each pair, shape (P,).

        Returns
        -------
        Finite numbers of at least 0, of shape (P,) or one for all.
        """
        return 1.0

    def pairs(self, y: Any) -> JudgedPairs:
        """Return the pairs that have a weight, with their shares.

        Raises
        ------
        InputError : when a weight is negative or no finite number, or `weight` raises something.
        """
        grades = graded(y)
        better, worse = np.nonzero(grades[:, None] > grades)
        given = self._given(grades[better], grades[worse])
        if given.shape not in ((), better.shape):
            raise InputError(
                f"{self.title}.weight returned an array of shape {given.shape} for {len(better)} pairs: it must return "
                "one number a pair, or one for all"
            )
        weights = np.broadcast_to(given, better.shape)
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
        except (StructSVMError, MemoryError):
            raise
        except Exception as error:
            met = ", ".join(f"{label:g}" for label in np.union1d(better, worse))
            raise InputError(
                f"{self.title}.weight raised {type(error).__name__}: {str(error).rstrip('.')}. It was called for the "
                f"{len(better)} pairs of a query whose documents have the labels {met}, with two arrays of them: "
                f"it must return one number a pair, or one for all. Run {self.checked_by} on the loss, with "
                "such labels as its examples"
            ) from error

    def usable(self, y: Any) -> bool:
        """Say whether the documents have more than one grade, and some pair a weight."""
        return several_grades(y) and len(self.pairs(y)) > 0

    def why_none_usable(self, ys: Sequence[Any]) -> str:
        """Say so where no query has two grades, or no pair of them a weight."""
        several = [y for y in ys if several_grades(y)]
        if self.why_unusable or any(len(self.pairs(y)) for y in several):
            return super().why_none_usable(ys)
        if several:
            return f"{self.title}.weight is 0 for each pair of their documents with different labels"
        return "the documents of each have all the same label. A pair is of two labels; check the labels and qid"


def several_grades(y: Any) -> bool:
    """Say whether the documents of a query have more than one grade."""
    grades = graded(y)
    return len(grades) > 0 and bool(grades.max() > grades.min())


@frozen
class GradedPairsLoss(PairsOfGrades, SwappedPairsLoss):
    """A weighted share of the pairs of graded documents that are in the wrong order.

    Its hinge is ``Σ v_ij max(0, 1 − (s_i − s_j)) / Σ v_ij`` over the pairs of a query in which i has the larger label.
    Write `weight` and nothing else: joint feature map, loss, the exact argmax in Python and the compiled one
    follow.

    The argmax takes O(n + P) for P pairs with a weight, whose list takes 24 bytes each. An output is what documents
    lose by swapped pairs, shape (2, n), or a ranking, one number per document; see `PairEncoding`.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm import Ranker
    >>> from structsvm.losses import GradedPairsLoss
    >>> class ByDifference(GradedPairsLoss):
    ...     def weight(self, better, worse):
    ...         return better - worse
    >>> ByDifference().loss(np.array([0.0, 1.0, 2.0]), np.array([1.0, 0.0, 2.0]))  # a pair of weight 1 of 4
    0.25
    >>> Ranker(ByDifference(), C=10).fit([[0.0], [1.0], [3.0]], [0, 1, 2], qid=[1, 1, 1]).result_.converged
    True
    """

    @abstractmethod
    def weight(self, better: Vector, worse: Vector) -> Any:
        """Return what pairs count, by the labels of their documents.

        Parameters
        ----------
        better, worse : labels of the better and the worse document of each pair, shape (P,).

        Returns
        -------
        Finite numbers of at least 0, of shape (P,) or one for all.
        """


@frozen
class GradedRankingLoss(PairsOfGrades):
    """A ranking of graded documents with a loss of its own, encoded by the pairs of different grades.

    Derive from it and write ``loss`` and an exact ``loss_augmented_argmax``; encoding, prediction and the list of
    outputs for ``check_loss`` are here. `weight` says how much the pairs count in the encoding, all the same unless it
    is written too; where ``Δ`` is a sum over pairs of ``v_ij (g_i − g_j)`` for those that are swapped, sorting
    by ``s − g`` is the exact argmax. An output is one number per document, larger is ahead, ties in document order.

    Of the P pairs of different grades, each changes ``encode`` by ``±½ v_ij``, with ``v_ij = 1 / P`` unless `weight` is
    written: ``+½ v_ij`` for the document ahead and ``−½ v_ij`` for the other if the pair is in the right order, and
    the reverse if it is swapped. To swap a pair thus lowers ``scores·c`` by ``v_ij (s_i − s_j)``, once and not twice.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm import Ranker
    >>> from structsvm.losses import GradedRankingLoss
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

    def outputs(self, y: Any) -> Iterable[Vector]:
        """Return all complete rankings."""
        return (np.array(ranking, dtype=np.float64) for ranking in permutations(range(len(y))))
