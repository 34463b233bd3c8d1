"""What all rankers share: a score for every document, and a measure of the rankings by it."""

from __future__ import annotations  # `help` shows the types by name, not as the long unions that they are

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from structsvm.estimators.foreign_arguments import explains_foreign_arguments
from structsvm.estimators.inputs import checked_labels
from structsvm.estimators.model_file import Trained
from structsvm.estimators.parameters import measure_of
from structsvm.exceptions import InputError
from structsvm.metrics import Measure
from structsvm.queries import Queries, row_weights
from structsvm.settings import checked_names
from structsvm.types import Vector


@frozen
class Parts:
    """What a fitted ranker is made of, the largest first: what `structsvm show` shows.

    Parameters
    ----------
    quantity : what the values are, in words: "weight", "importance".
    rows : a record for each part: ``feature``, the number of the feature from 0; ``value``; and further numbers by
        name, the same for all rows, such as ``threshold``.
    notes : what there is to say of them, a sentence each.
    """

    quantity: str
    rows: tuple[dict[str, Any], ...] = field(repr=False)
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, quantity: str, values: Vector, *notes: str) -> Self:
        """Make them of a value for each feature; those of 0 are left out, which a note tells."""
        order = np.argsort(-np.abs(values), kind="stable")
        kept = order[values[order] != 0.0]
        zero = len(values) - len(kept)
        more = (f"{zero} of {len(values)} features have {quantity} 0.",) if zero else ()
        rows = tuple({"feature": k, "value": float(values[k])} for k in kept.tolist())
        return cls(quantity, rows, (*notes, *more))


class RankingEstimator(BaseEstimator):
    """An estimator that scores documents, to rank those of each query by it.

    Derive from it and write ``__init__`` (with ``measure``), ``fit`` (which sets ``_fitted_with_qid``)
    and ``predict``.

    Parameters
    ----------
    measure : what `score` reports, by name ("map", "ndcg@10", "p@5", ...) or as an object; None is "map".
    """

    _takes_sparse: ClassVar[bool] = False
    """Whether features may be sparse."""

    _takes_missing: ClassVar[bool] = False
    """Whether features may be NaN."""

    __metadata_request__fit: ClassVar[dict[str, Any]] = {"qid": True}
    __metadata_request__score: ClassVar[dict[str, Any]] = {"qid": True, "sample_weight": True}

    measure: str | Measure | None
    _fitted_with_qid: bool

    trained_: Trained | None = None
    n_features_in_: int

    def __init_subclass__(cls, **settings: Any) -> None:
        """Let methods say what they take where another library's word is used."""
        super().__init_subclass__(**settings)
        for name in ("fit", "path", "score", "predict"):
            if name in cls.__dict__:
                setattr(cls, name, explains_foreign_arguments(cls.__dict__[name]))

    @abstractmethod
    def predict(self, X: Any) -> Vector:
        """Return the score of each row; within a query, larger is ahead. Shape (rows,)."""

    @property
    def known_names(self) -> tuple[str, ...] | None:
        """Names of the features: the columns of the data frame in `fit`, or those that `name_features` was given."""
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else tuple(map(str, names))

    def name_features(self, names: Iterable[str]) -> Self:
        """Name the features of a fitted ranker, as if `fit` had been given a data frame of these columns.

        `predict` finds columns of data frames by these names, and `structsvm show` and `structsvm export` print them.

        Parameters
        ----------
        names : a name for each column, none of them twice.

        Raises
        ------
        InputError : when they are no such names.
        """
        check_is_fitted(self, "n_features_in_")
        self.feature_names_in_ = np.array(checked_names("names", names, self.n_features_in_), dtype=object)
        return self

    def parts(self) -> Parts:
        """Return what the fitted ranker is made of; override it where there is something to show.

        Raises
        ------
        InputError : when there is nothing.
        """
        raise InputError(f"{type(self).__name__} has no parts that could be shown")

    @explains_foreign_arguments
    def score(self, X: Any, y: Any, qid: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean of ``measure`` over queries; those for which it is undefined count 0.

        Parameters
        ----------
        X : features, one document a row, as in `fit`.
        y : labels, shape (rows,).
        qid : query id of each row (not group sizes); rows of a query need not be together. None: all
            rows are one query.
        sample_weight : weight of each row, the same for all rows of a query.

        Raises
        ------
        InputError : when `fit` was given qid and this is not, or the data cannot be used; it says why.
        """
        return self._measured(self._predicted(X, qid), y, qid, sample_weight)

    def _predicted(self, X: Any, qid: ArrayLike | None) -> Vector:
        """Return what `predict` does, for rows of these queries."""
        return self.predict(X)

    def _measured(self, scores: Vector, y: Any, qid: ArrayLike | None, sample_weight: ArrayLike | None) -> float:
        """Return what `score` does, of scores that `predict` returned."""
        if qid is None and self._fitted_with_qid:
            raise InputError(
                "this ranker was fitted with qid, so score needs qid too. Inside a grid search or "
                "cross-validation, switch on sklearn.set_config(enable_metadata_routing=True): "
                "qid is then handed to score as well as to fit"
            )
        y = checked_labels(y, len(scores))
        weights = None
        if sample_weight is not None:
            row_weights(sample_weight, len(scores))
            if qid is not None:  # the weight of a single query changes no mean, so that those of its rows may differ
                weights = Queries.of(qid, len(scores)).weights(sample_weight)
        return measure_of(self).mean(scores, y, qid, weights=weights)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = self._takes_sparse
        tags.input_tags.allow_nan = self._takes_missing
        return tags
