"""Linear and integer programs."""

from collections.abc import Iterable, Mapping
from itertools import islice, product
from typing import Any, ClassVar, Self

import numpy as np
from attrs import evolve, field, frozen

from structsvm.exceptions import InputError, brief, counted
from structsvm.foundation.arrays import finite_vector
from structsvm.foundation.settings import is_integer, is_number, not_negative, require_kind, require_number, truth_value
from structsvm.foundation.types import Vector
from structsvm.inference.sets.base import Bounded, FeasibleSet
from structsvm.inference.sets.highs import Limits, ProgramSolver
from structsvm.inference.sets.polytope import Polytope, listed, sides_of, spread
from structsvm.inference.sets.states import state_of

_MOST_LISTED = 2**22
"""Most points of the box that `Program.outputs` searches."""

_BLOCK = 2**12


def _time_limit(instance: Any, attribute: Any, value: Any) -> None:
    require_number("Program(time_limit=...)", value, above=0.0, optional=True)


@frozen(eq=False, repr=False)
class Program(FeasibleSet):
    """The solutions of linear constraints, ``{y : lower <= A y <= upper}``, with integers for some or all variables.

    HiGHS (https://highs.dev; Huangfu and Hall, "Parallelizing the dual revised simplex method", 2018) maximizes the
    score. It first solves the relaxation without integrality, starting from the last basis. If a variable that must be
    an integer has a fraction, branch and bound follows, starting from the last output. Each thread has its own models.

    Bounds of the score do not rely on tolerances of HiGHS. For a relaxation, the bound is computed from the duals of
    the rows (Neumaier and Shcherbina, "Safe bounds in linear and mixed-integer linear programming", 2004). For branch
    and bound, a margin covers the tolerance: about 1e-9 of the largest score times the bounds' total width. `maximize`
    returns an output alone if the bound proves it optimal, and else `Bounded`. So a `gap` or a `time_limit` makes
    certificates of a fit less tight, but never wrong. If several outputs are best, earlier scores may decide.

    An output satisfies bounds and integers within 1e-6, and a row within 1e-6 times its largest coefficient (at
    least 1).

    Parameters
    ----------
    constraints : a `scipy.optimize.LinearConstraint`, a pair ``(A, b)`` for ``A y <= b``, or a list of them. A may be
        sparse.
    bounds : a `scipy.optimize.Bounds` or a pair ``(lower, upper)``, for all variables or one for each. If a bound is
        infinite, the constraints must imply a finite one, which takes a linear program to find.
    integrality : 1 for integers, 0 for continuous variables, for all variables or one for each.
    relax : True to drop integrality. Outputs are then vertices, perhaps with fractions.
    gap : gap at which branch and bound stops, relative to the score of the output. 0 proves the optimum.
    time_limit : seconds after which a maximization returns the best output so far. Default: None, no limit.

    Raises
    ------
    InputError : in a maximization, the program is empty or unbounded, or no output is found in time.

    Examples
    --------
    >>> knapsack = Program(([[2.0, 3.0, 4.0]], [5.0]))  # the chosen items must not weigh more than 5
    >>> knapsack.maximize([3.0, 4.0, 6.0])
    Bounded(output=array([1., 1., 0.]), bound=7.00...)
    >>> from scipy.optimize import LinearConstraint
    >>> matching = Program([LinearConstraint([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]], 1, 1)])
    >>> matching.maximize([0.0, 2.0, 1.0, 0.5])
    array([0., 1., 1., 0.])
    """

    constraints: Any
    bounds: Any = (0.0, 1.0)
    integrality: Any = 1
    relax: bool = field(default=False, validator=truth_value)
    gap: float = field(default=0.0, validator=not_negative)
    time_limit: float | None = field(default=None, validator=_time_limit)
    polytope: Polytope = field(init=False)

    exact: ClassVar[bool] = False

    def __attrs_post_init__(self) -> None:
        """Check constraints and bounds, after the validators of other settings."""
        integrality = 0 if self.relax else self.integrality
        object.__setattr__(self, "polytope", Polytope.of(self.constraints, self.bounds, integrality))

    def __repr__(self) -> str:
        """Return the size of the program, and the limits of its maximization."""
        rows, variables = self.polytope.matrix.shape
        facts = [counted(variables, "variable"), counted(rows, "row")]
        integers = int(self.polytope.integer.sum())
        if integers:
            facts.append(counted(integers, "integer"))
        if self.gap:
            facts.append(f"gap={self.gap:g}")
        if self.time_limit is not None:
            facts.append(f"time_limit={self.time_limit:g}")
        return f"Program({', '.join(facts)})"

    @property
    def size(self) -> int:
        return self.polytope.n

    @property
    def box(self) -> tuple[Vector, Vector]:
        return self.polytope.low, self.polytope.high

    def maximize(self, scores: Vector) -> Vector | Bounded:
        return state_of(self, program_solver).maximize(finite_vector(scores, self.size, "scores"))

    def contains(self, y: Vector) -> bool:
        y = np.asarray(y, dtype=np.float64)
        return y.shape == (self.size,) and bool(np.isfinite(y).all()) and bool(self.polytope.contains(y[np.newaxis])[0])

    def violation(self, y: Vector) -> str:
        return self.polytope.violation(y)

    def outputs(self) -> Iterable[Vector]:
        """Return all outputs of a program in integers, if at most 4,194,304 points are within its bounds."""
        polytope = self.polytope
        counts = polytope.high - polytope.low + 1.0
        if not polytope.integer.all() or np.prod(counts) > _MOST_LISTED:
            raise NotImplementedError("only programs in a few integers with finite bounds list their outputs")
        points = product(*(np.arange(low, high + 1.0) for low, high in zip(polytope.low, polytope.high, strict=True)))
        while block := list(islice(points, _BLOCK)):
            yield from np.array(block)[polytope.contains(np.array(block))]

    def with_constraints(self, constraints: Any, bounds: Any = (-np.inf, np.inf)) -> Self:
        """Return the subset that satisfies further constraints and bounds, given as in `Program`.

        Examples
        --------
        >>> knapsack = Program(([[2.0, 3.0, 4.0]], [5.0]))
        >>> conflict = ([[1.0, 1.0, 0.0]], [1.0])  # the first two items exclude each other
        >>> knapsack.with_constraints(conflict).maximize([3.0, 4.0, 6.0])
        Bounded(output=array([0., 0., 1.]), bound=6.00...)
        """
        low, high = (spread("bounds", side, self.size) for side in sides_of(bounds))
        both = np.maximum(self.polytope.low, low), np.minimum(self.polytope.high, high)
        return evolve(self, constraints=[*listed(self.constraints), *listed(constraints)], bounds=both)

    def fixed(self, values: Mapping[int, float]) -> Self:
        """Return the subset in which some variables have these values, such as parts that are known or forbidden.

        Examples
        --------
        >>> knapsack = Program(([[2.0, 3.0, 4.0]], [5.0]))
        >>> knapsack.fixed({0: 0}).maximize([3.0, 4.0, 6.0])
        Bounded(output=array([0., 0., 1.]), bound=6.00...)
        """
        require_kind("fixed(...)", values, Mapping, "a dictionary from variables to values, such as {0: 1}")
        polytope = self.polytope
        low, high = polytope.low.copy(), polytope.high.copy()
        for variable, value in values.items():
            if not (is_integer(variable, 0) and variable < self.size):
                raise InputError(f"fixed(...) must name variables from 0 to {self.size - 1}, got {brief(variable)}")
            valid = is_number(value) and low[variable] <= value <= high[variable]
            if not valid or (polytope.integer[variable] and not float(value).is_integer()):
                raise InputError(
                    f"fixed({{{variable}: {brief(value)}}}): variable {variable} must be from {low[variable]:g} to "
                    f"{high[variable]:g}{' and an integer' * bool(polytope.integer[variable])}"
                )
            low[variable] = high[variable] = value
        return evolve(self, bounds=(low, high))


def program_solver(program: Program) -> ProgramSolver:
    """Return a new model of a program."""
    return ProgramSolver(program.polytope, Limits(program.gap, program.time_limit))
