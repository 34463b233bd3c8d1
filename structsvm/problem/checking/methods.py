"""The methods of a loss, called so that whatever goes wrong names the loss, the method and what it was given."""

import reprlib
from collections.abc import Callable
from itertools import islice
from typing import Any, Self, TypeVar

import numpy as np
from attrs import frozen

from structsvm.exceptions import CheckError, InputError
from structsvm.losses import Loss, ScoreLoss
from structsvm.losses.base import InScoreSpace
from structsvm.operators import Rows
from structsvm.problem.coordinates import checked_bounds
from structsvm.problem.loops import compiled_kernel
from structsvm.problem.trial import trial
from structsvm.types import Vector

T = TypeVar("T")

MOST_OUTPUTS = 50_000
_MOST_NUMBERS = 40


class Malformed(CheckError):
    """A method of a loss raised something, or returned something that cannot be used: a fit reports it too."""


class Raised(Malformed):
    """A method of a loss raised something."""


@frozen(eq=False)
class Methods:
    """The methods of a loss under the names that its author knows.

    Each raises an CheckError when the author's method raises something or returns what cannot be used.

    Parameters
    ----------
    loss : the loss, in score space where it is generic.
    generic : the generic loss; None where it is none.
    """

    loss: ScoreLoss[Any]
    generic: Loss[Any, Any] | None = None

    @classmethod
    def of(cls, loss: ScoreLoss[Any] | Loss[Any, Any], ys: list[Any]) -> Self:
        """Return the methods of a loss that is bound to examples: true outputs, or pairs (x, y) for a generic one."""
        if isinstance(loss, ScoreLoss):
            return cls(loss.bind(ys))
        bound = loss.bind([y for _, y in ys])
        return cls(InScoreSpace(bound), bound)

    @property
    def value(self) -> str:
        """What messages call the value of an output."""
        return "scores·c(ŷ)" if self.generic is None else "w·Ψ(x, ŷ)"

    def encode(self, output: Any, y: Any, length: int | None, *, predicted: bool = False) -> Vector:
        """Return the encoding of an output: finite numbers, ``length`` of them unless that is None.

        Parameters
        ----------
        output, y : the output and the example.
        length : how many numbers there must be.
        predicted : return the one by which predictions are made.
        """
        by = self.loss.predicting if predicted else self.loss
        code = self.call("encode", lambda: by.encode(output, y), y, output=output)
        try:
            vector = np.asarray(code, dtype=np.float64)
        except (TypeError, ValueError):
            vector = np.zeros((0, 0))
        if vector.ndim != 1 or not np.isfinite(vector).all() or length not in (None, len(vector)):
            many = "" if length is None else f"{length} "
            whose = "one a score, as many for every output" if self.generic is None else "as many for every x and y"
            verdict = f"returned {_returned(code)}: it must return a vector of {many}finite numbers, {whose}"
            raise self.wrong("encode", verdict, y, kind=Malformed, output=output)
        return vector

    def delta(self, y: Any, output: Any) -> float:
        """Return ``Δ(y, ŷ)``: a number of at least 0."""
        delta = self.call("loss", lambda: self.loss.loss(y, output), y, output=output)
        try:
            number = float(delta)
        except (TypeError, ValueError):
            number = np.nan
        if not 0.0 <= number < np.inf:
            verdict = f"returned {show(delta)}: it must return a number of at least 0"
            raise self.wrong("loss", verdict, y, kind=Malformed, output=output)
        return number

    def augmented(self, scores: Vector, y: Any) -> Any:
        """Return the loss-augmented argmax."""
        found = lambda: self.loss.loss_augmented_argmax(scores, y)  # noqa: E731
        return self.call("loss_augmented_argmax", found, y, scores=scores)

    def predicted(self, scores: Vector, y: Any) -> Any:
        """Return the argmax."""
        generic = self.generic
        if generic is None:
            return self.call("argmax", lambda: self.loss.argmax(scores), y, scores=scores)
        return self.call("argmax", lambda: (y[0], generic.argmax(y[0], scores)), y, scores=scores)

    def outputs(self, y: Any) -> list[Any] | None:
        """Return all outputs of an example; None where they are not listed, or too many."""
        try:
            outputs = self.call("outputs", lambda: list(islice(self.loss.outputs(y), MOST_OUTPUTS + 1)), y)
        except NotImplementedError:
            return None
        if not outputs:
            raise self.wrong("outputs", "lists no output", y)
        return outputs if len(outputs) <= MOST_OUTPUTS else None

    def weight_bounds(self, d: int, y: Any) -> tuple[Vector, Vector] | None:
        """Return the bounds of the weights of a generic loss."""
        generic = self.generic
        bounds: Any = None if generic is None else self.call("weight_bounds", lambda: generic.weight_bounds(d), y)
        if bounds is None:
            return None
        try:
            return checked_bounds(bounds, d, "it")
        except InputError as error:
            raise self.wrong("weight_bounds", f"returned {show(bounds)}: {error}", y, kind=Malformed) from None

    def usable(self, y: Any) -> bool:
        """Say whether an example can be learned from."""
        usable = self.call("usable", lambda: self.loss.usable(y), y)
        if not isinstance(usable, bool | np.bool_):
            raise self.wrong("usable", f"returned {show(usable)}: it must return True or False", y, kind=Malformed)
        return bool(usable)

    def labels(self, y: Any) -> Vector:
        """Return what the kernel reads of an example."""
        labels = self.call("labels", lambda: self.loss.labels(y), y)
        vector = as_numbers(labels)
        if vector is None:
            raise self.wrong(
                "labels", f"returned {_returned(labels)}: it must return a vector of numbers", y, kind=Malformed
            )
        return vector

    def params(self, ys: list[Any]) -> Vector:
        """Return what the kernel reads of all examples together.

        Raises
        ------
        InputError : when the loss itself says so of its settings.
        """
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
        """Return what the kernel returns; compile it where that was not done."""
        try:
            compiled = compiled_kernel(self.loss.kernel)
        except InputError as error:
            raise Raised(f"{self.loss.title}: {error}") from error
        return self.call("kernel", lambda: float(compiled(scores, labels, params, out)), y, scores=scores)

    def operator(self) -> None:
        """Compare the operator over rows of two features with what the loss says of it, if that can be made."""
        rows = Rows.one_each(np.ones((1, 2)))
        try:
            weights = self.loss.operator(rows).d if self.loss.scores_rows else rows.d
        except Exception:  # it may be one of other features
            return
        if weights != rows.d:
            raise CheckError(
                f"{self.loss.title}.operator makes an operator with {weights} weights of rows with {rows.d} features, "
                "so that a row does not get one score: say scores_rows = False in the class"
            )

    def run_interpreted(self, y: Any, scores: Vector, labels: Vector, params: Vector) -> None:
        """Run the kernel in Python, where bounds are checked and a loop can be ended; compiled code goes on with it."""
        verdict = trial(self.loss.kernel, scores, labels, params)
        if verdict:
            raise self.wrong("kernel", verdict, y, scores=scores)

    def wrong(
        self, method: str, verdict: str, y: Any, *, kind: type[CheckError] = CheckError, **seen: Any
    ) -> CheckError:
        """Return the error that says what a method did wrong: the verdict first, then example, scores and output.

        Parameters
        ----------
        method : of the `ScoreLoss`.
        verdict : what it did.
        y : the example.
        kind : of the error.
        seen : ``scores``, ``output`` and ``latent``, where they are known.
        """
        lines = [f"{self.loss.title}.{self.loss.called(method)} {verdict}"]
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
        """Call a method, so that what it raises is told with the example; `NotImplementedError` is left as it is."""
        try:
            return call()
        except NotImplementedError:
            raise
        except Exception as error:
            raise self.wrong(method, f"raised {type(error).__name__}: {error}", y, kind=Raised, **seen) from error


def unchanged(now: Any, before: Any) -> bool:
    """Say whether an example is as it was, as far as that can be seen."""
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
    """Return a vector of numbers as float64, a copy; None where it is none."""
    try:
        vector = np.array(returned, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return vector if vector.ndim == 1 else None


class _Short(reprlib.Repr):
    """Texts of a line or so: the middle of long arrays, lists and strings is left out."""

    def __init__(self) -> None:
        super().__init__()
        self.maxtuple = self.maxlist = self.maxset = self.maxdict = 8
        self.maxstring = self.maxother = 200

    def repr_ndarray(self, array: np.ndarray[Any, Any], level: int) -> str:
        """Return a short array in full, a long vector with its ends, a large matrix by its shape."""
        if array.size > _MOST_NUMBERS and array.ndim > 1:
            return f"<array of shape {array.shape}>"
        return np.array2string(array, precision=6, separator=", ", threshold=_MOST_NUMBERS, max_line_width=1000)


show = _Short().repr
"""Show anything in about a line."""


def _returned(code: Any) -> str:
    if isinstance(code, np.ndarray) and code.ndim != 1:
        return f"an array of shape {code.shape}"
    return f"{len(code)} numbers, {show(code)}" if isinstance(code, np.ndarray) else show(code)
