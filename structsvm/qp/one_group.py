"""The QP of one group of cuts within compiled code."""

import math

import numpy as np

from structsvm.compute.compilation import compiled_part
from structsvm.compute.environment import numba
from structsvm.qp.kernels import ascend_pairs, descend_face, reduced_gram, slopes
from structsvm.types import IntVector, Matrix, Vector

_PASSES = 20
"""Pairwise steps before each Newton step."""

_ROUNDS = 50
"""Most rounds of these."""

_RIDGE, _RIDGES = 1e-13, 10
"""First ridge on a face, as a fraction of the largest diagonal entry, and how often it is raised a hundredfold."""

_VECTOR = numba.types.Array(numba.float64, 1, "C")

SIGNATURE = numba.float64(_VECTOR, numba.int64, _VECTOR, _VECTOR, _VECTOR, numba.float64)
"""That of `solve_one_group`, for calls by its address."""


@compiled_part
def solve_one_group(gram: Vector, stride: int, b: Vector, weight: Vector, slope: Vector, tol: float) -> float:
    """Solve as `structsvm.qp.ActiveSet` does, for one group whose cap is 1; return the value of the dual.

    The dual does not fall: where rounding forbids more, the best point that was met is left.

    Parameters
    ----------
    gram, stride : row k of the Gram matrix is ``gram[k * stride : k * stride + K]``.
    b : offsets, shape (K,).
    weight : of the K cuts and of the null vertex, shape (K + 1,), of sum 1: where to start; overwritten.
    slope : ``b − H a`` and 0 there, shape (K + 1,); overwritten.
    tol : gap at which to stop.
    """
    size = len(b)
    group, cap, kept = np.empty(size, np.int64), np.empty(1), np.empty(size + 1)
    cap[0] = 1.0
    for k in range(size):
        group[k] = 0
    best = dual_value(b, weight, slope)
    _copy(weight, kept)
    gap, _ = ascend_pairs(gram, stride, slope, weight, group, cap, tol, _PASSES)
    for _ in range(_ROUNDS):
        if gap <= tol:
            break
        _newton(gram, stride, size, weight, slope)
        slopes(gram, stride, b, weight, slope)
        dual = dual_value(b, weight, slope)
        if not dual > best + 1e-15 * abs(best):
            break
        best = dual
        _copy(weight, kept)
        gap, _ = ascend_pairs(gram, stride, slope, weight, group, cap, tol, _PASSES)
    dual = dual_value(b, weight, slope)
    if not dual >= best:
        _copy(kept, weight)
        slopes(gram, stride, b, weight, slope)
        return best
    return dual


@compiled_part
def _copy(source: Vector, target: Vector) -> None:
    for k in range(len(source)):
        target[k] = source[k]


@compiled_part
def dual_value(b: Vector, weight: Vector, slope: Vector) -> float:
    """Return the value of the dual where the slopes are known."""
    value = 0.0
    for k in range(len(b)):
        value += 0.5 * weight[k] * (b[k] + slope[k])
    return value


@compiled_part
def _newton(gram: Vector, stride: int, size: int, weight: Vector, slope: Vector) -> None:
    """Maximise over the face of the vertices that carry weight."""
    face, pivot = np.empty(size + 1, np.int64), np.empty(size + 1, np.int64)
    count = _heaviest_first(weight, face, pivot)
    if count == 0:
        return
    face, pivot = face[:count], pivot[:count]
    factor, z = np.empty((count, count)), np.empty(count)
    difference, move = np.empty(size + 1), np.empty(size + 1)
    for v in range(size + 1):
        difference[v] = move[v] = 0.0
    ridge = _RIDGE
    definite = False
    for _ in range(_RIDGES):
        reduced_gram(gram, stride, size, face, pivot, difference, factor)
        largest = 0.0
        for k in range(count):
            if factor[k, k] > largest:
                largest = factor[k, k]
        for k in range(count):
            factor[k, k] += ridge * (largest if largest > 0.0 else 1.0)
        definite = _factorise(factor)
        if definite:
            break
        ridge *= 100.0
    if not definite:
        return
    for k in range(count):
        z[k] = slope[face[k]] - slope[pivot[k]]
    for k in range(count):
        z[k] /= factor[k, k]
        for j in range(k + 1, count):
            z[j] -= z[k] * factor[k, j]
    descend_face(factor, z, face, pivot, weight, move)


@compiled_part
def _heaviest_first(weight: Vector, face: IntVector, pivot: IntVector) -> int:
    """Write the vertices with weight but the heaviest, which is the pivot of all; return how many there are.

    The light ones, which are likely to leave, are last.
    """
    heaviest = 0
    for v in range(len(weight)):
        if weight[v] > weight[heaviest]:
            heaviest = v
    count = 0
    for v in range(len(weight)):
        if v != heaviest and weight[v] > 0.0:
            place = count
            while place > 0 and weight[face[place - 1]] < weight[v]:
                face[place] = face[place - 1]
                place -= 1
            face[place] = v
            pivot[count] = heaviest
            count += 1
    return count


@compiled_part
def _factorise(matrix: Matrix) -> bool:
    """Write R with ``R'R`` the matrix into its upper triangle; say whether it is positive definite."""
    count = len(matrix)
    for k in range(count):
        if not matrix[k, k] > 0.0:
            return False
        root = math.sqrt(matrix[k, k])
        for j in range(k, count):
            matrix[k, j] /= root
        for i in range(k + 1, count):
            amount = matrix[k, i]
            for j in range(i, count):
                matrix[i, j] -= amount * matrix[k, j]
    return True
