"""A structural SVM for any loss, on lists of examples."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from attrs import define, field
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from structsvm import training
from structsvm.estimators import saving
from structsvm.estimators.arguments import own_init
from structsvm.estimators.display import notebook_display
from structsvm.estimators.fits import path_of, start_of
from structsvm.estimators.parameters import intercept_of, require_settings, solver_of
from structsvm.estimators.saving import Stored, adopt, result_of
from structsvm.estimators.written_settings import SavedLoss
from structsvm.features.operators import Operator, Rows
from structsvm.features.operators.composed import WithIntercept
from structsvm.features.operators.occupied import narrowed
from structsvm.foundation.compute.threads import using
from structsvm.foundation.frames import PartNames
from structsvm.foundation.queries import row_weights
from structsvm.foundation.types import Vector
from structsvm.losses import Loss, ScoreLoss
from structsvm.losses.shared.label_sets import label_array
from structsvm.losses.user_methods import at_example
from structsvm.models.base import TrainedModel
from structsvm.models.joint import JointModel
from structsvm.problem import most_violated
from structsvm.problem.checks import require_pairs
from structsvm.problem.coordinates import Bounds
from structsvm.problem.violated import MostViolated
from structsvm.registry import losses
from structsvm.registry.capabilities import Capabilities
from structsvm.solvers import Solver
from structsvm.solvers.checkpoint import CheckpointPath
from structsvm.solvers.state import Callback
from structsvm.training.data import features_as_fitted
from structsvm.training.examples import (
    InputForm,
    checked_outputs,
    listed_outputs,
    require_form,
    require_rows,
    without_frames,
)
from structsvm.training.joint import JointSpec
from structsvm.training.regularizer import Regularizer


class JointEstimator(BaseEstimator):
    """Base of estimators of the weights of joint features, which are stored in a `JointModel`."""

    model_: JointModel
    loss: Any
    gap_unit_: float = 1.0

    def __init_subclass__(cls, **settings: Any) -> None:
        """Let Python's messages about arguments name the class."""
        super().__init_subclass__(**settings)
        own_init(cls)

    save = saving.save
    _repr_mimebundle_ = notebook_display

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model that `save` wrote; see `Ranker.load`."""
        return saving.load(cls, path)

    @classmethod
    def from_model(cls, model: TrainedModel) -> Self:
        """Make the estimator that trained a model; see `Ranker.from_model`."""
        return saving.from_model(cls, model)

    result_ = property(saving.result)
    trained_ = property(saving.trained)

    @property
    def coef_(self) -> Vector:
        """Joint weights, shape (d,)."""
        return self.model_.coef

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def fitted_loss(estimator: Any) -> Any:
    """Return the loss of a fit; for a model from a file, the class of a user's loss must be in ``loss``."""
    loss = estimator.loss_
    return loss.restored(estimator.loss) if isinstance(loss, SavedLoss) else loss


def one_minus_mean(losses: Sequence[float], sample_weight: ArrayLike | None) -> float:
    """Return one minus the weighted mean of the losses of examples."""
    weights = None if sample_weight is None else row_weights(sample_weight, len(losses))
    return 1.0 - float(np.average(losses, weights=weights))


def _restore(svm: Any) -> None:
    """Require as many weights as the loss needs for the features."""
    loss, result, d = svm.loss_, result_of(svm), svm.model_.n_features
    if not (isinstance(loss, ScoreLoss) and loss.reads_rows and d):
        return
    columns = d if result.columns is None else len(result.columns)
    if columns > len(result.w):
        raise ValueError(f"{len(result.w)} weights are too few for {columns} features")
    rows = Rows.one_row_per_example(np.zeros((1, columns)))
    d = loss.operator(WithIntercept(rows, svm.intercept_scaling) if svm.fit_intercept else rows).d
    if d != len(result.w):
        raise ValueError(f"there are {len(result.w)} weights, but the loss needs {d} for these features")


@define(slots=False, eq=False, repr=False)
class StructuralSVM(JointEstimator):
    """A structural SVM: learns to predict outputs of any kind, such as rankings, sequences or sets of labels.

    Minimizes ``½‖w‖² + (C/n) Σ_i κ_i max_ŷ [Δ(y_i, ŷ) − w·(Ψ(x_i, y_i) − Ψ(x_i, ŷ))]``
    over n examples with weights κ_i (margin rescaling; Tsochantaridis, Joachims, Hofmann and Altun, JMLR 2005).

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
    coef_ : joint weights, shape (d,), including the weight of the constant feature. If X is sparse with more than 1000
        columns, most of them empty, only the weights of ``result_.columns``.
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
    stored: ClassVar[Stored] = Stored(
        "StructuralSVM", JointModel, {"_matrices": bool, "_edge_names": tuple}, _restore, any_loss=True
    )
    _matrices = False
    _edge_names: ClassVar[Sequence[str] | None] = None

    loss: str | ScoreLoss[Any] | Loss[Any, Any] = "multiclass"
    C: float = 1.0
    solver: str | Solver = field(default="auto", kw_only=True)
    tol: float | None = field(default=None, kw_only=True)
    max_iter: int | None = field(default=None, kw_only=True)
    fit_intercept: bool = field(default=False, kw_only=True)
    intercept_scaling: float = field(default=1.0, kw_only=True)
    center: ArrayLike | None = field(default=None, kw_only=True)
    feature_penalty: ArrayLike | None = field(default=None, kw_only=True)
    bounds: Bounds | None = field(default=None, kw_only=True)
    warm_start: bool = field(default=False, kw_only=True)
    n_jobs: int | None = field(default=None, kw_only=True)

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
        spec = self.spec()
        data = spec.data(X, y, sample_weight)
        return adopt(self, training.fit(data, spec, start=start_of(self), callback=callback, checkpoint=checkpoint))

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
        return path_of(self, (X, y, sample_weight), Cs, callback, checkpoint)

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes of a loss of classes."""
        return label_array(self.loss_.classes)

    def predict(self, X: Any) -> Any:
        """Return the predicted output of each input, as a list, or as an array if every row is an example."""
        check_is_fitted(self)
        loss = fitted_loss(self)
        if isinstance(X, Operator):
            require_rows(loss)
            xs: Any = X
        elif loss.per_row:
            xs = narrowed(features_as_fitted(self, X), self.result_.columns)
        else:
            form = InputForm(self.n_features_in_, self._matrices) if hasattr(self, "n_features_in_") else None
            X, _ = without_frames(loss, X, self._names(), f"{type(self).__name__} was fitted with")
            require_form(type(self).__name__, form, loss, X)
            xs = narrowed(X, self.result_.columns)
        with using(self.n_jobs):
            outputs = loss.predict(xs, self.coef_, intercept_of(self))
        if loss.multilabel:
            return np.stack(outputs)
        return label_array(outputs) if loss.per_row else outputs

    def score(self, X: Any, y: Sequence[Any], sample_weight: ArrayLike | None = None) -> float:
        """Return one minus the mean loss of the predictions; for the zero-one loss, this is the accuracy.

        Labels that training did not see count as wrong.
        """
        predicted, loss = self.predict(X), fitted_loss(self)
        truths = list(checked_outputs(y, loss)) if loss.per_row else listed_outputs(y)
        require_pairs(len(predicted), len(truths))
        pairs = enumerate(zip(loss.truths(X, truths), predicted, strict=True))
        values = [at_example(i, loss.loss, truth, y_hat) for i, (truth, y_hat) in pairs]
        return one_minus_mean(values, sample_weight)

    def most_violated(self, x: Any, y: Any, example: int | None = None) -> MostViolated:
        """Show the most violated output of one example at the learned weights.

        Parameters
        ----------
        x, y : the example.
        example : number of a training example, to report only its binding cuts. Only n-slack stores them. None: report
            all binding cuts.
        """
        check_is_fitted(self)
        loss, cuts = fitted_loss(self), self.result_.cuts
        xs, _ = without_frames(loss, [x], self._names(), f"{type(self).__name__} was fitted with")
        (narrow,) = narrowed(xs, self.result_.columns)
        return most_violated(narrow, y, self.coef_, loss=loss, cuts=cuts, example=example, intercept=intercept_of(self))

    def spec(self) -> JointSpec:
        """Return the checked settings of a fit."""
        require_settings(self)
        return JointSpec(
            owner=type(self).__name__,
            named_loss=self.loss,
            loss=losses.create(self.loss),
            C=self.C,
            solver=solver_of(self),
            regularizer=Regularizer.of(self),
            intercept=intercept_of(self),
            n_jobs=self.n_jobs,
        )

    def _names(self) -> PartNames:
        return getattr(self, "feature_names_in_", None), self._edge_names
