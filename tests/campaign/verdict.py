"""The verdict on a case: its bounds against a QP over all outputs."""

import pickle
import warnings
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, TypeAlias

import numpy as np
from attrs import evolve, frozen

from structsvm import Result
from structsvm.exceptions import StructSVMError
from structsvm.foundation.types import Matrix, Vector
from structsvm.result import Status
from tests.campaign import users
from tests.campaign.cases import Case, Objective, bounded, boxed, case, pinned, start_of
from tests.campaign.declared import declared
from tests.small_problems import matrix_of

SLOW = 20.0
"""Seconds after which a case of ordinary scale has run too long, and is stopped."""

_SLOW_AT_EXTREMES = 2.0
"""Seconds after which one of extreme scale is stopped, as many hundreds of 100,000 are."""

FAULTS = ("wrong bound", "error", "not resumed", "slow", "stalled", "over-long", "not judged")

MAY_NOT_BE = ("wrong bound", "error", "not resumed", "slow")
"""Faults that must not be, however extreme the data."""

KINDS: Mapping[str, Callable[[int], Case]] = {
    "plain": case,
    "bounded": lambda number: bounded(case(number)),
    "boxed": lambda number: boxed(case(number)),
    "pinned": lambda number: pinned(case(number)),
    "graded": users.graded,
    "mistaken": users.mistaken,
    "structured": users.structured,
    "declared": declared,
    "faulty backend": users.with_faulty_backend,
}
"""Makers of the cases of each kind."""

_MOST_CONDITION = 1e6

_ENOUGH = 1e-7
"""Gap of the reference, relative, at which its bounds are close enough."""

Outputs: TypeAlias = list[tuple[Matrix, Vector]]
"""Every plane (g, L) of each example."""


@frozen
class Verdict:
    """The verdict on a case.

    Parameters
    ----------
    number, kind : of the case.
    fault : one of `FAULTS`; "" without a fault.
    said : a description.
    ordinary : whether every solver must converge at the scale of the problem: features of one scale,
        ``C R² ≤ 1e6`` (R is the largest norm of a plane) and tol at least 1e-6.
    """

    number: int
    kind: str
    fault: str
    said: str
    ordinary: bool

    @property
    def wrong(self) -> bool:
        """Whether the fault must not be, at the scale of the case."""
        return self.fault in (FAULTS[:-1] if self.ordinary else MAY_NOT_BE)


def try_case(number: int, kind: str = "plain") -> Verdict:
    """Solve a case and judge the result."""
    try:
        made = KINDS[kind](number)
    except StructSVMError:
        if kind != "mistaken":
            raise
        return Verdict(number, kind, "", "", True)
    planes = [_planes(made.loss, x, y, made.intercept) for x, y in made.examples]
    condition = max(_condition(made, G) for G, _ in planes)
    tol: float = made.solver.tol  # type: ignore[attr-defined]
    ordinary = made.even and condition <= _MOST_CONDITION and tol >= 1e-6
    seconds = SLOW if ordinary else _SLOW_AT_EXTREMES
    fault, said = _tried(made, planes, seconds, kind)
    if fault in ("over-long", "slow"):  # the first of its kind waits for its code to be compiled
        fault, said = _tried(made, planes, seconds, kind)
    return Verdict(number, kind, fault, f"{made}: {said}" if fault else "", ordinary)


def _tried(made: Case, planes: Outputs, most_seconds: float, kind: str) -> tuple[str, str]:
    began = process_time()

    def solved(start: Result | None) -> Result:
        return made.solver.solve(made.problem, start=start, callback=lambda step: process_time() - began > most_seconds)

    try:
        with warnings.catch_warnings(record=True) as warned, TemporaryDirectory() as folder:
            warnings.simplefilter("always")
            result = solved(start_of(made, folder))
            seconds = process_time() - began
            again = solved(result) if made.number % 4 == 0 and result.converged else result
    except Exception as error:
        if kind == "mistaken" and isinstance(error, StructSVMError):
            return "", ""
        return "error", f"{type(error).__name__}: {error}"
    if kind == "mistaken" and (warned or not result.certified):
        return "", ""
    close = 1e-9 * (1.0 + abs(result.primal)) + 0.1 * result.tol * result.C  # a resumed fit may round otherwise
    apart = abs(again.dual - result.dual) + abs(again.primal - result.primal)
    if apart > close or again.converged is not result.converged:
        return "not resumed", f"{result.primal}, {result.dual} and then {again.primal}, {again.dual}"
    cap = made.problem.C * made.weights / len(planes)
    noise = _rounding(made, planes, cap, result)
    objective = made.objective or Objective.plain(made.problem.d)
    if (result.w < objective.low).any() or (result.w > objective.high).any():
        return "wrong bound", f"w = {result.w} is out of bounds"
    found = optimum(planes, cap, objective)
    lower, upper = found.bounds(planes, cap, objective)
    reached = _objective(planes, cap, result.w, objective)
    upper = min(upper, reached)
    if _wrong_bound(result, lower, upper, reached, noise):
        exact = [_planes(made.loss, x, y, made.intercept, exact=True) for x, y in made.examples]
        cap = _fractions(made.weights) * Fraction(made.problem.C) / len(planes)
        lower, upper = found.bounds(exact, cap, objective)
        reached = _objective(exact, cap, _fractions(result.w), objective)
        upper = min(upper, reached)
        wrong = _wrong_bound(result, lower, upper, reached, noise)
        if wrong:
            return "wrong bound", wrong
    gap = f"gap {result.gap / result.C:.3g} * C, tol {result.tol:.3g}"
    if kind == "boxed" and made.even and seconds > most_seconds:
        return "slow", f"{seconds:.1f} s, {result.status.name}, {gap}"
    if result.status is Status.STOPPED:
        return "over-long", f"{most_seconds:.0f} s, {gap}"
    if not (result.converged or result.status is Status.INFERENCE_LIMIT):
        return "stalled", f"{result.status.name}, {gap}"
    if upper - lower > _ENOUGH * (1.0 + abs(upper)) + 0.1 * result.tol * result.C + noise:
        return "not judged", f"the QP over all outputs has a gap of {upper - lower:.3g} at {upper:.3g}"
    return "", ""


def _wrong_bound(result: Result, lower: float, upper: float, reached: float, noise: float) -> str:
    """Describe how a bound contradicts the bounds of the optimum; "" if no bound does."""
    rounding = 1e-9 * (1.0 + abs(upper)) + noise
    if result.dual > upper + rounding:
        return f"dual {result.dual:.12g} is above {upper:.12g}, which some weights reach"
    if result.primal < lower - rounding:
        return f"primal {result.primal:.12g} is below {lower:.12g}, which is proved"
    if not -rounding <= result.primal - reached <= result.inference_gap + rounding:
        return f"primal {result.primal:.12g} is not P(w), which is {reached:.12g}"
    if result.converged and lower > result.dual + result.tol * result.C + rounding:
        return f"converged with dual {result.dual:.12g}, but the optimum is at least {lower:.12g}"
    return ""


def _rounding(made: Case, planes: Outputs, cap: Vector, result: Result) -> float:
    """Return a bound on the solver's rounding: scores are sums of numbers that may be large beside them.

    The judge's rounding does not count: close bounds are computed again in fractions.
    """
    w = np.maximum(np.abs(result.w), np.abs(made.problem.to_weights(result.cuts.a @ result.cuts.G)))
    if made.objective is not None:
        # The lower bound takes weights without regularizer at their bounds.
        farthest = np.maximum(np.abs(made.objective.low), np.abs(made.objective.high))
        w = np.where(made.objective.penalty == 0.0, np.maximum(w, farthest), w)
    operators = [made.loss.examples([x], [y], made.intercept).operator for x, y in made.examples]
    rows = [matrix_of(operator) for operator in operators] + [G for G, _ in planes]
    longest = max(float((np.abs(row) @ w).max()) for row in rows)
    return float(1e-13 * cap.sum() * longest)


def _planes(loss: Any, x: Any, y: Any, intercept: float, *, exact: bool = False) -> tuple[Matrix, Vector]:
    """Every ``(Ψ(x, y) − Ψ(x, ŷ), Δ(y, ŷ))`` of one example, from the loss's definition; exact ones are fractions."""
    given = loss.examples([x], [y], intercept)
    A, distinct = matrix_of(given.operator), _outputs(pickle.dumps((given.loss, given.ys[0])))
    if exact:
        distinct, A = _fractions(distinct), _fractions(A)
    return distinct[:, :-1] @ A, distinct[:, -1]


@lru_cache(maxsize=4096)
def _outputs(pickled: bytes) -> Matrix:
    """Every ``(c(y) − c(ŷ), Δ(y, ŷ))`` of a loss and a truth, which many cases have in common."""
    loss, truth = pickle.loads(pickled)
    outputs = [*loss.outputs(truth), *([truth] if loss.unreachable_truths else [])]
    codes = np.stack([loss.encode(truth, truth) - loss.encode(output, truth) for output in outputs])
    losses = [loss.loss(truth, output) for output in outputs]
    return np.unique(np.column_stack([codes, losses]), axis=0)


_fractions = np.vectorize(Fraction, otypes=[object])
"""``(numbers)``: the same as fractions, of which sums and products are exact."""


@frozen(eq=False)
class Reference:
    """The solution of a QP over all outputs: multipliers and weights, of the best value each.

    Parameters
    ----------
    a : multipliers of the outputs of each example.
    w : weights, within the bounds.
    """

    a: list[Vector]
    w: Vector

    def bounds(self, planes: Outputs, cap: Vector, objective: Objective) -> tuple[float, float]:
        """Return the values of the multipliers, made feasible, and of the weights; exact ones of fractions."""
        a, w = self.a, self.w
        if cap.dtype == object:
            a, w = [_fractions(each) for each in a], _fractions(w)
        return _dual(planes, cap, a, objective), _objective(planes, cap, w, objective)


def optimum(planes: Outputs, cap: Vector, objective: Objective) -> Reference:
    """Return multipliers and weights that are near the optimum, from a QP with every output as a constraint.

    Features are brought to a scale of 1 first: with ``v = scale · w`` and features over the scale, the objective is
    the regularizer of v plus ``scale² cap·ξ``, over ``scale²``.
    """
    used = np.flatnonzero(cap)
    scale = max(float(np.abs(planes[i][0]).max()) for i in used) or 1.0
    square = scale * scale
    ends = np.cumsum([len(planes[i][1]) for i in used])[:-1]
    best = Reference([np.zeros(len(L)) for _, L in planes], np.clip(objective.center, objective.low, objective.high))
    lower, upper = best.bounds(planes, cap, objective)
    of_v = evolve(objective, center=objective.center * scale, low=objective.low * scale, high=objective.high * scale)
    for result, v in _solutions([(planes[i][0] / scale, planes[i][1]) for i in used], cap[used] * square, of_v):
        a = list(best.a)
        for i, each in zip(used, np.split(result / square, ends), strict=True):
            a[i] = _feasible(each, cap[i])
        g = np.sum([each @ G for each, (G, _) in zip(a, planes, strict=True)], axis=0)
        for w in (_minimizer(g, objective, v / scale), np.clip(v / scale, objective.low, objective.high)):
            value, above = Reference(a, w).bounds(planes, cap, objective)
            best = Reference(a if value > lower else best.a, w if above < upper else best.w)
            lower, upper = max(lower, value), min(upper, above)
        if upper - lower <= _ENOUGH * (1.0 + abs(upper)):
            break
    return best


def _solutions(planes: Outputs, cap: Vector, objective: Objective) -> Iterator[tuple[Vector, Vector]]:
    """Yield multipliers of all outputs, at least 0, and weights, by several settings of cvxopt and in several units."""
    import cvxopt

    n, d = len(planes), planes[0][0].shape[1]
    each = [np.column_stack([g, np.tile(np.eye(n)[i], (len(g), 1))]) for i, (g, _) in enumerate(planes)]
    below, above = np.isfinite(objective.low), np.isfinite(objective.high)
    box = [np.eye(d, d + n)[below], -np.eye(d, d + n)[above]]
    G = cvxopt.matrix(-np.concatenate([*each, *box]))
    h = -np.concatenate([*(L for _, L in planes), objective.low[below], -objective.high[above]])
    options = {"show_progress": False, "abstol": 1e-11, "reltol": 1e-11, "feastol": 1e-11}
    largest, outputs = float(cap.max()), sum(len(L) for _, L in planes)
    for unit in (1.0, largest, largest**0.5):  # w = unit · v
        scaled = cvxopt.matrix(h / unit)
        P = cvxopt.matrix(np.diag([*objective.penalty, *np.zeros(n)]))
        q = cvxopt.matrix([*(-objective.penalty * objective.center / unit), *(cap / unit)])
        for kkt, rounds in (("chol2", 200), ("ldl", 200), ("ldl", 20)):
            try:
                result = cvxopt.solvers.qp(P, q, G, scaled, kktsolver=kkt, options={**options, "maxiters": rounds})
            except (ArithmeticError, ValueError):  # it has failed, as it does in places
                continue
            a, v = np.array(result["z"])[:outputs, 0], np.array(result["x"])[:d, 0]
            yield np.nan_to_num(np.maximum(a * unit, 0.0)), np.nan_to_num(v * unit)


def _condition(made: Case, G: Matrix) -> float:
    """Return ``C ‖g‖²`` of the longest plane, in the coordinates of the regularizer."""
    if made.objective is None:
        return made.problem.C * float((G**2).sum(axis=1).max())
    loose, room = made.objective.penalty == 0.0, made.objective.high - made.objective.low
    kept = made.problem.C * G[:, ~loose] ** 2 / made.objective.penalty[~loose]
    return float((kept.sum(axis=1) + (np.abs(G[:, loose]) * room[loose]).sum(axis=1)).max())


def _feasible(a: Vector, cap: Any) -> Vector:
    total = a.sum()
    return a * (cap / total) if total > cap else a


def _minimizer(g: Vector, objective: Objective, otherwise: Vector) -> Vector:
    """Return the weights that minimize the regularizer less ``w·g``; without a minimum, others within the bounds."""
    loose = objective.penalty == 0.0
    free = objective.center + g / np.where(loose, 1.0, objective.penalty)
    return np.clip(np.where(loose, otherwise, free), objective.low, objective.high)


def _dual(planes: Outputs, cap: Vector, a: list[Vector], objective: Objective) -> float:
    a = [_feasible(each, c) for each, c in zip(a, cap, strict=True)]
    g = np.sum([each @ G for each, (G, _) in zip(a, planes, strict=True)], axis=0)
    value = sum(each @ L for each, (_, L) in zip(a, planes, strict=True))
    exact = Fraction if cap.dtype == object else float
    for slope, *given in zip(g, objective.center, objective.penalty, objective.low, objective.high, strict=True):
        center, penalty, low, high = (exact(x) if np.isfinite(x) else x for x in map(float, given))
        if penalty == 0:
            value -= max(low * slope, high * slope)
        else:
            w = min(max(center + slope / penalty, low), high)
            value += penalty * (w - center) ** 2 / 2 - w * slope
    return float(value)


def _objective(planes: Outputs, cap: Vector, w: Vector, objective: Objective) -> float:
    hinges = np.array([(L - G @ w).max() for G, L in planes])
    center, penalty = objective.center, objective.penalty
    if cap.dtype == object:
        center, penalty = _fractions(center), _fractions(penalty)
    return float(penalty @ (w - center) ** 2 / 2 + cap @ hinges)
