"""Preferences: of two documents of a query, one is better."""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike

from structsvm.estimators.fitting import checked_labels
from structsvm.exceptions import InputError
from structsvm.queries import Queries
from structsvm.types import IntVector, Vector


def _rows(values: ArrayLike) -> IntVector:
    rows = np.asarray(values)
    if rows.ndim == 1 and len(rows) == 0:
        return np.zeros(0, dtype=np.int64)
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        raise InputError(
            "preferences are between rows, so better and worse must be vectors of row numbers: "
            f"one has shape {rows.shape} and type {rows.dtype}"
        )
    return rows.astype(np.int64)


def _numbers(values: ArrayLike) -> Vector:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"magnitudes must be numbers: {error}") from None


@frozen(eq=False, repr=False)
class Preferences:
    """Pairs of rows of which one is better, what `RankSVM`, `RankBoost` and `RankNet` learn from.

    In ``fit(X, y)`` they take the place of the labels ``y``, where there are no grades, such as with clicks.

    Parameters
    ----------
    better, worse : row numbers of the better and the worse document of each pair, from 0, shape (P,).
    magnitude : by how much it is better, above 0, shape (P,); a number is that of all pairs. What it means
        is up to the ranker: the weight of the pair (`RankSVM`, `RankBoost`) or the difference of the two
        scores that is aimed at (`RankNet`).

    Raises
    ------
    InputError : when lengths differ, a row number is negative or in a pair with itself, or a magnitude is
        not a positive finite number; it names the pair.
    """

    takes_the_place_of_labels: ClassVar[bool] = True

    better: IntVector = field(converter=_rows)
    worse: IntVector = field(converter=_rows)
    magnitude: Vector = field(default=1.0, converter=_numbers)

    def __attrs_post_init__(self) -> None:
        pairs = len(self.better)
        if len(self.worse) != pairs:
            raise InputError(f"there are {pairs} better rows and {len(self.worse)} worse ones: a pair has one of each")
        magnitude = self.magnitude
        if magnitude.ndim == 0:
            magnitude = np.full(pairs, float(magnitude))
        if magnitude.shape != (pairs,):
            raise InputError(f"there are {pairs} pairs, but magnitude has shape {magnitude.shape}")
        object.__setattr__(self, "magnitude", magnitude)
        for wrong, why in (
            ((self.better < 0) | (self.worse < 0), "has a negative row number"),
            (self.better == self.worse, "prefers a row to itself"),
            (~(np.isfinite(magnitude) & (magnitude > 0.0)), "has a magnitude that is not positive and finite"),
        ):
            if wrong.any():
                pair = int(wrong.argmax())
                raise InputError(
                    f"pair {pair} ({self.better[pair]}, {self.worse[pair]}, {magnitude[pair]:g}) {why}: leave it out"
                )

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.better)

    def __repr__(self) -> str:
        return f"Preferences({len(self)} pairs)"

    def queries(self, ptr: IntVector) -> IntVector:
        """Return the number of the query of each pair, shape (P,).

        Parameters
        ----------
        ptr : where the rows of each query begin, shape (Q + 1,); both rows of a pair are in one query.
        """
        return np.searchsorted(ptr, self.better, side="right") - 1

    @classmethod
    def of(cls, pairs: Iterable[tuple[int, int] | tuple[int, int, float]]) -> Self:
        """Make them of tuples ``(better, worse)`` or ``(better, worse, magnitude)``.

        Examples
        --------
        >>> from structsvm.rankers import Preferences
        >>> Preferences.of([(0, 1), (0, 2, 2.0)]).magnitude
        array([1., 2.])
        """
        listed: list[Any] = list(pairs)
        for number, pair in enumerate(listed):
            if not isinstance(pair, Sequence | np.ndarray) or isinstance(pair, str) or len(pair) not in (2, 3):
                raise InputError(f"pair {number} is {pair!r}: it must be (better, worse) or (better, worse, magnitude)")
        return cls(
            [pair[0] for pair in listed],
            [pair[1] for pair in listed],
            [pair[2] if len(pair) == 3 else 1.0 for pair in listed],
        )

    @classmethod
    def of_labels(cls, y: ArrayLike, qid: ArrayLike | None = None) -> Self:
        """List all pairs of different labels within queries: up to the square of the size of each.

        Parameters
        ----------
        y : labels, shape (rows,); larger is better. The magnitude of a pair is the difference.
        qid : query of each row; None: one query.

        Raises
        ------
        InputError : when y is not one finite number a row, or qid does not fit it.
        """
        try:
            labels = np.asarray(y, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"y must hold one number per row: {error}") from None
        if labels.ndim != 1:
            raise InputError(f"y must hold one number per row: its shape is {labels.shape}")
        labels = checked_labels(labels, len(labels))
        number = Queries.of(qid, len(labels)).number
        order = np.argsort(number, kind="stable")
        none = np.zeros(0, dtype=np.int64)
        better, worse = [none], [none]
        for rows in np.split(order, np.cumsum(np.bincount(number))[:-1]):
            first, second = np.nonzero(labels[rows][:, None] > labels[rows])
            better.append(rows[first])
            worse.append(rows[second])
        i, j = np.concatenate(better), np.concatenate(worse)
        return cls(i, j, labels[i] - labels[j])
