"""The convex-concave procedure: objectives from which a convex function is subtracted."""

import logging
from typing import Any

import numpy as np
from attrs import evolve, field, frozen

from structsvm.compute.threads import using
from structsvm.exceptions import InputError, OracleError
from structsvm.problem import Problem, fingerprint
from structsvm.problem.concave import Subtracted
from structsvm.problem.coordinates import Coordinates
from structsvm.result import CutSet, Result, Status
from structsvm.settings import require_integer
from structsvm.solvers.state import Callback
from structsvm.types import Vector

logger = logging.getLogger("structsvm")

_ROUNDING = 1e-9


@frozen
class Round:
    """One convex problem of the procedure.

    Parameters
    ----------
    objective : F at the weights that the round began at, to which the problem is tangent.
    lower : the best lower bound of the convex problem of this round, in which the tangent stands for the function that
        F subtracts. Solved exactly, the round would lower F by ``objective − lower`` at most by this bound.
    primal : the problem at the weights that the round found; F there is no larger.

    Examples
    --------
    >>> from structsvm import Problem
    >>> from structsvm.problem import ramp
    >>> from structsvm.solvers import OneSlack, descend
    >>> X, y, qid = [[1.0], [2.0], [4.0], [3.0], [0.0], [1.0]], [0, 0, 1, 0, 1, 0], [1, 1, 1, 2, 2, 2]
    >>> problem = Problem.from_queries(X, y, qid, loss="map", C=1.0)
    >>> for round_ in descend(problem, ramp(problem), OneSlack()).rounds:
    ...     print(f"{round_.objective:.4f}, at most {round_.gap:.4f} less in this round")
    0.5293, at most 0.1647 less in this round
    0.3646, at most 0.0000 less in this round
    """

    objective: float
    lower: float
    primal: float

    @property
    def gap(self) -> float:
        """``objective − lower``: 0 at a stationary point, and an upper bound of ``½‖w − w'‖²`` to the next ones w'."""
        return self.objective - self.lower


@frozen(eq=False)
class Descent:
    """What the convex-concave procedure reached.

    Parameters
    ----------
    w : the weights.
    objective : F there.
    rounds : the convex problems, of which the objective never rises from one to the next.
    stationary : whether the last one proved that w is stationary within ``2 tol · C``.
    result : that of the last convex problem, whose bounds are of this problem.

    Examples
    --------
    >>> from structsvm import Problem
    >>> from structsvm.problem import ramp
    >>> from structsvm.solvers import OneSlack, descend
    >>> X, y, qid = [[1.0], [2.0], [4.0], [3.0], [0.0], [1.0]], [0, 0, 1, 0, 1, 0], [1, 1, 1, 2, 2, 2]
    >>> problem = Problem.from_queries(X, y, qid, loss="map", C=1.0)
    >>> descent = descend(problem, ramp(problem), OneSlack())
    >>> descent.stationary, round(descent.objective, 4), len(descent.rounds)
    (True, 0.3646, 2)
    """

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
    max_rounds: int = 100,
) -> Descent:
    """Find a stationary point of ``F(w) = P(w) − h(w)``, with a convex h.

    The convex-concave procedure (Yuille and Rangarajan, Neural Computation 2003): h is replaced by its tangent at the
    present weights, the convex problem that is left is solved, and so on. The tangent is a linear term, hence another
    centre of the regulariser, so that solvers see problems of the kind they know, with a certificate each. A problem
    starts from the weights and the cuts of the one before, which hold at offsets that move by a known vector. It is
    above F and touches it at its start, which no solver gives up for worse weights: F never rises, whatever the
    tolerance. It ends where a round lowers the objective of the convex problem by ``tol · C`` at most: its lower bound
    then proves that the weights at its start are within ``2 tol · C`` of its optimum. If the first round of a
    descent without ``start`` moves the weights, a second one follows, however large ``tol`` is.

    Parameters
    ----------
    problem : P.
    subtracted : h, by values and tangents.
    solver : of the convex problems, an object with a ``tol``.
    start : result to go on from, of another descent or solver: its weights are used. None begins at the optimum of P,
        where h must be 0 at w = 0 and less nowhere, as the tangent there is not looked at.
    callback : is shown every step of every problem; returns True to stop.
    max_rounds : most convex problems.

    Raises
    ------
    InputError : when ``start`` has another number of weights.
    OracleError : when h is seen not to be convex, or not to have the tangent that was given.

    Examples
    --------
    >>> from structsvm import Problem
    >>> from structsvm.problem import ramp
    >>> from structsvm.solvers import OneSlack, descend
    >>> problem = Problem.from_queries([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1], loss="map", C=0.1)
    >>> descend(problem, ramp(problem), OneSlack()).stationary
    True
    """
    require_integer("max_rounds", max_rounds, 1)
    if start is not None and start.w.shape != (problem.d,):
        raise InputError(f"start has {len(start.w)} weights, but the problem has {problem.d}")
    with using(problem.n_jobs):
        return _descended(problem, subtracted, solver, start, callback, max_rounds)


def _descended(
    problem: Problem,
    subtracted: Subtracted,
    solver: Any,
    start: Result | None,
    callback: Callback | None,
    max_rounds: int,
) -> Descent:
    base = problem.known_fingerprint if problem.known_fingerprint is not None else fingerprint(problem)
    rounds: list[Round] = []
    tangent = None if start is None else subtracted(start.w)
    known: Result | None = None if start is None else start
    current = problem
    limit = solver.tol * problem.C
    stationary = False
    while True:
        before = current
        slope, offset = np.zeros(problem.d), 0.0
        if tangent is not None and known is not None:
            slope, offset = tangent.slope, float(tangent.slope @ known.w) - tangent.value
        current = _tilted(problem, slope, base)
        if known is not None and before is not problem:
            known = _moved(known, before, current)
        result: Result = solver.solve(current, start=known, callback=callback)
        objective = result.history[0].primal
        if tangent is not None:
            rounds.append(Round(objective + offset, result.dual + offset, result.primal + offset))
            latest = rounds[-1]
            logger.info(
                "convex-concave procedure, round %d: %.9g, at least %.9g", len(rounds), latest.objective, latest.lower
            )
        tangent = subtracted(result.w)
        reached = result.primal - tangent.value + float(slope @ result.w)
        bound = result.primal + offset
        if reached > bound + _ROUNDING * (1.0 + abs(bound) + abs(tangent.value)):
            raise OracleError(
                f"the objective {reached:.12g} is above the convex problem {bound:.12g} that bounds it: what "
                "is subtracted is not the maximum that it should be. Look at the argmax and the completion of "
                f"{problem.loss.title}: {problem.loss.checked_by} does"
            )
        ended = result.status in (Status.INTERRUPTED, Status.STOPPED)
        lowered = objective - result.primal
        # Weights that the first round moved have another tangent, which no round has looked at yet.
        looked = start is not None or len(rounds) > 1 or lowered <= 0.0
        stationary = bool(rounds) and not ended and lowered <= limit and result.converged
        if (stationary and looked) or ended or len(rounds) >= max_rounds:
            return Descent(result.w, reached, tuple(rounds), stationary, result)
        known = result


def _tilted(problem: Problem, slope: Vector, base: Vector) -> Problem:
    """Return the problem with ``−slope·w`` added, and a fingerprint that no data are read for."""
    plain = problem.coordinates or Coordinates(np.zeros(problem.d), np.ones(problem.d))
    coordinates = plain.tilted(slope)
    mark = np.frombuffer(np.concatenate(coordinates.content).tobytes(), dtype=np.uint32).astype(np.float64)
    return evolve(problem, coordinates=coordinates, known_fingerprint=np.concatenate([base, mark]))


def _moved(result: Result, before: Problem, after: Problem) -> Result:
    """Return a result of a problem as a start for the same with another centre: its cuts hold at other offsets."""
    old, new, mark = before.coordinates, after.coordinates, after.known_fingerprint
    if old is None or new is None or mark is None:
        return result
    cuts = result.cuts
    distance = float(np.linalg.norm((new.centre - old.centre) / old.scale))
    L = old.moved(cuts.G, cuts.L, new) - cuts.error * distance
    moved = CutSet(cuts.G, L, cuts.group, cuts.a, cuts.groups, cuts.error)
    return evolve(result, cuts=moved, fingerprint=mark, status=Status.CONVERGED)
