"""scikit-learn's own checks of the methods of fusion. They give no qid: all rows are one query."""

from typing import Any

import pytest
from sklearn.utils.estimator_checks import check_estimator

from structsvm.fusion import BordaCount, CombMNZ, CombSUM, Copeland, ReciprocalRankFusion, WeightedCombSUM
from structsvm.fusion.comb import CombMED

PART = "a fused score depends on the other documents of the query: with a part of its rows it becomes another"
COMPARED = {"check_methods_subset_invariance": PART}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("estimator", "expected_to_fail"),
    [
        *((method(), COMPARED) for method in (CombMED, BordaCount, Copeland, ReciprocalRankFusion, WeightedCombSUM)),
        (CombMNZ("z", count="nonzero"), COMPARED),
        (CombSUM("none"), {}),
    ],
    ids=repr,
)
def test_checks(estimator: Any, expected_to_fail: Any) -> None:
    rows = check_estimator(estimator, expected_failed_checks=expected_to_fail, on_fail=None, on_skip=None)
    failed = {row["check_name"]: row["exception"] for row in rows if row["status"] == "failed"}
    assert not failed
    assert {row["check_name"] for row in rows if row["status"] == "xfail"} == set(expected_to_fail)
