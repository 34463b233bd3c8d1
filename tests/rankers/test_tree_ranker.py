"""TreeRanker: the certified optimum over the leaves of given trees, with weights of features beside them."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor

import structsvm
from structsvm import RankerCV
from structsvm.exceptions import InputError, ModelFileError
from structsvm.foundation.storage.files import read_archive, write_archive
from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.models.base import read_model
from structsvm.problem import Problem
from structsvm.rankers import TreeRanker, tree_ranker
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
    result = given.fit(X, y, qid).result_
    problem = Problem.from_queries(expanded(given.model_, X), y, qid, loss=loss, C=given.C)
    optimum = listed(problem).optimum()
    slack = 1e-7 * max(1.0, optimum)
    assert result.dual - slack <= optimum <= result.primal + slack
    assert result.primal - result.dual <= 1e-6 * given.C + slack
    np.testing.assert_allclose(listed(problem).primal(result.w), result.primal, rtol=1e-9)


def test_it_learns_what_no_weighted_sum_can() -> None:
    X, y, qid = products()
    held = products(seed=1)
    linear = structsvm.Ranker("map", C=30.0).fit(X, y, qid)
    fitted = ranker(n_estimators=60).fit(X, y, qid)
    assert fitted.score(*held) > 0.75 > 0.5 > linear.score(*held)


def test_features_beside_the_trees_are_weighed() -> None:
    X, y, qid = products()
    both, alone = ranker().fit(X, y, qid), ranker(features=False).fit(X, y, qid)
    assert both.coef_.any()
    assert not alone.coef_.any()
    assert alone.model_.linear is None
    scores = expanded(both.model_, X) @ both.result_.w
    np.testing.assert_allclose(both.predict(X), scores, rtol=0, atol=1e-10)


def test_a_loss_of_rows_takes_each_row_as_an_example() -> None:
    X, y, qid = products(queries=5)
    given = ranker(loss="zero_one", n_estimators=2, num_leaves=3, tol=1e-4)
    result = given.fit(X, y, qid).result_
    problem = Problem.from_queries(expanded(given.model_, X), y, qid, loss="zero_one", C=given.C)
    assert given.n_examples_ == problem.n == len(y)
    np.testing.assert_allclose(listed(problem).primal(result.w), result.primal, rtol=1e-9)


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


def test_weights_of_queries_count() -> None:
    X, y, qid = products()
    some = qid < 15
    forest = GradientBoostingRegressor(n_estimators=5, random_state=0).fit(X, y)
    one = ranker(trees=forest).fit(X[some], y[some], qid[some])
    other = ranker(trees=forest, normalize=None).fit(X, y, qid, sample_weight=some.astype(float))
    assert other.score(X[some], y[some], qid[some]) >= one.score(X[some], y[some], qid[some]) - 0.05


def test_contributions_add_up_to_the_score() -> None:
    X, y, qid = products()
    for settings in ({}, {"features": False}, {"normalize": "query-z-score"}):
        model = ranker(**settings).fit(X, y, qid).model_
        explained = model.explain(X, qid)
        scores = model.predict(X, qid)
        np.testing.assert_allclose(explained.base + explained.contributions.sum(axis=1), scores, rtol=0, atol=1e-12)
    assert {row["feature"] for row in model.parts().rows[:2]} == {0, 1}


def test_lightgbm_grows_trees() -> None:
    pytest.importorskip("lightgbm")
    X, y, qid = products()
    grown = ranker(trees="lightgbm").fit(X, y, qid)
    assert grown.score(X, y, qid) > 0.9
    assert grown.result_.converged


def test_an_ensemble_of_other_features() -> None:
    X, y, qid = products()
    forest = RandomForestRegressor(2, random_state=0).fit(X[:, :3], y)
    with pytest.raises(InputError, match="the ensemble in TreeRanker.trees=.... has 3 features, and X has 4"):
        ranker(trees=forest).fit(X, y, qid)


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
    def edit(arrays: dict[str, Any]) -> None:
        arrays[name] = change(arrays[name].copy())

    return edit


def at(place: int, value: Any) -> Any:
    def put(array: Any) -> Any:
        array[place] = value
        return array

    return put


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
