"""How the planes of all examples are kept within a budget of memory: how many, and with how many digits."""

from typing import Any, Self

import numpy as np
from attrs import frozen

MOST_PLACES = 32
FEWEST_PLACES = 3

_BESIDE = 32
"""Bytes that a plane takes beside its d numbers and its products with others: offset, multiplier, age and error."""


@frozen
class Storage:
    """Places for planes of d numbers, the same number of places for each example.

    Parameters
    ----------
    places : planes that are kept of each example.
    dtype : float64, or float32, in which twice as many fit.
    """

    places: int
    dtype: type[Any]

    @classmethod
    def within(cls, n: int, d: int, memory: int) -> Self:
        """Choose float64 where 32 planes of each example fit into so many bytes, else float32."""
        full = cls.exact_within(n, d, memory)
        return full if full.places == MOST_PLACES else cls(_places(n, d, memory, np.float32), np.float32)

    @classmethod
    def exact_within(cls, n: int, d: int, memory: int) -> Self:
        """Choose float64 however few fit."""
        return cls(_places(n, d, memory, np.float64), np.float64)

    def bytes_for(self, n: int, d: int, places: int) -> int:
        """Return how many bytes that number of planes of each of n examples takes."""
        return n * places * (np.dtype(self.dtype).itemsize * d + 8 * places + _BESIDE)


def _places(n: int, d: int, memory: int, dtype: type[Any]) -> int:
    half = (np.dtype(dtype).itemsize * d + _BESIDE) / 16.0  # P planes take 8 (P² + 2 half P) bytes an example
    return min(MOST_PLACES, int((half * half + memory / (8 * n)) ** 0.5 - half))
