"""Costs of interleavings as tables: evaluated, checked, packed for the kernel, and found by it."""

import math
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from structsvm.compute.compilation import compiled_part
from structsvm.exceptions import InputError, StructSVMError
from structsvm.types import IntVector, Matrix, Vector

Cost: TypeAlias = Callable[[Any, Any, int, int], Any]
"""``cost(k, j, R, N)``, element by element, of arrays that broadcast."""

LARGEST_CUTOFF = 2**31
"""More documents than a query has: larger cut-offs mean the same, and kernels do not count so far."""

DIVIDE = 0
PROGRAMME = 1
TRUNCATE = 2

_KEY = 2**26
"""The table for R relevant and N other documents has the key ``R · _KEY + N``."""

_ROUNDING = 1e-12
_CHECKED = 64

_MOST_BYTES = 2 * 2**30
"""Memory that the tables of a training set may take."""


_HINTS = {
    "truth value": "k and j are arrays: write np.where(condition, a, b) for if. ",
    "read-only": "It may not change k and j: write k - 1, not k -= 1. ",
}
"""Ways out, by words in the errors of a cost."""


def evaluate(title: str, cost: Cost, k: NDArray[np.int64], j: NDArray[np.int64], R: int, N: int) -> Vector:
    """Return costs in the shape that k and j broadcast to.

    Raises
    ------
    InputError : when they are of another shape, or not finite numbers, or ``cost`` raises an error.
    """
    shape = np.broadcast_shapes(k.shape, j.shape)
    try:
        with np.errstate(all="ignore"):
            returned = cost(_read_only(k), _read_only(j), R, N)
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
    """Return what each relevant document costs, less what it costs with no other document ahead.

    Parameters
    ----------
    title : name of the loss, for messages.
    cost : ``cost(k, j, R, N)``.
    R, N : number of relevant documents and of others, both at least 1.
    cutoff : K; None without one.

    Returns
    -------
    Matrix, shape (min(N, K) + 1, min(R, K)), whose entry (j, k − 1) is ``cost(k, j) − cost(k, 0)``.
    With a cut-off, j = min(N, K) stands for all that are larger.

    Raises
    ------
    InputError : when costs are not finite or of another shape, the truth has a loss, a ranking has
        a negative one, or costs change beyond the cut-off.
    """
    K = R + N if cutoff is None else cutoff
    rows, columns = _size(R, N, cutoff)
    every = np.arange(1, R + 1)
    own = evaluate(title, cost, every, np.zeros(1, dtype=np.int64), R, N)
    k, j = every[None, :columns], np.arange(rows)[:, None]
    costs = evaluate(title, cost, k, j, R, N)
    table = costs - own[:columns]
    if K < R + N:
        table = _constant_beyond(title, cost, K, R, N, own, table)
    if abs(own.sum()) > 1e-9 * np.abs(own).sum():
        raise InputError(
            f"{title}.cost(k, j=0, R={R}, N={N}) adds up to {own.sum():.6g} over k = 1 to {R}: "
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
    """Return what the kernel reads: the tables for some numbers of relevant and other documents.

    A table whose entries a larger one of the same R begins with is not kept a second time: costs
    that do not depend on N take one table for each R.

    Parameters
    ----------
    title, cost, cutoff : as in `cost_table`.
    shapes : R and N of each query, with repetitions.

    Raises
    ------
    InputError : as `cost_table`; or the tables take more than 2 GiB, which as far as it can be told
        is found before any is made.
    """
    ordered = sorted(set(shapes))
    largest: dict[int, int] = {}
    for R, N in ordered:
        columns = _size(R, N, cutoff)[1]
        largest[columns] = max(largest.get(columns, 0), columns * _size(R, N, cutoff)[0])
    _require_memory(title, ordered, sum(largest.values()), cutoff)  # which must be kept, whatever is shared
    places: dict[tuple[int, int], tuple[int, int]] = {}
    parts: list[Vector] = []
    end = 2 + 3 * len(ordered)
    start, kept = 0, np.zeros((0, 0))
    for R, N in reversed(ordered):
        table = cost_table(title, cost, R, N, cutoff)
        if not (kept.shape[1:] == table.shape[1:] and np.array_equal(kept[: len(table)], table)):
            start, kept = end, table
            parts.append(table.ravel())
            end += table.size
            _require_memory(title, ordered, end, cutoff)
        places[R, N] = start, _method(table, R, N, cutoff)
    header = [(R * _KEY + N, *places[R, N]) for R, N in ordered]
    return np.concatenate([[len(ordered), cutoff or 0], np.ravel(header), *parts]).astype(np.float64)


@compiled_part
def table_number(params: Vector, R: int, N: int) -> int:
    """Return the number of the table for R relevant and N other documents; −1 where there is none."""
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
    """Refuse tables of so many numbers that they fill the memory."""
    if 8 * numbers <= _MOST_BYTES:
        return
    R, N = max(shapes, key=lambda shape: math.prod(_size(shape[0], shape[1], cutoff)))
    raise InputError(
        f"{title} reads its costs from tables, which would take {8 * numbers / 2**30:.1f} GiB or more; "
        f"{_MOST_BYTES / 2**30:g} GiB is the most. The largest is that of a query of {R} relevant and {N} other "
        f"documents. Give qid, if these are several queries; or a {'smaller ' if cutoff else ''}cut-off, as in "
        "'ndcg@10(truncated=true)'; or take the loss 'map', which needs no tables"
    )


def _method(table: Matrix, R: int, N: int, cutoff: int | None) -> int:
    """Return how the best ranking is found: concavity is tested, up to rounding."""
    if cutoff is not None and cutoff < R + N:
        return TRUNCATE
    concave = bool((np.diff(table, n=2, axis=0) <= _ROUNDING * np.abs(table).max()).all())
    return DIVIDE if concave else PROGRAMME


def _lowest(table: Matrix) -> float:
    """Return the smallest loss of a ranking, by dynamic programming where a cost is negative."""
    if table.min() >= 0.0:
        return 0.0
    lowest = np.zeros(len(table))
    for column in table.T:
        lowest = np.minimum.accumulate(lowest) + column
    return float(lowest.min())


def _constant_beyond(title: str, cost: Cost, K: int, R: int, N: int, own: Vector, table: Matrix) -> Matrix:
    """Return the table with the first costs beyond the cut-off in place of later ones, which must be the same.

    Those that the table does not hold are looked at too; in long lists, at some ranks of all sizes.
    """
    rows, columns = table.shape
    j, k = np.arange(rows)[:, None], np.arange(1, columns + 1)
    clipped = np.take_along_axis(table, np.minimum(j, K + 1 - k), axis=0)
    some_k, some_j = _some(1, R), _some(0, N)[:, None]
    others = evaluate(title, cost, some_k, some_j, R, N) - own[some_k - 1]
    padded = np.pad(clipped, ((0, 0), (0, 1)))
    expected = padded[np.minimum(some_j, rows - 1), np.minimum(some_k - 1, columns)]
    tolerance = 1e-9 * np.abs(table).max()
    for costs, as_before, of, ahead in ((table, clipped, k, j), (others, expected, some_k, some_j)):
        wrong = (np.abs(costs - as_before) > tolerance) & (of + ahead > K)
        if wrong.any():
            row, column = np.unravel_index(int(wrong.argmax()), wrong.shape)
            raise InputError(
                f"{title} has the cut-off {K}, but cost(k={of[column]}, j, R={R}, N={N}) still changes beyond it, "
                f"at j = {ahead[row, 0]}: where k + j exceeds the cut-off, it must not depend on j"
            )
    return clipped


def _some(low: int, high: int) -> IntVector:
    """Return the integers from low to high, or some of them, ever farther apart."""
    if high - low < _CHECKED:
        return np.arange(low, high + 1)
    return np.unique(low - 1 + np.geomspace(1, high - low + 1, _CHECKED).round().astype(np.int64))


def _read_only(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a view that a cost cannot change: the loss computes with these numbers afterwards."""
    view = numbers.view()
    view.flags.writeable = False
    return view


def _shown(returned: Any) -> str:
    return f"an array of shape {returned.shape}" if isinstance(returned, np.ndarray) else repr(returned)
