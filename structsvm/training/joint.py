"""The objective of structural SVMs: any loss over lists of examples."""

from typing import Any

from attrs import frozen

from structsvm.features.operators.occupied import narrowed, occupied
from structsvm.foundation.settings import require_kind
from structsvm.losses import Loss, ScoreLoss
from structsvm.models.joint import JointModel
from structsvm.problem import Problem
from structsvm.result import Result
from structsvm.solvers import Solver
from structsvm.training.examples import ExampleData
from structsvm.training.objective import Objective, Spec
from structsvm.training.regularizer import Regularizer


@frozen(eq=False)
class JointSpec(Spec):
    """Settings of a structural SVM; ``named_loss`` is the loss as the user gave it."""

    owner: str
    named_loss: str | ScoreLoss[Any] | Loss[Any, Any]
    loss: ScoreLoss[Any] | Loss[Any, Any]
    C: float
    solver: Solver
    regularizer: Regularizer
    intercept: float = 0.0
    n_jobs: int | None = None

    def data(self, X: Any, y: Any, weight: Any = None) -> ExampleData:
        """Check inputs, outputs and weights of examples."""
        return ExampleData.of(self.owner, X, y, weight, loss=self.loss)

    def objective(self, data: ExampleData) -> Objective:
        """Return the objective over examples, with the loss completed from their outputs."""
        require_kind("data", data, ExampleData, "a result of ExampleData.of")
        loss: Any = self.loss.bind_outputs(data.y)
        columns = occupied(data.X) if loss.reads_rows and self.regularizer.plain else None
        problem = Problem.from_examples(
            narrowed(data.X, columns),
            data.y,
            loss=loss,
            C=self.C,
            sample_weight=data.weight,
            intercept=self.intercept,
            n_jobs=self.n_jobs,
        )
        return Objective(
            self.regularizer.applied(problem, None),
            self.solver,
            self.named_loss,
            lambda result: joint_model(data, result),
            facts={"loss_": loss, "_matrices": data.matrices, "_edge_names": data.edge_names},
            statistics=data.statistics if loss.per_row else lambda: None,
            columns=columns,
        )


def joint_model(data: ExampleData, result: Result) -> JointModel:
    """Return the model of the joint weights of a result."""
    return JointModel(n_features=data.n_features or 0, feature_names=data.names, coef=result.w)
