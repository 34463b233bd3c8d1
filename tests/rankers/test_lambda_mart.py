import sys

import numpy as np
import pytest
import scipy.sparse as sp

import structsvm
from structsvm.exceptions import InputError, NotInstalledError
from structsvm.features import Thresholds
from structsvm.foundation.arrays import contents
from structsvm.models.export import export
from structsvm.rankers import LambdaMART, refit

lightgbm = pytest.importorskip("lightgbm")

ONE_THREAD = {"num_threads": 1}


def queries(seed=0, n=20, size=15):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n * size, 4))
    y = np.digitize(np.abs(X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=n * size), [1.0, 2.0]).astype(float)
    return X, y, np.repeat(np.arange(n), size)


def in_own_order(X, y, qid):
    """Return the rows in the order in which LambdaMART passes them to LightGBM."""
    order = np.lexsort((y, contents(X), qid))
    return X[order], y[order], qid[order]


def ranker(**settings):
    return LambdaMART(**{"n_estimators": 20, "params": ONE_THREAD, "random_state": 0} | settings)


def test_the_trees_are_those_of_lightgbm():
    X, y, qid = queries()
    y[qid == 4] = 1.0
    X, y, qid = in_own_order(X, y, qid)
    ours = ranker(learning_rate=0.2, num_leaves=5, min_child_samples=7).fit(X, y, qid)
    assert (ours.n_examples_, ours.n_left_out_, ours.best_iteration_) == (19, 1, 20)
    theirs = lightgbm.LGBMRanker(
        n_estimators=20, learning_rate=0.2, num_leaves=5, min_child_samples=7, n_jobs=1, verbosity=-1
    ).fit(X, y.astype(int), group=[15] * 20)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-12)
    assert ours.score(X, y, qid) > 0.95
    assert np.ptp(ours.predict(X)) > 0.5


def test_missing_features_are_those_of_lightgbm():
    X, y, qid = queries()
    X[np.random.default_rng(1).random(X.shape) < 0.3] = np.nan
    X, y, qid = in_own_order(X, y, qid)
    ours = ranker(min_child_samples=5).fit(X, y, qid, validation=(X, y, qid))
    theirs = lightgbm.LGBMRanker(n_estimators=ours.best_iteration_, min_child_samples=5, n_jobs=1, verbosity=-1)
    theirs.fit(X, y.astype(int), group=[15] * 20)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-12)
    *_, last = ours.staged_predict(X)
    np.testing.assert_allclose(last, ours.predict(X), rtol=1e-12)
    filled = ranker(min_child_samples=5).fit(np.nan_to_num(X), y, qid)
    assert ours.score(X, y, qid) > filled.score(np.nan_to_num(X), y, qid)
    sparse = sp.csr_array(X)
    np.testing.assert_allclose(ours.predict(sparse), ours.predict(X), rtol=1e-12)
    ours.fit(sparse, y, qid)
    with pytest.raises(InputError, match="infinity"):
        ours.predict(np.where(np.isnan(X), np.inf, X))


def test_a_query_of_no_weight_is_not_learned_from():
    X, y, qid = queries()
    weight = np.where(qid < 10, 2.0, 0.0)
    mean = (
        ranker(min_child_samples=1)
        .fit(X, y, qid, sample_weight=np.ones(len(y)))
        .score(X[qid < 10], y[qid < 10], qid[qid < 10])
    )
    weighted = ranker(min_child_samples=1).fit(X, y, qid, sample_weight=weight)
    assert weighted.score(X[qid < 10], y[qid < 10], qid[qid < 10]) >= mean
    y[qid >= 10] = y[qid >= 10][::-1]
    np.testing.assert_allclose(
        ranker(min_child_samples=1).fit(X, y, qid, sample_weight=weight).predict(X), weighted.predict(X)
    )


def test_lightgbm_and_refit_use_the_best_number_of_trees(tmp_path):
    X, y, qid = queries(n=8)
    fitted = ranker(n_estimators=60, measure="ndcg@3").fit(X, y, qid, validation=queries(1, n=8))
    best = fitted.best_iteration_
    assert fitted.booster_.num_trees() == 60 > best
    fitted.save(tmp_path / "m.npz")
    for booster in (fitted.booster_, structsvm.load(tmp_path / "m.npz").booster):
        np.testing.assert_allclose(booster.predict(X), fitted.predict(X), rtol=1e-12)
        booster.save_model(tmp_path / "m.txt")
        assert lightgbm.Booster(model_file=tmp_path / "m.txt").num_trees() == best
    assert refit(fitted, X, y, qid, loss="ndcg").num_trees() == best
    export(fitted, tmp_path / "m.txt", "lightgbm")
    exported = lightgbm.Booster(model_file=tmp_path / "m.txt")
    assert exported.num_trees() == best
    np.testing.assert_allclose(exported.predict(X), fitted.predict(X), rtol=1e-12)


def test_a_split_of_missing_from_all_other_features_is_saved(tmp_path):
    X, y, qid = queries()
    X[y > 0, 0] = np.nan
    ours = ranker(min_child_samples=5).fit(X, y, qid)
    assert "inf" in ours.model_.text.partition("end of trees")[0]
    ours.save(tmp_path / "m.npz")
    np.testing.assert_array_equal(structsvm.load(tmp_path / "m.npz").predict(X), ours.predict(X))


def test_sparse_binned_and_single_precision_features():
    X, y, qid = queries()
    scores = ranker().fit(X, y, qid).predict(X)
    np.testing.assert_allclose(ranker().fit(sp.csr_array(X), y, qid).predict(sp.csr_array(X)), scores)
    np.testing.assert_allclose(ranker().fit(X.tolist(), y.tolist(), qid.tolist()).predict(X.tolist()), scores)
    X32 = X.astype(np.float32)
    np.testing.assert_allclose(
        ranker().fit(X32, y, qid).predict(X32), ranker().fit(X32.astype(float), y, qid).predict(X32)
    )
    binned = Thresholds(bins=10).fit_transform(X)
    np.testing.assert_allclose(
        ranker().fit(binned, y, qid).predict(binned), ranker().fit(binned.toarray(), y, qid).predict(binned.toarray())
    )


def test_it_says_when_there_is_no_split():
    X, y, qid = queries(n=2)
    with pytest.warns(UserWarning, match="no tree has a split.* 30 rows may be too few for min_child_samples=20"):
        fitted = ranker().fit(X, y, qid, validation=(X, y, qid))
    assert np.ptp(fitted.predict(X)) == 0.0
    assert fitted.best_iteration_ == 1


@pytest.mark.parametrize("gains", [None, [0, 1], "0,1", np.arange(2.0)])
def test_labels_without_a_gain_are_refused_before_lightgbm_prints(capfd, gains):
    X, y, qid = queries()
    largest = 40 if gains is None else 2
    params = ONE_THREAD | ({} if gains is None else {"label_gain": gains})
    message = f"a label is {largest}: pass a gain .* params={{'label_gain': list.range.{largest + 1}..}}"
    with pytest.raises(InputError, match=message):
        ranker(params=params).fit(X, largest / 2 * y, qid)
    assert capfd.readouterr() == ("", "")
    fitted = ranker(params=ONE_THREAD | {"label_gain": list(range(largest + 1))}).fit(X, largest / 2 * y, qid)
    assert fitted.score(X, y, qid) > 0.9


def test_nothing_is_printed(capfd):
    X, y, qid = queries()
    ranker(params=None).fit(X, y, qid, validation=queries(1))
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            OSError("libgomp.so.1: cannot open"),
            r"LightGBM, .* cannot be loaded \(libgomp.so.1: cannot open\). .*libgomp1",
        ),
        (ImportError("a symbol is missing"), r"installed but cannot be loaded \(a symbol is missing"),
        (ModuleNotFoundError("No module named 'narwhals'", name="narwhals"), r"pip install 'structural-svm.lambdamart"),
    ],
)
def test_lightgbm_that_cannot_be_loaded(monkeypatch, error, message):
    class Finder:
        def find_spec(self, name, path=None, target=None):
            if name == "lightgbm":
                raise error

    monkeypatch.delitem(sys.modules, "lightgbm")
    monkeypatch.setattr(sys, "meta_path", [Finder(), *sys.meta_path])
    with pytest.raises(NotInstalledError, match=message):
        ranker().fit(*queries())


def test_data_that_cannot_be_learned_from():
    X, y, qid = queries()
    for wrong in (-y, y / 2.0):
        with pytest.raises(InputError, match=r"whole numbers of at least 0, but \d+ of 300 labels are not, such as"):
            ranker().fit(X, wrong, qid)


OURS = {
    "objective": "always 'lambdarank'",
    "metric": "the parameter measure, on validation",
    "num_iterations": "the parameter n_estimators",
    "early_stopping_round": "the parameter n_iter_no_change",
    "learning_rate": "the parameter learning_rate",
    "num_leaves": "the parameter num_leaves",
    "min_data_in_leaf": "the parameter min_child_samples",
    "seed": "the parameter random_state",
}


@pytest.mark.parametrize("canonical", OURS)
def test_parameters_of_its_own_are_refused_by_every_name(canonical):
    names = lightgbm.basic._ConfigAliases.get(canonical)
    assert len(names) > 2
    for name in names:
        with pytest.raises(InputError, match=f"must not have '{name}': that is {OURS[canonical]}"):
            ranker(params={"num_threads": 1, name: 3}).fit(*queries())


@pytest.mark.parametrize("name", ["boosting", "boosting_type", "boost"])
def test_trees_that_change_later_take_no_validation(name):
    X, y, qid = queries()
    dart = ranker(params=ONE_THREAD | {name: "dart"})
    with pytest.raises(InputError, match="'dart'}.* takes no validation: earlier trees are scaled anew"):
        dart.fit(X, y, qid, validation=queries(1))
    assert dart.fit(X, y, qid).best_iteration_ == 20
    assert dart.score(X, y, qid) > 0.9
