"""A structural SVM for any loss, on lists of examples."""

from __future__ import annotations  # `help` shows the types by name, not as the long unions that they are

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from structsvm.compute.threads import using
from structsvm.estimators.fitting import Objective
from structsvm.estimators.inputs import InputForm, checked_features, checked_outputs, features_as_fitted, require_form
from structsvm.estimators.model_file import SavedEstimator, Trained
from structsvm.estimators.parameters import is_plain, regularised, require_settings
from structsvm.estimators.written_settings import SavedLoss
from structsvm.exceptions import InputError
from structsvm.losses import Loss, ScoreLoss
from structsvm.losses.shared.label_sets import label_array
from structsvm.operators import Rows, WithIntercept, narrowed, occupied
from structsvm.problem import MostViolated, Problem, most_violated
from structsvm.problem.checks import require_pairs
from structsvm.problem.coordinates import Bounds
from structsvm.queries import row_weights
from structsvm.registry import losses
from structsvm.result import Result
from structsvm.solvers import Solver
from structsvm.solvers.checkpoint import CheckpointPath
from structsvm.solvers.state import Callback
from structsvm.types import Vector


class StructuralSVM(SavedEstimator):
    """A structural SVM: learns to predict outputs of any kind.

    Minimises ``½‖w‖² + (C/n) Σ_i κ_i max_ŷ [Δ(y_i, ŷ) − w·(Ψ(x_i, y_i) − Ψ(x_i, ŷ))]``
    (Tsochantaridis, Joachims, Hofmann and Altun, JMLR 2005, with margin rescaling).

    Parameters
    ----------
    loss : what is optimised, by name or as an object: a `ScoreLoss` or a generic `Loss`.
    C : weight of the mean hinge against the regulariser.
    solver : how, by name or as an object with settings of its own.
    tol : gap to the optimum, in units of the loss, that is good enough: ``primal − dual ≤ tol · C``.
        None leaves it to the solver, whose default is 1e-3.
    fit_intercept : add a constant feature to every row. Not for a generic `Loss`.
    intercept_scaling : value of that feature, which is regularised like the others.
    centre : weights that the regulariser pulls the others to, shape (d,): those of a model of other data, say, to
        transfer what it learned; None: 0. See `Problem.regularised`.
    penalty : λ, weights of the regulariser, shape (d,): ``½ Σ_j λ_j (w_j − centre_j)²``; None: 1. Positive, or 0 where
        the weight has two finite bounds.
    bounds : smallest and largest weights, ``(low, high)``, each a number, one for each weight, or None: ``(0, None)``
        for weights that are not negative. A pair, as in SciPy's ``lsq_linear``, of two weights too:
        ``[(0, 1), (0, 1)]`` fixes them at 0 and 1. None: no bounds but those that the loss has
        (`Loss.weight_bounds`), which hold in any case. The optimum is that within them. Of all weights, those of the
        constant feature of ``fit_intercept`` too.
    warm_start : start from the result of the last fit.
    n_jobs : threads that compute: so many, or -1 for all cores, -2 for all but one and so on. None: what
        ``joblib.parallel_config(n_jobs=...)`` says, 1 in a worker of joblib's (as in a parallel grid search), and
        outside of both all cores, or as many as ``NUMBA_NUM_THREADS`` says. Results do not depend on it. A loss in
        Python runs in as many processes instead, in one where it is None and nothing is said by joblib. It is not
        saved with a model.

    Attributes
    ----------
    coef_ : joint weights, shape (d,), those of the constant feature included. Where features are sparse, and most of
        more than 1000 have no entry, they are of the others: of those in ``result_.columns``, in their order.
    loss_ : the loss with what it learned of the data (the classes, say).
    result_ : `Result` with both bounds, status and history.
    n_features_in_ : number of features, where inputs are matrices or rows of one.

    Examples
    --------
    >>> from structsvm import StructuralSVM
    >>> model = StructuralSVM("multiclass", C=10).fit([[1.0, 0.0], [0.0, 1.0]], ["cat", "dog"])
    >>> model.predict([[0.9, 0.1]]).tolist()
    ['cat']
    """

    _kind = "structural_svm"
    _kept = ("n_features_in_", "_matrices")
    _restores_loss = True

    def __init__(
        self,
        loss: str | ScoreLoss[Any] | Loss[Any, Any] = "multiclass",
        C: float = 1.0,
        *,
        solver: str | Solver = "auto",
        tol: float | None = None,
        fit_intercept: bool = False,
        intercept_scaling: float = 1.0,
        centre: ArrayLike | None = None,
        penalty: ArrayLike | None = None,
        bounds: Bounds | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.C = C
        self.solver = solver
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.centre = centre
        self.penalty = penalty
        self.bounds = bounds
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    def fit(
        self,
        X: Any,
        y: Sequence[Any],
        sample_weight: ArrayLike | None = None,
        callback: Callback | None = None,
        checkpoint: CheckpointPath | None = None,
    ) -> Self:
        """Learn from examples.

        Parameters
        ----------
        X : inputs, one an example, whatever the loss reads: a list, or a matrix with one example a row.
        y : true outputs.
        sample_weight : example weights κ, shape (n,).
        callback : is shown every `Step`; returns True to stop.
        checkpoint : file that the fit is kept in while it runs, or a `Checkpoint` that says how often. Where it
            exists, the fit goes on from there, and ends at once where it had ended; it is never removed.

        Raises
        ------
        InputError : when the data cannot be used, or the fit in the checkpoint is another one; it says why.

        Warns
        -----
        CheckpointWarning : when the checkpoint cannot be written any more; the fit goes on.
        ConvergenceWarning : when the gap that was asked for is not reached.
        ZeroWeightsWarning : when the optimum is w = 0, at which all outputs have the same score.
        """
        require_settings(self)
        loss = losses.create(self.loss)
        if y is None:
            raise InputError("StructuralSVM requires y to be passed, but the target y is None")
        xs: Any = X
        ys: Any = y
        if loss.per_row:
            xs, ys = checked_features(self, X), checked_outputs(y)
        else:
            ys = ys if isinstance(ys, np.ndarray) and ys.ndim else _listed(ys)
            self._remember(InputForm.of(loss, X))
        self.loss_ = loss.bind(ys)
        columns = occupied(xs) if loss.reads_rows and is_plain(self) else None
        problem = Problem.from_examples(
            narrowed(xs, columns),
            ys,
            loss=self.loss_,
            C=self.C,
            sample_weight=sample_weight,
            intercept=self._intercept(),
            n_jobs=self.n_jobs,
        )
        problem = regularised(self, problem, intercept=False)
        start = self.result_ if self.warm_start and hasattr(self, "result_") else None
        objective = Objective(problem, self.solver, self.tol, self.loss, columns=columns)
        self._take(objective.minimise(start, callback, checkpoint))
        self.trained_ = Trained.now()
        return self

    def predict(self, X: Any) -> Any:
        """Return the predicted output of each input: a list, or an array where every row is an example.

        Raises
        ------
        InputError : when the inputs are not like those of `fit`; it names the first that is not.
        """
        check_is_fitted(self)
        loss = self._fitted_loss()
        if loss.per_row:
            xs: Any = narrowed(features_as_fitted(self, X), self.result_.columns)
            with using(self.n_jobs):
                return label_array(loss.predict(xs, self.coef_, self._intercept()))
        form = InputForm(self.n_features_in_, self._matrices) if hasattr(self, "n_features_in_") else None
        require_form(self, form, loss, X)
        with using(self.n_jobs):
            return loss.predict(narrowed(X, self.result_.columns), self.coef_, self._intercept())

    def score(self, X: Any, y: Sequence[Any], sample_weight: ArrayLike | None = None) -> float:
        """Return one minus the mean loss of the predictions: the accuracy, for the zero-one loss.

        A label that training did not see counts as wrong, as in cross-validation if one fold alone has it.

        Raises
        ------
        InputError : when there are not as many outputs as inputs, or none, or a label is NaN.
        """
        predicted, loss = self.predict(X), self._fitted_loss()
        truths = list(checked_outputs(y)) if loss.per_row else _listed(y)
        require_pairs(len(predicted), len(truths))
        losses_met = [loss.loss(truth, y_hat) for truth, y_hat in zip(truths, predicted, strict=True)]
        weights = None if sample_weight is None else row_weights(sample_weight, len(truths))
        return 1.0 - float(np.average(losses_met, weights=weights))

    def most_violated(self, x: Any, y: Any, example: int | None = None) -> MostViolated:
        """Show the most violated output of one example at the learned weights.

        Parameters
        ----------
        x, y : the example.
        example : number of the example among those learned from, to be told only of its own
            cuts, which n-slack keeps; None: all cuts that bind.
        """
        check_is_fitted(self)
        loss, cuts = self._fitted_loss(), self.result_.cuts
        (narrow,) = narrowed([x], self.result_.columns)
        return most_violated(narrow, y, self.coef_, loss=loss, cuts=cuts, example=example, intercept=self._intercept())

    def _number_of_weights(self, columns: int) -> int | None:
        loss = self.loss_
        if not (isinstance(loss, ScoreLoss) and loss.reads_rows):
            return None
        rows = Rows.one_each(np.zeros((1, columns)))
        return loss.operator(WithIntercept(rows, self.intercept_scaling) if self.fit_intercept else rows).d

    def _take(self, result: Result) -> None:
        self.result_ = result
        self.coef_: Vector = result.w

    def _fitted_loss(self) -> ScoreLoss[Any] | Loss[Any, Any]:
        fitted: ScoreLoss[Any] | Loss[Any, Any] = self.loss_
        if isinstance(self.loss_, SavedLoss):
            fitted = self.loss_.restored(self.loss)
        return fitted

    def _intercept(self) -> float:
        return self.intercept_scaling if self.fit_intercept else 0.0

    def _remember(self, form: InputForm | None) -> None:
        """Set what `predict` compares with: nothing, where only the loss can say what inputs are."""
        if form is not None:
            self.n_features_in_, self._matrices = form
        elif hasattr(self, "n_features_in_"):
            del self.n_features_in_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def _listed(y: Any) -> list[Any]:
    """Return outputs, one an example, in a list."""
    try:
        return list(y)
    except TypeError:
        raise InputError(f"y must be a list of outputs, one an example, got {type(y).__name__}") from None
