"""A point of the n-slack dual: codes of every example, with multipliers."""

from typing import cast

import numpy as np

from structsvm.features.operators.views import is_built_in
from structsvm.foundation.compute.environment import numba
from structsvm.foundation.compute.threads import using
from structsvm.foundation.memory import require_memory
from structsvm.foundation.signals import held
from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.problem.checks import ROUNDING, beaten, require_moderate
from structsvm.problem.codes.arrays import (
    EARLIER,
    FEWEST_PLACES,
    PLACE,
    CodeArrays,
    combined,
    compacted,
    held_by_examples,
)
from structsvm.problem.codes.conversion import ranks, require_codes_of
from structsvm.problem.codes.visits import (
    CALLS,
    DONE,
    END,
    ENOUGH_VISITS,
    MOST,
    NEXT,
    NO_ENTRIES,
    NO_PLACE,
    REASON,
    TOGETHER,
    VISITS,
    WRONG,
    coded_visits,
)
from structsvm.problem.loops import compiled_kernel
from structsvm.problem.oracle import CompiledOracle
from structsvm.problem.planes.sweeps import strides
from structsvm.problem.points import Planes
from structsvm.problem.problem import Problem
from structsvm.result import CodeSet, CutSet

ARGMAXES = 10
"""Largest number of argmaxes at a visit of an example with one label."""

_WITHIN = 1.0 - 1e-14
"""Part of the cap to which multipliers are scaled if their sum is above it by rounding."""

_LONGEST_WAIT = 3
"""Largest number of extrapolations that are left out after one that gained little."""

_WORTH_A_TRY = 0.02
"""Gain of an extrapolation, as a part of the gain of the visits before it, below which the next ones are left out."""

_RIDGE = 1e-10
"""Part of their trace that is added to the products between differences of points."""

_VISITS_AT_ONCE = 64
"""Smallest number of visits whose longest codes fit, before dropped codes must be left out."""

PASSES = 10
"""Largest number of passes between two certificates."""


def _ranges(starts: IntVector, lengths: IntVector) -> IntVector:
    """Return ``starts[k], starts[k] + 1, ...``, as many as ``lengths[k]``, for one k after another."""
    ends = np.cumsum(lengths)
    return np.repeat(starts - ends + lengths, lengths) + np.arange(ends[-1])


class DualCodes:
    """Codes of every example with multipliers a: ``w = Σ a A_i' c`` and ``dual = Σ a L − ½‖w‖²``."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.w = np.zeros(problem.d)
        self.gaps = np.where(problem.cap > 0.0, np.inf, 0.0)
        """The gap of each example at its last visit, or at the last certificate."""
        self._offset, self._entries = 0.0, 0
        oracle, operator = cast(CompiledOracle, problem.oracle), problem.operator
        longest = int(np.diff(problem.ptr).max(initial=0)) + operator.shared
        gram_ptr = np.append(0, np.cumsum(cast(IntVector, operator.gram_sizes)))
        # The argmax of one label reads each score once; argmaxes of structures do more.
        cheap = int(np.diff(oracle.label_ptr).max(initial=0)) <= 1
        self._most = longest, ARGMAXES if cheap else 1
        needed = problem.n * FEWEST_PLACES * (PLACE.itemsize + 8 * EARLIER) + 8 * gram_ptr[-1]
        require_memory(needed, f"codes of {problem.n:,} examples", "use OneSlack")
        self.arrays = CodeArrays.of(problem.cap, entries=longest * self._most[1])
        self._grams = np.full(gram_ptr[-1], np.nan), gram_ptr
        self._points = self._wait = self._pause = 0
        self._earlier_dual = 0.0
        self._earlier_w, self._earlier_offsets = np.empty((EARLIER, problem.d)), np.empty(EARLIER)
        self._loop = coded_visits(numba.typeof(operator.view), is_built_in(operator.view))
        self._data = (
            *(compiled_kernel(oracle.kernel), operator.view, operator.shared),
            *(oracle.labels, oracle.label_ptr, oracle.params),
        )
        allowed = ROUNDING if oracle.exact else np.inf
        self._rules = allowed, oracle.bounded, oracle.unreachable_truths, self.gaps

    @property
    def size(self) -> int:
        """Number of codes."""
        return int(self.arrays.used.sum())

    @property
    def active(self) -> int:
        """Number of codes with a positive multiplier."""
        return int(np.count_nonzero(self.arrays.places["a"]))

    def visit(self, enough: float, rng: np.random.Generator) -> tuple[float, float]:
        """Visit examples, in at most `PASSES` passes, until the gaps met sum to ``enough``.

        Return the visits and the argmaxes per example.
        """
        blocks = rng.permutation(-(-self.problem.n // TOGETHER))
        order = blocks, strides(len(blocks), PASSES), enough, self._most
        examples = max(1, int(np.count_nonzero(self.arrays.cap)))
        half = (examples + 1) // 2
        progress = np.array([0, 0, self._entries, NO_PLACE, 0, 0, half])
        while progress[REASON] != DONE:
            with held():
                self._loop(*self._data, self.arrays, *self._grams, *order, *self._rules, progress, self.w)
            if progress[REASON] == WRONG:
                raise self._wrong(int(progress[NEXT]))
            if progress[REASON] == NO_PLACE:
                self.arrays = self.arrays.with_more_places()
            elif progress[REASON] == NO_ENTRIES:
                progress[END] = self._make_room()
            elif progress[REASON] == ENOUGH_VISITS:
                self._extrapolate()
                progress[MOST] = progress[VISITS] + half
        self._entries = int(progress[END])
        return float(progress[VISITS] / examples), float(progress[CALLS] / examples)

    def _extrapolate(self) -> None:
        """Move towards the best combination of this point and earlier ones, and store the point reached.

        If that gains little beside the visits since the last point, the next extrapolations are left out.
        """
        if self._wait > 0:
            self._wait -= 1
            return
        slot, multipliers = self._points % EARLIER, self.arrays.places["a"]
        factors = self._factors() if self._points >= EARLIER else np.full(1, np.nan)
        if np.isfinite(factors).all():
            ahead = np.maximum((1.0 + factors.sum()) * multipliers - self.arrays.earlier @ factors, 0.0)
            total, cap = ahead.sum(axis=1), self.arrays.cap
            over = total > cap
            ahead[over] *= (_WITHIN * cap[over] / total[over])[:, None]
            ahead -= multipliers
            change = self._weights(ahead)
            slope = float(np.vdot(ahead, self.arrays.places["L"])) - float(self.w @ change)
            curvature = float(change @ change)
            part = min(1.0, slope / curvature) if slope > 0.0 and curvature > 0.0 else 0.0
            visits = self._loss() - 0.5 * float(self.w @ self.w) - self._earlier_dual
            self.w += part * change
            multipliers += part * ahead
            if part * (slope - 0.5 * part * curvature) < _WORTH_A_TRY * visits:
                self._pause = self._wait = min(2 * self._pause + 1, _LONGEST_WAIT)
            else:
                self._pause = 0
        self.arrays.earlier[:, :, slot] = multipliers
        self._earlier_w[slot], self._earlier_offsets[slot] = self.w, self._loss()
        self._earlier_dual = self._earlier_offsets[slot] - 0.5 * float(self.w @ self.w)
        self._points = 0 if self._wait > 0 else self._points + 1

    def _loss(self) -> float:
        """Return ``Σ a L``."""
        return float(np.vdot(self.arrays.places["a"], self.arrays.places["L"]))

    def _weights(self, factors: Matrix) -> Vector:
        """Return ``Σ f A_i' c``, with a factor f for each code."""
        code = np.zeros(self.problem.sizes[2])
        combined(self.arrays, np.ascontiguousarray(factors), self.problem.ptr, code)
        with using(self.problem.n_jobs):
            return np.array(self.problem.operator.combine(code))

    def _factors(self) -> Vector:
        """Return the factors of the differences from earlier points that maximize the dual without caps."""
        differences = self.w - self._earlier_w
        slopes = self._loss() - self._earlier_offsets - differences @ self.w
        H = differences @ differences.T
        # Points may coincide.
        return np.linalg.solve(H + (_RIDGE * np.trace(H) + 1e-300) * np.eye(EARLIER), slopes)

    def _make_room(self, more: int = 0) -> int:
        """Leave out entries of dropped codes, make room for as many entries again and ``more``; return the end."""
        arrays = self.arrays
        taken = np.arange(arrays.places.shape[1]) < arrays.used[:, None]
        needed = int(arrays.places["length"][taken].sum())
        room = more + max(2 * needed, needed + _VISITS_AT_ONCE * self._most[0] * self._most[1])
        where, entry = np.empty(room, dtype=np.uint32), np.empty(room)
        end = int(compacted(arrays, where, entry))
        self.arrays = arrays._replace(where=where, entry=entry)
        return end

    def _wrong(self, i: int) -> Exception:
        """Return the error about the argmax of an example, unless its check raises another one."""
        example = self.problem.block(i, i + 1)
        require_moderate(example.cuts(example.planes(example.at(np.zeros_like(self.w))), np.ones(1, bool)).G, example.C)
        point = example.at(self.w)
        planes = example.planes(point)
        example.primal(planes, point)
        return beaten(self.problem.loss, self.problem.first + i)

    def refresh(self) -> float:
        """Recompute w from the multipliers and return the dual value."""
        arrays = self.arrays
        total = arrays.places["a"].sum(axis=1)
        over = np.flatnonzero(total > arrays.cap)
        arrays.places["a"][over] *= (_WITHIN * arrays.cap[over] / total[over])[:, None]
        self._offset, self.w = self._loss(), self._weights(arrays.places["a"])
        return self._offset - 0.5 * float(self.w @ self.w)

    def held(self, scores: Vector) -> Vector:
        """Return ``Σ_p a_p (L_p − c_p·s)``, each example's share of the dual, shape (n,)."""
        out = np.empty(self.problem.n)
        held_by_examples(self.arrays, self.problem.ptr, scores, out)
        return out

    def load(self, codes: CodeSet) -> None:
        """Take over codes of the same examples, with their multipliers scaled to the best value within the caps."""
        self._store(codes)
        self.refresh()
        total, norm = self.arrays.places["a"].sum(axis=1), float(self.w @ self.w)
        some = total > 0.0
        scale = min((self.problem.cap[some] / total[some]).min(initial=np.inf), self._offset / max(norm, 1e-300))
        if 1.0 < scale < np.inf:
            self.arrays.places["a"] *= scale
            self.refresh()

    def insert(self, planes: Planes) -> None:
        """Store the code of each plane, without weight."""
        ptr, separate = self.problem.ptr, np.flatnonzero(planes.coef)
        example = np.searchsorted(ptr, separate, side="right") - 1
        where, entry = separate - ptr[example], planes.coef[separate]
        if planes.shared is not None:
            rows = np.repeat(np.arange(self.problem.n), np.diff(planes.shared.indptr))
            example, where, entry = (
                np.concatenate(parts)
                for parts in (
                    (example, rows),
                    (where, planes.shared.indices + np.diff(ptr)[rows]),
                    (entry, planes.shared.data),
                )
            )
        order, length = np.argsort(example, kind="stable"), np.bincount(example, minlength=self.problem.n)
        some = np.flatnonzero(length)
        ends = np.append(0, np.cumsum(length[some]))
        self._store(
            CodeSet(some, planes.loss[some], np.zeros(len(some)), ends, where[order].astype(np.uint32), entry[order])
        )

    def _store(self, codes: CodeSet) -> None:
        """Store codes in a point without codes."""
        require_codes_of(self.problem, codes)
        rank, lengths = ranks(codes.example), np.diff(codes.ptr)
        while self.arrays.places.shape[1] <= rank.max(initial=0):
            self.arrays = self.arrays.with_more_places()
        self._entries = self._make_room(len(codes.entry)) + len(codes.entry)
        self.arrays.where[: self._entries], self.arrays.entry[: self._entries] = codes.where, codes.entry
        for name, values in (("start", codes.ptr[:-1]), ("length", lengths), ("L", codes.L), ("a", codes.a)):
            self.arrays.places[name][codes.example, rank] = values
        self.arrays.used[:] = np.bincount(codes.example, minlength=self.problem.n)

    def cuts(self) -> CutSet:
        """Return the weighted mean of the planes, and their codes."""
        arrays, total, group = self.arrays, self.problem.total_cap, np.zeros(1, dtype=np.int64)
        example, place = np.nonzero(arrays.places["a"])
        if not len(example):
            return CutSet.none(self.problem.d, 1)
        some = arrays.places[example, place]
        ptr = np.append(0, np.cumsum(some["length"], dtype=np.int64))
        entries = _ranges(some["start"], some["length"].astype(np.int64))
        codes = CodeSet(
            example.astype(np.int64),
            some["L"].copy(),
            some["a"].copy(),
            ptr,
            arrays.where[entries],
            arrays.entry[entries],
        )
        return CutSet(self.w[None] / total, np.array([self._offset / total]), group, np.array([total]), 1, codes)
