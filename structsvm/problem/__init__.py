"""Problems: a loss and an operator joined into what a solver sees."""

from structsvm.problem.base import AbstractProblem, AnyPlanes, AnyPoint, Traffic
from structsvm.problem.box import Box
from structsvm.problem.concave import Subtracted, Tangent, ramp
from structsvm.problem.coordinates import Coordinates
from structsvm.problem.fingerprint import fingerprint, same
from structsvm.problem.line import Line, LineHinge, Parabola
from structsvm.problem.points import Cut, Cuts, Planes, Point
from structsvm.problem.problem import Problem
from structsvm.problem.violated import MostViolated, most_violated

__all__ = [
    "AbstractProblem",
    "AnyPlanes",
    "AnyPoint",
    "Box",
    "Coordinates",
    "Cut",
    "Cuts",
    "Line",
    "LineHinge",
    "MostViolated",
    "Parabola",
    "Planes",
    "Point",
    "Problem",
    "Subtracted",
    "Tangent",
    "Traffic",
    "fingerprint",
    "most_violated",
    "ramp",
    "same",
]
