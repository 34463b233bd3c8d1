import math

import numpy as np
import pytest

from structsvm.foundation.queries import Queries
from structsvm.models.network import network_scores
from structsvm.rankers.rank_net import decayed, first_weights, pair_examples, query_gradient, run_epoch, size
from structsvm.training.grouped import GroupedData
from structsvm.training.preferences import Preferences

D = 4


def training(y, rng):
    return GroupedData("RankNet", rng.normal(size=(9, D)), y, Queries.of([0] * 5 + [1] * 4, 9), np.array([0.5, 3.0]))


def gradient(examples, hidden, weights):
    """The cost of all queries and its gradient, by the compiled function."""
    parts = [query_gradient(examples, q, hidden, weights) for q in range(len(examples.weights))]
    return sum(cost for cost, _ in parts), sum(slopes for _, slopes in parts)


def test_scores_are_those_of_matrix_products():
    rng = np.random.default_rng(0)
    rows, hidden = rng.normal(size=(7, D)), 3
    W, b, v = rng.normal(size=(hidden, D)), rng.normal(size=hidden), rng.normal(size=hidden)
    np.testing.assert_allclose(
        network_scores(rows, np.concatenate([W.ravel(), b, v]), hidden), np.tanh(rows @ W.T + b) @ v, rtol=1e-12
    )
    w = rng.normal(size=D)
    np.testing.assert_allclose(network_scores(rows, w, 0), rows @ w, rtol=1e-12)


@pytest.mark.parametrize("hidden", [0, 1, 3])
@pytest.mark.parametrize("kind", ["grades", "ties", "certain", "pairs", "certain pairs"])
def test_gradients_by_finite_differences(hidden, kind):
    rng = np.random.default_rng(hidden)
    if "pairs" in kind:
        y = Preferences([0, 4, 1, 5, 8], [1, 2, 3, 7, 6], [0.5, 1.0, 2.0, 3.0, 0.1])
    else:
        y = np.array([0.0, 2.0, 1.0, 0.0, 1.0, 0.0, 0.5, 3.0, 0.0])
    examples = pair_examples(
        training(y, rng), np.array([True, True]), log_odds=math.inf if "certain" in kind else 0.7, ties=kind == "ties"
    )
    weights = rng.normal(size=size(hidden, D))
    _, slopes = gradient(examples, hidden, weights)
    assert np.abs(slopes).min() > 1e-6
    step = 1e-5
    for k in range(len(weights)):
        ahead, behind = weights.copy(), weights.copy()
        ahead[k] += step
        behind[k] -= step
        rise = (gradient(examples, hidden, ahead)[0] - gradient(examples, hidden, behind)[0]) / (2 * step)
        assert slopes[k] == pytest.approx(rise, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("hidden", [0, 2])
def test_a_step_is_against_the_gradient_and_towards_0(hidden):
    rng = np.random.default_rng(0)
    y = np.array([0.0, 2.0, 1.0, 0.0, 1.0, 0.0, 1.0, 3.0, 0.0])
    examples = pair_examples(training(y, rng), np.array([True, True]), log_odds=1.0, ties=False)
    examples = examples._replace(weights=np.array([0.0, 2.0]))
    start, decays = rng.normal(size=size(hidden, D)), decayed(hidden, D)
    cost, slopes = gradient(examples, hidden, start)
    weights = start.copy()
    reached = run_epoch(examples, np.array([1]), hidden, 0.1, 0.5, decays, weights)
    assert reached == pytest.approx(cost / 2.0)  # the weights of the two queries sum to 2
    np.testing.assert_allclose(weights, start - 0.1 * (slopes + 0.5 * decays * start), rtol=1e-12)


def test_first_weights():
    assert not first_weights(0, D, np.random.RandomState(0)).any()
    weights = first_weights(5, 100, np.random.RandomState(0))
    assert np.abs(weights[:500]).max() <= 0.1
    assert len(np.unique(weights[:500])) == 500
    assert not weights[500:505].any()
    assert 0.0 < np.abs(weights[505:]).max() <= 1 / math.sqrt(5)


def test_biases_do_not_decay():
    assert decayed(0, D).tolist() == [1.0] * D
    assert np.flatnonzero(decayed(2, D) == 0.0).tolist() == [2 * D, 2 * D + 1]
    assert len(decayed(2, D)) == size(2, D)
