"""Sweeps over the stored planes by several threads.

Examples are visited in batches of a few blocks. Each block is the work of one thread, which steps through its examples
on a private copy of w. Then the moves of the blocks are joined, each scaled by the share from 0 to 1 that maximizes the
dual, so that the dual never falls. Batches and blocks do not depend on the number of threads. Jaggi et al.,
"Communication-Efficient Distributed Dual Coordinate Ascent", NIPS 2014, use whole machines as blocks and a fixed share.
With blocks as small as here, a sweep gains about as much as a serial one (benchmarks/solvers/threads_tried.md).
"""

from math import gcd
from typing import NamedTuple, Self

import numpy as np

from structsvm.foundation.compute.compilation import compiled, compiled_part, inlined_part
from structsvm.foundation.compute.products import dot
from structsvm.foundation.compute.threads import (
    begin_stage,
    end_piece,
    ends_stage,
    next_piece,
    next_stage,
    stage_counters,
)
from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.problem.planes.arrays import PlaneArrays
from structsvm.problem.planes.steps import bring_live_to_front, improve

BLOCKS = 4
"""Blocks per batch."""

_FEWEST = 500
"""Number of examples below which there is one block: several would miss too much of each other's moves."""

_MOST_AT_ONCE = 16
"""Largest number of examples per block; a block has at most one example in `_PART`."""

_PART = 60

_ROUNDS = 10
"""Largest number of rounds that set each block's share to its optimum."""

_SETTLED = 1e-3
"""Change of shares at which these rounds end."""

_GOLDEN = 0.3819660112501051
"""Growth of strides as a share of the visits: the golden section, whose multiples are far apart."""

_GAP, _OFFSET, _SUMS = 0, 1, 8

_SWEEP, _FIRST, _END = range(3)
"""Indices of ``batch``."""


class Sweeps(NamedTuple):
    """State shared by threads: B blocks of at most S examples, planes of d numbers at P places.

    ``batch`` (3,) is the sweep and the first and last visit of the batch. ``order`` (n,) is the order of the first
    sweep, and ``stride`` (sweeps,) the step of each sweep through it, so that examples follow different ones each time.
    ``w`` (B, d) are the moves of the weights by block and ``before`` (B, S, P) earlier multipliers. ``room`` (B, 2 P)
    is work space. ``sums`` (B, 8) are gaps and changes of ``Σ a L``. ``share`` (B,) is the share of each move and
    ``inner`` (B, B) the moves' products. ``met`` (sweeps,) are the gaps of each sweep, infinite if it did not run.
    """

    counters: IntVector
    batch: IntVector
    order: IntVector
    stride: IntVector
    w: Matrix
    before: Matrix
    room: Matrix
    sums: Matrix
    share: Vector
    inner: Matrix
    met: Vector

    @classmethod
    def of(cls, order: IntVector, most: int, places: int, d: int) -> Self:
        """Plan at most ``most`` sweeps."""
        n = len(order)
        blocks = BLOCKS if n >= _FEWEST else 1
        size = min(_MOST_AT_ONCE, n // _PART) if blocks > 1 else 1
        return cls(
            counters=stage_counters(),
            batch=np.zeros(3, dtype=np.int64),
            order=order,
            stride=strides(n, most),
            w=np.empty((blocks, d)),
            before=np.empty((blocks, size, places)),
            room=np.empty((blocks, 2 * places)),
            sums=np.zeros((blocks, _SUMS)),
            share=np.empty(blocks),
            inner=np.empty((blocks, blocks)),
            met=np.full(most, np.inf),
        )


def strides(n: int, most: int) -> IntVector:
    """Return distinct strides that reach all of n places; the first is 1."""
    strides, candidate = [1], 1
    while len(strides) < most:
        candidate = (candidate + int(_GOLDEN * n)) % n if n > 1 else 0
        while n > 1 and gcd(candidate, n) > 1:
            candidate += 1
        strides.append(candidate)
    return np.array(strides[:most], dtype=np.int64)


@compiled
def sweep_over(planes: PlaneArrays, sweeps: Sweeps, w: Vector, enough: float, leads: bool) -> None:
    """Sweep until the gaps of a sweep sum to at most ``enough``; threads that do not lead follow."""
    batch, counters, n = sweeps.batch, sweeps.counters, len(sweeps.order)
    blocks = len(sweeps.w)
    at_once = blocks * sweeps.before.shape[1] if blocks > 1 else max(n, 1)
    stage = 0
    while True:
        if leads:
            batch[_END] = min(n, batch[_FIRST] + at_once)
            begin_stage(counters)
        elif not next_stage(counters, stage):
            return
        stage += 1
        block = next_piece(counters, blocks)
        while block >= 0:
            _visit(planes, sweeps, block, w)
            end_piece(counters)
            block = next_piece(counters, blocks)
        if leads and (not ends_stage(counters, blocks) or _end_batch(planes, sweeps, w, enough)):
            return


@inlined_part
def _end_batch(planes: PlaneArrays, sweeps: Sweeps, w: Vector, enough: float) -> bool:
    """Join the moves of the blocks and go to the next batch; return True after the last one."""
    batch, met = sweeps.batch, 0.0
    for b in range(len(sweeps.w)):
        met += sweeps.sums[b, _GAP]
    sweep = batch[_SWEEP]
    sweeps.met[sweep] = met if batch[_FIRST] == 0 else sweeps.met[sweep] + met
    if len(sweeps.w) > 1:
        _join(planes, sweeps, w)
    batch[_FIRST] = batch[_END]
    if batch[_END] == len(sweeps.order):
        batch[_SWEEP] = sweep + 1
        batch[_FIRST] = 0
        return bool(sweeps.met[sweep] <= enough or sweep + 1 == len(sweeps.met))
    return False


@inlined_part
def _bound(sweeps: Sweeps, block: int) -> int:
    """Return the first visit of a block of the batch."""
    first = sweeps.batch[_FIRST]
    return int(first + (sweeps.batch[_END] - first) * block // len(sweeps.w))


@inlined_part
def _example(sweeps: Sweeps, k: int) -> int:
    return int(sweeps.order[k * sweeps.stride[sweeps.batch[_SWEEP]] % len(sweeps.order)])


@inlined_part
def _visit(planes: PlaneArrays, sweeps: Sweeps, block: int, w: Vector) -> None:
    """Step on the examples of a block: on all planes in the first sweep, later on planes that recently had weight."""
    alone, places = len(sweeps.w) == 1, planes.L.shape[1]
    moved, room = sweeps.w[block], sweeps.room[block]
    at = w if alone else moved
    if not alone:
        for c in range(len(w)):
            moved[c] = w[c]
    sweep, first = sweeps.batch[_SWEEP], _bound(sweeps, block)
    gap, offset = 0.0, 0.0
    for k in range(first, _bound(sweeps, block + 1)):
        i = _example(sweeps, k)
        if sweep == 1:
            bring_live_to_front(planes, i)
        used = planes.used[i] if sweep == 0 else planes.live[i]
        gap += improve(planes, i, used, at, room)
        if not alone:
            for p in range(used):
                before = room[places + p]
                sweeps.before[block, k - first, p] = before
                offset += (planes.a[i, p] - before) * planes.L[i, p]
    sweeps.sums[block, _GAP], sweeps.sums[block, _OFFSET] = gap, offset
    if not alone:
        for c in range(len(w)):
            moved[c] -= w[c]


@inlined_part
def _join(planes: PlaneArrays, sweeps: Sweeps, w: Vector) -> None:
    """Apply the best share of each block's moves."""
    blocks = len(sweeps.w)
    _set_shares(sweeps, w)
    for b in range(blocks):
        share = sweeps.share[b]
        for k in range(len(w)):
            w[k] += share * sweeps.w[b, k]
        if share == 1.0:
            continue
        first = _bound(sweeps, b)
        for k in range(first, _bound(sweeps, b + 1)):
            i = _example(sweeps, k)
            for p in range(planes.used[i] if sweeps.batch[_SWEEP] == 0 else planes.live[i]):
                before = sweeps.before[b, k - first, p]
                planes.a[i, p] = before + share * (planes.a[i, p] - before)
                if planes.a[i, p] > 0.0:
                    planes.age[i, p] = 0.0


@compiled_part
def _set_shares(sweeps: Sweeps, w: Vector) -> None:
    """Maximize ``Σ_b t_b o_b − ½ ‖w + Σ_b t_b m_b‖²`` over ``0 ≤ t ≤ 1`` approximately, by coordinate ascent from 0."""
    blocks, share, inner = len(sweeps.w), sweeps.share, sweeps.inner
    for b in range(blocks):
        share[b] = 0.0
        for c in range(b + 1):
            inner[b, c] = dot(sweeps.w[b], sweeps.w[c])
            inner[c, b] = inner[b, c]
        sweeps.sums[b, _OFFSET] -= dot(sweeps.w[b], w)
    for _ in range(_ROUNDS):
        change = 0.0
        for b in range(blocks):
            rise = sweeps.sums[b, _OFFSET]
            for c in range(blocks):
                rise -= inner[b, c] * share[c]
            before = share[b]
            if rise > 0.0 and rise >= inner[b, b] * (1.0 - before):
                share[b] = 1.0
            elif inner[b, b] > 0.0:
                share[b] = before + rise / inner[b, b]
                if share[b] < 0.0:
                    share[b] = 0.0
            if abs(share[b] - before) > change:
                change = abs(share[b] - before)
        if change <= _SETTLED:
            break
