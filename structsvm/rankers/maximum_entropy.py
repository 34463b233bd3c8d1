"""The maximum entropy model: relevant or not, by logistic regression."""

from __future__ import annotations  # `help` shows the types by name, not as the long unions that they are

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from structsvm.estimators.inputs import checked_features, checked_labels
from structsvm.estimators.linear import LinearScores
from structsvm.estimators.model_file import Trained
from structsvm.estimators.parameters import measure_of
from structsvm.exceptions import InputError, stacklevel_of_user
from structsvm.metrics import Measure
from structsvm.operators import Readable
from structsvm.queries import Queries, row_weights
from structsvm.rankers.ranker_file import SavedRanker
from structsvm.serving.linear import weights_and_intercept
from structsvm.serving.scorer import Description
from structsvm.settings import is_number, place, require_integer, require_number
from structsvm.types import BoolVector, Vector


class MaximumEntropy(SavedRanker, LinearScores):
    """A ranker by the probability of relevance: logistic regression, fitted by L-BFGS.

    The model that Morgan, Greiff and Henderson ("Direct maximization of average precision by hill-climbing, with a
    comparison to a maximum entropy approach", HLT-NAACL 2004) compare their search with: of all models by which the sum
    of a feature over relevant documents is expected to be what it is in training, the one of largest entropy (up to
    the regulariser). It is fitted by scikit-learn's ``LogisticRegression``, which minimises
    ``½‖w‖² + C Σ_d κ_d log(1 + e^(−t_d (w·x_d + b)))``, t_d = 1 for relevant documents and −1 for others. Every row is
    an example; queries do not matter to `fit`.

    Parameters
    ----------
    C : weight of the sum over rows against the regulariser, as in scikit-learn; larger fits the training data closer
        (`Ranker` has the mean over queries in its place).
    relevant_from : smallest label of a relevant document; None: every label above 0.
    class_weight : {0: weight, 1: weight} of documents that are not relevant and that are; "balanced", so that both
        kinds have the same weight in all; None: all 1.
    tol : when L-BFGS stops, as in scikit-learn.
    max_iter : iterations of L-BFGS, at most.
    measure : what `score` reports, by name ("map", "ndcg@10", "p@5", ...) or as an object; None is "map".
    normalise : what is done to features first: "query-min-max", "query-z-score", "standard" or nothing, None; see
        `Ranker`.

    Attributes
    ----------
    coef_ : weights, shape (d,), of the normalised features where they are normalised.
    intercept_ : constant part of the scores, which are log-odds of relevance.
    n_iter_ : iterations of L-BFGS.
    n_features_in_ : number of features.

    Examples
    --------
    >>> from structsvm.rankers import MaximumEntropy
    >>> ranker = MaximumEntropy().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 2])
    >>> ranker.predict([[2.5], [0.5]]).round(2)
    array([ 0.96, -0.96])
    """

    _kind = "maximum_entropy"
    _counts: ClassVar[Mapping[str, int]] = {"n_iter_": 0}
    _figures = ("intercept_",)
    _takes_sparse = True
    __metadata_request__fit: ClassVar[dict[str, Any]] = {"qid": True, "sample_weight": True}

    def __init__(
        self,
        C: float = 1.0,
        *,
        relevant_from: float | None = None,
        class_weight: dict[Any, float] | str | None = None,
        tol: float = 1e-4,
        max_iter: int = 1000,
        measure: str | Measure | None = None,
        normalise: str | None = None,
    ) -> None:
        self.C = C
        self.relevant_from = relevant_from
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.measure = measure
        self.normalise = normalise

    def fit(self, X: Any, y: Any, qid: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn which documents are relevant.

        Parameters
        ----------
        X : features, one document a row, shape (rows, d); dense, CSR or a `BinnedMatrix`, of which L-BFGS reads a
            CSR copy.
        y : labels, shape (rows,).
        qid : query id of each row. Fitting does not depend on it, `score` does.
        sample_weight : weight of each row; rows of a query may have different ones. `score` takes weights of queries,
            and metadata routing hands it what `fit` gets. For a grid search with weights that differ within a query,
            ``set_score_request(sample_weight=False)`` keeps them from it; scikit-learn's ``Pipeline.score`` cannot do
            without such a request, so that the search over a pipeline then needs a ``scoring`` of its own.

        Raises
        ------
        InputError : when the data or a parameter cannot be used, or all rows are of one kind.

        Warns
        -----
        ConvergenceWarning : when ``max_iter`` iterations do not reach ``tol``.
        """
        self._require_settings()
        X = checked_features(self, X, min_rows=2)
        rows = X.shape[0]
        relevant = self._relevant(checked_labels(y, rows))
        queries = Queries.of(qid, rows)
        X = self._normalised_for_fit(X, lambda: queries)
        weights = None if sample_weight is None else row_weights(sample_weight, rows)
        _require_both_kinds(relevant if weights is None else relevant[weights > 0.0])
        model = self._fitted(X, relevant, weights)
        self.coef_: Vector = model.coef_[0].astype(np.float64)
        self.intercept_ = float(model.intercept_[0])
        self.n_iter_ = int(model.n_iter_[0])
        self._fitted_with_qid = qid is not None
        self.trained_ = Trained.now()
        return self

    def _fitted(self, X: Readable, relevant: BoolVector, weights: Vector | None) -> LogisticRegression:
        model = LogisticRegression(
            C=float(self.C), class_weight=self.class_weight, tol=float(self.tol), max_iter=int(self.max_iter)
        )
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            model.fit(X.tocsr() if hasattr(X, "tocsr") else X, relevant.astype(np.int64), weights)
        for each in caught:
            if not issubclass(each.category, ConvergenceWarning):
                warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
        if any(issubclass(each.category, ConvergenceWarning) for each in caught):
            warnings.warn(
                f"L-BFGS stopped after {int(model.n_iter_[0])} iterations without reaching tol={self.tol:g}: scale the "
                "features (normalise='standard'), or give a smaller C or a larger max_iter",
                ConvergenceWarning,
                stacklevel=stacklevel_of_user(),
            )
        return model

    def _relevant(self, y: Vector) -> BoolVector:
        return y > 0 if self.relevant_from is None else y >= self.relevant_from

    def _state(self) -> dict[str, Any]:
        return {"coef": self.coef_}

    def _restore(self, arrays: Mapping[str, Any], about: Description) -> None:
        self.coef_, self.intercept_ = weights_and_intercept(arrays, about.n_features, {"intercept_": self.intercept_})

    def _require_settings(self) -> None:
        require_number(place(self, "C"), self.C, above=0.0)
        require_number(place(self, "tol"), self.tol, above=0.0)
        require_integer(place(self, "max_iter"), self.max_iter, 1)
        require_number(place(self, "relevant_from"), self.relevant_from, optional=True)
        if self.class_weight is not None:
            _require_class_weight(self.class_weight)
        measure_of(self)


def _require_both_kinds(relevant: BoolVector) -> None:
    if relevant.all() or not relevant.any():
        kind = "relevant" if relevant.all() else "not relevant"
        raise InputError(
            f"MaximumEntropy needs relevant documents (label > 0, or relevant_from) and others, and all "
            f"{len(relevant)} that have a weight are {kind}: check the labels"
        )


def _require_class_weight(given: Any) -> None:
    if isinstance(given, str) and given == "balanced":
        return
    if not isinstance(given, dict) or not set(given) <= {0, 1}:
        raise InputError(
            f"MaximumEntropy(class_weight=...) must be {{0: weight, 1: weight}}, of documents that are not relevant "
            f"and that are, 'balanced' or None, got {given!r}"
        )
    for kind, weight in given.items():
        if not is_number(weight, above=0.0):
            raise InputError(
                f"MaximumEntropy(class_weight=...) must have positive finite weights, got {weight!r} for {kind!r}"
            )
