"""Values of the planes that are kept on lines, against NumPy."""

import numpy as np
import pytest

from structsvm.problem.planes import DualPlanes
from structsvm.problem.planes.values import PlaneValues

N, D = 40, 5


def kept(seed: int) -> DualPlanes:
    """Keep four planes of each example, of which one has been without weight for long."""
    rng = np.random.default_rng(seed)
    dual = DualPlanes(D, rng.uniform(0.1, 2.0, N), 6)
    for _ in range(4):
        for i in range(N):
            dual.visit(np.array([i]), rng.standard_normal((1, D)), rng.uniform(0.5, 3.0, 1))
    old = np.argmin(dual.arrays.a + (np.arange(6) >= dual.arrays.used[:, None]), axis=1)
    dual.arrays.age[np.arange(N), old] = 100.0
    return dual


@pytest.mark.parametrize("block", [1, 5_000])
def test_hinges_and_choices_on_lines(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("structsvm.foundation.compute.threads._BLOCK", block)
    dual = kept(0)
    arrays = dual.arrays
    looked_at = (np.arange(6) < arrays.used[:, None]) & (arrays.age < 100.0)

    def values_at(w: np.ndarray) -> np.ndarray:
        return np.where(looked_at, arrays.L - arrays.G @ w, -np.inf)

    def hinge(at: np.ndarray) -> float:
        return float(arrays.cap @ np.maximum(at.max(axis=1), 0.0))

    def assert_chosen(row: int, at: np.ndarray) -> None:
        place = np.where(at.max(axis=1) > 0.0, at.argmax(axis=1), -1)
        np.testing.assert_array_equal(values.choices[row], place)
        taken = np.flatnonzero(place >= 0)
        g, offset = values.cut()
        assert offset == pytest.approx(arrays.cap[taken] @ arrays.L[taken, place[taken]])
        planes = arrays.G[taken, place[taken]]
        np.testing.assert_allclose(g, arrays.cap[taken] @ planes, rtol=1e-9, atol=1e-9)

    w, targets = np.linspace(-1.0, 1.0, D), (np.linspace(0.0, 2.0, D), np.full(D, -0.3))
    values = PlaneValues(arrays, w, 3)
    base = values_at(w)
    assert values.start() == pytest.approx(hinge(base))
    assert_chosen(0, base)
    for row, target in enumerate(targets, start=1):
        end = values_at(target)
        along = np.where(looked_at, end, 0.0) - np.where(looked_at, base, 0.0)
        values.aim(target)
        for t in (0.0, 0.7, 1.0, 0.25):
            value, slope = values.hinge(t)
            assert value == pytest.approx(hinge(base + t * along))
            ahead, behind = hinge(base + (t + 1e-7) * along), hinge(base + (t - 1e-7) * along)
            assert slope == pytest.approx((ahead - behind) / 2e-7, rel=1e-5, abs=1e-5)
        values.move(0.25, 0.5)
        base = base + 0.25 * along
        assert_chosen(row, base + 0.5 * along)
    last = values.choices.copy()
    values.aim(w)
    values.move(0.1, 0.1)  # no room for this choice
    np.testing.assert_array_equal(values.choices, last)
