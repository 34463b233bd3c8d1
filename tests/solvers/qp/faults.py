"""QP backends that return wrong multipliers, for tests of fits that use them."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from attrs import frozen

from structsvm.foundation.types import Vector
from structsvm.solvers.qp import ActiveSet, Attempt, DualQP, GeneralBackend, QPBackend, QPSolution


def _random(qp: DualQP) -> np.random.Generator:
    return np.random.default_rng([qp.size, abs(int(1e6 * float(qp.b[-1])))])


def _noise(qp: DualQP, start: QPSolution | None) -> Vector:
    return _random(qp).standard_normal(qp.size) * 10.0 ** _random(qp).uniform(-6.0, 6.0)


def _infeasible(qp: DualQP, start: QPSolution | None) -> Vector:
    return ActiveSet().solve(qp).a + 2.0 * qp.cap[qp.group] * _random(qp).choice([-1.0, 1.0], qp.size)


def _rough(qp: DualQP, start: QPSolution | None) -> Vector:
    return ActiveSet().solve(qp).a * _random(qp).uniform(0.5, 1.5, qp.size)


def _previous(qp: DualQP, start: QPSolution | None) -> Vector:
    return np.zeros(qp.size) if start is None else np.append(start.a, np.zeros(qp.size - len(start.a)))


def _partly(value: float) -> Any:
    return lambda qp, start: np.where(_random(qp).random(qp.size) < 0.5, value, ActiveSet().solve(qp).a)


FAULTS: Mapping[str, Any] = {
    "noise": _noise,
    "infeasible": _infeasible,
    "rough": _rough,
    "previous": _previous,
    "NaN": _partly(np.nan),
    "inf": _partly(np.inf),
}
"""Multipliers that a faulty backend returns for a program and a start."""


@frozen
class Faulty(QPBackend):
    """Return wrong multipliers and claim that they are optimal."""

    name: ClassVar[str] = "faulty"
    fault: Any

    def solve(self, qp: DualQP, start: QPSolution | None = None) -> QPSolution:
        return QPSolution(self.fault(qp, start), gap=0.0, state=self)


@frozen
class FaultyAttempts(GeneralBackend):
    """Yield wrong multipliers; subsets begin at a few cuts."""

    name: ClassVar[str] = "faulty-attempts"
    shrink_from: ClassVar[int] = 5
    fault: Any

    def attempts(self, qp: DualQP, start: QPSolution | None) -> Iterator[Attempt]:
        yield Attempt(self.fault(qp, start), state=self)
