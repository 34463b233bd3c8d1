"""Whatever is done to planes and multipliers, they stay a feasible point of the dual and its w is theirs."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.problem.planes import DualPlanes
from structsvm.result import CutSet

D, N = 7, 4
CAP = np.array([2.0, 0.5, 0.0, 30.0])


class Pool:
    """All planes that may be seen, so that a hinge can be computed by listing them."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.G = rng.integers(-2, 3, (N, 12, D)).astype(np.float64) * rng.choice([1.0, 0.1, 10.0])
        self.L = rng.integers(0, 5, (N, 12)) / 4.0
        self.rng = rng

    def hinges(self, w: Vector) -> Vector:
        return np.maximum(0.0, (self.L - self.G @ w).max(axis=1))

    def primal(self, w: Vector) -> float:
        return float(0.5 * w @ w + CAP @ self.hinges(w))

    def plane(self, i: int, which: int) -> tuple[IntVector, Matrix, Vector]:
        return np.array([i]), self.G[i, [which]], self.L[i, [which]]

    def cuts(self, count: int) -> CutSet:
        """Some planes of every example, a few of which have weight, in any order."""
        group = self.rng.integers(0, N, count)
        which = self.rng.integers(0, 12, count)
        a = self.rng.random(count) * self.rng.integers(0, 2, count) * (CAP[group] > 0.0)
        total = np.bincount(group, weights=a, minlength=N)
        scale = np.divide(CAP, total, out=np.zeros(N), where=total > 0.0)
        return CutSet(self.G[group, which], self.L[group, which], group, a * scale[group], N)


def value_of(dual: DualPlanes) -> tuple[float, Vector]:
    """Return the value of the dual that the multipliers prove, and their w."""
    a, G, L = dual.arrays.a, dual.arrays.G, dual.arrays.L
    w = np.einsum("ip,ipk->k", a, G)
    return float((a * L).sum() - 0.5 * w @ w), w


def values_at(dual: DualPlanes, w: Vector) -> Matrix:
    """Return the value of each plane."""
    return dual.arrays.L - dual.arrays.G @ w


def assert_sound(dual: DualPlanes, pool: Pool) -> None:
    arrays = dual.arrays
    places = np.arange(arrays.L.shape[1])
    used = places < arrays.used[:, None]
    assert (arrays.a >= 0.0).all()
    assert (arrays.a.sum(axis=1) <= CAP * (1 + 1e-12)).all()
    assert not arrays.a[~used].any()
    assert (arrays.live <= arrays.used).all()
    assert not arrays.age[arrays.a > 0.0].any()
    assert (dual.size, dual.active) == (used.sum(), (arrays.a > 0.0).sum())
    gram = np.einsum("ipk,iqk->ipq", arrays.G, arrays.G)
    both = used[:, :, None] & used[:, None, :]
    np.testing.assert_allclose(arrays.gram[both], gram[both], rtol=1e-9, atol=1e-9)
    value, w = value_of(dual)
    np.testing.assert_allclose(dual.w, w, rtol=1e-9, atol=1e-9 * (1 + np.abs(arrays.G).max() * CAP.max()))
    for v in (np.zeros(D), w, *pool.rng.standard_normal((3, D))):
        planes = np.where(used, values_at(dual, v), -np.inf)
        assert (planes <= pool.hinges(v)[:, None] + 1e-13 * (1 + np.abs(pool.G @ v).max())).all()  # merged ones too
        assert value <= pool.primal(v) + 1e-13 * (1 + pool.primal(v))
    held = (values_at(dual, dual.w) * arrays.a).sum(axis=1)
    np.testing.assert_allclose(dual.held(), held, rtol=1e-9, atol=1e-9)
    for i in range(N):
        best = np.where(used[i], values_at(dual, dual.w)[i], 0.0).max(initial=0.0)
        assert dual.best(i, dual.w) == pytest.approx(best, rel=1e-9, abs=1e-9)


actions = st.lists(st.sampled_from(["visit", "visit", "argmax", "once", "twice", "refresh"]), max_size=40)


@settings(max_examples=120)
@given(seed=st.integers(0, 9999), places=st.integers(3, 8), start=st.integers(0, 30), doing=actions)
def test_any_sequence_of_steps_leaves_a_sound_point(seed: int, places: int, start: int, doing: list[str]) -> None:
    pool = Pool(seed)
    dual = DualPlanes(D, CAP, places)
    if start:
        dual.load(pool.cuts(start))
    assert_sound(dual, pool)
    value, _ = value_of(dual)
    for action in doing:
        i = int(pool.rng.integers(N))
        order = pool.rng.permutation(N)
        match action:
            case "visit":
                which = int(pool.rng.integers(12))
                dual.visit(*pool.plane(i, which))
            case "argmax":
                which = int((pool.L[i] - pool.G[i] @ dual.w).argmax())
                gap = CAP[i] * pool.hinges(dual.w)[i] - dual.held()[i]
                met = dual.visit(*pool.plane(i, which))
                assert met == pytest.approx(gap, rel=1e-9, abs=1e-9)
            case "refresh":
                assert dual.refresh() == pytest.approx(value, rel=1e-9, abs=1e-9)
            case _:
                assert dual.improve(order, most=2 if action == "twice" else 1) >= -1e-9
        now, _ = value_of(dual)
        assert now >= value - 1e-10 * (1 + abs(value))
        value = now
        assert_sound(dual, pool)


@given(seed=st.integers(0, 999), places=st.integers(3, 6), count=st.integers(1, 60), scale=st.sampled_from([0.5, 3.0]))
def test_loaded_cuts_carry_their_value(seed: int, places: int, count: int, scale: float) -> None:
    """More planes than places: planes with weight are merged, the rest is dropped."""
    pool = Pool(seed)
    cuts = pool.cuts(count)
    dual = DualPlanes(D, scale * CAP, places)
    dual.load(cuts)
    a = cuts.scaled(scale * CAP)
    w = a @ cuts.G
    value, _ = value_of(dual)
    assert value == pytest.approx(a @ cuts.L - 0.5 * w @ w, rel=1e-9, abs=1e-9)
    assert value <= a @ cuts.L - 0.5 * w @ w + 1e-13 * (1 + w @ w)


def test_steps_on_planes_end_at_the_optimum_over_them() -> None:
    pool = Pool(3)
    dual = DualPlanes(D, CAP, 12)
    for i in range(N):
        dual.visit(np.full(12, i), pool.G[i], pool.L[i])
    dual.improve(np.arange(N), most=3000)
    w: Matrix = dual.w
    planes = dual.arrays
    hinges = np.where(np.arange(12) < planes.used[:, None], planes.L - planes.G @ w, 0.0).max(axis=1, initial=0.0)
    primal = 0.5 * w @ w + CAP @ hinges
    assert value_of(dual)[0] == pytest.approx(primal, rel=1e-6)


def test_the_same_plane_is_not_stored_twice() -> None:
    pool = Pool(0)
    pool.G = pool.rng.standard_normal((N, 12, D))
    dual = DualPlanes(D, CAP, 12)
    for _ in range(5):
        for i in range(N):
            for which in range(3):
                dual.visit(*pool.plane(i, which))
    assert dual.size <= 3 * N


@pytest.mark.parametrize("seed", range(6))
def test_steps_on_new_planes_end_at_the_optimum(seed: int) -> None:
    pool = Pool(seed)
    pool.G = 0.3 * pool.rng.standard_normal((N, 12, D))
    dual = DualPlanes(D, CAP, 12)
    for _ in range(300):
        for i in range(N):
            dual.visit(*pool.plane(i, int((pool.L[i] - pool.G[i] @ dual.w).argmax())))
    assert_sound(dual, pool)
    assert dual.refresh() == pytest.approx(pool.primal(dual.w), rel=1e-12)


def test_cuts_are_those_with_weight() -> None:
    pool = Pool(1)
    dual = DualPlanes(D, CAP, 4)
    for i in (0, 3, 3, 1):
        dual.visit(*pool.plane(i, 0))
        dual.visit(*pool.plane(i, 1))
    cuts: Any = dual.cuts()
    assert (cuts.a > 0.0).all()
    assert (len(cuts), cuts.groups) == (dual.active, N)
    np.testing.assert_allclose(cuts.a @ cuts.G, dual.w)
