"""Columns of features on very different scales, which a regularised model cannot weight alike."""

from functools import partial
from typing import Any

import numpy as np
from attrs import field, frozen

from structsvm.types import IntVector, Vector

FAR_APART = 1000.0
"""How many times the range of one column may be that of another without a word.

A column that is s times as large needs a weight s times smaller, whose regulariser is s² times smaller: for it, C is
s² times as large. At 1000 that is a factor of 10⁶, more than the grids by which C is chosen span: none of its values
suits both.
"""

_LOOKED_AT = 2**12
_SHOWN = 3


@frozen(eq=False)
class ColumnRanges:
    """The range of each column, its largest value less its smallest, in the rows that were looked at.

    Parameters
    ----------
    columns : numbers of the columns from 0, ascending; others do not vary.
    ranges : of these, shape (columns,).
    """

    columns: IntVector = field(repr=False)
    ranges: Vector = field(repr=False)

    @classmethod
    def of(cls, X: Any) -> "ColumnRanges":
        """Look at features, dense or CSR, at some thousand rows spread evenly: a fit may be no more than ten passes.

        A column that has another value than most in few rows only may so seem not to vary, and is then not compared.
        """
        rows = X[:: -(-X.shape[0] // _LOOKED_AT)] if X.shape[0] > _LOOKED_AT else X
        if hasattr(rows, "indptr"):
            return cls(*_of_entries(rows))
        with np.errstate(over="ignore"):
            ranges = np.asarray(rows.max(axis=0) - rows.min(axis=0), dtype=np.float64)
        return cls(np.arange(len(ranges)), ranges)

    @property
    def far_apart(self) -> bool:
        """Whether the largest range is more than `FAR_APART` times the smallest one that is not 0."""
        varying = self.ranges[self.ranges > 0.0]
        return len(varying) > 1 and bool(varying.max() / FAR_APART > varying.min())

    def told(self, name: Any) -> str:
        """Say which columns have the largest and the smallest ranges, and what it does.

        Parameters
        ----------
        name : returns what to call a column, given its number from 0.
        """
        order = np.argsort(self.ranges, kind="stable")
        varying = order[self.ranges[order] > 0.0]
        typical = float(np.median(self.ranges[varying]))
        large = [k for k in varying[::-1] if self.ranges[k] > FAR_APART**0.5 * typical]
        small = [k for k in varying if self.ranges[k] < typical / FAR_APART**0.5]
        listed = partial(self._listed, name)
        parts = [*([f"{listed(large)} with the largest"] if large else [])]
        parts += [f"{listed(small)} with the smallest"] if small else []
        if not parts:
            parts = [f"{listed(varying[-1:])} with the largest and {listed(varying[:1])} with the smallest"]
        return (
            f"ranges of the features differ by a factor of {self.ranges[varying[-1]] / self.ranges[varying[0]]:.2g}: "
            f"{', '.join(parts)} (most have about {typical:.2g}). At any C, the regulariser hardly counts the weights "
            "of large ones and keeps those of small ones from growing"
        )

    def _listed(self, name: Any, columns: Any) -> str:
        shown = [f"{name(int(self.columns[k]))} ({self.ranges[k]:.2g})" for k in columns[:_SHOWN]]
        more = f" and {len(columns) - _SHOWN} more" if len(columns) > _SHOWN else ""
        return ", ".join(shown) + more


def _of_entries(X: Any) -> tuple[IntVector, Vector]:
    """Return the columns of a CSR matrix that have entries, and their ranges; what is not stored is 0."""
    columns, place, counts = np.unique(X.indices, return_inverse=True, return_counts=True)
    low, high = np.zeros(len(columns)), np.zeros(len(columns))
    np.minimum.at(low, place, X.data)
    np.maximum.at(high, place, X.data)
    for column in np.flatnonzero(counts >= X.shape[0]):  # no row is 0 there
        values = X.data[place == column]
        low[column], high[column] = values.min(), values.max()
    return columns.astype(np.int64), high - low
