"""Base of losses over declared outputs: a feasible set in place of an argmax."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from attrs import evolve, field, frozen

from structsvm.exceptions import InputError, brief
from structsvm.features.operators import Operator, Rows
from structsvm.features.operators.base import require_finite_scores, scores_of_examples
from structsvm.features.operators.composed import HStack, PerClass, WithIntercept
from structsvm.features.operators.matrix import is_matrix
from structsvm.foundation.compute.compilation import compiled_part
from structsvm.foundation.settings import as_list
from structsvm.foundation.types import Matrix, Vector
from structsvm.inference.sets import Bounded, FeasibleSet
from structsvm.losses.base import Examples, ScoreLoss
from structsvm.losses.user_methods import at_example

Feasible: TypeAlias = FeasibleSet | Callable[[Any], FeasibleSet]
"""A feasible set for all examples, or a function of an example's features that returns its set."""


class SetKind(NamedTuple):
    """What the feasible sets of all examples have in common: a compiled maximizer, if any, and whether it is exact."""

    kernel: Any
    exact: bool

    @classmethod
    def of(cls, sets: Iterable[FeasibleSet]) -> Self:
        """Return the kind of several sets."""
        kernels = {one.kernel for one in sets}
        return cls(kernels.pop() if len(kernels) == 1 else None, all(one.exact for one in sets))


@frozen(eq=False)
class Placed:
    """What is known of an example's true output, with its feasible set: Δ of an output y is ``base + slope·y``."""

    feasible: FeasibleSet
    truth: Vector
    base: float
    slope: Vector


def _feasible(value: Any) -> Any:
    if isinstance(value, FeasibleSet) or (callable(value) and not isinstance(value, type)):
        return value
    raise InputError(
        "feasible must be a FeasibleSet, such as Subset(n=5, k=2), or a function of the features of an example that "
        f"returns one, got {brief(value)}"
    )


@frozen
class DeclaredLoss(ScoreLoss[Any]):
    """A loss that is linear in the output, over a feasible set.

    An input is a vector of features, shape (d,), with a weight vector for each part; or a matrix with a row of features
    for each part, shape (p, d), with common weights; or a pair of both, whose scores are added. The last element of a
    tuple may be the feasible set of the example. A derived class defines `place`, and the coefficient `unit` of a part.
    """

    feasible: Any = field(converter=_feasible)
    kind: SetKind = field(init=False, repr=False, eq=False)

    scores_rows = False
    unit = 1.0
    """The coefficient of each score in ``c(y) = unit · y``."""

    @abstractmethod
    def place(self, feasible: FeasibleSet, y: Any) -> Placed:
        """Return a true output with its loss as a linear function; raise InputError for one that is not valid."""

    @kind.default
    def _kind_of_fixed(self) -> SetKind:
        return SetKind.of([self.feasible]) if isinstance(self.feasible, FeasibleSet) else SetKind(None, False)

    @property
    def kernel(self) -> Any:
        """The maximizer of the sets within a function for compiled passes; None if it is not compiled."""
        return None if self.kind.kernel is None else _kernel(self.kind.kernel)

    @property
    def exact(self) -> bool:  # type: ignore[override]
        """True if the maximizers of all sets are exact."""
        return self.kind.exact

    @property
    def bounded(self) -> bool:  # type: ignore[override]
        """True if some maximizers are not exact."""
        return not self.kind.exact

    def examples(self, xs: Any, ys: Sequence[Any], intercept: float = 0.0) -> Examples:
        """Make a training set from inputs and true outputs."""
        inputs = _Inputs.of(xs, self.feasible)
        placed = _placed(self, inputs.sets, ys)
        loss = evolve(self)
        # attrs sets fields without a parameter by their default only.
        object.__setattr__(loss, "kind", SetKind.of(inputs.sets))
        return Examples(loss, inputs.operator(intercept), placed)

    def predict(self, xs: Any, w: Vector, intercept: float = 0.0) -> list[Vector]:
        """Return the predicted output of each input at weights w."""
        inputs = _Inputs.of(xs, self.feasible)
        operator = inputs.operator(intercept)
        if operator.d != len(w):
            raise InputError(f"the inputs have features for {operator.d} weights, and the model has {len(w)}")
        scores, ptr = operator.scores(w), operator.ptr
        require_finite_scores(scores, ptr)
        parts = (scores_of_examples(scores, ptr, i, i + 1) for i in range(operator.n))
        return [
            at_example(i, _output, at_example(i, feasible.maximize, self.unit * part))
            for i, (part, feasible) in enumerate(zip(parts, inputs.sets, strict=True))
        ]

    def truths(self, xs: Any, ys: Sequence[Any]) -> list[Placed]:
        """Return the true outputs with the feasible sets of their inputs."""
        sets = [self._fixed()] * len(ys) if xs is None else _Inputs.of(xs, self.feasible).sets
        return _placed(self, sets, ys)

    def labels(self, y: Any) -> Vector:
        one = self._placed(y)
        data = one.feasible.data()
        return np.concatenate(([len(data), self.unit, one.base], data, one.slope, one.truth))

    def encode(self, y_hat: Any, y: Any) -> Vector:
        return self.unit * self._vector(y_hat)

    def loss(self, y: Any, y_hat: Any) -> float:
        one = self._placed(y)
        return max(one.base + float(one.slope @ self._vector(y_hat)), 0.0)

    def loss_augmented_argmax(self, scores: Vector, y: Any) -> Any:
        one = self._placed(y)
        scores = self.unit * scores + one.slope
        answer = one.feasible.maximize(scores)
        if self.exact:
            return answer
        output, bound = answer if isinstance(answer, Bounded) else (answer, float(scores @ answer))
        return Bounded(output, one.base + bound)

    def argmax(self, scores: Vector) -> Any:
        """Return the best output if all examples have the same feasible set."""
        return _output(self._fixed().maximize(self.unit * scores))

    def prediction(self, scores: Vector, y: Any) -> Any:
        return _output(self._placed(y).feasible.maximize(self.unit * scores))

    def outputs(self, y: Any) -> Iterable[Any]:
        return self._placed(y).feasible.outputs()

    def unwrap(self, y_hat: Any) -> Any:
        return y_hat.truth if isinstance(y_hat, Placed) else y_hat

    def _placed(self, y: Any) -> Placed:
        return y if isinstance(y, Placed) else self.place(self._fixed(), y)

    def _vector(self, y_hat: Any) -> Vector:
        return np.asarray(self.unwrap(y_hat), dtype=np.float64)

    def _fixed(self) -> FeasibleSet:
        if isinstance(self.feasible, FeasibleSet):
            return self.feasible
        raise InputError(
            f"the feasible set of {self.title} depends on the input: use StructuralSVM or Problem.from_examples"
        )


@frozen(eq=False)
class _Inputs:
    """The rows of examples and of parts (None without them) of all examples, and their feasible sets."""

    rows: Matrix | None
    parts: list[Any] | None
    sets: list[FeasibleSet]

    @classmethod
    def of(cls, xs: Any, feasible: Any) -> Self:
        listed = [xs[i] for i in range(xs.shape[0])] if is_matrix(xs) else as_list("inputs", xs, "a list of inputs")
        if not listed:
            raise InputError("there are no inputs: one example at least is needed")
        rows, parts, sets = [], [], []
        for i, x in enumerate(listed):
            features = x if isinstance(x, tuple) else (x,)
            feasible_set = feasible
            if isinstance(features[-1], FeasibleSet):
                *features, feasible_set = features
            elif not isinstance(feasible, FeasibleSet):
                feasible_set = at_example(i, feasible, x)
            arrays = [part if hasattr(part, "ndim") else np.asarray(part, dtype=np.float64) for part in features]
            of_row, of_parts = ([part for part in arrays if part.ndim == ndim] for ndim in (1, 2))
            sets.append(_checked_set(feasible_set, i))
            if len(of_row) > 1 or len(of_parts) > 1 or len(of_row) + len(of_parts) not in (len(arrays), 1, 2):
                raise InputError(
                    f"example {i} must be a vector of features, a matrix with a row for each part, or a tuple of both "
                    f"and perhaps a FeasibleSet; its shapes are {', '.join(str(np.shape(part)) for part in arrays)}"
                )
            rows += of_row
            parts += of_parts
        if {len(rows), len(parts)} - {0, len(listed)}:
            raise InputError("some inputs have a vector or a matrix of features that others lack: give all the same")
        for i, (part, feasible_set) in enumerate(zip(parts, sets, strict=False)):
            if part.shape[0] != feasible_set.size:
                raise InputError(
                    f"example {i} has {part.shape[0]} rows of features and its feasible set {feasible_set.size} parts: "
                    "give one row per part"
                )
        if rows and len({one.size for one in sets}) > 1:
            raise InputError("a vector of features needs feasible sets of one size: give a matrix with a row per part")
        return cls(np.stack(rows) if rows else None, parts or None, sets)

    def operator(self, intercept: float) -> Operator:
        """Return the operator with a score for each part."""
        of_parts = None if self.parts is None else Rows.of(self.parts)
        if self.rows is None:
            assert of_parts is not None
            return WithIntercept(of_parts, intercept) if intercept else of_parts
        rows: Operator = Rows.one_row_per_example(np.ascontiguousarray(self.rows))
        of_rows = PerClass(WithIntercept(rows, intercept) if intercept else rows, self.sets[0].size)
        return of_rows if of_parts is None else HStack(of_rows, of_parts)


def _placed(loss: DeclaredLoss, sets: Sequence[FeasibleSet], ys: Sequence[Any]) -> list[Placed]:
    return [at_example(i, loss.place, one, y) for i, (one, y) in enumerate(zip(sets, ys, strict=True))]


def _checked_set(feasible: Any, i: int) -> FeasibleSet:
    if not isinstance(feasible, FeasibleSet):
        raise InputError(f"the function of example {i} returned {brief(feasible)}: it must return a FeasibleSet")
    return feasible


def _output(answer: Any) -> Any:
    return answer.output if isinstance(answer, Bounded) else answer


def vector_of(feasible: FeasibleSet, values: Any, what: str) -> Vector:
    """Return finite numbers, one for each part."""
    try:
        vector = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        vector = np.zeros(0)
    if vector.shape != (feasible.size,) or not np.isfinite(vector).all():
        raise InputError(f"{what} must be {feasible.size} finite numbers, one for each part, got {brief(values)}")
    return vector


@cache
def _kernel(maximizer: Any) -> Any:
    """Return the loss-augmented argmax around a compiled maximizer."""
    best = compiled_part(maximizer)

    def declared(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
        parts, length = len(scores), int(labels[0])
        unit, loss = labels[1], labels[2]
        data = labels[3 : 3 + length]
        slope = labels[3 + length : 3 + length + parts]
        truth = labels[3 + length + parts :]
        found = np.empty(parts)
        best(unit * scores + slope, data, found)
        for k in range(parts):
            loss += slope[k] * found[k]
            out[k] = unit * (truth[k] - found[k])
        return max(loss, 0.0)

    return declared
