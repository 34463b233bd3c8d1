"""Reductions over groups of values."""

import numpy as np

from structsvm.foundation.types import IntVector, Vector


def largest_of_groups(values: Vector, group: IntVector, groups: int) -> Vector:
    """Return the largest value of each group, at least 0: the slacks of groups, for values ``L − w·g`` of cuts."""
    largest = np.zeros(groups)
    np.maximum.at(largest, group, values)
    return largest
