"""The convex-concave procedure, which minimizes the difference of two convex functions."""

import logging
from typing import Any

import numpy as np
from attrs import evolve, field, frozen

from structsvm.exceptions import InputError, OracleError
from structsvm.foundation.compute.threads import using
from structsvm.foundation.settings import require_integer, require_kind
from structsvm.foundation.types import Vector
from structsvm.problem import Problem, fingerprint
from structsvm.problem.base import AbstractProblem
from structsvm.problem.concave import Subtracted
from structsvm.problem.coordinates import Coordinates
from structsvm.result import Result, Status
from structsvm.solvers.state import Callback

logger = logging.getLogger("structsvm")

_ROUNDING = 1e-9


@frozen
class Round:
    """A convex problem: its ``objective`` at the start, equal to F, its ``lower`` bound, and its final ``primal``."""

    objective: float
    lower: float
    primal: float

    @property
    def gap(self) -> float:
        """``objective − lower``: 0 at a stationary point, else an upper bound of ``½‖w − w'‖²`` to the next w'."""
        return self.objective - self.lower


@frozen(eq=False)
class Descent:
    """Result of `descend`; ``stationary`` if its last round proved that w is stationary within ``2 tol · C``."""

    w: Vector = field(repr=False)
    objective: float
    rounds: tuple[Round, ...] = field(repr=False)
    stationary: bool
    result: Result = field(repr=False)


def descend(
    problem: Problem,
    subtracted: Subtracted,
    solver: Any,
    start: Result | None = None,
    callback: Callback | None = None,
    max_iter: int = 100,
) -> Descent:
    """Find a stationary point of ``F(w) = P(w) − h(w)`` with a convex h, by the convex-concave procedure.

    The procedure (Yuille and Rangarajan, Neural Computation 2003) replaces h by its tangent at the current weights,
    solves the convex problem that results, and repeats. The tangent only shifts the center of the regularizer, so every
    problem is an ordinary problem with its own certificate. Each starts from the weights and cuts of the previous
    problem; offsets of cuts change in a known way. The convex objective bounds F from above and equals it at the start,
    so F never rises, at any tolerance.

    The procedure ends when a round lowers the convex objective by at most ``tol · C``: this proves that the round began
    within ``2 tol · C`` of the optimum of its convex problem. If the first round of a descent without ``start`` moves
    the weights, a second one follows, even if ``tol`` is large.

    Parameters
    ----------
    problem : P.
    subtracted : h, a function such as `ramp`, which returns the pair of its value and a subgradient at w.
    solver : solver of the convex problems, an object with a ``tol``.
    start : result of another descent or solver; the descent starts from its weights. None: the optimum of P; h must
        then be 0 at w = 0 and nowhere negative, because its tangent at 0 is not computed.
    callback : called with every step of every problem; returns True to stop.
    max_iter : maximum number of convex problems.

    Returns
    -------
    An object with the weights ``w``, the ``objective`` F(w), ``stationary`` (True if the last round proved it), the
    ``rounds``, each with ``objective``, ``primal`` and ``gap``, and the ``result`` of the last convex problem.

    Raises
    ------
    OracleError : h is not convex, or its tangent is wrong.

    Examples
    --------
    >>> from structsvm import Problem
    >>> from structsvm.problem import ramp
    >>> from structsvm.solvers import OneSlack
    >>> X, y, qid = [[1.0], [2.0], [4.0], [3.0], [0.0], [1.0]], [0, 0, 1, 0, 1, 0], [1, 1, 1, 2, 2, 2]
    >>> problem = Problem.from_queries(X, y, qid, loss="map", C=1.0)
    >>> descent = descend(problem, ramp(problem), OneSlack())
    >>> descent.stationary, round(descent.objective, 4)
    (True, 0.3646)
    >>> for round_ in descent.rounds:
    ...     print(f"{round_.objective:.4f}, at most {round_.gap:.4f} less in this round")
    0.5293, at most 0.1647 less in this round
    0.3646, at most 0.0000 less in this round
    """
    require_kind("problem", problem, AbstractProblem, "a Problem")
    require_integer("max_iter", max_iter, 1)
    if start is not None and start.w.shape != (problem.d,):
        raise InputError(f"start has {len(start.w)} weights, but the problem has {problem.d}")
    with using(problem.n_jobs):
        base = problem.known_fingerprint if problem.known_fingerprint is not None else fingerprint(problem)
        rounds: list[Round] = []
        tangent = None if start is None else subtracted(start.w)
        previous: Result | None = None if start is None else start
        current = problem
        stationary = False
        while True:
            before = current
            slope, offset = np.zeros(problem.d), 0.0
            if tangent is not None and previous is not None:
                slope, offset = tangent.slope, float(tangent.slope @ previous.w) - tangent.value
            current = _tilted(problem, slope, base)
            if previous is not None and before is not problem:
                previous = _moved(previous, before, current)
            result: Result = solver.solve(current, start=previous, callback=callback)
            objective = result.history[0].primal
            if tangent is not None:
                rounds.append(Round(objective + offset, result.dual + offset, result.primal + offset))
                latest = rounds[-1]
                logger.info(
                    "convex-concave procedure, round %d: %.9g, at least %.9g",
                    len(rounds),
                    latest.objective,
                    latest.lower,
                )
            tangent = subtracted(result.w)
            reached = result.primal - tangent.value + float(slope @ result.w)
            bound = result.primal + offset
            if reached > bound + _ROUNDING * (1.0 + abs(bound) + abs(tangent.value)):
                raise OracleError(
                    f"the objective {reached:.12g} exceeds its upper bound {bound:.12g}, so the subtracted function is "
                    f"not a maximum. Check the argmax and the completion of {problem.loss.title} with "
                    f"{problem.loss.checked_by}"
                )
            ended = result.status in (Status.INTERRUPTED, Status.STOPPED)
            lowered = objective - result.primal
            # If the first round moved the weights, no round has used their tangent yet.
            looked = start is not None or len(rounds) > 1 or lowered <= 0.0
            stationary = bool(rounds) and not ended and lowered <= result.tol * problem.C and result.converged
            if (stationary and looked) or ended or len(rounds) >= max_iter:
                return Descent(result.w, reached, tuple(rounds), stationary, result)
            previous = result


def _tilted(problem: Problem, slope: Vector, base: Vector) -> Problem:
    """Return the problem with ``−slope·w`` added; its fingerprint is derived without reading data."""
    plain = problem.coordinates or Coordinates(np.zeros(problem.d), np.ones(problem.d))
    coordinates = plain.tilted(slope)
    mark = np.frombuffer(np.concatenate(coordinates.content).tobytes(), dtype=np.uint32).astype(np.float64)
    return evolve(problem, coordinates=coordinates, known_fingerprint=np.concatenate([base, mark]))


def _moved(result: Result, before: Problem, after: Problem) -> Result:
    """Update the offsets of a result's cuts, so that it can start the same problem with another center."""
    old, new, mark = before.coordinates, after.coordinates, after.known_fingerprint
    if old is None or new is None or mark is None:
        return result
    cuts = result.cuts
    moved = evolve(cuts, L=old.moved(cuts.G, cuts.L, new))
    return evolve(result, cuts=moved, fingerprint=mark, status=Status.CONVERGED)
