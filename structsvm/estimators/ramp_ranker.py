"""A linear ranker that is robust to wrong labels."""

# `help` then shows types by name instead of as long unions.
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike

from structsvm.estimators.descending import KEPT, DescentEstimator, descended
from structsvm.estimators.ranker import LossRanker
from structsvm.problem.concave import ramp
from structsvm.solvers.base import require_examples
from structsvm.solvers.state import Callback


class RampRanker(DescentEstimator, LossRanker):
    """A linear ranker that is robust to wrong labels: a `Ranker` with ramps instead of hinges.

    Minimizes ``½‖w‖² + (C/n) Σ_q κ_q { max_ŷ [Δ(y_q, ŷ) + w·Ψ(x_q, ŷ)] − max_ŷ w·Ψ(x_q, ŷ) }`` (Chapelle, Do, Le, Smola
    and Teo, NIPS 2008). The term of a query lies between the loss of its prediction and the largest loss, so a wrong
    query does little harm; a hinge would grow with its scores. The objective is not convex. The convex-concave
    procedure starts from the `Ranker`, never raises the objective, and ends at a stationary point. There is no `path`.

    Parameters
    ----------
    loss, C, solver, fit_intercept, intercept_scaling, class_weight, measure, normalize, center : as in `Ranker`.
    feature_penalty, bounds, monotonic_cst, n_jobs : as in `Ranker`, but no penalty may be 0.
    tol : as in `LatentStructuralSVM`.
    max_iter : largest number of convex problems; None: 100.
    warm_start : start from the weights of the last fit.

    Attributes
    ----------
    objective_, rounds_, stationary_ : as in `LatentStructuralSVM`.
    result_ : `Result` of the last convex problem; its bounds are not bounds of the objective.
    coef_, intercept_, scaling_, loss_, n_features_in_, n_examples_, n_left_out_ : as in `Ranker`.

    Examples
    --------
    >>> X, y, qid = [[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1], [1, 1, 2, 2]
    >>> RampRanker("map", C=10).fit(X, y, qid=qid).score(X, y, qid=qid)
    1.0
    """

    _saved_as = "RampRanker"
    _kept: ClassVar[Mapping[str, Any]] = {**LossRanker._kept, **KEPT}
    _limits = ("tol",)
    _tol = None

    def fit(
        self,
        X: Any,
        y: Any,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        callback: Callback | None = None,
    ) -> Self:
        """Learn from queries; see `Ranker.fit`.

        Warns
        -----
        ConvergenceWarning : the limit of rounds was reached, or a convex problem did not converge.
        """
        objective = self._objective(X, y, qid, sample_weight)
        start = self._start
        if start is not None and not start.is_of(objective.columns):
            start = None
        problem = require_examples("RampRanker", objective.problem)
        descent = descended(self, problem, ramp(problem), start, callback)
        self._take(descent.result, objective.scaling, {"rounds": self._remember(descent)})
        return self
