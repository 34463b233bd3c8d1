"""Results of a problem: points, planes and cuts."""

from typing import Self

from attrs import field, frozen

from structsvm.foundation.types import IntVector, Matrix, Vector


@frozen(eq=False)
class Point:
    """Weights (d,) with the scores of all examples; each of the ``moves`` along lines adds rounding errors."""

    w: Vector
    scores: Vector = field(repr=False)
    moves: int = 0

    def toward(self, other: "Point", t: float) -> Self:
        """Return the point ``(1 − t)`` × this point + t × the other, without a pass over the data."""
        return type(self)(
            self.w + t * (other.w - self.w),
            self.scores + t * (other.scores - self.scores),
            max(self.moves, other.moves) + 1,
        )


@frozen(eq=False)
class Planes:
    """The loss-augmented argmax ŷ of every example: ``coef`` is ``c(y) − c(ŷ)`` of all, ``loss`` (n,) is ``Δ(y, ŷ)``.

    ``loss[i] − coef_i·s_i`` is a lower bound of the hinge of example i at any scores s.
    """

    coef: Vector = field(repr=False)
    loss: Vector = field(repr=False)


@frozen(eq=False)
class Cut:
    """The weighted mean of all planes in weight space: ``L − w·g`` is a lower bound of the risk; g has shape (d,)."""

    g: Vector
    L: float


@frozen(eq=False)
class Cuts:
    """The planes ``L[k] − w·G[k]`` of the examples ``example[k]``, ascending; shapes (m, d), (m,) and (m,)."""

    G: Matrix
    L: Vector
    example: IntVector
