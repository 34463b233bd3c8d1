"""Sets of outputs over which a linear score is maximized."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import cache
from types import FunctionType
from typing import Any, ClassVar, NamedTuple

import numpy as np

from structsvm.exceptions import InputError, brief
from structsvm.foundation.arrays import numbers
from structsvm.foundation.compute.compilation import compiled
from structsvm.foundation.types import Vector

ROUNDING = 1e-8
"""Tolerance, relative to the scores of parts, by which an output may exceed the result of a maximization."""


class Bounded(NamedTuple):
    """An output found by an approximate argmax, with an upper bound of the true maximum.

    `ScoreLoss.loss_augmented_argmax` and `Loss.loss_augmented_argmax` return it if their class sets ``bounded = True``,
    and `FeasibleSet.maximize` may return it.

    Parameters
    ----------
    output : the best output found.
    bound : an upper bound of the largest ``Δ(y, ŷ) + w·Ψ(x, ŷ)`` over all outputs ŷ, such as the dual value of message
        passing, the value of a relaxation, or the bound of branch and bound.

    Examples
    --------
    >>> Bounded(output=[0, 1], bound=2.5).bound
    2.5
    """

    output: Any
    bound: float


class FeasibleSet(ABC):
    """Base class of sets of outputs: vectors y with one number per part and the linear score ``scores·y``.

    A part is, for example, an edge of a path, a pair of a matching, or a variable of a program. `PartHamming` and
    `Regret` need only a maximizer of linear scores, because their loss-augmented argmax is the same problem with other
    scores.

    Attributes
    ----------
    kernel : a plain function ``kernel(scores, data, out)`` that numba can compile and that writes a maximizing output
        to ``out``; `data` returns its ``data``. Fits then run without Python. None: fits call `maximize`.
    exact : True, the default, if `maximize` returns a maximizing output; False if it returns `Bounded`.

    Examples
    --------
    >>> class Intervals(FeasibleSet):  # consecutive parts
    ...     size = 4
    ...     def maximize(self, scores):
    ...         return max(self.outputs(), key=lambda y: y @ scores)
    ...     def outputs(self):
    ...         places = np.arange(4)
    ...         return [1.0 * ((places >= a) & (places < b)) for a in range(4) for b in range(a + 1, 5)]
    >>> Intervals().maximize(np.array([1.0, -0.5, 2.0, -1.0]))
    array([1., 1., 1., 0.])
    """

    kernel: ClassVar[Any] = None
    exact: ClassVar[bool] = True

    def __init_subclass__(cls) -> None:
        """Accept a kernel that is a function of the class, without staticmethod."""
        kernel = vars(cls).get("kernel")
        if isinstance(kernel, FunctionType):
            cls.kernel = staticmethod(kernel)

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of parts: the length of an output."""

    @abstractmethod
    def maximize(self, scores: Vector) -> Vector | Bounded:
        """Return an output with the largest ``scores·y``, or the best one found with a bound of the largest value."""

    @property
    def box(self) -> tuple[Any, Any]:
        """Smallest and largest numbers in outputs, one for each part or one for all; by default 0 and 1."""
        return 0.0, 1.0

    def contains(self, y: Vector) -> bool:
        """Return True if y is an output. The default is for vectors of 0 and 1, and maximizes once.

        If `maximize` returns a bound, the result is also True for some vectors that are not outputs.
        """
        y = np.asarray(y, dtype=np.float64)
        # If the parts in y have score 1 and all others −1, only y itself has the score sum(y).
        return y.shape == (self.size,) and bool(np.isin(y, (0.0, 1.0)).all()) and self._reaches(2.0 * y - 1.0, y)

    def _reaches(self, scores: Vector, y: Vector) -> bool:
        """Return True if the largest score is at least y's."""
        answer = self.maximize(scores)
        largest = answer.bound if isinstance(answer, Bounded) else scores @ answer
        return bool(largest >= scores @ y - ROUNDING * (np.abs(scores) @ np.abs(y)))

    def violation(self, y: Vector) -> str:
        """Return the reason why y is not an output, to end a message; empty, the default, if it is unknown."""
        return ""

    def outputs(self) -> Iterable[Vector]:
        """Return all outputs of a small set, for ``check_loss``."""
        raise NotImplementedError(f"{type(self).__name__} does not list its outputs; define outputs()")

    def data(self) -> Vector:
        """Return the numbers that ``kernel`` reads, such as sizes and capacities; empty by default."""
        return np.zeros(0)


class CompiledSet(FeasibleSet):
    """Base class of feasible sets with a compiled maximizer, the ``kernel``.

    Examples
    --------
    >>> def best_part(scores, data, out):
    ...     out[:] = 0.0
    ...     out[np.argmax(scores)] = 1.0
    >>> class OnePart(CompiledSet):
    ...     kernel = staticmethod(best_part)
    ...     size = 3
    >>> OnePart().maximize([0.5, 2.0, 1.0])
    array([0., 1., 0.])
    """

    def maximize(self, scores: Vector) -> Vector:
        plain = type(scores) is np.ndarray and scores.dtype == np.float64
        values = np.ascontiguousarray(scores if plain else numbers(scores, "scores"))
        if values.shape != (self.size,):
            raise InputError(f"scores must be {self.size} numbers, one for each part; their shape is {values.shape}")
        valid = values < np.inf
        if not valid.all():
            part = int(np.argmin(valid))
            raise InputError(f"scores must be finite, or -inf to forbid a part: part {part} has {values[part]}")
        out = np.zeros(self.size)
        machine_code(type(self).kernel)(values, self.data(), out)
        if (values[out > 0.0] == -np.inf).any():
            raise InputError(
                f"{brief(self)} has no output without a part whose score is -inf: allow more parts, with finite scores"
            )
        return out


def indicator(size: int, parts: Iterable[int]) -> Vector:
    """Return the output that consists of these parts."""
    output = np.zeros(size)
    output[list(parts)] = 1.0
    return output


@cache
def machine_code(kernel: Any) -> Any:
    """Return a compiled kernel."""
    return compiled(kernel)


def output_alone(answer: Any) -> Any:
    """Return an output without its bound."""
    return answer.output if isinstance(answer, Bounded) else answer
