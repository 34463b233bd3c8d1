"""A linear ranker of which no query asks for more than the largest loss."""

from __future__ import annotations  # `help` shows the types by name, not as the long unions that they are

from typing import Any, Self

from numpy.typing import ArrayLike

from structsvm.estimators.descending import SavedDescent, descended
from structsvm.estimators.model_file import Trained
from structsvm.estimators.ranker import Ranker
from structsvm.exceptions import InputError
from structsvm.losses import ScoreLoss
from structsvm.metrics import Measure
from structsvm.problem.concave import ramp
from structsvm.problem.coordinates import Bounds
from structsvm.solvers import CheckpointPath, Solver
from structsvm.solvers.base import require_examples
from structsvm.solvers.state import Callback


class RampRanker(SavedDescent, Ranker):
    """A `Ranker` with ramps in the place of hinges: queries that are labelled wrongly do little harm.

    Minimises ``½‖w‖² + (C/n) Σ_q κ_q { max_ŷ [Δ(y_q, ŷ) + w·Ψ(x_q, ŷ)] − max_ŷ w·Ψ(x_q, ŷ) }`` (Chapelle, Do, Le,
    Smola and Teo, NIPS 2008). A term is between the loss of the prediction and the largest loss: a closer bound than
    the hinge, which grows with the scores of a query that the weights get wrong. It is not convex: the convex-concave
    procedure starts from the ranker of hinges, never lets the objective rise, and ends at a stationary point, which its
    last round proves.

    Parameters
    ----------
    loss, C, solver, fit_intercept, intercept_scaling, class_weight, measure, normalise, centre : as in `Ranker`.
    penalty, bounds, monotonic_cst, n_jobs : as in `Ranker`, but that no penalty may be 0.
    tol : convex problems are solved to ``tol · C``, and the last one proves its start to be within ``2 tol · C`` of
        its optimum. None leaves it to the solver, whose default is 1e-3.
    max_rounds : most convex problems after the first.
    warm_start : start from the weights of the last fit.

    Attributes
    ----------
    objective_ : value of the minimised objective, at the weights that were found.
    rounds_ : the convex problems, each a `Round`.
    stationary_ : whether the last one proved the weights stationary. A file that says it is of a `Ranker`, as those
        of earlier versions do, is read without these three.
    result_ : `Result` of the last convex problem: its bounds are not of the objective.
    coef_, intercept_, normaliser_, loss_, n_features_in_, n_examples_, n_left_out_ : as in `Ranker`.

    Examples
    --------
    >>> from structsvm.estimators import RampRanker
    >>> X, y, qid = [[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1], [1, 1, 2, 2]
    >>> RampRanker("map", C=10).fit(X, y, qid=qid).score(X, y, qid=qid)
    1.0
    """

    _kind = "ramp_ranker"
    _former_kind = "ranker"
    _kept = (*Ranker._kept, "objective_", "stationary_")

    def __init__(
        self,
        loss: str | ScoreLoss[Any] = "map",
        C: float = 1.0,
        *,
        solver: str | Solver = "auto",
        tol: float | None = None,
        max_rounds: int = 100,
        fit_intercept: bool = False,
        intercept_scaling: float = 1.0,
        class_weight: dict[Any, float] | str | None = None,
        measure: str | Measure | None = None,
        normalise: str | None = None,
        centre: ArrayLike | None = None,
        penalty: ArrayLike | None = None,
        bounds: Bounds | None = None,
        monotonic_cst: ArrayLike | dict[str, int] | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            loss,
            C,
            solver=solver,
            tol=tol,
            fit_intercept=fit_intercept,
            intercept_scaling=intercept_scaling,
            class_weight=class_weight,
            measure=measure,
            normalise=normalise,
            centre=centre,
            penalty=penalty,
            bounds=bounds,
            monotonic_cst=monotonic_cst,
            warm_start=warm_start,
            n_jobs=n_jobs,
        )
        self.max_rounds = max_rounds

    def fit(
        self,
        X: Any,
        y: Any,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        callback: Callback | None = None,
        checkpoint: CheckpointPath | None = None,
    ) -> Self:
        """Learn from queries; see `Ranker.fit`. There are no checkpoints.

        Warns
        -----
        ConvergenceWarning : when the limit of rounds was reached, or a convex problem did not converge.
        """
        if checkpoint is not None:
            raise InputError("RampRanker keeps no checkpoints: leave the checkpoint out")
        objective = self._objective(X, y, qid, sample_weight)
        start = self.result_ if self.warm_start and hasattr(self, "result_") else None
        if start is not None and not start.is_of(objective.columns):
            start = None
        problem = require_examples("RampRanker", objective.problem)
        descent = descended(self, problem, ramp(problem), start, callback)
        self._take_descent(descent)
        self.trained_ = Trained.now()
        return self

    def path(self, *arguments: Any, **given: Any) -> list[Self]:
        """Refuse: where the descent ends depends on where it begins, so that each C is a fit of its own."""
        raise InputError("RampRanker has no path over C: fit one for each value")
