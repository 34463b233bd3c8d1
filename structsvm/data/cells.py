"""Find and read cells of text, separated by blanks, without a Python loop over lines."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structsvm.foundation.types import IntVector

_WORD = 8
"""Bytes per copied word."""

_MASKS = np.array([2 ** (8 * k) - 1 for k in range(_WORD + 1)], dtype="<u8")
"""Masks that keep the first k bytes of a word."""

_LONG_NUMBER = 64
"""From this many bytes per number, parse cells one by one: in a vector, each cell takes the memory of the longest."""


class Cells:
    """Cells of some lines, separated by spaces and tabs only.

    For each of the n lines that are not blank, ``line`` has its number from 0, and ``count`` its number of cells.
    """

    def __init__(self, content: bytes) -> None:
        self._content = content
        text = np.frombuffer(content, np.uint8)
        line_end = text == ord("\n")
        blank = (text == ord(" ")) | line_end
        for separator in b"\t\r":
            if separator in content:
                blank |= text == separator
        # With a blank before and after the text, edges alternate between begin and end of a cell.
        edges = np.flatnonzero(np.diff(blank, prepend=True, append=True))
        self._begin, self._end = edges[::2], edges[1::2]
        last = np.append(np.flatnonzero(line_end), len(text))
        before = np.searchsorted(self._begin, last)
        count = np.diff(before, prepend=0)
        self.line: IntVector = np.flatnonzero(count)
        self.count: IntVector = count[self.line]
        self._first = before[self.line] - self.count

    def lengths(self, column: int) -> IntVector:
        """Return the bytes of a cell of each line, shape (n,)."""
        cell = self._first + column
        lengths: IntVector = self._end[cell] - self._begin[cell]
        return lengths

    def texts(self, column: int) -> NDArray[np.str_]:
        """Return a cell of each line as text, shape (n,); raise UnicodeDecodeError if one is not UTF-8."""
        characters = self._bytes(column)
        if characters.max() < 128:
            width = int(self.lengths(column).max())
            return characters[:, :width].astype(np.uint32).view(f"U{width}").ravel()
        decoded: NDArray[np.str_] = np.char.decode(characters.view(f"S{characters.shape[1]}").ravel(), "utf-8")
        return decoded

    def numbers(self, column: int, kind: "type[np.float64 | np.int64]") -> NDArray[Any]:
        """Return a cell of each line as a number, shape (n,); raise ValueError or OverflowError if one is not plain."""
        if self.lengths(column).max() > _LONG_NUMBER:
            cell = self._first + column
            texts = [self._content[a:b] for a, b in zip(self._begin[cell], self._end[cell], strict=True)]
            cells, characters = np.array(texts, dtype=object), b"".join(texts)
        else:
            matrix = self._bytes(column)
            cells, characters = matrix.view(f"S{matrix.shape[1]}").ravel(), matrix.tobytes()
        if characters.translate(None, b"0123456789+-.eE\0"):
            raise ValueError("a cell is not a number in decimal digits")
        return cells.astype(kind)

    def has_only(self, column: int, characters: bytes) -> bool:
        """Return whether a cell of each line consists of these ASCII characters."""
        return self.lengths(column).max() <= _LONG_NUMBER and not self._bytes(column).tobytes().translate(
            None, characters + b"\0"
        )

    def text(self, row: int, column: int) -> str:
        cell = self._first[row] + column
        return self._content[self._begin[cell] : self._end[cell]].decode()

    def _bytes(self, column: int) -> NDArray[np.uint8]:
        """Return a cell of each line, padded with NUL, shape (n, a multiple of 8)."""
        begin, lengths = self._begin[self._first + column], self.lengths(column)
        words = -(-int(lengths.max()) // _WORD)
        size = len(self._content)
        # Overlapping view: the word that begins at each byte.
        at = np.ndarray((size + 1,), "<u8", self._content + bytes(_WORD), strides=(1,))
        matrix = np.empty((len(begin), words), "<u8")
        for word in range(words):
            mask = _MASKS[np.clip(lengths - word * _WORD, 0, _WORD)]
            matrix[:, word] = at[np.minimum(begin + word * _WORD, size)] & mask
        return matrix.view(np.uint8)
