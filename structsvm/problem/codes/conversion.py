"""Which problems have codes, and their conversion to planes."""

import numpy as np

from structsvm.exceptions import InputError
from structsvm.foundation.types import IntVector
from structsvm.problem.oracle import CompiledOracle
from structsvm.problem.problem import Problem
from structsvm.result import CodeSet, CutSet

MOST_VALUES = 10
"""Largest number of feature values per weight in an example, beyond which steps along planes cost less than scores."""

_PRODUCTS = 3
"""Largest number of products between the rows of examples, per score: more would cost more than the scores."""


def suits_codes(problem: Problem) -> bool:
    """Return True if examples should step in their scores, not along planes.

    Their argmaxes must be compiled and have bounds, and products of rows, like scores, must cost little.
    """
    sizes, loops = problem.operator.gram_sizes, isinstance(problem.oracle, CompiledOracle)
    if sizes is None or not loops or not problem.certified or problem.coordinates is not None:
        return False
    short = problem.stored > MOST_VALUES * problem.n * problem.d
    return not short and bool(sizes.sum() <= _PRODUCTS * problem.ptr[-1])


def cuts_of(problem: Problem, codes: CodeSet) -> CutSet:
    """Return the planes of codes as cuts grouped by example."""
    require_codes_of(problem, codes)
    operator, ptr, sizes = problem.operator, problem.ptr, np.diff(problem.ptr)
    owner, K = np.repeat(np.arange(len(codes.L)), np.diff(codes.ptr)), len(codes.L)
    example = codes.example[owner]
    separate = codes.where < sizes[example]
    G, code = np.empty((K, problem.d)), np.zeros(problem.ptr[-1])
    # Codes of equal rank belong to different examples.
    rank = ranks(codes.example)
    for r in range(int(rank.max(initial=-1)) + 1):
        entries = separate & (rank[owner] == r)
        places = ptr[example[entries]] + codes.where[entries]
        code[places] = codes.entry[entries]
        G[rank == r] = operator.combine_each(code, codes.example[rank == r])
        code[places] = 0.0
    shared = ~separate
    np.add.at(
        G,
        (owner[shared], problem.d - operator.shared + codes.where[shared] - sizes[example[shared]]),
        codes.entry[shared],
    )
    return CutSet(G, codes.L, codes.example, codes.a, problem.n)


def require_codes_of(problem: Problem, codes: CodeSet) -> None:
    """Reject codes of scores that the examples do not have, which would be read beyond the ends of arrays."""
    sizes = np.diff(problem.ptr) + problem.operator.shared
    within = (
        codes.example.max(initial=-1) < problem.n
        and (codes.where < np.repeat(sizes[codes.example], np.diff(codes.ptr))).all()
    )
    if not within:
        raise InputError("start has codes of other examples: use a result of the same data, or save this one again")


def ranks(example: IntVector) -> IntVector:
    """Return the number of earlier entries with the same example; examples ascend."""
    return np.arange(len(example)) - np.searchsorted(example, example)
