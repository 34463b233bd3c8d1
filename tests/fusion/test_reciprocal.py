"""Reciprocal rank fusion and inverse square ranks, to the letter of the definitions."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from structsvm.fusion.ranks import InverseSquareRank, ReciprocalRankFusion
from tests.fusion import literal
from tests.fusion.literal import matrices


def fused(method, X):
    return method.fit(X).predict(X)


@given(X=matrices(), constant=st.sampled_from([0.0, 1.0, 60.0]))
def test_reciprocal_rank_fusion_to_the_letter(X, constant):
    expected = literal.retrieved_alone(lambda X: literal.reciprocal_ranks(X, constant))(X)
    np.testing.assert_allclose(fused(ReciprocalRankFusion(constant), X), expected, rtol=1e-13)


@given(X=matrices())
def test_inverse_square_rank_to_the_letter(X):
    np.testing.assert_allclose(fused(InverseSquareRank(), X), literal.inverse_squares(X), rtol=1e-13)


def test_an_example():
    """Three systems, without ties: the sums written out."""
    X = [[9.0, 0.1, np.nan], [8.0, 0.3, 5.0], [np.nan, 0.2, 6.0]]
    assert fused(ReciprocalRankFusion(), X).tolist() == [1 / 61 + 1 / 63, 1 / 62 + 1 / 61 + 1 / 62, 1 / 62 + 1 / 61]
    assert fused(InverseSquareRank(), X).tolist() == [2 * (1 + 1 / 9), 3 * (1 / 4 + 1 + 1 / 4), 2 * (1 / 4 + 1)]


def test_queries_of_several_lengths_have_ranks_of_their_own():
    X, qid = [[2.0], [1.0], [7.0], [4.0], [4.0]], [1, 1, 2, 1, 3]
    result = ReciprocalRankFusion(0.0).fit(X, qid=qid).predict(X, qid)
    assert result.tolist() == [1 / 2, 1 / 3, 1.0, 1.0, 1.0]
