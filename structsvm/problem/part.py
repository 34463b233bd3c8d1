"""Parts of a problem whose data are spread over several places."""

import numpy as np
from attrs import evolve

from structsvm.exceptions import InputError
from structsvm.problem.checking.before_fit import trusted_oracle
from structsvm.problem.problem import Problem
from structsvm.problem.ranking_examples import RankingExamples


def part_alone(examples: RankingExamples) -> Problem:
    """Return a part of a larger problem, with C = 1 until `as_part_of` says of which.

    Unlike a whole problem it may have no weight, and no example that can be learned from; one thread computes, as
    it is the parts that are spread over threads.

    Raises
    ------
    InputError : when the loss has bounds for weights.
    """
    loss, operator, ys = examples.loss, examples.operator, examples.ys
    if loss.weight_bounds(operator.d) is not None:
        raise InputError(
            f"the argmax of {loss.title} is right for weights within its weight_bounds alone, which a problem of "
            "data in several places does not ask for: use Problem or StructuralSVM, on one machine"
        )
    weights = np.ones(operator.n) if examples.weights is None else examples.weights
    usable = np.ones(operator.n, dtype=np.bool_) if examples.usable is None else examples.usable
    used = int(usable.sum())
    problem = Problem(
        loss=loss,
        operator=operator,
        oracle=trusted_oracle(loss, operator, ys, usable, 1, of_queries=True),
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
    """Return a problem as a part of one with this C, of which ``used`` examples can be learned from in all."""
    return evolve(problem, C=C, used=used, cap=problem.weights * C / used)
