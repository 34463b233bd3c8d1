"""Maximize linear scores over a program by HiGHS, with a model that is built once.

The solver's numbers are not trusted: outputs are rounded and checked, values are computed again, and the bound of a
relaxation follows from its duals in float64.
"""

import math
from time import perf_counter
from typing import Any

import numpy as np
from attrs import define, evolve, field, frozen
from numpy.typing import NDArray

from structsvm.exceptions import InputError
from structsvm.foundation.extras import silent_highs
from structsvm.foundation.types import BoolVector, Vector
from structsvm.inference.sets.base import Bounded
from structsvm.inference.sets.polytope import Judged, Polytope, ProgramParts, compiled_judge

_TIGHT = 1e-9
"""Feasibility tolerance of linear programs."""

_TOLERANCE = 1e-6
"""Feasibility tolerance of branch and bound, HiGHS's default; it also prunes nodes that are better by less."""

_SCALE = 1024.0
"""Largest score in branch and bound, which makes its tolerance small beside scores."""

_RESOLUTION = 1e-12
"""Distance of a bound from a value, relative to the scores, at which an output counts as exact."""

_RELAXED = {
    "presolve": "off",
    "solver": "simplex",
    "primal_simplex_bound_perturbation_multiplier": 0.0,
    "primal_feasibility_tolerance": _TIGHT,
    "dual_feasibility_tolerance": _TIGHT,
}
"""Options for relaxations: changed scores leave the last basis feasible, so start the primal simplex method there."""

_DUAL_SIMPLEX, _PRIMAL_SIMPLEX = 1, 4
"""Values of the option simplex_strategy."""

_RETRIED = 16
"""If fresh starts are faster, try the last basis once in this many calls."""

_NEW = 0.25
"""Weight of the newest number of iterations in their mean."""


@frozen
class Limits:
    """When branch and bound stops: at a relative gap, or after seconds (None: never)."""

    gap: float = 0.0
    time_limit: float | None = None


@define(eq=False)
class ProgramSolver:
    """Two models of HiGHS for one program: its relaxation, and branch and bound if a relaxation is fractional.

    One thread may use it at a time.
    """

    polytope: Polytope
    limits: Limits
    relaxation: Any = field(init=False)
    search: Any = field(init=False, default=None)
    parts: ProgramParts = field(init=False)
    indices: NDArray[np.int32] = field(init=False)
    calls: int = field(init=False, default=0)
    means: list[float] = field(init=False, factory=lambda: [0.0, 0.0])
    """Mean numbers of iterations from the last basis, and from a fresh one."""
    last: Vector | None = field(init=False, default=None)
    deadline: float = field(init=False, default=math.inf)

    def __attrs_post_init__(self) -> None:
        """Build the relaxation and find finite bounds of all variables."""
        polytope = self.polytope
        self.indices = np.arange(polytope.n, dtype=np.int32)
        options = {**_RELAXED, "simplex_iteration_limit": 10_000 + 10 * sum(polytope.matrix.shape)}
        self.relaxation = _built(polytope, np.zeros(polytope.n, dtype=bool), options)
        self.parts = polytope.parts(polytope.low, polytope.high)
        low, high = polytope.low.copy(), polytope.high.copy()
        for side, sign in ((low, -1.0), (high, 1.0)):
            for variable in np.flatnonzero(~np.isfinite(side)).tolist():
                side[variable] = self._extreme(variable, sign)
        self.parts = polytope.parts(low, high)

    def maximize(self, scores: Vector) -> Vector | Bounded:
        """Return the best output, with a bound unless the relaxation proves it."""
        limit = self.limits.time_limit
        self.deadline = math.inf if limit is None else perf_counter() + limit
        # Powers of 2 change no digits.
        unit = 2.0 ** min(math.frexp(float(np.abs(scores).max()))[1], 1000)
        scores = scores / unit
        y, facts = self._relaxed(scores)
        value, bound = facts.value if facts.holds else -math.inf, facts.bound
        if self.polytope.integer.any() and (facts.fractional or not facts.holds):
            y, value, above = self._searched(scores)
            bound = min(bound, above)
        if self.last is not None:
            last_value = float(scores @ self.last)
            y, value = (self.last, last_value) if last_value > value else (y, value)
        if value == -math.inf:
            limit = self.limits.time_limit
            within = "" if limit is None else f" within {limit:g} seconds"
            raise InputError(f"HiGHS found no output of the program{within}: raise its time_limit, or scale its rows")
        self.last = y
        return y.copy() if bound - value <= _RESOLUTION * facts.size else Bounded(y.copy(), unit * bound)

    def _relaxed(self, scores: Vector) -> tuple[Vector, Judged]:
        """Return a best point of the relaxation, or another one if there was no time."""
        # The first two calls try both starts.
        first = self.calls < 2
        fresh = self.calls == 0 if first else self.means[1] < self.means[0] and self.calls % _RETRIED != 0
        status, y, facts = self._solved_relaxation(scores, fresh=fresh)
        self.calls += 1
        count = self.relaxation.getInfoValue("simplex_iteration_count")[1]
        self.means[fresh] += (1.0 if first else _NEW) * (count - self.means[fresh])
        proved = status == "Optimal" and facts.holds
        if not proved and status not in ("Infeasible", "Time limit reached"):
            # Without its perturbation of bounds, the primal simplex method may cycle.
            status, y, facts = self._solved_relaxation(scores, fresh=True)
        if status == "Infeasible":
            raise InputError(_contradiction(self.polytope, self.relaxation))
        return y, facts

    def _solved_relaxation(self, scores: Vector, *, fresh: bool = False) -> tuple[str, Vector, Judged]:
        """Return the status of HiGHS with its point, NaN without one.

        The primal simplex method starts from the last basis, the dual one, if ``fresh``, from the bounds.
        """
        if fresh:
            self.relaxation.clearSolver()
        self.relaxation.setOptionValue("simplex_strategy", _DUAL_SIMPLEX if fresh else _PRIMAL_SIMPLEX)
        status = self._run(self.relaxation, scores)
        solution = self.relaxation.getSolution()
        y = np.array(solution.col_value) if solution.value_valid else np.full(len(scores), np.nan)
        # HiGHS minimizes the negative scores.
        duals = -np.array(solution.row_dual) if solution.dual_valid else np.zeros(len(self.polytope.lower))
        return status, y, self._judged(scores, y, duals)

    def _judged(self, scores: Vector, y: Vector, duals: Vector) -> Judged:
        return Judged(*compiled_judge()(self.parts, scores, y, duals))

    def _searched(self, scores: Vector) -> tuple[Vector, float, float]:
        """Return an output by branch and bound with its score, −inf without an output, and a bound of the largest."""
        if self.search is None:
            options = {"mip_rel_gap": self.limits.gap, "mip_abs_gap": 0.0, "mip_feasibility_tolerance": _TOLERANCE}
            box = evolve(self.polytope, low=self.parts.low, high=self.parts.high)
            self.search = _built(box, self.polytope.integer, options)
        if self.last is not None:
            self.search.setSolution(_solution(self.last))
        status = self._run(self.search, _SCALE * scores)
        if "nfeasible" in status:
            raise InputError("the program has no output: no integers satisfy its constraints. Relax a constraint")
        # Each variable may be off by the tolerance, and so may the value at which nodes are pruned.
        widths = float((self.parts.high - self.parts.low).sum())
        bound = (_TOLERANCE * (1.0 + widths) - self.search.getInfo().mip_dual_bound) / _SCALE
        solution = self.search.getSolution()
        if not solution.value_valid:
            return scores, -math.inf, bound
        y, value = self._rounded(scores, np.array(solution.col_value))
        return y, value, bound

    def _rounded(self, scores: Vector, y: Vector) -> tuple[Vector, float]:
        """Return a solution of branch and bound with exact integers, and its score."""
        polytope = self.polytope
        y = np.where(polytope.integer, np.rint(y), y)
        facts = self._judged(scores, y, np.zeros(len(polytope.lower)))
        if not facts.holds:
            fixed = self.indices[polytope.integer]
            try:
                self.relaxation.changeColsBounds(len(fixed), fixed, y[fixed], y[fixed])
                _, y, facts = self._solved_relaxation(scores)
            finally:
                self.relaxation.changeColsBounds(len(fixed), fixed, polytope.low[fixed], polytope.high[fixed])
        if facts.holds and not facts.fractional:
            return y, facts.value
        raise InputError(
            "the output of HiGHS violates a row of the program once its integers are exact: lower the row's large "
            "coefficients, such as a big-M constant, or divide the row by them"
        )

    def _extreme(self, variable: int, sign: float) -> float:
        """Return a bound of a variable that follows from the rows."""
        scores = np.zeros(self.polytope.n)
        scores[variable] = sign
        status, y, _ = self._solved_relaxation(scores)
        if status == "Infeasible":
            raise InputError(_contradiction(self.polytope, self.relaxation))
        if status != "Optimal":
            side = "upper" if sign > 0.0 else "lower"
            raise InputError(
                f"the program is unbounded: variable {variable} has no {side} bound. Give one in Program(bounds=...)"
            )
        end = float(y[variable])
        return end + sign * _TOLERANCE * max(1.0, abs(end))

    def _run(self, solver: Any, scores: Vector) -> str:
        """Solve a model at these scores and return its status in words of HiGHS."""
        import highspy

        if self.deadline < math.inf:
            # HiGHS adds up the time of all runs of a model.
            left = max(self.deadline - perf_counter(), 0.0)
            solver.setOptionValue("time_limit", solver.getRunTime() + left)
        solver.changeColsCost(len(scores), self.indices, -scores)
        if solver.run() == highspy.HighsStatus.kError:
            # The thread already runs HiGHS with another number of workers.
            solver.setOptionValue("threads", 0)
            solver.run()
        return str(solver.modelStatusToString(solver.getModelStatus()))


def _contradiction(polytope: Polytope, relaxation: Any) -> str:
    """Return the message for an empty relaxation."""
    _, exists, ray = relaxation.getDualRay()
    rows = np.flatnonzero(ray) if exists else np.arange(len(polytope.lower))
    if len(rows) == 1:
        reason = f"row {rows[0]} contradicts the bounds. Correct it or them"
    else:
        names = ", ".join(map(str, rows[:10].tolist())) + ", ..." * (len(rows) > 10)
        reason = f"rows {names} contradict each other or the bounds. Correct or remove one of them"
    return f"the program has no output: {reason}"


def _solution(y: Vector) -> Any:
    import highspy

    solution = highspy.HighsSolution()
    solution.col_value, solution.value_valid = y, True
    return solution


def _built(polytope: Polytope, integer: BoolVector, options: dict[str, Any]) -> Any:
    """Return a model of HiGHS with costs of 0."""
    import highspy

    matrix = polytope.matrix
    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = matrix.shape
    lp.col_cost_ = np.zeros(polytope.n)
    lp.col_lower_, lp.col_upper_ = polytope.low, polytope.high
    lp.row_lower_, lp.row_upper_ = polytope.lower, polytope.upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.num_row_, lp.a_matrix_.num_col_ = matrix.shape
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = matrix.indptr, matrix.indices, matrix.data
    if integer.any():
        kinds = highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger
        lp.integrality_ = [kinds[int(whole)] for whole in integer]
    solver = silent_highs()()
    # Idle workers of branch and bound take time from other threads.
    for option, value in {"threads": 1, **options}.items():
        solver.setOptionValue(option, value)
    if solver.passModel(lp) == highspy.HighsStatus.kError:
        raise InputError("HiGHS rejects the program: divide rows whose coefficients are larger than 1e15 in magnitude")
    return solver
