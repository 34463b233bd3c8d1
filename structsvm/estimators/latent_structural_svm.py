"""A structural SVM of outputs with latent parts."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, Self

from attrs import define, field
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from structsvm.estimators.fits import start_of
from structsvm.estimators.parameters import solver_of
from structsvm.estimators.saving import Stored, adopt, result_of
from structsvm.estimators.structural_svm import JointEstimator, fitted_loss, one_minus_mean
from structsvm.estimators.written_settings import require_object
from structsvm.exceptions import ZeroWeightsWarning
from structsvm.foundation.compute.threads import require_jobs
from structsvm.foundation.settings import as_list, place, require_kind, require_switch
from structsvm.losses.latent import Completed, LatentLoss
from structsvm.losses.user_methods import call_method, output_of
from structsvm.models.joint import JointModel
from structsvm.problem import Problem
from structsvm.problem.checks import require_pairs
from structsvm.problem.concave import completion
from structsvm.problem.coordinates import Bounds
from structsvm.solvers import Solver
from structsvm.solvers.convex_concave import Round
from structsvm.solvers.state import Callback
from structsvm.training.descent import DESCENT_FACTS, fit_descent, rounds_of
from structsvm.training.examples import ExampleData
from structsvm.training.joint import joint_model
from structsvm.training.objective import Objective
from structsvm.training.regularizer import Regularizer


def _restore(svm: Any) -> None:
    result_of(svm)
    rounds_of(svm.model_.training.arrays)


@define(slots=False, eq=False, repr=False)
class LatentStructuralSVM(JointEstimator):
    """A structural SVM for outputs with latent parts, which are not labeled.

    Minimizes ``½‖w‖² + (C/n) Σ_i κ_i { max_ŷ,ĥ [Δ(y_i, ŷ, ĥ) + w·Ψ(x_i, ŷ, ĥ)] − max_h w·Ψ(x_i, y_i, h) }`` (Yu and
    Joachims, ICML 2009) by the convex-concave procedure: the current weights complete the true outputs, and a
    structural SVM is trained with these completions. The objective is not convex, but no round raises it. The result
    depends on ``LatentLoss.initial`` and need not be the optimum. If a true output has several best completions, as at
    w = 0, another completion may still lower the objective.

    Parameters
    ----------
    loss : a `LatentLoss`.
    C, warm_start : as in `Ranker`.
    solver : solver of the convex problems, by name or as an object.
    tol : accuracy in units of the loss: each convex problem is solved to a gap of ``tol · C``. The last problem proves
        that its start is within ``2 tol · C`` of its optimum. If the first problem moves the weights, a second one
        always follows. None: the solver's default, 1e-3.
    max_iter : largest number of convex problems.
    bounds : bounds of the weights, as in `StructuralSVM`.
    n_jobs : number of processes that compute argmaxes, as in `Ranker`; None: one.

    Attributes
    ----------
    coef_ : weights, shape (d,).
    objective_ : value of the minimized objective.
    rounds_ : the convex problems, each a `Round`.
    stationary_ : True if the last problem proved that no weights lower the objective by more than ``2 tol · C`` with
        the completions that ``LatentLoss.complete`` returned.
    latent_ : the completion of each training example. Files do not store it.
    loss_, result_ : the loss, and the `Result` of the last convex problem.

    Examples
    --------
    >>> from structsvm.losses import LatentLoss
    >>> class Bags(LatentLoss):  # y is 1 if a row of x is relevant; h is the number of that row
    ...     def joint_feature(self, x, y, h):
    ...         return y * x[h]
    ...     def loss(self, y, y_hat, h_hat):
    ...         return float(y != y_hat)
    ...     def initial(self, x, y):
    ...         return int(np.argmax(np.abs(x).sum(axis=1)))
    ...     def complete(self, x, y, w):
    ...         return int(np.argmax(x @ w))
    ...     def argmax(self, x, w):
    ...         h = self.complete(x, 1, w)
    ...         return int(x[h] @ w > 0.0), h
    ...     def loss_augmented_argmax(self, x, y, w):
    ...         h = self.complete(x, 1, w)
    ...         return int(x[h] @ w > 2 * y - 1), h
    >>> xs = [np.array([[0.0, 1.0], [2.0, 0.0]]), np.array([[0.0, 1.0], [-2.0, 0.0]])]
    >>> svm = LatentStructuralSVM(Bags(), C=10.0).fit(xs, [1, 0])
    >>> svm.predict_latent(xs)[0], svm.predict(xs), svm.stationary_
    ((1, 1), [1, 0], True)
    """

    stored: ClassVar[Stored] = Stored("LatentStructuralSVM", JointModel, DESCENT_FACTS, _restore, any_loss=True)

    loss: LatentLoss[Any, Any, Any]
    C: float = 1.0
    solver: str | Solver = field(default="auto", kw_only=True)
    tol: float | None = field(default=None, kw_only=True)
    max_iter: int = field(default=100, kw_only=True)
    bounds: Bounds | None = field(default=None, kw_only=True)
    warm_start: bool = field(default=False, kw_only=True)
    n_jobs: int | None = field(default=None, kw_only=True)

    def fit(
        self,
        X: Sequence[Any],
        y: Sequence[Any],
        sample_weight: ArrayLike | None = None,
        callback: Callback | None = None,
    ) -> Self:
        """Learn from examples.

        Parameters
        ----------
        X : inputs, as the loss reads them.
        y : true outputs, without their latents.
        sample_weight : example weights κ, shape (n,).
        callback : as in `Ranker.fit`, for every convex problem.

        Raises
        ------
        OracleError : an argmax or a completion is provably wrong.

        Warns
        -----
        ConvergenceWarning : the limit of rounds was reached, or a convex problem did not converge.
        ZeroWeightsWarning : the descent ended at w = 0, at which completions are arbitrary.
        """
        require_object("loss", self.loss)
        require_kind(place(self, "loss"), self.loss, LatentLoss, "a LatentLoss")
        require_switch(place(self, "warm_start"), self.warm_start)
        require_jobs(place(self, "n_jobs"), self.n_jobs)
        data = ExampleData.of(type(self).__name__, X, y, sample_weight, loss=None)
        xs, ys = data.X, data.y
        completed = Completed(self.loss, with_truths=self.loss.unreachable_truths)
        truths = [
            (truth, output_of(completed, "initial", i, self.loss.initial, x, truth))
            for i, (x, truth) in enumerate(zip(xs, ys, strict=True))
        ]
        problem = Problem.from_examples(
            xs, truths, loss=completed, C=self.C, sample_weight=data.weight, n_jobs=self.n_jobs
        )
        loss: Any = self.loss
        objective = Objective(
            Regularizer.of(self).applied(problem, None),
            solver_of(self, limits=["tol"]),
            loss,
            lambda result: joint_model(data, result),
            facts={"loss_": self.loss},
        )
        regularized: Any = objective.problem
        subtracted = completion(regularized, completed, xs, truths)
        adopt(
            self,
            fit_descent(objective, subtracted, start=start_of(self), callback=callback, max_iter=self.max_iter),
        )
        if self.stationary_ and not self.coef_.any():
            warnings.warn(
                "the descent ended at w = 0: all outputs have the same score and all latents complete a true output "
                "equally well, so the objective may still fall from there. No weights lower the hinge with the latents "
                f"of {self.loss.title}.initial: let initial return better latents, such as the result of complete at "
                "the weights of a model without latents",
                ZeroWeightsWarning,
                stacklevel=2,
            )
        self.latent_ = [
            completed.completion(i, x, truth, self.coef_) for i, (x, truth) in enumerate(zip(xs, ys, strict=True))
        ]
        return self

    @property
    def rounds_(self) -> tuple[Round, ...]:
        """The convex problems."""
        return rounds_of(self.model_.training.arrays)

    def predict(self, X: Sequence[Any]) -> list[Any]:
        """Return the predicted output of each input, without latents."""
        return [y for y, _ in self.predict_latent(X)]

    def predict_latent(self, X: Sequence[Any]) -> list[tuple[Any, Any]]:
        """Return the predicted output of each input, with its latent."""
        check_is_fitted(self)
        return Completed(fitted_loss(self)).predict(as_list("X", X, "a list of inputs"), self.coef_)

    def score(self, X: Sequence[Any], y: Sequence[Any], sample_weight: ArrayLike | None = None) -> float:
        """Return one minus the mean loss of the predictions."""
        predicted, truths = self.predict_latent(X), as_list("y", y, "a list of outputs, one per example")
        require_pairs(len(predicted), len(truths))
        loss = fitted_loss(self)
        pairs = enumerate(zip(truths, predicted, strict=True))
        values = [call_method(loss, "loss", i, loss.loss, truth, *output) for i, (truth, output) in pairs]
        return one_minus_mean(values, sample_weight)
