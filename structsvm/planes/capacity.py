"""How many planes of each example fit into a budget of memory, and with how many digits."""

from typing import Any, Self

import numpy as np
from attrs import frozen

MOST_PLACES = 32

FEWEST_PLACES = 3
"""Planes an example without which none can be kept: where two carry weight and are merged, a new one needs a place."""

ENOUGH_PLACES = 6
"""Planes an example that are worth their memory: with fewer, Frank-Wolfe forgets what it will need again."""

_FEW_WEIGHTS = 100
"""Weights up to which memory is no reason to keep fewer planes than an optimum may need."""

_MORE = 4.0
"""Planes beyond these for each weight that there is an example: an optimum needs no more than n + d planes with weight,
so that the fewer the examples, the more of each."""

_BESIDE = 32
"""Bytes that a plane takes beside its d numbers and its products with others: offset, multiplier, age and error."""


@frozen
class Capacity:
    """Places for planes of d numbers, the same number of places for each example.

    A visit reads all planes of its example, so that more of them cost time as well as memory.

    Parameters
    ----------
    places : planes that are kept of each example.
    dtype : float64 or float32.
    """

    places: int
    dtype: type[Any]

    @classmethod
    def within(cls, n: int, d: int, memory: int) -> Self:
        """Choose float64 where all planes that are of use fit into so many bytes.

        Else float32: as many planes as would fit in float64, in half the memory, or where these are fewer than 6,
        as many up to 6, or the `fewest`, as fit.
        """
        exact = cls.exact_within(n, d, memory)
        if exact.places == of_use(n, d):
            return exact
        enough = max(ENOUGH_PLACES, fewest(n, d))
        return cls(max(exact.places, min(enough, _places(n, d, memory, np.float32))), np.float32)

    @classmethod
    def exact_within(cls, n: int, d: int, memory: int) -> Self:
        """Choose float64 however few fit."""
        return cls(_places(n, d, memory, np.float64), np.float64)

    def bytes_for(self, n: int, d: int, places: int) -> int:
        """Return how many bytes that number of planes of each of n examples takes."""
        return n * places * (np.dtype(self.dtype).itemsize * d + 8 * places + _BESIDE)


def of_use(n: int, d: int) -> int:
    """Return the number of planes of each of n examples that are worth the time: 6 and ``4 d / n``, at most 32."""
    return min(MOST_PLACES, ENOUGH_PLACES + int(_MORE * d / n))


def fewest(n: int, d: int) -> int:
    """Return the planes of each of n examples without which Frank-Wolfe crawls: 3 and ``4 d / n``.

    At most 32, and where d is above 100, so that planes are long, 6.
    """
    most = MOST_PLACES if d <= _FEW_WEIGHTS else ENOUGH_PLACES
    return min(most, FEWEST_PLACES + int(_MORE * d / n))


def _places(n: int, d: int, memory: int, dtype: type[Any]) -> int:
    half = (np.dtype(dtype).itemsize * d + _BESIDE) / 16.0  # P planes take 8 (P² + 2 half P) bytes an example
    return min(of_use(n, d), int((half * half + memory / (8 * n)) ** 0.5 - half))
