"""RankBoost on MQ2008 by LETOR's protocol: rounds chosen on validation MAP, mean test MAP over five folds."""

import os
from pathlib import Path

import numpy as np
import pytest

from structsvm.data import RankingData, load_letor
from structsvm.rankers import RankBoost

DATA = Path(os.environ.get("STRUCTSVM_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")) / "MQ2008"

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not DATA.is_dir(), reason="needs STRUCTSVM_DATA: MQ2008")]


def parts(first: int, count: int) -> RankingData:
    return load_letor([DATA / f"S{(first + k) % 5 + 1}.txt" for k in range(count)])


def test_mean_test_map() -> None:
    """LETOR 4.0 has 0.4752, of 255 thresholds a feature; queries without relevant documents count 0."""
    scores = []
    for fold in range(5):
        train, validation, test = parts(fold, 3), parts(fold + 3, 1), parts(fold + 4, 1)
        ranker = RankBoost(500).fit(
            train.X, train.y, train.qid, validation=(validation.X, validation.y, validation.qid)
        )
        scores.append(ranker.score(test.X, test.y, test.qid))
    assert np.mean(scores) == pytest.approx(0.4752, abs=0.006)
