"""Support vector machines as models, each warm-started along a path of C."""

import warnings
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import product
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen

from structsvm.estimators import Ranker
from structsvm.exceptions import FeatureScaleWarning, ZeroWeightsWarning
from structsvm.features.operators import BinnedMatrix
from structsvm.foundation.settings import DEFAULT_TOL, RANKING_TOL
from structsvm.foundation.types import BoolVector, IntVector, Vector
from structsvm.losses import ScoreLoss
from structsvm.protocols.estimator_model import gap_of, require_both_classes
from structsvm.protocols.feature_maps import FeatureMap
from structsvm.protocols.model import Candidate, ProtocolModel, require_features
from structsvm.result import Status


@frozen(kw_only=True)
class RankingSVM(ProtocolModel):
    """A `Ranker`, warm-started along a path of C.

    Parameters
    ----------
    name, features : see `ProtocolModel`.
    loss : name of the loss to optimise.
    Cs : values of C, ascending.
    tol : target gap, in units of the loss.

    Examples
    --------
    >>> from structsvm.protocols import AsGiven
    >>> model = RankingSVM(name="SVM-NDCG", features=AsGiven(), loss="ndcg", Cs=(0.1, 10.0), tol=1e-4)
    >>> X, y, qid = np.array([[1.0], [2.0], [3.0], [1.0]]), np.array([0, 2, 1, 0]), np.array([0, 0, 1, 1])
    >>> [(each.value, each.gap <= 1e-4) for each in model.candidates(X, y, qid)]
    [(0.1, True), (10.0, True)]
    """

    warm_started: ClassVar[bool] = True

    name: str
    features: FeatureMap = field(validator=require_features)
    loss: str
    Cs: tuple[float, ...]
    tol: float = RANKING_TOL

    def candidates(self, X: Any, y: Vector, qid: IntVector) -> Sequence[Candidate]:
        """Fit for every C; see `ProtocolModel.candidates`."""
        return _path(Ranker(self.loss, solver="frank-wolfe", tol=self.tol), X, y, qid, self.Cs)


@frozen(kw_only=True)
class ClassificationSVM(ProtocolModel):
    """A linear SVM that separates relevant documents from others, warm-started along a path of C."""

    warm_started: ClassVar[bool] = True

    name: str
    features: FeatureMap = field(validator=require_features)
    Cs: tuple[float, ...]
    tol: float = DEFAULT_TOL
    balanced: bool = False
    fit_intercept: bool = False

    def candidates(self, X: Any, y: Vector, qid: IntVector) -> Sequence[Candidate]:
        """Fit for every C; queries do not matter."""
        relevant = y > 0
        weight = np.ones(len(relevant))
        if self.balanced:
            share = float(relevant.mean())
            require_both_classes(share)
            weight = np.where(relevant, 0.5 / share, 0.5 / (1.0 - share))
        rows, weight = merge_equal(X, relevant, weight)
        ranker = Ranker(ErrorRate(), solver="one-slack", tol=self.tol, fit_intercept=self.fit_intercept)
        return _path(ranker, X[rows], np.where(relevant[rows], weight, -weight), None, self.Cs)


def error_rate(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` and return the loss; ``labels`` are the signs times the shares of the rows."""
    loss = 0.0
    for row in range(len(scores)):
        label = labels[row]
        share = abs(label)
        wrong = label * scores[row] < share
        out[row] = label if wrong else 0.0
        loss += share if wrong else 0.0
    return loss


@frozen
class ErrorRate(ScoreLoss[Vector]):
    """The share of rows with the wrong sign, weighted by the size of labels: `ZeroOne`, but one call for all rows."""

    kernel = staticmethod(error_rate)
    of_one_sample = True

    def labels(self, y: Vector) -> Vector:
        """Return the signs times the shares of the rows."""
        y = np.asarray(y, dtype=np.float64)
        return np.asarray(y / np.abs(y).sum())

    def encode(self, y_hat: Vector, y: Vector) -> Vector:
        """Return half the signs times the shares of the rows."""
        return np.asarray(0.5 * np.sign(y_hat) * np.abs(self.labels(y)))

    def loss(self, y: Vector, y_hat: Vector) -> float:
        """Return the share of the rows whose signs differ."""
        return float(np.abs(self.labels(y))[np.sign(y) != np.sign(y_hat)].sum())

    def loss_augmented_argmax(self, scores: Vector, y: Vector) -> Vector:
        """Return the other sign where ``1 − sign(y) s > 0``, the true one elsewhere."""
        signs = np.sign(y)
        return np.where(signs * scores < 1.0, -signs, signs)

    def argmax(self, scores: Vector) -> Vector:
        """Return the signs of the scores; −1 at 0."""
        return np.where(scores > 0.0, 1.0, -1.0)

    def outputs(self, y: Vector) -> Iterable[Vector]:
        """Return all vectors of signs."""
        return (np.array(signs) for signs in product((-1.0, 1.0), repeat=len(y)))


def merge_equal(X: Any, relevant: BoolVector, weight: Vector) -> tuple[IntVector, Vector]:
    """Merge documents with equal features and relevance; return the rows to keep and their summed weights."""
    # About half of the documents of a pool are duplicates: a single run retrieved each of them, near its end.
    if not isinstance(X, BinnedMatrix):
        return np.arange(len(weight)), weight
    keys = np.column_stack([X.codes, relevant.astype(X.codes.dtype)])
    _, rows, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return rows.astype(np.int64), np.asarray(np.bincount(group.ravel(), weight), dtype=np.float64)


def _path(ranker: Ranker, X: Any, y: Vector, qid: IntVector | None, Cs: Sequence[float]) -> Sequence[Candidate]:
    with warnings.catch_warnings():
        # The user chose the same features for all models.
        warnings.simplefilter("ignore", FeatureScaleWarning)
        # A small C can give zero weights. No warning is needed: the results report the share of tied documents.
        warnings.simplefilter("ignore", ZeroWeightsWarning)
        fitted = ranker.path(X, y, qid, Cs)
    if fitted[-1].result_.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return [
        Candidate(each.C, partial(_scores, each), each.result_.history[-1].seconds, gap_of(each), each.coef_)
        for each in fitted
    ]


def _scores(ranker: Ranker, X: Any, qid: IntVector) -> Vector:
    return ranker.predict(X, qid=qid)
