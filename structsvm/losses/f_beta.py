"""The loss for the F-measure of a set of documents."""

from collections.abc import Iterable
from itertools import product

import numpy as np
from attrs import field, frozen

from structsvm.foundation.settings import positive
from structsvm.foundation.types import BoolVector, Vector
from structsvm.losses.shared.relevance import RelevanceLoss, by_kind


def f_beta(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` of the most violated set and return its loss; ``params`` is ``β²/(1 + β²)``.

    For each number of true positives, the value is concave in the number of false positives, so bisection finds the
    best: O(R log N) after the sort. If no document is relevant, only the empty set has no loss, so it is the start.
    """
    relevant, other = by_kind(scores, labels)
    R = len(relevant)
    N = len(other)
    recall_weight = params[0]
    below = np.zeros(N + 1)
    for j in range(N):
        below[j + 1] = below[j] + 2.0 * scores[other[j]]

    best = 0.0
    best_tp = 0
    best_fp = 0
    best_loss = 0.0
    gain = 0.0
    for tp in range(R + 1):
        if tp > 0:
            gain += 2.0 * scores[relevant[tp - 1]]
        size = recall_weight * R + (1.0 - recall_weight) * tp
        low = 0
        high = N
        while low < high:
            fp = (low + high) // 2
            bring = 2.0 * scores[other[fp]]
            if tp > 0:
                wider = size + (1.0 - recall_weight) * fp
                bring += tp / wider - tp / (wider + 1.0 - recall_weight)
            if bring > 0.0:
                low = fp + 1
            else:
                high = fp
        if R == 0:
            low = max(low, 1)
        loss = 1.0
        if tp > 0:
            wrong = (1.0 - recall_weight) * low
            loss = (recall_weight * (R - tp) + wrong) / (size + wrong)
        value = loss + gain + below[low]
        if value > best:
            best = value
            best_tp = tp
            best_fp = low
            best_loss = loss

    out[:] = 0.0
    for i in range(best_tp, R):
        out[relevant[i]] = 2.0
    for j in range(best_fp):
        out[other[j]] = -2.0
    return best_loss


@frozen
class FBeta(RelevanceLoss):
    """One minus the F-measure of the selected documents.

    ``Δ = 1 − (1 + β²) tp / (β² R + tp + fp)``, if ŷ selects tp of R relevant and fp of N other documents. Joachims, "A
    Support Vector Method for Multivariate Performance Measures", ICML 2005, defines ``Ψ(x, y) = Σ_d y_d x_d`` with y =
    ±1. The compiled argmax takes O(n log n) for n documents, the Python one O(R N).

    An output is a set of documents, written as one label per document: it selects the documents with a relevant label.
    The prediction selects the documents with a positive score; ``fit_intercept=True`` adjusts this threshold.
    `Ranker.predict` returns the scores, `StructuralSVM.predict` the labels.

    An example is a query, and every query is usable. Without ``qid`` the whole data set is one example, as in the
    paper. If no document is relevant, F is 1 if no document is selected, else 0. Because Ψ is a sum over n documents,
    weights are about n times smaller than a classifier's. If the features do not separate the documents well, the
    optimum can be w = 0 for every C.

    Parameters
    ----------
    beta : weight of recall against precision, positive; 1 gives their harmonic mean, 2 favors recall.
    relevant_from : smallest label of a relevant document. Default: every label above 0 is relevant.

    Examples
    --------
    >>> from structsvm import Ranker
    >>> X, y = [[1.0], [2.0], [4.0]], [0, 0, 1]
    >>> Ranker("f1", C=10, fit_intercept=True).fit(X, y, qid=[1, 1, 1]).result_.converged
    True
    """

    beta: float = field(default=1.0, validator=positive)

    kernel = staticmethod(f_beta)
    of_one_sample = True

    def usable(self, y: Vector) -> bool:
        """Return True: documents of one kind are enough to learn a threshold."""
        return True

    def params(self, ys: "list[Vector]") -> Vector:  # type: ignore[override]
        return np.array([self._recall_weight()])

    def encode(self, y_hat: Vector, y: Vector) -> Vector:
        """Return +1 for the documents that ŷ selects and −1 for all other documents."""
        return np.where(self.relevant(y_hat), 1.0, -1.0)

    def loss(self, y: Vector, y_hat: Vector) -> float:
        relevant, selected = self.relevant(y), self.relevant(y_hat)
        return float(self._loss(int(relevant.sum()), int((relevant & selected).sum()), (selected & ~relevant).sum()))

    def loss_augmented_argmax(self, scores: Vector, y: Vector) -> Vector:
        """Return the best output over all tp and fp, which selects the documents of largest score of each kind."""
        relevant = self.relevant(y)
        true, false = (np.flatnonzero(kind) for kind in (relevant, ~relevant))
        true, false = true[np.argsort(-scores[true])], false[np.argsort(-scores[false])]
        gain_true, gain_false = (np.concatenate([[0.0], np.cumsum(2.0 * scores[kind])]) for kind in (true, false))
        fp = np.arange(len(false) + 1, dtype=np.float64)
        best = (-np.inf, 0, 0)
        for tp in range(len(true) + 1):
            values = self._loss(len(true), tp, fp) + gain_true[tp] + gain_false
            best = max(best, (float(values.max()), tp, int(values.argmax())))
        _, tp, errors = best
        selected = np.zeros(len(scores), dtype=np.bool_)
        selected[true[:tp]] = selected[false[:errors]] = True
        return self._output(selected)

    def argmax(self, scores: Vector) -> Vector:
        """Return labels that select the documents with a positive score: +1 for selected documents, −1 otherwise.

        With ``relevant_from`` the labels are ``relevant_from`` and ``relevant_from − 2``.
        """
        return self._output(np.asarray(scores) > 0.0)

    def outputs(self, y: Vector) -> Iterable[Vector]:
        return (self._output(np.array(selected)) for selected in product((False, True), repeat=len(y)))

    def _loss(self, R: int, tp: int, fp: Vector) -> Vector:
        if tp == 0:
            return np.minimum(R + fp, 1.0)
        weight = self._recall_weight()
        return (weight * (R - tp) + (1.0 - weight) * fp) / (weight * R + (1.0 - weight) * (tp + fp))

    def _recall_weight(self) -> float:
        return float(self.beta / np.hypot(1.0, self.beta)) ** 2

    def _output(self, selected: BoolVector) -> Vector:
        label = 1.0 if self.relevant_from is None else self.relevant_from
        return np.where(selected, label, label - 2.0)
