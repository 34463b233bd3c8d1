import pickle

import numpy as np
import pytest

from structsvm.exceptions import InputError, UnknownNameError
from structsvm.metrics import AP
from structsvm.objectives import LightGBMHinge, LightGBMMeasure
from tests.objectives.product_of_two import product_of_two
from tests.small_problems import hinge

lightgbm = pytest.importorskip("lightgbm")

QUIET = {"num_threads": 1, "verbosity": -1, "metric": "None"}
SIZES = [25] * 40


def test_a_leaf_is_the_mean_step_of_its_documents():
    X, y, qid = product_of_two()
    settings = {"n_estimators": 2, "learning_rate": 0.5, "num_leaves": 4, **QUIET}
    ranker = lightgbm.LGBMRanker(objective=LightGBMHinge("map"), **settings).fit(X, y, group=SIZES)
    before = np.zeros(len(y))
    for tree in (1, 2):
        leaf = ranker.predict(X, pred_leaf=True, num_iteration=tree)[:, -1].astype(int)
        gradient = hinge("map", before, y, qid).gradient
        after = before - 0.5 * (np.bincount(leaf, gradient) / np.bincount(leaf))[leaf]
        np.testing.assert_allclose(ranker.predict(X, num_iteration=tree), after, atol=1e-6)
        before = after


def test_weights_count_as_copies_of_a_query():
    y, scores = np.array([1.0, 0.0, 0.0, 1.0]), np.array([0.1, 0.2, 0.3, 0.4])
    objective = LightGBMHinge("map", hessian=2.0)
    gradient, hessian = objective(y, scores, None, [2, 2])
    np.testing.assert_array_equal(hessian, np.full(4, 2.0))
    twice = objective(y, scores, np.array([3.0, 3.0, 1.0, 1.0]), [2, 2])
    np.testing.assert_array_equal(twice[0], gradient * [3, 3, 1, 1])
    np.testing.assert_array_equal(twice[1], [6.0, 6.0, 2.0, 2.0])


def test_the_metric_is_that_of_validation():
    X, y, _ = product_of_two()
    new_X, new_y, new_qid = product_of_two(seed=1)
    seen = {}
    ranker = lightgbm.LGBMRanker(objective=LightGBMHinge("map"), n_estimators=60, **QUIET)
    ranker.fit(
        X,
        y,
        group=SIZES,
        eval_X=new_X,
        eval_y=new_y,
        eval_group=[SIZES],
        eval_metric=LightGBMMeasure("map"),
        callbacks=[lightgbm.early_stopping(5, verbose=False), lightgbm.record_evaluation(seen)],
    )
    values = seen["valid_0"]["map"]
    assert values[ranker.best_iteration_ - 1] == max(values)
    assert AP().mean(ranker.predict(new_X), new_y, new_qid) == pytest.approx(max(values))


def test_files_of_rankers_have_no_training_data():
    X, y, _ = product_of_two()
    objective = LightGBMHinge("map")
    objective(y, X[:, 0], None, SIZES)
    assert len(pickle.dumps(objective)) < 500
    assert pickle.loads(pickle.dumps(objective)) == objective == LightGBMHinge("map")
    assert LightGBMMeasure(AP()) == LightGBMMeasure()


def test_rows_without_queries_are_refused():
    """As LGBMRegressor hands them over; LGBMRanker wants groups itself."""
    X, y, _ = product_of_two()
    with pytest.raises(InputError, match=r"LightGBM passed no queries.*use LGBMRanker.*group=\[1000\]"):
        lightgbm.LGBMRegressor(objective=LightGBMHinge("map"), **QUIET).fit(X, y)
    with pytest.raises(InputError, match="LightGBM passed no queries"):
        LightGBMMeasure("map")(y, X[:, 0], None, None)


def test_a_loss_of_single_documents_needs_no_queries():
    X, y, _ = product_of_two()
    trees = lightgbm.LGBMRegressor(objective=LightGBMHinge("zero_one"), n_estimators=20, **QUIET).fit(X, y)
    grouped = lightgbm.LGBMRanker(objective=LightGBMHinge("zero_one"), n_estimators=20, **QUIET).fit(X, y, group=SIZES)
    np.testing.assert_array_equal(trees.predict(X), grouped.predict(X))


def test_mistakes_are_told():
    objective = LightGBMHinge()
    with pytest.raises(InputError, match="number of rows of each query, 3 in all"):
        objective([1.0, 0.0, 0.0], np.zeros(3), None, [2, 2])
    with pytest.raises(InputError, match="any of the 1 queries"):
        objective([0.0, 0.0, 0.0], np.zeros(3), None, [3])
    with pytest.raises(UnknownNameError, match="unknown loss 'maps'"):
        LightGBMHinge("maps")
    with pytest.raises(InputError, match="hessian"):
        LightGBMHinge(hessian=0.0)
    with pytest.raises(UnknownNameError, match="unknown measure"):
        LightGBMMeasure("mapp")
    with pytest.raises(InputError, match="3 is not a valid measure"):
        LightGBMMeasure(3)
