"""The objective of linear rankers: a loss of the queries' rankings over weighted sums of features."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from attrs import evolve, frozen
from numpy.typing import ArrayLike

from structsvm.exceptions import InputError, brief
from structsvm.features.operators import Operator
from structsvm.features.operators.occupied import narrowed, occupied
from structsvm.features.scaling.scalings import Scaling
from structsvm.foundation.queries import row_weights
from structsvm.foundation.settings import is_number, place, require_kind
from structsvm.foundation.types import IntVector, Vector
from structsvm.losses import Loss, ScoreLoss
from structsvm.models.drift import FeatureStatistics
from structsvm.models.linear import LinearModel
from structsvm.problem import Problem
from structsvm.problem.base import AbstractProblem
from structsvm.registry import losses
from structsvm.result import Result
from structsvm.solvers import Solver
from structsvm.training.data import TrainingData
from structsvm.training.filling import without_missing
from structsvm.training.objective import Objective, Spec
from structsvm.training.regularizer import Regularizer
from structsvm.training.scaling import scaled


@frozen(eq=False)
class RankingSpec(Spec):
    """Settings of a linear ranker; ``named_loss`` is the loss as the user gave it."""

    owner: str
    named_loss: str | ScoreLoss[Any]
    loss: ScoreLoss[Any]
    C: float
    solver: Solver
    regularizer: Regularizer
    normalize: str | None = None
    missing: str | float | None = None
    intercept: float = 0.0
    class_weight: dict[Any, float] | str | None = None
    n_jobs: int | None = None

    def data(self, X: Any, y: Any, qid: Any = None, weight: Any = None) -> TrainingData:
        """Check features, labels, query ids and weights of rows."""
        return TrainingData.of(self.owner, X, y, qid, weight, missing=self.missing is not None)

    def objective(self, data: TrainingData) -> Objective:
        """Return the objective over the rows of a matrix, or over an operator with one score per row."""
        require_kind("data", data, TrainingData, "a result of TrainingData.of")
        loss, columns, scaling, fill = self.loss, None, None, None
        rows: Any = data.X
        if isinstance(rows, Operator):
            if self.normalize is not None:
                raise InputError(
                    f"normalize={self.normalize!r} needs a feature matrix, but X is an operator, "
                    f"{type(rows).__name__}: set normalize=None and normalize in the operator"
                )
        else:
            if not (loss.per_row or loss.of_one_sample):
                data.warn_of_one_query()
            rows, fill = without_missing(self.owner, self.missing, rows, data.names)
            rows, scaling = scaled(self.owner, self.normalize, rows, lambda: data.queries, data.weight, data.names)
            columns = occupied(rows) if self.regularizer.plain else None
            rows = narrowed(rows, columns)
        problem = Problem.from_queries(
            rows,
            data.y,
            data.qid,
            loss=loss,
            C=self.C,
            sample_weight=self._weights_of_rows(data.y, data.weight),
            intercept=self.intercept,
            n_jobs=self.n_jobs,
        )
        objective = self.over(
            problem,
            data.n_features,
            data.names,
            columns=columns,
            scaling=scaling,
            fill=fill,
            with_qid=data.qid is not None,
            statistics=lambda: data.statistics(by_row=loss.per_row),
        )
        return evolve(objective, categories=data.categories)

    def over(
        self,
        problem: AbstractProblem,
        n_features: int,
        names: Sequence[str] | None,
        *,
        columns: IntVector | None,
        scaling: Scaling | None,
        fill: Vector | None = None,
        with_qid: bool,
        statistics: Callable[[], FeatureStatistics | None],
    ) -> Objective:
        """Return the regularized objective of a problem over ``columns`` of the features."""
        used = n_features if columns is None else len(columns)
        # Refuse a loss that claims to score rows, but whose operator does not have one weight per feature.
        if problem.d != used + bool(self.intercept):
            raise not_one_score(self.named_loss)
        problem = self.regularizer.applied(problem, names, intercept=bool(self.intercept))
        return Objective(
            problem,
            self.solver,
            self.named_loss,
            linear_form(n_features, names, scaling, fill, self.intercept),
            facts={
                "loss_": problem.loss,
                "n_examples_": problem.used,
                "n_left_out_": problem.left_out,
                "_fitted_with_qid": with_qid,
            },
            statistics=statistics,
            ranks=True,
            n_features=n_features,
            columns=columns,
        )

    def _weights_of_rows(self, y: Vector, weight: Vector | None) -> ArrayLike | None:
        """Return the weights of rows, multiplied by the weights of their classes."""
        if self.class_weight is None:
            return weight
        from sklearn.utils import compute_sample_weight

        setting = self.weights_of_classes(y)
        balanced = not isinstance(setting, dict)
        weights: Vector = compute_sample_weight(setting, np.where(y > 0, 1, -1) if balanced else y)
        return weights if weight is None else weights * row_weights(weight, len(y))

    def weights_of_classes(self, y: Vector) -> dict[Any, float] | str | None:
        """Return ``class_weight``, checked against the loss and the labels."""
        if self.class_weight is not None and not self.loss.per_row:
            raise InputError(
                f"class_weight is for losses whose examples are rows, and {self.named_loss!r} learns from queries: "
                "use sample_weight to weight queries"
            )
        _require_class_weight(place(self.owner, "class_weight"), self.class_weight, y)
        return self.class_weight


def linear_form(
    n_features: int, names: Sequence[str] | None, scaling: Scaling | None, fill: Vector | None, intercept: float = 0.0
) -> Callable[[Result], LinearModel]:
    """Return the function that makes a model of a result, whose last weight may belong to a constant ``intercept``."""

    def model(result: Result) -> LinearModel:
        coef, constant = parted(result.full_coef(n_features), intercept)
        return LinearModel(
            n_features=n_features,
            feature_names=None if names is None else tuple(names),
            coef=coef,
            intercept=constant,
            scaling=scaling,
            fill=fill,
            columns=result.columns,
        )

    return model


def parted(w: Vector, intercept: float) -> tuple[Vector, float]:
    """Split a solver's weights into the weights of features and the constant part of scores."""
    return (w[:-1], float(w[-1] * intercept)) if intercept else (w, 0.0)


def ranking_loss(owner: str, loss: Any) -> ScoreLoss[Any]:
    """Return the loss of a ranker, which must give each row one score."""
    created: ScoreLoss[Any] | Loss[Any, Any] = losses.create(loss)
    if isinstance(created, Loss):
        raise InputError(
            f"{place(owner, 'loss')} must be a ScoreLoss, which sees the scores of documents; "
            f"{type(created).__name__} is a Loss with joint features: use StructuralSVM"
        )
    if not created.scores_rows:
        raise not_one_score(loss)
    return created


def not_one_score(loss: Any) -> InputError:
    """Return the error for a ranker's loss that does not give each row one score."""
    return InputError(
        f"the loss {loss!r} does not give each row one score, but a ranker needs these scores: use StructuralSVM"
    )


def _require_class_weight(what: str, setting: Any, y: Vector) -> None:
    if setting is None or (isinstance(setting, str) and setting == "balanced"):
        return
    if not isinstance(setting, dict):
        raise InputError(f"{what} must be {{label: weight}}, 'balanced' or None, got {brief(setting)}")
    for label, weight in setting.items():
        if not is_number(weight, at_least=0.0):
            raise InputError(
                f"{what} must have weights that are finite and not negative, got {brief(weight)} for {label!r}"
            )
    labels = np.unique(y).tolist()
    strange = [label for label in setting if label not in labels]
    bare = [label for label in labels if label not in setting]
    # Weights of absent labels are harmless if every label in y has a weight.
    if strange and bare:
        raise InputError(f"{what} has weights for {strange}, which do not occur in y, but not for {bare}, which do")
