"""MQ2008 by LETOR's protocol for RankNet, the maximum entropy model and LambdaMART: the figures of docs/rankers."""

import itertools

import numpy as np
import pytest
from numpy.typing import ArrayLike

from structsvm.foundation.types import Features, Vector
from structsvm.rankers import LambdaMART, MaximumEntropy, RankNet
from tests.real_data import MQ2008, mq2008, needs

pytestmark = [
    pytest.mark.slow,
    needs(MQ2008),
]


def parts(first: int, count: int) -> tuple[Features, Vector, ArrayLike]:
    data = mq2008(first, count)
    return data.X, data.y, data.qid


def mean_test_map(fitted) -> float:
    """Mean over folds of the test MAP of the ranker of ``fitted`` that is best on validation."""
    scores = []
    for fold in range(5):
        train, validation, test = parts(fold, 3), parts(fold + 3, 1), parts(fold + 4, 1)
        best = max(fitted(train, validation), key=lambda ranker: ranker.score(*validation))
        scores.append(best.score(*test))
    print(f"mean test MAP {np.mean(scores):.4f}")
    return float(np.mean(scores))


@pytest.mark.parametrize(("hidden", "published_in_docs"), [(0, 0.470), (10, 0.474)])
def test_rank_net(hidden, published_in_docs):
    def fitted(train, validation):
        yield RankNet(hidden, random_state=0).fit(*train, validation=validation)

    assert mean_test_map(fitted) == pytest.approx(published_in_docs, abs=0.005)


def test_maximum_entropy():
    def fitted(train, _):
        for C in (0.01, 0.1, 1.0, 10.0, 100.0):
            yield MaximumEntropy(C).fit(*train)

    assert mean_test_map(fitted) == pytest.approx(0.475, abs=0.003)


def test_lambda_mart():
    pytest.importorskip("lightgbm")

    def fitted(train, validation):
        for leaves, rate in itertools.product([4, 8, 16], [0.02, 0.05, 0.1]):
            ranker = LambdaMART(300, num_leaves=leaves, learning_rate=rate, n_iter_no_change=100, random_state=0)
            yield ranker.fit(*train, validation=validation)

    assert mean_test_map(fitted) == pytest.approx(0.473, abs=0.005)
