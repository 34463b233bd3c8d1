"""Base of losses over declared outputs, whose argmax is the maximizer of a feasible set."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from attrs import evolve, field, frozen

from structsvm.exceptions import InputError, OracleError, brief, counted
from structsvm.features.operators import Operator, Rows
from structsvm.features.operators.base import require_finite_scores, scores_of_examples
from structsvm.features.operators.composed import HStack, PerClass, WithIntercept
from structsvm.features.operators.matrix import is_matrix, readable
from structsvm.foundation.compute.compilation import compiled_part
from structsvm.foundation.frames import is_frame
from structsvm.foundation.settings import as_list
from structsvm.foundation.types import Vector
from structsvm.inference.sets import Bounded, FeasibleSet
from structsvm.inference.sets.base import output_alone
from structsvm.losses.base import Examples, ScoreLoss
from structsvm.losses.user_methods import RAISED_AS_IS


class SetKind(NamedTuple):
    """The common maximizer of the feasible sets of all examples, if it is compiled, and whether all are exact."""

    kernel: Any
    exact: bool

    @classmethod
    def of(cls, sets: Iterable[FeasibleSet]) -> Self:
        """Return the kind of several sets."""
        kernels, exact = {one.kernel for one in sets}, all(one.exact for one in sets)
        # A kernel has no bound to write.
        return cls(kernels.pop() if exact and len(kernels) == 1 else None, exact)


_ROUNDING = 1e-6
"""Tolerance of outputs between 0 and 1, as in a `Program`."""


@frozen(eq=False)
class Placed:
    """A true output with its feasible set; Δ of an output y is ``base + slope·y``.

    ``example`` is the number of the example for messages; None if it is not known.
    """

    feasible: FeasibleSet
    truth: Vector
    base: float
    slope: Vector
    example: int | None = None


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

    An input is a vector of features, shape (d,), with a weight vector for each part. Or it is a matrix with a row of
    features for each part, shape (p, d), with common weights, or a pair of both, whose scores are added. The last
    element of a tuple may be the feasible set of the example. A derived class defines `place`, and the coefficient
    `unit` of a part.
    """

    feasible: Any = field(converter=_feasible)
    kind: SetKind = field(init=False, repr=False, eq=False)

    scores_rows = False
    reads_rows = True
    unit = 1.0
    """The coefficient of each score in ``c(y) = unit · y``."""
    within_unit_box: ClassVar[bool] = False
    """True if the loss is linear only for outputs between 0 and 1."""

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
            output_alone(_maximized(i, feasible, self.unit * part))
            for i, (part, feasible) in enumerate(zip(parts, inputs.sets, strict=True))
        ]

    def truths(self, xs: Any, ys: Sequence[Any]) -> list[Placed]:
        """Return the true outputs with the feasible sets of their inputs."""
        sets = [self._fixed()] * len(ys) if xs is None else _Inputs.of(xs, self.feasible).sets
        return _placed(self, sets, ys)

    def labels(self, y: Any) -> Vector:
        one = self._placed(y)
        data = one.feasible.data()
        return np.concatenate(([len(data), self.unit, one.base, self.within_unit_box], data, one.slope, one.truth))

    def encode(self, y_hat: Any, y: Any) -> Vector:
        return self.unit * self._vector(y_hat)

    def loss(self, y: Any, y_hat: Any) -> float:
        one, output = self._placed(y), self._vector(y_hat)
        if self.within_unit_box and not (np.abs(output[one.slope != 0.0] - 0.5) <= 0.5 + _ROUNDING).all():
            raise InputError(f"{self.title} needs outputs between 0 and 1, and the feasible set has {brief(output)}")
        return max(one.base + float(one.slope @ output), 0.0)

    def loss_augmented_argmax(self, scores: Vector, y: Any) -> Any:
        one = self._placed(y)
        scores = self.unit * scores + one.slope
        answer = _maximized(one.example, one.feasible, scores)
        if self.exact:
            return answer
        output, bound = answer if isinstance(answer, Bounded) else (answer, float(scores @ answer))
        return Bounded(output, one.base + bound)

    def argmax(self, scores: Vector) -> Any:
        """Return the best output if all examples have the same feasible set."""
        return output_alone(self._fixed().maximize(self.unit * scores))

    def prediction(self, scores: Vector, y: Any) -> Any:
        return output_alone(self._placed(y).feasible.maximize(self.unit * scores))

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

    rows: Any
    parts: list[Any] | None
    sets: list[FeasibleSet]

    @classmethod
    def of(cls, xs: Any, feasible: Any) -> Self:
        if is_matrix(xs):
            X: Any = readable(xs)
            fixed = isinstance(feasible, FeasibleSet)
            return cls._checked(X, None, [_set_of(feasible, i, None if fixed else X[i]) for i in range(X.shape[0])])
        rows, parts, sets = [], [], []
        for i, x in enumerate(as_list("inputs", xs, "a list of inputs")):
            features = x if isinstance(x, tuple) else (x,)
            if isinstance(features[-1], FeasibleSet):
                sets.append(features[-1])
                features = features[:-1]
            else:
                sets.append(_set_of(feasible, i, x))
            if any(map(is_frame, features)):
                raise InputError(f"example {i} has a data frame in a tuple, whose names are not read: pass arrays")
            try:
                arrays = [part if hasattr(part, "ndim") else np.asarray(part, dtype=np.float64) for part in features]
            except (TypeError, ValueError):
                arrays = []
            if sorted(part.ndim for part in arrays) not in ([1], [2], [1, 2]):
                shapes = ", ".join(str(part.shape) for part in arrays)
                raise InputError(
                    f"example {i} must be a vector of features, a matrix with a row for each part, or a tuple of both "
                    f"and perhaps a FeasibleSet; {f'its shapes are {shapes}' if arrays else f'got {brief(x)}'}"
                )
            rows += [part for part in arrays if part.ndim == 1]
            parts += [part for part in arrays if part.ndim == 2]
            if {len(rows), len(parts)} - {0, i + 1}:
                raise InputError(
                    f"example {i} and the examples before must all have a vector of features, a matrix, or both"
                )
            if rows and rows[i].shape != rows[0].shape:
                raise InputError(
                    f"example {i} has {counted(len(rows[i]), 'feature')}, and example 0 has {len(rows[0])}: give the "
                    "same number"
                )
        return cls._checked(np.stack(rows) if rows else None, parts or None, sets)

    @classmethod
    def _checked(cls, rows: Any, parts: Any, sets: list[FeasibleSet]) -> Self:
        """Require features for each part of each set."""
        if not sets:
            raise InputError("there are no inputs: one example at least is needed")
        for i, (part, feasible_set) in enumerate(zip(parts or [], sets, strict=False)):
            if part.shape[0] != feasible_set.size:
                raise InputError(
                    f"example {i} has {part.shape[0]} rows of features and its feasible set {feasible_set.size} parts: "
                    "give one row per part"
                )
        if rows is not None and len({one.size for one in sets}) > 1:
            raise InputError("a vector of features needs feasible sets of one size: give a matrix with a row per part")
        return cls(rows, parts, sets)

    def operator(self, intercept: float) -> Operator:
        """Return the operator with a score for each part."""
        of_parts = None if self.parts is None else Rows.of(self.parts)
        if self.rows is None:
            assert of_parts is not None
            return WithIntercept(of_parts, intercept) if intercept else of_parts
        rows: Operator = Rows.one_row_per_example(self.rows)
        of_rows = PerClass(WithIntercept(rows, intercept) if intercept else rows, self.sets[0].size)
        return of_rows if of_parts is None else HStack(of_rows, of_parts)


def require_output(feasible: FeasibleSet, y: Vector, what: str) -> None:
    """Require an output of a set; ``what`` begins the message."""
    if feasible.contains(y):
        return
    # The maximization raises if the set is empty, so that y is not to blame.
    feasible.maximize(np.zeros(feasible.size))
    reason = feasible.violation(y)
    raise InputError(
        f"{what} is not in the feasible set {brief(feasible)}{reason and f', whose {reason}'}: correct it or the set, "
        "such as its constraints"
    )


def _placed(loss: DeclaredLoss, sets: Sequence[FeasibleSet], ys: Sequence[Any]) -> list[Placed]:
    return [
        evolve(_of_user(i, one, loss.place, one, y), example=i) for i, (one, y) in enumerate(zip(sets, ys, strict=True))
    ]


def _maximized(example: int | None, feasible: FeasibleSet, scores: Vector) -> Vector | Bounded:
    answer: Vector | Bounded = _of_user(example, feasible, feasible.maximize, scores)
    return answer


def _of_user(example: int | None, owner: Any, call: Any, *arguments: Any) -> Any:
    """Call code that may run a user's function or set for an example; errors have the example's number."""
    where = "" if example is None else f"example {example}: "
    try:
        return call(*arguments)
    except InputError as error:
        raise InputError(f"{where}{error}") from None
    except OracleError as error:
        raise OracleError(f"{where}{error}") from None
    except RAISED_AS_IS:
        raise
    except Exception as error:
        name = getattr(owner, "__name__", None) or brief(owner)
        raise InputError(
            f"{where}{name} raised {type(error).__name__}: {error}. Correct it, or this example"
        ) from error


def _set_of(feasible: Any, i: int, x: Any) -> FeasibleSet:
    """Return the set of an example."""
    if isinstance(feasible, FeasibleSet):
        return feasible
    result = _of_user(i, feasible, feasible, x)
    if not isinstance(result, FeasibleSet):
        raise InputError(f"the function of example {i} returned {brief(result)}: it must return a FeasibleSet")
    return result


@cache
def _kernel(maximizer: Any) -> Any:
    """Return the loss-augmented argmax around a compiled maximizer."""
    best = compiled_part(maximizer)

    def declared(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
        parts, length = len(scores), int(labels[0])
        unit, loss = labels[1], labels[2]
        within_unit_box = labels[3] > 0.0
        data = labels[4 : 4 + length]
        slope = labels[4 + length : 4 + length + parts]
        truth = labels[4 + length + parts :]
        output = np.zeros(parts)
        best(unit * scores + slope, data, output)
        for k in range(parts):
            if within_unit_box and slope[k] != 0.0 and not abs(output[k] - 0.5) <= 0.5 + _ROUNDING:
                return np.nan
            loss += slope[k] * output[k]
            out[k] = unit * (truth[k] - output[k])
        return float(max(loss, 0.0))

    return declared
