"""Base classes of losses, which define a loss, its argmax and its prediction."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from itertools import permutations
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from attrs import frozen

from structsvm.exceptions import InputError
from structsvm.features.operators import Operator, Rows
from structsvm.features.operators.base import require_finite_scores, scores_of_examples
from structsvm.features.operators.composed import WithIntercept, WithShared
from structsvm.features.operators.matrix import Readable
from structsvm.foundation.types import BoolVector, IntVector, Vector
from structsvm.inference.sets import Bounded
from structsvm.losses.user_methods import call_method, is_finite_input, is_sparse_vector, joint_features, output_of

X = TypeVar("X")
Y = TypeVar("Y")


@frozen(eq=False)
class Examples:
    """A training set for solvers: bound loss, operator, and true outputs, in an array if they are numbers.

    ``weights`` (n,) are κ, None for 1. ``usable`` (n,) marks the examples that the loss can learn from, None for all.
    With ``of_queries``, any few documents of an example form a query too.
    """

    loss: "ScoreLoss[Any]"
    operator: Operator
    ys: Sequence[Any]
    weights: Vector | None = None
    usable: BoolVector | None = None
    of_queries: bool = False

    @property
    def ptr(self) -> IntVector:
        """First score of each example, shape (n + 1,)."""
        return self.operator.ptr

    @property
    def sizes(self) -> IntVector:
        """Number of scores of each example, including scores that all examples share, shape (n,)."""
        return np.diff(self.operator.ptr) + self.operator.shared

    def usable_indices(self) -> IntVector:
        """Return the indices of the usable examples, ascending."""
        return np.arange(len(self.ys)) if self.usable is None else np.flatnonzero(self.usable)


class StructuredLoss(ABC, Generic[Y]):
    """The properties that `Loss` shares with `ScoreLoss`, which describes them."""

    per_row: ClassVar[bool] = False
    multilabel: ClassVar[bool] = False
    reads_rows: ClassVar[bool] = True
    scores_rows: ClassVar[bool] = True
    of_one_sample: ClassVar[bool] = False
    reads_graphs: ClassVar[bool] = False
    exact: ClassVar[bool] = True
    bounded: ClassVar[bool] = False
    unreachable_truths: ClassVar[bool] = False
    check_before_fit: ClassVar[bool] = True

    behind_at: ClassVar[str] = "k"
    """The setting that follows ``@`` in names of the loss, if it has that setting."""

    checked_by: ClassVar[str] = "structsvm.testing.check_loss"
    """Name of the function that checks such losses, for messages."""

    def weight_bounds(self, d: int) -> tuple[Vector, Vector] | None:
        """Return the smallest and largest weights for which the argmax is right, shape (d,) each; None if it always is.

        ``check_loss`` and fits stay within these bounds; infinite values mean no bound. Graph cuts, for example,
        require that neighbors with equal labels have a weight of at least 0.
        """
        return None

    def bind(self, ys: Sequence[Y]) -> Self:
        """Return the loss to optimize, completed from the data, for example with their classes; by default itself."""
        return self

    def bind_outputs(self, ys: Sequence[Y]) -> Self:
        """Return the loss for outputs that a model will predict; by default `bind`, which rankers call with labels."""
        return self.bind(ys)

    def truths(self, xs: Any, ys: Sequence[Y]) -> Sequence[Any]:
        """Return true outputs as `loss` compares them with predictions, by default as they are; xs may be None."""
        return ys

    @property
    def title(self) -> str:
        """Name of the loss in messages: the author's class name."""
        return type(self).__name__


class ScoreLoss(StructuredLoss[Y]):
    """Base class of losses whose joint features are a weighted sum of rows: derive from it to write a fast loss.

    The joint feature map is ``Ψ(x, y) = A_x' c(y)`` with an operator A that stores the features, so that ``w·Ψ(x, y) =
    scores·c(y)``: the loss sees only scores. A loss needs four methods: `encode`, `loss`, `loss_augmented_argmax` and
    `argmax`; all other methods have correct defaults. For rankings, an output is one number per document, larger is
    ahead, and the true labels have the same form; `PairwiseLoss` provides all but the loss and its argmax.
    ``structsvm.testing.check_loss`` checks an implementation.

    Attributes
    ----------
    kernel : a plain function that numba can compile, as a static method of the class:
        ``kernel(scores, labels, params, out)`` finds the loss-augmented argmax ŷ, writes ``c(y) − c(ŷ)`` to ``out``
        (as long as ``scores``, not initialized) and returns ``Δ(y, ŷ)``. With None, the default, fits call the four
        Python methods, example by example.
    per_row : True if each row is an example; False, the default, if each query is an example.
    multilabel : True if the output of a row is a row of an indicator matrix, and ``per_row`` is True.
    reads_rows : True if an input is a matrix of features: the default, except in a class that overrides `examples` or
        `predict`.
    scores_rows : True, the default, if each row gets one score; set it to False if `operator` makes other scores.
    reads_graphs : True if an input is a graph ``(node_features, edges)``, perhaps with ``edge_features``. The loss gets
        arrays: columns of data frames are matched by name before.
    of_one_sample : True if a whole data set is one example; a missing ``qid`` then causes no warning.
    exact : True, the default, if `loss_augmented_argmax` always finds a maximum. Otherwise the lower bound is still
        valid, but the primal is an estimate, and `Result.certified` is False, unless the loss is ``bounded``.
    bounded : True if `loss_augmented_argmax` returns `Bounded` and the class sets ``exact = False``. The primal is then
        an upper bound of the objective, and `Result.inference_gap` is the part of the gap that the argmax leaves. A
        kernel gets ``out`` with one more element, to which it writes the bound minus the value of its output.
    unreachable_truths : True if the argmaxes may be unable to return the true output of an example, such as a
        non-projective tree for a projective parser. The hinge is then the maximum over the outputs and the true output,
        so it is at least 0. It stays convex, and certificates stay valid, but it need not bound the loss of the
        prediction from above. The argmaxes and the kernel still search the outputs alone.
    numeric_labels : True if the class compares labels with numbers. Numbers written as text are then converted, and
        other text is rejected.
    takes_document_weights : True if ``sample_weight`` may differ within a query; the truth is then `WeightedLabels`.
    why_unusable : message if no query is usable, with cause and remedy; "", the default, for a general message.
    check_before_fit : True, the default, to check the class on some examples before the first fit of a process, for at
        most half a second.

    Examples
    --------
    >>> from structsvm import StructuralSVM
    >>> class Signs(ScoreLoss):  # a row is an example, its output is -1 or 1
    ...     per_row = True
    ...     def encode(self, y_hat, y):
    ...         return np.array([0.5 * y_hat])
    ...     def loss(self, y, y_hat):
    ...         return float(y != y_hat)
    ...     def argmax(self, scores):
    ...         return 1 if scores[0] > 0.0 else -1
    ...     def loss_augmented_argmax(self, scores, y):
    ...         return -y if y * scores[0] < 1.0 else y
    >>> svm = StructuralSVM(Signs(), C=10.0).fit([[1.0, 0.0], [-2.0, 1.0]], [1, -1])
    >>> svm.predict([[3.0, 1.0]])
    array([1])
    """

    kernel: Any = None
    numeric_labels: ClassVar[bool] = False
    takes_document_weights: ClassVar[bool] = False

    sparse_entries: int | None = None
    """Number of non-zero joint features of an example if planes are stored as sparse vectors; None: dense."""

    why_unusable: ClassVar[str] = ""

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        if "reads_rows" not in vars(cls) and not {"examples", "predict"}.isdisjoint(vars(cls)):
            cls.reads_rows = False

    @abstractmethod
    def encode(self, y_hat: Y, y: Y) -> Vector:
        """Return ``c(ŷ)``, one coefficient per score; the true output y shows which documents are relevant."""

    @abstractmethod
    def loss(self, y: Y, y_hat: Y) -> float:
        """Return ``Δ(y, ŷ)``: at least 0, and 0 at ``ŷ = y``."""

    @abstractmethod
    def loss_augmented_argmax(self, scores: Vector, y: Y) -> Y | Bounded:
        """Return an output that maximizes ``Δ(y, ŷ) + scores·c(ŷ)``; a `Bounded` one if the loss is ``bounded``."""

    @abstractmethod
    def argmax(self, scores: Vector) -> Y:
        """Return an output that maximizes ``scores·c(ŷ)``: the prediction, made without y."""

    def slack_rescaled_argmax(self, scores: Vector, y: Y) -> Y:
        """Return an output that maximizes ``Δ(y, ŷ) [1 + scores·(c(ŷ) − c(y))]``; only `SlackRescaled` needs it."""
        raise NotImplementedError(f"{type(self).__name__} has no slack_rescaled_argmax")

    def prediction(self, scores: Vector, y: Y) -> Y:
        """Return the prediction for a training example, by default `argmax`; override it if scores are not enough."""
        return self.argmax(scores)

    def labels(self, y: Y) -> Vector:
        """Return the kernel's labels of one example; by default the output itself, as numbers."""
        return np.atleast_1d(np.asarray(y, dtype=np.float64))

    def params(self, ys: Sequence[Y]) -> Vector:
        """Return the kernel's parameters for all examples together (tables, constants); empty by default."""
        return np.zeros(0)

    def operator(self, rows: Operator) -> Operator:
        """Return the operator over rows of features, by default the rows themselves; see ``scores_rows``."""
        return rows

    def usable(self, y: Y) -> bool:
        """Return True if the loss can learn from an example; fits skip and count the other examples."""
        return True

    def outputs(self, y: Y) -> Iterable[Y]:
        """Return all outputs of a small example, for ``check_loss``."""
        raise NotImplementedError(f"{type(self).__name__} does not list its outputs; define outputs(y)")

    @property
    def predicting(self) -> "ScoreLoss[Y]":
        """The loss whose encoding `argmax` uses, if training uses another encoding; by default this loss."""
        return self

    def why_none_usable(self, ys: Sequence[Y]) -> str:
        """Return the message if ``usable`` is False for all of these outputs."""
        return (
            self.why_unusable
            or f"{self.title}.usable(y) is false for the labels y of each query; check this method, the labels and qid"
        )

    def method_label(self, method: str) -> str:
        """Return the name of a method as the loss's author defined it."""
        return method

    def unwrap(self, y_hat: Y) -> Any:
        """Return an output in the form that the loss's author defined."""
        return y_hat

    def examples(self, xs: Readable | Operator | Sequence[Any], ys: Sequence[Y], intercept: float = 0.0) -> Examples:
        """Make a training set from inputs and outputs.

        Inputs are a matrix with an example per row, one matrix per example, or an `Operator` with a score per row.
        """
        bound = self.bind(ys)
        return Examples(bound, bound.operator(_rows(xs, intercept)), ys)

    def predict(self, xs: Readable | Operator | Sequence[Any], w: Vector, intercept: float = 0.0) -> list[Y]:
        """Return the predicted output of each input at weights w."""
        parts = scores_of_inputs(self, xs, w, intercept)
        return [output_of(self, "argmax", i, self.argmax, part) for i, part in enumerate(parts)]


def scores_of_inputs(loss: ScoreLoss[Any], xs: Any, w: Vector, intercept: float) -> Iterable[Vector]:
    """Return the scores of each input at weights w."""
    operator = loss.operator(_rows(xs, intercept))
    if operator.d != len(w):
        raise InputError(f"the inputs have features for {operator.d} weights, and the model has {len(w)}")
    scores, ptr = operator.scores(w), operator.ptr
    require_finite_scores(scores, ptr)
    return (scores_of_examples(scores, ptr, i, i + 1) for i in range(operator.n))


def _rows(xs: Readable | Operator | Sequence[Any], intercept: float) -> Operator:
    rows = xs if isinstance(xs, Operator) else Rows.of(xs)
    return WithIntercept(rows, intercept) if intercept else rows


class RankedByScore(ScoreLoss[Any]):
    """Base of losses of rankings, one number per document, for which sorting by the scores maximizes ``w·Ψ``."""

    def argmax(self, scores: Vector) -> Any:
        """Return the scores: sorting by them maximizes ``w·Ψ``."""
        return scores

    def outputs(self, y: Any) -> Iterable[Any]:
        """Return all complete rankings."""
        return (np.array(ranking, dtype=np.float64) for ranking in permutations(range(len(y))))


class Loss(StructuredLoss[Y], Generic[X, Y]):
    """Base class of losses whose joint features have any form: write Ψ, Δ and both argmaxes, as in the literature.

    Derive from this class if the joint feature map has no special form. Derive from `ScoreLoss` if outputs can be
    encoded in scores: the solvers are then faster.

    Examples
    --------
    >>> from structsvm import StructuralSVM
    >>> class Signs(Loss):
    ...     def joint_feature(self, x, y):
    ...         return 0.5 * y * x
    ...     def loss(self, y, y_hat):
    ...         return float(y != y_hat)
    ...     def argmax(self, x, w):
    ...         return 1 if x @ w > 0.0 else -1
    ...     def loss_augmented_argmax(self, x, y, w):
    ...         return max((-1, 1), key=lambda y_hat: (y_hat != y) + 0.5 * y_hat * x @ w)
    >>> svm = StructuralSVM(Signs(), C=10.0).fit(np.array([[1.0, 0.0], [-2.0, 1.0]]), [1, -1])
    >>> svm.predict(np.array([[3.0, 1.0]]))
    [1]
    """

    reads_rows = False
    scores_rows = False

    @abstractmethod
    def joint_feature(self, x: X, y: Y) -> Vector:
        """Return ``Ψ(x, y)``, shape (d,), the same d for every x and y; a sparse vector may have shape (1, d)."""

    @abstractmethod
    def loss(self, y: Y, y_hat: Y) -> float:
        """Return ``Δ(y, ŷ)``: at least 0, and 0 at ``ŷ = y``."""

    @abstractmethod
    def loss_augmented_argmax(self, x: X, y: Y, w: Vector) -> Y | Bounded:
        """Return an output that maximizes ``Δ(y, ŷ) + w·Ψ(x, ŷ)``; see ``bounded`` of `ScoreLoss`."""

    @abstractmethod
    def argmax(self, x: X, w: Vector) -> Y:
        """Return an output that maximizes ``w·Ψ(x, ŷ)``: the prediction."""

    def slack_rescaled_argmax(self, x: X, y: Y, w: Vector) -> Y:
        """Return an output that maximizes ``Δ(y, ŷ) [1 + w·(Ψ(x, ŷ) − Ψ(x, y))]``; only `SlackRescaled` needs it."""
        raise NotImplementedError(f"{type(self).__name__} has no slack_rescaled_argmax")

    def outputs(self, x: X, y: Y) -> Iterable[Y]:
        """Return all outputs of a small example, for ``check_loss``."""
        raise NotImplementedError(f"{type(self).__name__} does not list its outputs; define outputs(x, y)")

    def examples(self, xs: Sequence[X], ys: Sequence[Y], intercept: float = 0.0) -> Examples:
        """Make a training set from inputs and outputs."""
        self._refuse(intercept)
        returned: Any = call_method(self, "joint_feature", 0, self.joint_feature, xs[0], ys[0])
        d = len(joint_features(self, 0, None, lambda: returned))
        loss = InScoreSpace(self, returned.nnz if is_sparse_vector(returned) else None)
        return Examples(loss, WithShared.alone(d, len(xs)), list(zip(xs, ys, strict=True)))

    def predict(self, xs: Sequence[X], w: Vector, intercept: float = 0.0) -> list[Y]:
        """Return the predicted output of each input at weights w."""
        self._refuse(intercept)
        return [self._predicted(i, x, w) for i, x in enumerate(xs)]

    def _predicted(self, i: int, x: X, w: Vector) -> Any:
        y_hat = output_of(self, "argmax", i, self.argmax, x, w)
        if not is_finite_input(x):
            # Infinite joint features are an error, as in a fit; the loss may read NaN as a missing value.
            joint_features(self, i, None, self.joint_feature, x, y_hat)
        return y_hat

    def _refuse(self, intercept: float) -> None:
        if intercept:
            raise InputError(
                f"{type(self).__name__} makes its own joint features, so fit_intercept cannot add a constant feature: "
                "put a constant into joint_feature instead"
            )


def of_inner(name: str) -> Any:
    """Return a property with the value, or the bound method, of the inner loss."""
    return property(lambda self: getattr(self.inner, name), doc="As in the inner loss.")


class Wrapper(StructuredLoss[Any]):
    """A wrapper of another loss."""

    inner: Any

    check_before_fit = of_inner("check_before_fit")
    exact = of_inner("exact")
    bounded = of_inner("bounded")
    unreachable_truths = of_inner("unreachable_truths")
    title = of_inner("title")
    checked_by = of_inner("checked_by")
    weight_bounds = of_inner("weight_bounds")


@frozen
class InScoreSpace(Wrapper, ScoreLoss[tuple[Any, Any]]):
    """A `Loss` as a `ScoreLoss` with weights as scores, ``A = I`` and ``c(y) = Ψ(x, y)``; outputs are pairs (x, y)."""

    inner: Loss[Any, Any]
    sparse_entries: int | None = None

    reads_rows = False
    scores_rows = False

    def encode(self, y_hat: tuple[Any, Any], y: tuple[Any, Any]) -> Any:
        return self.inner.joint_feature(*y_hat)

    def loss(self, y: tuple[Any, Any], y_hat: tuple[Any, Any]) -> float:
        return self.inner.loss(y[1], y_hat[1])

    def loss_augmented_argmax(self, scores: Vector, y: tuple[Any, Any]) -> Any:
        answer: Any = self.inner.loss_augmented_argmax(y[0], y[1], scores)
        return Bounded((y[0], answer.output), answer.bound) if self.bounded else (y[0], answer)

    def argmax(self, scores: Vector) -> tuple[Any, Any]:
        """Raise TypeError: a prediction needs x, so use ``Loss.predict``."""
        raise TypeError("a generic Loss predicts from x: use its own argmax(x, w)")

    def slack_rescaled_argmax(self, scores: Vector, y: tuple[Any, Any]) -> tuple[Any, Any]:
        return y[0], self.inner.slack_rescaled_argmax(y[0], y[1], scores)

    def prediction(self, scores: Vector, y: tuple[Any, Any]) -> tuple[Any, Any]:
        return y[0], self.inner.argmax(y[0], scores)

    def unwrap(self, y_hat: tuple[Any, Any]) -> Any:
        return y_hat[1]

    def method_label(self, method: str) -> str:
        return "joint_feature" if method == "encode" else method

    def outputs(self, y: tuple[Any, Any]) -> Iterable[tuple[Any, Any]]:
        return ((y[0], output) for output in self.inner.outputs(*y))
