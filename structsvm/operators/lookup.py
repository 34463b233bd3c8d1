"""Compiled scores and combinations of indicators of thresholds, by table and by histogram.

A document that satisfies t thresholds of a function gets the sum of the first t weights of the function: a
table of these prefix sums, made once a call, is looked up once for each document and function. Conversely
the coefficients of all documents are added up by code, and the sums from code t on are what threshold t − 1
gets. The table has a place for code 0 of each function, which begins at ``offsets[f] + f``. Unsigned
indices spare a test for negative ones; four documents at a time keep four sums under way.
"""

from typing import Any

import numpy as np

from structsvm.compute.compilation import compiled
from structsvm.types import IntVector, Vector


@compiled
def table_starts(offsets: IntVector) -> Any:
    """Return where the places of each function begin in a table."""
    starts = np.empty(len(offsets) - 1, np.uint64)
    for f in range(len(starts)):
        starts[f] = offsets[f] + f
    return starts


@compiled
def prefix_sums(offsets: IntVector, w: Vector) -> Vector:
    """Return the sums of the first 0, 1, 2, ... weights of each function, one function after the other."""
    table = np.empty(len(w) + len(offsets) - 1)
    for f in range(len(offsets) - 1):
        total = 0.0
        table[offsets[f] + f] = total
        for k in range(offsets[f], offsets[f + 1]):
            total += w[k]
            table[k + f + 1] = total
    return table


@compiled
def score_binned(codes: Any, offsets: IntVector, w: Vector, out: Vector) -> None:
    """Write the score of each row of codes."""
    table, starts = prefix_sums(offsets, w), table_starts(offsets)
    rows, functions = codes.shape
    in_fours = rows - rows % 4
    for row in range(0, in_fours, 4):
        a = b = c = d = 0.0
        for f in range(functions):
            start = starts[f]
            a += table[start + codes[row, f]]
            b += table[start + codes[row + 1, f]]
            c += table[start + codes[row + 2, f]]
            d += table[start + codes[row + 3, f]]
        out[row], out[row + 1], out[row + 2], out[row + 3] = a, b, c, d
    for row in range(in_fours, rows):
        a = 0.0
        for f in range(functions):
            a += table[starts[f] + codes[row, f]]
        out[row] = a


@compiled
def combine_binned(codes: Any, offsets: IntVector, c: Vector, out: Vector) -> None:
    """Write the sum of the coefficients of the rows that satisfy each threshold."""
    starts = table_starts(offsets)
    rows, functions = codes.shape
    sums = np.zeros(len(out) + functions)
    for row in range(rows):
        coefficient = c[row]
        if coefficient != 0.0:
            for f in range(functions):
                sums[starts[f] + codes[row, f]] += coefficient
    for f in range(functions):
        total = 0.0
        for k in range(offsets[f + 1] - 1, offsets[f] - 1, -1):
            total += sums[k + f + 1]
            out[k] = total
