"""Compiled inference by enumeration, for small graphs with cycles and two labels per node."""

import numpy as np

from structsvm.foundation.compute.compilation import compiled_part
from structsvm.foundation.compute.products import copy
from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.inference.graph import parts_of
from structsvm.inference.messages import score_of

MOST_NODES = 16
"""Largest number of nodes for which enumeration takes no longer than message passing."""

_IN_STEPS = 6
"""Number of nodes whose labels change step by step, before scores are added up anew."""

_ROUNDING_OF_STEPS = 2.0**-36
"""Rounding error relative to the sum S of the magnitudes of scores, with room: gains have one of 128 u · 8 S at most
after 64 steps, which add up in the value, and 2^10 u S before."""


@compiled_part
def best_of_all(code: IntVector, unary: Matrix, pairwise: Vector, labels: IntVector) -> tuple[float, float]:
    """Write the best of all 2^V labels, 0 and 1, and return its value and the same with room for rounding.

    ``pairwise`` has a table per edge. For all labels of the nodes after the first `_IN_STEPS`, all labels of the first
    nodes follow in steps: each changes the node at the last 1 of its number, in O(V). Scores are relative to all 0.
    """
    nodes, edges = len(unary), len(pairwise)
    ends = code[len(code) - 2 * edges :]
    alone, together = np.empty(nodes), np.zeros((nodes, nodes))
    size = 0.0
    for v in range(nodes):
        alone[v] = unary[v, 1] - unary[v, 0]
        size += abs(unary[v, 0]) + abs(unary[v, 1])
    for e in range(edges):
        u, v, table = ends[2 * e], ends[2 * e + 1], pairwise[e]
        alone[u] += table[1, 0] - table[0, 0]
        alone[v] += table[0, 1] - table[0, 0]
        both = table[1, 1] - table[1, 0] - table[0, 1] + table[0, 0]
        together[u, v] += both
        together[v, u] += both
        size += np.abs(table).sum()
    gain, now = np.empty(nodes), np.zeros(nodes, dtype=np.int64)
    first = min(nodes, _IN_STEPS)
    top = -np.inf
    for others in range(2 ** (nodes - first)):
        value = 0.0
        for v in range(nodes):
            gain[v], now[v] = alone[v], 0 if v < first else others >> (v - first) & 1
        for v in range(first, nodes):
            if now[v] > 0:
                value += gain[v]
                for u in range(nodes):
                    gain[u] += together[v, u]
        for number in range(2**first):
            if number > 0:
                v = 0
                while number >> v & 1 == 0:
                    v += 1
                sign = 1.0 - 2.0 * now[v]
                value += sign * gain[v]
                now[v] = 1 - now[v]
                for u in range(first):
                    gain[u] += sign * together[v, u]
            if value > top:
                top = value
                copy(now, labels)
    best = score_of(parts_of(code), unary, pairwise, labels)
    return best, best + _ROUNDING_OF_STEPS * size
