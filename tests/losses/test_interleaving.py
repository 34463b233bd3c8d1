"""Interleaving losses: against enumeration and other methods, and errors."""

from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest
from attrs import frozen
from hypothesis import given, settings
from hypothesis import strategies as st

from structsvm.exceptions import InputError
from structsvm.foundation.types import Vector
from structsvm.losses import (
    InterleavingLoss,
    NDCGLoss,
    ReciprocalRank,
)
from structsvm.losses.ndcg import PairwiseNDCG
from structsvm.losses.shared import cost_tables, placements
from structsvm.losses.shared.cost_tables import DIVIDE, PROGRAM, TRUNCATE, cost_table
from structsvm.losses.shared.interleaving import interleaving
from structsvm.losses.shared.placements import best_placements, split_by_dividing
from structsvm.problem import Problem
from structsvm.problem.program import plain_function
from structsvm.testing import check_loss
from tests.losses.test_kernels import assert_kernel_agrees, assert_plane_is_of_a_ranking, lines_run
from tests.small_problems import relevances, score_vectors


class PrecisionSum(InterleavingLoss):
    """Average precision by its costs."""

    def cost(self, k: Any, j: Any, R: int, N: int) -> Any:
        return j / (k + j) / R


class Swaps(InterleavingLoss):
    """The ROC area by its costs."""

    def cost(self, k: Any, j: Any, R: int, N: int) -> Any:
        return j / (R * N) + 0.0 * k


@frozen
class Random(InterleavingLoss):
    """Costs from a table of random numbers, different for every R and N, that do not fall with j."""

    seed: int
    shape: str = "any"
    k: int | None = None

    def cost(self, k: Any, j: Any, R: int, N: int) -> Any:
        steps = np.random.default_rng([self.seed, R, N]).random((R, N)) ** 4
        if self.shape == "concave":
            steps = -np.sort(-steps, axis=1)
        table = np.concatenate([np.zeros((R, 1)), np.cumsum(steps, axis=1)], axis=1)
        if self.shape == "sparse":
            table[:, 1:] *= np.random.default_rng(self.seed).random((R, N)) < 0.3
        K = self.k or R + N
        costs = table[k - 1, np.minimum(j, np.maximum(K + 1 - k, 0))]
        return np.where(k > K, 0.0, costs)


@frozen
class WithoutCutoff(InterleavingLoss):
    """The same costs, and no word of their cut-off."""

    same: InterleavingLoss

    def cost(self, k: Any, j: Any, R: int, N: int) -> Any:
        return self.same.cost(k, j, R, N)


def best_by_enumeration(loss: InterleavingLoss, y: Vector, scores: Vector) -> float:
    """Largest ``Δ − w·(Ψ(y) − Ψ(ŷ))`` of all interleavings, each kind sorted by score, pair by pair."""
    s, s_bar = -np.sort(-scores[y > 0]), -np.sort(-scores[~(y > 0)])
    R, N = len(s), len(s_bar)
    costs = loss.cost(np.arange(1, R + 1)[:, None], np.arange(N + 1)[None, :], R, N)
    gains = np.array([[sum(s_bar[:j] - s[k]) for j in range(N + 1)] for k in range(R)]) * 2 / (R * N)
    return max(
        sum(costs[k, j] + gains[k, j] for k, j in enumerate(ahead))
        for ahead in combinations_with_replacement(range(N + 1), R)
    )


def value_of_kernel(loss: InterleavingLoss, y: Vector, scores: Vector) -> float:
    """The value of the plane that the kernel, uncompiled, finds; the plane is checked to be one of a ranking."""
    out = np.full(len(y), np.nan)
    delta = interleaving(scores, loss.labels(y), loss.params([y]), out)
    assert_plane_is_of_a_ranking(loss, y, out, delta)
    return delta - out @ scores


def losses() -> st.SearchStrategy[InterleavingLoss]:
    shapes = st.sampled_from(["any", "concave", "sparse"])
    made = st.builds(Random, st.integers(0, 10_000), shapes, st.none() | st.integers(1, 9))
    cutoffs = st.none() | st.integers(1, 9)
    shipped = st.builds(PairwiseNDCG, cutoffs, discount=st.sampled_from(["standard", "letor"]))
    return made | shipped | st.sampled_from([ReciprocalRank(), PrecisionSum(), Swaps()])


@settings(max_examples=60)
@given(loss=losses(), data=st.data())
def test_both_argmaxes_are_those_of_the_enumeration(loss: InterleavingLoss, data: st.DataObject) -> None:
    y = data.draw(relevances(2, 8))
    scores = data.draw(score_vectors(len(y)))
    best = best_by_enumeration(loss, y, scores)
    size = 1.0 + np.abs(scores).max()
    assert value_of_kernel(loss, y, scores) == pytest.approx(best, abs=1e-10 * size)
    result = loss.loss_augmented_argmax(scores, y)
    assert len(set(result)) == len(y)
    value = loss.loss(y, result) - (loss.encode(y, y) - loss.encode(result, y)) @ scores
    assert value == pytest.approx(best, abs=1e-10 * size)


@pytest.mark.parametrize(
    ("loss", "method"),
    [
        (ReciprocalRank(), DIVIDE),
        (PrecisionSum(), DIVIDE),
        (Swaps(), DIVIDE),
        (Random(0, "concave"), DIVIDE),
        (Random(0), PROGRAM),
        (PairwiseNDCG(), DIVIDE),
        (PairwiseNDCG(discount="letor"), PROGRAM),
        (PairwiseNDCG(10), TRUNCATE),
        (PairwiseNDCG(50), DIVIDE),
        (PairwiseNDCG(49), TRUNCATE),
    ],
    ids=str,
)
def test_concavity_is_tested_on_the_table(loss: InterleavingLoss, method: int) -> None:
    y = np.arange(50) % 7 == 0
    assert loss.params([y.astype(float)])[4] == method


@settings(max_examples=60)
@given(loss=losses(), n=st.integers(2, 200), share=st.floats(0.02, 0.98), seed=st.integers(0, 10_000))
def test_the_methods_agree_on_longer_queries(loss: InterleavingLoss, n: int, share: float, seed: int) -> None:
    """The kernel's own method, and dynamic programming at O(R N), in the kernel and in Python."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(np.float64)
    y[rng.choice(n, 2, replace=False)] = 0.0, 1.0
    scores = rng.choice([0.01, 1.0, 30.0]) * rng.standard_normal(n) + rng.random() * y
    if seed % 3 == 0:
        scores = np.round(scores, 1)
    size = 1.0 + np.abs(scores).max()
    own = value_of_kernel(loss, y, scores)
    params = WithoutCutoff(loss).params([y])
    params[4] = PROGRAM
    out = np.empty(n)
    assert interleaving(scores, y, params, out) - out @ scores == pytest.approx(own, abs=1e-10 * size)
    result = loss.loss_augmented_argmax(scores, y)
    value = loss.loss(y, result) - (loss.encode(y, y) - loss.encode(result, y)) @ scores
    assert value == pytest.approx(own, abs=1e-10 * size)


def test_tables_that_do_not_depend_on_N_are_shared() -> None:
    ys = [np.arange(n) < R for R in (3, 4) for n in (40, 50, 60)]
    labels = [y.astype(np.float64) for y in ys]
    header = 2 + 3 * len(ys)
    assert len(PairwiseNDCG().params(labels)) == header + 3 * (57 + 1) + 4 * (56 + 1)
    assert len(PairwiseNDCG(5).params(labels)) == header + 6 * (3 + 4)
    assert len(Swaps().params(labels)) == header + sum(y.sum() * ((~y).sum() + 1) for y in ys)
    rng = np.random.default_rng(0)
    for loss in (PairwiseNDCG(), PairwiseNDCG(5), Swaps()):
        assert_kernel_agrees(loss, labels, [rng.standard_normal(len(y)) for y in ys])


def test_queries_that_cannot_be_learned_from_have_no_table() -> None:
    params = ReciprocalRank().params([np.zeros(3), np.ones(2), np.array([1.0, 0.0])])
    assert params[0] == 1
    assert len(ReciprocalRank().params([])) == 2


def test_a_query_without_a_table_is_refused_and_not_guessed() -> None:
    loss, y = ReciprocalRank(), np.array([1.0, 0.0, 0.0])
    assert np.isnan(interleaving(np.zeros(3), y, loss.params([np.array([1.0, 0.0])]), np.empty(3)))


def cost_of(function: Any, k: int | None = None) -> InterleavingLoss:
    class Mine(InterleavingLoss):
        def cost(self, k: Any, j: Any, R: int, N: int) -> Any:
            return function(k, j, R, N)

    Mine.k = k  # type: ignore[attr-defined]
    return Mine()


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (
            cost_of(lambda k, j, R, N: np.log(j) + 0 * k),
            r"Mine.cost\(k=1, j=0, R=2, N=3\) is -inf: costs must be finite",
        ),
        (cost_of(lambda k, j, R, N: np.ones(7)), r"Mine.cost returned an array of shape \(7,\) for k of shape"),
        (cost_of(lambda k, j, R, N: None), r"must return numbers of shape \(2,\), one for each pair of k and j"),
        (cost_of(lambda k, j, R, N: "many"), "Mine.cost returned 'many'"),
        (cost_of(lambda k, j, R, N: 1 + j + 0 * k), r"adds up to 2 over k = 1 to 2: the loss of the truth must be 0"),
        (cost_of(lambda k, j, R, N: -j / (k + j)), r"adds up to -1.35 for a ranking of 2 relevant and 3 other"),
        (
            cost_of(lambda k, j, R, N: j / (k + j), k=2),
            r"has the cut-off 2, but cost\(k=2, j, R=2, N=3\) still changes beyond it, at j = 2",
        ),
        (
            cost_of(lambda k, j, R, N: np.where(k > 1, j, 0), k=1),
            r"cut-off 1, but cost\(k=2, j, R=2, N=3\) still chang",
        ),
        (cost_of(lambda k, j, R, N: j, k=0), "Mine: the cut-off k must be an integer of at least 1, got 0"),
        (cost_of(lambda k, j, R, N: j, k=2.5), "must be an integer of at least 1, got 2.5"),
    ],
)
def test_invalid_costs_are_errors(loss: InterleavingLoss, message: str) -> None:
    with pytest.raises(InputError, match=message):
        loss.params([np.array([0.0, 1.0, 0.0, 1.0, 0.0])])


def test_costs_that_change_far_beyond_the_cutoff_are_refused() -> None:
    late = cost_of(lambda k, j, R, N: np.where((k == 1) & (j > 0), 1.0 + (j > 4000), 0.0), k=3)
    with pytest.raises(InputError, match="has the cut-off 3, but cost"):
        late.params([(np.arange(6000) < 50).astype(float)])


def test_a_negative_loss_of_one_ranking_only_is_found() -> None:
    """Costs that fall: together they are negative only if both documents pass others."""
    loss = cost_of(
        lambda k, j, R, N: np.where(k == 1, np.where(j == 2, -1.0, 0.0), np.where(j == 3, 0.5, 1.0 * (j > 0)))
    )
    with pytest.raises(InputError, match="adds up to -0.5 for a ranking of 2 relevant"):
        cost_table("Mine", loss.cost, 2, 3)


def test_python_and_kernel_see_the_same_broken_cost() -> None:
    """A cost that is not computed element by element: the Python loss differs from the table."""
    with pytest.raises(AssertionError):
        check_loss(cost_of(lambda k, j, R, N: (np.cumsum(j, axis=-1) if np.ndim(j) == 1 else j) / (R * N) + 0.0 * k))


def arguments(loss: InterleavingLoss, n: int) -> tuple[Any, Vector, Vector, float]:
    """Costs and scores of a query of n documents, half of them relevant."""
    rng = np.random.default_rng(n)
    half = n // 2
    costs = cost_table("", loss.cost, half, half, loss.cutoff).ravel()
    s, s_bar = -np.sort(-0.1 * rng.standard_normal((2, half)))
    return costs, s, s_bar, 2.0 / half**2


def test_concave_costs_take_n_log_n_steps() -> None:
    """From 100 to 1600 documents n log n grows 26-fold, R N 256-fold."""
    short, long = (lines_run([split_by_dividing], *arguments(PrecisionSum(), n)) for n in (100, 1600))
    assert long < 28 * short


def test_a_cutoff_takes_steps_linear_in_the_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a cut-off of 10: from 100 to 1600 documents 16-fold; the triangle is counted, and stays as it is."""
    inner = (best_placements, placements.trace)
    for each in inner:
        monkeypatch.setattr(placements, each.__name__, plain_function(each))
    steps = []
    for n in (100, 1600):
        costs, s, s_bar, scale = arguments(PairwiseNDCG(10), n)
        steps.append(lines_run([placements.split_by_truncating, *inner], costs, 10, s, s_bar, scale))
    assert steps[1] < 17 * steps[0]


@pytest.mark.parametrize(
    ("loss", "gib"),
    [(ReciprocalRank(), "18.6"), (NDCGLoss(), "18.6"), (NDCGLoss(20_000, truncated=True), "3.0")],
    ids=str,
)
def test_tables_that_would_fill_the_memory_are_refused_before_they_are_made(loss: Any, gib: str) -> None:
    y = np.arange(100_000) % 2.0
    with pytest.raises(InputError, match=rf"{gib} GiB.* 50000 relevant and 50000 other documents needs"):
        Problem.from_queries(np.zeros((len(y), 1)), y, loss=loss)


def test_tables_that_are_not_shared_are_counted_as_they_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    shapes = [(5, N) for N in range(1, 50)]
    shared, apart = ReciprocalRank(), Swaps()
    monkeypatch.setattr(cost_tables, "_MOST_BYTES", 8 * (5 * 50 + 2 + 3 * len(shapes)))
    cost_tables.pack(shared.title, shared.cost, shapes)
    with pytest.raises(InputError, match="Swaps reads its costs .* of 5 relevant and 49 other"):
        cost_tables.pack(apart.title, apart.cost, shapes)
