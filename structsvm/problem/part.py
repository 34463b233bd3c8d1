"""Make problems of a part of distributed data."""

import numpy as np
from attrs import evolve

from structsvm.exceptions import InputError
from structsvm.losses.base import Examples
from structsvm.problem.checking.before_fit import trusted_oracle
from structsvm.problem.problem import Problem


def part_alone(examples: Examples) -> Problem:
    """Return a part of a larger problem, which may have no usable example, for one thread; see `as_part_of`."""
    loss, operator = examples.loss, examples.operator
    if loss.weight_bounds(operator.d) is not None:
        raise InputError(
            f"the argmax of {loss.title} is exact only within its weight_bounds, which distributed problems do not "
            "support: use Problem or StructuralSVM"
        )
    if loss.bounded:
        raise InputError(
            f"the argmax of {loss.title} is approximate and returns bounds, which distributed problems do not support: "
            "use Problem or StructuralSVM"
        )
    weights = np.ones(operator.n) if examples.weights is None else examples.weights
    usable = np.ones(operator.n, dtype=np.bool_) if examples.usable is None else examples.usable
    used = int(usable.sum())
    problem = Problem(
        loss=loss,
        operator=operator,
        oracle=trusted_oracle(examples, 1),
        ptr=operator.ptr,
        cap=np.zeros(operator.n),
        weights=np.where(usable, weights, 0.0),
        C=1.0,
        used=used,
        left_out=operator.n - used,
        n_jobs=1,
    )
    return as_part_of(problem, 1.0, max(used, 1))


def as_part_of(problem: Problem, C: float, used: int) -> Problem:
    """Return a problem as part of one with this C and ``used`` usable examples in all."""
    return evolve(problem, C=C, used=used, cap=problem.weights * C / used)
