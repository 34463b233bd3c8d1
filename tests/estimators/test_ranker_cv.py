import warnings

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold

import structsvm
from structsvm import Ranker, RankerCV
from structsvm.estimators import RampRanker
from structsvm.estimators.ranker_cv import measure_of_loss
from structsvm.exceptions import FeatureScaleWarning, GridEndWarning, InputError, UnknownNameError
from structsvm.losses import NDCGLoss
from structsvm.metrics import AP
from structsvm.rankers import MaximumEntropy, RankBoost, RankSVM
from structsvm.solvers import FrankWolfe, OneSlack
from structsvm.training.choose import group_folds

CS = [0.1, 10.0, 1.0]
pytestmark = pytest.mark.filterwarnings("ignore::structsvm.exceptions.GridEndWarning")


@pytest.fixture
def apart(queries):
    """The first 20 queries, and the rest."""
    X, y, qid = queries
    first = qid < 20
    return (X[first], y[first], qid[first]), (X[~first], y[~first], qid[~first])


@pytest.mark.usefixtures("routing")
def test_agrees_with_a_grid_search(queries):
    X, y, qid = queries
    ranker = Ranker("ndcg@5", tol=1e-8, measure="map")
    search = RankerCV(ranker, CS, cv=GroupKFold(3)).fit(X, y, qid=qid)
    grid = GridSearchCV(ranker, {"C": sorted(CS)}, cv=GroupKFold(3)).fit(X, y, qid=qid, groups=qid)
    expected = np.array([grid.cv_results_[f"split{k}_test_score"] for k in range(3)])
    np.testing.assert_allclose(search.scores_, expected, atol=1e-3)
    assert search.Cs_.tolist() == sorted(CS)
    assert search.C_ == search.estimator_.C == grid.best_params_["C"]
    assert search.best_score_ == search.mean_scores_.max()
    assert (search.gaps_ <= 1e-8).all()
    np.testing.assert_allclose(search.estimator_.coef_, grid.best_estimator_.coef_, atol=1e-4)
    np.testing.assert_allclose(search.predict(X), search.estimator_.predict(X))
    assert search.score(X, y, qid=qid) == search.estimator_.score(X, y, qid=qid)


def test_folds_are_of_whole_queries_and_of_equal_size():
    qid = np.array(list("bacbacdddd"))
    splits = group_folds(qid, 10, 2, np.random.RandomState(0), "queries")
    for train, held in splits:
        assert sorted([*train, *held]) == list(range(10))
        assert not set(qid[train]) & set(qid[held])
        assert len(set(qid[held])) == 2
    order = np.arange(10)[::-1]
    again = group_folds(qid[order], 10, 2, np.random.RandomState(0), "queries")
    assert [set(qid[order][held]) for _, held in again] == [set(qid[held]) for _, held in splits]
    assert [len(held) for _, held in group_folds(None, 7, 3, np.random.RandomState(0), "rows")] == [3, 2, 2]


def test_the_split_depends_on_random_state_alone(queries):
    X, y, qid = queries
    one, same, other = (
        RankerCV(Cs=[1.0], cv=3, random_state=seed).fit(X, y, qid=qid).scores_.ravel().tolist() for seed in (0, 0, 1)
    )
    assert one == same != other


def test_a_number_of_Cs_is_spread_evenly(queries):
    X, y, qid = queries
    search = RankerCV(Cs=6, cv=2, refit=False).fit(X, y, qid=qid)
    np.testing.assert_allclose(search.Cs_, np.logspace(-2, 3, 6))
    assert search.scores_.shape == (2, 6)
    with pytest.raises(NotFittedError):
        search.predict(X)


@pytest.mark.parametrize("ranker", ["rank_svm", MaximumEntropy(), RampRanker(tol=1e-2)])
def test_any_ranker_with_C(queries, ranker):
    X, y, qid = queries
    search = RankerCV(ranker, [0.1, 1.0], cv=2).fit(X, y, qid=qid)
    assert type(search.estimator_).__name__ in ("RankSVM", "MaximumEntropy", "RampRanker")
    certified = isinstance(search.estimator_, RankSVM)
    assert np.isfinite(search.gaps_).all() == certified
    if certified:
        assert (search.gaps_ <= 1e-3).all()


def test_scores_of_single_queries_are_pooled_over_folds(queries):
    X, y, qid = queries
    splits = list(GroupKFold(3).split(X, y, groups=qid))
    search = RankerCV(Cs=[0.1, 1.0], cv=splits, scoring="ndcg@3").fit(X, y, qid=qid)
    pooled, ndcg = [], structsvm.metrics.NDCG(3)
    for train, held in splits:
        path = Ranker().path(X[train], y[train], qid[train], Cs=[0.1, 1.0])
        pooled.append([ndcg.per_query(each.predict(X[held]), y[held], qid[held]).values for each in path])
    assert search.scores_by_query_ == pytest.approx(np.hstack(pooled))
    assert search.scores_by_query_.shape == (2, len(np.unique(qid)))
    twice = RankerCV(Cs=[0.1, 1.0], cv=[*splits, *splits], scoring="ndcg@3").fit(X, y, qid=qid)
    np.testing.assert_allclose(twice.intervals_, search.intervals_)
    for settings, given in (({"scoring": lambda *_: 0.5}, {}), ({}, {"sample_weight": np.ones(len(y))})):
        search = RankerCV(Cs=[0.1, 1.0], cv=splits, **settings).fit(X, y, qid=qid, **given)
        assert search.scores_by_query_ is search.intervals_ is None


def test_validation_queries_choose_among_rankers_of_all_queries(apart):
    (X, y, qid), held = apart
    search = RankerCV(Cs=CS, scoring=["p@3", "map"]).fit(X, y, qid=qid, validation=held)
    path = Ranker().path(X, y, qid, Cs=sorted(CS))
    for name, scores in search.scores_by_name_.items():
        expected = [each.set_params(measure=name).score(*held) for each in path]
        assert scores.tolist() == [expected]
    assert search.scores_ is search.scores_by_name_["p@3"]
    assert (search.estimator_.coef_ == path[int(np.argmax(search.scores_))].coef_).all()
    assert search.estimator_.trained_.choice == (
        f"C = {search.C_:g} of 3 values from 0.1 to 10: p@3 {search.best_score_:.4f} on 10 validation queries"
    )
    with pytest.raises(InputError, match="validation cannot be used: X has 2 features, but RankerCV is expecting 6"):
        RankerCV().fit(X, y, qid=qid, validation=(held[0][:, :2], *held[1:]))
    with pytest.raises(InputError, match="validation needs it too"):
        RankerCV().fit(X, y, qid=qid, validation=held[:2])


def test_the_model_says_how_C_was_chosen(queries, tmp_path):
    X, y, qid = queries
    search = RankerCV(Cs=CS, cv=2).fit(X, y, qid=qid)
    search.save(tmp_path / "m.npz")
    loaded = structsvm.load(tmp_path / "m.npz")
    np.testing.assert_array_equal(loaded.predict(X), search.predict(X))
    first, second = search.scores_[:, search.Cs_ == search.C_].ravel()
    assert Ranker.load(tmp_path / "m.npz").trained_.choice == (
        f"C = {search.C_:g} of 3 values from 0.1 to 10: map {search.best_score_:.4f} over 2 folds, seed 0 "
        f"({first:.4f}, {second:.4f})"
    )
    assert search.model_ is search.estimator_.model_


@pytest.mark.parametrize(
    ("ranker", "name"),
    [
        (Ranker("ndcg@5(truncated=true)"), "ndcg@5"),
        (Ranker(NDCGLoss(k=3)), "ndcg@3"),
        (Ranker("ndcg(gain=linear)"), "ndcg(gain=linear)"),
        (Ranker("roc_area"), "roc_area"),
        (Ranker("p@5", measure="mrr"), "mrr"),
        (Ranker("zero_one"), "map"),
        (RankSVM(), "map"),
    ],
)
def test_the_default_measure_of_the_choice_belongs_to_the_loss(ranker, name):
    assert str(measure_of_loss(ranker)) == name


@pytest.mark.slow
@pytest.mark.usefixtures("routing")
def test_scorers_of_scikit_learn(queries):
    X, y, qid = queries
    by_query = make_scorer(lambda y, scores, qid: AP().mean(scores, y, qid)).set_score_request(qid=True)
    named = RankerCV(Cs=CS, cv=2, scoring="map").fit(X, y, qid=qid)
    made = RankerCV(Cs=CS, cv=2, scoring=by_query).fit(X, y, qid=qid)
    np.testing.assert_allclose(made.scores_, named.scores_)
    assert made.score(X, y, qid=qid) == pytest.approx(named.score(X, y, qid=qid))

    def smallest_C(ranker, X, y):
        return -ranker.C

    assert RankerCV(Cs=CS, cv=2, scoring=smallest_C).fit(X, y, qid=qid).C_ == 0.1
    with pytest.raises(InputError, match="scoring=.* must return a finite number, got None"):
        RankerCV(cv=2, scoring=lambda ranker, X, y: None).fit(X, y, qid=qid)


def test_a_choice_at_an_end_of_the_grid_is_warned_of(queries):
    X, y, qid = queries
    for sign, said in ((1.0, "largest"), (-1.0, "least"), (0.0, "")):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", GridEndWarning)
            scoring = [lambda ranker, X, y, sign=sign: sign * ranker.C]
            RankerCV(Cs=CS, cv=2, refit=False, scoring=scoring).fit(X, y, qid=qid)
        ended = [str(each.message) for each in caught if each.category is GridEndWarning]
        assert len(ended) == bool(said)
        assert all(said in each for each in ended)


def test_weights_count_in_fits_and_in_means(apart):
    (X, y, qid), (held_X, held_y, held_qid) = apart
    weight, held_weight = 1.0 + qid % 3, 1.0 + held_qid % 3
    rows = np.arange(len(y) + len(held_y))
    search = RankerCV(Cs=CS, cv=[(rows[: len(y)], rows[len(y) :])])
    both = [np.concatenate(pair) for pair in ((X, held_X), (y, held_y), (qid, held_qid), (weight, held_weight))]
    search.fit(*both)
    path = Ranker().path(X, y, qid, Cs=sorted(CS), sample_weight=weight)
    expected = [each.score(held_X, held_y, held_qid, sample_weight=held_weight) for each in path]
    assert search.scores_.tolist() == [expected]


@pytest.mark.slow
def test_folds_in_several_processes(queries):
    X, y, qid = queries
    with parallel_config(backend="multiprocessing"):
        one, two = (RankerCV(Cs=CS, cv=2, n_jobs=n_jobs).fit(X, y, qid=qid) for n_jobs in (None, 2))
    np.testing.assert_array_equal(one.scores_, two.scores_)


def test_warnings_of_folds_are_one(queries):
    X, y, qid = queries
    scale = np.array([1e6, 1, 1, 1, 1, 1])
    solver = OneSlack(max_iter=1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        RankerCV(Ranker(solver=solver), CS, cv=2, refit=False).fit(X, y, qid=qid)
    said = [str(each.message) for each in caught if each.category is ConvergenceWarning]
    assert [each.split(";")[0] for each in said] == ["6 of 6 fits on folds did not reach their tol"]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        RankerCV(Ranker(tol=0.1), CS, cv=2).fit(X * scale, y, qid=qid)
    assert [each.category for each in caught].count(FeatureScaleWarning) == 1


def test_ctrl_c_keeps_the_folds_that_are_finished(queries, monkeypatch):
    X, y, qid = queries
    solve, calls = FrankWolfe.solve, []

    def stopped(self, *args, **kwargs):
        calls.append(None)
        if len(calls) == 5:
            raise KeyboardInterrupt
        return solve(self, *args, **kwargs)

    monkeypatch.setattr(FrankWolfe, "solve", stopped)
    search = RankerCV(Ranker(solver="frank-wolfe"), CS, cv=3)
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, y, qid=qid)
    assert search.scores_by_name_["map"].shape == (1, 3)


def test_a_callback_ends_fits_one_by_one(queries):
    X, y, qid = queries
    seen = []

    def stop(step, fold):
        seen.append((fold, step.C, step.iteration))
        return True

    search = RankerCV(Ranker(solver="one-slack", tol=1e-9), CS, cv=2)
    with pytest.warns(ConvergenceWarning):
        search.fit(X, y, qid=qid, callback=stop)
    Cs = sorted(CS)
    assert [(fold, C) for fold, C, _ in seen] == [*((fold, C) for fold in (0, 1) for C in Cs), (None, search.C_)]


def test_checkpoints_of_folds(queries, tmp_path):
    X, y, qid = queries
    search = RankerCV(Cs=[1.0, 2.0], cv=2)
    search.fit(X, y, qid=qid, checkpoint=tmp_path / "c.npz")
    files = {path.name for path in tmp_path.iterdir()}
    assert files == {"c.npz", *(f"c.fold={fold}.C={C}.npz" for fold in (1, 2) for C in (1.0, 2.0))}
    again = clone(search).fit(X, y, qid=qid, checkpoint=tmp_path / "c.npz")
    np.testing.assert_array_equal(again.scores_, search.scores_)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"estimator": RankBoost()}, r"RankerCV\(estimator=...\) must have a setting C, but RankBoost has no C"),
        ({"estimator": LinearRegression()}, "is not a valid ranker"),
        ({"estimator": Ranker}, "Ranker is a class"),
        ({"Cs": 0}, r"RankerCV\(Cs=...\) must be an integer of at least 1"),
        ({"Cs": [1.0, -1.0]}, "Cs must be a vector of positive numbers"),
        ({"cv": 1}, r"RankerCV\(cv=...\) must be an integer of at least 2"),
        ({"cv": 31}, "31 folds need at least 31 queries, got 30"),
        ({"cv": "five"}, r"RankerCV\(cv=...\) cannot split these queries"),
        ({"cv": []}, r"RankerCV\(cv=...\) has no splits"),
        ({"cv": KFold(3, shuffle=True)}, "puts rows of query .* on both sides of a split"),
        ({"scoring": ["map", "map"]}, "scoring contains 'map' twice"),
        ({"scoring": []}, "scoring is an empty list"),
        ({"refit": 1}, r"RankerCV\(refit=...\) must be True or False"),
        ({"random_state": "a"}, r"RankerCV\(random_state=...\) must be a whole number"),
        ({"n_jobs": 0}, r"RankerCV\(n_jobs=...\)"),
    ],
)
@pytest.mark.filterwarnings("ignore:The groups parameter")
def test_invalid_arguments_are_errors(queries, settings, message):
    X, y, qid = queries
    with pytest.raises(InputError, match=message):
        RankerCV(**settings).fit(X, y, qid=qid)


def test_invalid_data_are_errors(queries):
    X, y, qid = queries
    with pytest.raises(UnknownNameError, match="unknown measure 'mapp'"):
        RankerCV(scoring="mapp").fit(X, y, qid=qid)
    with pytest.raises(InputError, match="must be None if fit has a callback"):
        RankerCV(n_jobs=2).fit(X, y, qid=qid, callback=lambda step, fold: None)
    with pytest.raises(InputError, match="MaximumEntropy has no path over C: leave callback and checkpoint out"):
        RankerCV("maximum_entropy").fit(X, y, qid=qid, checkpoint="c.npz")
    with pytest.raises(InputError, match="cannot learn from any") as error:
        RankerCV(cv=2).fit(X[:20], np.repeat([1.0, 0.0], 10), qid=np.repeat([1, 2], 10))
    assert error.value.__notes__ == ["This was in fold 1 of 2."]
