"""Tables of interleaving costs: evaluation, checks, packing for the kernel, and lookup."""

import math
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from structsvm.exceptions import InputError, StructSVMError
from structsvm.features.operators.matrix import read_only
from structsvm.foundation.compute.compilation import inlined_part
from structsvm.foundation.types import IntVector, Matrix, Vector

Cost: TypeAlias = Callable[[Any, Any, int, int], Any]
"""``cost(k, j, R, N)``, elementwise over arrays that broadcast."""

LARGEST_CUTOFF = 2**31
"""Largest cut-off that kernels can count to; larger cut-offs have the same effect, because no query is so long."""

DIVIDE = 0
PROGRAM = 1
TRUNCATE = 2

_KEY = 2**26
"""Factor of table keys: R relevant and N other documents have the key ``R · _KEY + N``."""

_ROUNDING = 1e-12
_CHECKED = 64

_MOST_BYTES = 2 * 2**30
"""Largest memory for the tables of a training set."""


_HINTS = {
    "truth value": "k and j are arrays: write np.where(condition, a, b) for if. ",
    "read-only": "It may not change k and j: write k - 1, not k -= 1. ",
}
"""Remedies by words in the exceptions of a cost function."""


def evaluate_costs(title: str, cost: Cost, k: NDArray[np.int64], j: NDArray[np.int64], R: int, N: int) -> Vector:
    """Return costs in the broadcast shape of k and j; reject other shapes, exceptions and non-finite values."""
    shape = np.broadcast_shapes(k.shape, j.shape)
    try:
        with np.errstate(all="ignore"):
            # The loss reuses these numbers.
            returned = cost(read_only(k), read_only(j), R, N)
    except (StructSVMError, MemoryError):
        raise
    except Exception as error:
        hint = next((way for words, way in _HINTS.items() if words in str(error)), "")
        said = f"{title}.cost raised {type(error).__name__}: {str(error).rstrip('.')}. {hint}"
        raise InputError(f"{said}Run structsvm.testing.check_loss on the loss.") from error
    try:
        if returned is None:
            raise TypeError
        costs = np.array(np.broadcast_to(np.asarray(returned, dtype=np.float64), shape))
    except (TypeError, ValueError):
        raise InputError(
            f"{title}.cost returned {_shown(returned)} for k of shape {k.shape} and j of shape {j.shape}: "
            f"it must return numbers of shape {shape}, one for each pair of k and j"
        ) from None
    wrong = ~np.isfinite(costs)
    if wrong.any():
        at = np.unravel_index(int(wrong.argmax()), shape)
        pair = f"k={np.broadcast_to(k, shape)[at]}, j={np.broadcast_to(j, shape)[at]}, R={R}, N={N}"
        raise InputError(f"{title}.cost({pair}) is {costs[at]}: costs must be finite")
    return costs


def cost_table(title: str, cost: Cost, R: int, N: int, cutoff: int | None = None) -> Matrix:
    """Return ``cost(k, j) − cost(k, 0)`` as entry (j, k − 1), shape (min(N, K) + 1, min(R, K)) with cut-off K.

    The last row then stands for all larger j. Invalid costs are rejected, such as negative losses of rankings.
    """
    K = R + N if cutoff is None else cutoff
    rows, columns = _size(R, N, cutoff)
    every = np.arange(1, R + 1)
    of_truth = evaluate_costs(title, cost, every, np.zeros(1, dtype=np.int64), R, N)
    k, j = every[None, :columns], np.arange(rows)[:, None]
    costs = evaluate_costs(title, cost, k, j, R, N)
    table = costs - of_truth[:columns]
    if K < R + N:
        table = _constant_beyond(title, cost, K, R, N, of_truth, table)
    if abs(of_truth.sum()) > 1e-9 * np.abs(of_truth).sum():
        raise InputError(
            f"{title}.cost(k, j=0, R={R}, N={N}) adds up to {of_truth.sum():.6g} over k = 1 to {R}: "
            "the loss of the truth must be 0. Subtract cost(k, 0)"
        )
    lowest = _lowest(table)
    if lowest < -1e-9 * np.abs(table).max():
        raise InputError(
            f"{title}.cost adds up to {lowest:.6g} for a ranking of {R} relevant and {N} other documents: "
            "a loss must be at least 0"
        )
    return table


def pack(title: str, cost: Cost, shapes: Iterable[tuple[int, int]], cutoff: int | None = None) -> Vector:
    """Return the kernel's parameters: the tables for these numbers (R, N) of relevant and other documents.

    Tables with the same R share storage if their costs do not depend on N. Tables above 2 GiB are rejected.
    """
    ordered = sorted(set(shapes))
    largest: dict[int, int] = {}
    for R, N in ordered:
        columns = _size(R, N, cutoff)[1]
        largest[columns] = max(largest.get(columns, 0), columns * _size(R, N, cutoff)[0])
    # The largest table per number of columns is always stored.
    _require_memory(title, ordered, sum(largest.values()), cutoff)
    places: dict[tuple[int, int], tuple[int, int]] = {}
    parts: list[Vector] = []
    end = 2 + 3 * len(ordered)
    start, previous = 0, np.zeros((0, 0))
    for R, N in reversed(ordered):
        table = cost_table(title, cost, R, N, cutoff)
        if not (previous.shape[1:] == table.shape[1:] and np.array_equal(previous[: len(table)], table)):
            start, previous = end, table
            parts.append(table.ravel())
            end += table.size
            _require_memory(title, ordered, end, cutoff)
        places[R, N] = start, _method(table, R, N, cutoff)
    header = [(R * _KEY + N, *places[R, N]) for R, N in ordered]
    return np.concatenate([[len(ordered), cutoff or 0], np.ravel(header), *parts]).astype(np.float64)


@inlined_part
def table_number(params: Vector, R: int, N: int) -> int:
    """Return the index of the table for R relevant and N other documents; −1 if it is missing."""
    tables = int(params[0])
    key = float(R * _KEY + N)
    low, high = 0, tables
    while low < high:
        middle = (low + high) // 2
        if params[2 + 3 * middle] < key:
            low = middle + 1
        else:
            high = middle
    if low < tables and params[2 + 3 * low] == key:
        return low
    return -1


def _size(R: int, N: int, cutoff: int | None) -> tuple[int, int]:
    """Return the shape of a table."""
    return (N + 1, R) if cutoff is None else (min(N, cutoff) + 1, min(R, cutoff))


def _require_memory(title: str, shapes: list[tuple[int, int]], numbers: int, cutoff: int | None) -> None:
    """Reject tables that exceed the memory limit."""
    if 8 * numbers <= _MOST_BYTES:
        return
    R, N = max(shapes, key=lambda shape: math.prod(_size(shape[0], shape[1], cutoff)))
    raise InputError(
        f"{title} reads its costs from tables, which would take {8 * numbers / 2**30:.1f} GiB or more; "
        f"{_MOST_BYTES / 2**30:g} GiB is the most. A query of {R} relevant and {N} other documents needs the largest "
        f"table. If the rows are several queries, give qid; or give a {'smaller ' if cutoff else ''}cut-off, as in "
        "'ndcg@10(truncated=true)'; or choose the loss 'map', which needs no tables"
    )


def _method(table: Matrix, R: int, N: int, cutoff: int | None) -> int:
    """Return the method for finding the best ranking; concavity is tested up to rounding."""
    if cutoff is not None and cutoff < R + N:
        return TRUNCATE
    concave = bool((np.diff(table, n=2, axis=0) <= _ROUNDING * np.abs(table).max()).all())
    return DIVIDE if concave else PROGRAM


def _lowest(table: Matrix) -> float:
    """Return the smallest loss of a ranking, by dynamic programming if a cost is negative."""
    if table.min() >= 0.0:
        return 0.0
    lowest = np.zeros(len(table))
    for column in table.T:
        lowest = np.minimum.accumulate(lowest) + column
    return float(lowest.min())


def _constant_beyond(title: str, cost: Cost, K: int, R: int, N: int, of_truth: Vector, table: Matrix) -> Matrix:
    """Return the table with constant costs beyond the cut-off; reject costs that change there."""
    rows, columns = table.shape
    j, k = np.arange(rows)[:, None], np.arange(1, columns + 1)
    clipped = np.take_along_axis(table, np.minimum(j, K + 1 - k), axis=0)
    some_k, some_j = _some(1, R), _some(0, N)[:, None]
    others = evaluate_costs(title, cost, some_k, some_j, R, N) - of_truth[some_k - 1]
    padded = np.pad(clipped, ((0, 0), (0, 1)))
    expected = padded[np.minimum(some_j, rows - 1), np.minimum(some_k - 1, columns)]
    tolerance = 1e-9 * np.abs(table).max()
    for costs, as_before, of, ahead in ((table, clipped, k, j), (others, expected, some_k, some_j)):
        wrong = (np.abs(costs - as_before) > tolerance) & (of + ahead > K)
        if wrong.any():
            row, column = np.unravel_index(int(wrong.argmax()), wrong.shape)
            raise InputError(
                f"{title} has the cut-off {K}, but cost(k={of[column]}, j, R={R}, N={N}) still changes beyond it, "
                f"at j = {ahead[row, 0]}: if k + j exceeds the cut-off, it must not depend on j"
            )
    return clipped


def _some(low: int, high: int) -> IntVector:
    """Return the integers from low to high, or a geometric sample of them."""
    if high - low < _CHECKED:
        return np.arange(low, high + 1)
    return np.unique(low - 1 + np.geomspace(1, high - low + 1, _CHECKED).round().astype(np.int64))


def _shown(returned: Any) -> str:
    return f"an array of shape {returned.shape}" if isinstance(returned, np.ndarray) else repr(returned)
