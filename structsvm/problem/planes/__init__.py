"""Planes of each example with multipliers: the memory of Frank-Wolfe."""

from structsvm.problem.planes.dual import DualPlanes

__all__ = ["DualPlanes"]
