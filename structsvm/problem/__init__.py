"""Problems: a loss and an operator joined into what a solver sees."""

from structsvm import moved
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

__getattr__ = moved.names_of(__name__)
