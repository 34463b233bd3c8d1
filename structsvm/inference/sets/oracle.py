"""Sets that a function of the user maximizes over."""

from typing import Any

import numpy as np
from attrs import define, field, frozen
from numpy.typing import ArrayLike

from structsvm.exceptions import InputError, OracleError, brief
from structsvm.foundation.arrays import finite_vector, numbers
from structsvm.foundation.settings import at_least, truth_value
from structsvm.foundation.types import Matrix, Vector
from structsvm.inference.sets.base import ROUNDING, Bounded, FeasibleSet, machine_code
from structsvm.inference.sets.states import state_of

_REMEMBERED = 8
"""Number of earlier outputs with which an output is compared."""


def _constants(values: ArrayLike) -> Vector:
    return np.ascontiguousarray(numbers(values, "Oracle(constants=...)")).ravel()


@frozen(eq=False)
class Oracle(FeasibleSet):
    """A feasible set given by a function that maximizes linear scores: a solver, a dynamic program, a graph algorithm.

    The function may be in NumPy, SciPy, NetworkX, OR-tools or any other package. Fits run a `kernel` without Python.
    Each output that `maximize` gets is copied, checked, and compared with up to eight earlier ones.

    Parameters
    ----------
    function : ``function(scores)``, which returns an output with the largest ``scores·y`` as a vector with one number
        per part. To minimize costs, pass ``-scores`` to a minimizer. None if `kernel` is given.
    size : number of parts.
    kernel : ``kernel(scores, data, out)``, which writes the output to ``out`` and which numba can compile; it replaces
        ``function``. ``data`` are the ``constants``. It must not change scores or data.
    constants : numbers for the kernel, such as sizes or capacities.
    exact : True if outputs maximize the score; False if ``function`` may return `Bounded`, an output with a bound.

    Raises
    ------
    InputError : a result does not have one finite number per part, or numba cannot compile the kernel.
    OracleError : an earlier output has a larger score than a result, so the function does not maximize, or its set
        changes.

    Examples
    --------
    >>> def cheapest(scores):  # choose one part
    ...     return np.eye(3)[np.argmax(scores)]
    >>> Oracle(cheapest, size=3).maximize([-2.0, -1.0, -3.0])
    array([0., 1., 0.])
    >>> def positive(scores, data, out):  # choose any number of parts
    ...     for part in range(len(scores)):
    ...         out[part] = 1.0 if scores[part] > 0.0 else 0.0
    >>> Oracle(kernel=positive, size=3).maximize([0.5, -1.0, 2.0])
    array([1., 0., 1.])
    """

    function: Any = None
    size: int = field(validator=at_least(1), kw_only=True)
    kernel: Any = field(default=None, kw_only=True)  # type: ignore[misc]
    constants: Vector = field(default=(), converter=_constants, kw_only=True, repr=False)
    exact: bool = field(default=True, validator=truth_value, kw_only=True)  # type: ignore[misc]

    def __attrs_post_init__(self) -> None:
        """Require a function or a kernel."""
        if (self.function is None) == (self.kernel is None):
            raise InputError(
                "Oracle(...) needs either a function or a kernel: pass Oracle(function, size=...) or "
                "Oracle(kernel=..., size=...)"
            )
        for value in (self.function, self.kernel):
            if not (value is None or callable(value)):
                raise InputError(f"Oracle(...) needs a function of the scores, got {brief(value)}")

    def data(self) -> Vector:
        return self.constants

    def maximize(self, scores: Vector) -> Vector | Bounded:
        scores = finite_vector(scores, self.size, "scores")
        answer = self._answer(scores.copy())
        bound = None
        if isinstance(answer, Bounded):
            if self.exact:
                raise InputError(f"{self._title} returned Bounded: pass exact=False to Oracle")
            answer, bound = answer.output, float(answer.bound)
            if not bound > -np.inf:
                raise InputError(f"{self._title} returned the bound {bound}: it must return a number")
        return state_of(self, earlier_outputs).compared(self._title, scores, self._output(answer), bound)

    def contains(self, y: Vector) -> bool:
        """Return True if y is an output, by three maximizations.

        The result is right if y and all outputs consist of 0 and 1; otherwise, it may be True for other y.
        """
        y = np.asarray(y, dtype=np.float64)
        if y.shape != (self.size,) or not np.isfinite(y).all():
            return False
        return all(self._reaches(scores, y) for scores in (2.0 * y - 1.0, y, -y))

    @property
    def _title(self) -> str:
        function = self.kernel if self.function is None else self.function
        return f"Oracle({getattr(function, '__name__', type(function).__name__)})"

    def _answer(self, scores: Vector) -> Any:
        if self.function is not None:
            return self.function(scores)
        out = np.zeros(self.size)
        from numba.core.errors import NumbaError

        try:
            machine_code(self.kernel)(scores, self.constants, out)
        except NumbaError as error:
            raise InputError(
                f"numba cannot compile the kernel of {self._title}: pass a function of scores that returns the output "
                f"as Oracle(function, size={self.size}), or change the kernel. {str(error).strip()}"
            ) from None
        return out

    def _output(self, answer: Any) -> Vector:
        """Return a copy of a result as numbers; the function may use its buffer again."""
        try:
            y = np.array(answer, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"{self._title} must return {self.size} numbers, got {brief(answer)}") from None
        if y.shape != (self.size,):
            raise InputError(
                f"{self._title} returned shape {y.shape} for {self.size} scores: it must return one number per part"
            )
        if not np.isfinite(y).all():
            raise InputError(f"{self._title} returned NaN or infinity for part {np.argmin(np.isfinite(y))}")
        return y


@define(eq=False)
class EarlierOutputs:
    """The last few outputs of an oracle, which later ones must equal or exceed."""

    outputs: Matrix
    count: int = 0

    def compared(self, title: str, scores: Vector, y: Vector, bound: float | None) -> Vector | Bounded:
        """Return the best output with its bound, if there is one; store a new one."""
        value = float(scores @ y)
        values = self.outputs[: self.count] @ scores
        largest = float(values.max(initial=value))
        best = self.outputs[values.argmax()].copy() if largest > value else y
        claimed = value if bound is None else bound
        if largest > claimed + ROUNDING * (np.abs(scores) @ np.maximum(np.abs(y), np.abs(best))):
            word = "an output with the score" if bound is None else "the bound"
            raise OracleError(
                f"{title} returned {word} {claimed:.6g}, but an output that it returned before has the score "
                f"{largest:.6g}: it does not maximize, or its outputs differ between calls. Correct it; a solver that "
                "minimizes needs -scores"
            )
        # Outputs with the same score are most likely the same.
        if not (values == value).any():
            self.outputs[self.count % _REMEMBERED] = y
            self.count += 1
        return y if bound is None else Bounded(best, max(bound, largest))


def earlier_outputs(oracle: Oracle) -> EarlierOutputs:
    """Return an empty memory."""
    return EarlierOutputs(np.zeros((_REMEMBERED, oracle.size)))
