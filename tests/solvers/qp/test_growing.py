"""The QP that grows cut by cut, against the active-set solver."""

import numpy as np
import pytest

from structsvm.solvers.joint_step import GrowingQP
from structsvm.solvers.qp import ActiveSet, DualQP


@pytest.mark.parametrize("scale", [1.0, 300.0])
@pytest.mark.parametrize("seed", range(15))
def test_cut_by_cut_it_is_as_good_as_the_active_set_solver(seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    count, d = 40, int(rng.integers(2, 60))
    G = scale * (rng.standard_normal((count, d)) + rng.standard_normal(d))
    G[7] = G[3]  # a cut that comes twice
    L = rng.uniform(-0.2, 1.0, count) * 10.0 ** rng.uniform(-2, 1)
    qp = GrowingQP(G[0], L[0], count)
    assert qp.a.tolist() == [1.0]
    before = qp.dual
    for k in range(1, count):
        qp.add(G[k], L[k])
        qp.solve(1e-10)
        assert qp.size == k + 1
        assert qp.a.min() >= 0.0
        assert qp.a.sum() <= 1.0 + 1e-12
        np.testing.assert_allclose(qp.w, qp.a @ G[: k + 1], atol=1e-12 * scale)
        assert qp.dual == pytest.approx(qp.a @ L[: k + 1] - 0.5 * qp.w @ qp.w, rel=1e-12, abs=1e-14)
        assert qp.dual >= before - 1e-12
        before = qp.dual
        whole = DualQP(G[: k + 1] @ G[: k + 1].T, L[: k + 1], np.zeros(k + 1, np.int64), np.ones(1), 1e-10)
        assert qp.dual == pytest.approx(whole.dual(ActiveSet().solve(whole).a), rel=1e-8, abs=1e-9)


def test_remainders_of_pairwise_steps_are_solved_closely(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    G = 100.0 * (1.0 + 0.01 * rng.standard_normal((30, 20)))
    L = rng.uniform(0.0, 1.0, 30)
    result = []
    for most in (1, 1_000_000):
        monkeypatch.setattr("structsvm.solvers.joint_step._MOST_STEPS", most)
        qp = GrowingQP(G[0], L[0], 30)
        for g, offset in zip(G[1:], L[1:], strict=True):
            qp.add(g, float(offset))
            qp.solve(1e-9)
        result.append(qp.dual)
    assert result[0] == pytest.approx(result[1], abs=2e-9)


def test_a_loose_solution_is_within_what_was_asked() -> None:
    rng = np.random.default_rng(1)
    G, L = rng.standard_normal((20, 8)), rng.uniform(0.0, 1.0, 20)
    qp = GrowingQP(G[0], L[0], 20)
    for g, offset in zip(G[1:], L[1:], strict=True):
        qp.add(g, float(offset))
        qp.solve(0.05)
        violation = qp.L - G[: len(qp.L)] @ qp.w
        assert max(0.0, violation.max()) - qp.a @ violation <= 0.05 + 1e-12


def test_numbers_that_are_not_finite_end_it() -> None:
    qp = GrowingQP(np.array([np.nan, 1.0]), 1.0, 3)
    for _ in range(2):
        qp.add(np.ones(2), np.nan)
        qp.solve(1e-9)
    assert np.isnan(qp.dual)
