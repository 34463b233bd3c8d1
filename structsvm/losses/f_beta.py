"""The F-measure of a set."""

from collections.abc import Iterable
from itertools import product

import numpy as np
from attrs import field, frozen

from structsvm.losses.shared.kinds import by_kind
from structsvm.losses.shared.relevance import RelevanceLoss
from structsvm.settings import positive
from structsvm.types import BoolVector, Vector


def f_beta(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` of the most violated set and return its loss.

    For each number tp of true positives, those of the highest scores, the value is concave
    in the number of false positives: halving finds where another one brings nothing. That is
    O(R log N) after the sort. What is read of all examples is ``β²/(1 + β²)``. The set of
    none is the start where no document is relevant: it alone has no loss then.
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
    """One minus the F-measure of the documents that are taken to be relevant.

    ``Δ = 1 − (1 + β²) tp / (β² R + tp + fp)``, with tp true and fp false positives among the
    documents that ŷ selects; R are relevant. 1/F is the mean of 1/precision and 1/recall with
    weights 1 and β². Joachims, "A Support Vector Method for Multivariate Performance
    Measures", ICML 2005, with its ``Ψ(x, y) = Σ_d y_d x_d``, y = ±1. The compiled argmax takes
    O(n log n), the Python one O(R N).

    The output is a set of documents, not a ranking: one label per document, of which those
    that count as relevant are selected. The prediction selects the documents with a positive
    score, so a constant feature is advisable (``fit_intercept=True``): it moves the threshold.
    A `Ranker` learns it as well, and its `predict` returns the scores; `StructuralSVM` predicts
    the labels.

    Ψ is a sum, so weights are smaller than those of a classifier by about the number of
    documents. Where the features of the relevant documents add up to what those of others
    add up to, or to a mean of such sums, no weights have a hinge below 1 and the optimum is 0
    for every C: the loss is for documents that features tell apart well, however few are relevant.

    An example is a query, and every query can be learned from. Without ``qid`` the whole data
    set is one example, as in the paper. Where no document is relevant, F is 1 if none is
    selected either, and 0 otherwise.

    Parameters
    ----------
    beta : weight of recall against precision, positive; 1 is their harmonic mean, 2 puts recall first.
    relevant_from : smallest label of a relevant document; None: every label above 0.

    Examples
    --------
    >>> from structsvm import StructuralSVM
    >>> X, y = [[1.0], [2.0], [4.0]], [0, 0, 1]
    >>> from structsvm import Ranker
    >>> Ranker("f1", C=10, fit_intercept=True).fit(X, y, qid=[1, 1, 1]).result_.converged
    True
    """

    beta: float = field(default=1.0, validator=positive)

    kernel = staticmethod(f_beta)
    of_one_sample = True

    def usable(self, y: Vector) -> bool:
        """Say yes: a threshold can be learned from documents of one kind too."""
        return True

    def params(self, ys: "list[Vector]") -> Vector:  # type: ignore[override]
        """Return the weight of recall, ``β²/(1 + β²)``."""
        return np.array([self._recall_weight()])

    def encode(self, y_hat: Vector, y: Vector) -> Vector:
        """Return +1 for the documents that ŷ selects and −1 for the others."""
        return np.where(self.relevant(y_hat), 1.0, -1.0)

    def loss(self, y: Vector, y_hat: Vector) -> float:
        """Return one minus the F-measure of ŷ."""
        relevant, selected = self.relevant(y), self.relevant(y_hat)
        return float(self._loss(int(relevant.sum()), int((relevant & selected).sum()), (selected & ~relevant).sum()))

    def loss_augmented_argmax(self, scores: Vector, y: Vector) -> Vector:
        """Return the best of the outputs with tp true and fp false positives, each kind those of the highest scores."""
        relevant = self.relevant(y)
        true, false = (np.flatnonzero(kind) for kind in (relevant, ~relevant))
        true, false = true[np.argsort(-scores[true])], false[np.argsort(-scores[false])]
        gain_true, gain_false = (np.concatenate([[0.0], np.cumsum(2.0 * scores[kind])]) for kind in (true, false))
        fp = np.arange(len(false) + 1, dtype=np.float64)
        best = (-np.inf, 0, 0)
        for tp in range(len(true) + 1):
            values = self._loss(len(true), tp, fp) + gain_true[tp] + gain_false
            best = max(best, (float(values.max()), tp, int(values.argmax())))
        _, tp, chosen = best
        selected = np.zeros(len(scores), dtype=np.bool_)
        selected[true[:tp]] = selected[false[:chosen]] = True
        return self._output(selected)

    def argmax(self, scores: Vector) -> Vector:
        """Return the labels that select the documents with a positive score: +1 for these, −1 for the others.

        With ``relevant_from`` they are ``relevant_from`` and ``relevant_from − 2``, so that
        they are read as the labels of the truth are.
        """
        return self._output(np.asarray(scores) > 0.0)

    def outputs(self, y: Vector) -> Iterable[Vector]:
        """Return all subsets of the documents."""
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
