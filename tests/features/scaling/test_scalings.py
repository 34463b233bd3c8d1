from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from structsvm.exceptions import InputError
from structsvm.features import QueryMinMax, Thresholds
from structsvm.features.scaling.names import FEATURE_SCALINGS, SCORE_SCALINGS, scaling_named
from structsvm.features.scaling.scalings import Moments, learn_scaling, read_scaling, scaled_by_query
from structsvm.foundation.queries import Queries


def product(X, w):
    return X @ w


def features(seed, rows=40, d=5):
    """Columns on many scales, with holes, one that never varies and one of zeros."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, d)) * 10.0 ** rng.integers(-6, 7, d) + rng.normal(size=d)
    X[:, 1] = 0.1
    X[rng.random(X.shape) < 0.4] = 0.0
    X[:, 2] = 0.0
    return X, rng.integers(0, 6, rows), rng.normal(size=d)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_each_is_that_of_scikit_learn_query_by_query(seed):
    X, qid, _ = features(seed)
    queries = Queries.of(qid, len(X))
    unit, z = (learn_scaling(name, X).rows(X, queries) for name in ("query-min-max", "query-z-score"))
    for query in np.unique(qid):
        rows = qid == query
        np.testing.assert_allclose(unit[rows], MinMaxScaler().fit_transform(X[rows]), atol=1e-9)
        np.testing.assert_allclose(z[rows], StandardScaler().fit_transform(X[rows]), atol=1e-6)
    np.testing.assert_array_equal(unit, QueryMinMax().fit_transform(X, qid=qid))
    np.testing.assert_allclose(learn_scaling("standard", X).rows(X, None), StandardScaler().fit_transform(X), atol=1e-9)


@pytest.mark.parametrize("name", FEATURE_SCALINGS)
@given(st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_scores_are_those_of_normalized_rows_whatever_the_storage(name, seed):
    X, qid, w = features(seed)
    queries = Queries.of(qid, len(X))
    sparse = sp.csr_array(X)
    dense, lean = learn_scaling(name, X), learn_scaling(name, sparse)
    centered, divided = dense.rows(X, queries) @ w, lean.rows(sparse, queries) @ w
    for scaling, expected in ((dense, centered), (lean, divided)):
        for rows in (X, sparse):
            np.testing.assert_allclose(scaling.scores(rows, queries, w, product), expected, atol=1e-6)
    for query in np.unique(qid):  # no ranking changes
        assert np.ptp((centered - divided)[qid == query]) < 1e-6


@pytest.mark.parametrize("name", FEATURE_SCALINGS)
def test_rows_without_queries_are_one_query(name):
    X, _, w = features(0)
    for rows in (X, sp.csr_array(X)):
        scaling, one = learn_scaling(name, rows), Queries.of(None, len(X))
        np.testing.assert_allclose(
            scaling.scores(rows, None, w, product), scaling.scores(rows, one, w, product), rtol=1e-12
        )


def test_blocks_of_many_rows_are_as_one():
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(50_000, 2)), np.repeat(np.arange(5000), 10)
    queries = Queries.of(qid, len(X))
    low = X.reshape(5000, 10, 2).min(axis=1, keepdims=True)
    high = X.reshape(5000, 10, 2).max(axis=1, keepdims=True)
    expected = ((X.reshape(5000, 10, 2) - low) / (high - low)).reshape(X.shape)
    np.testing.assert_allclose(learn_scaling("query-min-max", X).rows(X, queries), expected)
    order = rng.permutation(len(X))
    mixed = learn_scaling("query-min-max", X).rows(X[order], Queries.of(qid[order], len(X)))
    np.testing.assert_allclose(mixed, expected[order])
    np.testing.assert_allclose(learn_scaling("standard", X).mean, X.mean(axis=0), atol=1e-12)


@pytest.mark.parametrize("name", FEATURE_SCALINGS)
def test_float32_stays_float32(name):
    X, qid, _ = features(1)
    queries = Queries.of(qid, len(X))
    for rows in (X.astype(np.float32), sp.csr_array(X.astype(np.float32))):
        assert learn_scaling(name, rows).rows(rows, queries).dtype == np.float32


@pytest.mark.parametrize("name", FEATURE_SCALINGS)
def test_entries_at_one_place_are_added_up_and_their_order_does_not_matter(name):
    odd = sp.csr_array((np.array([1.0, 2.0, 3.0, 5.0]), np.array([1, 1, 0, 1]), np.array([0, 2, 4])), shape=(2, 2))
    plain = sp.csr_array(np.array([[0.0, 3.0], [3.0, 5.0]]))
    if name == "standard":
        odd.sum_duplicates()
    result = learn_scaling(name, odd).rows(odd, None)
    np.testing.assert_allclose(result.toarray(), learn_scaling(name, plain).rows(plain, None).toarray())


@pytest.mark.parametrize("name", FEATURE_SCALINGS)
def test_numbers_that_are_the_same_but_for_rounding_do_not_vary(name):
    X = np.full((3, 1), 0.1) * np.ones((1, 2))
    assert np.abs(learn_scaling(name, X).rows(X, None)).max() < 1e-12


def test_numbers_that_are_too_large_are_refused():
    with pytest.raises(InputError, match="column 1 of X has numbers so large"):
        learn_scaling("standard", np.array([[1.0, 1.7e308], [2.0, -1.7e308]]))


@pytest.mark.parametrize("name", FEATURE_SCALINGS[:2])
def test_large_numbers_are_scaled_by_query_without_overflow(name):
    X, small = np.array([[1.7e308], [-1.7e308], [0.0]]), np.array([[1.7], [-1.7], [0.0]])
    for rows, expected in ((X, small), (sp.csr_array(X), sp.csr_array(small))):
        result, known = (learn_scaling(name, each).rows(each, None) for each in (rows, expected))
        np.testing.assert_allclose(*(each.toarray() if sp.issparse(each) else each for each in (result, known)))


def test_indicators_are_refused():
    X = Thresholds(2).fit_transform(np.arange(6.0).reshape(3, 2))
    with pytest.raises(InputError, match="BinnedMatrix, whose features are all 0 or 1"):
        learn_scaling("standard", X)


def test_names_follow_the_grammar_of_names():
    assert scaling_named("x", "Query_Min Max") == "query-min-max"
    assert scaling_named("x", None) is None
    with pytest.raises(InputError, match=r"x must be 'query-min-max' or .* or None, got 'mean'"):
        scaling_named("x", "mean")


@pytest.mark.parametrize("name", FEATURE_SCALINGS)
def test_a_state_is_restored(name):
    X, qid, w = features(3)
    for rows in (X, sp.csr_array(X)):
        scaling = learn_scaling(name, rows)
        again = read_scaling(scaling.arrays(), 5)
        queries = Queries.of(qid, len(X))
        assert (again.scores(X, queries, w, product) == scaling.scores(X, queries, w, product)).all()


@pytest.mark.parametrize(
    ("short", "name"), [("min-max", "query-min-max"), ("Z", "query-z-score"), ("sum", "query-sum")]
)
def test_names_of_scalings_of_scores(short, name):
    assert scaling_named("x", short, SCORE_SCALINGS) == scaling_named("x", name, SCORE_SCALINGS) == name
    assert scaling_named("x", "none", SCORE_SCALINGS) is None
    with pytest.raises(InputError, match="x must be 'query-min-max' or .* or None, got 'standard'"):
        scaling_named("x", "standard", SCORE_SCALINGS)


@pytest.mark.parametrize("name", FEATURE_SCALINGS[:2])
def test_rankers_scale_features_as_fusion_scales_scores(name):
    X, qid, _ = features(7)
    queries = Queries.of(qid, len(X))
    expected = queries.ungrouped(scaled_by_query(queries.grouped(X), queries.ptr, name))
    np.testing.assert_array_equal(learn_scaling(name, X).rows(X, queries), expected)


def test_missing_numbers_are_left_out_of_means_and_deviations() -> None:
    rng = np.random.default_rng(0)
    rows, ptr = rng.normal(size=(12, 3)), np.array([0, 5, 12])
    rows[rng.random(rows.shape) < 0.3] = np.nan
    parts = [rows[first:last] for first, last in pairwise(ptr)]
    expected = np.vstack([(part - np.nanmean(part, axis=0)) / np.nanstd(part, axis=0) for part in parts])
    np.testing.assert_allclose(scaled_by_query(rows, ptr, "query-z-score"), expected, atol=1e-12)


@pytest.mark.parametrize("storage", [np.array, sp.csr_array])
def test_moments_of_weighted_parts_are_those_of_repeated_rows(storage):
    """In blocks and partitions, some without weight; a constant column has deviation 1."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40_000, 3)) * [1.0, 50.0, 0.0] + [3.0, -1.0, 0.1]
    weights = np.where(np.arange(40_000) // 10_000 % 2, rng.integers(0, 4, 40_000), 0)
    parts = [Moments.of(storage(rows[k:end]), weights[k:end]) for k, end in pairwise([0, 10_000, 10_000, 40_000])]
    for result in (Moments.of(storage(rows), weights), parts[0].with_more(parts[1]).with_more(parts[2])):
        scaling = result.standard(centered=True)
        repeated = np.repeat(rows, weights, axis=0)
        assert result.weight == len(repeated)
        np.testing.assert_allclose(scaling.mean, repeated.mean(axis=0), rtol=1e-10)
        np.testing.assert_allclose(scaling.deviation, [*repeated.std(axis=0)[:2], 1.0], rtol=1e-10)
