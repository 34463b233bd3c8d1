"""A structural SVM of outputs with latent parts."""

from __future__ import annotations  # `help` shows the types by name, not as the long unions that they are

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from structsvm.compute.threads import require_jobs
from structsvm.estimators.descending import SavedDescent, descended
from structsvm.estimators.model_file import Trained
from structsvm.estimators.parameters import regularised, require_solver
from structsvm.estimators.written_settings import SavedLoss, require_object
from structsvm.exceptions import ZeroWeightsWarning
from structsvm.losses.base import call_method
from structsvm.losses.latent import Completed, LatentLoss
from structsvm.problem import Problem
from structsvm.problem.checks import require_pairs
from structsvm.problem.concave import completion
from structsvm.problem.coordinates import Bounds
from structsvm.queries import row_weights
from structsvm.result import Result
from structsvm.settings import as_list, place, require_kind, require_switch
from structsvm.solvers import Solver
from structsvm.solvers.state import Callback
from structsvm.types import Vector


class LatentStructuralSVM(SavedDescent):
    """A structural SVM whose joint features need more than what is labelled: latent parts of outputs.

    Minimises ``½‖w‖² + (C/n) Σ_i κ_i { max_ŷ,ĥ [Δ(y_i, ŷ, ĥ) + w·Ψ(x_i, ŷ, ĥ)] − max_h w·Ψ(x_i, y_i, h) }`` (Yu and
    Joachims, ICML 2009) by the convex-concave procedure: latents of the truths are completed by the present weights,
    and a structural SVM is trained that takes them for known. The objective is not convex. It never rises, and what is
    found is best for the latents that ``LatentLoss.complete`` returns there, which the last round proves. Where a truth
    has several best completions, as each has at w = 0, another of them may still lead down. What is found depends on
    ``LatentLoss.initial``, and need not be the optimum.

    Parameters
    ----------
    loss : a `LatentLoss`.
    C : weight of the mean hinge against the regulariser.
    solver : solver of the convex problems, by name or as an object with settings of its own.
    tol : accuracy in units of the loss: convex problems are solved to ``tol · C``, and the last one proves its
        start to be within ``2 tol · C`` of its optimum. If the first round moves
        the weights, a second one follows with latents completed afresh, whatever tol is. None leaves tol to the solver,
        whose default is 1e-3.
    max_rounds : most convex problems after the first.
    bounds : as in `StructuralSVM`, of every convex problem: what is found is stationary within them.
    warm_start : start from the weights of the last fit.
    n_jobs : processes in which argmaxes run: so many, or -1 for all cores, -2 for all but one and so on. None: what
        ``joblib.parallel_config(n_jobs=...)`` says, otherwise one. Results do not depend on it. It is not saved with a
        model.

    Attributes
    ----------
    coef_ : weights, shape (d,).
    objective_ : value of the minimised objective, at these weights.
    rounds_ : the convex problems, each a `Round`.
    stationary_ : whether the last one proved that no change of the weights lowers the objective by more than
        ``2 tol · C`` while the latents of the truths are those that ``complete`` returned.
    latent_ : the completion of each training example at these weights. A file does not keep them.
    loss_ : the loss.
    result_ : `Result` of the last convex problem.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm.estimators import LatentStructuralSVM
    >>> from structsvm.losses import LatentLoss
    >>> class Bags(LatentLoss):  # y is 1 where a row of x is what is looked for; h is which
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

    _kind = "latent_structural_svm"
    _kept = _needed = ("objective_", "stationary_")
    _restores_loss = True

    def __init__(
        self,
        loss: LatentLoss[Any, Any, Any],
        C: float = 1.0,
        *,
        solver: str | Solver = "auto",
        tol: float | None = None,
        max_rounds: int = 100,
        bounds: Bounds | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.C = C
        self.solver = solver
        self.tol = tol
        self.max_rounds = max_rounds
        self.bounds = bounds
        self.warm_start = warm_start
        self.n_jobs = n_jobs

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
        X : inputs, one an example, whatever the loss reads.
        y : true outputs, without their latents.
        sample_weight : example weights κ, shape (n,).
        callback : is shown every `Step` of every convex problem; returns True to stop.

        Raises
        ------
        InputError : when the data cannot be used.
        OracleError : when an argmax or a completion is seen not to be one.

        Warns
        -----
        ConvergenceWarning : when the limit of rounds was reached, or a convex problem did not converge.
        ZeroWeightsWarning : when it ended at w = 0, at which latents are completed arbitrarily.
        """
        require_object("loss", self.loss)
        require_kind(place(self, "loss"), self.loss, LatentLoss, "a LatentLoss")
        require_solver(self)
        require_switch(place(self, "warm_start"), self.warm_start)
        require_jobs(place(self, "n_jobs"), self.n_jobs)
        xs, ys = as_list("X", X, "a list of inputs"), as_list("y", y, "a list of outputs, one an example")
        require_pairs(len(xs), len(ys))
        completed = Completed(self.loss)
        truths = [
            (truth, call_method(completed, "initial", i, self.loss.initial, x, truth))
            for i, (x, truth) in enumerate(zip(xs, ys, strict=True))
        ]
        problem = Problem.from_examples(
            xs, truths, loss=completed, C=self.C, sample_weight=sample_weight, n_jobs=self.n_jobs
        )
        problem = regularised(self, problem, intercept=False)
        start = self.result_ if self.warm_start and hasattr(self, "result_") else None
        descent = descended(self, problem, completion(problem, completed, xs, truths), start, callback)
        self.loss_ = self.loss
        self._take_descent(descent)
        self.trained_ = Trained.now()
        if descent.stationary and not self.coef_.any():
            warnings.warn(_zero_weights(self.loss), ZeroWeightsWarning, stacklevel=2)
        self.latent_ = [
            completed.completion(i, x, truth, self.coef_) for i, (x, truth) in enumerate(zip(xs, ys, strict=True))
        ]
        return self

    def predict(self, X: Sequence[Any]) -> list[Any]:
        """Return the predicted output of each input, without latents."""
        return [y for y, _ in self.predict_latent(X)]

    def predict_latent(self, X: Sequence[Any]) -> list[tuple[Any, Any]]:
        """Return the predicted output of each input, with its latent."""
        check_is_fitted(self)
        return Completed(self._fitted_loss()).predict(as_list("X", X, "a list of inputs"), self.coef_)

    def score(self, X: Sequence[Any], y: Sequence[Any], sample_weight: ArrayLike | None = None) -> float:
        """Return one minus the mean loss of the predictions."""
        predicted, truths = self.predict_latent(X), as_list("y", y, "a list of outputs, one an example")
        require_pairs(len(predicted), len(truths))
        loss = self._fitted_loss()
        pairs = enumerate(zip(truths, predicted, strict=True))
        met = [call_method(loss, "loss", i, loss.loss, truth, *found) for i, (truth, found) in pairs]
        weights = None if sample_weight is None else row_weights(sample_weight, len(truths))
        return 1.0 - float(np.average(met, weights=weights))

    def _number_of_weights(self, columns: int) -> int | None:
        return None

    def _take(self, result: Result) -> None:
        self.result_ = result
        self.coef_: Vector = result.w

    def _fitted_loss(self) -> LatentLoss[Any, Any, Any]:
        """Return the loss that was fitted; of a model from a file the one that was given back."""
        fitted: LatentLoss[Any, Any, Any] = self.loss_
        if isinstance(self.loss_, SavedLoss):
            fitted = self.loss_.restored(self.loss)
        return fitted


def _zero_weights(loss: LatentLoss[Any, Any, Any]) -> str:
    """Say what it means that a descent ended at w = 0, and what helps."""
    return (
        "the descent ended at w = 0: all outputs have the same score, and every latent completes a truth as well as "
        f"any other, so that the objective may still fall from there. The latents that {loss.title}.initial guesses "
        "let no weights lower the hinge: let initial guess better ones, such as those that complete returns at the "
        "weights of a model without latents"
    )
