"""What all methods of fusion share: documents of a query are compared with each other."""

from __future__ import annotations  # `help` shows the types by name, not as the long unions that they are

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from structsvm.estimators.parameters import measure_of
from structsvm.estimators.ranking import RankingEstimator
from structsvm.exceptions import InputError
from structsvm.features.checks import checked_scores
from structsvm.metrics import Measure
from structsvm.queries import Queries
from structsvm.types import IntVector, Matrix, Vector


class Fusion(RankingEstimator):
    """A method of fusion: one score for each document from those that several systems gave it.

    Derive from it and write `_fused`, `_require_settings` where there are any, and `_learn` where something is learned.

    The matrix has a document a row and a system a column; NaN is a document that the system did not
    retrieve. The candidates of a query are the documents that any system retrieved: another is behind them all, with a
    score of −inf, and changes nothing. What `predict` returns for a document depends on the others of its query, so
    `predict` takes ``qid`` as `fit` does.

    Parameters
    ----------
    measure : what `score` reports, by name ("map", "ndcg@10", "p@5", ...) or as an object; None is "map".

    Attributes
    ----------
    n_features_in_ : number of systems.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm.fusion import Fusion
    >>> class Retrieved(Fusion):  # by how many systems
    ...     def _fused(self, scores, ptr):
    ...         return (~np.isnan(scores)).sum(axis=1).astype(float)
    >>> scores, qid = [[3.0, 1.0], [2.0, float("nan")], [float("nan"), 5.0]], [1, 1, 2]
    >>> fusion = Retrieved().fit(scores, qid=qid)
    >>> fusion.predict(scores, qid=qid), fusion.score(scores, [1, 0, 1], qid=qid)
    (array([2., 1., 1.]), 1.0)
    """

    _points: ClassVar[bool] = False
    """Whether scores are points, whole and half ones without rounding: each difference means something."""

    _takes_missing = True
    __metadata_request__predict: ClassVar[dict[str, Any]] = {"qid": True}

    def __init__(self, *, measure: str | Measure | None = None) -> None:
        self.measure = measure

    @abstractmethod
    def _fused(self, scores: Matrix, ptr: IntVector) -> Vector:
        """Return the fused score of each document, shape (rows,).

        Parameters
        ----------
        scores : float64 in C order, the rows of each query together, shape (rows, systems); NaN where missing, and not
            in a whole row.
        ptr : where the rows of each query begin, shape (Q + 1,); no query is empty.
        """

    def _require_settings(self) -> None:
        """Refuse settings of the method that are not what they may be."""

    @property
    def learns(self) -> bool:
        """Whether `fit` learns from labels."""
        return False

    def _learn(self, scores: Matrix, y: Any, queries: Queries) -> None:
        """Learn from the rows that `fit` was given, in their order; most methods learn nothing.

        Parameters
        ----------
        scores : checked, shape (rows, systems); NaN where missing.
        y : what was passed in.
        queries : of the rows.
        """

    def fit(self, X: Any, y: Any = None, qid: ArrayLike | None = None) -> Self:
        """Remember the number of systems, and learn where the method learns.

        Parameters
        ----------
        X : scores, a document a row and a system a column, shape (rows, systems); NaN where missing.
        y : labels, shape (rows,), for methods that learn; others do not look at them.
        qid : query id of each row (not group sizes); rows of a query need not be together. None: all
            rows are one query.

        Raises
        ------
        InputError : when X, qid or a setting cannot be used; it says why.
        """
        self._require_settings()
        measure_of(self)
        scores = checked_scores(self, X, reset=True)
        self._learn(scores, y, Queries.of(qid, len(scores)))
        self._fitted_with_qid = qid is not None
        return self

    def predict(self, X: Any, qid: ArrayLike | None = None) -> Vector:
        """Return the fused score of each document; within a query, larger is ahead. Shape (rows,).

        Parameters
        ----------
        X, qid : as in `fit`.

        Raises
        ------
        InputError : when `fit` was given qid and this is not, or X, qid or a setting cannot be used; it says why.
        """
        check_is_fitted(self, "n_features_in_")
        self._require_settings()
        if qid is None and self._fitted_with_qid:
            raise InputError(
                f"this {type(self).__name__} was fitted with qid, so predict needs qid too: a fused score depends on "
                "the documents of its query. Inside a pipeline or a grid search, switch on "
                "sklearn.set_config(enable_metadata_routing=True): qid is then handed to predict as well as to fit"
            )
        scores = checked_scores(self, X, reset=False)
        queries, retrieved = Queries.of(qid, len(scores)), ~np.isnan(scores).all(axis=1)
        candidates = Queries.of(queries.number[retrieved], int(retrieved.sum()))
        grouped = np.ascontiguousarray(candidates.grouped(scores[retrieved]), dtype=np.float64)
        fused = np.full(len(scores), -np.inf)
        fused[retrieved] = candidates.ungrouped(self._fused(grouped, candidates.ptr))
        return fused

    def score(self, X: Any, y: Any, qid: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean of ``measure`` over queries; those for which it is undefined count 0.

        Parameters
        ----------
        X, qid : as in `fit`.
        y : labels, shape (rows,).
        sample_weight : weight of each row, the same for all rows of a query.

        Raises
        ------
        InputError : as `predict`, or when y or sample_weight cannot be used; it says why.
        """
        return self._measured(self.predict(X, qid=qid), y, qid, sample_weight)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        return tags
