"""Loops of `ActiveSet` over *vertices*: the K cuts, then a null vertex per group (g = 0, L = 0) for the unused cap.

The Gram matrix is flat: row k is ``gram[k * stride : k * stride + K]``, so one version serves views of larger buffers.
"""

import math

import numpy as np

from structsvm.foundation.compute.compilation import compiled, compiled_part
from structsvm.foundation.types import IntVector, Matrix, Vector


@compiled
def project_groups(a: Vector, group: IntVector, cap: Vector) -> None:
    """Set negative, infinite and NaN multipliers to 0, and scale each group down to its cap."""
    total = np.empty(len(cap))
    for g in range(len(cap)):
        total[g] = 0.0
    for k in range(len(a)):
        a[k] = a[k] if 0.0 < a[k] < np.inf else 0.0
        total[group[k]] += a[k]
    for k in range(len(a)):
        g = group[k]
        if total[g] > cap[g]:
            a[k] *= cap[g] / total[g]


@compiled
def slopes(gram: Vector, stride: int, b: Vector, weight: Vector, slope: Vector) -> None:
    """Write ``b − H a`` to the head of ``slope``; its tail, for the null vertices, stays 0."""
    size = len(b)
    for k in range(size):
        slope[k] = 0.0
    for k in range(size):
        if weight[k] > 0.0:
            row = gram[k * stride : k * stride + size]
            for v in range(size):
                slope[v] += weight[k] * row[v]
    for k in range(size):
        slope[k] = b[k] - slope[k]


@compiled
def ascend_pairs(
    gram: Vector,
    stride: int,
    slope: Vector,
    weight: Vector,
    group: IntVector,
    cap: Vector,
    tol: float,
    passes: int,
) -> tuple[float, int]:
    """Move weight in pairs within groups until the gap is at most ``tol``; return gap and number of steps."""
    groups = len(cap)
    size = len(weight) - groups
    best = np.empty(groups, np.int64)
    worst = np.empty(groups, np.int64)
    share = np.empty(groups)
    steps = 0
    while True:
        for g in range(groups):
            best[g] = size + g
            worst[g] = size + g if weight[size + g] > 0.0 else -1
            share[g] = 0.0
        for k in range(size):
            g = group[k]
            if slope[k] > slope[best[g]]:
                best[g] = k
            if weight[k] > 0.0:
                share[g] -= weight[k] * slope[k]
                if worst[g] < 0 or slope[k] < slope[worst[g]]:
                    worst[g] = k
        gap = 0.0
        largest = 0.0
        for g in range(groups):
            share[g] += cap[g] * slope[best[g]]
            gap += share[g]
            if share[g] > largest:
                largest = share[g]
        if gap <= tol or passes == 0:
            return gap, steps
        passes -= 1
        threshold = 0.1 * largest
        if threshold < 0.5 * tol / groups:
            threshold = 0.5 * tol / groups
        moved = False
        for g in range(groups):
            up, down = best[g], worst[g]
            rise = slope[up] - slope[down]
            if share[g] < threshold or rise <= 0.0:
                continue
            curvature = 0.0
            if up < size:
                curvature += gram[up * stride + up]
            if down < size:
                curvature += gram[down * stride + down]
            if up < size and down < size:
                curvature -= 2.0 * gram[up * stride + down]
            step = weight[down]
            if rise < step * curvature:
                step = rise / curvature
                weight[down] -= step
            else:
                weight[down] = 0.0
            weight[up] += step
            if up < size:
                row = gram[up * stride : up * stride + size]
                for v in range(size):
                    slope[v] -= step * row[v]
            if down < size:
                row = gram[down * stride : down * stride + size]
                for v in range(size):
                    slope[v] += step * row[v]
            steps += 1
            moved = True
        if not moved:
            return gap, steps


@compiled
def reduced_gram(
    gram: Vector, stride: int, size: int, face: IntVector, pivot: IntVector, difference: Vector, out: Matrix
) -> None:
    """Write the Gram matrix of ``g_face[k] − g_pivot[k]``; ``difference`` is work space over the vertices."""
    count = len(face)
    for k in range(count):
        for v in range(size):
            difference[v] = 0.0
        if face[k] < size:
            row = gram[face[k] * stride : face[k] * stride + size]
            for v in range(size):
                difference[v] += row[v]
        if pivot[k] < size:
            row = gram[pivot[k] * stride : pivot[k] * stride + size]
            for v in range(size):
                difference[v] -= row[v]
        for j in range(count):
            out[k, j] = difference[face[j]] - difference[pivot[j]]


def _row_product(factor: Matrix, k: int, x: Vector, count: int) -> float:
    total = 0.0
    for j in range(k + 1, count):
        total += factor[k, j] * x[j]
    return total


row_product = compiled_part(_row_product, reorder=True)
"""``row_product(factor, k, x, count)``: x times row k right of the diagonal, in the first ``count`` columns."""


@compiled
def descend_face(factor: Matrix, z: Vector, face: IntVector, pivot: IntVector, weight: Vector, move: Vector) -> int:
    """Take Newton steps on a face until one is not blocked; return how many vertices blocked and left the face.

    Column k moves weight from ``pivot[k]`` to ``face[k]``. With ``M = R'R`` the reduced Hessian and r the reduced
    gradient, ``factor`` is R, upper triangular, and ``z = R⁻ᵀ r``. A step cut short at t leaves the reduced gradient
    ``(1 − t) r``. Dropping a column rotates R back to triangular form, and z with it, so the next step costs one back
    substitution. If a pivot blocks, the first column of its group becomes the pivot: it is subtracted from the later
    columns, which leaves R triangular, and dropped.

    All arguments but ``weight`` are work space; ``move`` is over the vertices.
    """
    count = len(face)
    total = count
    x = np.empty(count)
    while count > 0:
        for k in range(count - 1, -1, -1):
            x[k] = (z[k] - row_product(factor, k, x, count)) / factor[k, k]
        for k in range(count):
            move[pivot[k]] = 0.0
        for k in range(count):
            move[face[k]] = x[k]
            move[pivot[k]] -= x[k]
        t = 1.0
        blocking = -1
        for k in range(count):
            for v in (face[k], pivot[k]):
                if weight[v] + t * move[v] < 0.0:
                    t = -weight[v] / move[v]
                    blocking = v
        for k in range(count):
            for v in (face[k], pivot[k]):
                moved = weight[v] + t * move[v]
                weight[v] = moved if moved > 0.0 else 0.0
                move[v] = 0.0
        if blocking < 0:
            break
        weight[blocking] = 0.0

        drop = 0
        while face[drop] != blocking and pivot[drop] != blocking:
            drop += 1
        if pivot[drop] == blocking:
            for k in range(drop + 1, count):
                if pivot[k] == blocking:
                    pivot[k] = face[drop]
                    for i in range(drop + 1):
                        factor[i, k] -= factor[i, drop]

        for k in range(count):
            z[k] *= 1.0 - t
        for k in range(drop, count - 1):
            face[k] = face[k + 1]
            pivot[k] = pivot[k + 1]
        for i in range(count):
            for k in range(max(drop, i - 1), count - 1):
                factor[i, k] = factor[i, k + 1]
        count -= 1
        for i in range(drop, count):
            length = math.hypot(factor[i, i], factor[i + 1, i])
            if length == 0.0:
                continue
            c, s = factor[i, i] / length, factor[i + 1, i] / length
            for k in range(i, count):
                above, below = factor[i, k], factor[i + 1, k]
                factor[i, k] = c * above + s * below
                factor[i + 1, k] = c * below - s * above
            z[i], z[i + 1] = c * z[i] + s * z[i + 1], c * z[i + 1] - s * z[i]
    return total - count
