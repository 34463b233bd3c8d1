"""What a document of some grade gains, and how much it counts at some rank."""

from typing import Literal, TypeAlias

import numpy as np

from structsvm.exceptions import InputError
from structsvm.types import Vector

Discount: TypeAlias = Literal["standard", "letor"]
"""``1/log2(1 + rank)``, or 1, 1, 1/log2(3), 1/log2(4), ..., where the first two ranks weigh the same."""

Gain: TypeAlias = Literal["exponential", "linear"]
"""``2^grade − 1``, or the grade."""


def discounts(ranks: int, discount: Discount, k: int | None = None) -> Vector:
    """Return the discounts of the ranks from 1, shape (ranks,); 0 beyond the cut-off k."""
    rank = np.arange(1, ranks + 1)
    values: Vector = 1.0 / np.log2(rank + 1.0 if discount == "standard" else np.maximum(rank, 2))
    if k is not None:
        values[k:] = 0.0
    return values


def gains(grades: Vector, gain: Gain) -> Vector:
    """Return the gain of each grade; grades below 0 gain nothing.

    Raises
    ------
    InputError : a gain is too large for a number.
    """
    positive: Vector = np.maximum(grades, 0.0)
    if gain == "linear":
        return positive
    if positive.max(initial=0.0) > 1000:
        raise InputError(f"2^grade overflows for a grade of {positive.max():g}; gain='linear' takes grades as gains")
    return np.exp2(positive) - 1.0
