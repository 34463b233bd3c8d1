"""scikit-learn's own checks of a transformer."""

from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

from structsvm.features import FillMissing, QueryMinMax, QueryPercentiles, ReciprocalRanks, Thresholds

PART = "a score is compared with those of its query: with a part of its rows it becomes another"


class OneQuery:
    """Takes all rows for one query, since the checks give no qid."""

    def fit(self, X: Any, y: Any = None) -> Any:
        return super().fit(X, y, qid=one_id(X))  # type: ignore[misc]

    def transform(self, X: Any) -> Any:
        return super().transform(X, qid=one_id(X))  # type: ignore[misc]

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        return self.fit(X, y).transform(X)


def one_id(X: Any) -> Any:
    return np.zeros(np.asarray(X).shape[:1])


class FillingOne(OneQuery, FillMissing): ...


class MinMaxOfOne(OneQuery, QueryMinMax): ...


class PercentilesOfOne(OneQuery, QueryPercentiles): ...


class RanksOfOne(OneQuery, ReciprocalRanks): ...


COMPARED = {"check_methods_subset_invariance": PART}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("transformer", "expected_to_fail"),
    [
        (Thresholds(), {}),
        (Thresholds(spacing="even"), {}),
        (FillMissing(0.0), {}),
        (FillingOne(), {}),
        (MinMaxOfOne(), COMPARED),
        (PercentilesOfOne(), COMPARED),
        (RanksOfOne(), COMPARED),
    ],
    ids=["quantile", "even", "fill-0", "fill-min", "min-max", "percentiles", "reciprocal-ranks"],
)
def test_checks(transformer: Any, expected_to_fail: Any) -> None:
    rows = check_estimator(transformer, expected_failed_checks=expected_to_fail, on_fail=None, on_skip=None)
    failed = {row["check_name"]: row["exception"] for row in rows if row["status"] == "failed"}
    assert not failed
    assert {row["check_name"] for row in rows if row["status"] == "xfail"} == set(expected_to_fail)
