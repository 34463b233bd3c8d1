"""Tables that fit a terminal."""

from collections.abc import Sequence
from typing import Self

from attrs import frozen
from rich.cells import cell_len

_GAP = 3
"""Blanks between columns."""


@frozen
class Grid:
    """The cells of a table.

    Parameters
    ----------
    headings : headings of the columns.
    sections : rows of cells, in groups.
    right : whether each column is aligned to the right, as numbers are.
    """

    headings: Sequence[str]
    sections: Sequence[Sequence[Sequence[str]]]
    right: Sequence[bool]

    def fitted(self, width: int) -> list[Self]:
        """Return tables that show this one within a width: itself if it fits, or if its texts can be wrapped.

        Otherwise each has the columns of text at the left, which name the row, and as many others as fit.
        """
        widths = self._widths()
        if sum(widths) + _GAP * (len(widths) - 1) <= width or not any(self.right):
            return [self]
        keys = next(k for k, right in enumerate(self.right) if right or k == len(self.right) - 1)
        named = min(sum(widths[:keys]) + _GAP * keys, width // 2)
        parts, used = [list(range(keys))], named
        for column in range(keys, len(widths)):
            if used + widths[column] > width and len(parts[-1]) > keys:
                parts.append(list(range(keys)))
                used = named
            parts[-1].append(column)
            used += widths[column] + _GAP
        return [self._columns(part) for part in parts]

    def _widths(self) -> list[int]:
        lines = [self.headings, *(row for section in self.sections for row in section)]
        return [max(map(cell_len, column)) for column in zip(*lines, strict=True)]

    def _columns(self, chosen: Sequence[int]) -> Self:
        return type(self)(
            [self.headings[k] for k in chosen],
            [[[row[k] for k in chosen] for row in section] for section in self.sections],
            [self.right[k] for k in chosen],
        )
