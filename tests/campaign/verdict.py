"""What becomes of a case: its bounds against those of a QP over all outputs."""

import time
import warnings
from typing import Any

import numpy as np
from attrs import frozen

from structsvm import Result
from structsvm.types import Matrix, Vector
from tests.campaign.cases import Case, case, other_data
from tests.losses.exhaustive import planes_of, solve

SLOW = 20.0
"""Seconds after which a case counts as one that ran too long."""


@frozen
class Verdict:
    """What was found at a case.

    Parameters
    ----------
    number : of the case.
    fault : "wrong bound", "not converged", "slow", "error" or "not judged"; "" where all is right.
    said : what there is to say about it.
    ordinary : see `Case`.
    """

    number: int
    fault: str
    said: str
    ordinary: bool = True


def try_case(number: int) -> Verdict:
    """Solve a case and judge the result."""
    made = case(number)
    began = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = made.solver.solve(made.problem, start=_start(made))
    except Exception as error:
        return Verdict(number, "error", f"{made}: {type(error).__name__}: {error}", made.ordinary)
    seconds = time.perf_counter() - began
    try:
        wrong = _wrong_bound(made, result)
    except (ArithmeticError, AssertionError, ValueError) as error:
        return Verdict(number, "not judged", f"{made}: the QP over all outputs failed: {error}", made.ordinary)
    if wrong:
        return Verdict(number, "wrong bound", f"{made}: {wrong}", made.ordinary)
    if not result.converged:
        said = f"{made}: {result.status.name}, gap {result.gap / result.C:.3g} * C, tol {result.tol:.3g}"
        return Verdict(number, "not converged", said, made.ordinary)
    if seconds > SLOW:
        return Verdict(number, "slow", f"{made}: {seconds:.0f} s", made.ordinary)
    return Verdict(number, "", "", made.ordinary)


def _start(made: Case) -> Result | None:
    if made.start == "cold":
        return None
    C = made.problem.C * float(np.random.default_rng([made.number, 2]).choice([0.1, 0.5, 3.0]))
    other = made.problem if made.start == "other C" else other_data(made)
    return made.solver.solve(other.with_C(C))


def _wrong_bound(made: Case, result: Result) -> str:
    """Say how a bound contradicts the optimum; "" where none does."""
    planes = [planes_of(made.loss, x, y, made.intercept) for x, y in made.examples]
    cap = made.problem.C * made.weights / len(planes)
    lower, upper = optimum(planes, cap, made.scale)
    reached = _objective(planes, cap, result.w)
    rounding = 1e-9 * (1.0 + abs(upper)) + 1e-12 * made.problem.C
    if result.dual > upper + rounding:
        return f"dual {result.dual:.12g} is above {upper:.12g}, which some weights reach"
    if result.primal < lower - rounding:
        return f"primal {result.primal:.12g} is below {lower:.12g}, which is proved"
    if abs(result.primal - reached) > 1e-7 * (1.0 + abs(reached)):
        return f"primal {result.primal:.12g} is not P(w), which is {reached:.12g}"
    if result.converged and reached - lower > result.tol * made.problem.C + (upper - lower) + rounding:
        return f"converged at {reached:.12g}, but the optimum is {upper:.12g}"
    return ""


def optimum(planes: list[tuple[Matrix, Vector]], cap: Vector, scale: float) -> tuple[float, float]:
    """Return bounds of the optimum, from a QP with every output as a constraint.

    Features are brought to a scale of 1 first: with ``v = scale · w`` and features over the scale, the objective is
    ``½‖v‖² + scale² cap·ξ``, over ``scale²``.
    """
    square = scale * scale
    even = [(G / scale, L) for G, L in planes]
    v, lower = solve(even, cap * square)
    return lower / square, min(_objective(even, cap * square, v), float(square * cap @ _hinges(even, 0.0 * v))) / square


def _objective(planes: list[tuple[Matrix, Vector]], cap: Vector, w: Vector) -> float:
    return float(0.5 * w @ w + cap @ _hinges(planes, w))


def _hinges(planes: list[tuple[Matrix, Vector]], w: Vector) -> Any:
    return np.array([(L - G @ w).max() for G, L in planes])
