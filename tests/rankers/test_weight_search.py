import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from structsvm.features.operators import Rows
from structsvm.metrics import AP
from structsvm.rankers import WeightSearch
from structsvm.rankers.weight_search_line import ExhaustiveSearch


def some(seed=0, queries=6, documents=15, features=4, digits=15):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(queries * documents, features)).round(digits)
    y = (X @ rng.normal(size=features) + rng.normal(size=len(X)) > 0.8).astype(float)
    return X, y, np.repeat(np.arange(queries), documents)


@st.composite
def small(draw):
    """Features in tenths, so that crossings that are one are several to rounding."""
    n, d = draw(st.integers(4, 14)), draw(st.integers(1, 3))
    tenths = st.lists(st.integers(-9, 9).map(lambda k: k / 10), min_size=d, max_size=d)
    X = np.array(draw(st.lists(tenths, min_size=n, max_size=n)))
    y = np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    y[:2] = 1, 0
    qid = np.array([0, 0, *draw(st.lists(st.integers(0, 2), min_size=n - 2, max_size=n - 2))])
    return X, y, qid


SEARCHES = [
    WeightSearch(),
    WeightSearch(start="equal", fix_first=True),
    WeightSearch("random", random_state=0),
    WeightSearch(incremental=True),
    WeightSearch("random", incremental=True, random_state=1, fix_first=True),
]


@given(small(), st.sampled_from(SEARCHES))
def test_map_never_falls_and_is_what_score_says(data, search):
    X, y, qid = data
    ranker = clone(search).fit(X, y, qid=qid)
    values = [each.map for each in ranker.history_]
    assert (np.diff(values) >= 0.0).all()
    moved = [each.step != 0.0 for each in ranker.history_]
    gained = np.diff([_map_at_start(ranker, X, y, qid), *values]) > 1e-12
    assert gained.tolist() == moved
    assert ranker.map_ == pytest.approx(ranker.score(X, y, qid=qid), abs=1e-12)
    assert ranker.map_path_[-1] == ranker.map_


def _map_at_start(ranker, X, y, qid):
    start = np.ones(X.shape[1]) if ranker.start == "equal" else np.eye(1, X.shape[1])[0]
    return AP().mean(Rows.one_row_per_example(X).scores(start), y, qid)


@given(small(), st.sampled_from([1 / 7, 3.0, 1e6]))
def test_any_multiple_of_the_weights_ranks_alike(data, factor):
    """No gain is one of rounding alone."""
    X, y, qid = data
    ranker = WeightSearch().fit(X, y, qid=qid)
    assert AP().mean(Rows.one_row_per_example(X).scores(factor * ranker.coef_), y, qid) == pytest.approx(ranker.map_)


@pytest.mark.parametrize("power", [-30, 20])
def test_the_scale_of_start_and_features_does_not_matter(power):
    X, y, qid = some()
    expected = WeightSearch().fit(X, y, qid=qid)
    larger = WeightSearch(start=2.0**power * np.eye(1, 4)[0]).fit(X, y, qid=qid)
    assert larger.coef_.tolist() == (2.0**power * expected.coef_).tolist()
    assert WeightSearch().fit(2.0**power * X, y, qid=qid).coef_.tolist() == expected.coef_.tolist()


@pytest.mark.parametrize("search", SEARCHES[:2])
def test_the_end_is_a_maximum_along_every_direction(search):
    X, y, qid = some()
    ranker = search.fit(X, y, qid=qid)
    for k in range(int(ranker.fix_first), X.shape[1]):
        for step in np.tan(np.linspace(-1.57, 1.57, 301)):
            w = ranker.coef_ + step * np.eye(X.shape[1])[k]
            assert AP().mean(X @ w, y, qid) <= ranker.map_ + 1e-12


def test_only_the_first_weight_is_held():
    X, y, qid = some()
    fixed = WeightSearch(fix_first=True).fit(X, y, qid=qid)
    assert fixed.coef_[0] == 1.0
    assert fixed.coef_[1:].all()
    held = WeightSearch(start=[-2.0, 0, 0, 0], fix_first=True).fit(X, y, qid=qid)
    assert held.coef_[0] == -2.0
    free = WeightSearch().fit(-X[:, :1], X[:, 0] > 0, qid=qid)
    assert free.coef_[0] < 0.0
    assert free.map_ == 1.0


def test_one_feature_with_a_fixed_weight_leaves_nothing_to_search():
    X, y, qid = some(features=1)
    ranker = WeightSearch(fix_first=True).fit(X, y, qid=qid)
    assert ranker.coef_.tolist() == [1.0]
    assert (ranker.history_, ranker.n_rounds_) == ((), 0)
    assert ranker.map_ == AP().mean(X[:, 0], y, qid)


@pytest.mark.parametrize("fix_first", [True, False])
def test_an_incremental_search_is_a_chain_of_searches(fix_first):
    X, y, qid = some()
    ranker = WeightSearch(fix_first=fix_first, incremental=True).fit(X, y, qid=qid)
    assert ranker.coef_path_.shape == (4, 4)
    assert (np.diff(ranker.map_path_) >= 0.0).all()
    w = np.ones(1)
    for terms in range(1, 5):
        start = np.append(w, 0.0) if terms > 1 else w
        alone = WeightSearch(start=start, fix_first=fix_first).fit(X[:, :terms], y, qid=qid)
        w = alone.coef_
        assert ranker.coef_path_[terms - 1].tolist() == [*w, *[0.0] * (4 - terms)]
        assert ranker.map_path_[terms - 1] == alone.map_
    assert ranker.coef_.tolist() == w.tolist()
    assert {each.terms for each in ranker.history_} == set(range(1 + fix_first, 5))


def test_the_history_says_where_the_weights_went():
    X, y, qid = some()
    ranker = WeightSearch().fit(X, y, qid=qid)
    w = np.eye(1, 4)[0]
    for each in ranker.history_:
        w = w + each.step * np.eye(4)[each.direction]
    assert w.tolist() == ranker.coef_.tolist()
    assert not any(each.step for each in ranker.history_[-4:])
    assert ranker.history_[-1].round == ranker.n_rounds_


def test_directions_and_start_of_ones_own():
    X, y, qid = some()
    ranker = WeightSearch([[1, 1, 0, 0], [0, 0, 1, -1]], [3.0, 0.0, 1.0, 1.0]).fit(X, y, qid=qid)
    assert ranker.coef_[0] - ranker.coef_[1] == pytest.approx(3.0)
    assert ranker.coef_[2] + ranker.coef_[3] == pytest.approx(2.0)
    chain = WeightSearch([[1, 1, 0, 0], [0, 0, 1, -1]], incremental=True).fit(X, y, qid=qid)
    assert (chain.coef_path_[0].tolist(), chain.coef_path_[1, 2:].tolist()) == ([1.0, 0.0, 0.0, 0.0], [0.0, 0.0])
    assert chain.coef_path_[2].tolist() == chain.coef_path_[1].tolist()
    assert {each.terms for each in chain.history_} == {2, 3, 4}


def test_rows_that_are_the_same_get_the_same_score():
    rng = np.random.default_rng(0)
    for d in range(1, 30):
        X, w = np.tile(rng.normal(size=d), (23, 1)), rng.normal(size=d)
        assert len(set(Rows.one_row_per_example(X).scores(w).tolist())) == 1
        ranker = WeightSearch(start=w, max_iter=1)
        ranker.fit(X, [1, 0] * 11 + [0])
        assert len(set(ranker.predict(X).tolist())) == 1


def test_a_search_that_is_stopped_says_so():
    X, y, qid = some()
    with pytest.warns(ConvergenceWarning, match="each of the 1 rounds increased MAP"):
        ranker = WeightSearch(max_iter=1).fit(X, y, qid=qid)
    assert ranker.n_rounds_ == 1


def test_rounding_that_undoes_a_step_leads_to_a_wider_region(monkeypatch):
    """Features that cancel leave scores of few digits: the value in a narrow region may differ from its promise."""
    tried = []
    search_one = ExhaustiveSearch.best

    def best(self, *lines, narrowest):
        tried.append(narrowest)
        return search_one(self, *lines, narrowest=narrowest)

    monkeypatch.setattr(ExhaustiveSearch, "best", best)
    for seed in range(150):
        rng = np.random.default_rng(seed)
        X = rng.integers(-9, 10, (25, 4)) / 10 + 1e11 * rng.integers(-1, 2, (25, 1))
        y, qid = rng.random(25) < 0.4, np.repeat([0, 1], [12, 13])
        y[:2] = True, False
        start = np.array([1.0, -1.0, 1.0, -1.0])
        ranker = WeightSearch(start=start).fit(X, y, qid=qid)
        values = [AP().mean(Rows.one_row_per_example(X).scores(start), y, qid), *(each.map for each in ranker.history_)]
        assert (np.diff(values) > -1e-12).all()
        assert ranker.map_ == pytest.approx(values[-1], abs=1e-12)
    assert min(tried) < max(tried)
