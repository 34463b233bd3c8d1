"""The inner product of short vectors, as compiled loops take it."""

from typing import Any

from structsvm.compute.compilation import compiled_part


def _dot(a: Any, b: Any) -> float:
    total = 0.0
    for k in range(len(b)):
        total += a[k] * b[k]
    return total


dot = compiled_part(_dot, reorder=True)
"""``(a, b)``: their inner product in float64; for so few numbers, calling BLAS takes longer."""
