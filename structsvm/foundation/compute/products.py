"""Inner products and copies of short vectors in compiled loops."""

from typing import Any

from structsvm.foundation.compute.compilation import compiled_part


def _dot(a: Any, b: Any) -> float:
    total = 0.0
    for k in range(len(b)):
        total += a[k] * b[k]
    return total


def _copy(source: Any, out: Any) -> None:
    for k in range(len(source)):
        out[k] = source[k]


copy = compiled_part(_copy)
"""``copy(source, out)``; numba takes seconds to compile ``out[:] = source``, with its message about unequal shapes."""

dot = compiled_part(_dot, reorder=True)
"""``dot(a, b)`` in float64; for short vectors, a call of BLAS takes longer."""
