"""Rows, bounds and integers of a program, checked, with a bound of a linear score from the duals of its rows."""

from functools import cache
from typing import Any, NamedTuple, Self

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from structsvm.exceptions import InputError, brief
from structsvm.foundation.arrays import is_sparse, numbers
from structsvm.foundation.compute.compilation import compiled
from structsvm.foundation.types import BoolVector, Matrix, Vector

TOLERANCE = 1e-6
"""Allowed violation of bounds and integers, and of rows in multiples of their largest coefficient (at least 1)."""

SNAP = 1e-9
"""Distance from an integer at which a variable counts as this integer."""

_EPS = float(np.finfo(np.float64).eps)


@frozen(eq=False)
class Polytope:
    """The set ``lower <= matrix @ y <= upper, low <= y <= high`` whose marked variables are integers.

    ``matrix`` is sparse with the shape (m, n); ``slack`` is the allowed violation of rows.
    """

    matrix: Any
    lower: Vector
    upper: Vector
    low: Vector
    high: Vector
    integer: BoolVector
    slack: Vector

    @classmethod
    def of(cls, constraints: Any, bounds: Any, integrality: Any) -> Self:
        """Check the arguments of `Program`."""
        blocks = [_rows(f"constraint {place}", block) for place, block in enumerate(listed(constraints))]
        low, high = sides_of(bounds)
        marks = numbers(integrality, "Program(integrality=...)")
        if not np.isin(marks, (0.0, 1.0)).all():
            raise InputError("Program(integrality=...) must be 1 for integers and 0 for continuous variables")
        sides = [side.size for side in (low, high, marks) if side.ndim]
        n = blocks[0][0].shape[1] if blocks else max(sides, default=0)
        if n == 0:
            raise InputError("the program has no variables: pass constraints, or bounds with one entry per variable")
        for place, (matrix, _, _) in enumerate(blocks):
            if matrix.shape[1] != n:
                raise InputError(f"constraint {place} has {matrix.shape[1]} columns, but constraint 0 has {n}")
        low, high = spread("bounds", low, n), spread("bounds", high, n)
        integer = spread("integrality", marks, n) > 0.0
        # A bound of an integer is an integer.
        low = np.where(integer, np.ceil(low - SNAP), low) + 0.0
        high = np.where(integer, np.floor(high + SNAP), high) + 0.0
        _require_sides("variable", low, high)
        matrix = _stacked([block[0] for block in blocks], n)
        lower = np.concatenate([block[1] for block in blocks] or [np.zeros(0)])
        upper = np.concatenate([block[2] for block in blocks] or [np.zeros(0)])
        slack = TOLERANCE * np.maximum(_largest(matrix), 1.0)
        return cls(matrix, lower, upper, low, high, integer, slack)

    @property
    def n(self) -> int:
        """Number of variables."""
        return len(self.low)

    def contains(self, points: Matrix) -> BoolVector:
        """Return True for the points, shape (k, n), whose rows, bounds and integers hold within their tolerances."""
        inside = (points >= self.low - TOLERANCE) & (points <= self.high + TOLERANCE)
        whole = ~self.integer | (np.abs(points - np.rint(points)) <= TOLERANCE)
        holds = self._rows_hold((self.matrix @ points.T).T)
        return np.asarray((inside & whole).all(axis=1) & holds.all(axis=1))

    def violation(self, y: Vector) -> str:
        """Return the first row that y violates with its numbers, or an empty text."""
        values = self.matrix @ y
        rows = np.flatnonzero(~self._rows_hold(values)).tolist()
        if not rows:
            return ""
        row = rows[0]
        sides = f"from {self.lower[row]:g} to {self.upper[row]:g}"
        return f"row {row} has the value {values[row]:g} there, and must be {sides}"

    def _rows_hold(self, values: NDArray[np.float64]) -> BoolVector:
        return np.asarray((values >= self.lower - self.slack) & (values <= self.upper + self.slack))

    def parts(self, low: Vector, high: Vector) -> "ProgramParts":
        """Return the arrays for `judged` with finite bounds of the variables."""
        matrix, sides = self.matrix, (self.lower, self.upper, self.slack, low, high)
        return ProgramParts(matrix.indptr, matrix.indices, matrix.data, *sides, self.integer)


class ProgramParts(NamedTuple):
    """A program's arrays, which compiled code reads; ``ptr``, ``columns`` and ``values`` are a CSR matrix."""

    ptr: NDArray[np.int32]
    columns: NDArray[np.int32]
    values: Vector
    lower: Vector
    upper: Vector
    slack: Vector
    low: Vector
    high: Vector
    integer: BoolVector


class Judged(NamedTuple):
    """Facts about a point of a relaxation and duals of its rows, in float64."""

    holds: bool
    """True if all rows hold within their tolerance."""
    fractional: bool
    """True if a variable that must be an integer is not near one."""
    value: float
    """The score of the point."""
    bound: float
    """An upper bound of the score of all points, with the rounding errors of the computation."""
    size: float
    """The largest sum of the magnitudes of scores of parts."""


@cache
def compiled_judge() -> Any:
    """Return `judged` as machine code, which returns a tuple."""
    return compiled(judged)


def judged(parts: ProgramParts, scores: Vector, y: Vector, duals: Vector) -> tuple[bool, bool, float, float, float]:
    """Move y into its bounds, and to integers that are near, and judge it and the duals.

    The score is ``(scores − duals @ matrix)·y + duals·(matrix @ y)``. The first term is at most its maximum over the
    box of bounds, the second at most its maximum over the sides of the rows. So the bound holds for all duals, and
    tolerances of a solver only make it less tight (Neumaier and Shcherbina, 2004).
    """
    n, m = len(y), len(duals)
    fractional, holds = False, True
    reduced = np.empty(n)
    value, bound, size, rounding = 0.0, 0.0, 0.0, 0.0
    for j in range(n):
        y[j] = min(max(y[j], parts.low[j]), parts.high[j])
        nearest = np.rint(y[j])
        if abs(y[j] - nearest) <= SNAP:
            # Adding 0 turns −0 into 0.
            y[j] = nearest + 0.0
        elif parts.integer[j]:
            fractional = True
        value += scores[j] * y[j]
        size += abs(scores[j]) * max(abs(parts.low[j]), abs(parts.high[j]))
        reduced[j] = scores[j]
    for i in range(m):
        # A positive dual needs an upper side, a negative one a lower side.
        side = parts.upper[i] if duals[i] > 0.0 else parts.lower[i]
        dual = duals[i] if np.isfinite(side * duals[i]) else 0.0
        row, most = 0.0, 0.0
        for k in range(parts.ptr[i], parts.ptr[i + 1]):
            j = parts.columns[k]
            row += parts.values[k] * y[j]
            most += abs(parts.values[k]) * max(abs(parts.low[j]), abs(parts.high[j]))
            reduced[j] -= dual * parts.values[k]
        # NaN does not hold.
        if not (row >= parts.lower[i] - parts.slack[i] and row <= parts.upper[i] + parts.slack[i]):
            holds = False
        if dual != 0.0:
            bound += dual * side
            rounding += abs(dual) * (most + abs(side))
    for j in range(n):
        bound += max(reduced[j] * parts.low[j], reduced[j] * parts.high[j])
    return holds, fractional, value, bound + _EPS * (n + m + 8) * (size + rounding), size


def listed(constraints: Any) -> list[Any]:
    """Return one constraint, or a list of them, as a list."""
    if _is_linear(constraints) or isinstance(constraints, tuple):
        return [constraints]
    if not isinstance(constraints, list):
        raise InputError(
            "Program(constraints=...) must be a LinearConstraint, a pair (A, b) for A y <= b, or a list of them, got "
            f"{brief(constraints)}"
        )
    return constraints


def _is_linear(constraint: Any) -> bool:
    return all(hasattr(constraint, name) for name in ("A", "lb", "ub"))


def _rows(what: str, constraint: Any) -> tuple[Any, Vector, Vector]:
    """Return the matrix and both sides of a constraint."""
    if _is_linear(constraint):
        matrix, lower, upper = constraint.A, constraint.lb, constraint.ub
    elif isinstance(constraint, tuple) and len(constraint) == 2:
        matrix, lower, upper = constraint[0], -np.inf, constraint[1]
    else:
        raise InputError(f"{what} must be a LinearConstraint or a pair (A, b) for A y <= b, got {brief(constraint)}")
    if is_sparse(matrix):
        from scipy.sparse import csr_array

        matrix = csr_array(matrix, dtype=np.float64)
    else:
        matrix = np.atleast_2d(numbers(matrix, f"A of {what}"))
    if matrix.ndim != 2:
        raise InputError(f"A of {what} must have one row per constraint and one column per variable: {matrix.shape}")
    entries = matrix.data if is_sparse(matrix) else matrix
    if not np.isfinite(entries).all():
        row = int(np.flatnonzero(~np.isfinite(abs(matrix) @ np.ones(matrix.shape[1])))[0])
        raise InputError(f"A of {what} must be finite: row {row} has NaN or infinity. Correct the coefficient")
    sides = []
    for side in (lower, upper):
        values = np.atleast_1d(numbers(side, f"the right side of {what}")).ravel()
        if values.size not in (1, matrix.shape[0]):
            raise InputError(f"{what} has {matrix.shape[0]} rows and {values.size} right sides: give one per row")
        sides.append(np.broadcast_to(values, matrix.shape[0]).copy())
    _require_sides(f"{what}, row", *sides)
    return matrix, *sides


def sides_of(bounds: Any) -> tuple[Vector, Vector]:
    """Return the lower and the upper bounds, each one number or a vector."""
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        bounds = bounds.lb, bounds.ub
    if not (isinstance(bounds, tuple) and len(bounds) == 2):
        raise InputError(f"Program(bounds=...) must be SciPy's Bounds or a pair (lower, upper), got {brief(bounds)}")
    return numbers(bounds[0], "Program(bounds=...)"), numbers(bounds[1], "Program(bounds=...)")


def spread(name: str, values: Vector, n: int) -> Vector:
    """Return one number for each of n variables, shape (n,)."""
    if values.size not in (1, n):
        raise InputError(f"Program({name}=...) has {values.size} entries for {n} variables: give one, or one each")
    return np.broadcast_to(values.ravel(), n).copy()


def _require_sides(what: str, lower: Vector, upper: Vector) -> None:
    """Require sides that a number can have."""
    wrong = ~((lower <= upper) & (lower < np.inf) & (upper > -np.inf))
    if wrong.any():
        place = int(np.argmax(wrong))
        raise InputError(
            f"{what} {place} has the lower side {lower[place]:g} and the upper side {upper[place]:g}: the lower one "
            "must be at most the upper one"
        )


def _stacked(matrices: list[Any], n: int) -> Any:
    """Return all rows as a sparse matrix."""
    from scipy.sparse import csr_array, vstack

    stacked = csr_array(vstack([csr_array((0, n)), *map(csr_array, matrices)]))
    stacked.sum_duplicates()
    return stacked


def _largest(matrix: Any) -> Vector:
    """Return the largest magnitude of each row."""
    m, n = matrix.shape
    return np.asarray(abs(matrix).max(axis=1).toarray(), dtype=np.float64).ravel() if m and n else np.zeros(m)
