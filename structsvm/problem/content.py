"""A hash of what a problem is made of."""

import pickle
from typing import Any
from uuid import uuid4

import numpy as np
from xxhash import xxh3_128

_BYTES_AT_ONCE = 2**20
"""How much is copied at a time of an array that is not contiguous."""


class Content:
    """A hash of arrays, numbers and text, nested in tuples, and of whatever can be pickled.

    Attributes
    ----------
    known : whether all that was added can be told; if not, no other hash is like it.
    """

    def __init__(self) -> None:
        self._hash = xxh3_128()
        self.known = True

    def digest(self) -> list[int]:
        """Return the hash as four numbers below 2³²."""
        numbers: list[int] = np.frombuffer(self._hash.digest(), dtype="<u4").tolist()
        return numbers

    def add(self, value: Any) -> None:
        """Add a value, so that no two different ones add the same."""
        if isinstance(value, tuple):
            self.write(f"{type(value).__module__}.{type(value).__qualname__}:{len(value)};".encode())
            for part in value:
                self.add(part)
        elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
            self._add_array(value)
        else:
            self._add_pickled(value)

    def add_unknown(self) -> None:
        """Add what no other hash has."""
        self.known = False
        self.write(uuid4().bytes)

    def write(self, data: Any) -> int:
        """Add bytes, as to a file."""
        self._hash.update(data)
        return len(data)

    def _add_array(self, array: Any) -> None:
        across = array.flags.f_contiguous and not array.flags.c_contiguous
        array = np.asarray(array.T if across else array)
        self.write(f"{array.dtype.str}{array.shape}{across};".encode())
        if array.flags.c_contiguous:
            self.write(array.reshape(-1).view(np.uint8))
            return
        rows = max(1, _BYTES_AT_ONCE // max(1, array[:1].nbytes))
        for start in range(0, len(array), rows):
            self.write(np.ascontiguousarray(array[start : start + rows]).reshape(-1).view(np.uint8))

    def _add_pickled(self, value: Any) -> None:
        def add_buffer(buffer: pickle.PickleBuffer) -> None:
            self._hash.update(buffer.raw())

        pickler = pickle.Pickler(self, protocol=5, buffer_callback=add_buffer)
        pickler.fast = True  # what is equal is written alike, whether it is one object or several
        try:
            pickler.dump(value)
        except Exception:  # it is the value's own code that runs
            self.add_unknown()
