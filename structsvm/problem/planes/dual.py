"""A point of the n-slack dual: planes of every example in weight space, with multipliers."""

from typing import Any

import numpy as np

from structsvm.foundation.memory import require_memory
from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.problem.planes.arrays import PlaneArrays
from structsvm.problem.planes.capacity import bytes_of_planes
from structsvm.problem.planes.steps import (
    best_value,
    best_values,
    combined,
    insert_all,
    shares,
    visit_all,
)
from structsvm.problem.planes.sweeps import strides, sweep_over
from structsvm.problem.planes.values import Choices
from structsvm.result import CutSet


class DualPlanes:
    """Planes of every example with multipliers a: ``w = Σ a g`` and ``dual = Σ a L − ½‖w‖²``.

    Each example has several planes, so that Frank-Wolfe takes many steps between two passes over the data (Shah,
    Kolmogorov and Lampert, "A Multi-Plane Block-Coordinate Frank-Wolfe Algorithm for Training Structural SVMs with a
    Costly max-Oracle", CVPR 2015). ``cap`` (n,) are the largest sums of the multipliers of each example.
    """

    def __init__(self, d: int, cap: Vector, places: int) -> None:
        self.w = np.zeros(d)
        self.arrays = _empty(d, cap, places)
        self.reads = 0
        """Numbers of planes read by steps so far."""

    @property
    def size(self) -> int:
        """Number of planes."""
        return int(self.arrays.used.sum())

    @property
    def active(self) -> int:
        """Number of planes with a positive multiplier."""
        return int(np.count_nonzero(self.arrays.a))

    @property
    def resolution(self) -> float:
        """Gap that float64 cannot distinguish from 0: products with w may be off by one last digit."""
        arrays = self.arrays
        norm = np.sqrt(np.diagonal(arrays.gram, axis1=1, axis2=2))
        total = float((arrays.a * norm).sum())
        most = float(arrays.cap @ norm.max(axis=1))
        return float(np.finfo(np.float64).eps * total * (most + total))

    @property
    def largest(self) -> float:
        """The largest norm of a plane."""
        return float(np.sqrt(self.arrays.gram.max()))

    def refresh(self) -> float:
        """Recompute w from the multipliers and return the dual value."""
        return float(combined(*self._combination, self.w) - 0.5 * float(self.w @ self.w))

    def best(self, i: int, w: Vector) -> float:
        """Return the largest ``L − g·w`` over the planes of example i and 0, for the true output."""
        return float(best_value(self.arrays, i, w, np.empty(2 * self.arrays.L.shape[1])))

    def hinges(self, w: Vector) -> Vector:
        """Return a lower bound of each example's hinge at weights w, from its planes, shape (n,)."""
        out = np.empty(len(self.arrays.cap))
        best_values(self.arrays, w, out)
        return out

    def visit(self, examples: IntVector, G: Matrix, L: Vector) -> float:
        """Insert a plane ``(G[k], L[k])`` for each of these examples and step on it; return the sum of the gaps."""
        return float(visit_all(self.arrays, examples, dense_rows(G), L, self.w))

    def improve(self, order: IntVector, enough: float = 0.0, most: int = 1) -> float:
        """Sweep over the planes, at most ``most`` times, until gaps sum to ``enough``; return the last sum.

        The first sweep, in this ``order``, visits all planes; later ones visit planes that recently had weight.
        """
        room = np.empty(2 * self.arrays.L.shape[1])
        met, sweeps = sweep_over(self.arrays, order, strides(len(order), most), enough, self.w, room)
        self.reads += sweeps * self.size * len(self.w)
        return float(met)

    def held(self) -> Vector:
        """Return ``Σ_p a_p (L_p − g_p·w)``, each example's share of the dual, shape (n,)."""
        held = np.empty(len(self.arrays.cap))
        shares(*self._combination, self.w, held)
        return held

    def gap(self) -> float:
        """Return the gap over all planes at the same weights; gaps of `improve` are at moving weights."""
        return float(self.arrays.cap @ self.hinges(self.w) - self.held().sum())

    @property
    def _combination(self) -> tuple[Matrix, Matrix, Matrix, IntVector]:
        """The arrays that define the dual point; few, because each takes time to compile."""
        arrays = self.arrays
        return arrays.G, arrays.L, arrays.a, arrays.used

    def cuts(self) -> CutSet:
        """Return the planes with weight and their multipliers, as cuts grouped by example."""
        i, p = np.nonzero(self.arrays.a)
        return self.cuts_at(i, p)

    def cuts_at(self, i: IntVector, p: IntVector) -> CutSet:
        """Return the planes at places p of examples i and their multipliers, as cuts grouped by example."""
        arrays = self.arrays
        return CutSet(arrays.G[i, p], arrays.L[i, p], i.astype(np.int64), arrays.a[i, p], len(arrays.cap))

    def all_cuts(self) -> CutSet:
        """Return all planes as cuts grouped by example; planes without weight count too."""
        return self.cuts_at(*self._places())

    def weigh(self, a: Vector) -> None:
        """Set the multipliers of all planes, in the order of `all_cuts`, and update w."""
        self.arrays.a[self._places()] = a
        self.refresh()

    def mix(self, share: float, choices: Choices, weights: Vector) -> None:
        """Multiply the multipliers by ``share``, add weighted choices of one plane per example, and update w."""
        a, cap = share * self.arrays.a, self.arrays.cap
        for choice, weight in zip(choices, weights.tolist(), strict=True):
            some = np.flatnonzero(choice >= 0)
            a[some, choice[some]] += weight * cap[some]
        # In one step, so that an interruption leaves a point as good as before.
        self.arrays.a[:] = a
        self.refresh()

    def _places(self) -> tuple[IntVector, IntVector]:
        taken = np.arange(self.arrays.L.shape[1]) < self.arrays.used[:, None]
        i, p = np.nonzero(taken)
        return i, p

    def load(self, cuts: CutSet) -> None:
        """Replace all planes by cuts grouped by example, with their multipliers scaled to the caps."""
        for array in (self.arrays.a, self.arrays.used, self.arrays.live):
            array.fill(0)
        insert_all(self.arrays, cuts.group, dense_rows(cuts.G), cuts.L, cuts.scaled(self.arrays.cap))
        self.refresh()


def dense_rows(G: Any) -> Matrix:
    """Return the vectors of cuts as a dense matrix, which compiled loops read."""
    return np.asarray(G) if isinstance(G, np.ndarray) else np.asarray(G.toarray())


def _empty(d: int, cap: Vector, places: int) -> PlaneArrays:
    n = len(cap)
    require_memory(
        bytes_of_planes(n, d, places),
        f"{places} planes of {d:,} numbers for each of {n:,} examples",
        "give FrankWolfe(memory=...) fewer bytes, or use OneSlack",
    )
    return PlaneArrays(
        G=np.zeros((n, places, d)),
        L=np.zeros((n, places)),
        a=np.zeros((n, places)),
        gram=np.zeros((n, places, places)),
        age=np.zeros((n, places)),
        used=np.zeros(n, dtype=np.int64),
        live=np.zeros(n, dtype=np.int64),
        cap=np.array(cap),
    )
