"""Planes that are kept of each example, with multipliers: the memory of Frank-Wolfe."""

from structsvm.planes.capacity import Capacity
from structsvm.planes.dual import DualPlanes
from structsvm.planes.restricted import RestrictedProblem

__all__ = ["Capacity", "DualPlanes", "RestrictedProblem"]
