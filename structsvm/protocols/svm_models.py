"""Support vector machines as models, each warm-started along a path of C."""

import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen
from sklearn.base import clone

from structsvm.estimators import Ranker
from structsvm.exceptions import FeatureScaleWarning, ZeroWeightsWarning
from structsvm.features.operators import BinnedMatrix
from structsvm.foundation.compute.compile_progress import running_time
from structsvm.foundation.settings import DEFAULT_TOL, RANKING_TOL
from structsvm.foundation.types import BoolVector, IntVector, Vector
from structsvm.protocols.estimator_model import gap_of, require_both_classes, weights_of
from structsvm.protocols.feature_maps import FeatureMap, Indicators
from structsvm.protocols.model import Candidate, ProtocolModel, require_features
from structsvm.rankers import TreeRanker
from structsvm.result import Status

_FEW_DOCUMENTS = 5_000
"""Most distinct documents for a tol of 1e-6, which takes 5 to 30 times as long on the pools of Robust 2003."""


@frozen(kw_only=True)
class RankingSVM(ProtocolModel):
    """A `Ranker` or `TreeRanker`, fitted for ascending values of C, each warm-started from the previous one.

    Parameters
    ----------
    name, features : see `ProtocolModel`.
    loss : name of the loss to optimize.
    Cs : values of C, ascending.
    tol : target gap, in units of the loss.
    ranker : a `TreeRanker`, which grows its trees once; None: a `Ranker`.

    Examples
    --------
    >>> from structsvm.protocols import AsGiven
    >>> model = RankingSVM(name="SVM-NDCG", features=AsGiven(), loss="ndcg", Cs=(0.1, 10.0), tol=1e-4)
    >>> X, y, qid = np.array([[1.0], [2.0], [3.0], [1.0]]), np.array([0, 2, 1, 0]), np.array([0, 0, 1, 1])
    >>> [(candidate.value, candidate.gap <= 1e-4) for candidate in model.candidates(X, y, qid)]
    [(0.1, True), (10.0, True)]
    """

    warm_started: ClassVar[bool] = True

    name: str
    features: FeatureMap = field(validator=require_features)
    loss: str
    Cs: tuple[float, ...]
    tol: float = RANKING_TOL
    ranker: TreeRanker | None = None

    @property
    def description(self) -> str:
        """The features and the loss, in words."""
        scores = _weighted_sum(self.features) + ", plus leaves of boosted trees" * (self.ranker is not None)
        return f"{scores}, trained for the loss {self.loss}"

    def candidates(self, X: Any, y: Vector, qid: IntVector) -> Sequence[Candidate]:
        """Fit for every C; see `ProtocolModel.candidates`."""
        ranker = Ranker(solver="frank-wolfe") if self.ranker is None else self.ranker
        return _path(clone(ranker).set_params(loss=self.loss, tol=self.tol), X, y, qid, self.Cs)


@frozen(kw_only=True)
class ClassificationSVM(ProtocolModel):
    """A linear SVM that separates relevant documents from other documents, warm-started along a path of C.

    The default ``tol`` is 1e-6 for up to 5,000 distinct documents, because `Auto` solves their QP exactly, else 1e-3.
    """

    warm_started: ClassVar[bool] = True

    name: str
    features: FeatureMap = field(validator=require_features)
    Cs: tuple[float, ...]
    tol: float | None = None
    balanced: bool = False
    fit_intercept: bool = False

    @property
    def description(self) -> str:
        """Features, weights of documents, and intercept."""
        text = f"{_weighted_sum(self.features)}, trained to separate relevant documents from others"
        text += ", each kind with the same total weight" * self.balanced
        return text + ", with an intercept" * self.fit_intercept

    def candidates(self, X: Any, y: Vector, qid: IntVector) -> Sequence[Candidate]:
        """Fit for every C; the result does not depend on queries."""
        relevant = y > 0
        weight = np.ones(len(relevant))
        if self.balanced:
            share = float(relevant.mean())
            require_both_classes(share)
            weight = np.where(relevant, 0.5 / share, 0.5 / (1.0 - share))
        rows, weight = merge_equal(X, relevant, weight)
        tol = self.tol or (RANKING_TOL if len(rows) <= _FEW_DOCUMENTS else DEFAULT_TOL)
        ranker = Ranker("zero_one", tol=tol, fit_intercept=self.fit_intercept)
        labels = relevant[rows].astype(np.float64)
        # At the optimum many documents are exactly on the margin, and the last bits of float64 would order them.
        return _path(ranker, X[rows], labels, None, self.Cs, weight / weight.mean(), np.float32)


def _weighted_sum(features: FeatureMap) -> str:
    """Return the kind of scores of a linear model with these features."""
    if not isinstance(features, Indicators):
        return "A weighted sum of the features"
    scaled = f", scaled by {features.normalize}" if features.normalize else ""
    return f"A weighted sum over {features.bins} thresholds of each feature{scaled}"


def merge_equal(X: Any, relevant: BoolVector, weight: Vector) -> tuple[IntVector, Vector]:
    """Merge documents with equal features and relevance; return the rows to keep and their summed weights."""
    # About half of the documents of a pool are duplicates: a single run retrieved each of them, near its end.
    if not isinstance(X, BinnedMatrix):
        return np.arange(len(weight)), weight
    keys = np.column_stack([X.codes, relevant.astype(X.codes.dtype)])
    _, rows, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return rows.astype(np.int64), np.asarray(np.bincount(group.ravel(), weight), dtype=np.float64)


def _path(
    ranker: Ranker | TreeRanker,
    X: Any,
    y: Vector,
    qid: IntVector | None,
    Cs: Sequence[float],
    weight: Vector | None = None,
    digits: type[np.floating[Any]] = np.float64,
) -> Sequence[Candidate]:
    began = running_time()
    with warnings.catch_warnings():
        # The user chose the same features for all models.
        warnings.simplefilter("ignore", FeatureScaleWarning)
        # A small C can give zero weights. No warning is needed: the results report the share of tied documents.
        warnings.simplefilter("ignore", ZeroWeightsWarning)
        rankers = ranker.path(X, y, qid, sample_weight=weight, Cs=Cs)
    if rankers[-1].result_.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    seconds = [fitted.result_.history[-1].seconds for fitted in rankers]
    # The first value pays for the work that all values share, such as growing trees.
    seconds[0] += max(running_time() - began - sum(seconds), 0.0)
    return [
        Candidate(fitted.C, partial(_scores, fitted, digits), spent, gap_of(fitted), weights_of(fitted))
        for fitted, spent in zip(rankers, seconds, strict=True)
    ]


def _scores(ranker: Ranker | TreeRanker, digits: type[np.floating[Any]], X: Any, qid: IntVector) -> Vector:
    return ranker.predict(X, qid=qid).astype(digits).astype(np.float64)
