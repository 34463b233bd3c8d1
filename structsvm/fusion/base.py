"""Base class of fusion methods, which compare the documents of a query."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from structsvm.estimators.parameters import measure_of
from structsvm.estimators.ranking import RankingEstimator, missing_qid
from structsvm.features.per_query import checked_scores
from structsvm.foundation.queries import Queries
from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.metrics import Measure
from structsvm.registry.capabilities import Capabilities


class Fusion(RankingEstimator):
    """Base class of fusion methods, which combine the scores of several systems for a document.

    A subclass implements `_fused`, `_require_settings` if it has settings, and `_learn` if it learns.

    The candidates of a query are the documents that any system retrieved. Other documents have a score of −inf and no
    influence. The fused score of a document depends on the other documents of its query, so `predict` takes ``qid``.

    Parameters
    ----------
    measure : measure of `score`, by name ("map", "ndcg@10", "p@5", ...) or as an object; None is "map".

    Attributes
    ----------
    n_features_in_ : number of systems.

    Examples
    --------
    >>> class Retrieved(Fusion):  # number of systems that retrieved the document
    ...     def _fused(self, scores, ptr):
    ...         return (~np.isnan(scores)).sum(axis=1).astype(float)
    >>> scores, qid = [[3.0, 1.0], [2.0, float("nan")], [float("nan"), 5.0]], [1, 1, 2]
    >>> fusion = Retrieved().fit(scores, qid=qid)
    >>> fusion.predict(scores, qid=qid), fusion.score(scores, [1, 0, 1], qid=qid)
    (array([2., 1., 1.]), 1.0)
    """

    _points: ClassVar[bool] = False
    """True if scores are whole or half points without rounding errors, so that each difference matters."""

    capabilities = Capabilities(takes_qid_at_predict=True, takes_missing=True)

    def __init__(self, *, measure: str | Measure | None = None) -> None:
        self.measure = measure

    @abstractmethod
    def _fused(self, scores: Matrix, ptr: IntVector) -> Vector:
        """Return fused scores, shape (rows,); missing ``scores`` are NaN, and ``ptr`` delimits the queries."""

    def _require_settings(self) -> None:
        """Raise InputError for invalid settings of the method."""

    @property
    def learns(self) -> bool:
        """True if `fit` learns from labels."""
        return False

    def _learn(self, scores: Matrix, y: Any, queries: Queries) -> None:
        """Learn from checked scores, shape (rows, systems), and labels; most methods do not learn."""

    def fit(self, X: Any, y: Any = None, qid: ArrayLike | None = None) -> Self:
        """Store the number of systems, and learn if the method learns.

        Parameters
        ----------
        X : scores, shape (rows, systems); NaN if missing.
        y : labels, shape (rows,), for methods that learn; other methods ignore them.
        qid : query id of each row, in any order. None: all rows are one query.
        """
        self._require_settings()
        measure_of(self)
        scores = checked_scores(self, X, reset=True)
        self._learn(scores, y, Queries.of(qid, len(scores)))
        self._fitted_with_qid = qid is not None
        return self

    def predict(self, X: Any, qid: ArrayLike | None = None) -> Vector:
        """Return the fused score of each document, shape (rows,); higher is better within a query.

        X and qid are as in `fit`. Raise InputError if one is invalid, or if qid is missing although `fit` had it.
        """
        check_is_fitted(self, "n_features_in_")
        self._require_settings()
        if qid is None and self._fitted_with_qid:
            raise missing_qid(self, "predict")
        scores = checked_scores(self, X, reset=False)
        queries, retrieved = Queries.of(qid, len(scores)), ~np.isnan(scores).all(axis=1)
        candidates = Queries.of(queries.number[retrieved], int(retrieved.sum()))
        grouped = np.ascontiguousarray(candidates.grouped(scores[retrieved]), dtype=np.float64)
        fused = np.full(len(scores), -np.inf)
        fused[retrieved] = candidates.ungrouped(self._fused(grouped, candidates.ptr))
        return fused

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.learns
        return tags
