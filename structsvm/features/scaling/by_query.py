"""Scale numbers within each query without overflow; NaN (missing) is ignored and stays."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from structsvm.foundation.types import IntVector, Vector

_VALUES_AT_ONCE = 2**17
"""Values that are scaled at a time, so that intermediate results stay in the processor's cache."""


def scaled(rows: Any, ptr: IntVector, name: str | None, *, centered: bool = True) -> Any:
    """Scale dense rows within queries that start at ``ptr``, shape (Q + 1,), and shift them if ``centered``."""
    if name is None or not len(rows):
        return rows
    if name == "query-percentiles":
        return _percentiles(rows, ptr)
    out = np.empty_like(rows, order="C")
    for first, last in _blocks(ptr, max(1, _VALUES_AT_ONCE // max(1, rows.shape[1]))):
        block = slice(ptr[first], ptr[last])
        out[block] = _scaled_block(rows[block], ptr[first : last + 1] - ptr[first], name, centered)
    return out


def scaled_entries(values: Vector, starts: IntVector, sizes: IntVector, name: str) -> tuple[Vector, Vector]:
    """Divide entries, grouped from ``starts``, by their scales; return them, and shift over scale of each group."""
    counts = np.diff(starts, append=len(values))
    absent = sizes - counts
    low, high = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
    low, high = np.where(absent, np.minimum(low, 0.0), low), np.where(absent, np.maximum(high, 0.0), high)
    low, spread = _halves(low, high)
    unit = (0.5 * values - np.repeat(low, counts)) / np.repeat(spread, counts)
    shift, scale = _of_unit(unit, starts, counts, name, absent=absent, zero=-low / spread)
    return 0.5 * values / np.repeat(spread * scale, counts), (low / spread + shift) / scale


def _scaled_block(rows: Any, ptr: IntVector, name: str, centered: bool) -> Any:
    sizes = np.diff(ptr)
    if np.isnan(rows).any():
        low, high = (extreme.reduceat(rows, ptr[:-1], axis=0) for extreme in (np.fmin, np.fmax))
    else:
        low, high = (extreme.reduceat(rows, ptr[:-1], axis=0) for extreme in (np.minimum, np.maximum))
    low, spread = _halves(low.astype(np.float64), high.astype(np.float64))
    unit = (0.5 * rows - np.repeat(low, sizes, axis=0)) / np.repeat(spread, sizes, axis=0)
    shift, scale = _of_unit(unit, ptr[:-1], sizes, name)
    if not centered:
        return 0.5 * rows / np.repeat(spread * scale, sizes, axis=0)
    return (
        unit if name == "query-min-max" else (unit - np.repeat(shift, sizes, axis=0)) / np.repeat(scale, sizes, axis=0)
    )


def _halves(low: Any, high: Any) -> tuple[Any, Any]:
    """Return halves of the minima and of the spreads; the spread of equal numbers is 1."""
    spread = 0.5 * high - 0.5 * low
    return 0.5 * low, np.where(spread > 0.0, spread, 0.5)


def _of_unit(unit: Any, starts: IntVector, sizes: IntVector, name: str, *, absent: Any = 0, zero: Any = 0.0) -> Any:
    """Return shift and divisor (never 0) of groups in [0, 1] with ``absent`` further numbers of value ``zero``."""
    if name == "query-min-max":
        return np.zeros_like(unit[starts]), np.ones_like(unit[starts])
    missing = np.isnan(unit)
    some = missing.any()
    total = np.add.reduceat(np.where(missing, 0.0, unit) if some else unit, starts, axis=0) + absent * zero
    if name == "query-sum":
        return np.zeros_like(total), np.where(total > 0.0, total, 1.0)
    count = sizes.reshape(-1, *[1] * (unit.ndim - 1)) + absent
    if some:
        count = np.maximum(count - np.add.reduceat(missing, starts, axis=0, dtype=np.int64), 1)
    mean = total / count
    off = unit - np.repeat(mean, sizes, axis=0)
    if some:
        off[missing] = 0.0
    squares = np.add.reduceat(off * off, starts, axis=0) + absent * (zero - mean) ** 2
    deviation = np.sqrt(squares / count)
    return mean, np.where(deviation > 0.0, deviation, 1.0)


def _percentiles(scores: Any, ptr: IntVector) -> Any:
    from structsvm.features.scaling.places import count_higher

    higher, retrieved = count_higher(scores, ptr)
    return np.where(np.isnan(scores), np.nan, (retrieved - higher) / np.maximum(retrieved, 1))


def _blocks(ptr: IntVector, most: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of queries with at most ``most`` rows, or single larger queries."""
    first, queries = 0, len(ptr) - 1
    while first < queries:
        last = max(first + 1, int(np.searchsorted(ptr, ptr[first] + most, side="right")) - 1)
        yield first, last
        first = last
