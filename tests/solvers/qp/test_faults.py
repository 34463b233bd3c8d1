"""Fits whose QP backend returns wrong multipliers: the bounds stay right."""

from typing import Any

import numpy as np
import pytest

from structsvm.exceptions import InputError
from structsvm.solvers import NSlack, OneSlack
from structsvm.solvers.qp import QPBackend
from tests.slow import slow
from tests.small_problems import solved
from tests.solvers.qp.faults import FAULTS, Faulty, FaultyAttempts

SOLVERS = pytest.mark.parametrize("solver", [OneSlack, NSlack])
BACKENDS = pytest.mark.parametrize("backend", [Faulty, FaultyAttempts])
BOUNDS = pytest.mark.parametrize("limit", [np.inf, 1e4], ids=["free", "bounded"])


@SOLVERS
@BACKENDS
@BOUNDS
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("C", [100.0, *slow(1.0)])
def test_wrong_multipliers_do_not_change_the_optimum(
    solver: Any, backend: Any, limit: float, fault: str, C: float
) -> None:
    problem, _, optimum = solved("map", C=C)
    if np.isfinite(limit):
        problem = problem.regularized(bounds=(-limit, limit))
    result = solver(tol=1e-5, backend=backend(FAULTS[fault])).solve(problem)
    assert result.converged
    assert result.dual <= optimum * (1.0 + 1e-6)
    assert result.primal >= optimum * (1.0 - 1e-6)


@SOLVERS
@BACKENDS
@BOUNDS
@pytest.mark.parametrize("extra", [-1, 1])
def test_a_wrong_number_of_multipliers_is_an_error(solver: Any, backend: Any, limit: float, extra: int) -> None:
    problem = solved("map")[0]
    if np.isfinite(limit):
        problem = problem.regularized(bounds=(-limit, limit))
    wrong: QPBackend = backend(lambda qp, start: np.zeros(qp.size + extra))
    with pytest.raises(InputError, match=r"multipliers of shape \(\d+,\) for a QP of \d+ cuts: return one for each"):
        solver(backend=wrong).solve(problem)


@SOLVERS
@BACKENDS
def test_an_exception_of_a_backend_ends_the_fit(solver: Any, backend: Any) -> None:
    def broken(qp: Any, start: Any) -> Any:
        raise ZeroDivisionError("in the backend")

    with pytest.raises(ZeroDivisionError, match="in the backend"):
        solver(backend=backend(broken)).solve(solved("map")[0])
