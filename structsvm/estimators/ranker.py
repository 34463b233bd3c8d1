"""A linear ranker for scikit-learn."""

# `help` then shows types by name instead of as long unions.
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from structsvm.estimators.fitting import Objective
from structsvm.estimators.inputs import (
    checked_features,
    checked_labels,
    count_queries,
    features_as_fitted,
    keep_names,
    warn_of_one_query,
)
from structsvm.estimators.linear import LinearRanker, ObjectiveRanker
from structsvm.estimators.parameters import (
    LIMITS,
    is_plain,
    measure_of,
    not_one_score,
    ranking_loss,
    regularized,
    require_settings,
    solver_of,
    weights_of_rows,
)
from structsvm.estimators.written_settings import require_object
from structsvm.exceptions import InputError
from structsvm.features.operators import Operator
from structsvm.features.operators.occupied import narrowed, occupied
from structsvm.features.scaling.scalings import Scaling
from structsvm.foundation.queries import Queries, row_weights
from structsvm.foundation.settings import RANKING_TOL
from structsvm.foundation.types import IntVector
from structsvm.losses import ScoreLoss
from structsvm.metrics import Measure
from structsvm.problem import Problem, most_violated
from structsvm.problem.base import AbstractProblem
from structsvm.problem.coordinates import Bounds
from structsvm.problem.violated import MostViolated
from structsvm.registry import losses
from structsvm.solvers import Solver


class LossRanker(ObjectiveRanker):
    """Base of `Ranker` and `RampRanker`: their parameters and their objective."""

    _kept: ClassVar[Mapping[str, Any]] = {"n_examples_": 0, "n_left_out_": 0, "_fitted_with_qid": bool}
    _limits: ClassVar[Sequence[str]] = LIMITS
    _tol: ClassVar[float | None] = RANKING_TOL
    """Parameters that replace settings of the solver."""

    def __init__(
        self,
        loss: str | ScoreLoss[Any] = "map",
        C: float = 1.0,
        *,
        solver: str | Solver = "auto",
        tol: float | None = None,
        max_iter: int | None = None,
        fit_intercept: bool = False,
        intercept_scaling: float = 1.0,
        class_weight: dict[Any, float] | str | None = None,
        measure: str | Measure | None = None,
        normalize: str | None = None,
        center: ArrayLike | None = None,
        feature_penalty: ArrayLike | None = None,
        bounds: Bounds | None = None,
        monotonic_cst: ArrayLike | dict[str, int] | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.C = C
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.measure = measure
        self.normalize = normalize
        self.center = center
        self.feature_penalty = feature_penalty
        self.bounds = bounds
        self.monotonic_cst = monotonic_cst
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    def _objective(self, X: Any, y: Any, qid: ArrayLike | None, sample_weight: ArrayLike | None) -> Objective:
        require_settings(self)
        measure_of(self)
        loss, solver = ranking_loss(self), solver_of(self, limits=self._limits, tol=self._tol)
        rows: Any
        if isinstance(X, Operator):
            if self.normalize is not None:
                raise InputError(
                    f"normalize={self.normalize!r} needs a feature matrix, but X is an operator, {type(X).__name__}: "
                    "set normalize=None and normalize in the operator"
                )
            rows, y = X, checked_labels(y, int(X.ptr[-1]))
            keep_names(self, None)
            self._statistics = None
            self.n_features_in_ = width = X.d
            columns = scaling = None
        else:
            X = checked_features(self, X, min_rows=2, statistics=True)
            y = checked_labels(y, X.shape[0])
            if not (loss.per_row or loss.of_one_sample):
                warn_of_one_query(qid, len(y))
            if not (qid is None and loss.per_row):
                count_queries(self, Queries.of(qid, len(y)))
            weights = None if sample_weight is None else row_weights(sample_weight, len(y))
            X, scaling = self._scaled_for_fit(X, lambda: Queries.of(qid, X.shape[0]), weights)
            width = X.shape[1]
            columns = occupied(X) if is_plain(self) else None
            rows = narrowed(X, columns)
        problem = Problem.from_queries(
            rows,
            y,
            qid,
            loss=loss,
            C=self.C,
            sample_weight=weights_of_rows(self, loss, y, sample_weight),
            intercept=self._intercept(),
            n_jobs=self.n_jobs,
        )
        return self._objective_of(problem, solver, width, columns, scaling, with_qid=qid is not None)

    def _objective_of(
        self,
        problem: AbstractProblem,
        solver: Solver,
        width: int,
        columns: IntVector | None,
        scaling: Scaling | None,
        *,
        with_qid: bool,
    ) -> Objective:
        """Add the regularizer to a problem over ``columns`` of ``width`` features; set the attributes it determines."""
        used = width if columns is None else len(columns)
        # Refuse a loss that claims to score rows, but whose operator does not have one weight per feature.
        if problem.d != used + bool(self.fit_intercept):
            raise not_one_score(self)
        problem = regularized(self, problem, intercept=self.fit_intercept)
        self.loss_ = problem.loss
        self.n_examples_ = problem.used
        self.n_left_out_ = problem.left_out
        self._fitted_with_qid = with_qid
        return Objective(problem, solver, self.loss, ranks=True, n_features=width, columns=columns, scaling=scaling)

    def most_violated(self, X: Any, y: Any, example: int | None = None) -> MostViolated:
        """Show the most violated output of one query at the learned weights.

        Parameters
        ----------
        X, y : rows of one query and their labels.
        example : number of the query in the training data, in order of first appearance from 0, to report only its own
            cuts, which 1-slack does not store; None: all binding cuts.
        """
        check_is_fitted(self)
        require_object("loss", self.loss_)
        rows = features_as_fitted(self, X)
        labels = checked_labels(y, rows.shape[0])
        if self.scaling_ is not None:
            rows = self.scaling_.rows(rows, None)
        if self.loss_.per_row and len(labels) != 1:
            raise InputError(f"an example of {self.loss_.title} is a single row with its label, got {len(labels)}")
        w, cuts = self.result_.full_coef(rows.shape[1]), self.result_.cuts
        return most_violated(rows, labels, w, loss=self.loss_, cuts=cuts, example=example, intercept=self._intercept())

    def _restore(self) -> None:
        super()._restore()
        if losses.holds(self.loss_) and not self.loss_.scores_rows:
            raise not_one_score(self)

    def _intercept(self) -> float:
        return self.intercept_scaling if self.fit_intercept else 0.0


class Ranker(LossRanker, LinearRanker):
    """A linear ranker that optimizes the measure you report, with a proof of how close to optimal it is.

    Minimizes ``½‖w‖² + (C/n) Σ_q κ_q max_ŷ [Δ(y_q, ŷ) − w·(Ψ(x_q, y_q) − Ψ(x_q, ŷ))]`` over the
    n usable queries (Yue, Finley, Radlinski and Joachims, SIGIR 2007).

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
    result_ : `Result` with both bounds, status and history. If X is sparse and most of its columns, more than 1000, are
        empty, it has only the weights of the features ``result_.columns``.
    loss_ : the loss, completed from the training data.
    n_features_in_ : number of features.
    n_examples_ : number of queries learned from (of rows for "zero_one").
    n_left_out_ : number of queries skipped because they lack relevant documents or others.

    Examples
    --------
    >>> X, y, qid = [[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1], [1, 1, 2, 2]
    >>> ranker = Ranker("map", C=10).fit(X, y, qid=qid)
    >>> ranker.score(X, y, qid=qid)
    1.0
    >>> ranker.result_.converged
    True
    """

    _saved_as = "Ranker"
