"""A linear ranker for scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from attrs import define, field
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from structsvm.estimators import fits
from structsvm.estimators.parameters import intercept_of, ranking_spec
from structsvm.estimators.ranking import RankingEstimator
from structsvm.estimators.saving import Stored, result_of
from structsvm.estimators.written_settings import require_object
from structsvm.exceptions import InputError
from structsvm.losses import ScoreLoss
from structsvm.metrics import Measure
from structsvm.models.linear import LinearModel
from structsvm.models.rows import filled
from structsvm.problem import most_violated as most_violated_output
from structsvm.problem.coordinates import Bounds
from structsvm.problem.violated import MostViolated
from structsvm.registry import losses
from structsvm.registry.capabilities import Capabilities
from structsvm.solvers import Solver
from structsvm.training.data import checked_labels, features_as_fitted
from structsvm.training.ranking import RankingSpec, not_one_score, parted

LINEAR = Capabilities(takes_qid_at_predict=True, takes_sparse=True, has_path=True, has_certificate=True)
FACTS: Mapping[str, Any] = {"n_examples_": 0, "n_left_out_": 0, "_fitted_with_qid": bool}


def most_violated(self: Any, X: Any, y: Any, example: int | None = None) -> MostViolated:
    """Show the most violated output of one query at the learned weights.

    Parameters
    ----------
    X, y : rows of one query and their labels.
    example : number of a training query, from 0 in order of first appearance, to report only the binding cuts of this
        query. Only n-slack stores them. None: report all binding cuts.
    """
    check_is_fitted(self)
    require_object("loss", self.loss_)
    fill = self.model_.fill
    rows = features_as_fitted(self, X, missing=fill is not None)
    rows = rows if fill is None else filled(rows, fill)
    labels = checked_labels(y, rows.shape[0])
    if self.scaling_ is not None:
        rows = self.scaling_.rows(rows, None)
    if self.loss_.per_row and len(labels) != 1:
        raise InputError(f"an example of {self.loss_.title} is a single row with its label, got {len(labels)}")
    w, cuts = self.result_.full_coef(rows.shape[1]), self.result_.cuts
    return most_violated_output(
        rows, labels, w, loss=self.loss_, cuts=cuts, example=example, intercept=intercept_of(self)
    )


def restore_linear(ranker: Any) -> None:
    """Require that the model of a file has the weights of its result."""
    result = result_of(ranker)
    coef, intercept = parted(result.w, intercept_of(ranker) if hasattr(ranker, "fit_intercept") else 0.0)
    same = np.array_equal(coef, ranker.model_.stored) and intercept == ranker.intercept_
    if not (same and result.is_of(ranker.model_.columns)):
        raise ValueError("the weights of the model and of its result differ")
    if hasattr(ranker, "loss_") and losses.holds(ranker.loss_) and not ranker.loss_.scores_rows:
        raise not_one_score(ranker.loss)


@define(slots=False, eq=False, repr=False)
class Ranker(RankingEstimator):
    """A linear ranker that optimizes the measure you report, with a proof of how close to optimal it is.

    Minimizes ``½‖w‖² + (C/n) Σ_q κ_q max_ŷ [Δ(y_q, ŷ) − w·(Ψ(x_q, y_q) − Ψ(x_q, ŷ))]`` over the n usable queries q,
    with their weights κ_q (Yue, Finley, Radlinski and Joachims, SIGIR 2007).

    Parameters
    ----------
    loss : the loss, by name ("map", "roc_area", "zero_one", ...) or as an object. "ndcg@10" is trained at full depth;
        "ndcg@10(truncated=true)" keeps the cut-off.
    C : weight of the mean hinge against the regularizer; larger values fit the training data more closely.
    solver : the solver, by name ("auto", "frank-wolfe", "one-slack", "n-slack") or as an object with settings.
    tol : accepted gap to the optimum, in units of the loss: ``primal − dual ≤ tol · C``. None: the tol of the solver,
        else 1e-6.
    max_iter : largest number of iterations of the solver; None: the solver's default, 10,000.
    fit_intercept : add a constant to all scores. Only losses that depend on the sign of a score ("zero_one", `FBeta`)
        need it.
    intercept_scaling : value of the constant feature of the intercept. A larger value regularizes the intercept less.
    class_weight : {label: weight} or "balanced", for losses whose examples are rows.
    measure : measure that `score` reports, by name ("map", "ndcg@10", "p@5", ...) or as an object. None: "map", for
        any loss.
    normalize : normalization of the features: "query-min-max" (from 0 to 1 within each query), "query-z-score" (mean
        0 and standard deviation 1 within each query) or "standard" (mean 0 and standard deviation 1 over all training
        rows, weighted by ``sample_weight``); None: no normalization. Sparse features are divided but not shifted.
    missing : replacement of NaN in X, which the model stores and predictions use: "median" or "mean" of each feature
        over the training rows, or a number; None: NaN in X is an error.
    center : weights toward which the regularizer pulls, shape (d,), such as the weights of a model of other data;
        None: 0. See `Problem.regularized`.
    feature_penalty : weights λ of the regularizer, shape (d,): ``½ Σ_j λ_j (w_j − center_j)²``; None: 1. Positive, or
        0 if the weight has two finite bounds.
    bounds : smallest and largest weights, ``(low, high)``; each is a number, an array with one number per feature, or
        None for no bound: ``(0, None)`` means non-negative weights. As in SciPy's ``lsq_linear``, it is a pair even for
        two features: ``[(0, 1), (0, 1)]`` fixes the weights at 0 and 1. Bounds apply to `coef_`, the weights of
        normalized features, and not to the intercept. None: no bounds.
    monotonic_cst : monotonic constraints, one number per feature or ``{name: number}``: 1 if scores must not fall with
        the feature (weight at least 0), -1 if they must not rise (weight at most 0), 0 for either.
    warm_start : start from the result of the last fit.
    n_jobs : number of threads; -1 for all cores, -2 for all but one, and so on. A loss in Python runs in this number of
        processes instead. None: the setting of ``joblib.parallel_config``, else 1 in a worker of joblib, else all cores
        or ``NUMBA_NUM_THREADS`` (one process for a loss in Python). Results do not depend on it; files do not store it.

    Attributes
    ----------
    model_ : the trained `LinearModel`; ``model_.folded`` has the weights of the original features.
    coef_ : weights of the (normalized) features, shape (d,).
    intercept_ : constant part of the scores.
    scaling_ : normalization with the statistics of the training rows; None: no normalization.
    result_ : `Result` with both bounds, status and history. If X is sparse with more than 1000 columns, most of them
        empty, it has only the weights of the features ``result_.columns``.
    loss_ : the loss, completed from the training data.
    n_features_in_ : number of features.
    n_examples_ : number of queries learned from (of rows for "zero_one").
    n_left_out_ : number of queries skipped because they lack relevant or non-relevant documents.

    Examples
    --------
    >>> X, y, qid = [[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1], [1, 1, 2, 2]
    >>> ranker = Ranker("map", C=10).fit(X, y, qid=qid)
    >>> ranker.score(X, y, qid=qid)
    1.0
    >>> ranker.result_.converged
    True
    """

    capabilities = LINEAR
    stored: ClassVar[Stored] = Stored("Ranker", LinearModel, FACTS, restore_linear)

    loss: str | ScoreLoss[Any] = "map"
    C: float = 1.0
    solver: str | Solver = field(default="auto", kw_only=True)
    tol: float | None = field(default=None, kw_only=True)
    max_iter: int | None = field(default=None, kw_only=True)
    fit_intercept: bool = field(default=False, kw_only=True)
    intercept_scaling: float = field(default=1.0, kw_only=True)
    class_weight: dict[Any, float] | str | None = field(default=None, kw_only=True)
    measure: str | Measure | None = field(default=None, kw_only=True)
    normalize: str | None = field(default=None, kw_only=True)
    missing: str | float | None = field(default=None, kw_only=True)
    center: ArrayLike | None = field(default=None, kw_only=True)
    feature_penalty: ArrayLike | None = field(default=None, kw_only=True)
    bounds: Bounds | None = field(default=None, kw_only=True)
    monotonic_cst: ArrayLike | dict[str, int] | None = field(default=None, kw_only=True)
    warm_start: bool = field(default=False, kw_only=True)
    n_jobs: int | None = field(default=None, kw_only=True)

    fit = fits.fit
    path = fits.path
    most_violated = most_violated

    def spec(self) -> RankingSpec:
        """Return the checked settings of a fit."""
        return ranking_spec(self)
