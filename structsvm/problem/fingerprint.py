"""Telling data and losses apart, exactly."""

import pickle
from typing import Any
from uuid import uuid4

import numpy as np
from xxhash import xxh3_128

from structsvm.operators.views import is_built_in
from structsvm.problem.points import Point
from structsvm.problem.problem import Problem
from structsvm.types import Vector

_SMALL = 0.1
"""Largest score of the probe: so near 0 that no hinge vanishes, and every label and loss shows."""

_BYTES_AT_ONCE = 2**20
"""How much is copied at a time of an array that is not contiguous."""


def fingerprint(problem: Problem) -> Vector:
    """Return numbers that tell a problem's data, weights and loss from others, C aside.

    Cuts of other data would falsify the lower bound, however small the difference is beside the rest of
    the data: so this is a hash of 128 bits, of every bit of the features, of what argmaxes read, of the weights, of
    the code of the loss (`program`), and of the plane of every example at fixed random scores near 0. It costs an
    argmax of every example and one reading of the data, about a third of the time of a product with w.

    Features or losses that cannot be told (`Operator.content` is None, or a loss in Python cannot be pickled) have
    a fingerprint that no other has. Equal numbers that are stored otherwise (float32, sparse) have another one.
    """
    content = _Content()
    content.add((problem.used, problem.weights, problem.ptr, problem.oracle.content))
    features, view = problem.operator.content, problem.operator.view
    content.add(features)
    if features is None:
        content.add_unknown()
    rng = np.random.default_rng(0)
    if view is None or not is_built_in(view):  # its code may be another, too
        content.add(problem.at(rng.standard_normal(problem.d)).scores)
    probe = rng.uniform(-_SMALL, _SMALL, problem.ptr[-1])
    planes = problem.planes(Point(np.zeros(problem.d), probe))
    content.add((planes.coef, planes.loss))
    return np.array([problem.n, problem.d, problem.ptr[-1], *content.digest()], dtype=np.float64)


def same(seen: Vector, known: Vector) -> bool:
    """Say whether two fingerprints are of the same problem, C aside; an empty one is of none."""
    return len(seen) > 0 and np.array_equal(seen, known)


class _Content:
    """A hash of arrays, numbers and text, nested in tuples, and of whatever can be pickled."""

    def __init__(self) -> None:
        self._hash = xxh3_128()

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
