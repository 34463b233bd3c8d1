"""Observation 1, Lemma 1, Theorems 1 and 2 and Proposition 1 of Yue et al. (SIGIR 2007)."""

from itertools import combinations, pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.losses import AveragePrecision, ROCArea
from structsvm.problem.oracle import make_oracle
from structsvm.registry import solvers
from structsvm.solvers import NSlack
from tests.small_problems import listed, ranking, score_vectors

LOSS = AveragePrecision()


def query(R: int, N: int) -> Vector:
    return np.concatenate([np.ones(R), np.zeros(N)])


def H(y: Vector, ranking: Vector, scores: Vector) -> float:
    return LOSS.loss(y, ranking) + scores @ LOSS.encode(ranking, y)


def sorted_scores(R: int, N: int) -> st.SearchStrategy[tuple[Vector, Vector]]:
    def split(scores: Vector) -> tuple[Vector, Vector]:
        return -np.sort(-scores[:R]), -np.sort(-scores[R:])

    return score_vectors(R + N).map(split)


def interleaved(R: int, N: int, positions: tuple[int, ...]) -> Vector:
    """The ranking that has the relevant documents, in their order, at the given positions."""
    rank_of = np.empty(R + N)
    rank_of[:R] = positions
    rank_of[R:] = [p for p in range(R + N) if p not in positions]
    return -rank_of


sizes = st.tuples(st.integers(1, 4), st.integers(1, 4)).filter(lambda size: sum(size) <= 6)


@given(data=st.data())
def test_observation_1(data: st.DataObject) -> None:
    """Rankings with the same relevance at each position have one Δ, and the sorted one has the largest H."""
    R, N = data.draw(sizes)
    s, s_bar = data.draw(sorted_scores(R, N))
    y, scores = query(R, N), np.concatenate([s, s_bar])
    positions = data.draw(st.sampled_from(list(combinations(range(R + N), R))))
    sorted_one = interleaved(R, N, positions)
    for relevant in permutations(range(R)):
        for others in permutations(range(R, R + N)):
            shuffled = sorted_one[[*relevant, *others]]
            assert LOSS.loss(y, shuffled) == pytest.approx(LOSS.loss(y, sorted_one))
            assert H(y, shuffled, scores) <= H(y, sorted_one, scores) + 1e-9


def delta(s: Vector, s_bar: Vector) -> Matrix:
    """δ_j(i, R + 1) by equations (5) and (6), with the factor 1/(RN) of Ψ; entry [i − 1, j − 1]."""
    R, N = len(s), len(s_bar)
    k, j = np.arange(1, R + 1)[:, None], np.arange(1, N + 1)
    step = (j / (j + k) - (j - 1) / (j + k - 1)) / R - 2 * (s[:, None] - s_bar) / (R * N)
    return np.concatenate([np.cumsum(step[::-1], axis=0)[::-1], np.zeros((1, N))])


@given(data=st.data())
def test_delta_is_the_change_in_H(data: st.DataObject) -> None:
    """Moving document j from behind all relevant ones to before the i-th changes H by δ_j(i, R + 1)."""
    R, N = data.draw(sizes)
    s, s_bar = data.draw(sorted_scores(R, N))
    y, scores = query(R, N), np.concatenate([s, s_bar])
    j, i = data.draw(st.integers(1, N)), data.draw(st.integers(1, R + 1))

    def with_first(count: int, o: int) -> Vector:
        """Non-relevant documents 1 .. count − 1 ahead of all, document ``count`` before the o-th relevant one."""
        ranking = np.empty(R + N)
        ranking[:R] = -np.arange(1.0, R + 1)
        ranking[R:] = -(R + 1.0) - np.arange(1, N + 1) / (N + 1)
        ranking[R : R + count - 1] = np.arange(count - 1, 0, -1)
        ranking[R + count - 1] = -o + 0.5
        return ranking

    change = H(y, with_first(j, i), scores) - H(y, with_first(j, R + 1), scores)
    assert change == pytest.approx(delta(s, s_bar)[i - 1, j - 1], abs=1e-9)


@given(data=st.data())
def test_lemma_1(data: st.DataObject) -> None:
    """δ_j(i1, i2) does not rise with j; it falls strictly by its first term."""
    R, N = data.draw(st.tuples(st.integers(1, 12), st.integers(2, 12)))
    change = delta(*data.draw(sorted_scores(R, N)))
    i1 = data.draw(st.integers(0, R - 1))
    i2 = data.draw(st.integers(i1 + 1, R))
    assert (np.diff(change[i1] - change[i2]) < 1e-12).all()


def ahead_in_plane(plane: Vector, R: int, N: int) -> IntVector:
    """o_j − 1 of each non-relevant document: how many relevant ones stay ahead of it."""
    return np.round(R + plane[R:] * R * N / 2).astype(np.int64)


@given(data=st.data())
def test_theorem_2(data: st.DataObject) -> None:
    """Maximizing each δ_j alone gives o_1 ≤ ... ≤ o_N, and both argmaxes reach their sum."""
    R, N = data.draw(st.tuples(st.integers(1, 12), st.integers(1, 12)))
    s, s_bar = data.draw(sorted_scores(R, N))
    y, scores, change = query(R, N), np.concatenate([s, s_bar]), delta(s, s_bar)
    greedy = R - np.argmax(change[::-1], axis=0)  # the last of several maximizers
    assert (np.diff(greedy) >= 0).all()

    planes = make_oracle(LOSS, [y]).planes(scores, np.array([0, R + N]), np.ones(1))
    first = ahead_in_plane(planes.coef, R, N)
    assert (np.diff(first) >= 0).all()
    np.testing.assert_allclose(change[first, np.arange(N)], change.max(axis=0), atol=1e-9)
    python = LOSS.loss_augmented_argmax(scores, y)
    assert H(y, python, scores) == pytest.approx(H(y, y, scores) + change.max(axis=0).sum(), abs=1e-9)


@given(data=st.data())
def test_argmax_is_that_of_all_interleavings(data: st.DataObject) -> None:
    R, N = data.draw(sizes)
    s, s_bar = data.draw(sorted_scores(R, N))
    y, scores = query(R, N), np.concatenate([s, s_bar])
    best = max(H(y, interleaved(R, N, positions), scores) for positions in combinations(range(R + N), R))
    planes = make_oracle(LOSS, [y]).planes(scores, np.array([0, R + N]), np.ones(1))
    assert planes.loss[0] - planes.coef @ scores + scores @ LOSS.encode(y, y) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("loss", [AveragePrecision(), ROCArea()], ids=lambda loss: loss.title)
@given(seed=st.integers(0, 999), size=st.sampled_from([0.0, 0.1, 1.0, 10.0]))
def test_proposition_1(loss: AveragePrecision | ROCArea, seed: int, size: float) -> None:
    """The mean slack bounds the mean loss of the predictions, at any w."""
    problem = ranking(loss, seed, C=1.0)
    point = problem.at(size * np.random.default_rng(seed).standard_normal(problem.d))
    slacks = np.maximum(0.0, problem.violation(problem.planes(point), point))
    labels, ptr = problem.oracle.labels, problem.ptr  # type: ignore[attr-defined]
    risk = [loss.loss(labels[a:b], loss.argmax(point.scores[a:b])) for a, b in pairwise(ptr)]
    assert np.mean(slacks) >= np.mean(risk) - 1e-12


@pytest.mark.parametrize("solver_name", ["one-slack", "n-slack"])
@pytest.mark.parametrize("seed", range(4))
def test_proposition_1_of_a_trained_model(seed: int, solver_name: str) -> None:
    C = 5.0
    problem = ranking("map", seed, C=C)
    result = solvers.create(solver_name).solve(problem)
    labels, ptr, scores = problem.oracle.labels, problem.ptr, problem.at(result.w).scores  # type: ignore[attr-defined]
    risk = np.mean([LOSS.loss(labels[a:b], scores[a:b]) for a, b in pairwise(ptr)])
    assert (result.primal - 0.5 * result.w @ result.w) / C >= risk - 1e-12


@pytest.mark.parametrize("loss", ["map", "roc_area"])
@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("epsilon", [0.2, 0.01])
def test_theorem_1(loss: str, C: float, epsilon: float) -> None:
    """Algorithm 1 adds at most max(2nΔ̄/ε, 8CΔ̄R̄²/ε²) constraints."""
    problem = ranking(loss, 3, C=C, queries=12)
    every = listed(problem)
    widest = max(np.linalg.norm(G, axis=1).max() for G, _ in every.planes)
    largest = max(L.max() for _, L in every.planes)
    bound = max(2 * problem.n * largest / epsilon, 8 * C * largest * widest**2 / epsilon**2)
    result = NSlack(tol=epsilon).solve(problem)
    assert result.converged
    assert 0 < len(result.cuts) <= bound


def test_algorithm_1_adds_only_what_is_violated_by_more_than_epsilon() -> None:
    """At the end no output of any example is violated by ε more than the working set says."""
    problem = ranking("map", 3, C=30.0, queries=12)
    epsilon = 0.05
    result = NSlack(tol=epsilon).solve(problem)
    cuts = result.cuts
    w = cuts.a @ cuts.G
    slack = np.zeros(problem.n)
    np.maximum.at(slack, cuts.group, cuts.L - cuts.G @ w)
    assert (problem.cap @ (listed(problem).hinges(w) - slack)) <= epsilon * problem.C
