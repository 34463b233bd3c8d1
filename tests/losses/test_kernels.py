"""Compiled kernels and Python methods find planes of the same value, at any size and with ties."""

import sys
from types import FrameType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structsvm.foundation.types import Vector
from structsvm.losses import AveragePrecision, Multiclass, ROCArea, ScoreLoss, ZeroOne
from structsvm.problem.oracle import PythonOracle, make_oracle
from tests.small_problems import relevances, score_vectors

each_ranking_loss = pytest.mark.parametrize("loss", [AveragePrecision(), ROCArea()], ids=lambda loss: loss.title)


def assert_kernel_agrees(loss: ScoreLoss[Any], ys: list[Any], scores: list[Vector]) -> None:
    """Compare values at the scores, and the plane with the encoding of the Python methods if there is no tie."""
    loss = loss.bind(ys)
    assert loss.kernel is not None
    flat, ptr = np.concatenate(scores), np.cumsum([0, *map(len, scores)]).astype(np.int64)
    cap = np.ones(len(ys))
    kernel, python = make_oracle(loss, ys).planes(flat, ptr, cap), PythonOracle(loss, ys).planes(flat, ptr, cap)
    for i in range(len(ys)):
        owned = slice(ptr[i], ptr[i + 1])
        values = [planes.loss[i] - planes.coef[owned] @ flat[owned] for planes in (kernel, python)]
        assert values[0] == pytest.approx(values[1], rel=1e-10, abs=1e-10)


@each_ranking_loss
@given(data=st.data())
def test_ranking_kernels_agree_on_small_queries(loss: ScoreLoss[Any], data: st.DataObject) -> None:
    ys = data.draw(st.lists(relevances(2, 8), min_size=1, max_size=4))
    assert_kernel_agrees(loss, ys, [data.draw(score_vectors(len(y))) for y in ys])


@each_ranking_loss
@settings(max_examples=30)
@given(
    n=st.integers(2, 300),
    share=st.floats(0.01, 0.99),
    size=st.sampled_from([1e-3, 0.1, 1.0, 30.0]),
    levels=st.sampled_from([None, 2, 5]),
    seed=st.integers(0, 10_000),
)
def test_ranking_kernels_agree_on_large_queries(
    loss: ScoreLoss[Any], n: int, share: float, size: float, levels: int | None, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(np.float64)
    y[:2] = 0.0, 1.0
    scores = size * (rng.standard_normal(n) if levels is None else rng.integers(0, levels, n).astype(np.float64))
    scores += 2 * size * rng.random() * y  # from useless to nearly separating
    assert_kernel_agrees(loss, [y], [scores])


@given(scores=score_vectors(5), ys=st.lists(st.integers(0, 4), min_size=1, max_size=4))
def test_the_multiclass_kernel_agrees(scores: Vector, ys: list[int]) -> None:
    assert_kernel_agrees(Multiclass(classes=range(5)), ys, [scores + 0.25 * i for i in range(len(ys))])


@given(scores=score_vectors(4), ys=st.lists(st.sampled_from([-1.0, 1.0]), min_size=4, max_size=4))
def test_the_zero_one_kernel_agrees(scores: Vector, ys: list[float]) -> None:
    assert_kernel_agrees(ZeroOne(), ys, [scores[i : i + 1] for i in range(4)])


@each_ranking_loss
@given(y=relevances(2, 8), data=st.data())
def test_the_plane_is_that_of_a_ranking_with_its_loss(loss: Any, y: Vector, data: st.DataObject) -> None:
    """The numbers of pairs that the kernel swaps make a ranking, and the loss of that ranking is the one returned."""
    planes = make_oracle(loss, [y]).planes(data.draw(score_vectors(len(y))), np.array([0, len(y)]), np.ones(1))
    relevant = y > 0
    R, N = relevant.sum(), (~relevant).sum()
    moved = planes.coef * R * N / 2
    np.testing.assert_allclose(moved, np.round(moved), atol=1e-9)
    ranking = np.empty(len(y))
    ranking[relevant] = -np.round(moved[relevant])  # a non-relevant documents ahead
    order_of_others = np.argsort(np.argsort(moved[~relevant], kind="stable"), kind="stable")
    ranking[~relevant] = -order_of_others - 0.5
    np.testing.assert_allclose(loss.encode(y, y) - loss.encode(ranking, y), planes.coef, atol=1e-12)
    assert planes.loss[0] == pytest.approx(loss.loss(y, ranking))


def lines_run(loss: AveragePrecision, n: int) -> int:
    """Number of lines of the kernel that are run for a query of n documents, half of them relevant."""
    rng = np.random.default_rng(n)
    y = np.arange(n) % 2.0
    scores, out = 0.1 * rng.standard_normal(n), np.empty(n)
    kernel: Any = loss.kernel
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        count += event == "line" and frame.f_code is kernel.__code__
        return trace if frame.f_code is kernel.__code__ else None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        kernel(scores, y, loss.params([y]), out)
    finally:
        sys.settrace(before)
    return count


def test_average_precision_takes_n_log_n_steps() -> None:
    """From 200 to 3200 documents n log n grows 24-fold, R N 256-fold."""
    loss = AveragePrecision()
    assert lines_run(loss, 3200) < 28 * lines_run(loss, 200)


@each_ranking_loss
@pytest.mark.parametrize("n", [4096, 4097, 6000])
@pytest.mark.parametrize("offset", [0.0, -1e6])
def test_ranking_kernels_agree_on_the_longest_queries(loss: ScoreLoss[Any], n: int, offset: float) -> None:
    """Long lists are sorted in another way; a common offset leaves few digits to tell scores apart."""
    rng = np.random.default_rng(n)
    y = (rng.random(n) < 0.03).astype(np.float64)
    assert_kernel_agrees(loss, [y], [offset + rng.standard_normal(n) + y])
