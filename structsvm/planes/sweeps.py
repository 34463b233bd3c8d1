"""Sweeps over the planes that are kept, by several threads.

Examples are visited in batches of a few blocks. Each block is one thread's, which steps on its examples one after the
other at weights of its own, from those of the batch before. What has moved in the blocks is then joined: of each
block's move the share is taken, from 0 to 1, with which the dual is highest, so that it never falls. Batches and
blocks do not depend on the number of threads. Jaggi et al., "Communication-Efficient Distributed Dual Coordinate
Ascent", NIPS 2014, whose blocks are whole machines and whose share is fixed; so few examples as here
hardly know of one another, and a sweep gains about what it gains one example after the other
(measured: docs/benchmarks.md, "Threads").
"""

from math import gcd
from typing import NamedTuple, Self

import numpy as np

from structsvm.compute.compilation import compiled, compiled_part
from structsvm.compute.products import dot
from structsvm.compute.stages import begin_stage, end_piece, ends_stage, next_piece, next_stage, stage_counters
from structsvm.planes.arrays import PlaneArrays
from structsvm.planes.steps import bring_live_to_front, improve
from structsvm.types import IntVector, Matrix, Vector

BLOCKS = 4
"""Blocks of a batch."""

_FEWEST = 500
"""Examples below which there is one block: others would know of more of what it has moved than they ought to miss."""

_MOST_AT_ONCE = 16
"""Examples of a block, at most, and one in how many there are."""

_PART = 60

_ROUNDS = 10
"""Times that each block's share is set to where the dual is highest, at most."""

_SETTLED = 1e-3
"""Change of shares at which that ends."""

_GOLDEN = 0.3819660112501051
"""Share of the visits by which strides grow: the golden section, whose multiples are far from one another."""

_GAP, _OFFSET, _SUMS = 0, 1, 8

_SWEEP, _FIRST, _END = range(3)
"""Places of ``batch``."""


class Sweeps(NamedTuple):
    """What threads share: B blocks of at most S examples, planes of d numbers at P places.

    ``batch`` (3,) is the sweep, and from where to where in its order of visits the batch is; ``order`` (n,) of the
    visits in the first sweep, and ``stride`` (sweeps,) the steps in which each sweep goes round it, so that no example
    follows the same one again; ``w`` (B, d) how the weights move in each block; ``before`` (B, S, P) multipliers;
    ``room`` (B, 2 P); ``sums`` (B, 8) gaps met and what moves add to ``Σ a L``; ``share`` (B,) of the moves; ``inner``
    (B, B) their products; ``met`` (sweeps,) gaps met in each sweep, infinite where there was none.
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
        """Plan so many sweeps at most."""
        n = len(order)
        blocks = BLOCKS if n >= _FEWEST else 1
        size = min(_MOST_AT_ONCE, n // _PART) if blocks > 1 else 1
        return cls(
            counters=stage_counters(),
            batch=np.zeros(3, dtype=np.int64),
            order=order,
            stride=_strides(n, most),
            w=np.empty((blocks, d)),
            before=np.empty((blocks, size, places)),
            room=np.empty((blocks, 2 * places)),
            sums=np.zeros((blocks, _SUMS)),
            share=np.empty(blocks),
            inner=np.empty((blocks, blocks)),
            met=np.full(most, np.inf),
        )


def _strides(n: int, most: int) -> IntVector:
    """Return steps in which one comes to each of n places, 1 at first."""
    strides, candidate = [1], 1
    while len(strides) < most:
        candidate = (candidate + int(_GOLDEN * n)) % n if n > 1 else 0
        while n > 1 and gcd(candidate, n) > 1:
            candidate += 1
        strides.append(candidate)
    return np.array(strides[:most], dtype=np.int64)


@compiled
def sweep_over(planes: PlaneArrays, sweeps: Sweeps, w: Vector, enough: float, leads: bool) -> None:
    """Sweep until the gaps met in a sweep are no more than enough, or follow the thread that leads this."""
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


@compiled_part
def _end_batch(planes: PlaneArrays, sweeps: Sweeps, w: Vector, enough: float) -> bool:
    """Join what blocks have moved, and turn to the next batch; say whether that was the last one."""
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


@compiled_part
def _bound(sweeps: Sweeps, block: int) -> int:
    """Return where a block of the batch begins."""
    first = sweeps.batch[_FIRST]
    return int(first + (sweeps.batch[_END] - first) * block // len(sweeps.w))


@compiled_part
def _example(sweeps: Sweeps, k: int) -> int:
    return int(sweeps.order[k * sweeps.stride[sweeps.batch[_SWEEP]] % len(sweeps.order)])


@compiled_part
def _visit(planes: PlaneArrays, sweeps: Sweeps, block: int, w: Vector) -> None:
    """Step on the examples of a block: in the first sweep on all planes, then on those that had weight of late."""
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


@compiled_part
def _join(planes: PlaneArrays, sweeps: Sweeps, w: Vector) -> None:
    """Take the best share of what has moved in each block."""
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
    """Maximise ``Σ_b t_b o_b − ½ ‖w + Σ_b t_b m_b‖²`` over ``0 ≤ t ≤ 1``, nearly, one share after the other from 0."""
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
