"""A look at the most violated output of one example."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from structsvm.losses import AveragePrecision, Multiclass
from structsvm.problem import most_violated
from structsvm.solvers import NSlack, OneSlack
from tests.small_problems import Kronecker, ranking, ranking_arrays, relevances


@given(y=relevances(2, 5), seed=st.integers(0, 99), size=st.sampled_from([0.0, 1.0, 5.0]))
def test_it_is_the_worst_of_all_rankings(y: Any, seed: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    X, w, loss = rng.integers(-2, 3, (len(y), 2)).astype(np.float64), size * rng.standard_normal(2), AveragePrecision()
    shown = most_violated(X, y, w, loss="map")
    scores = X @ w
    values = [loss.loss(y, z) - (loss.encode(y, y) - loss.encode(z, y)) @ scores for z in loss.outputs(y)]
    assert shown.hinge == pytest.approx(max(values), abs=1e-9)
    assert shown.loss == loss.loss(y, shown.output)
    assert shown.margin == pytest.approx((loss.encode(y, y) - loss.encode(shown.output, y)) @ scores)


def test_outputs_are_those_of_the_authors_loss() -> None:
    shown = most_violated(np.array([1.0]), 0, np.zeros(3), loss=Kronecker())
    assert (shown.output, shown.loss, shown.margin, shown.hinge) == (2, 2.0, 0.0, 2.0)
    assert most_violated(np.ones(2), "b", np.zeros(4), loss=Multiclass(classes="ab")).output == "a"


def test_an_intercept_is_the_last_weight() -> None:
    shown = most_violated(np.zeros(1), 1.0, np.array([0.0, 0.25]), loss="zero_one", intercept=2.0)
    assert (shown.output, shown.margin) == (-1.0, 0.5)


def test_sparse_inputs() -> None:
    X, y, _ = ranking_arrays(0)
    w = np.array([1.0, -1.0, 0.5])
    dense, sparse = (most_violated(form(X[:4]), y[:4], w, loss="map") for form in (np.asarray, sp.csr_array))
    np.testing.assert_allclose(sparse.output, dense.output)
    assert sparse.margin == pytest.approx(dense.margin)


def test_binding_cuts_of_a_result() -> None:
    X, y, qid = ranking_arrays(0)
    problem = ranking("map", seed=0, C=10.0)
    several = NSlack().solve(problem)
    of_third = most_violated(X[qid == 2], y[qid == 2], several.w, loss="map", cuts=several.cuts, example=2).binding
    assert len(of_third) > 0
    assert (several.cuts.group[of_third] == 2).all()
    assert (several.cuts.a[of_third] > 0).all()
    one = OneSlack().solve(problem)
    of_all = most_violated(X[qid == 2], y[qid == 2], one.w, loss="map", cuts=one.cuts).binding
    np.testing.assert_array_equal(of_all, np.flatnonzero(one.cuts.a > 0))
    assert len(most_violated(X[:4], y[:4], one.w, loss="map").binding) == 0
