import numpy as np
import pytest

from structsvm.exceptions import InputError
from structsvm.metrics import AP
from structsvm.objectives import XGBoostHinge, XGBoostMeasure
from tests.objectives.product_of_two import product_of_two
from tests.small_problems import hinge

xgboost = pytest.importorskip("xgboost")

SETTINGS = {"nthread": 1, "base_score": 0.0, "disable_default_eval_metric": 1, "lambda": 0.0, "min_child_weight": 0.0}


def test_a_leaf_is_the_mean_step_of_its_documents():
    X, y, qid = product_of_two()
    data = xgboost.DMatrix(X, y, qid=qid)
    settings = {**SETTINGS, "eta": 0.5, "max_depth": 2}
    booster = xgboost.train(settings, data, num_boost_round=2, obj=XGBoostHinge("map"))
    before = np.zeros(len(y))
    for tree in (1, 2):
        leaf = booster.predict(data, pred_leaf=True, iteration_range=(0, tree))
        leaf = leaf.reshape(len(y), tree)[:, -1].astype(int)
        gradient = hinge("map", before, y, qid).gradient
        after = before - 0.5 * (np.bincount(leaf, gradient) / np.maximum(np.bincount(leaf), 1))[leaf]
        np.testing.assert_allclose(booster.predict(data, iteration_range=(0, tree)), after, atol=1e-5)
        before = after


def test_trees_learn_what_no_linear_ranker_can():
    X, y, qid = product_of_two()
    new_X, new_y, new_qid = product_of_two(seed=1)
    new, seen = xgboost.DMatrix(new_X, new_y, qid=new_qid), {}
    booster = xgboost.train(
        SETTINGS,
        xgboost.DMatrix(X, y, qid=qid),
        num_boost_round=30,
        obj=XGBoostHinge("map"),
        custom_metric=XGBoostMeasure("map"),
        evals=[(new, "new")],
        evals_result=seen,
        verbose_eval=False,
    )
    value = AP().mean(booster.predict(new), new_y, new_qid)
    assert value > 0.8
    assert seen["new"]["map"][-1] == pytest.approx(value)


def test_weights_are_those_of_queries():
    y, scores = np.array([1.0, 0.0, 0.0, 1.0]), np.array([0.1, 0.2, 0.3, 0.4])
    data = xgboost.DMatrix(np.zeros((4, 1)), y, qid=[0, 0, 1, 1])
    gradient, hessian = XGBoostHinge("map")(scores, data)
    np.testing.assert_array_equal(gradient, hinge("map", scores, y, [0, 0, 1, 1]).gradient)
    data.set_weight([3.0, 1.0])
    weighted = XGBoostHinge("map")(scores, data)
    np.testing.assert_array_equal(weighted[0], gradient * [3, 3, 1, 1])
    np.testing.assert_array_equal(weighted[1], hessian * [3, 3, 1, 1])


def test_a_matrix_without_queries_is_refused():
    data = xgboost.DMatrix(np.zeros((2, 1)), [1.0, 0.0])
    with pytest.raises(InputError, match="make it with qid"):
        XGBoostHinge("map")(np.zeros(2), data)
