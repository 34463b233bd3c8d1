"""TreeRanker: the certified optimum over the leaves of given trees, with weights of features beside them."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.ensemble import RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor

from structsvm import RankerCV
from structsvm.exceptions import InputError, ModelFileError
from structsvm.foundation.storage.files import read_archive, write_archive
from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.models.base import read_model
from structsvm.problem import Problem
from structsvm.rankers import TreeRanker, tree_ranker
from structsvm.rankers.tree_ranker import CS
from structsvm.training.choose import group_folds
from tests.small_problems import listed, ranking_arrays


def products(seed: int = 0, queries: int = 30) -> tuple[Matrix, Vector, IntVector]:
    """Queries of 20 documents, relevant if a product of two features is large."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20 * queries, 4))
    return X, (X[:, 0] * X[:, 1] > 1.0).astype(float), np.repeat(np.arange(queries), 20)


def ranker(**settings: Any) -> TreeRanker:
    return TreeRanker(**{"C": 30.0, "n_estimators": 20, "trees": "scikit-learn", "random_state": 0} | settings)


def expanded(model: Any, X: Matrix) -> Matrix:
    """Return the indicators of all leaves, and the normalized features."""
    leaves = model.trees.leaves(X) + model.trees.offsets[:-1]
    out = np.zeros((len(X), len(model.values)))
    np.put_along_axis(out, leaves, 1.0, axis=1)
    rows = [] if model.linear is None else [X if model.linear.scaling is None else model.linear.scaling.rows(X, None)]
    return np.hstack([out, *rows])


def require_optimum(fitted: TreeRanker, X: Matrix, y: Vector, qid: IntVector, tol: float) -> None:
    """Require the bounds of an independent solver, whose columns are divided by the roots of their penalties."""
    model, result = fitted.model_, fitted.result_
    rows = expanded(model, X)
    sizes = len(model.values), rows.shape[1] - len(model.values)
    root = np.sqrt(np.repeat([len(model.trees.splits) - 1.0, X.shape[1]], sizes))
    problem = listed(Problem.from_queries(rows / root, y, qid, loss=fitted.loss, C=fitted.C))
    optimum = problem.optimum()
    slack = 1e-7 * max(1.0, optimum)
    assert result.dual - slack <= optimum <= result.primal + slack
    assert result.primal - result.dual <= tol * fitted.C + slack
    np.testing.assert_allclose(problem.primal(result.w * root), result.primal, rtol=1e-9)
    np.testing.assert_allclose(fitted.predict(X), rows @ result.w, rtol=0, atol=1e-10)
    np.testing.assert_array_equal(fitted.coef_, result.w[sizes[0] :] if fitted.features else 0.0)


@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 200))])
def test_both_bounds_hold_the_optimum_of_an_independent_solver(seed: int) -> None:
    X, y, qid = ranking_arrays(seed)
    rng = np.random.default_rng(seed)
    loss = ["map", "roc_area"][seed % 2]
    given = ranker(
        loss=loss,
        C=10.0 ** rng.uniform(-1, 2),
        n_estimators=int(rng.integers(1, 4)),
        num_leaves=3,
        min_child_samples=1,
        features=bool(seed % 3),
        normalize=[None, "standard"][seed % 2],
        tol=1e-6,
        random_state=seed,
    )
    require_optimum(given.fit(X, y, qid), X, y, qid, 1e-6)


def test_a_loss_of_rows_takes_each_row_as_an_example() -> None:
    X, y, qid = products(queries=5)
    given = ranker(loss="zero_one", n_estimators=2, num_leaves=3, tol=1e-4)
    require_optimum(given.fit(X, y, qid), X, y, qid, 1e-4)
    assert given.n_examples_ == len(y)


@pytest.mark.parametrize(("measure", "loss"), [(None, None), ("ndcg@10", None), ("p@5", "roc_area")])
def test_fit_chooses_c_and_the_loss_on_a_quarter_of_the_queries(measure: Any, loss: Any, tmp_path: Any) -> None:
    X, y, qid = products()
    fitted = ranker(C=None, loss=loss, measure=measure, n_estimators=5).fit(X, y, qid)
    usable = np.isin(qid, [query for query in np.unique(qid) if y[qid == query].any()])
    split = group_folds(qid[usable], usable.sum(), 4, np.random.RandomState(0), "queries")[0]
    searches = [
        RankerCV(ranker(loss=name, tol=1e-4, n_estimators=5), CS, cv=[split], scoring=measure or "map")
        for name in (("map", "ndcg") if measure == "ndcg@10" else (loss or "map",))
    ]
    best = max(searches, key=lambda search: search.fit(X[usable], y[usable], qid[usable]).best_score_)
    choice = f"C = {best.C_:g} of 8 values from 1 to 3000: {measure or 'map'} {best.best_score_:.4f} on"
    assert (fitted.result_.C, choice in fitted.trained_.choice) == (best.C_, True)
    again = ranker(C=best.C_, loss=best.estimator.loss, n_estimators=5).fit(X, y, qid)
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    fitted.save(tmp_path / "m.npz")
    loaded = TreeRanker.load(tmp_path / "m.npz")
    assert (loaded.C, loaded.loss, loaded.trained_.choice) == (None, loss, fitted.trained_.choice)


def test_few_queries_and_given_ensembles_have_a_default_c() -> None:
    X, y, qid = products()
    few, forest = qid < 19, RandomForestRegressor(3, max_leaf_nodes=5, random_state=0).fit(X, y)
    for fitted in (ranker(C=None).fit(X[few], y[few], qid[few]), ranker(C=None, trees=forest).fit(X, y, qid)):
        assert (fitted.result_.C, fitted.trained_.choice) == (100.0, None)


def test_a_forest_of_equal_trees_ranks_like_one_tree_at_the_same_c() -> None:
    X, y, qid = products()
    one = DecisionTreeRegressor(max_leaf_nodes=5, random_state=0).fit(X, y)
    forest = RandomForestRegressor(4, max_leaf_nodes=5, bootstrap=False, random_state=0).fit(X, y)
    forest.estimators_ = [one] * 4
    single, several = (ranker(trees=trees, C=3.0).fit(X, y, qid) for trees in (one, forest))
    np.testing.assert_allclose(several.predict(X), single.predict(X), atol=1e-2)
    assert abs(several.result_.primal - single.result_.primal) <= 2e-6 * 3.0


def test_a_path_grows_the_trees_once(monkeypatch: pytest.MonkeyPatch) -> None:
    grown = []
    grow = tree_ranker._grow

    def counted(*arguments: Any) -> Any:
        grown.append(1)
        return grow(*arguments)

    monkeypatch.setattr(tree_ranker, "_grow", counted)
    result = ranker().path(*products(), Cs=[1.0, 10.0, 100.0])
    assert len(grown) == 1
    assert [each.C for each in result] == [1.0, 10.0, 100.0]
    assert result[0].model_.trees is result[2].model_.trees
    assert result[0].result_.primal < result[2].result_.primal


def test_a_clone_keeps_the_trees_it_was_given() -> None:
    X, y, qid = products()
    forest = RandomForestRegressor(3, max_leaf_nodes=5, random_state=0).fit(X, y)
    search = RankerCV(ranker(trees=forest), Cs=[1.0, 10.0], cv=2).fit(X, y, qid)
    assert search.estimator_.trees is forest
    assert len(search.estimator_.model_.trees.splits) == 4


def test_missing_features_take_the_side_that_the_trees_learned() -> None:
    X, y, qid = products()
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    with pytest.raises(InputError, match="missing features .NaN., which trees='scikit-learn' does not split by"):
        ranker().fit(X, y, qid)
    forest = RandomForestRegressor(10, max_leaf_nodes=8, random_state=0).fit(X, y)
    fitted = ranker(trees=forest).fit(X, y, qid)
    assert np.isfinite(fitted.predict(X)).all()
    assert fitted.score(X, y, qid) > ranker(trees=forest).fit(np.nan_to_num(X), y, qid).score(X, y, qid) - 0.1


@pytest.mark.slow
def test_sparse_features_are_those_of_dense_ones() -> None:
    X, y, qid = products()
    X[np.abs(X) < 0.7] = 0.0
    dense, sparse = (ranker(normalize=None).fit(form(X), y, qid) for form in (np.asarray, sp.csr_array))
    np.testing.assert_array_equal(sparse.model_.trees.threshold, dense.model_.trees.threshold)
    assert abs(sparse.result_.primal - dense.result_.primal) <= 1e-3 * dense.C
    np.testing.assert_allclose(dense.predict(sp.csr_array(X)), dense.predict(X), atol=1e-12)


def test_scores_follow_features_with_a_constraint() -> None:
    X, y, qid = products()
    y = ((X[:, 0] * X[:, 1] + X[:, 2]) > 1.5).astype(float)
    for sign in (1, -1):
        fitted = ranker(monotonic_cst=[0, 0, sign, 0]).fit(X, y, qid)
        assert 2 not in fitted.model_.trees.feature
        assert sign * fitted.coef_[2] >= 0.0
        at_zero = fitted.coef_[2] == 0.0
        assert fitted.model_.limits() == [None, None, ("low" if sign > 0 else "high") if at_zero else None, None]
        rows = {row["feature"]: row for row in fitted.model_.parts().rows}
        # Trees do not split by this feature, and its weight is shown.
        assert (2 in rows) != at_zero
        assert all(row["weight"] == fitted.coef_[k] for k, row in rows.items())
    forest = RandomForestRegressor(5, max_leaf_nodes=6, random_state=0).fit(X, y)
    with pytest.raises(InputError, match="splits by feature 2, which has a constraint in monotonic_cst"):
        ranker(trees=forest, monotonic_cst=[0, 0, 1, 0]).fit(X, y, qid)


def test_contributions_add_up_to_the_score() -> None:
    X, y, qid = products()
    for settings in ({}, {"features": False}, {"normalize": "query-z-score"}):
        model = ranker(**settings).fit(X, y, qid).model_
        explained = model.explain(X, qid)
        scores = model.predict(X, qid)
        np.testing.assert_allclose(explained.base + explained.contributions.sum(axis=1), scores, rtol=0, atol=1e-12)
    assert {row["feature"] for row in model.parts().rows[:2]} == {0, 1}


def test_a_loaded_ranker_names_the_ensemble_it_was_given(tmp_path: Any) -> None:
    X, y, qid = products()
    forest = RandomForestRegressor(2, max_leaf_nodes=5, random_state=0).fit(X, y)
    fitted = ranker(trees=forest).fit(X, y, qid)
    fitted.save(tmp_path / "m.npz")
    loaded = TreeRanker.load(tmp_path / "m.npz")
    np.testing.assert_array_equal(loaded.predict(X), fitted.predict(X))
    with pytest.raises(InputError, match=r"set_params\(trees=RandomForestRegressor\(...\)\) first"):
        loaded.fit(X, y, qid)


def spoilt(name: str, change: Any) -> Any:
    return lambda arrays: arrays.update({name: change(arrays[name].copy())})


def at(place: int, value: Any) -> Any:
    return lambda array: np.where(np.arange(len(array)) == place % len(array), value, array).astype(array.dtype)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (spoilt("splits", at(0, 1)), "'splits' must begin with 0"),
        (spoilt("splits", at(-1, 10**6)), "'splits' must begin with 0"),
        (spoilt("split_feature", at(0, 4)), "'split_feature' must be from 0 to 3"),
        (spoilt("split_feature", at(0, -1)), "'split_feature' must be from 0 to 3"),
        (spoilt("left", at(0, 0)), "the splits of tree 0 do not make a tree"),
        (spoilt("right", at(0, -1000)), "the splits of tree 0 do not make a tree"),
        (spoilt("threshold", at(0, np.nan)), "'threshold' must be finite"),
        (spoilt("decision", at(0, 3)), "'decision' must be 0, 2, 4, 6, 8 or 10"),
        (spoilt("values", lambda array: array[1:]), "'values' must be float64 of shape"),
        (spoilt("counts", at(0, -1)), "'counts' must be numbers of rows"),
    ],
)
def test_damaged_trees_are_refused(tmp_path: Any, edit: Any, message: str) -> None:
    arrays = ranker(n_estimators=2).fit(*products()).model_.arrays()
    edit(arrays)
    write_archive(tmp_path / "m.npz", arrays)
    with pytest.raises(ModelFileError, match=message):
        read_archive(tmp_path / "m.npz", read_model)
