"""RankBoost on MQ2008 by LETOR's protocol: rounds chosen on validation MAP, mean test MAP over five folds."""

import numpy as np
import pytest

from structsvm.rankers import RankBoost
from tests.real_data import MQ2008, mq2008, needs

pytestmark = [pytest.mark.slow, needs(MQ2008)]


def test_mean_test_map() -> None:
    """LETOR 4.0 has 0.4752, with 255 thresholds per feature; queries without relevant documents count 0."""
    scores = []
    for fold in range(5):
        train, validation, test = mq2008(fold, 3), mq2008(fold + 3, 1), mq2008(fold + 4, 1)
        ranker = RankBoost(500).fit(
            train.X, train.y, train.qid, validation=(validation.X, validation.y, validation.qid)
        )
        scores.append(ranker.score(test.X, test.y, test.qid))
    assert np.mean(scores) == pytest.approx(0.4752, abs=0.006)
