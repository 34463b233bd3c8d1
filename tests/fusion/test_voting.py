"""Borda count, Condorcet's wins and Copeland's contests, by the example of the lecture and to the letter."""

import numpy as np
import pytest
from hypothesis import example, given

from structsvm.fusion import BordaCount, Condorcet, Copeland
from tests.fusion import literal
from tests.fusion.literal import matrices

ENGINES = ("ABCD", "ABCE", "ABCF", "BCAD", "BCAF")
"""Carterette's lecture on learning to rank, "Borda versus Condorcet example": five engines, candidates A to F."""

VOTING = {BordaCount: literal.borda, Condorcet: literal.condorcet, Copeland: literal.copeland}
each = pytest.mark.parametrize("method", VOTING)


def votes() -> np.ndarray:
    X = np.full((6, 5), np.nan)
    for engine, ranking in enumerate(ENGINES):
        for place, candidate in enumerate(ranking):
            X["ABCDEF".index(candidate), engine] = 10.0 - place
    return X


def fused(method, X):
    return method().fit(X).predict(X)


@pytest.mark.parametrize(
    ("method", "points"),
    [
        (BordaCount, [26, 27, 22, 10.5, 9, 10.5]),
        (Condorcet, [21, 22, 17, 4, 2, 4]),
        (Copeland, [5, 4, 3, 1.5, 0, 1.5]),
    ],
)
def test_the_example_of_the_lecture(method, points):
    assert fused(method, votes()).tolist() == points


def test_the_points_of_each_engine():
    """The terms of the sums on the slide; unranked candidates share the rest.

    A second engine, which ties all six, makes them candidates.
    """
    terms = [fused(BordaCount, np.column_stack([engine, np.zeros(6)])) - 3.5 for engine in votes().T]
    np.testing.assert_array_equal(
        np.transpose(terms),
        [
            [6, 6, 6, 4, 4],
            [5, 5, 5, 6, 6],
            [4, 4, 4, 5, 5],
            [3, 1.5, 1.5, 3, 1.5],
            [1.5, 3, 1.5, 1.5, 1.5],
            [1.5, 1.5, 3, 1.5, 3],
        ],
    )


@each
@given(X=matrices())
@example(X=np.array([[1.0, np.nan, 2.0]]))
@example(X=np.full((3, 2), np.nan))
def test_points_to_the_letter(method, X):
    assert fused(method, X).tolist() == VOTING[method](X)


def test_a_set_that_beats_all_others_is_ahead_though_its_documents_beat_each_other_in_a_circle():
    rankings = ("ABCDE", "BCAED", "CABDE")  # A beats B, B beats C, C beats A
    X = np.array([[-float(ranking.index(document)) for ranking in rankings] for document in "ABCDE"])
    assert fused(Copeland, X).tolist() == [3.0, 3.0, 3.0, 1.0, 0.0]


@each
def test_infinitely_close_scores_and_signed_zeros(method):
    X = np.array([[0.0, 1.0], [-0.0, np.nextafter(1.0, 2.0)]])
    first, second = fused(method, X)
    assert first < second  # tied by the first system, and told apart by the second


@each
def test_larger_queries_to_the_letter(method):
    """Long enough for vector units, their remainders and several queries."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 60, (230, 7)).astype(float)
    X[rng.random(X.shape) < 0.6] = np.nan
    qid = np.repeat([3, 1, 2], [150, 1, 79])
    expected = np.concatenate([VOTING[method](X[qid == query]) for query in (3, 1, 2)])
    np.testing.assert_array_equal(method().fit(X, qid=qid).predict(X, qid), expected)


@pytest.mark.parametrize("N", [32_767, 40_000])
def test_as_many_documents_as_a_short_integer_counts_and_more(N):
    """One system: as many contests are won as documents are behind."""
    scores = np.random.default_rng(0).permutation(N).astype(float)
    np.testing.assert_array_equal(fused(Copeland, scores[:, None]), scores)


@pytest.mark.parametrize("m", [16_383, 16_384, 20_000, 32_767, 40_000])
def test_as_many_systems_as_a_short_integer_counts_and_more(m):
    X = np.zeros((3, m))
    X[0] = 2.0
    X[1, : m // 2 + 1] = 1.0
    X[2, m // 2 + 1 :] = 1.0
    assert fused(Copeland, X).tolist() == [2.0, 1.0, 0.0]
    assert fused(Condorcet, X).tolist() == [2 * m, m // 2 + 1, m - m // 2 - 1]
