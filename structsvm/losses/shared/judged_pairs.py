"""Pairs of documents of which one is better."""

from typing import Any

import numpy as np
from attrs import cmp_using, field, frozen

from structsvm.arrays import numbers
from structsvm.exceptions import InputError
from structsvm.settings import at_least
from structsvm.types import IntVector, Vector

_SAME = cmp_using(eq=np.array_equal)


def _documents(values: Any) -> IntVector:
    given = np.asarray(values)
    if given.size and given.dtype.kind not in "iu":
        raise InputError(f"documents of pairs must be numbers of documents, integers from 0; they are {given.dtype}")
    return given.astype(np.int64)


def magnitudes(values: Any) -> Vector:
    """Return the magnitudes of pairs as float64.

    Raises
    ------
    InputError : when they are not real numbers.
    """
    return numbers(values, "magnitudes")


@frozen
class JudgedPairs:
    """Pairs of documents of one query of which one is better: the true output of `PreferencePairs`.

    Parameters
    ----------
    documents : number of documents of the query.
    better, worse : numbers of the better and the worse document of each pair, from 0, shape (P,).
    magnitude : how much each pair counts, above 0, shape (P,).

    Raises
    ------
    InputError : when the lengths differ, a document is not in the query or better than itself, or a magnitude is
        not a positive finite number.

    Examples
    --------
    >>> from structsvm import StructuralSVM
    >>> from structsvm.losses import JudgedPairs, PreferencePairs
    >>> pairs = JudgedPairs(3, better=[2, 1], worse=[1, 0], magnitude=[1.0, 3.0])
    >>> PreferencePairs().loss(pairs, [2.0, 1.0, 3.0])  # the pair (1, 0), which counts 3 of 4, is swapped
    0.75
    >>> svm = StructuralSVM(PreferencePairs(), C=10.0).fit([[[0.0], [1.0], [2.0]]], [pairs])
    >>> ((first, second),) = svm.predict([[[1.0], [5.0]]])
    >>> bool(second > first)
    True
    """

    documents: int = field(validator=at_least(0))
    better: IntVector = field(converter=_documents, eq=_SAME, hash=False)
    worse: IntVector = field(converter=_documents, eq=_SAME, hash=False)
    magnitude: Vector = field(converter=magnitudes, eq=_SAME, hash=False)

    def __attrs_post_init__(self) -> None:
        if not self.better.shape == self.worse.shape == self.magnitude.shape == (len(self),):
            raise InputError(
                "better, worse and magnitude must be vectors of one length, got shapes "
                f"{self.better.shape}, {self.worse.shape} and {self.magnitude.shape}"
            )
        known = (np.minimum(self.better, self.worse) >= 0) & (np.maximum(self.better, self.worse) < self.documents)
        positive = np.isfinite(self.magnitude) & (self.magnitude > 0.0)
        right = known & (self.better != self.worse) & positive
        if not right.all():
            pair = int(np.argmin(right))
            raise InputError(
                f"pair {pair} ({self.better[pair]}, {self.worse[pair]}, {self.magnitude[pair]:g}) must be of two "
                f"different documents from 0 to {self.documents - 1}, with a positive finite magnitude"
            )

    def __len__(self) -> int:
        """Return the number of pairs."""
        return self.better.size
