"""Models of `StructuralSVM` and `LatentStructuralSVM`: weights of joint features."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

from attrs import field, frozen
from numpy.typing import NDArray

from structsvm.exceptions import InputError, ModelFileError
from structsvm.foundation.types import Vector
from structsvm.models.base import Parts, TrainedModel, at_limits
from structsvm.models.explanation import Explanation
from structsvm.models.training import Training


@frozen(eq=False, slots=False, kw_only=True)
class JointModel(TrainedModel):
    """Weights of joint features, shape (d,); ``n_features`` is 0 if inputs are not rows of features."""

    form: ClassVar[str] = "joint"
    array_names: ClassVar[tuple[str, ...]] = ()
    takes_sparse: ClassVar[bool] = True

    coef: Vector = field(repr=False)
    estimator_of: "Callable[[JointModel], Any] | None" = field(default=None, repr=False)
    """Function that restores the estimator, which has the loss; None: a model made by hand."""

    def predict(self, X: Any, qid: Any = None) -> Any:
        """Return the output of each input by the estimator and its loss, which load numba and scikit-learn."""
        if self.estimator_of is None:
            raise scores_no_rows(self.title)
        try:
            estimator = self.estimator_of(self)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ModelFileError(f"the record of its training is malformed: {error}") from None
        return estimator.predict(X)

    def parts(self) -> Parts:
        return Parts.of("weight", self.coef, "Features are the joint features of the loss.")

    def limits(self) -> "list[str | None]":
        return at_limits(self.coef, self.training.weight_limits(len(self.coef), None))

    @classmethod
    def read(cls, numbers: Mapping[str, Any], arrays: Mapping[str, Any], common: Mapping[str, Any]) -> Self:
        training: Training = common["training"]
        if training.result is None:
            raise ValueError("it has no result")
        return cls(coef=training.result.w, **common)

    def _arrays(self) -> dict[str, Any]:
        return {}

    def _scores(self, X: NDArray[Any], qid: Any) -> Vector:
        raise scores_no_rows(self.title)

    def _explained(self, X: NDArray[Any], qid: Any) -> Explanation:
        raise scores_no_rows(self.title)

    def explain(self, X: Any, qid: Any = None) -> Explanation:
        raise scores_no_rows(self.title)

    @property
    def _joint(self) -> bool:
        return True


def scores_no_rows(title: str) -> InputError:
    """Return the error for a model whose outputs are not scores of rows."""
    return InputError(f"{title} predicts outputs with its loss and joint features; it does not score rows")
