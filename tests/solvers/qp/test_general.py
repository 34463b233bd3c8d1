import logging

import numpy as np
import pytest
from attrs import evolve, field, frozen

from structsvm.solvers.qp import ActiveSet, Attempt, DualQP, GeneralBackend, QPSolution, scales
from structsvm.testing import check_backend
from tests.solvers.qp.programs import random_qp


@frozen
class Scripted(GeneralBackend):
    """Yields given attempts, and counts them."""

    name = "scripted"
    script: tuple = ()
    drawn: list = field(factory=list, eq=False)

    def attempts(self, qp, start):
        for make in self.script:
            self.drawn.append(qp.size)
            yield Attempt(make(qp), state=len(self.drawn))


def nothing(qp):
    return np.zeros(qp.size)


def nonsense(qp):
    return np.where(np.arange(qp.size) % 2, -np.inf, np.nan)


def optimum(qp):
    return ActiveSet().solve(evolve(qp, tol=0.0)).a


def rough(qp):
    return 0.9 * optimum(qp)


@pytest.mark.parametrize("script", [(), (nothing,), (nonsense,), (nothing, rough, nonsense)])
def test_hands_over_what_it_cannot_solve(script, caplog):
    qp = random_qp(0, size=30, d=10, groups=2, C=10.0, tol=1e-8)
    with caplog.at_level(logging.INFO, logger="structsvm"):
        solution = Scripted(script).solve(qp)
    assert solution.handed_over
    assert qp.gap(solution.a) <= 1e-8
    assert "scripted left a gap" in caplog.text
    assert {record.levelno for record in caplog.records} == {logging.INFO}  # a run may have many: it counts them


def test_draws_no_more_attempts_than_it_needs(caplog):
    qp = random_qp(0, size=30, d=10, groups=2, C=10.0, tol=1e-8)
    backend = Scripted((nothing, optimum, rough))
    solution = backend.solve(qp)
    assert len(backend.drawn) == 2
    assert (solution.handed_over, solution.state, caplog.text) == (False, 2, "")


def test_a_tol_below_the_resolution_is_no_reason_to_hand_over():
    qp = random_qp(0, size=30, d=40, groups=1, C=10.0, tol=0.0)
    assert not Scripted((optimum,)).solve(qp).handed_over


def test_a_start_that_is_good_enough_is_returned():
    qp = random_qp(0, size=30, d=10, groups=2, C=10.0, tol=1e-6)
    backend = Scripted((nothing,))
    solution = backend.solve(qp, QPSolution(optimum(qp), 0.0))
    assert not backend.drawn
    assert not solution.handed_over


def test_negligible_multipliers_are_dropped_where_the_gap_permits():
    qp = random_qp(0, size=30, d=10, groups=1, C=10.0, tol=1e-3)
    solution = Scripted((lambda qp: optimum(qp) + 1e-9,)).solve(qp)
    assert np.count_nonzero(solution.a) == np.count_nonzero(optimum(qp))


def test_many_cuts_are_solved_through_subsets():
    whole = random_qp(4, size=2000, d=15, groups=50, C=100.0)
    backend = Scripted((optimum,))
    solution = None
    for k in (600, 1200, 2000):
        qp = DualQP(whole.H[:k, :k], whole.b[:k], whole.group[:k], whole.cap, 1e-5)
        solution = backend.solve(qp, solution)
        assert not solution.handed_over
        assert solution.gap == pytest.approx(qp.gap(solution.a), abs=1e-10)
        assert solution.gap <= 1e-5
    assert max(backend.drawn) < 1500


def test_many_cuts_started_from_multipliers_of_another_backend():
    qp = random_qp(4, size=1500, d=15, groups=50, C=100.0, tol=1e-5)
    start = ActiveSet().solve(evolve(qp, tol=1.0))
    backend = Scripted((optimum,))
    assert backend.solve(qp, start).gap <= 1e-5
    assert max(backend.drawn) < 500


def test_many_cuts_from_nothing():
    qp = random_qp(4, size=1500, d=15, groups=50, C=100.0, tol=1e-5)
    backend = Scripted((optimum,))
    assert not backend.solve(qp).handed_over
    assert backend.drawn[0] == 100
    assert max(backend.drawn) < 800


def test_many_cuts_none_of_which_binds():
    qp = random_qp(4, size=600, d=15, groups=50, C=100.0)
    qp = evolve(qp, b=-qp.b)
    solution = Scripted().solve(qp)
    assert (solution.a.any(), qp.gap(solution.a), solution.handed_over) == (False, 0.0, False)


def test_many_cuts_are_handed_over_too():
    qp = random_qp(4, size=1000, d=15, groups=50, C=100.0, tol=1e-5)
    solution = Scripted((rough,)).solve(qp)
    assert solution.handed_over
    assert qp.gap(solution.a) <= 1e-5


def test_a_backend_that_never_solves_anything_fails_its_check():
    with pytest.raises(AssertionError, match=r"49 of 49 .* On seed 0, d=50, C=0.001, 1 cuts .* left gaps of 0.00"):
        check_backend(Scripted((nothing,)))
    with pytest.raises(AssertionError, match="49 of 49 .*, it yielded no attempt: look at the errors"):
        check_backend(Scripted())


def test_a_solution_near_the_target_is_advised_to_be_more_accurate():
    def close(qp):
        return (1.0 - 1e-4) * ActiveSet().solve(qp).a

    with pytest.raises(AssertionError, match="left gaps of .*: raise the solver's accuracy, because the target is"):
        check_backend(Scripted((close,)))


def test_scales_lie_between_the_curvature_and_the_cap():
    qp = random_qp(0, size=5, d=5, groups=1, C=1e4)
    unit, cap, between = scales(qp)
    assert unit == pytest.approx(1.0 / np.diagonal(qp.H).max())
    assert cap == 1e4
    assert unit < between < cap


def test_one_scale_where_the_cap_is_small_or_nothing_curves():
    qp = random_qp(0, size=5, d=5, groups=1, C=1e-6)
    assert scales(qp) == [1e-6]
    assert scales(evolve(qp, H=np.zeros((5, 5)))) == [1e-6]
