"""Problems: a loss and an operator joined into what a solver sees."""

from typing import Any

from structsvm.moved import moved_name
from structsvm.problem.fingerprint import fingerprint, same
from structsvm.problem.points import Cut, Cuts, Planes, Point
from structsvm.problem.problem import Problem, estimate
from structsvm.problem.violated import MostViolated, most_violated

__all__ = [
    "Cut",
    "Cuts",
    "MostViolated",
    "Planes",
    "Point",
    "Problem",
    "estimate",
    "fingerprint",
    "most_violated",
    "same",
]


def __getattr__(name: str) -> Any:
    return moved_name(__name__, name)
