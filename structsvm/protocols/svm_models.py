"""Support vector machines as models, each warm-started along a path of C."""

import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen

from structsvm.estimators import Ranker
from structsvm.exceptions import FeatureScaleWarning, ZeroWeightsWarning
from structsvm.operators import BinnedMatrix
from structsvm.protocols.error_rate import ErrorRate
from structsvm.protocols.estimator_model import gap_of, require_both_classes
from structsvm.protocols.feature_maps import FeatureMap
from structsvm.protocols.model import Candidate, Model, require_features
from structsvm.result import Status
from structsvm.types import BoolVector, IntVector, Vector


@frozen(kw_only=True)
class RankingSVM(Model):
    """A `Ranker` that learns from queries, warm-started along a path of C.

    Parameters
    ----------
    name, features : see `Model`.
    loss : loss to optimise, by name.
    Cs : values of C, ascending.
    tol : gap that is good enough, in units of the loss.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm.protocols import AsGiven, RankingSVM
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
    tol: float = 1e-3

    def candidates(self, X: Any, y: Vector, qid: IntVector) -> Sequence[Candidate]:
        """Fit for every C; see `Model.candidates`."""
        return _path(Ranker(self.loss, solver="frank-wolfe", tol=self.tol), X, y, qid, self.Cs)


@frozen(kw_only=True)
class ClassificationSVM(Model):
    """A linear SVM that tells relevant documents from others, warm-started along a path of C.

    Parameters
    ----------
    name, features : see `Model`.
    Cs : values of C, ascending.
    tol : gap that is good enough, in units of the loss.
    balanced : weight false negatives by the ratio of other to relevant training documents (section
        5.2.1 of the paper). The mean weight is 1.
    fit_intercept : add a constant to all scores.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm.protocols import AsGiven, ClassificationSVM
    >>> model = ClassificationSVM(name="SVM", features=AsGiven(), Cs=(0.1, 10.0), fit_intercept=True, balanced=True)
    >>> X, y, qid = np.array([[1.0], [2.0], [3.0], [6.0]]), np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1])
    >>> [(each.value, (each.scores(X, qid) > 0.0).tolist()) for each in model.candidates(X, y, qid)]
    [(0.1, [True, True, True, True]), (10.0, [False, False, False, True])]
    """

    warm_started: ClassVar[bool] = True

    name: str
    features: FeatureMap = field(validator=require_features)
    Cs: tuple[float, ...]
    tol: float = 1e-3
    balanced: bool = False
    fit_intercept: bool = False

    def candidates(self, X: Any, y: Vector, qid: IntVector) -> Sequence[Candidate]:
        """Fit for every C; see `Model.candidates`. The queries do not matter."""
        relevant = y > 0
        weight = np.ones(len(relevant))
        if self.balanced:
            share = float(relevant.mean())
            require_both_classes(share)
            weight = np.where(relevant, 0.5 / share, 0.5 / (1.0 - share))
        rows, weight = merge_equal(X, relevant, weight)
        ranker = Ranker(ErrorRate(), solver="one-slack", tol=self.tol, fit_intercept=self.fit_intercept)
        return _path(ranker, X[rows], np.where(relevant[rows], weight, -weight), None, self.Cs)


def merge_equal(X: Any, relevant: BoolVector, weight: Vector) -> tuple[IntVector, Vector]:
    """Merge documents of the same features and relevance into one with the sum of their weights.

    Half of a pool is like that: documents at the end of one run, which no other one has.

    Returns
    -------
    The rows to keep, and their weights.
    """
    if not isinstance(X, BinnedMatrix):
        return np.arange(len(weight)), weight
    keys = np.column_stack([X.codes, relevant.astype(X.codes.dtype)])
    _, rows, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return rows.astype(np.int64), np.asarray(np.bincount(group.ravel(), weight), dtype=np.float64)


def _path(ranker: Ranker, X: Any, y: Vector, qid: IntVector | None, Cs: Sequence[float]) -> Sequence[Candidate]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FeatureScaleWarning)  # features are as the user gave them to all models
        warnings.simplefilter("ignore", ZeroWeightsWarning)  # a small C; the share of tied documents is in the results
        fitted = ranker.path(X, y, qid, Cs)
    if fitted[-1].result_.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return [
        Candidate(each.C, partial(_scores, each), each.result_.history[-1].seconds, gap_of(each), each.coef_)
        for each in fitted
    ]


def _scores(ranker: Ranker, X: Any, qid: IntVector) -> Vector:
    return ranker.predict(X, qid=qid)
