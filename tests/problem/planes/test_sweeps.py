"""Sweeps over kept planes never lower the dual, and end at its optimum."""

import numpy as np
import pytest

from structsvm.problem.planes import DualPlanes
from structsvm.problem.planes.sweeps import strides

N, D, PLACES = 600, 8, 5


def kept(C: float, n: int = N) -> DualPlanes:
    """Store similar planes, so that examples move the weights in opposite directions."""
    rng = np.random.default_rng(1)
    common = rng.standard_normal(D)
    dual = DualPlanes(D, np.full(n, C / n), PLACES)
    for _ in range(4):
        dual.visit(np.arange(n), common + rng.standard_normal((n, D)), rng.uniform(0.2, 1.0, n))
    return dual


@pytest.mark.parametrize("C", [1.0, 100.0, 1e4, 1e6])
def test_the_dual_never_falls_and_weights_stay_what_multipliers_say(C: float) -> None:
    dual = kept(C)
    before = dual.refresh()
    for _ in range(40):
        dual.improve(np.arange(N), most=3)
        w, arrays = dual.w.copy(), dual.arrays
        after = dual.refresh()
        assert after >= before - 1e-12 * abs(before)
        np.testing.assert_allclose(w, dual.w, rtol=1e-8, atol=1e-10 * C)
        assert (arrays.a >= 0.0).all()
        assert (arrays.a.sum(axis=1) <= arrays.cap * (1.0 + 1e-12)).all()
        assert not arrays.age[arrays.a > 0.0].any()
        assert not arrays.a[np.arange(PLACES) >= arrays.live[:, None]].any()
        before = after


def test_sweeps_end_at_the_optimum_over_the_planes() -> None:
    dual = kept(10.0)
    dual.improve(np.arange(N), enough=1e-9, most=3000)
    assert dual.gap() <= 1e-6


@pytest.mark.parametrize("n", [1, 2, 3, 30, 1000, 30030])
def test_each_sweep_visits_every_example(n: int) -> None:
    numbers = strides(n, 12).tolist()
    assert numbers[0] == 1 or n == 1
    for stride in numbers:
        assert len({k * stride % n for k in range(n)}) == n
    assert len(set(numbers)) == 12 or n < 100


def test_it_ends_when_little_was_met() -> None:
    dual = kept(1.0)
    met = dual.improve(np.arange(N), enough=0.1, most=1000)
    assert 0.0 <= met <= 0.1
    assert dual.improve(np.arange(N), enough=np.inf, most=1000) <= met * 1.01
