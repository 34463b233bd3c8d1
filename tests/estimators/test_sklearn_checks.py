"""scikit-learn's own checks of an estimator."""

import pytest
from sklearn.utils.estimator_checks import check_estimator

from structsvm import Ranker, RankerCV, StructuralSVM, StructuralSVMCV

ONE_KIND = "the check's labels are all above 0, so no document is non-relevant: an error that we want"
ONE_WEIGHT = "the check gives the rows of one query different weights; a query is one example"
ONE_EXAMPLE = "the message names folds and examples, in words that the check does not know"
MEAN_HINGE = "C/n counts examples, not their weights: repeating an example changes n"

RANKS_QUERIES = {
    "check_estimators_dtypes": ONE_KIND,
    "check_fit2d_1feature": ONE_KIND,
    "check_sample_weights_pandas_series": ONE_KIND,
    "check_sample_weights_not_an_array": ONE_KIND,
    "check_sample_weights_shape": ONE_KIND,
    "check_sample_weights_not_overwritten": ONE_KIND,
    "check_sample_weight_equivalence_on_dense_data": ONE_WEIGHT,
    "check_sample_weight_equivalence_on_sparse_data": ONE_WEIGHT,
}
LEARNS_ROWS = {
    "check_sample_weight_equivalence_on_dense_data": MEAN_HINGE,
    "check_sample_weight_equivalence_on_sparse_data": MEAN_HINGE,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("estimator", "expected_to_fail"),
    [
        (Ranker(), RANKS_QUERIES),
        (Ranker("zero_one"), LEARNS_ROWS),
        (RankerCV("ranker(loss=zero_one,tol=0.1)", [0.1, 1.0], cv=2), LEARNS_ROWS),
        (StructuralSVM(), LEARNS_ROWS),
        (StructuralSVMCV(StructuralSVM(tol=0.1), [0.1, 1.0], cv=2), {"check_fit2d_1sample": ONE_EXAMPLE}),
    ],
    ids=["Ranker", "Ranker-zero_one", "RankerCV", "StructuralSVM", "StructuralSVMCV"],
)
def test_checks(estimator, expected_to_fail):
    rows = check_estimator(estimator, expected_failed_checks=expected_to_fail, on_fail=None, on_skip=None)
    failed = {row["check_name"]: row["exception"] for row in rows if row["status"] == "failed"}
    assert not failed
    xfailed = {row["check_name"] for row in rows if row["status"] == "xfail"}
    assert xfailed == set(expected_to_fail)
