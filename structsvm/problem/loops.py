"""Compiled loops over examples."""

from functools import cache
from inspect import signature
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from structsvm.exceptions import InputError, brief
from structsvm.features.operators import example_add, example_scores
from structsvm.foundation.compute.atomics import add, reached
from structsvm.foundation.compute.compilation import by_address, compiled, inlined_part
from structsvm.foundation.compute.environment import numba
from structsvm.foundation.compute.products import copy, dot
from structsvm.foundation.types import BoolVector, IntVector, Matrix, Vector
from structsvm.problem.batches import FIRST_DONE, NEXT, STEPPED, STOP, Batches
from structsvm.problem.planes.arrays import insert
from structsvm.problem.planes.steps import NEW_PLANE, best_value, bring_live_to_front, improve
from structsvm.problem.program import plain_function

_VECTOR = numba.types.Array(numba.float64, 1, "C")
_INDEX = numba.types.Array(numba.int64, 1, "C")

KERNEL_SIGNATURE = numba.float64(_VECTOR, _VECTOR, _VECTOR, _VECTOR)
"""The one signature of a loss kernel: ``(scores, labels, params, out) -> Δ``."""

LOSS_ROUNDING = 1e-10
"""Size of a negative loss that counts as rounding of 0, relative to the example's loss at scores of 0."""

SMALL_LOSS = 1e-4
"""Smallest scale of losses for `LOSS_ROUNDING`, for examples without another output."""

KERNEL_TYPE = numba.types.FunctionType(KERNEL_SIGNATURE)


def compiled_kernel(kernel: Any) -> Any:
    """Compile a loss kernel once per process; raise `InputError` if it is not a function of four arguments or fails."""
    return _compiled_kernel(plain_function(kernel))


@cache
def _compiled_kernel(plain: Any) -> Any:
    if not callable(plain) or len(signature(plain).parameters) != 4:
        raise InputError(f"kernel must be a function kernel(scores, labels, params, out), got {brief(plain)}")
    try:
        kernel = compiled(plain, [KERNEL_SIGNATURE], as_argument=True)
    except numba.core.errors.NumbaError as error:
        raise InputError(
            f"kernel {plain.__name__} cannot be compiled. It must be a plain function of four float64 vectors that "
            f"returns a number, made of loops, numbers and NumPy. numba says: {_in_short(error)}"
        ) from error
    return by_address(kernel, KERNEL_SIGNATURE)


def _in_short(error: Exception) -> str:
    """Return the first sentence of numba's message and the source line that it names."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = [line for line in lines if not line.startswith(("Failed in", "File ", "During:"))]
    place = next((line for line in lines if line.startswith("File ") and ", line " in line), "").rstrip(":")
    return f"{said[0] if said else lines[0]}{f' ({place})' if place else ''}"


def _argmax_sweep(
    kernel: Any,
    bounds: IntVector,
    counters: IntVector,
    scores: Vector,
    ptr: IntVector,
    cap: Vector,
    labels: Vector,
    label_ptr: IntVector,
    params: Vector,
    coef: Vector,
    loss: Vector,
    missed: Vector,
    codes: Any,
) -> None:
    first_shared = ptr[-1]
    shared, bounds_too = len(scores) - first_shared, int(len(missed) > 0)
    longest = 0
    for i in range(len(ptr) - 1 if shared + bounds_too > 0 else 0):
        longest = max(longest, ptr[i + 1] - ptr[i])
    # Shared scores follow each example's own scores, so they are copied only once.
    both, written = np.empty(longest + shared), np.empty(longest + shared + bounds_too)
    copy(scores[first_shared:], both[longest:])
    while True:
        block = add(counters, 0, 1)
        if block >= len(bounds) - 1:
            return
        for i in range(bounds[block], bounds[block + 1]):
            if cap[i] == 0.0:
                coef[ptr[i] : ptr[i + 1]] = 0.0
                loss[i] = 0.0
                continue
            if shared + bounds_too > 0:
                begin = longest - (ptr[i + 1] - ptr[i])
                copy(scores[ptr[i] : ptr[i + 1]], both[begin:longest])
                loss[i] = kernel(both[begin:], labels[label_ptr[i] : label_ptr[i + 1]], params, written[begin:])
                copy(written[begin:longest], coef[ptr[i] : ptr[i + 1]])
                _store_code(codes, i, written[longest : longest + shared])
                if bounds_too > 0:
                    missed[i] = written[longest + shared]
                continue
            loss[i] = kernel(
                scores[ptr[i] : ptr[i + 1]],
                labels[label_ptr[i] : label_ptr[i + 1]],
                params,
                coef[ptr[i] : ptr[i + 1]],
            )


_TOGETHER = 32
"""Coefficients that are tested for zeros together."""


class SparseCodes(NamedTuple):
    """Coefficients of shared scores in rows: example i needs ``used[i]`` places, which may be more than there are."""

    used: IntVector
    where: NDArray[np.int64]
    value: Matrix

    @classmethod
    def of(cls, n: int, places: int) -> Self:
        """Make codes of n examples without coefficients."""
        return cls(np.zeros(n, dtype=np.int64), np.empty((n, places), dtype=np.int64), np.empty((n, places)))

    def matrix(self, width: int) -> sp.csr_array:
        """Return the coefficients as a matrix with one example per row."""
        ptr = np.concatenate(([0], np.cumsum(self.used)))
        value, where = _row_starts(self.value, ptr), _row_starts(self.where, ptr)
        return sp.csr_array((value, where, ptr), shape=(len(self.used), width))


@inlined_part
def _some(code: Vector, first: int, end: int) -> bool:
    """Return True if a part of a code is not 0, in a loop that can use vector units."""
    some = False
    for k in range(first, end):
        some |= code[k] != 0.0
    return some


@inlined_part
def _store_code(codes: Any, i: int, code: Vector) -> None:
    """Store the coefficients of an example, as many as fit, and count them all."""
    used, places = 0, codes.value.shape[1]
    for first in range(0, len(code), _TOGETHER):
        end = min(first + _TOGETHER, len(code))
        for k in range(first, end if _some(code, first, end) else first):
            if code[k] != 0.0:
                if used < places:
                    codes.where[i, used] = k
                    codes.value[i, used] = code[k]
                used += 1
    codes.used[i] = used


def _line_sweep(
    kernel: Any,
    bounds: IntVector,
    counters: IntVector,
    base: Vector,
    along: Vector,
    t: float,
    ptr: IntVector,
    cap: Vector,
    labels: Vector,
    label_ptr: IntVector,
    params: Vector,
    value: Vector,
    slope: Vector,
    bounded: bool,
) -> None:
    shared = len(base) - ptr[-1]
    longest = 0
    for i in range(len(ptr) - 1):
        longest = max(longest, ptr[i + 1] - ptr[i])
    scores, code = np.empty(longest + shared), np.empty(longest + shared + int(bounded))
    for k in range(shared):
        scores[longest + k] = base[ptr[-1] + k] + t * along[ptr[-1] + k]
    while True:
        block = add(counters, 0, 1)
        if block >= len(bounds) - 1:
            return
        for i in range(bounds[block], bounds[block + 1]):
            if cap[i] == 0.0:
                continue
            count = ptr[i + 1] - ptr[i]
            begin = longest - count
            for k in range(count):
                scores[begin + k] = base[ptr[i] + k] + t * along[ptr[i] + k]
            loss = kernel(scores[begin:], labels[label_ptr[i] : label_ptr[i + 1]], params, code[begin:])
            separate, rest = code[begin:longest], code[longest : longest + shared]
            value[i] = loss - (dot(separate, scores[begin:longest]) + dot(rest, scores[longest:]))
            slope[i] = -(dot(separate, along[ptr[i] : ptr[i + 1]]) + dot(rest, along[ptr[-1] :]))


@inlined_part
def largest_size(scores: Vector) -> float:
    """Return the largest absolute score."""
    largest = 0.0
    for score in scores:
        if abs(score) > largest:
            largest = abs(score)
    return largest


def _batched_visits(
    kernel: Any,
    view: Any,
    shared: int,
    labels: Vector,
    label_ptr: IntVector,
    params: Vector,
    planes: Any,
    order: IntVector,
    center: Vector,
    scale: Vector,
    batches: Any,
    allowed: float,
    bounded: bool,
    unreachable: bool,
    w: Vector,
) -> None:
    chunk_ptr, batch_ptr, counters, at, wrong = (
        batches.chunk_ptr,
        batches.batch_ptr,
        batches.counters,
        batches.w,
        batches.wrong,
    )
    g = np.empty(len(w))
    room = np.empty(2 * planes.L.shape[1])
    moves = len(center) > 0
    weights = np.empty(len(w)) if moves else at
    b = 0
    while True:
        chunk = add(counters, NEXT, 1)
        if chunk >= batch_ptr[-1]:
            return
        while batch_ptr[b + 1] <= chunk:
            b += 1
        if not reached(counters, STEPPED, b, STOP):
            return
        first_chunk, end_chunk = batch_ptr[b], batch_ptr[b + 1]
        if moves:
            for c in range(len(w)):
                weights[c] = center[c] + scale[c] * at[c]
        for k in range(chunk_ptr[chunk], chunk_ptr[chunk + 1]):
            i = order[k]
            count = view.ptr[i + 1] - view.ptr[i] + shared
            scores = np.empty(count)
            out = np.empty(count + int(bounded))
            example_scores(view, i, weights, scores)
            loss = kernel(scores, labels[label_ptr[i] : label_ptr[i + 1]], params, out)
            if loss < 0.0:
                labels_of_i = labels[label_ptr[i] : label_ptr[i + 1]]
                level = abs(kernel(np.zeros(count), labels_of_i, params, np.empty(len(out))))
                if loss >= -LOSS_ROUNDING * max(level, SMALL_LOSS):
                    loss = 0.0
            coef = out[:count]
            value = loss - dot(coef, scores)
            if unreachable and value < 0.0:
                # The true output is better than all outputs that the kernel can return.
                value = 0.0
            best = best_value(planes, i, at, room)
            sound = 0.0 <= loss < np.inf and value < np.inf
            if not sound or (not value >= best and not value >= best - allowed * (1.0 + largest_size(scores))):
                wrong[k] = 1
                break
            if value > best + NEW_PLANE:
                g[:] = 0.0
                example_add(view, i, coef, g)
                if moves:
                    loss -= dot(g, center)
                    for c in range(len(g)):
                        g[c] *= scale[c]
                insert(planes, i, g, loss)
        if add(counters, FIRST_DONE + b, 1) == end_chunk - first_chunk - 1:
            first, end = chunk_ptr[first_chunk], chunk_ptr[end_chunk]
            for k in range(first, end):
                if wrong[k] > 0:
                    add(counters, STOP, 1)
                    return
            for k in range(first, end):
                i = order[k]
                batches.met[0] += improve(planes, i, planes.used[i], w, room)
                bring_live_to_front(planes, i)
            for k in range(len(w)):
                at[k] = (1.0 - batches.share) * at[k] + batches.share * w[k]
            add(counters, STEPPED, 1)


@cache
def argmax_sweep() -> Any:
    """Return the loop that writes the plane of every example, for any kernel; see `over_blocks`."""
    codes = numba.typeof(SparseCodes.of(1, 1))
    arguments = (
        KERNEL_TYPE,
        _INDEX,
        _INDEX,
        _VECTOR,
        _INDEX,
        _VECTOR,
        _VECTOR,
        _INDEX,
        _VECTOR,
        _VECTOR,
        _VECTOR,
        _VECTOR,
    )
    return compiled(_argmax_sweep, [numba.void(*arguments, codes)])


@cache
def line_sweep() -> Any:
    """Return the loop that writes the hinge of examples, and its slope, at a point of a line; see `over_blocks`."""
    arguments = (KERNEL_TYPE, _INDEX, _INDEX, _VECTOR, _VECTOR, numba.float64, _INDEX, _VECTOR, _VECTOR, _INDEX)
    return compiled(_line_sweep, [numba.void(*arguments, _VECTOR, _VECTOR, _VECTOR, numba.boolean)])


@cache
def batched_visits(view: Any, planes: Any, keep: bool) -> Any:
    """Return the loop that visits examples and updates a dual point, for a type of view, cached on disk if ``keep``.

    Each thread takes chunks of examples; it scores an example, finds its argmax and stores the plane while its rows are
    in the processor's cache. The thread that finishes a batch steps for its examples one by one while the others wait.
    All stop if the true output or a stored plane beats an argmax by more than ``allowed``, or if a plane contains NaN.
    """
    batches = numba.typeof(Batches.of(1, 1, 1.0, 1.0, np.zeros(1), first=True))
    arguments = (
        KERNEL_TYPE,
        view,
        numba.int64,
        _VECTOR,
        _INDEX,
        _VECTOR,
        planes,
        _INDEX,
        _VECTOR,
        _VECTOR,
        batches,
        numba.float64,
        numba.boolean,
        numba.boolean,
        _VECTOR,
    )
    return compiled(_batched_visits, [numba.void(*arguments)], keep=keep)


@compiled
def segment_dots(a: Vector, b: Vector, ptr: IntVector) -> Vector:
    """Return the inner product of a and b over each segment ``ptr[i]`` to ``ptr[i + 1] − 1``."""
    out = np.empty(len(ptr) - 1)
    for i in range(len(out)):
        out[i] = dot(a[ptr[i] : ptr[i + 1]], b[ptr[i] : ptr[i + 1]])
    return out


@compiled
def scaled_segments(a: Vector, factor: Vector, ptr: IntVector) -> Vector:
    """Return segment i of a times ``factor[i]``."""
    out = np.empty(len(a))
    for i in range(len(factor)):
        for k in range(ptr[i], ptr[i + 1]):
            out[k] = factor[i] * a[k]
    return out


@compiled
def chosen_segments(which: BoolVector, a: Any, a_ptr: Any, b: Any, b_ptr: Any, ptr: IntVector) -> Any:
    """Return segment i of b if ``which[i]``, else of a, from ``ptr[i]`` to ``ptr[i + 1] − 1``."""
    out = np.empty(ptr[-1], dtype=a.dtype)
    for i in range(len(which)):
        for k in range(ptr[i + 1] - ptr[i]):
            out[ptr[i] + k] = b[b_ptr[i] + k] if which[i] else a[a_ptr[i] + k]
    return out


@compiled
def _row_starts(rows: Any, ptr: IntVector) -> Any:
    """Return the first ``ptr[i + 1] − ptr[i]`` elements of each row, one row after the other."""
    out = np.empty(ptr[-1], dtype=rows.dtype)
    for i in range(len(rows)):
        for k in range(ptr[i + 1] - ptr[i]):
            out[ptr[i] + k] = rows[i, k]
    return out
