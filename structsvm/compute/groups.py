"""Reductions over groups of values."""

import numpy as np

from structsvm.types import IntVector, Vector


def largest_of_groups(values: Vector, group: IntVector, groups: int) -> Vector:
    """Return the largest value of each group, 0 among them, shape (groups,).

    Where values are ``L − w·g`` of cuts, these are the slacks of their groups.

    Parameters
    ----------
    values : numbers, shape (K,).
    group : group of each, from 0, in any order.
    groups : number of groups; some may be without values.
    """
    largest = np.zeros(groups)
    np.maximum.at(largest, group, values)
    return largest
