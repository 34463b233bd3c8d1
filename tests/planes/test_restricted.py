"""The problem over the planes that are kept: what is read of blocks of examples."""

import numpy as np
import pytest

from structsvm.planes import Capacity, DualPlanes
from structsvm.planes.restricted import add_values, choose, hinge_of, subtract_values, write_values_of

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
def test_values_and_choices_of_blocks(dtype: type) -> None:
    dual = kept(0, dtype)
    arrays, w = dual.arrays, np.linspace(-1.0, 1.0, D)
    values, along = np.full(arrays.L.shape, np.nan), np.full(arrays.L.shape, np.nan)
    for first, end in ((0, 7), (7, N)):
        write_values_of(arrays, first, end, w, values)
        write_values_of(arrays, first, end, 2.0 * w, along)
        subtract_values(values, first, end, along)
    looked_at = (np.arange(6) < arrays.used[:, None]) & (arrays.age < 100.0)
    error = arrays.error if arrays.error.size else np.zeros_like(arrays.L)
    expected = arrays.L - arrays.G @ w - error * np.linalg.norm(w)
    np.testing.assert_array_equal(np.isfinite(values), looked_at)
    np.testing.assert_allclose(values[looked_at], expected[looked_at], rtol=1e-12, atol=1e-12)
    rate = -(arrays.G @ w) - error * np.linalg.norm(w)
    np.testing.assert_allclose(along, np.where(looked_at, rate, 0.0), rtol=1e-9, atol=1e-9)

    t, choices, g = 0.3, np.empty((2, N), dtype=np.int32), np.empty(D)
    at = np.where(looked_at, expected + t * rate, -np.inf)
    best, place = np.maximum(at.max(axis=1), 0.0), np.where(at.max(axis=1) > 0.0, at.argmax(axis=1), -1)
    offset = choose(arrays, 0, N, values, along, t, choices, 1, g)
    np.testing.assert_array_equal(choices[1], place)
    taken = np.flatnonzero(place >= 0)
    assert offset == pytest.approx(arrays.cap[taken] @ arrays.L[taken, place[taken]])
    np.testing.assert_allclose(g, arrays.cap[taken] @ arrays.G[taken, place[taken]].astype(float), rtol=1e-9, atol=1e-9)
    hinge, slope = hinge_of(arrays, 0, N, values, along, t)
    assert hinge == pytest.approx(arrays.cap @ best)
    assert slope == pytest.approx(arrays.cap[taken] @ rate[taken, place[taken]])
    add_values(values, 0, N, along, t)
    np.testing.assert_allclose(values[looked_at], at[looked_at], rtol=1e-12, atol=1e-12)
