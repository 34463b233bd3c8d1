"""Coordinates that turn any quadratic regularizer into ``½‖u‖²``, which solvers minimize."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import ArrayLike

from structsvm.exceptions import InputError
from structsvm.foundation.arrays import numbers_alone
from structsvm.foundation.types import BoolVector, IntVector, Matrix, Vector

Bounds: TypeAlias = Any
"""A pair of the smallest and the largest weights, each a number for all, d numbers, or None for no bound."""

_LARGEST = 1e100
"""Largest absolute value of bounds, centers, linear terms, penalties and reciprocal penalties."""


@frozen(eq=False)
class Box:
    """Bounds ``low ≤ u ≤ high`` (d,), infinite if absent; coordinates in ``loose`` (d,) have no regularizer.

    With ``r(u) = ½ Σ u_j²`` over the regularized coordinates, the problem "``r(u)`` plus hinges, within the box" has
    the dual ``D(a) = Σ a L + min { r(u) − u·g : low ≤ u ≤ high }``, ``g = Σ a G``, which is concave in the multipliers.
    Bounds need no multipliers. The minimum over a regularized coordinate is at ``g_j`` clipped to its bounds (a Moreau
    envelope); a loose coordinate is at the bound that ``g_j`` points to, so its bounds must be finite.
    """

    low: Vector = field(repr=False)
    high: Vector = field(repr=False)
    loose: BoolVector = field(repr=False)

    def nearest(self, u: Vector) -> Vector:
        """Return the nearest point of the box."""
        return np.clip(u, self.low, self.high)

    def regularizer(self, u: Vector) -> float:
        """Return ``r(u)``."""
        regular = u[~self.loose] if self.loose.any() else u
        return 0.5 * float(regular @ regular)

    def lowest(self, g: Vector) -> float:
        """Return the minimum of ``r(u) − u·g`` within the box."""
        u = self.nearest(g)
        if not self.loose.any():
            return float(u @ (0.5 * u - g))
        regular = ~self.loose
        bound = np.maximum(self.low[self.loose] * g[self.loose], self.high[self.loose] * g[self.loose])
        return float(u[regular] @ (0.5 * u[regular] - g[regular])) - float(bound.sum())

    def farthest(self, base: Vector, target: Vector) -> float:
        """Return the largest t, at least 1, with ``base + t (target − base)`` in the box; both ends must be in it."""
        along = target - base
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(along > 0.0, (self.high - base) / along, (self.low - base) / along)
        return max(1.0, float(np.min(room, where=along != 0.0, initial=np.inf)))


@frozen(eq=False)
class Coordinates:
    """``u = (w − w₀) / s``, in which ``½ Σ_j λ_j (w_j − b_j)² − v·w`` is ``½‖u‖²`` plus a constant.

    ``s_j = λ_j^−½`` and ``w₀ = b + v / λ``: a linear term shifts the center. A plane (g, L) of w, for which ``L − g·w``
    is a lower bound of the hinge, is the plane ``(s g, L − g·w₀)`` of u. ``center`` is w₀ and ``scale`` s, shape (d,);
    ``constant`` is ``−v·b − ½ Σ_j v_j² / λ_j``; ``bounds`` are the smallest and the largest w. ``loose`` (d,) marks
    weights without regularizer (λ = 0, s = 1), which must have bounds; None: no weights.
    """

    center: Vector = field(repr=False)
    scale: Vector = field(repr=False)
    constant: float = 0.0
    bounds: tuple[Vector, Vector] | None = field(default=None, repr=False)
    loose: BoolVector | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        d: int,
        center: ArrayLike | None = None,
        penalty: ArrayLike | None = None,
        linear: ArrayLike | None = None,
        bounds: Bounds | None = None,
    ) -> "Coordinates | None":
        """Return the coordinates for the arguments of `AbstractProblem.regularized`; None if all of them are None."""
        if center is None and penalty is None and linear is None and bounds is None:
            return None
        b, v = (_vector(what, values, d, 0.0) for what, values in (("center", center), ("linear", linear)))
        weight = _vector("penalty", penalty, d, 1.0)
        box = None if bounds is None else checked_bounds(bounds, d)
        loose = _loose(weight, box)
        scale = 1.0 / np.sqrt(weight if loose is None else np.where(loose, 1.0, weight))
        return cls(b, scale, bounds=box, loose=loose).tilted(v)

    def tilted(self, v: Vector) -> "Coordinates":
        """Return the coordinates with ``−v·w`` added to the objective; reject v ≠ 0 for weights without regularizer."""
        if self.loose is not None and v[self.loose].any():
            first = int(np.flatnonzero(self.loose & (v != 0.0))[0])
            raise InputError(
                f"weight {first} has no regularizer (penalty 0), so it cannot have a linear term, which linear=, "
                "RampRanker and LatentStructuralSVM add: give it a small penalty"
            )
        step = self.scale**2 * v
        constant = self.constant - float(v @ self.center) - 0.5 * float(v @ step)
        return evolve(self, center=self.center + step, constant=constant)

    def of_weights(self, weights: IntVector) -> "Coordinates":
        """Return the coordinates of some weights; all other weights are 0."""
        bounds = None if self.bounds is None else (self.bounds[0][weights], self.bounds[1][weights])
        loose = None if self.loose is None or not self.loose[weights].any() else self.loose[weights]
        return evolve(self, center=self.center[weights], scale=self.scale[weights], bounds=bounds, loose=loose)

    @cached_property
    def box(self) -> Box | None:
        """Bounds on u, or None."""
        if self.bounds is None:
            return None
        low, high = map(self.u, self.bounds)
        return Box(low, high, np.zeros(len(low), dtype=np.bool_) if self.loose is None else self.loose)

    def w(self, u: Vector) -> Vector:
        """Return the weights at coordinates u; if u is within bounds, so are the weights, to the last digit."""
        w = self.center + self.scale * u
        return w if self.bounds is None else np.clip(w, *self.bounds)

    def u(self, w: Vector) -> Vector:
        """Return the coordinates of weights w."""
        return (w - self.center) / self.scale

    def planes(self, G: Matrix, L: Vector) -> tuple[Matrix, Vector]:
        """Return planes of w, one per row, as planes of u."""
        return G * self.scale, L - G @ self.center

    def moved(self, G: Matrix, L: Vector, to: "Coordinates") -> Vector:
        """Return the offsets of planes in coordinates ``to``, which have another center and the same scale."""
        return np.asarray(L - G @ ((to.center - self.center) / self.scale))

    @property
    def content(self) -> tuple[Vector, ...]:
        """Arrays that identify these coordinates, with the constant, because the bounds of a result contain it."""
        plain = self.center, self.scale, np.array([self.constant])
        if self.bounds is None:
            return plain
        loose = np.zeros(0) if self.loose is None else self.loose.astype(np.float64)
        return *plain, *self.bounds, loose


def checked_bounds(
    bounds: Any, d: int, what: str = "bounds", names: Sequence[str] | None = None
) -> tuple[Vector, Vector]:
    """Return the smallest and the largest weights, shape (d,) each, infinite if unbounded; reject invalid bounds.

    With d = 2, a pair of pairs means the two smallest and the two largest weights, as in SciPy's ``lsq_linear``.
    ``what`` and ``names`` are the words for the bounds and the weights in messages.
    """
    alone = isinstance(bounds, np.ndarray) and bounds.ndim == 0
    if alone or not isinstance(bounds, tuple | list | np.ndarray) or len(bounds) != 2:
        raise InputError(
            f"{what} must be a pair (smallest, largest) of weights, each a number, {d} numbers or None, such as (0, "
            "None) for non-negative weights"
        )
    ends = []
    for part, values, none in zip(("smallest", "largest"), bounds, (-np.inf, np.inf), strict=True):
        end = np.asarray(none) if values is None else numbers_alone(values, f"{what}: the {part} weights")
        if end.shape not in ((), (d,)):
            raise InputError(
                f"{what}: the {part} weights must be one number or {d} numbers, one per weight, got shape {end.shape}"
            )
        if np.isnan(end).any():
            raise InputError(
                f"{what}: the {part} weights must not be NaN or partly None: use {none} (numpy.inf) for no bound"
            )
        large = np.isfinite(end) & (np.abs(end) > _LARGEST)
        if large.any():
            raise InputError(
                f"{what}: the {part} weights must be at most {_LARGEST:g} in absolute value, got {end[large][0]:g}: "
                f"use {none} (numpy.inf) for no bound"
            )
        ends.append(np.broadcast_to(end, (d,)).astype(np.float64))
    low, high = ends
    empty = (low > high) | (low == np.inf) | (high == -np.inf)
    if empty.any():
        first = int(np.argmax(empty))
        whose = f"weight {first}" if names is None else f"the weight of {names[first]!r}"
        if low[first] > high[first]:
            raise InputError(f"{what}: low {low[first]:g} is above high {high[first]:g} of {whose}: exchange them")
        raise InputError(f"{what}: {whose} would have to be from {low[first]:g} to {high[first]:g}: give a finite end")
    return low, high


def _loose(penalty: Vector, bounds: tuple[Vector, Vector] | None) -> BoolVector | None:
    """Return the mask of weights without regularizer, or None; reject invalid penalties."""
    if (penalty < 0.0).any():
        first = int(np.argmax(penalty < 0.0))
        raise InputError(f"penalty must be at least 0, got {penalty[first]:g} for weight {first}")
    loose: BoolVector = penalty == 0.0
    if (penalty[~loose] < 1.0 / _LARGEST).any():
        first = int(np.argmax(~loose & (penalty < 1.0 / _LARGEST)))
        raise InputError(f"penalty must be 0 or at least {1.0 / _LARGEST:g}, got {penalty[first]:g} for weight {first}")
    if not loose.any():
        return None
    bounded = np.zeros_like(loose) if bounds is None else np.isfinite(bounds[0]) & np.isfinite(bounds[1])
    if (loose & ~bounded).any():
        first = int(np.argmax(loose & ~bounded))
        raise InputError(
            f"weight {first} has no regularizer (penalty 0), so its optimum can be certified only within bounds: give "
            "bounds= with two finite numbers for it, or a small penalty"
        )
    return loose


def _vector(what: str, values: Any, d: int, default: float) -> Vector:
    if values is None:
        return np.full(d, default)
    vector = numbers_alone(values, what)
    if vector.shape != (d,) or not np.isfinite(vector).all():
        got = f"one number, {vector:g}" if vector.ndim == 0 else f"shape {vector.shape}"
        got = "NaN or infinity" if vector.shape == (d,) else got
        raise InputError(f"{what} must be {d} finite numbers, one per weight, got {got}")
    large = np.abs(vector) > _LARGEST
    if large.any():
        first = int(np.argmax(large))
        raise InputError(
            f"{what} must be at most {_LARGEST:g} in absolute value, got {vector[first]:g} for weight {first}"
        )
    return vector
