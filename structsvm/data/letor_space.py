"""Where the rows of a block are written, with room for as many as it can hold."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from structsvm.types import IntVector, Vector

ROWS, LINES = 0, 2
"""Where `Space.counts` has the number of rows and of lines."""

_SHORTEST_FEATURE = len(" 1:1")


class Space(NamedTuple):
    """Where rows are written, with room for as many as a block can hold.

    Parameters
    ----------
    labels, queries, ends, indices, values : as `Rows`.
    places : of each row its line in the block, from 0, and where its comment begins, -1 without one; shape (n, 2).
    counts : rows and features that are written, lines that are read, and the largest index; shape (4,).
    """

    labels: Vector
    queries: IntVector
    ends: IntVector
    places: IntVector
    indices: NDArray[np.int32]
    values: Vector
    counts: IntVector


def make_space(content: bytes) -> Space:
    """Make room for what a block can hold; what is not used takes no memory."""
    rows, features = content.count(b"\n") + 1, len(content) // _SHORTEST_FEATURE + 1
    return Space(
        np.empty(rows),
        np.empty(rows, dtype=np.int64),
        np.empty(rows, dtype=np.int64),
        np.empty((rows, 2), dtype=np.int64),
        np.empty(features, dtype=np.int32),
        np.empty(features),
        np.zeros(4, dtype=np.int64),
    )
