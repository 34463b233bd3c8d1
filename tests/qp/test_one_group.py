"""The QP of one group within compiled code, against the active-set solver."""

import numpy as np
import pytest

from structsvm.qp import ActiveSet, DualQP
from structsvm.qp.one_group import solve_one_group


@pytest.mark.parametrize("seed", range(30))
def test_cut_by_cut_it_is_as_good_as_the_active_set_solver(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count, room, d = 40, 45, int(rng.integers(2, 60))
    G = rng.standard_normal((count, d)) + rng.standard_normal(d)
    G[7] = G[3]  # a cut that comes twice
    L = rng.uniform(-0.2, 1.0, count) * 10.0 ** rng.uniform(-2, 1)
    gram = np.zeros(room * room)
    gram.reshape(room, room)[:count, :count] = G @ G.T
    weight, slope = np.zeros(room + 1), np.zeros(room + 1)
    weight[0], before = 1.0, -np.inf
    for k in range(1, count + 1):
        weight[k] = weight[k - 1] if k > 1 else 0.0
        if k > 1:
            weight[k - 1] = 0.0
        slope[:k] = L[:k] - G[:k] @ (weight[:k] @ G[:k])
        slope[k] = 0.0
        dual = solve_one_group(gram, room, L[:k], weight[: k + 1], slope[: k + 1], 1e-10)
        a = weight[:k]
        assert a.min() >= 0.0
        assert a.sum() + weight[k] == pytest.approx(1.0)
        assert dual == pytest.approx(a @ L[:k] - 0.5 * np.square(a @ G[:k]).sum(), rel=1e-9, abs=1e-12)
        assert dual >= before - 1e-12
        before = dual
        qp = DualQP(G[:k] @ G[:k].T, L[:k], np.zeros(k, np.int64), np.ones(1), 1e-10)
        assert dual == pytest.approx(qp.dual(ActiveSet().solve(qp).a), rel=1e-8, abs=1e-9)
        np.testing.assert_allclose(slope[:k], L[:k] - G[:k] @ (a @ G[:k]), rtol=1e-7, atol=1e-8)


def test_numbers_that_are_none_end_it() -> None:
    weight, slope = np.array([1.0, 0.0]), np.array([np.nan, 0.0])
    assert np.isnan(solve_one_group(np.array([np.nan]), 1, np.ones(1), weight, slope, 1e-9))
