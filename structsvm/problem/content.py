"""Hash a problem's content, to compare problems across processes."""

import pickle
from typing import Any
from uuid import uuid4

import numpy as np
from xxhash import xxh3_128

from structsvm.features.operators.views import is_built_in
from structsvm.problem.points import Point

_SMALL = 0.1
"""Largest score of a fingerprint's probe; near 0 no hinge vanishes, so every label and loss has an effect."""

_BYTES_AT_ONCE = 2**20
"""Bytes copied at a time from an array that is not contiguous."""


class Content:
    """Hash arrays, numbers, text and picklable objects; other content makes the hash unique (``known`` is False)."""

    def __init__(self) -> None:
        self._hash = xxh3_128()
        self.known = True

    def digest(self) -> list[int]:
        """Return the hash as four numbers below 2³²."""
        numbers: list[int] = np.frombuffer(self._hash.digest(), dtype="<u4").tolist()
        return numbers

    def add(self, value: Any) -> None:
        """Add a value; different values add different bytes."""
        if isinstance(value, tuple):
            self.write(f"{type(value).__module__}.{type(value).__qualname__}:{len(value)};".encode())
            for part in value:
                self.add(part)
        elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
            self._add_array(value)
        else:
            self._add_pickled(value)

    def add_unknown(self) -> None:
        """Add random bytes, so that no other hash is equal."""
        self.known = False
        self.write(uuid4().bytes)

    def write(self, data: Any) -> int:
        """Add bytes; lets a pickler write to the hash."""
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
        # Without the memo, equal values are written alike, whether they are one object or several.
        pickler.fast = True
        try:
            pickler.dump(value)
        # Pickling runs the value's own code, which may raise anything.
        except Exception:
            self.add_unknown()


def add_problem(problem: Any, content: Content) -> None:
    """Add everything that identifies a `Problem`, except C, to a hash."""
    content.add((problem.used, problem.weights, problem.ptr, problem.oracle.content))
    features, view = problem.operator.content, problem.operator.view
    content.add(features)
    if problem.coordinates is not None:
        content.add(problem.coordinates.content)
    if features is None:
        content.add_unknown()
    rng = np.random.default_rng(0)
    # Another package's code may change, so include its scores.
    if view is None or not is_built_in(view):
        content.add(problem.at(rng.standard_normal(problem.d)).scores)
    probe = rng.uniform(-_SMALL, _SMALL, problem.sizes[2])
    # With bounds on weights, the argmax is valid only at scores of weights within them.
    if problem.loss.weight_bounds(problem.d) is not None:
        probe = problem.at(rng.uniform(-_SMALL, _SMALL, problem.d)).scores
    planes = problem.planes(Point(np.zeros(problem.d), probe))
    shared = () if planes.shared is None else (planes.shared.data, planes.shared.indices, planes.shared.indptr)
    content.add((planes.coef, planes.loss, *shared))
