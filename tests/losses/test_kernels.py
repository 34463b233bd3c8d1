"""Contracts of all losses of queries: `check_loss`, kernels that agree with Python, and the number of their steps."""

import sys
from types import FrameType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structsvm.foundation.types import Vector
from structsvm.losses import (
    AveragePrecision,
    FBeta,
    NDCGLoss,
    PrecisionAtK,
    PrecisionRecallBreakEven,
    RecallAtK,
    ReciprocalRank,
    ROCArea,
    ScoreLoss,
    SwappedPairs,
    WeightedRanks,
    ZeroOne,
    swapped_pairs,
)
from structsvm.losses.ndcg import PairwiseNDCG
from structsvm.problem.oracle import PythonOracle, make_oracle
from structsvm.problem.program import plain_function
from structsvm.testing import check_loss
from tests.slow import slow
from tests.small_problems import relevances, score_vectors

RANKINGS: list[Any] = [
    AveragePrecision(),
    AveragePrecision(relevant_from=2),
    ROCArea(),
    ReciprocalRank(),
    PairwiseNDCG(),
    PairwiseNDCG(10),
    PairwiseNDCG(2, discount="letor"),
    *(NDCGLoss(encoding=encoding) for encoding in ("pairwise", "thresholds", "position")),
    *(NDCGLoss(10, encoding=encoding, truncated=True) for encoding in ("pairwise", "thresholds", "position")),
    *(NDCGLoss(discount="letor", encoding=encoding) for encoding in ("pairwise", "thresholds", "position")),
    *(kind(k, truncated=True) for kind in (PrecisionAtK, RecallAtK) for k in (1, 10, 200)),
    SwappedPairs(),
]
SETS: list[Any] = [FBeta(), FBeta(0.3), FBeta(5.0), FBeta(1e200), FBeta(relevant_from=2), PrecisionRecallBreakEven()]
WEIGHTED = WeightedRanks()
each_loss = pytest.mark.parametrize("loss", [*RANKINGS, *SETS, WEIGHTED], ids=repr)


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
        assert values[0] == pytest.approx(values[1], rel=1e-10, abs=1e-10 + 1e-15 * np.abs(flat).max())


@each_loss
@settings(max_examples=6)
@given(y=st.lists(st.sampled_from([0.0, 1.0, 2.0]), min_size=2, max_size=4).map(np.array), seed=st.integers(0, 1000))
def test_every_loss_of_queries_passes_check_loss(loss: Any, y: Vector, seed: int) -> None:
    if loss.usable(y):
        check_loss(loss, [y], trials=2, random_state=seed)


@each_loss
@settings(max_examples=15)
@given(
    n=st.integers(2, 300),
    kinds=st.sampled_from([2, 3, 5]),
    share=st.floats(0.01, 0.99),
    size=st.sampled_from([1e-3, 0.1, 1.0, 30.0]),
    levels=st.sampled_from([None, 2, 5]),
    seed=st.integers(0, 10_000),
)
def test_kernels_agree_on_small_and_large_queries(
    loss: Any, n: int, kinds: int, share: float, size: float, levels: int | None, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < share, rng.integers(1, kinds, n), 0).astype(np.float64)
    y[:2] = 0.0, kinds - 1.0
    scores = size * (rng.standard_normal(n) if levels is None else rng.integers(0, levels, n).astype(np.float64))
    if loss.usable(y):
        assert_kernel_agrees(loss, [y], [scores + 2 * size * rng.random() * y])  # from useless to nearly separating


@pytest.mark.parametrize("loss", [*RANKINGS, *SETS], ids=repr)
@pytest.mark.parametrize(("n", "offset"), [(4096, 0.0), (4097, -1.0), *slow((4096, -1.0), (4097, 0.0), (6000, -1.0))])
def test_kernels_agree_on_the_longest_queries(loss: Any, n: int, offset: float) -> None:
    """Long lists are sorted in another way; a common offset leaves few digits to tell scores apart."""
    rng = np.random.default_rng(n)
    y = (rng.random(n) < 0.03) * rng.choice([1.0, 2.0], n)
    scores = offset * 1e6 + rng.standard_normal(n) + y
    assert_kernel_agrees(loss, [y], [1e-3 * scores if loss in SETS else scores])


@given(scores=score_vectors(4), ys=st.lists(st.sampled_from([-1.0, 1.0]), min_size=4, max_size=4))
def test_the_zero_one_kernel_agrees(scores: Vector, ys: list[float]) -> None:
    assert_kernel_agrees(ZeroOne(), ys, [scores[i : i + 1] for i in range(4)])


def assert_plane_is_of_a_ranking(loss: Any, y: Vector, plane: Vector, delta: float) -> None:
    """The numbers of pairs that are swapped make a ranking, whose loss is the one returned."""
    relevant = y > 0
    moved = plane * relevant.sum() * (~relevant).sum() / 2
    np.testing.assert_allclose(moved, np.round(moved), atol=1e-9)
    ranking = np.empty(len(y))
    ranking[relevant] = -np.round(moved[relevant])
    ranking[~relevant] = -np.argsort(np.argsort(moved[~relevant], kind="stable"), kind="stable") - 0.5
    np.testing.assert_allclose(loss.encode(y, y) - loss.encode(ranking, y), plane, atol=1e-12)
    assert delta == pytest.approx(loss.loss(y, ranking), rel=1e-13, abs=1e-12)


@pytest.mark.parametrize("loss", RANKINGS[:3:2], ids=repr)
@given(y=relevances(2, 8), data=st.data())
def test_the_plane_is_that_of_a_ranking_with_its_loss(loss: Any, y: Vector, data: st.DataObject) -> None:
    planes = make_oracle(loss, [y]).planes(data.draw(score_vectors(len(y))), np.array([0, len(y)]), np.ones(1))
    assert_plane_is_of_a_ranking(loss, y, planes.coef, planes.loss[0])


def lines_run(functions: list[Any], *arguments: Any) -> int:
    """Number of lines of functions that are run, uncompiled, by a call of the first of them."""
    codes, count = {plain_function(function).__code__ for function in functions}, 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        count += event == "line" and frame.f_code in codes
        return trace if frame.f_code in codes else None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        plain_function(functions[0])(*arguments)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize(
    ("loss", "kinds", "others"),
    [
        (AveragePrecision(), 2, []),
        *((SwappedPairs(), kinds, [swapped_pairs._add, swapped_pairs._up_to]) for kinds in (2, 5, 100_000)),
    ],
)
def test_argmaxes_take_n_log_n_steps(loss: Any, kinds: int, others: list[Any]) -> None:
    """From 200 to 3200 documents n log n grows 24-fold, the number of pairs 256-fold."""
    steps = []
    for n in (200, 3200):
        rng = np.random.default_rng(n)
        y = rng.integers(0, kinds, n).astype(np.float64)
        steps.append(
            lines_run(
                [loss.kernel, *others], 0.1 * rng.standard_normal(n), loss.labels(y), loss.params([y]), np.empty(n)
            )
        )
    assert steps[1] < 28 * steps[0]
