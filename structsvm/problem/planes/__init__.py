"""Planes of each example with multipliers: the memory of Frank-Wolfe."""

from structsvm.problem.planes.capacity import Capacity
from structsvm.problem.planes.dual import DualPlanes

__all__ = ["Capacity", "DualPlanes"]
