"""Call a loss's methods, with errors that name the loss, the method and its arguments."""

import reprlib
from collections.abc import Callable
from itertools import islice
from typing import Any, Self, TypeVar

import numpy as np
from attrs import frozen

from structsvm.exceptions import CheckError, InputError
from structsvm.features.operators import Rows
from structsvm.foundation.types import Vector
from structsvm.losses import Loss, ScoreLoss
from structsvm.losses.base import InScoreSpace
from structsvm.losses.user_methods import SparseVector, dense, encoded, separate
from structsvm.problem.checking.trial import trial
from structsvm.problem.checks import output_fault
from structsvm.problem.coordinates import checked_bounds
from structsvm.problem.loops import compiled_kernel

T = TypeVar("T")

MOST_OUTPUTS = 50_000
_MOST_NUMBERS = 40
_ROUNDING = 1e-9
"""Size of a negative loss that a check takes for 0; the fit knows the scale of the losses and is stricter."""


class Malformed(CheckError):
    """A method of a loss raised an exception or returned an invalid value, which a fit reports too."""


class Raised(Malformed):
    """A method of a loss raised an exception."""


@frozen(eq=False)
class Methods:
    """Call a loss's methods by their public names; `CheckError` reports exceptions and invalid results."""

    loss: ScoreLoss[Any]
    generic: Loss[Any, Any] | None = None

    @classmethod
    def of(cls, loss: ScoreLoss[Any] | Loss[Any, Any], ys: list[Any]) -> Self:
        """Bind a loss to examples: true outputs, or pairs (x, y) for a generic loss."""
        if isinstance(loss, ScoreLoss):
            return cls(loss.bind(ys))
        bound = loss.bind([y for _, y in ys])
        return cls(InScoreSpace(bound), bound)

    @property
    def value(self) -> str:
        """Formula of an output's value, for messages."""
        return "scores·c(ŷ)" if self.generic is None else "w·Ψ(x, ŷ)"

    def encode(self, output: Any, y: Any, length: int | None, *, predicted: bool = False) -> Vector:
        """Return the encoding of an output as finite numbers; ``predicted`` selects the encoding for predictions."""
        by = self.loss.predicting if predicted else self.loss
        code = self.call("encode", lambda: by.encode(output, y), y, output=output)
        try:
            vector = np.array(dense(code), dtype=np.float64)
        except (TypeError, ValueError):
            vector = np.zeros((0, 0))
        if vector.ndim != 1 or not np.isfinite(vector).all() or length not in (None, len(vector)):
            many = "" if length is None else f"{length} "
            whose = "one per score" if self.generic is None else "the same number for every x and y"
            verdict = f"returned {_returned(code)}: it must return a vector of {many}finite numbers, {whose}"
            raise self.wrong("encode", verdict, y, kind=Malformed, output=output)
        return vector

    def sparse(self, output: Any, y: Any) -> SparseVector:
        """Return the encoding of an output as a sparse vector."""
        code = self.call("encode", lambda: encoded(self.loss, output, y), y, output=output)
        return code if isinstance(code, SparseVector) else SparseVector.of_dense(code)

    def delta(self, y: Any, output: Any) -> float:
        """Return ``Δ(y, ŷ)``: a number of at least 0 but for rounding."""
        delta = self.call("loss", lambda: self.loss.loss(y, output), y, output=output)
        try:
            number = float(delta)
        except (TypeError, ValueError):
            number = np.nan
        if not -_ROUNDING <= number < np.inf:
            verdict = f"returned {show(delta)}: it must return a number of at least 0"
            raise self.wrong("loss", verdict, y, kind=Malformed, output=output)
        return max(number, 0.0)

    def augmented(self, scores: Vector, y: Any) -> tuple[Any, float | None]:
        """Return the loss-augmented argmax and, if the loss is bounded, its bound."""
        find = lambda: self.loss.loss_augmented_argmax(scores, y)  # noqa: E731
        answer = self.call("loss_augmented_argmax", find, y, scores=scores)
        fault = output_fault(self.loss, answer)
        if fault is not None:
            raise self.wrong("loss_augmented_argmax", fault, y, kind=Malformed, scores=scores)
        output, bound = answer if self.loss.bounded else (answer, None)
        return self._separate(output), bound

    def predicted(self, scores: Vector, y: Any) -> Any:
        """Return the argmax."""
        return self._separate(self.call("argmax", lambda: self.loss.prediction(scores, y), y, scores=scores))

    def _separate(self, output: Any) -> Any:
        """Return an output that later calls do not change; the input x of a generic loss's pair stays the same."""
        return separate(output) if self.generic is None else (output[0], separate(output[1]))

    def outputs(self, y: Any) -> list[Any] | None:
        """Return all outputs of an example; None if they are not listed or too many."""
        try:
            most = MOST_OUTPUTS + 1
            outputs = self.call("outputs", lambda: list(islice(map(self._separate, self.loss.outputs(y)), most)), y)
        except NotImplementedError:
            return None
        if not outputs:
            raise self.wrong("outputs", "returned no output", y)
        return outputs if len(outputs) <= MOST_OUTPUTS else None

    def weight_bounds(self, d: int, y: Any) -> tuple[Vector, Vector] | None:
        """Return the bounds of the weights of a generic loss."""
        bounds: Any = self.call("weight_bounds", lambda: self.loss.weight_bounds(d), y)
        if bounds is None:
            return None
        try:
            return checked_bounds(bounds, d, "it")
        except InputError as error:
            raise self.wrong("weight_bounds", f"returned {show(bounds)}: {error}", y, kind=Malformed) from None

    def usable(self, y: Any) -> bool:
        """Return whether the loss can learn from an example."""
        usable = self.call("usable", lambda: self.loss.usable(y), y)
        if not isinstance(usable, bool | np.bool_):
            raise self.wrong("usable", f"returned {show(usable)}: it must return True or False", y, kind=Malformed)
        return bool(usable)

    def labels(self, y: Any) -> Vector:
        """Return the kernel's labels of an example."""
        labels = self.call("labels", lambda: self.loss.labels(y), y)
        vector = as_numbers(labels)
        if vector is None:
            raise self.wrong(
                "labels", f"returned {_returned(labels)}: it must return a vector of numbers", y, kind=Malformed
            )
        return vector

    def params(self, ys: list[Any]) -> Vector:
        """Return the kernel's parameters for all examples; an `InputError` about the loss's settings passes through."""
        try:
            params = self.loss.params(ys)
        except InputError:
            raise
        except Exception as error:
            raise self.wrong("params", f"raised {type(error).__name__}: {error}", ys[0]) from error
        vector = as_numbers(params)
        if vector is None:
            raise self.wrong("params", f"returned {_returned(params)}: it must return a vector of numbers", ys[0])
        return vector

    def kernel(self, y: Any, scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
        """Compile the kernel if necessary, and return its result."""
        try:
            compiled = compiled_kernel(self.loss.kernel)
        except InputError as error:
            raise Raised(f"{self.loss.title}: {error}") from error
        return self.call("kernel", lambda: float(compiled(scores, labels, params, out)), y, scores=scores)

    def operator(self) -> None:
        """Check that ``operator`` over rows of two features agrees with ``scores_rows``, if it can be made."""
        rows = Rows.one_row_per_example(np.ones((1, 2)))
        try:
            weights = self.loss.operator(rows).d if self.loss.scores_rows else rows.d
        # The operator may need other features.
        except Exception:
            return
        if weights != rows.d:
            raise CheckError(
                f"{self.loss.title}.operator makes an operator with {weights} weights of rows with {rows.d} features, "
                "so rows do not have one score each: set scores_rows = False in the class"
            )

    def run_interpreted(self, y: Any, scores: Vector, labels: Vector, params: Vector) -> None:
        """Run the kernel in Python, because compiled code checks no bounds and cannot be interrupted."""
        verdict = trial(self.loss, scores, labels, params)
        if verdict:
            raise self.wrong("kernel", verdict, y, scores=scores)

    def wrong(
        self, method: str, verdict: str, y: Any, *, kind: type[CheckError] = CheckError, **seen: Any
    ) -> CheckError:
        """Return an error with the verdict on a method, then the example and, if known, scores, output and latent."""
        lines = [f"{self.loss.title}.{self.loss.method_label(method)} {verdict}"]
        lines.append(
            f"  example y = {show(y)}" if self.generic is None else f"  example x = {show(y[0])}, y = {show(y[1])}"
        )
        if "output" in seen:
            lines.append(f"  output ŷ = {show(self.loss.unwrap(seen['output']))}")
        if "latent" in seen:
            lines.append(f"  latent h = {show(seen['latent'])}")
        if "scores" in seen:
            lines.append(f"  {'scores' if self.generic is None else 'w'} = {show(seen['scores'])}")
        return kind("\n".join(lines))

    def call(self, method: str, call: Callable[[], T], y: Any, **seen: Any) -> T:
        """Call a method and report exceptions with the example; `NotImplementedError` passes through."""
        try:
            return call()
        except NotImplementedError:
            raise
        except Exception as error:
            raise self.wrong(method, f"raised {type(error).__name__}: {error}", y, kind=Raised, **seen) from error


def unchanged(now: Any, before: Any) -> bool:
    """Return False if an example has visibly changed."""
    if now is before:
        return True
    if isinstance(now, tuple | list) and isinstance(before, tuple | list):
        return len(now) == len(before) and all(map(unchanged, now, before))
    try:
        same = np.array_equal(now, before, equal_nan=True) if isinstance(now, np.ndarray) else now == before
        return bool(np.all(same))
    except (TypeError, ValueError):
        return True


def as_numbers(returned: Any) -> Vector | None:
    """Return a copy as a float64 vector; None if the value is not a vector of numbers."""
    try:
        vector = np.array(returned, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return vector if vector.ndim == 1 else None


class _Short(reprlib.Repr):
    """Represent values in about one line; the middle of long arrays, lists and strings is left out."""

    def __init__(self) -> None:
        super().__init__()
        self.maxtuple = self.maxlist = self.maxset = self.maxdict = 8
        self.maxstring = self.maxother = 200

    def repr_ndarray(self, array: np.ndarray[Any, Any], level: int) -> str:
        """Return a short array in full, a long vector's ends, and a large matrix's shape."""
        if array.size > _MOST_NUMBERS and array.ndim > 1:
            return f"<array of shape {array.shape}>"
        return np.array2string(array, precision=6, separator=", ", threshold=_MOST_NUMBERS, max_line_width=1000)


show = _Short().repr
"""Show anything in about a line."""


def _returned(code: Any) -> str:
    if isinstance(code, np.ndarray) and code.ndim != 1:
        return f"an array of shape {code.shape}"
    return f"{len(code)} numbers, {show(code)}" if isinstance(code, np.ndarray) else show(code)
