"""Check training data of structural SVMs: lists of inputs and outputs, or a matrix with an example in each row."""

from typing import Any, NamedTuple, Self

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import ArrayLike, NDArray

from structsvm.exceptions import InputError
from structsvm.features.operators import Operator
from structsvm.features.operators.matrix import is_finite, is_matrix
from structsvm.foundation.arrays import numbers, refusal, require_real
from structsvm.foundation.frames import PartNames, is_frame, read_graphs, read_inputs, rows_of_frame, without_masks
from structsvm.foundation.queries import require_finite_labels, row_weights
from structsvm.foundation.settings import as_list, require_kind
from structsvm.foundation.types import IntVector, Vector
from structsvm.losses import Loss, ScoreLoss
from structsvm.losses.shared.label_sets import indicator_matrix
from structsvm.models.drift import FeatureStatistics
from structsvm.problem.checks import number_of, require_pairs
from structsvm.training.data import TrainingData, column, read_features

OUTPUTS = "a list of outputs, one per example"


@frozen(eq=False, slots=False)
class ExampleData:
    """Inputs, true outputs and weights of examples, all checked by `of`; parts of them need no further checks.

    Parameters
    ----------
    owner : name of the estimator for messages.
    X, y, weight : inputs, true outputs and weights of examples; ``weight`` None: all 1.
    n_features : number of features of inputs that are matrices; None if only the loss can read them.
    matrices : True if each input is a matrix.
    names, edge_names : names of the features of rows or nodes, and of edges.
    inputs : X as the user gave it if it has names, else as checked; for estimators of other libraries.

    Examples
    --------
    >>> from structsvm.losses import ChainHamming
    >>> data = ExampleData.of("StructuralSVM", [[[1.0], [2.0]], [[3.0]]], [[0, 1], [1]], loss=ChainHamming())
    >>> data.n_features, data.matrices, data.subset(np.array([1])).y
    (1, True, [[1]])
    """

    owner: str
    X: Any
    y: Any
    weight: Vector | None = field(default=None, repr=False)
    n_features: int | None = None
    matrices: bool = False
    names: tuple[str, ...] | None = field(default=None, repr=False)
    edge_names: Any = field(default=None, repr=False)
    inputs: Any = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        owner: str,
        X: Any,
        y: Any,
        weight: ArrayLike | None = None,
        *,
        loss: ScoreLoss[Any] | Loss[Any, Any] | None,
    ) -> Self:
        """Check the arguments of a fit; ``loss`` None: a loss with latents, which reads inputs by itself."""
        require_kind("loss", loss, ScoreLoss | Loss | None, "a ScoreLoss, a Loss or None")
        ys: Any
        if loss is None:
            xs, ys = as_list("X", X, "a list of inputs"), as_list("y", y, OUTPUTS)
            return cls._paired(owner, X, xs, ys, weight)
        if y is None:
            raise InputError("StructuralSVM requires y to be passed, but the target y is None")
        if isinstance(X, Operator):
            require_rows(loss)
            ys = checked_outputs(y, loss) if loss.per_row else as_list("y", y, OUTPUTS)
            return cls(owner, X, ys, None if weight is None else row_weights(weight, len(ys), "example"), X.d, inputs=X)
        if loss.per_row:
            rows, columns, _, _ = read_features(owner, X)
            ys = checked_outputs(y, loss)
            return cls._paired(owner, X, rows, ys, weight, n_features=rows.shape[1], names=columns)
        ys = listed_outputs(y)
        xs, (names, edge_names) = without_frames(loss, X)
        # Without a form, only the loss can check inputs.
        form = InputForm.of(loss, xs)
        n_features = len(names) if form is None and names is not None else None
        n_features, matrices = (n_features, False) if form is None else form
        return cls._paired(
            owner, X, xs, ys, weight, n_features=n_features, matrices=matrices, names=names, edge_names=edge_names
        )

    @classmethod
    def _paired(cls, owner: str, inputs: Any, xs: Any, ys: Any, weight: Any, *, names: Any = None, **form: Any) -> Self:
        """Require as many inputs as outputs and weights."""
        require_pairs(number_of("X", xs), len(ys))
        weights = None if weight is None else row_weights(weight, len(ys), "example")
        names = None if names is None else tuple(map(str, names))
        inputs = xs if names is None else inputs
        inputs = inputs if hasattr(inputs, "shape") else as_list("X", inputs, "a list of inputs")
        return cls(owner, xs, ys, weights, names=names, inputs=inputs, **form)

    @property
    def groups(self) -> None:
        """None: examples are split one by one."""

    @property
    def units(self) -> str:
        """Plural of the word for the parts of folds."""
        return "examples"

    @property
    def extent(self) -> str:
        """Number of validation examples, in words."""
        return f"{len(self.y)} validation example{'' if len(self.y) == 1 else 's'}"

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of ``fit`` beside X and y."""
        return {} if self.weight is None else {"sample_weight": self.weight}

    def subset(self, numbers: IntVector) -> Self:
        """Return some of the examples."""
        return evolve(
            self,
            X=part_of(self.X, numbers),
            y=part_of(self.y, numbers),
            weight=None if self.weight is None else self.weight[numbers],
            inputs=part_of(self.inputs, numbers),
        )

    def statistics(self) -> FeatureStatistics | None:
        """Return statistics of features if every row is an example."""
        return TrainingData(self.owner, self.X, self.y).statistics(by_row=True)


def listed_outputs(y: Any) -> Any:
    """Return outputs as a list or an array; the outputs of a data frame are its rows."""
    if is_frame(y):
        y, _ = read_inputs(y)
    return y if isinstance(y, np.ndarray) and y.ndim else as_list("y", y, OUTPUTS)


def part_of(values: Any, numbers: IntVector) -> Any:
    """Return some rows of an array, a matrix or a data frame, or some items of a list."""
    if isinstance(values, list | tuple):
        return [values[k] for k in numbers.tolist()]
    return rows_of_frame(values, numbers) if is_frame(values) else values[numbers]


def require_rows(loss: Any) -> None:
    """Reject an operator if the loss reads features by itself."""
    if not loss.reads_rows:
        raise InputError(
            f"X is an operator, but {loss.title} reads its inputs itself: give a list of inputs, one per example"
        )


def checked_outputs(y: Any, loss: Any) -> NDArray[Any]:
    """Return the outputs of rows that are one example each: of any type, or an indicator matrix."""
    if loss.multilabel:
        return indicator_matrix(y)
    require_real(y, "y", dates=True)
    try:
        outputs = column(y)
    except (TypeError, ValueError) as error:
        raise refusal(error, f"y must have one label per row: {error}") from None
    require_finite_labels(outputs)
    return outputs


def without_frames(
    loss: ScoreLoss[Any] | Loss[Any, Any], xs: Any, names: PartNames = (None, None), owner: str = ""
) -> tuple[Any, PartNames]:
    """Replace data frames among inputs by arrays, as `read_inputs`, unless the loss reads inputs by itself.

    Without ``names``, the first frame has them.
    """
    if loss.reads_graphs:
        return read_graphs(xs, names, owner)
    if not loss.reads_rows:
        return xs, names
    nodes, edges = names
    xs, nodes = read_inputs(xs, nodes, owner)
    return xs, (nodes, edges)


class InputForm(NamedTuple):
    """The form of inputs that are matrices: a list of them, or vectors; `predict` requires the form of `fit`."""

    n_features: int
    matrices: bool

    @classmethod
    def of(cls, loss: ScoreLoss[Any] | Loss[Any, Any], xs: Any) -> Self | None:
        """Return the form of the inputs of `fit`; None if the loss reads inputs by itself (``reads_rows`` is False)."""
        # Another check reports an empty list.
        if not _reads_rows(loss, xs) or _number_of(xs) == 0:
            return None
        shapes = _shapes(xs)
        if not shapes[0]:
            return None
        return cls(shapes[0][-1], not is_matrix(xs) and all(len(shape) == 2 for shape in shapes))


def require_form(owner: str, form: InputForm | None, loss: ScoreLoss[Any] | Loss[Any, Any], xs: Any) -> None:
    """Require inputs of the form that `InputForm.of` returned in `fit`."""
    if not _reads_rows(loss, xs) or form is None:
        return
    if _number_of(xs) == 0:
        raise InputError("there is no input to predict an output for")
    if form.matrices and len(getattr(xs, "shape", ())) == 2:
        raise InputError(
            f"X is a single matrix, of shape {tuple(xs.shape)}, but {owner} was fitted with a list of matrices, one "
            "per example: put it in a list, as in predict([x])"
        )
    shapes = _shapes(xs)
    if not all(shapes) or len({shape[-1] for shape in shapes}) > 1:
        # The loss refuses these inputs and names the faulty one.
        return
    for i, shape in enumerate(shapes):
        if shape[-1] != form.n_features:
            which = "X" if is_matrix(xs) else f"X[{i}]"
            raise InputError(f"{which} has {shape[-1]} features, but {owner} is expecting {form.n_features}, as in fit")
        if form.matrices and len(shape) < 2:
            raise InputError(
                f"X[{i}] has shape {shape}, and {owner} was fitted with a matrix for each example, one row a position: "
                "X is a list of matrices, as in predict([x]) for one; a matrix of one row is x[None, :]"
            )


def _reads_rows(loss: ScoreLoss[Any] | Loss[Any, Any], xs: Any) -> bool:
    """Return True if the loss leaves reading inputs to the engine; refuse anything but several inputs."""
    if getattr(xs, "shape", None) == () or not (hasattr(xs, "shape") or hasattr(xs, "__len__")):
        raise InputError(f"X must be a list of inputs, or a matrix with one per row, got {type(xs).__name__}")
    return loss.reads_rows


def _number_of(xs: Any) -> int:
    return int(xs.shape[0]) if hasattr(xs, "shape") else len(xs)


def _shapes(xs: Any) -> list[tuple[int, ...]]:
    """Return the shape of a matrix, or of each input; () for inputs that are not matrices of numbers."""
    return [_shape(x) for x in ([xs] if is_matrix(xs) else without_masks(xs)[0])]


def _shape(x: Any) -> tuple[int, ...]:
    if hasattr(x, "toarray") or is_finite(x):
        return tuple(x.shape)
    try:
        return numbers(x, "X").shape
    except InputError:
        return ()
