"""The problem over the planes that are kept: values by any number of threads, and the search along a line."""

import numpy as np
import pytest

from structsvm.compute.threads import using
from structsvm.planes import Capacity, DualPlanes, RestrictedProblem

N, D = 40, 5


def kept(seed: int, dtype: type) -> DualPlanes:
    """Keep four planes of each example, of which one has been without weight for long."""
    rng = np.random.default_rng(seed)
    dual = DualPlanes(D, rng.uniform(0.1, 2.0, N), Capacity(6, dtype))
    for _ in range(4):
        for i in range(N):
            dual.visit(np.array([i]), rng.standard_normal((1, D)), rng.uniform(0.5, 3.0, 1))
    old = np.argmin(dual.arrays.a + (np.arange(6) >= dual.arrays.used[:, None]), axis=1)
    dual.arrays.age[np.arange(N), old] = 100.0
    return dual


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values_do_not_depend_on_the_number_of_threads(dtype: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("structsvm.compute.threads._BLOCK", 1)
    dual = kept(0, dtype)
    arrays, w = dual.arrays, np.linspace(-1.0, 1.0, D)
    found = []
    for n_jobs in (1, 2, 8):
        with using(n_jobs):
            found.append(RestrictedProblem(dual).values(w))
    assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes()
    looked_at = (np.arange(6) < arrays.used[:, None]) & (arrays.age < 100.0)
    error = arrays.error if arrays.error.size else np.zeros_like(arrays.L)
    values = arrays.L - arrays.G @ w - error * np.linalg.norm(w)
    np.testing.assert_array_equal(np.isfinite(found[0]), looked_at)
    np.testing.assert_allclose(found[0][looked_at], values[looked_at], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_a_move_ends_near_the_minimum_on_the_line(seed: int) -> None:
    dual = kept(seed, np.float64)
    restricted = RestrictedProblem(dual)
    rng = np.random.default_rng(seed)
    w, target = rng.standard_normal((2, D)) * 10.0 ** rng.uniform(-1, 1)
    linear, curvature = w @ (target - w), (target - w) @ (target - w)
    before = restricted.values(w)
    values, along = before.copy(), restricted.values(target)

    def primal(t: float) -> float:
        best = np.maximum(restricted.values(w + t * (target - w)).max(axis=1), 0.0)
        return float(t * linear + 0.5 * t * t * curvature + dual.arrays.cap @ best)

    t, hinge = restricted.move(values, along, float(linear), float(curvature))
    assert 0.0 <= t <= 2.0
    assert t * linear + 0.5 * t * t * curvature + hinge == pytest.approx(primal(t), rel=1e-9, abs=1e-9)
    lowest = min(primal(s) for s in np.linspace(0.0, 2.0, 2001).tolist())
    assert primal(t) <= lowest + 0.011 * (primal(0.0) - lowest) + 1e-9
    finite = np.isfinite(before)
    np.testing.assert_allclose(values[finite], restricted.values(w + t * (target - w))[finite], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(along[finite], restricted.values(target)[finite] - before[finite], rtol=1e-9, atol=1e-9)


def test_no_move_along_no_line_or_uphill() -> None:
    dual = kept(0, np.float64)
    restricted = RestrictedProblem(dual)
    w = np.zeros(D)
    values = restricted.values(w)
    for target, linear, curvature in ((w, 0.0, 0.0), (100.0 * np.ones(D), 1e9, 5e4)):
        t, hinge = restricted.move(values.copy(), restricted.values(target), linear, curvature)
        assert t == 0.0
        assert hinge == pytest.approx(restricted.choose(values)[0], rel=1e-12)
