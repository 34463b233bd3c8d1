"""Results that a problem returns: points, planes and cuts."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from attrs import field, frozen

from structsvm.foundation.types import BoolVector, IntVector, Vector
from structsvm.losses.user_methods import SparseVector
from structsvm.problem.loops import chosen_segments, scaled_segments, segment_dots


@frozen(eq=False)
class Point:
    """Weights (d,) with the scores of all examples; each of the ``moves`` along lines adds rounding errors."""

    w: Vector
    scores: Vector = field(repr=False)
    moves: int = 0

    def toward(self, other: "Point", t: float) -> Self:
        """Return the point ``(1 − t)`` × this point + t × the ``other`` point, without a pass over the data."""
        # In place, because a second array of scores would take longer than the arithmetic.
        scores = other.scores - self.scores
        scores *= t
        scores += self.scores
        return type(self)(self.w + t * (other.w - self.w), scores, max(self.moves, other.moves) + 1)


@frozen(eq=False)
class Planes:
    """The loss-augmented argmax ŷ of every example, with loss ``Δ(y, ŷ)`` (n,) and code ``c(y) − c(ŷ)``.

    ``coef`` (ptr[-1],) has the coefficients of the examples' own scores, ``shared`` (n, shared scores) of the shared
    ones, if there are any. ``loss[i] − c_i·s_i`` is a lower bound of the hinge of example i at any scores s. At the
    scores of the argmax, the hinge exceeds it by at most ``missed[i]``, which None means is 0 for all.
    """

    coef: Vector = field(repr=False)
    loss: Vector = field(repr=False)
    shared: sp.csr_array | None = field(default=None, repr=False)
    missed: Vector | None = field(default=None, repr=False)

    @classmethod
    def none(cls, like: "Planes") -> "Planes":
        """Return the true outputs as planes, of which all numbers are 0."""
        shared = None if like.shared is None else sp.csr_array(like.shared.shape)
        return cls(np.zeros(len(like.coef)), np.zeros(len(like.loss)), shared)

    def dots(self, scores: Vector, ptr: IntVector) -> Vector:
        """Return ``c_i·s_i`` of each example, shape (n,)."""
        separate = segment_dots(self.coef, scores, ptr)
        return separate if self.shared is None else separate + self.shared @ scores[len(self.coef) :]

    def combined(self, weights: Vector, ptr: IntVector) -> Vector:
        """Return the sum of the codes times weights, one coefficient per score."""
        separate = scaled_segments(self.coef, weights, ptr)
        return separate if self.shared is None else np.concatenate((separate, weights @ self.shared))

    def replaced(self, other: "Planes", which: BoolVector, ptr: IntVector) -> "Planes":
        """Return these planes, replaced by the planes of ``other`` for some examples."""
        coef = chosen_segments(which, self.coef, ptr, other.coef, ptr, ptr)
        shared = None
        if self.shared is not None and other.shared is not None:
            shared = _chosen_rows(which, self.shared, other.shared)
        missed = None
        if self.missed is not None and other.missed is not None:
            missed = np.where(which, other.missed, self.missed)
        return Planes(coef, np.where(which, other.loss, self.loss), shared, missed)


@frozen(eq=False)
class Cut:
    """The weighted mean of all planes in weight space: ``L − w·g`` is a lower bound of the risk; g has shape (d,)."""

    g: Vector
    L: float


@frozen(eq=False)
class Cuts:
    """The planes ``L[k] − w·G[k]`` of the examples ``example[k]``, ascending; shapes (m, d), (m,) and (m,).

    ``G`` is dense, or CSR if the problem is ``sparse``.
    """

    G: Any
    L: Vector
    example: IntVector


def _chosen_rows(which: BoolVector, a: sp.csr_array, b: sp.csr_array) -> sp.csr_array:
    """Return row i of b if ``which[i]``, else of a."""
    ptr = np.concatenate(([0], np.cumsum(np.where(which, np.diff(b.indptr), np.diff(a.indptr)))))
    data = chosen_segments(which, a.data, a.indptr, b.data, b.indptr, ptr)
    where = chosen_segments(which, a.indices, a.indptr, b.indices, b.indptr, ptr)
    return sp.csr_array((data, where, ptr), shape=a.shape)


def sparse_differences(some: Sequence[SparseVector], others: Sequence[SparseVector]) -> sp.csr_array:
    """Return the differences of vectors of equal length as the rows of a sparse matrix without zeros."""
    if not any(len(other.index) for other in others):
        return _rows(some)
    differences: sp.csr_array = _rows(some) - _rows(others)
    return differences


def _rows(vectors: Sequence[SparseVector]) -> sp.csr_array:
    ptr = np.cumsum([0, *(len(vector.index) for vector in vectors)])
    index, values = (np.concatenate([getattr(vector, name) for vector in vectors]) for name in ("index", "value"))
    return sp.csr_array((values, index, ptr), shape=(len(vectors), vectors[0].length))
