"""A point of the n-slack dual: some planes of every example, in weight space, with multipliers."""

import numpy as np

from structsvm.exceptions import InputError
from structsvm.problem.plane_cache import (
    PlaneArrays,
    best_value,
    best_values,
    combined,
    improve_all,
    insert_all,
    shares,
    visit_all,
)
from structsvm.problem.points import Cuts
from structsvm.result import CutSet
from structsvm.types import IntVector, Vector

STEPS = 4
"""Most pairwise steps between the planes of an example in one visit."""

NEW_PLANE = 1e-12
"""Value, in units of the loss, by which a plane must beat those that are kept to be kept as well."""

_MOST_PLACES = 32
_FEWEST_PLACES = 3


class DualPlanes:
    """Planes of every example with multipliers a: ``w = Σ a g`` and ``dual = Σ a L − ½‖w‖²``.

    What Frank-Wolfe steps move. Each example keeps several planes, so that many steps can be
    taken between two looks at the data (Shah, Kolmogorov and Lampert, "A Multi-Plane
    Block-Coordinate Frank-Wolfe Algorithm for Training Structural SVMs with a Costly
    max-Oracle", CVPR 2015).

    Parameters
    ----------
    d : number of weights.
    cap : largest sum of the multipliers of each example, shape (n,).
    memory : bytes that the planes may take.

    Raises
    ------
    InputError : when not even three planes an example fit into the memory.
    """

    def __init__(self, d: int, cap: Vector, memory: int) -> None:
        n = len(cap)
        places = self.places(n, d, memory)
        if places < _FEWEST_PLACES:
            need = n * _FEWEST_PLACES * 8 * (d + _FEWEST_PLACES + 3)
            raise InputError(
                f"FrankWolfe(memory={memory}) cannot keep {_FEWEST_PLACES} planes of {d} numbers for each of {n} "
                f"examples: give it {need} bytes, or use OneSlack, which keeps a few hundred planes in all"
            )
        self.w = np.zeros(d)
        self.arrays = PlaneArrays(
            G=np.zeros((n, places, d)),
            L=np.zeros((n, places)),
            a=np.zeros((n, places)),
            gram=np.zeros((n, places, places)),
            age=np.zeros((n, places)),
            used=np.zeros(n, dtype=np.int64),
            live=np.zeros(n, dtype=np.int64),
            cap=np.array(cap),
        )

    @staticmethod
    def places(n: int, d: int, memory: int) -> int:
        """Return how many planes of each of n examples fit into so many bytes, 32 at most."""
        half = 0.5 * (d + 3)  # an example's P planes of d numbers and their P x P products: 8 P (d + P + 3) bytes
        return min(_MOST_PLACES, int((half * half + memory / (8 * n)) ** 0.5 - half))

    @property
    def size(self) -> int:
        """Number of planes that are kept."""
        return int(self.arrays.used.sum())

    @property
    def active(self) -> int:
        """Number of planes with a positive multiplier."""
        return int(np.count_nonzero(self.arrays.a))

    def refresh(self) -> float:
        """Compute w from the multipliers afresh and return the value of the dual."""
        offset = combined(self.arrays, self.w)
        return float(offset - 0.5 * (self.w @ self.w))

    def best(self, i: int) -> float:
        """Return the largest ``L − g·w`` over the planes that are kept of example i, the truth (0) among them."""
        return float(best_value(self.arrays, i, self.w))

    def hinges(self, w: Vector) -> Vector:
        """Return the hinge of each example at weights w by the planes that are kept, shape (n,): a lower bound."""
        out = np.empty(len(self.arrays.cap))
        best_values(self.arrays, w, out)
        return out

    def visit(self, cuts: Cuts) -> float:
        """Take in planes and step on their examples, one after the other; return the sum of the gaps met."""
        return float(visit_all(self.arrays, cuts.example, cuts.G, cuts.L, self.w, STEPS, NEW_PLANE))

    def improve(self, order: IntVector, *, full: bool) -> float:
        """Step on the planes that are kept, example by example; return the sum of the gaps met.

        Parameters
        ----------
        order : the examples.
        full : look at all planes, and not only at those that had weight of late.
        """
        return float(improve_all(self.arrays, order, self.w, STEPS, full))

    def held(self) -> Vector:
        """Return ``Σ_p a_p (L_p − g_p·w)`` of each example: what its planes hold of the dual, shape (n,)."""
        held = np.empty(len(self.arrays.cap))
        shares(self.arrays, self.w, held)
        return held

    def cuts(self) -> CutSet:
        """Return the planes with weight, and the multipliers, as cuts grouped by example."""
        i, p = np.nonzero(self.arrays.a)
        arrays = self.arrays
        return CutSet(arrays.G[i, p], arrays.L[i, p], i.astype(np.int64), arrays.a[i, p], len(arrays.cap))

    def load(self, cuts: CutSet) -> None:
        """Take over cuts that are grouped by example, with their multipliers scaled to the caps."""
        insert_all(self.arrays, cuts.group, cuts.G, cuts.L, cuts.scaled(self.arrays.cap))
        self.refresh()
