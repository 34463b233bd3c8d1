import numpy as np
import pytest

from structsvm.solvers.qp import DualQP
from tests.solvers.qp.programs import random_qp


def test_project_clips_then_scales_groups_to_their_caps():
    qp = DualQP(np.eye(4), np.ones(4), np.array([0, 1, 0, 1]), np.array([1.0, 10.0]), 0.0)
    projected = qp.project(np.array([3.0, -1.0, 1.0, 2.0]))
    np.testing.assert_allclose(projected, [0.75, 0.0, 0.25, 2.0])


def test_project_counts_what_is_not_a_number_as_zero():
    qp = DualQP(np.eye(3), np.ones(3), np.zeros(3, int), np.array([10.0]), 0.0)
    np.testing.assert_array_equal(qp.project(np.array([np.nan, np.inf, 1.0])), [0.0, 0.0, 1.0])


def test_gap_is_primal_less_dual_at_the_same_multipliers():
    random = np.random.default_rng(0)
    cuts, offsets, group = random.normal(size=(9, 5)), random.uniform(size=9), random.integers(3, size=9)
    qp = DualQP(cuts @ cuts.T, offsets, group, np.array([0.5, 1.0, 2.0]), 0.0)
    a = qp.project(random.uniform(size=9))
    w = a @ cuts
    slack = [max(0.0, *(offsets - cuts @ w)[group == g]) for g in range(3)]
    assert qp.gap(a) == pytest.approx(0.5 * w @ w + qp.cap @ slack - qp.dual(a))


def test_resolution_bounds_what_rounding_does_to_the_gap():
    qp = random_qp(0, size=30, d=4, groups=2, C=1e5)
    a = qp.project(np.full(30, 1e4))
    exact = DualQP(qp.H.astype(np.longdouble), qp.b, qp.group, qp.cap, 0.0)
    error = abs(qp.gap(a) - exact.gap(a.astype(np.longdouble)))
    assert error <= 10 * qp.resolution(a)
    assert qp.resolution(a) <= 1e-10 * qp.gap(a)
