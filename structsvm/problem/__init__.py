"""Problems: a loss and an operator joined into what a solver sees."""

from structsvm.problem.points import Cut, Cuts, Planes, Point
from structsvm.problem.problem import Problem

__all__ = ["Cut", "Cuts", "Planes", "Point", "Problem"]
