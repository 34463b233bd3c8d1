"""Planes that are kept of each example, with multipliers: the memory of Frank-Wolfe."""

from structsvm.planes.dual import DualPlanes
from structsvm.planes.kept import KeptPlanes
from structsvm.planes.storage import Storage

__all__ = ["DualPlanes", "KeptPlanes", "Storage"]
