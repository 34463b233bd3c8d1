"""A structural SVM for any loss, on lists of examples."""

# `help` then shows types by name instead of as long unions.
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from attrs import evolve
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from structsvm.estimators.fitting import ConvexEstimator, Objective
from structsvm.estimators.inputs import (
    InputForm,
    checked_features,
    checked_outputs,
    features_as_fitted,
    keep_names,
    require_form,
    without_frames,
)
from structsvm.estimators.parameters import is_plain, regularized, require_settings, solver_of
from structsvm.estimators.trained import NONE, Arrays, CertifiedEstimator
from structsvm.estimators.written_settings import SavedLoss
from structsvm.exceptions import InputError
from structsvm.features.operators import Operator, Rows
from structsvm.features.operators.composed import WithIntercept
from structsvm.features.operators.occupied import narrowed, occupied
from structsvm.foundation.compute.threads import using
from structsvm.foundation.frames import PartNames
from structsvm.foundation.queries import row_weights
from structsvm.foundation.settings import as_list
from structsvm.foundation.types import Vector
from structsvm.losses import Loss, ScoreLoss
from structsvm.losses.shared.label_sets import label_array
from structsvm.losses.user_methods import at_example
from structsvm.models.joint import JointModel
from structsvm.problem import Problem, most_violated
from structsvm.problem.checks import require_pairs
from structsvm.problem.coordinates import Bounds
from structsvm.problem.violated import MostViolated
from structsvm.registry import losses
from structsvm.registry.capabilities import Capabilities
from structsvm.result import Result
from structsvm.solvers import Solver
from structsvm.solvers.checkpoint import CheckpointPath
from structsvm.solvers.state import Callback

_OUTPUTS = "a list of outputs, one per example"


class JointEstimator(CertifiedEstimator):
    """An estimator of the weights of joint features, stored in a `JointModel`."""

    _form = JointModel
    _restores_loss = True

    model_: JointModel
    loss: Any

    @property
    def coef_(self) -> Vector:
        """Joint weights, shape (d,)."""
        return self.model_.coef

    def _take(self, result: Result, arrays: Arrays = NONE) -> None:
        """Set ``model_`` from the result of a solver."""
        names = getattr(self, "feature_names_in_", None)
        self.model_ = JointModel(
            n_features=getattr(self, "n_features_in_", 0),
            feature_names=None if names is None else tuple(map(str, names)),
            coef=result.w,
            estimator_of=type(self).from_model,
            training=self._training(result, arrays),
        )

    def _restore(self) -> None:
        super()._restore()
        self.model_ = evolve(self.model_, estimator_of=type(self).from_model)

    def _checked(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return the inputs and outputs of `fit`, and set the attributes that depend on them alone."""
        xs, ys = as_list("X", X, "a list of inputs"), as_list("y", y, _OUTPUTS)
        require_pairs(len(xs), len(ys))
        return xs, ys

    def _fitted_loss(self) -> Any:
        """Return the fitted loss; of a model from a file, the class of a user's loss must be in ``loss``."""
        return self.loss_.restored(self.loss) if isinstance(self.loss_, SavedLoss) else self.loss_


def one_minus_mean(losses: Sequence[float], sample_weight: ArrayLike | None) -> float:
    """Return one minus the weighted mean of the losses of examples."""
    weights = None if sample_weight is None else row_weights(sample_weight, len(losses))
    return 1.0 - float(np.average(losses, weights=weights))


class StructuralSVM(JointEstimator, ConvexEstimator):
    """A structural SVM: learns to predict outputs of any kind, such as rankings, sequences or sets of labels.

    Minimizes ``½‖w‖² + (C/n) Σ_i κ_i max_ŷ [Δ(y_i, ŷ) − w·(Ψ(x_i, y_i) − Ψ(x_i, ŷ))]``
    (Tsochantaridis, Joachims, Hofmann and Altun, JMLR 2005, with margin rescaling).

    Parameters
    ----------
    loss : the loss, by name or as an object: a `ScoreLoss` or a generic `Loss`.
    C, solver, tol, max_iter, center, feature_penalty, warm_start, n_jobs : as in `Ranker`.
    fit_intercept : add a constant feature to every row. Not for a generic `Loss`.
    intercept_scaling : value of the constant feature, whose weight is regularized like all weights.
    bounds : smallest and largest joint weights, as in `Ranker`; they include the weight of the constant feature. The
        loss may also bound weights (`Loss.weight_bounds`).

    Attributes
    ----------
    coef_ : joint weights, shape (d,), including the weight of the constant feature. If X is sparse and most of its
        columns, more than 1000, are empty, only the weights of ``result_.columns``.
    classes_ : the classes, sorted, if the loss is ``zero_one`` or ``multiclass``.
    loss_ : the loss, completed from the training data (with the classes, for example).
    result_ : `Result` with both bounds, status and history.
    n_features_in_ : number of features, if inputs are matrices or rows of one.

    Examples
    --------
    >>> model = StructuralSVM("multiclass", C=10).fit([[1.0, 0.0], [0.0, 1.0]], ["cat", "dog"])
    >>> model.predict([[0.9, 0.1]]).tolist()
    ['cat']
    """

    capabilities = Capabilities(has_path=True, has_certificate=True, takes_sparse=True)

    _saved_as = "StructuralSVM"
    _kept: ClassVar[Mapping[str, Any]] = {"_matrices": bool, "_edge_names": tuple}
    _matrices = False
    _edge_names: Sequence[str] | None = None

    def __init__(
        self,
        loss: str | ScoreLoss[Any] | Loss[Any, Any] = "multiclass",
        C: float = 1.0,
        *,
        solver: str | Solver = "auto",
        tol: float | None = None,
        max_iter: int | None = None,
        fit_intercept: bool = False,
        intercept_scaling: float = 1.0,
        center: ArrayLike | None = None,
        feature_penalty: ArrayLike | None = None,
        bounds: Bounds | None = None,
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
        self.center = center
        self.feature_penalty = feature_penalty
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
        X : inputs, as the loss reads them: a list, or a matrix with one example per row. A loss that reads rows of
            features also accepts an `Operator` with one score per row.
        y : true outputs.
        sample_weight : example weights κ, shape (n,).
        callback, checkpoint : as in `Ranker.fit`.

        Warns
        -----
        CheckpointWarning, ConvergenceWarning, ZeroWeightsWarning : as `Ranker.fit`.
        """
        return self._fit((X, y, sample_weight), callback, checkpoint)

    def path(
        self,
        X: Any,
        y: Sequence[Any],
        Cs: ArrayLike = (1.0, 10.0, 100.0, 1000.0),
        sample_weight: ArrayLike | None = None,
        callback: Callback | None = None,
        checkpoint: CheckpointPath | None = None,
    ) -> list[Self]:
        """Learn at several values of C, each from the previous result, which is faster than separate fits.

        Parameters
        ----------
        X, y, sample_weight, callback : as in `fit`.
        Cs : the values, in any order; fits are in ascending order.
        checkpoint : as in `Ranker.path`.

        Returns
        -------
        A list of fitted estimators, one for each value, in the order of ``Cs``. If Ctrl-C or the callback ends the path
        early, the list has the values reached. This estimator is unchanged.
        """
        return self._path((X, y, sample_weight), Cs, callback, checkpoint)

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes of a loss of classes."""
        return label_array(self.loss_.classes)

    def predict(self, X: Any) -> Any:
        """Return the predicted output of each input, as a list, or as an array if every row is an example."""
        check_is_fitted(self)
        loss = self._fitted_loss()
        if isinstance(X, Operator):
            self._require_rows(loss)
            xs: Any = X
        elif loss.per_row:
            xs = narrowed(features_as_fitted(self, X), self.result_.columns)
        else:
            form = InputForm(self.n_features_in_, self._matrices) if hasattr(self, "n_features_in_") else None
            X, _ = without_frames(loss, X, self._names(), f"{type(self).__name__} was fitted with")
            require_form(self, form, loss, X)
            xs = narrowed(X, self.result_.columns)
        with using(self.n_jobs):
            found = loss.predict(xs, self.coef_, self._intercept())
        if loss.multilabel:
            return np.stack(found)
        return label_array(found) if loss.per_row else found

    def score(self, X: Any, y: Sequence[Any], sample_weight: ArrayLike | None = None) -> float:
        """Return one minus the mean loss of the predictions; for the zero-one loss, this is the accuracy.

        Labels that training did not see count as wrong.
        """
        predicted, loss = self.predict(X), self._fitted_loss()
        truths = list(checked_outputs(y, loss)) if loss.per_row else as_list("y", y, _OUTPUTS)
        require_pairs(len(predicted), len(truths))
        pairs = enumerate(zip(truths, predicted, strict=True))
        met = [at_example(i, loss.loss, truth, y_hat) for i, (truth, y_hat) in pairs]
        return one_minus_mean(met, sample_weight)

    def most_violated(self, x: Any, y: Any, example: int | None = None) -> MostViolated:
        """Show the most violated output of one example at the learned weights.

        Parameters
        ----------
        x, y : the example.
        example : number of the training example, to report only its own cuts, which only n-slack stores. None: report
            all cuts.
        """
        check_is_fitted(self)
        loss, cuts = self._fitted_loss(), self.result_.cuts
        xs, _ = without_frames(loss, [x], self._names(), f"{type(self).__name__} was fitted with")
        (narrow,) = narrowed(xs, self.result_.columns)
        return most_violated(narrow, y, self.coef_, loss=loss, cuts=cuts, example=example, intercept=self._intercept())

    def _checked(self, X: Any, y: Any) -> tuple[Any, Any]:
        require_settings(self)
        loss = losses.create(self.loss)
        self._statistics = None
        if y is None:
            raise InputError("StructuralSVM requires y to be passed, but the target y is None")
        if isinstance(X, Operator):
            self._require_rows(loss)
            keep_names(self, None)
            self.n_features_in_, self._matrices = X.d, False
            return X, checked_outputs(y, loss) if loss.per_row else as_list("y", y, _OUTPUTS)
        if loss.per_row:
            rows = checked_features(self, X, statistics=True)
            return rows, checked_outputs(y, loss)
        ys = y if isinstance(y, np.ndarray) and y.ndim else as_list("y", y, _OUTPUTS)
        X, (names, self._edge_names) = without_frames(loss, X)
        keep_names(self, names)
        # Without a form, only the loss can check inputs.
        form = InputForm.of(loss, X)
        if form is not None:
            self.n_features_in_, self._matrices = form
        elif names is not None:
            self.n_features_in_ = len(names)
        elif hasattr(self, "n_features_in_"):
            del self.n_features_in_
        return X, ys

    def _names(self) -> PartNames:
        return getattr(self, "feature_names_in_", None), self._edge_names

    def _objective(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> Objective:
        xs, ys = self._checked(X, y)
        loss, solver = losses.create(self.loss), solver_of(self)
        self.loss_ = loss.bind_outputs(ys)
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
        problem = regularized(self, problem, intercept=False)
        return Objective(problem, solver, self.loss, columns=columns)

    def _require_rows(self, loss: Any) -> None:
        """Reject an operator if the loss reads features by itself."""
        if not loss.reads_rows:
            raise InputError(
                f"X is an operator, but {loss.title} reads its inputs itself: give a list of inputs, one per example"
            )

    def _finish(self, objective: Objective, result: Result) -> None:
        self._take(result)

    def _restore(self) -> None:
        super()._restore()
        loss, result, d = self.loss_, self.result_, self.model_.n_features
        if not (isinstance(loss, ScoreLoss) and loss.reads_rows and d):
            return
        columns = d if result.columns is None else len(result.columns)
        if columns > len(result.w):
            raise ValueError(f"{len(result.w)} weights are too few for {columns} features")
        rows = Rows.one_row_per_example(np.zeros((1, columns)))
        d = loss.operator(WithIntercept(rows, self.intercept_scaling) if self.fit_intercept else rows).d
        if d != len(result.w):
            raise ValueError(f"there are {len(result.w)} weights, but the loss needs {d} for these features")

    def _intercept(self) -> float:
        return self.intercept_scaling if self.fit_intercept else 0.0

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags
