"""A change of coordinates that makes ``½‖u‖²`` of another regulariser, so that solvers know one regulariser only."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import ArrayLike

from structsvm.arrays import numbers_alone
from structsvm.exceptions import InputError
from structsvm.problem.box import Box
from structsvm.types import BoolVector, Matrix, Vector

Bounds: TypeAlias = Any
"""A pair of the smallest and the largest weights, each a number for all, or one for each; None: no bound."""

_LARGEST = 1e100
"""Largest absolute value of bounds, centres and linear terms, and of penalties and 1 over these."""


@frozen(eq=False)
class Coordinates:
    """``u = (w − w₀) / s``, in which ``½ Σ_j λ_j (w_j − b_j)² − v·w`` is ``½‖u‖²`` plus a constant.

    With ``s_j = λ_j^−½`` and ``w₀ = b + v / λ``: an added linear term is a centre elsewhere. A plane (g, L) of w, for
    which ``L − g·w`` is a lower bound of the hinge, is the plane ``(s g, L − g·w₀)`` of u.

    Parameters
    ----------
    centre : w₀, shape (d,).
    scale : s, shape (d,), positive.
    constant : what is added to ``½‖u‖²``: ``−v·b − ½ Σ_j v_j² / λ_j``.
    bounds : the smallest and the largest w, shape (d,) each; None: there are none.
    loose : the weights without regulariser (λ = 0, where s is 1), shape (d,); None: there are none. They have bounds.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm.problem import Coordinates
    >>> coordinates = Coordinates.of(2, centre=[1.0, 0.0], penalty=[4.0, 1.0])
    >>> w = np.array([1.5, 3.0])
    >>> u = coordinates.u(w)
    >>> u.tolist(), coordinates.w(u).tolist()
    ([1.0, 3.0], [1.5, 3.0])
    >>> 0.5 * float(u @ u), 0.5 * (4.0 * (1.5 - 1.0) ** 2 + 3.0**2)
    (5.0, 5.0)
    """

    centre: Vector = field(repr=False)
    scale: Vector = field(repr=False)
    constant: float = 0.0
    bounds: tuple[Vector, Vector] | None = field(default=None, repr=False)
    loose: BoolVector | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        d: int,
        centre: ArrayLike | None = None,
        penalty: ArrayLike | None = None,
        linear: ArrayLike | None = None,
        bounds: Bounds | None = None,
    ) -> "Coordinates | None":
        """Return the coordinates of an objective; None where it is the plain one.

        Parameters
        ----------
        d : number of weights.
        centre : b, shape (d,); None: 0.
        penalty : λ, shape (d,), not negative; None: 1.
        linear : v, shape (d,); None: 0.
        bounds : the smallest and the largest w; None: there are none.

        Raises
        ------
        InputError : when one is no vector of d finite numbers, or these are too large to compute with, a penalty is
            negative, or 0 where a weight has no finite bounds or has a linear term, or a bound is NaN, or the lower is
            above the upper one.
        """
        if centre is None and penalty is None and linear is None and bounds is None:
            return None
        b, v = (_vector(what, given, d, 0.0) for what, given in (("centre", centre), ("linear", linear)))
        weight = _vector("penalty", penalty, d, 1.0)
        box = None if bounds is None else checked_bounds(bounds, d)
        loose = _loose(weight, box)
        scale = 1.0 / np.sqrt(weight if loose is None else np.where(loose, 1.0, weight))
        return cls(b, scale, bounds=box, loose=loose).tilted(v)

    def tilted(self, v: Vector) -> "Coordinates":
        """Return the coordinates with ``−v·w`` added to the objective.

        Raises
        ------
        InputError : when v is not 0 for a weight without regulariser, whose centre it cannot move.
        """
        if self.loose is not None and v[self.loose].any():
            first = int(np.flatnonzero(self.loose & (v != 0.0))[0])
            raise InputError(
                f"weight {first} has no regulariser (penalty 0), so that no linear term can be added to the objective "
                "for it, as linear=, RampRanker and LatentStructuralSVM do: give it a small penalty"
            )
        step = self.scale**2 * v
        constant = self.constant - float(v @ self.centre) - 0.5 * float(v @ step)
        return evolve(self, centre=self.centre + step, constant=constant)

    @cached_property
    def box(self) -> Box | None:
        """The bounds on u; None: there are none."""
        if self.bounds is None:
            return None
        low, high = map(self.u, self.bounds)
        return Box(low, high, np.zeros(len(low), dtype=np.bool_) if self.loose is None else self.loose)

    def w(self, u: Vector) -> Vector:
        """Return the weights at coordinates u; where these are within bounds, so are the weights, to the last digit."""
        w = self.centre + self.scale * u
        return w if self.bounds is None else np.clip(w, *self.bounds)

    def u(self, w: Vector) -> Vector:
        """Return the coordinates of weights w."""
        return (w - self.centre) / self.scale

    def planes(self, G: Matrix, L: Vector) -> tuple[Matrix, Vector]:
        """Return planes of w, one a row, as planes of u."""
        return G * self.scale, L - G @ self.centre

    def moved(self, G: Matrix, L: Vector, to: "Coordinates") -> Vector:
        """Return the offsets of planes in coordinates of another centre and the same scale.

        Parameters
        ----------
        G, L : planes in these coordinates.
        to : the others.
        """
        return np.asarray(L - G @ ((to.centre - self.centre) / self.scale))

    @property
    def content(self) -> tuple[Vector, ...]:
        """What tells these coordinates from others. The constant is part of the bounds of a result, so it counts."""
        plain = self.centre, self.scale, np.array([self.constant])
        if self.bounds is None:
            return plain
        loose = np.zeros(0) if self.loose is None else self.loose.astype(np.float64)
        return *plain, *self.bounds, loose


def checked_bounds(
    bounds: Any, d: int, what: str = "bounds", names: Sequence[str] | None = None
) -> tuple[Vector, Vector]:
    """Return the smallest and the largest weights, shape (d,) each, infinite where there is no bound.

    Parameters
    ----------
    bounds : both, each a number for all, or one for each, or None. Where d is 2, a pair of pairs is that of the two
        smallest and the two largest weights, too, as in SciPy's ``lsq_linear``, and not one of (smallest, largest) for
        each weight.
    d : number of weights.
    what : what messages call them.
    names : of the weights, where they have some.

    Raises
    ------
    InputError : when they are no pair of such, one is NaN or no number, or finite and too large to compute with, or the
        lower is above the upper one or is none at all.
    """
    alone = isinstance(bounds, np.ndarray) and bounds.ndim == 0
    if alone or not isinstance(bounds, tuple | list | np.ndarray) or len(bounds) != 2:
        raise InputError(
            f"{what} must be a pair (smallest, largest) of weights, each a number, {d} numbers or None: (0, None) for "
            "weights that are not negative"
        )
    ends = []
    for part, given, none in zip(("smallest", "largest"), bounds, (-np.inf, np.inf), strict=True):
        end = np.asarray(none) if given is None else numbers_alone(given, f"{what}: the {part} weights")
        if end.shape not in ((), (d,)):
            raise InputError(
                f"{what}: the {part} weights must be one number, or one for each of the {d} weights, got shape "
                f"{end.shape}"
            )
        if np.isnan(end).any():
            raise InputError(
                f"{what}: the {part} weights must not be NaN, nor None for some of them: {none} (numpy.inf) is no bound"
            )
        large = np.isfinite(end) & (np.abs(end) > _LARGEST)
        if large.any():
            raise InputError(
                f"{what}: the {part} weights must be at most {_LARGEST:g} in absolute value to be computed with, got "
                f"{end[large][0]:g}: {none} (numpy.inf) is no bound"
            )
        ends.append(np.broadcast_to(end, (d,)).astype(np.float64))
    low, high = ends
    empty = (low > high) | (low == np.inf) | (high == -np.inf)
    if empty.any():
        first = int(np.argmax(empty))
        whose = f"weight {first}" if names is None else f"the weight of {names[first]!r}"
        if low[first] > high[first]:
            raise InputError(f"{what}: low {low[first]:g} is above high {high[first]:g} of {whose}: exchange them")
        raise InputError(f"{what}: no finite weight is from {low[first]:g} to {high[first]:g}, as {whose} should be")
    return low, high


def _loose(penalty: Vector, bounds: tuple[Vector, Vector] | None) -> BoolVector | None:
    """Return which weights have no regulariser; None: all have one."""
    if (penalty < 0.0).any():
        first = int(np.argmax(penalty < 0.0))
        raise InputError(f"penalty must not be below 0, and that of weight {first} is {penalty[first]:g}")
    loose: BoolVector = penalty == 0.0
    if (penalty[~loose] < 1.0 / _LARGEST).any():
        first = int(np.argmax(~loose & (penalty < 1.0 / _LARGEST)))
        raise InputError(
            f"penalty must be 0 or at least {1.0 / _LARGEST:g} to be computed with, and that of weight {first} is "
            f"{penalty[first]:g}"
        )
    if not loose.any():
        return None
    bounded = np.zeros_like(loose) if bounds is None else np.isfinite(bounds[0]) & np.isfinite(bounds[1])
    if (loose & ~bounded).any():
        first = int(np.argmax(loose & ~bounded))
        raise InputError(
            f"weight {first} has no regulariser (penalty 0), and without one nothing can be proved unless it has bounds"
            ": give bounds= with two finite numbers for it, or a small penalty"
        )
    return loose


def _vector(what: str, given: Any, d: int, default: float) -> Vector:
    if given is None:
        return np.full(d, default)
    vector = numbers_alone(given, what)
    if vector.shape != (d,) or not np.isfinite(vector).all():
        got = f"the number {vector:g} alone" if vector.ndim == 0 else f"shape {vector.shape}"
        got = "one that is not finite" if vector.shape == (d,) else got
        raise InputError(f"{what} must hold a finite number for each of the {d} weights, got {got}")
    large = np.abs(vector) > _LARGEST
    if large.any():
        first = int(np.argmax(large))
        raise InputError(
            f"{what} must be at most {_LARGEST:g} in absolute value to be computed with, and that of weight {first} is "
            f"{vector[first]:g}"
        )
    return vector
