"""Many texts in two arrays."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Self, overload

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from structsvm.types import IntVector


@frozen(eq=False, repr=False)
class Strings(Sequence[str]):
    """Texts stored one after the other, which take their bytes and a number each, however long some of them are.

    Indexed by a number it gives a text; by numbers, a mask or a slice, or by `numpy.asarray`, an array of texts.

    Parameters
    ----------
    content : all texts, one after the other, in UTF-8, shape (n_bytes,); bytes that were none are as they were.
    ptr : text i is ``content[ptr[i]:ptr[i + 1]]``, shape (n + 1,).

    Examples
    --------
    >>> from structsvm.text import Strings
    >>> Strings.of(["a", "bc"]).tolist()
    ['a', 'bc']
    """

    content: NDArray[np.uint8]
    ptr: IntVector

    @classmethod
    def of(cls, texts: Iterable[str]) -> Self:
        """Pack texts."""
        pieces = [text.encode("utf-8", "surrogateescape") for text in texts]
        ptr = np.zeros(len(pieces) + 1, dtype=np.int64)
        np.cumsum(np.fromiter(map(len, pieces), np.int64, len(pieces)), out=ptr[1:])
        return cls(np.frombuffer(b"".join(pieces), dtype=np.uint8), ptr)

    def __len__(self) -> int:
        return len(self.ptr) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: Any) -> Any: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, int | np.integer):
            at = int(index) + (len(self) if index < 0 else 0)
            if not 0 <= at < len(self):
                raise IndexError(f"there is no text {index} among {len(self)}")
            return _decoded(self.content[self.ptr[at] : self.ptr[at + 1]].tobytes())
        chosen = np.arange(len(self))[index]
        content, starts, ends = self.content, self.ptr[chosen].tolist(), self.ptr[chosen + 1].tolist()
        texts = [_decoded(content[start:end].tobytes()) for start, end in zip(starts, ends, strict=True)]
        return np.array(texts, dtype=np.str_)

    def tolist(self) -> list[str]:
        """Return all texts."""
        content = self.content.tobytes()
        return [_decoded(content[start:end]) for start, end in pairwise(self.ptr.tolist())]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.tolist(), dtype=np.str_ if dtype is None else dtype)

    def __repr__(self) -> str:
        return f"Strings({len(self):,} texts of {len(self.content):,} bytes)"


def _decoded(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")
