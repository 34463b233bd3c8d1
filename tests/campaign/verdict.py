"""What becomes of a case: its bounds against those of a QP over all outputs."""

import warnings
from collections.abc import Iterator
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import numpy as np
from attrs import frozen

from structsvm import Result
from structsvm.result import Status, Step
from structsvm.types import Matrix, Vector
from tests.campaign.cases import Case, case, start_of
from tests.small_problems import matrix_of

SLOW = 20.0
"""Seconds after which a case has run too long, and is stopped."""

FAULTS = ("wrong bound", "error", "stalled", "over-long", "not judged")

MAY_NOT_BE = ("wrong bound", "error")
"""Faults that must not be, however extreme the data."""

_MOST_CONDITION = 1e6

_ENOUGH = 1e-7
"""Gap of the reference, relative, at which its bounds are close enough."""

Outputs: TypeAlias = list[tuple[Matrix, Vector]]
"""Every plane (g, L) of each example."""


@frozen
class Verdict:
    """What was found at a case.

    Parameters
    ----------
    number : of the case.
    fault : one of `FAULTS`; "" where all is right.
    said : what there is to say about it.
    ordinary : whether the scale of the problem is such that every solver must get there: features of one scale,
        ``C R² ≤ 1e6`` (R is the largest norm of a plane) and tol at least 1e-6.
    """

    number: int
    fault: str
    said: str
    ordinary: bool


def try_case(number: int) -> Verdict:
    """Solve a case and judge the result."""
    made = case(number)
    planes = [_planes(made.loss, x, y, made.intercept) for x, y in made.examples]
    condition = made.problem.C * max(float((G**2).sum(axis=1).max()) for G, _ in planes)
    tol: float = made.solver.tol  # type: ignore[attr-defined]
    ordinary = made.even and condition <= _MOST_CONDITION and tol >= 1e-6
    fault, said = _tried(made, planes)
    if fault == "over-long":  # the first of its kind waits for its code to be compiled
        fault, said = _tried(made, planes)
    return Verdict(number, fault, f"{made}: {said}" if fault else "", ordinary)


def _tried(made: Case, planes: Outputs) -> tuple[str, str]:
    try:
        with warnings.catch_warnings(), TemporaryDirectory() as folder:
            warnings.simplefilter("ignore")
            start = start_of(made, folder)
            result = made.solver.solve(made.problem, start=start, callback=_too_long)
    except Exception as error:
        return "error", f"{type(error).__name__}: {error}"
    cap = made.problem.C * made.weights / len(planes)
    noise = _rounding(made, cap, result)
    lower, upper = optimum(planes, cap)
    reached = _objective(planes, cap, result.w)
    upper = min(upper, reached)
    wrong = _wrong_bound(result, lower, upper, reached, noise)
    if wrong:
        return "wrong bound", wrong
    gap = f"gap {result.gap / result.C:.3g} * C, tol {result.tol:.3g}"
    if result.status is Status.STOPPED:
        return "over-long", f"{SLOW:.0f} s, {gap}"
    if not result.converged:
        return "stalled", f"{result.status.name}, {gap}"
    if upper - lower > _ENOUGH * (1.0 + abs(upper)) + 0.1 * result.tol * result.C + noise:
        return "not judged", f"the QP over all outputs has a gap of {upper - lower:.3g} at {upper:.3g}"
    return "", ""


def _too_long(step: Step) -> bool:
    return step.seconds > SLOW


def _wrong_bound(result: Result, lower: float, upper: float, reached: float, noise: float) -> str:
    """Say how a bound contradicts those of the optimum; "" where none does."""
    rounding = 1e-9 * (1.0 + abs(upper)) + noise
    if result.dual > upper + rounding:
        return f"dual {result.dual:.12g} is above {upper:.12g}, which some weights reach"
    if result.primal < lower - rounding:
        return f"primal {result.primal:.12g} is below {lower:.12g}, which is proved"
    if abs(result.primal - reached) > 1e-7 * (1.0 + abs(reached)) + noise:
        return f"primal {result.primal:.12g} is not P(w), which is {reached:.12g}"
    if result.converged and lower > result.dual + result.tol * result.C + rounding:
        return f"converged with dual {result.dual:.12g}, but the optimum is at least {lower:.12g}"
    return ""


def _rounding(made: Case, cap: Vector, result: Result) -> float:
    """Return what rounding may make of the bounds, where scores are sums of numbers that are large beside the loss."""
    w = np.maximum(np.abs(result.w), np.abs(result.cuts.a @ result.cuts.G))
    operators = [made.loss.examples([x], [y], made.intercept).operator for x, y in made.examples]
    longest = max(float((np.abs(matrix_of(operator)) @ w).max()) for operator in operators)
    return float(1e-12 * cap.sum() * longest)


def _planes(loss: Any, x: Any, y: Any, intercept: float) -> tuple[Matrix, Vector]:
    """Every ``(Ψ(x, y) − Ψ(x, ŷ), Δ(y, ŷ))`` of one example, from the loss's definition."""
    given = loss.examples([x], [y], intercept)
    A, truth = matrix_of(given.operator), given.ys[0]
    outputs = list(given.loss.outputs(truth))
    codes = np.stack([given.loss.encode(truth, truth) - given.loss.encode(output, truth) for output in outputs])
    losses = [given.loss.loss(truth, output) for output in outputs]
    distinct = np.unique(np.column_stack([codes, losses]), axis=0)
    return distinct[:, :-1] @ A, distinct[:, -1]


def optimum(planes: Outputs, cap: Vector) -> tuple[float, float]:
    """Return bounds of the optimum, from a QP with every output as a constraint.

    The lower one is the value of feasible multipliers, the upper one that of weights, so that both hold however
    badly the QP was solved. Features are brought to a scale of 1 first: with ``v = scale · w`` and features over the
    scale, the objective is ``½‖v‖² + scale² cap·ξ``, over ``scale²``.
    """
    used = [(plane, c) for plane, c in zip(planes, cap.tolist(), strict=True) if c > 0.0]
    planes, cap = [plane for plane, _ in used], np.array([c for _, c in used])
    scale = max(float(np.abs(G).max()) for G, _ in planes) or 1.0
    even, square = [(G / scale, L) for G, L in planes], scale * scale
    lower, upper = 0.0, _objective(planes, cap, np.zeros(planes[0][0].shape[1]))
    for a in _multipliers(even, cap * square):
        group = np.repeat(np.arange(len(even)), [len(L) for _, L in even])
        total = np.bincount(group, weights=a)
        a = a * np.minimum(1.0, cap * square / np.maximum(total, 1e-300))[group]
        v = a @ np.concatenate([G for G, _ in even])
        lower = max(lower, float(a @ np.concatenate([L for _, L in even]) - 0.5 * v @ v) / square)
        upper = min(upper, _objective(planes, cap, v / scale))
        if upper - lower <= _ENOUGH * (1.0 + abs(upper)):
            break
    return lower, upper


def _multipliers(planes: Outputs, cap: Vector) -> Iterator[Vector]:
    """Yield multipliers of all outputs, at least 0, by several settings of cvxopt and in several units."""
    import cvxopt

    n, d = len(planes), planes[0][0].shape[1]
    each = [np.column_stack([g, np.tile(np.eye(n)[i], (len(g), 1))]) for i, (g, _) in enumerate(planes)]
    G, h = cvxopt.matrix(-np.concatenate(each)), -np.concatenate([L for _, L in planes])
    options = {"show_progress": False, "abstol": 1e-11, "reltol": 1e-11, "feastol": 1e-11}
    largest = float(cap.max())
    for unit in (1.0, largest, largest**0.5):  # w = unit · v
        scaled = cvxopt.matrix(h / unit)
        P, q = cvxopt.matrix(np.diag([*np.ones(d), *np.zeros(n)])), cvxopt.matrix([*np.zeros(d), *(cap / unit)])
        for kkt, rounds in (("chol2", 200), ("ldl", 200), ("ldl", 20)):
            try:
                found = cvxopt.solvers.qp(P, q, G, scaled, kktsolver=kkt, options={**options, "maxiters": rounds})
            except (ArithmeticError, ValueError):  # it has failed, as it does in places
                continue
            yield np.nan_to_num(np.maximum(np.array(found["z"])[:, 0] * unit, 0.0))


def _objective(planes: Outputs, cap: Vector, w: Vector) -> float:
    hinges = np.array([(L - G @ w).max() for G, L in planes])
    return float(0.5 * w @ w + cap @ hinges)
