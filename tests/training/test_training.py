"""Fits as functions: equal to the estimators, without scikit-learn, on parts that are checked once."""

import subprocess
import sys
from unittest.mock import patch

import numpy as np
import pytest

from structsvm import Ranker, StructuralSVM, training
from structsvm.data import load_digits_queries
from structsvm.exceptions import InputError
from structsvm.training import data as training_data

SCRIPT = """
import sys
import numpy as np
from structsvm import training
from structsvm.losses import AveragePrecision
from structsvm.solvers import Auto
from structsvm.training.ranking import RankingSpec

spec = RankingSpec("fit", "map", AveragePrecision(), 1.0, Auto(), training.Regularizer("fit"))
data = spec.data(np.array([[1.0], [2.0]]), np.array([0, 1]), np.array([1, 1]))
print(training.fit(data, spec).model.coef, "sklearn" in sys.modules)
"""


@pytest.fixture(scope="module")
def queries():
    return load_digits_queries()[0]


@pytest.mark.slow
def test_a_fit_needs_no_scikit_learn():
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert run.stdout == "[0.25] False\n"


def test_a_function_has_the_result_of_the_estimator(queries):
    ranker = Ranker("map", C=10.0)
    spec = ranker.spec()
    fit = training.fit(spec.data(queries.X, queries.y, queries.qid), spec)
    fitted = ranker.fit(queries.X, queries.y, qid=queries.qid)
    np.testing.assert_array_equal(fit.model.coef, fitted.coef_)
    assert fit.facts["n_examples_"] == fitted.n_examples_


def test_a_path_starts_each_fit_from_the_previous(queries):
    spec = Ranker("map").spec()
    data = spec.data(queries.X, queries.y, queries.qid)
    fits = training.path(data, spec, [10.0, 0.1, 1.0])
    assert list(fits) == [0.1, 1.0, 10.0]
    assert [fit.result.C for fit in fits.values()] == [0.1, 1.0, 10.0]
    assert fits[10.0].result.history[0].gap < training.fit(data, Ranker("map", C=10.0).spec()).result.history[0].gap


def test_subsets_are_not_checked_again(queries):
    spec = Ranker("map").spec()
    data = spec.data(queries.X, queries.y, queries.qid)
    first = np.flatnonzero(queries.qid == queries.qid[0])
    with patch.object(training_data, "checked_rows", side_effect=AssertionError):
        subset = data.subset(first)
        assert training.fit(subset, spec).result.converged
    assert (subset.rows, len(subset.queries), subset.n_features) == (len(first), 1, data.n_features)


def test_examples_and_their_weights_are_paired():
    spec = StructuralSVM().spec()
    data = spec.data([[1.0], [2.0], [3.0]], ["a", "b", "a"], [1.0, 2.0, 3.0])
    part = data.subset(np.array([2, 0]))
    assert (part.X.tolist(), list(part.y), part.weight.tolist()) == ([[3.0], [1.0]], ["a", "a"], [3.0, 1.0])
    with pytest.raises(InputError, match="3 inputs and 2 outputs"):
        spec.data([[1.0], [2.0], [3.0]], ["a", "b"])
