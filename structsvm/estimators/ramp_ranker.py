"""A linear ranker that is robust to wrong labels."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike

from structsvm.estimators.fits import start_of
from structsvm.estimators.parameters import ranking_spec
from structsvm.estimators.ranker import FACTS, Ranker, most_violated, restore_linear
from structsvm.estimators.ranking import RankingEstimator
from structsvm.estimators.saving import Stored, adopt
from structsvm.models.linear import LinearModel
from structsvm.problem.concave import ramp
from structsvm.registry.capabilities import Capabilities
from structsvm.solvers.base import require_examples
from structsvm.solvers.convex_concave import Round
from structsvm.solvers.state import Callback
from structsvm.training.descent import DESCENT_FACTS, fit_descent, rounds_of
from structsvm.training.ranking import RankingSpec


def _restore(ranker: Any) -> None:
    restore_linear(ranker)
    rounds_of(ranker.model_.training.arrays)


class RampRanker(RankingEstimator):
    """A linear ranker that is robust to wrong labels: a `Ranker` with ramps instead of hinges.

    Minimizes ``½‖w‖² + (C/n) Σ_q κ_q { max_ŷ [Δ(y_q, ŷ) + w·Ψ(x_q, ŷ)] − max_ŷ w·Ψ(x_q, ŷ) }`` (Chapelle, Do, Le, Smola
    and Teo, NIPS 2008). Each term in braces lies between the loss of the prediction and the largest loss, so a query
    with wrong labels does little harm; its hinge would grow with the scores. The objective is not convex. The
    convex-concave procedure starts from the `Ranker`, never raises the objective, and ends at a stationary point. There
    is no `path`.

    Parameters
    ----------
    loss, C, solver, fit_intercept, intercept_scaling, class_weight, measure, normalize, missing : as in `Ranker`.
    center, feature_penalty, bounds, monotonic_cst, n_jobs : as in `Ranker`, but no penalty may be 0.
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

    capabilities = Capabilities(takes_qid_at_predict=True, takes_sparse=True)
    stored: ClassVar[Stored] = Stored("RampRanker", LinearModel, {**FACTS, **DESCENT_FACTS}, _restore)

    __init__ = Ranker.__init__

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
        spec = self.spec()
        objective = spec.objective(spec.data(X, y, qid, sample_weight))
        start = start_of(self)
        if start is not None and not start.is_of(objective.columns):
            start = None
        problem = require_examples("RampRanker", objective.problem)
        descent = fit_descent(objective, ramp(problem), start=start, callback=callback, max_iter=self.max_iter)
        return adopt(self, descent)

    most_violated = most_violated

    def spec(self) -> RankingSpec:
        """Return the checked settings of the convex problems."""
        return ranking_spec(self, limits=("tol",), tol=None)

    @property
    def rounds_(self) -> tuple[Round, ...]:
        """The convex problems."""
        return rounds_of(self.model_.training.arrays)
