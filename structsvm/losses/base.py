"""What a loss is: three functions of outputs, and a prediction."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Generic, Self, TypeAlias, TypeVar

import numpy as np
from attrs import frozen

from structsvm.exceptions import InputError, StructSVMError
from structsvm.operators import Operator, Readable, Rows, Shared, WithIntercept
from structsvm.types import Vector

X = TypeVar("X")
Y = TypeVar("Y")
T = TypeVar("T")

Kernel: TypeAlias = Callable[[Vector, Vector, Vector, Vector], float]
"""``kernel(scores, labels, params, out) -> Δ``; writes ``c(y) − c(ŷ)`` to ``out``."""


@frozen(eq=False)
class Examples:
    """A training set as the engine sees it.

    Parameters
    ----------
    loss : the loss, with all that it must know of the data filled in.
    operator : the operator that makes the scores.
    ys : true outputs, one an example; an array where the outputs are numbers.
    """

    loss: "ScoreLoss[Any]"
    operator: Operator
    ys: Sequence[Any]


class StructuredLoss(ABC, Generic[Y]):
    """The properties that `ScoreLoss` and `Loss` share; a class of one's own may override each.

    Attributes
    ----------
    per_row : True when each row is an example of its own; False when a query is.
    reads_rows : whether an input is a matrix of features, one or several rows. False by default in a class that
        overrides `examples` or `predict`, which may take inputs of any kind.
    scores_rows : whether each row gets one score, which is what a ranker ranks by. False in a class whose `operator`
        makes other scores.
    of_one_sample : whether the loss is meant for a whole data set as one example, as measures of sets are: rows without
        ``qid``, however many, are then no oversight.
    behind_at : the setting that names of the loss have behind ``@``, if it has that setting.
    check_before_fit : whether the first fit of a process checks the loss on some of its examples, for half a second at
        most, if it is not a loss of this library.
    """

    per_row: ClassVar[bool] = False
    reads_rows: ClassVar[bool] = True
    scores_rows: ClassVar[bool] = True
    of_one_sample: ClassVar[bool] = False
    behind_at: ClassVar[str] = "k"
    check_before_fit: ClassVar[bool] = True

    def weight_bounds(self, d: int) -> tuple[Vector, Vector] | None:
        """Return the smallest and largest weights for which the argmax is right, shape (d,) each; None: it is for all.

        Infinite ones are no bounds. Graph cuts, for one, are exact where neighbours that agree have a weight of at
        least 0. ``check_loss`` keeps to them, and so does every fit: the optimum is that within these bounds, and no
        argmax is asked for at other weights.
        """
        return None

    def bind(self, ys: Sequence[Y]) -> Self:
        """Return the loss with what it must know of the data filled in (the classes, say); itself by default.

        What is returned is what is optimised, and what a fitted estimator has in ``loss_``.
        """
        return self

    @property
    def exact(self) -> bool:
        """Whether `loss_augmented_argmax` is sure to find a maximum; a class says ``exact = False`` where it is not.

        Any output that it returns then still makes a valid lower bound, but the primal is an estimate, and
        `Result.exact` says so.
        """
        return True

    @property
    def title(self) -> str:
        """What messages call the loss: the name of the class that its author wrote."""
        return type(self).__name__

    @property
    def checked_by(self) -> str:
        """The function that checks such losses, which messages name."""
        return "structsvm.testing.check_loss"


class ScoreLoss(StructuredLoss[Y]):
    """A structured loss as functions of scores.

    The joint feature map is ``Ψ(x, y) = A_x' c(y)`` with an operator A that holds the
    features, so that ``w·Ψ(x, y) = scores·c(y)``. Four methods are needed; the others have
    defaults that are right. For rankings an output is one number per document, larger is ahead,
    and so are the labels of the truth; `PairwiseLoss` brings all but the loss and its argmax.
    ``structsvm.testing.check_loss`` says whether a loss is right.

    Attributes
    ----------
    kernel : a `Kernel`, or None: plain function that numba can compile, as a static method of the class.
        It finds the loss-augmented argmax ŷ, writes ``c(y) − c(ŷ)`` to ``out`` (which has
        the shape of ``scores`` and arbitrary content) and returns ``Δ(y, ŷ)``. None: the
        four Python methods are used, example by example.
    per_row, reads_rows, scores_rows, of_one_sample, check_before_fit : as in `StructuredLoss`.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm import StructuralSVM
    >>> from structsvm.losses import ScoreLoss
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

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        if "reads_rows" not in vars(cls) and not {"examples", "predict"}.isdisjoint(vars(cls)):
            cls.reads_rows = False

    @abstractmethod
    def encode(self, y_hat: Y, y: Y) -> Vector:
        """Return ``c(ŷ)``, one coefficient a score; ``y`` is the truth (it says who is relevant)."""

    @abstractmethod
    def loss(self, y: Y, y_hat: Y) -> float:
        """Return ``Δ(y, ŷ)``: at least 0, and 0 at ``ŷ = y``."""

    @abstractmethod
    def loss_augmented_argmax(self, scores: Vector, y: Y) -> Y:
        """Return an output that maximises ``Δ(y, ŷ) + scores·c(ŷ)``."""

    @abstractmethod
    def argmax(self, scores: Vector) -> Y:
        """Return an output that maximises ``scores·c(ŷ)``: the prediction, which cannot know y."""

    def slack_rescaled_argmax(self, scores: Vector, y: Y) -> Y:
        """Return an output that maximises ``Δ(y, ŷ) [1 + scores·(c(ŷ) − c(y))]``; only `SlackRescaled` needs it."""
        raise NotImplementedError(f"{type(self).__name__} has no slack_rescaled_argmax")

    def prediction(self, scores: Vector, y: Y) -> Y:
        """Return the prediction for a training example, `argmax` by default.

        A loss that needs more than scores to predict overrides this, and finds the rest in the truth y.
        """
        return self.argmax(scores)

    def labels(self, y: Y) -> Vector:
        """Return what the kernel reads of one example; the output itself, as numbers, by default."""
        return np.atleast_1d(np.asarray(y, dtype=np.float64))

    def params(self, ys: Sequence[Y]) -> Vector:
        """Return what the kernel reads of all examples together (tables, constants); nothing by default."""
        return np.zeros(0)

    def operator(self, rows: Operator) -> Operator:
        """Return the operator over rows of features; the rows themselves by default.

        A class that returns one with other than one score a row says ``scores_rows = False``.
        """
        return rows

    def usable(self, y: Y) -> bool:
        """Say whether an example can be learned from; queries that cannot are left out of n, and counted."""
        return True

    def outputs(self, y: Y) -> Iterable[Y]:
        """Return all outputs of a small example, for ``check_loss``."""
        raise NotImplementedError(f"{type(self).__name__} does not list its outputs; define outputs(y)")

    @property
    def predicting(self) -> "ScoreLoss[Y]":
        """The loss in whose encoding `argmax` predicts: another than this one where training has its own encoding."""
        return self

    @property
    def numeric_labels(self) -> bool:
        """Whether the labels must be numbers; a class says ``numeric_labels = True`` where it compares them with one.

        `Problem.from_queries` then turns labels written as text into numbers, and refuses those that are none.
        """
        return False

    @property
    def why_unusable(self) -> str:
        """What a message says where no query is usable: the cause, and the way out; "" for a general sentence."""
        return ""

    def why_none_usable(self, ys: Sequence[Y]) -> str:
        """Return what to tell where ``usable`` is false for each of these: `why_unusable`, where the loss says it."""
        return (
            self.why_unusable
            or f"{self.title}.usable(y) is false for the labels y of each; check it, the labels and qid"
        )

    def called(self, method: str) -> str:
        """Return the name of a method as the author of the loss knows it."""
        return method

    def unwrap(self, y_hat: Y) -> Any:
        """Return an output as the author of the loss knows it."""
        return y_hat

    def examples(self, xs: Readable | Sequence[Any], ys: Sequence[Y], intercept: float = 0.0) -> Examples:
        """Make a training set of inputs and outputs.

        Parameters
        ----------
        xs : a matrix with one example a row, or one matrix for each example.
        ys : true outputs.
        intercept : value of a constant feature that is added to every row; 0 for none.
        """
        bound = self.bind(ys)
        return Examples(bound, bound.operator(_rows(xs, intercept)), ys)

    def predict(self, xs: Readable | Sequence[Any], w: Vector, intercept: float = 0.0) -> list[Y]:
        """Return the predicted output of each input at weights w."""
        operator = self.operator(_rows(xs, intercept))
        if operator.d != len(w):
            raise InputError(f"the inputs have features for {operator.d} weights, and the model has {len(w)}")
        scores, ptr = operator.scores(w), operator.ptr
        return [call_method(self, "argmax", i, self.argmax, scores[ptr[i] : ptr[i + 1]]) for i in range(operator.n)]


RAISED_AS_IS = (StructSVMError, MemoryError)
"""Errors of a loss's methods that need no more explanation."""


def call_method(loss: StructuredLoss[Any], method: str, example: int, call: Callable[..., T], *arguments: Any) -> T:
    """Call a method of a loss, so that what it raises names the loss, the method and the example.

    Raises
    ------
    InputError : when it raises something other than an error of ours, or one of memory.
    """
    try:
        return call(*arguments)
    except RAISED_AS_IS:
        raise
    except Exception as error:
        raise method_failed(loss, method, error, example) from error


def method_failed(
    loss: StructuredLoss[Any], method: str, error: Exception, example: int | None, more: str = ""
) -> InputError:
    """Return the error for a method of a loss that raised one.

    Parameters
    ----------
    loss : the loss.
    method : the method, as the author of the loss knows it.
    error : what it raised.
    example : number of the example; None: it is not known.
    more : what else there is to say, a sentence with a blank after it.
    """
    said = f"{loss.title}.{method} raised {type(error).__name__}: {str(error).rstrip('.')}. "
    where = "" if example is None else f"It was called for example {example}. "
    return InputError(f"{said}{where}{more}Run {loss.checked_by} on the loss.")


def joint_features(
    loss: StructuredLoss[Any], example: int, d: int | None, call: Callable[..., Any], *arguments: Any
) -> Vector:
    """Return what ``joint_feature`` of a loss returns for an example, as a vector.

    Parameters
    ----------
    loss : the loss.
    example : number of the example.
    d : how many numbers there must be; None: as many as it likes.
    call, arguments : the method, and what it is given.

    Raises
    ------
    InputError : when it raises something, or returns something else than that many finite numbers.
    """
    returned = call_method(loss, "joint_feature", example, call, *arguments)
    try:
        vector = np.asarray(returned, dtype=np.float64)
    except (TypeError, ValueError):
        vector = np.zeros((0, 0))
    if vector.ndim == 1 and d in (None, len(vector)) and np.isfinite(vector).all():
        return vector
    if vector.ndim != 1:
        what = "None" if returned is None else f"a {type(returned).__name__} that is no vector"
    elif np.isfinite(vector).all():
        what = f"{len(vector)} numbers"
    else:
        what = "NaN or infinity"
    raise InputError(
        f"{loss.title}.joint_feature returned {what} for example {example}: it must return a vector of "
        f"{'' if d is None else f'{d} '}finite numbers, as many for every x and y. Look at this example, or run "
        f"{loss.checked_by} on the loss."
    )


def reads_text(method: Callable[[Any], Any], text: Any) -> bool:
    """Say whether a method of labels can read those that are text, which those that compare with a number cannot."""
    try:
        method(text)
    except TypeError:
        return False
    except Exception:  # it reads text, but does not know this one
        return True
    return True


def _rows(xs: Readable | Sequence[Any], intercept: float) -> Operator:
    rows = Rows.of(xs)
    return WithIntercept(rows, intercept) if intercept else rows


class Loss(StructuredLoss[Y], Generic[X, Y]):
    """A structured loss in the terms of the literature: Ψ, Δ and an argmax.

    Write one of these when the joint feature map is anything you like; write a `ScoreLoss`
    when outputs can be encoded in scores, which is what the engine is fast at.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm import StructuralSVM
    >>> from structsvm.losses import Loss
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
        """Return ``Ψ(x, y)``, shape (d,), the same d for every x and y."""

    @abstractmethod
    def loss(self, y: Y, y_hat: Y) -> float:
        """Return ``Δ(y, ŷ)``: at least 0, and 0 at ``ŷ = y``."""

    @abstractmethod
    def loss_augmented_argmax(self, x: X, y: Y, w: Vector) -> Y:
        """Return an output that maximises ``Δ(y, ŷ) + w·Ψ(x, ŷ)``."""

    @abstractmethod
    def argmax(self, x: X, w: Vector) -> Y:
        """Return an output that maximises ``w·Ψ(x, ŷ)``: the prediction."""

    def slack_rescaled_argmax(self, x: X, y: Y, w: Vector) -> Y:
        """Return an output that maximises ``Δ(y, ŷ) [1 + w·(Ψ(x, ŷ) − Ψ(x, y))]``; only `SlackRescaled` needs it."""
        raise NotImplementedError(f"{type(self).__name__} has no slack_rescaled_argmax")

    def outputs(self, x: X, y: Y) -> Iterable[Y]:
        """Return all outputs of a small example, for ``check_loss``."""
        raise NotImplementedError(f"{type(self).__name__} does not list its outputs; define outputs(x, y)")

    def examples(self, xs: Sequence[X], ys: Sequence[Y], intercept: float = 0.0) -> Examples:
        """Make a training set: every example has the weights themselves as its scores."""
        self._refuse(intercept)
        d = len(joint_features(self, 0, None, self.joint_feature, xs[0], ys[0]))
        return Examples(InScoreSpace(self), Shared(d, len(xs)), list(zip(xs, ys, strict=True)))

    def predict(self, xs: Sequence[X], w: Vector, intercept: float = 0.0) -> list[Y]:
        """Return the predicted output of each input at weights w."""
        self._refuse(intercept)
        return [call_method(self, "argmax", i, self.argmax, x, w) for i, x in enumerate(xs)]

    def _refuse(self, intercept: float) -> None:
        if intercept:
            raise InputError(
                f"{type(self).__name__} makes its own joint features, so fit_intercept has nothing to add to: "
                "put a constant into joint_feature instead"
            )


@frozen
class InScoreSpace(ScoreLoss[tuple[Any, Any]]):
    """A `Loss` as a `ScoreLoss` whose scores are the weights: ``A = I`` and ``c(y) = Ψ(x, y)``.

    An output is the pair (x, y).
    """

    wrapped: Loss[Any, Any]

    reads_rows = False
    scores_rows = False

    @property
    def check_before_fit(self) -> bool:  # type: ignore[override]
        """As the wrapped loss says."""
        return self.wrapped.check_before_fit

    def encode(self, y_hat: tuple[Any, Any], y: tuple[Any, Any]) -> Vector:
        """Return ``Ψ(x, ŷ)``."""
        return self.wrapped.joint_feature(*y_hat)

    def loss(self, y: tuple[Any, Any], y_hat: tuple[Any, Any]) -> float:
        """Return ``Δ(y, ŷ)``."""
        return self.wrapped.loss(y[1], y_hat[1])

    def loss_augmented_argmax(self, scores: Vector, y: tuple[Any, Any]) -> tuple[Any, Any]:
        """Return x with an output that maximises ``Δ(y, ŷ) + w·Ψ(x, ŷ)``."""
        return y[0], self.wrapped.loss_augmented_argmax(y[0], y[1], scores)

    def argmax(self, scores: Vector) -> tuple[Any, Any]:
        """Refuse: a prediction needs x, which scores do not hold; ``Loss.predict`` has it."""
        raise TypeError("a generic Loss predicts from x: use its own argmax(x, w)")

    def slack_rescaled_argmax(self, scores: Vector, y: tuple[Any, Any]) -> tuple[Any, Any]:
        """Return x with an output that maximises ``Δ(y, ŷ) [1 + w·(Ψ(x, ŷ) − Ψ(x, y))]``."""
        return y[0], self.wrapped.slack_rescaled_argmax(y[0], y[1], scores)

    def weight_bounds(self, d: int) -> tuple[Vector, Vector] | None:
        """Return those of the wrapped loss."""
        return self.wrapped.weight_bounds(d)

    def prediction(self, scores: Vector, y: tuple[Any, Any]) -> tuple[Any, Any]:
        """Return x with the prediction for it."""
        return y[0], self.wrapped.argmax(y[0], scores)

    @property
    def exact(self) -> bool:
        """Whether the wrapped loss is."""
        return self.wrapped.exact

    @property
    def title(self) -> str:
        """The name of the wrapped loss."""
        return self.wrapped.title

    @property
    def checked_by(self) -> str:
        """The check of the wrapped loss."""
        return self.wrapped.checked_by

    def unwrap(self, y_hat: tuple[Any, Any]) -> Any:
        """Return the output without its input."""
        return y_hat[1]

    def called(self, method: str) -> str:
        """Return the method of the wrapped loss that this one calls."""
        return "joint_feature" if method == "encode" else method

    def outputs(self, y: tuple[Any, Any]) -> Iterable[tuple[Any, Any]]:
        """Return x with each of its outputs."""
        return ((y[0], output) for output in self.wrapped.outputs(*y))
