"""A point of the n-slack dual whose planes are codes, and steps in the scores of one example.

The plane of an output ŷ is ``(A_i' c, L)`` with the code ``c = c(y) − c(ŷ)``, a few coefficients of the example's
scores. Its value ``L − c·s`` needs only these scores s. A step along a difference c of two codes moves the weights by
``A_i' c`` and the scores by ``A_i A_i' c``, which follows from the products between the example's rows. So an example
is scored once, its multipliers take several exact steps, and its rows are added to the weights once. Dual coordinate
descent for linear SVMs is the case of one score (Hsieh, Chang, Lin, Keerthi and Sundararajan, ICML 2008), or of the
scores of one row (Keerthi, Sundararajan, Chang, Hsieh and Lin, KDD 2008).

If many examples share features, steps of single examples are short. So between passes all multipliers move together,
towards the best combination of this point and three earlier ones (Narkiss and Zibulevsky, "Sequential Subspace
Optimization Method for Large-Scale Unconstrained Problems", 2005), as far as multipliers stay within their caps.
"""

from functools import cache
from typing import Any, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray

from structsvm.exceptions import InputError
from structsvm.features.operators.views import (
    example_add,
    example_gram,
    example_product,
    example_scores,
    is_built_in,
)
from structsvm.foundation.compute.compilation import compiled, inlined_part
from structsvm.foundation.compute.environment import numba
from structsvm.foundation.compute.products import copy, dot
from structsvm.foundation.compute.threads import using
from structsvm.foundation.memory import require_memory
from structsvm.foundation.signals import held
from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.problem.checks import ROUNDING, beaten, require_moderate
from structsvm.problem.loops import KERNEL_TYPE, LOSS_ROUNDING, SMALL_LOSS, compiled_kernel, largest_size
from structsvm.problem.oracle import CompiledOracle
from structsvm.problem.planes.steps import NEW_PLANE
from structsvm.problem.planes.sweeps import strides
from structsvm.problem.points import Planes
from structsvm.problem.problem import Problem
from structsvm.result import CodeSet, CutSet

STEPS = 5
"""Largest number of steps between two argmaxes of an example."""

ARGMAXES = 10
"""Largest number of argmaxes at a visit of an example with one label."""

ENOUGH = 0.1
"""Part of an example's gap, at which its steps end."""

_WITHIN = 1.0 - 1e-14
"""Part of the cap to which multipliers are scaled if their sum is above it by rounding."""

_SPARE = 1e-12
"""Smallest multiplier of the true output, as a part of the cap: less is rounding."""

_LONGEST_WAIT = 3
"""Largest number of extrapolations that are left out after one that gained little."""

_WORTH_A_TRY = 0.02
"""Gain of an extrapolation, as a part of the gain of the visits before it, below which the next ones are left out."""

_RIDGE = 1e-10
"""Part of their trace that is added to the products between differences of points."""

_FEWEST_PLACES = 4

MOST_VALUES = 10
"""Largest number of feature values per weight in an example, beyond which steps along planes cost less than scores."""

_PRODUCTS = 3
"""Largest number of products between the rows of examples, per score: more would cost more than the scores."""

_VISITS_AT_ONCE = 64
"""Smallest number of visits whose longest codes fit, before dropped codes must be left out."""

PASS, NEXT, END, REASON, VISITS, CALLS, MOST = range(7)
"""Indices of ``progress``: the pass, the next example of it, the end of the stored codes, and why visits stopped early.

Then come the numbers of visits and of argmaxes, and the visits after which the next end of a pass stops the loop.
"""

TOGETHER = 8
"""Examples that are visited one after the other, because they lie side by side in memory."""

PASSES = 10
"""Largest number of passes between two certificates."""

OLD = 10
"""Visits of an example without weight, after which a code is dropped."""

SKIPPED = 0.05
"""Part of the mean gap below which a pass leaves out an example."""

DONE, NO_PLACE, NO_ENTRIES, WRONG, ENOUGH_VISITS = range(5)
"""Reasons: none, an example needs one more place, codes need more entries, an argmax is wrong, time to extrapolate."""

EARLIER = 3
"""Number of earlier points from which steps are extrapolated."""


PLACE = np.dtype([("start", np.int64), ("length", np.int32), ("age", np.int32), ("L", np.float64), ("a", np.float64)])
"""A code's first entry, number of entries, visits since it had weight, loss and multiplier, side by side in memory."""


class CodeArrays(NamedTuple):
    """Codes of n examples, P places each.

    A code in ``places`` (n, P) has the coefficients ``entry[start:]`` of the scores ``where[start:]``, as many as its
    ``length``; shared scores follow the example's own. ``earlier`` (n, P, 3) has the multipliers at earlier points.
    ``used`` (n,) are the places taken, and ``cap`` (n,) the caps.
    """

    places: Any
    earlier: Any
    where: NDArray[np.uint32]
    entry: Vector
    used: IntVector
    cap: Vector

    @classmethod
    def of(cls, cap: Vector, entries: int = 0) -> Self:
        """Make arrays without codes."""
        n = len(cap)
        where, entry = np.zeros(entries, dtype=np.uint32), np.zeros(entries)
        places, earlier = np.zeros((n, _FEWEST_PLACES), dtype=PLACE), np.zeros((n, _FEWEST_PLACES, EARLIER))
        return cls(places, earlier, where, entry, np.zeros(n, dtype=np.int64), cap)

    def with_more_places(self) -> Self:
        """Return the codes with twice as many places for each example."""
        places, earlier = (np.concatenate((part, np.zeros_like(part)), axis=1) for part in (self.places, self.earlier))
        return self._replace(places=places, earlier=earlier)


@inlined_part
def _value(place: Any, where: Any, entry: Vector, scores: Vector) -> float:
    """Return ``L − c·s``."""
    value = place.L
    # Unsigned indices are not checked for their sign.
    for e in range(np.uint64(place.start), np.uint64(place.start + place.length)):
        value -= entry[e] * scores[where[e]]
    return float(value)


@inlined_part
def _free_place(places: Any, used: int) -> int:
    """Return a free place, or the place of the code that has been without weight longest; −1 if all have weight."""
    if used < len(places):
        return used
    free = -1
    for p in range(used):
        if places[p].a == 0.0 and (free < 0 or places[p].age > places[free].age):
            free = p
    return free


def _coded_visits(
    kernel: Any,
    view: Any,
    shared: int,
    labels: Vector,
    label_ptr: IntVector,
    params: Vector,
    codes: Any,
    grams: Vector,
    gram_ptr: IntVector,
    blocks: IntVector,
    stride: IntVector,
    enough: float,
    most: Any,
    allowed: float,
    bounded: bool,
    unreachable: bool,
    gaps: Vector,
    progress: IntVector,
    w: Vector,
) -> None:
    all_places, earlier, where, entry, taken, caps = codes
    ptr = view.ptr
    longest, argmaxes = most
    scores, change, step, moved = np.empty(longest), np.empty(longest), np.empty(longest), np.empty(longest)
    written, value = np.empty(longest + 1), np.empty(all_places.shape[1])
    end, n = progress[END], len(caps)
    while progress[PASS] < len(stride):
        met = gaps.sum()
        if met <= enough:
            break
        least = SKIPPED * met / n if met < np.inf else 0.0
        for k in range(progress[NEXT], len(blocks) * TOGETHER):
            i = blocks[k // TOGETHER * stride[progress[PASS]] % len(blocks)] * TOGETHER + k % TOGETHER
            if i >= n or not gaps[i] > least:
                continue
            cap, count, used, places = caps[i], ptr[i + 1] - ptr[i] + shared, taken[i], all_places[i]
            free = _free_place(places, used)
            if free < 0 or end + argmaxes * count > len(where):
                progress[NEXT], progress[END] = k, end
                progress[REASON] = NO_PLACE if free < 0 else NO_ENTRIES
                return
            progress[VISITS] += 1
            s, code, out = scores[:count], written[:count], written[: count + int(bounded)]
            labels_of_i, gram = labels[label_ptr[i] : label_ptr[i + 1]], grams[gram_ptr[i] : gram_ptr[i + 1]]
            example_scores(view, i, w, s)
            spare, best, held = cap, 0.0, 0.0
            for p in range(used):
                value[p] = _value(places[p], where, entry, s)
                spare -= places[p].a
                held += places[p].a * value[p]
                best = max(best, value[p])
            if spare < _SPARE * cap:
                spare = 0.0
            first, steps = 0.0, 0
            for round_ in range(argmaxes):
                loss = kernel(s, labels_of_i, params, out)
                progress[CALLS] += 1
                if loss < 0.0:
                    level = abs(kernel(np.zeros(count), labels_of_i, params, np.empty(len(out))))
                    if loss >= -LOSS_ROUNDING * max(level, SMALL_LOSS):
                        loss = 0.0
                new = loss - dot(code, s)
                if unreachable and new < 0.0:
                    new = 0.0
                sound = 0.0 <= loss < np.inf and new < np.inf
                if not sound or (not new >= best and not new >= best - allowed * (1.0 + largest_size(s))):
                    progress[NEXT], progress[END], progress[REASON] = i, end, WRONG
                    return
                # Steps may have moved weight to the code at the free place.
                free = _free_place(places, used)
                if new > best + NEW_PLANE and free >= 0:
                    place = places[free]
                    place.start = end
                    for c in range(count):
                        if code[c] != 0.0:
                            where[end], entry[end] = c, code[c]
                            end += 1
                    place.length = end - place.start
                    place.L, place.a, place.age = loss, 0.0, 0
                    earlier[i, free] = 0.0
                    used = max(used, free + 1)
                    value[free] = best = new
                gap = cap * best - held
                if round_ == 0:
                    first = gaps[i] = gap
                if not gap > (ENOUGH * first if round_ > 0 else 0.0):
                    break
                before = steps
                for _ in range(STEPS if argmaxes == 1 else 1):
                    up, down, highest, lowest = -1, -1, 0.0, 0.0 if spare > 0.0 else np.inf
                    for p in range(used):
                        if value[p] > highest:
                            highest, up = value[p], p
                        if places[p].a > 0.0 and value[p] < lowest:
                            lowest, down = value[p], p
                    rise = highest - lowest
                    if not rise > 1e-14:
                        break
                    if steps == 0:
                        moved[:count] = 0.0
                        if len(gram) > 0 and np.isnan(gram[0]):
                            gram[:] = 0.0
                            example_gram(view, i, gram)
                    steps += 1
                    change[:count] = 0.0
                    if up >= 0:
                        for e in range(places[up].start, places[up].start + places[up].length):
                            change[where[e]] += entry[e]
                    if down >= 0:
                        for e in range(places[down].start, places[down].start + places[down].length):
                            change[where[e]] -= entry[e]
                    example_product(view, i, gram, change[:count], step[:count])
                    curvature = dot(change[:count], step[:count])
                    available = spare if down < 0 else places[down].a
                    amount = available
                    if curvature * available > rise:
                        amount = rise / curvature
                    if up >= 0:
                        places[up].a += amount
                    else:
                        spare += amount
                    if down >= 0:
                        places[down].a = 0.0 if amount == available else places[down].a - amount
                    else:
                        spare = 0.0 if amount == available else spare - amount
                    for c in range(count):
                        s[c] += amount * step[c]
                        moved[c] += amount * change[c]
                    best, held = 0.0, 0.0
                    for p in range(used):
                        value[p] = _value(places[p], where, entry, s)
                        held += places[p].a * value[p]
                        best = max(best, value[p])
                if steps == before:
                    break
            if steps > 0:
                example_add(view, i, moved[:count], w)
            for p in range(used - 1, -1, -1):
                places[p].age = 0 if places[p].a > 0.0 else places[p].age + 1
                if places[p].age > OLD:
                    used -= 1
                    places[p] = places[used]
                    copy(earlier[i, used], earlier[i, p])
                    places[used].a = 0.0
                    earlier[i, used] = 0.0
            taken[i] = used
        progress[PASS] += 1
        progress[NEXT] = 0
        if progress[VISITS] >= progress[MOST]:
            progress[END], progress[REASON] = end, ENOUGH_VISITS
            return
    progress[END], progress[REASON] = end, DONE


@cache
def coded_visits(view: Any, keep: bool) -> Any:
    """Return the loop that visits examples for a type of view, cached on disk if ``keep``."""
    vector, index = numba.types.Array(numba.float64, 1, "C"), numba.types.Array(numba.int64, 1, "C")
    codes = numba.typeof(CodeArrays.of(np.zeros(1)))
    arguments = (
        *(KERNEL_TYPE, view, numba.int64, vector, index, vector, codes, vector, index, index, index, numba.float64),
        *(numba.types.UniTuple(numba.int64, 2), numba.float64, numba.boolean, numba.boolean, vector, index, vector),
    )
    return compiled(_coded_visits, [numba.void(*arguments)], keep=keep)


@inlined_part
def _score(k: int, i: int, ptr: IntVector) -> int:
    """Return the place of score k of an example among all scores; shared scores are the last."""
    separate = ptr[i + 1] - ptr[i]
    return int(ptr[i] + k if k < separate else ptr[-1] + k - separate)


@compiled
def _combined(codes: CodeArrays, factors: Matrix, ptr: IntVector, out: Vector) -> None:
    """Write ``Σ f c`` for all scores, with a factor f for each code, shape (n, P)."""
    for i in range(len(codes.cap)):
        for p in range(codes.used[i]):
            place = codes.places[i, p]
            if factors[i, p] != 0.0:
                for e in range(place.start, place.start + place.length):
                    out[_score(codes.where[e], i, ptr)] += factors[i, p] * codes.entry[e]


@compiled
def _held(codes: CodeArrays, ptr: IntVector, scores: Vector, out: Vector) -> None:
    """Write ``Σ_p a_p (L_p − c_p·s)`` of each example."""
    for i in range(len(codes.cap)):
        held = 0.0
        for p in range(codes.used[i]):
            place = codes.places[i, p]
            if place.a > 0.0:
                value = place.L
                for e in range(place.start, place.start + place.length):
                    value -= codes.entry[e] * scores[_score(codes.where[e], i, ptr)]
                held += place.a * value
        out[i] = held


@compiled
def _compacted(codes: CodeArrays, where: Any, entry: Vector) -> int:
    """Copy the entries of all codes, one after the other, and return their number."""
    end = 0
    for i in range(len(codes.cap)):
        for p in range(codes.used[i]):
            place = codes.places[i, p]
            first, place.start = place.start, end
            for e in range(first, first + place.length):
                where[end], entry[end] = codes.where[e], codes.entry[e]
                end += 1
    return end


def suits_codes(problem: Problem) -> bool:
    """Return True if examples should step in their scores, not along planes.

    Their argmaxes must be compiled and have bounds, and products of rows, like scores, must cost little.
    """
    sizes, loops = problem.operator.gram_sizes, isinstance(problem.oracle, CompiledOracle)
    if sizes is None or not loops or not problem.certified or problem.coordinates is not None:
        return False
    short = problem.stored > MOST_VALUES * problem.n * problem.d
    return not short and bool(sizes.sum() <= _PRODUCTS * problem.ptr[-1])


def cuts_of(problem: Problem, codes: CodeSet) -> CutSet:
    """Return the planes of codes as cuts grouped by example."""
    _require_codes_of(problem, codes)
    operator, ptr, sizes = problem.operator, problem.ptr, np.diff(problem.ptr)
    owner, K = np.repeat(np.arange(len(codes.L)), np.diff(codes.ptr)), len(codes.L)
    example = codes.example[owner]
    separate = codes.where < sizes[example]
    G, code = np.empty((K, problem.d)), np.zeros(problem.ptr[-1])
    # Codes of equal rank belong to different examples.
    rank = _rank(codes.example)
    for r in range(int(rank.max(initial=-1)) + 1):
        entries = separate & (rank[owner] == r)
        places = ptr[example[entries]] + codes.where[entries]
        code[places] = codes.entry[entries]
        G[rank == r] = operator.combine_each(code, codes.example[rank == r])
        code[places] = 0.0
    shared = ~separate
    np.add.at(
        G,
        (owner[shared], problem.d - operator.shared + codes.where[shared] - sizes[example[shared]]),
        codes.entry[shared],
    )
    return CutSet(G, codes.L, codes.example, codes.a, problem.n)


def _require_codes_of(problem: Problem, codes: CodeSet) -> None:
    """Reject codes of scores that the examples do not have, which would be read beyond the ends of arrays."""
    sizes = np.diff(problem.ptr) + problem.operator.shared
    within = (
        codes.example.max(initial=-1) < problem.n
        and (codes.where < np.repeat(sizes[codes.example], np.diff(codes.ptr))).all()
    )
    if not within:
        raise InputError("start has codes of other examples: use a result of the same data, or save this one again")


def _rank(example: IntVector) -> IntVector:
    """Return the number of earlier entries with the same example; examples ascend."""
    return np.arange(len(example)) - np.searchsorted(example, example)


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
        needed = problem.n * _FEWEST_PLACES * (PLACE.itemsize + 8 * EARLIER) + 8 * gram_ptr[-1]
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
        _combined(self.arrays, np.ascontiguousarray(factors), self.problem.ptr, code)
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
        end = int(_compacted(arrays, where, entry))
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
        _held(self.arrays, self.problem.ptr, scores, out)
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
        _require_codes_of(self.problem, codes)
        rank, lengths = _rank(codes.example), np.diff(codes.ptr)
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
