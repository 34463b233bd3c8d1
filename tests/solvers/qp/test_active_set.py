from fractions import Fraction

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, minimize

from structsvm.exceptions import InputError
from structsvm.solvers.qp import ActiveSet, DualQP, QPSolution
from structsvm.testing import check_backend
from tests.solvers.qp.programs import optimum_by_enumeration, random_qp


@pytest.mark.parametrize("seed", range(10))
def test_passes_check_backend(seed):
    check_backend(ActiveSet(), random_state=seed)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    size=st.integers(1, 6),
    d=st.integers(1, 6),
    groups=st.integers(1, 3),
    C=st.sampled_from([1e-3, 1.0, 30.0, 1e5]),
    repeat=st.booleans(),
)
def test_finds_the_optimum_that_enumerating_faces_finds(seed, size, d, groups, C, repeat):
    qp = random_qp(seed, size, d, groups, C, repeat=repeat)
    a = ActiveSet().solve(qp).a
    assert qp.dual(a) == pytest.approx(optimum_by_enumeration(qp), rel=1e-7, abs=1e-10)


def test_finds_the_optimum_that_scipy_finds():
    qp = random_qp(3, size=15, d=20, groups=3, C=2.0, tol=1e-10)
    member = (qp.group[None, :] == np.arange(3)[:, None]).astype(float)
    result = minimize(
        lambda a: -qp.dual(a),
        np.zeros(15),
        jac=lambda a: qp.H @ a - qp.b,
        bounds=[(0.0, None)] * 15,
        constraints=LinearConstraint(member, ub=qp.cap),
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert qp.dual(ActiveSet().solve(qp).a) == pytest.approx(-result.fun, rel=1e-6)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    size=st.integers(1, 60),
    d=st.integers(1, 30),
    groups=st.integers(1, 20),
    C=st.sampled_from([1e-3, 1.0, 1e2, 1e5]),
    repeat=st.booleans(),
)
def test_gap_is_at_most_1e_9_of_the_optimum_or_the_resolution(seed, size, d, groups, C, repeat):
    qp = random_qp(seed, size, d, groups, C, repeat=repeat)
    solution = ActiveSet().solve(qp)
    assert qp.gap(solution.a) <= max(1e-9 * qp.dual(solution.a), qp.resolution(solution.a))


def test_stops_as_soon_as_the_gap_is_small_enough():
    qp = random_qp(0, size=40, d=10, groups=1, C=10.0)
    rough = ActiveSet().solve(evolve(qp, tol=1.0))
    assert 1e-6 < rough.gap <= 1.0


def test_returns_what_rounding_allows_when_tol_is_zero():
    qp = random_qp(0, size=80, d=5, groups=1, C=1e5)
    solution = ActiveSet().solve(qp)
    assert solution.gap <= 1e-9 * qp.dual(solution.a)


def test_a_chain_of_warm_starts_reports_the_true_gap():
    whole = random_qp(1, size=400, d=20, groups=40, C=100.0)
    solution = None
    for k in range(1, 401):
        qp = DualQP(whole.H[:k, :k], whole.b[:k], whole.group[:k], whole.cap, 1e-3)
        solution = ActiveSet().solve(qp, solution)
        assert solution.gap <= 1e-3
        assert solution.gap == pytest.approx(qp.certified_gap(solution.a), abs=1e-11)


def test_starts_from_multipliers_alone():
    qp = random_qp(2, size=30, d=10, groups=4, C=5.0, tol=1e-9)
    first = ActiveSet().solve(qp)
    again = ActiveSet().solve(qp, QPSolution(first.a, first.gap))
    np.testing.assert_allclose(again.a, first.a)


def test_starts_from_a_solution_with_more_cuts_than_its_state():
    """Other backends extend a solution by new cuts, and return it with its state if it is good enough."""
    qp = random_qp(0, 6, 4, 2, 30.0)
    first = evolve(qp, H=qp.H[:4, :4], b=qp.b[:4], group=qp.group[:4])
    start = ActiveSet().solve(first)
    extended = QPSolution(np.append(start.a, [0.0, 0.0]), start.gap, state=start.state)
    result = ActiveSet().solve(qp, extended)
    assert qp.gap(result.a) <= max(qp.tol, qp.resolution(result.a))


def test_other_offsets_and_caps_at_a_warm_start():
    qp = random_qp(2, size=30, d=10, groups=4, C=5.0, tol=1e-9)
    start = ActiveSet().solve(qp)
    other = DualQP(qp.H, 0.5 + qp.b**2, qp.group, 0.1 * qp.cap, 1e-9)
    warm, cold = ActiveSet().solve(other, start), ActiveSet().solve(other)
    assert other.gap(warm.a) <= 1e-8
    assert other.dual(warm.a) == pytest.approx(other.dual(cold.a))


@pytest.mark.parametrize(
    "layout",
    [
        np.asfortranarray,
        lambda H: np.pad(H, ((0, 3), (0, 5)), constant_values=np.nan)[: len(H), : len(H)],
        lambda H: np.repeat(np.repeat(H, 2, axis=0), 2, axis=1)[::2, ::2],
        lambda H: np.pad(H, ((0, 3), (0, 5)), constant_values=np.nan).T[: len(H), : len(H)],
    ],
)
def test_the_layout_of_the_gram_matrix_does_not_matter(layout):
    qp = random_qp(5, size=20, d=10, groups=2, C=3.0, tol=1e-10)
    a = ActiveSet().solve(evolve(qp, H=layout(qp.H))).a
    np.testing.assert_array_equal(a, ActiveSet().solve(qp).a)


def test_no_cuts():
    qp = DualQP(np.zeros((0, 0)), np.zeros(0), np.zeros(0, int), np.array([1.0]), 0.0)
    assert ActiveSet().solve(qp).gap == 0.0


def test_cuts_of_zero_curvature_take_the_whole_cap():
    qp = DualQP(np.zeros((3, 3)), np.array([0.2, 0.9, -0.1]), np.zeros(3, int), np.array([7.0]), 0.0)
    np.testing.assert_allclose(ActiveSet().solve(qp).a, [0.0, 7.0, 0.0])


def test_offsets_below_zero_leave_their_cuts_alone():
    qp = DualQP(np.eye(2), np.array([-1.0, -2.0]), np.array([0, 1]), np.ones(2), 0.0)
    np.testing.assert_array_equal(ActiveSet().solve(qp).a, [0.0, 0.0])


def test_nan_is_refused():
    qp = random_qp(0, size=5, d=5, groups=1, C=1.0)
    qp.H[2, 3] = qp.H[3, 2] = np.nan
    with pytest.raises(InputError, match="NaN"):
        ActiveSet().solve(qp, QPSolution(np.full(5, 0.1), 1.0))


def test_gap_includes_the_rounding_of_its_computation():
    """In fractions, the gap of a QP with products of up to 1e18 is never above the reported gap."""
    for seed in range(150):
        rng = np.random.default_rng(seed)
        size, groups = int(rng.integers(1, 15)), int(rng.integers(1, 4))
        cuts = rng.normal(size=(size, 5)) * 10.0 ** rng.uniform(4.0, 9.0)
        cap = 10.0 ** rng.uniform(-3.0, 6.0) * np.ones(groups)
        qp = DualQP(cuts @ cuts.T, rng.random(size), rng.integers(0, groups, size), cap, 1e-9 * cap.sum())
        solution = ActiveSet().solve(qp)
        H, b, a, caps = (np.vectorize(Fraction, otypes=[object])(array) for array in (qp.H, qp.b, solution.a, cap))
        slope = b - H @ a
        slack = [max([Fraction(0), *slope[qp.group == g]]) for g in range(groups)]
        assert caps @ slack - a @ slope <= solution.gap
