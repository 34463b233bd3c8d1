"""Objectives whose regulariser is not ``½‖w‖²``, in coordinates in which it is."""

from typing import Any

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import ArrayLike

from structsvm.arrays import numbers
from structsvm.exceptions import InputError
from structsvm.types import Matrix, Vector


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
    """

    centre: Vector = field(repr=False)
    scale: Vector = field(repr=False)
    constant: float = 0.0

    @classmethod
    def of(
        cls, d: int, centre: ArrayLike | None, penalty: ArrayLike | None, linear: ArrayLike | None
    ) -> "Coordinates | None":
        """Return the coordinates of an objective; None where it is the plain one.

        Parameters
        ----------
        d : number of weights.
        centre : b, shape (d,); None: 0.
        penalty : λ, shape (d,), positive; None: 1.
        linear : v, shape (d,); None: 0.

        Raises
        ------
        InputError : when one is no vector of d finite numbers, or a penalty is not above 0.
        """
        if centre is None and penalty is None and linear is None:
            return None
        b, v = (_vector(what, given, d, 0.0) for what, given in (("centre", centre), ("linear", linear)))
        weight = _vector("penalty", penalty, d, 1.0)
        if (weight <= 0.0).any():
            first = int(np.argmax(weight <= 0.0))
            raise InputError(
                f"penalty must be above 0, and that of weight {first} is {weight[first]:g}: a weight without "
                "regulariser has no bound; give it a small penalty"
            )
        return cls(b, 1.0 / np.sqrt(weight)).tilted(v)

    def tilted(self, v: Vector) -> "Coordinates":
        """Return the coordinates with ``−v·w`` added to the objective."""
        step = self.scale**2 * v
        constant = self.constant - float(v @ self.centre) - 0.5 * float(v @ step)
        return evolve(self, centre=self.centre + step, constant=constant)

    def w(self, u: Vector) -> Vector:
        """Return the weights at coordinates u."""
        return self.centre + self.scale * u

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
    def content(self) -> tuple[Vector, Vector, Vector]:
        """What tells them from others: the constant, too, which is in the bounds that a run takes over."""
        return self.centre, self.scale, np.array([self.constant])


def _vector(what: str, given: Any, d: int, default: float) -> Vector:
    if given is None:
        return np.full(d, default)
    vector = numbers(given, what)
    if vector.shape != (d,) or not np.isfinite(vector).all():
        raise InputError(f"{what} must hold a finite number for each of the {d} weights, got shape {vector.shape}")
    return vector
