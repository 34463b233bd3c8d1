"""A point of the n-slack dual: some planes of every example, in weight space, with multipliers."""

from functools import partial

import numpy as np

from structsvm.compute.stages import run_stages
from structsvm.compute.threads import using
from structsvm.memory import require_memory
from structsvm.planes.arrays import PlaneArrays
from structsvm.planes.capacity import Capacity
from structsvm.planes.steps import (
    best_value,
    best_values,
    combined,
    insert_all,
    shares,
    visit_all,
)
from structsvm.planes.sweeps import Sweeps, sweep_over
from structsvm.result import CutSet, rounding
from structsvm.types import IntVector, Matrix, Vector


class DualPlanes:
    """Planes of every example with multipliers a: ``w = Σ a g`` and ``dual = Σ a L − ½‖w‖²``.

    What Frank-Wolfe steps move. Each example keeps several planes, so that many steps can be
    taken between two looks at the data (Shah, Kolmogorov and Lampert, "A Multi-Plane
    Block-Coordinate Frank-Wolfe Algorithm for Training Structural SVMs with a Costly
    max-Oracle", CVPR 2015).

    Planes may be kept in float32 (`Capacity`). What is computed of them is true of the planes that
    they were rounded from: these are known within an error each, ``‖g − ĝ‖``, and by the triangle
    inequality ``‖Σ a g‖ ≤ ‖w‖ + e`` for ``w = Σ a ĝ`` and e the sum of ``a`` times the errors, so
    that ``Σ a L − ½(‖w‖ + e)²`` is a lower bound of the optimum, whatever C is.

    Parameters
    ----------
    d : number of weights.
    cap : largest sum of the multipliers of each example, shape (n,).
    capacity : how many planes of each example are kept, 3 at the least, and in which type of number.
    """

    def __init__(self, d: int, cap: Vector, capacity: Capacity) -> None:
        self.w = np.zeros(d)
        self.arrays = _empty(d, cap, capacity)

    @property
    def rounds(self) -> bool:
        """Whether planes are kept in float32."""
        return self.arrays.G.dtype == np.float32

    def stop_rounding(self, capacity: Capacity) -> None:
        """Keep planes in float64 from now on: those to come, and those with weight as they are.

        Where these prove nothing, because their errors are too large, they are dropped.

        Parameters
        ----------
        capacity : how many are kept then, in float64.
        """
        arrays = _empty(len(self.w), self.arrays.cap, capacity)
        cuts = self.cuts() if self.refresh() > 0.0 else None
        self.arrays = arrays
        if cuts is not None:
            self._insert(cuts, cuts.a)
        self.refresh()

    @property
    def size(self) -> int:
        """Number of planes that are kept."""
        return int(self.arrays.used.sum())

    @property
    def active(self) -> int:
        """Number of planes with a positive multiplier."""
        return int(np.count_nonzero(self.arrays.a))

    @property
    def most_error(self) -> float:
        """The largest sum of multipliers times errors of planes that steps can come to."""
        return float(self.arrays.cap @ self.arrays.error.max(axis=1, initial=0.0))

    @property
    def largest(self) -> float:
        """The largest norm of a plane that is kept, or a little more where they are rounded."""
        return float(np.sqrt(self.arrays.gram.max())) + float(self.arrays.error.max(initial=0.0))

    def refresh(self) -> float:
        """Compute w from the multipliers afresh and return the value of the dual, or a lower bound of it."""
        offset, error = combined(*self._combination, self.w)
        square = float(self.w @ self.w)
        return float(offset - 0.5 * square - rounding(square**0.5, error))

    def best(self, i: int, w: Vector) -> float:
        """Bound the largest ``L − g·w`` over the planes kept of example i, the truth (0) among them, from below."""
        return float(best_value(self.arrays, i, w, np.empty(2 * self.arrays.L.shape[1]))[0])

    def hinges(self, w: Vector) -> Vector:
        """Return the hinge of each example at weights w by the planes that are kept, shape (n,): a lower bound."""
        out = np.empty(len(self.arrays.cap))
        best_values(self.arrays, w, out)
        return out

    def visit(self, examples: IntVector, G: Matrix, L: Vector) -> float:
        """Take in a plane ``(G[k], L[k])`` of each of these examples and step on it; return the sum of the gaps met."""
        return float(visit_all(self.arrays, examples, G, L, self.w))

    def improve(self, order: IntVector, enough: float = 0.0, most: int = 1) -> float:
        """Sweep over the planes that are kept; return the sum of the gaps met in the last sweep.

        Blocks of examples are spread over the threads of `structsvm.compute.threads.using`; see
        `structsvm.planes.sweeps`.

        Parameters
        ----------
        order : the examples, in the order in which the first sweep visits them.
        enough : sum of the gaps met in a sweep with which it is the last one.
        most : sweeps, one at least. The first looks at all planes, the next ones at those that had weight of late.
        """
        sweeps = Sweeps.of(order, most, self.arrays.L.shape[1], len(self.w))
        with using(None) as threads:
            lead, follow = (partial(sweep_over, self.arrays, sweeps, self.w, enough, leads) for leads in (True, False))
            run_stages(threads, lead, follow, sweeps.counters, len(sweeps.w))
        return float(sweeps.met[np.isfinite(sweeps.met)][-1])

    def held(self) -> Vector:
        """Return ``Σ_p a_p (L_p − g_p·w)`` of each example, or a lower bound: what it holds of the dual, shape (n,)."""
        held = np.empty(len(self.arrays.cap))
        shares(*self._combination, self.w, held)
        return held

    def gap(self) -> float:
        """Return the gap on the planes that are kept, all at the same weights.

        What `improve` returns is met at weights that move meanwhile: where examples move them to and fro, it is small
        after one that has just moved them its way, and tells nothing.
        """
        return float(self.arrays.cap @ self.hinges(self.w) - self.held().sum())

    @property
    def _combination(self) -> tuple[Matrix, Matrix, Matrix, Matrix, IntVector]:
        """The arrays that say what the dual point is a combination of: few, as each takes time to compile."""
        arrays = self.arrays
        return arrays.G, arrays.L, arrays.error, arrays.a, arrays.used

    def cuts(self) -> CutSet:
        """Return the planes with weight, and the multipliers, as cuts grouped by example."""
        i, p = np.nonzero(self.arrays.a)
        return self.cuts_at(i, p)

    def cuts_at(self, i: IntVector, p: IntVector) -> CutSet:
        """Return the planes at places p of examples i, and their multipliers, as cuts grouped by example."""
        arrays = self.arrays
        G = arrays.G[i, p].astype(np.float64)
        error = arrays.error[i, p] if arrays.error.size else np.zeros(len(i))
        return CutSet(G, arrays.L[i, p], i.astype(np.int64), arrays.a[i, p], len(arrays.cap), error)

    def load(self, cuts: CutSet) -> None:
        """Take over cuts that are grouped by example, with their multipliers scaled to the caps."""
        self._insert(cuts, cuts.scaled(self.arrays.cap))
        self.refresh()

    def _insert(self, cuts: CutSet, a: Vector) -> None:
        """Keep cuts with these multipliers, and from now on errors where they have any; w is to be combined afresh."""
        if cuts.error.any() and not self.arrays.error.size:
            self.arrays = self.arrays._replace(error=np.zeros(self.arrays.L.shape))
        insert_all(self.arrays, cuts.group, cuts.G, cuts.L, cuts.error, a, self.w)


def _empty(d: int, cap: Vector, capacity: Capacity) -> PlaneArrays:
    n, places = len(cap), capacity.places
    require_memory(
        capacity.bytes_for(n, d, places),
        f"{places} planes of {d:,} numbers for each of {n:,} examples",
        "give FrankWolfe(memory=...) fewer bytes, or use OneSlack",
    )
    return PlaneArrays(
        G=np.zeros((n, places, d), dtype=capacity.dtype),
        L=np.zeros((n, places)),
        error=np.zeros((n, places if capacity.dtype is np.float32 else 0)),
        a=np.zeros((n, places)),
        gram=np.zeros((n, places, places)),
        age=np.zeros((n, places)),
        used=np.zeros(n, dtype=np.int64),
        live=np.zeros(n, dtype=np.int64),
        cap=np.array(cap),
    )
