"""Backends with one fault each: the check must find and locate it."""

import numpy as np
import pytest
from attrs import evolve, frozen

from structsvm.exceptions import CheckError
from structsvm.solvers.qp import ActiveSet, QPBackend
from structsvm.testing import check_backend
from tests.solvers.qp.programs import random_qp


@frozen
class Faulty(QPBackend):
    """The built-in backend, spoilt."""

    name = "faulty"
    spoil: object

    def solve(self, qp, start=None):
        return self.spoil(qp, start, ActiveSet().solve(qp, start))


def negative(qp, start, solution):
    return evolve(solution, a=solution.a - 1.0)


def infeasible(qp, start, solution):
    return evolve(solution, a=solution.a + qp.cap[qp.group])


def optimistic(qp, start, solution):
    a = 0.5 * solution.a
    return evolve(solution, a=a, gap=0.0)


def rough(qp, start, solution):
    a = 0.5 * solution.a
    return evolve(solution, a=a, gap=qp.gap(a))


def short(qp, start, solution):
    return evolve(solution, a=solution.a[:-1])


def not_finite(qp, start, solution):
    return evolve(solution, a=np.full(qp.size, np.nan))


def writes_to_the_program(qp, start, solution):
    qp.b[0] += 1.0
    return solution


def writes_to_the_start(qp, start, solution):
    if start is not None:
        start.a[:] = 0.0
    return solution


random = np.random.default_rng(0)


def at_random(qp, start, solution):
    return evolve(solution, a=solution.a * (1.0 - 1e-12 * random.uniform()))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (negative, "expected multipliers of at least 0, got a smallest one of -0.99"),
        (infeasible, "expected groups within their caps"),
        (optimistic, "expected the true gap"),
        (rough, "expected a gap of at most"),
        (short, r"expected multipliers of shape \(1,\), got shape \(0,\)"),
        (not_finite, "expected finite multipliers"),
        (writes_to_the_program, "expected unchanged arrays of the program"),
        (writes_to_the_start, "expected unchanged start.a"),
        (at_random, "expected the same multipliers from the same start"),
        (lambda qp, start, solution: solution.a, "expected a QPSolution, got ndarray"),
    ],
)
def test_finds_the_fault(spoil, message):
    with pytest.raises(AssertionError, match=message) as caught:
        check_backend(Faulty(spoil), random_state=5)
    assert "seed 5, " in str(caught.value)
    assert " cuts in " in str(caught.value)


def test_names_a_sequence_that_was_passed_in():
    qp = random_qp(0, size=9, d=4, groups=2, C=1.0, tol=1e-6)

    def fails_on_nine(qp, start, solution):
        return evolve(solution, gap=1.0) if qp.size == 9 else solution

    with pytest.raises(AssertionError, match=r"on sequences\[1\], 9 cuts in 2 groups"):
        check_backend(Faulty(fails_on_nine), sequences=[[], [qp]])


def test_a_backend_that_raises_where_the_rank_is_deficient_is_told_so():
    def factorized(qp, start, solution):
        np.linalg.cholesky(qp.H)
        return solution

    told = r"deficient rank, 4, from nothing: expected a solution, and solve raised LinAlgError: .*positive definite"
    with pytest.raises(CheckError, match=told):
        check_backend(Faulty(factorized), sequences=())
