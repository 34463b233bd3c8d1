"""scikit-learn's own checks of the rankers."""

import pytest
from sklearn.utils.estimator_checks import check_estimator

from structsvm.rankers import LambdaMART, MaximumEntropy, RankBoost, RankNet, RankSVM, TreeRanker, WeightSearch

ONE_KIND = dict.fromkeys(
    [
        "check_estimators_dtypes",
        "check_fit2d_1feature",
        "check_sample_weights_pandas_series",
        "check_sample_weights_not_an_array",
        "check_sample_weights_shape",
        "check_sample_weights_not_overwritten",
    ],
    "the check's labels are all above 0, so no document is non-relevant: an error that we want",
)
ONE_WEIGHT = "the check gives the rows of one query different weights; a query is one example"
DENSE = dict.fromkeys(
    ["check_sample_weights_not_overwritten", "check_sample_weight_equivalence_on_dense_data"], ONE_WEIGHT
)
SPARSE = DENSE | {"check_sample_weight_equivalence_on_sparse_data": ONE_WEIGHT}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("estimator", "expected_to_fail"),
    [
        (RankBoost(20), DENSE),
        (RankNet(max_iter=5), DENSE),
        (RankNet(0, max_iter=5), DENSE),
        (MaximumEntropy(), ONE_KIND),
        (RankSVM(objective="pairs"), SPARSE),
        (RankSVM(objective="queries"), SPARSE),
        (WeightSearch(), SPARSE | ONE_KIND),
        (WeightSearch("random", incremental=True, fix_first=True), SPARSE | ONE_KIND),
        (LambdaMART(n_estimators=10, min_child_samples=2), SPARSE),
        (
            TreeRanker(n_estimators=10, min_child_samples=2, trees="scikit-learn", random_state=0),
            SPARSE | ONE_KIND | {"check_estimators_pickle": "boosted trees of scikit-learn do not split by NaN"},
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_checks(estimator, expected_to_fail):
    if isinstance(estimator, LambdaMART):
        pytest.importorskip("lightgbm")
    rows = check_estimator(estimator, expected_failed_checks=expected_to_fail, on_fail=None, on_skip=None)
    failed = {row["check_name"]: row["exception"] for row in rows if row["status"] == "failed"}
    assert not failed
    xfailed = {row["check_name"] for row in rows if row["status"] == "xfail"}
    assert xfailed == set(expected_to_fail)
