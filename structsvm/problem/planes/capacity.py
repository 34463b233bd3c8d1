"""Choose sizes of plane caches: Frank-Wolfe's planes per example, and planes of earlier points for checks."""

import numpy as np

DEFAULT_MEMORY = 256 * 2**20
"""Bytes for Frank-Wolfe's planes, unless the user sets ``FrankWolfe(memory=...)``."""

MOST_PLACES = 32

FEWEST_PLACES = 3
"""Smallest number of planes per example: while two planes with weight are merged, a new plane needs a place."""

ENOUGH_PLACES = 6
"""Planes per example that are worth their memory; with fewer, Frank-Wolfe drops planes that it needs again."""

_FEW_WEIGHTS = 100
"""Number of weights up to which planes are short, so that all planes an optimum may need are kept."""

_MORE = 4.0
"""Additional planes per example, times d / n. An optimum needs at most n + d planes with weight, so with few examples
each example needs more."""

_BESIDE = 24
"""Bytes per plane for offset, multiplier and age."""


_BYTES_OF_EARLIER_PLANES = 2**28
"""Largest total size in bytes of the planes of earlier points."""

_MOST_EARLIER = 4
_MOST_EARLIER_IN_PYTHON = 16
"""Largest number of points whose planes are kept, with a kernel and with argmaxes in Python."""


def places_within(n: int, d: int, memory: int) -> int:
    """Return the number of places for planes per example: all useful ones that fit into ``memory`` bytes."""
    # P planes take 8 (P² + 2 half P) bytes per example.
    half = 0.5 * d + _BESIDE / 16.0
    return min(of_use(n, d), int((half * half + memory / (8 * n)) ** 0.5 - half))


def bytes_of_planes(n: int, d: int, places: int) -> int:
    """Return the bytes for ``places`` planes of each of n examples."""
    return n * places * (8 * d + 8 * places + _BESIDE)


def of_use(n: int, d: int) -> int:
    """Return the number of useful planes per example: ``6 + 4 d / n``, at most 32."""
    return min(MOST_PLACES, ENOUGH_PLACES + int(_MORE * d / n))


def fewest(n: int, d: int) -> int:
    """Return the least planes per example for Frank-Wolfe: ``3 + 4 d / n``, at most 32, or 6 if d is above 100."""
    most = MOST_PLACES if d <= _FEW_WEIGHTS else ENOUGH_PLACES
    return min(most, FEWEST_PLACES + int(_MORE * d / n))


def earlier_points(scores: int, has_kernel: bool) -> int:
    """Return the number of earlier points, at least 2, whose planes a solver keeps to check new argmaxes."""
    most = _MOST_EARLIER if has_kernel else _MOST_EARLIER_IN_PYTHON
    return int(np.clip(_BYTES_OF_EARLIER_PLANES // (8 * scores + 1), 2, most))
