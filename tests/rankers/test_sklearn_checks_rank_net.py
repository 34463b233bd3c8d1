"""scikit-learn's own checks of RankNet, the maximum entropy model and LambdaMART."""

import pytest
from sklearn.utils.estimator_checks import check_estimator

from structsvm.rankers import LambdaMART, MaximumEntropy, RankNet

ONE_KIND = "the check's labels are all above 0, so no document is non-relevant: an error that we want"
ONE_WEIGHT = "the check gives the rows of one query different weights; a query is one example"

NETWORK = dict.fromkeys(
    ["check_sample_weight_equivalence_on_dense_data", "check_sample_weights_not_overwritten"], ONE_WEIGHT
)
RELEVANCE = {
    "check_estimators_dtypes": ONE_KIND,
    "check_fit2d_1feature": ONE_KIND,
    "check_sample_weights_pandas_series": ONE_KIND,
    "check_sample_weights_not_an_array": ONE_KIND,
    "check_sample_weights_shape": ONE_KIND,
    "check_sample_weights_not_overwritten": ONE_KIND,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("estimator", "expected_to_fail"),
    [(RankNet(epochs=5), NETWORK), (RankNet(0, epochs=5), NETWORK), (MaximumEntropy(), RELEVANCE)],
    ids=["RankNet", "RankNet-linear", "MaximumEntropy"],
)
def test_checks(estimator, expected_to_fail):
    check(estimator, expected_to_fail)


@pytest.mark.filterwarnings("ignore")
def test_checks_of_trees():
    pytest.importorskip("lightgbm")
    weights = dict.fromkeys(
        [
            "check_sample_weight_equivalence_on_dense_data",
            "check_sample_weight_equivalence_on_sparse_data",
            "check_sample_weights_not_overwritten",
        ],
        ONE_WEIGHT,
    )
    check(LambdaMART(n_estimators=10, min_child_samples=2), weights)


def check(estimator, expected_to_fail):
    rows = check_estimator(estimator, expected_failed_checks=expected_to_fail, on_fail=None, on_skip=None)
    failed = {row["check_name"]: row["exception"] for row in rows if row["status"] == "failed"}
    assert not failed
    xfailed = {row["check_name"] for row in rows if row["status"] == "xfail"}
    assert xfailed == set(expected_to_fail)
