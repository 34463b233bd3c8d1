"""Settings, validation, seeds and faults of data: the same contract for every ranker."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from structsvm import Ranker
from structsvm.exceptions import InputError
from structsvm.features import Thresholds
from structsvm.rankers import (
    LambdaMART,
    MaximumEntropy,
    Preferences,
    RankBoost,
    RankNet,
    RankSVM,
    TreeRanker,
    WeightSearch,
)

QID = np.repeat(np.arange(8), 15)


def data(seed: int = 0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    X = 10.0 * rng.normal(size=(len(QID), 4)).round(2)
    return X, np.digitize(X[:, 0] - X[:, 1] + 10.0 * rng.normal(size=len(QID)), [5.0, 15.0]).astype(float), QID


SETTINGS: list[tuple[type, dict[str, Any], str]] = [
    (LambdaMART, {"n_estimators": 0}, r"LambdaMART\(n_estimators=...\)"),
    (LambdaMART, {"learning_rate": 0.0}, r"LambdaMART\(learning_rate=...\)"),
    (LambdaMART, {"num_leaves": 1}, r"LambdaMART\(num_leaves=...\)"),
    (LambdaMART, {"min_child_samples": 0}, r"LambdaMART\(min_child_samples=...\)"),
    (LambdaMART, {"params": "fast"}, "must be a dict of parameters of LightGBM"),
    (LambdaMART, {"params": {"lambda_l1": -1.0}}, "LightGBM cannot learn from these data with these .*lambda_l1"),
    (MaximumEntropy, {"C": 0.0}, r"MaximumEntropy\(C=...\) must be a positive finite number"),
    (MaximumEntropy, {"tol": -1.0}, r"MaximumEntropy\(tol=...\)"),
    (MaximumEntropy, {"max_iter": 0}, r"MaximumEntropy\(max_iter=...\)"),
    (MaximumEntropy, {"relevant_from": "high"}, r"MaximumEntropy\(relevant_from=...\)"),
    (MaximumEntropy, {"class_weight": {2: 1.0}}, r"\(class_weight=...\) must be \{0: weight, 1: weight\}"),
    (MaximumEntropy, {"class_weight": {1: 0.0}}, "positive finite weights, got 0.0 for 1"),
    (RankBoost, {"n_estimators": 0}, r"RankBoost\(n_estimators=...\) must be an integer of at least 1, got 0"),
    (RankBoost, {"max_thresholds": 0}, "max_thresholds"),
    (RankNet, {"hidden_layer_sizes": -1}, r"RankNet\(hidden_layer_sizes=...\) must be an integer of at least 0"),
    (RankNet, {"max_iter": 0}, r"RankNet\(max_iter=...\)"),
    (RankNet, {"learning_rate": 0.0}, r"RankNet\(learning_rate=...\)"),
    (RankNet, {"log_odds": 0.0}, r"RankNet\(log_odds=...\)"),
    (RankNet, {"weight_decay": -1.0}, r"RankNet\(weight_decay=...\)"),
    (RankNet, {"ties": 1}, r"RankNet\(ties=...\) must be True or False"),
    (RankNet, {"n_iter_no_change": 0}, r"RankNet\(n_iter_no_change=...\)"),
    (RankNet, {"learning_rate": 1e200, "weight_decay": 1e200}, "overflowed in epoch 1: RankNet needs a smaller"),
    (RankSVM, {"objective": "both"}, r"RankSVM\(objective=...\) must be 'pairs' or 'queries', got 'both'"),
    (RankSVM, {"C": 0.0}, "C must be a positive finite number, got 0.0"),
    (RankSVM, {"tol": -1.0}, r"RankSVM\(tol=...\) must be a positive finite number or None, got -1.0"),
    (RankSVM, {"solver": "two-slack"}, "two-slack"),
    (RankSVM, {"measure": 3}, "3 is not a valid measure: pass a name"),
    (
        TreeRanker,
        {"trees": "m.txt"},
        r"a fitted ensemble or the path of its file, got 'm.txt'. For a file, pass pathlib.Path\('m.txt'\)",
    ),
    (TreeRanker, {"n_estimators": 0}, "TreeRanker.n_estimators=.*. must be .*at least 1, got 0"),
    (TreeRanker, {"num_leaves": 1}, "num_leaves=.* at least 2, got 1"),
    (TreeRanker, {"learning_rate": 0.0}, "learning_rate=.* got 0.0"),
    (TreeRanker, {"features": 1}, "features=.* True or False, got 1"),
    (TreeRanker, {"normalize": "log"}, "normalize"),
    (TreeRanker, {"loss": "multiclass"}, "does not give each row one score"),
    (WeightSearch, {"directions": "all"}, r"directions=...\) must be 'coordinates', 'random' or an array"),
    (WeightSearch, {"directions": np.eye(3)}, r"rows of 4 numbers: its shape is \(3, 3\)"),
    (WeightSearch, {"directions": np.ones(4)}, r"rows of 4 numbers: its shape is \(4,\)"),
    (WeightSearch, {"directions": np.zeros((0, 4))}, r"rows of 4 numbers: its shape is \(0, 4\)"),
    (WeightSearch, {"directions": [[0, 1, 0, 0], [0, 0, 0, 0]]}, "row 1 of .* leads nowhere"),
    (WeightSearch, {"directions": [[1, 1, 0, 0]], "fix_first": True}, "row 0 of .* changes the first weight"),
    (WeightSearch, {"start": "last"}, r"start=...\) must be 'first', 'equal' or an array"),
    (WeightSearch, {"start": [1, 2]}, "a weight for each of 4 features"),
    (WeightSearch, {"start": [1, np.nan, 0, 0]}, "finite numbers"),
    (WeightSearch, {"start": [1e308] * 4}, "scores at .* not finite"),
    (WeightSearch, {"start": "equal", "incremental": True}, "starts with the first feature alone"),
    (WeightSearch, {"fix_first": "yes"}, r"fix_first=...\) must be True or False"),
    (WeightSearch, {"incremental": 1}, r"incremental=...\) must be True or False"),
    (WeightSearch, {"max_iter": 0}, r"max_iter=...\) must be an integer of at least 1"),
    *(
        (kind, {"measure": "mop"}, "unknown measure 'mop'")
        for kind in (LambdaMART, MaximumEntropy, RankBoost, RankNet, RankSVM, TreeRanker, WeightSearch)
    ),
    *(
        (kind, {"random_state": seed}, rf"{kind.__name__}\(random_state=...\) must be a whole number")
        for kind in (RankNet, WeightSearch, LambdaMART)
        for seed in ("today", -1, np.random.default_rng(0))
    ),
    *(
        (kind, {"n_iter_no_change": 3}, "n_iter_no_change=3.* none: pass validation|n_iter_no_change=3.* given none")
        for kind in (RankNet, LambdaMART)
    ),
]


def small(kind: Any, **settings: Any) -> Any:
    """Return a ranker that fits fast."""
    if kind is LambdaMART:
        pytest.importorskip("lightgbm")
        return kind(**{"n_estimators": 20, "min_child_samples": 5, "params": {"num_threads": 1}} | settings)
    return kind(**{"trees": "scikit-learn", "n_estimators": 2} | settings if kind is TreeRanker else settings)


@pytest.mark.parametrize(("kind", "settings", "message"), SETTINGS)
def test_wrong_settings_are_errors(kind: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        small(kind, **settings).fit(*data())


STAGED = [RankBoost, RankNet, LambdaMART]


@pytest.mark.parametrize("kind", STAGED)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y, qid: X, r"validation must be a tuple \(X, y, qid\)"),
        (lambda X, y, qid: (X,), r"validation must be a tuple \(X, y, qid\)"),
        (lambda X, y, qid: (X, y), "fit was given qid, so validation needs it too"),
        (lambda X, y, qid: (X[:, :2], y, qid), "validation cannot be used: X has 2 features"),
        (lambda X, y, qid: (X, 0 * y, qid), "validation cannot be used: .* is undefined for all of its queries"),
        (lambda X, y, qid: (X, y[1:], qid), "validation cannot be used: X has 120 rows, but y has 119"),
        (lambda X, y, qid: (X, y, qid[1:]), "validation cannot be used: qid must be one"),
        (lambda X, y, qid: (X, Preferences([0], [1]), qid), "not Preferences"),
        (lambda X, y, qid: (np.where(X > 9.0, np.inf, X), y, qid), "infinity"),
    ],
)
def test_wrong_validation_is_an_error(kind: Any, change: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        small(kind).fit(*data(), validation=change(*data(1)))


@pytest.mark.parametrize("kind", STAGED)
def test_validation_keeps_the_first_best_stage(kind: Any) -> None:
    held = data(1)
    settings = {"max_iter": 30, "random_state": 0} if kind is RankNet else {"n_estimators": 60}
    ranker = small(kind, **settings, measure="ndcg@3").fit(*data(), validation=held)
    best, values = ranker.best_iteration_, ranker.validation_scores_
    assert best == np.flatnonzero(values > values.max() - 1e-12)[0] + 1 < len(values)
    assert ranker.score(*held) == values[best - 1]
    stages = list(ranker.staged_predict(held[0]))
    assert len(stages) == best
    np.testing.assert_allclose(stages[-1], ranker.predict(held[0]), rtol=1e-12)
    whole = small(kind, **settings).fit(*data())
    every = list(whole.staged_predict(held[0]))
    assert (whole.validation_scores_, whole.best_iteration_) == (None, len(values))
    assert len(every) == whole.best_iteration_
    np.testing.assert_allclose(every[best - 1], stages[-1], rtol=1e-12)
    np.testing.assert_allclose(every[-1], whole.predict(held[0]), rtol=1e-12)


@pytest.mark.parametrize("kind", [RankNet, LambdaMART])
def test_patience_stops(kind: Any) -> None:
    settings = {"max_iter": 300} if kind is RankNet else {"n_estimators": 500}
    ranker = small(kind, **settings, n_iter_no_change=4, random_state=0).fit(*data(), validation=data(1))
    assert len(ranker.validation_scores_) == ranker.best_iteration_ + 4 < 300


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (RankNet, {"hidden_layer_sizes": 0, "max_iter": 3}),
        (RankNet, {"hidden_layer_sizes": 4, "max_iter": 3}),
        (WeightSearch, {"directions": "random", "max_iter": 2}),
        (LambdaMART, {"params": {"num_threads": 1, "bagging_fraction": 0.5, "bagging_freq": 1}}),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_random_state_decides(kind: Any, settings: dict[str, Any]) -> None:
    X, y, qid = data()
    scores = [small(kind, **settings, random_state=seed).fit(X, y, qid).predict(X).tolist() for seed in (0, 0, 1)]
    assert scores[0] == scores[1] != scores[2]


@pytest.mark.parametrize("kind", [RankBoost, RankNet])
def test_sparse_features_are_errors_where_only_dense_ones_are_read(kind: Any) -> None:
    X, y, qid = data()
    message = rf"{kind.__name__} takes dense features: sparse input \((csr_array|BinnedMatrix)\) is not supported"
    for given in (sp.csr_array(X), Thresholds(bins=5).fit_transform(X)):
        with pytest.raises(InputError, match=message):
            kind().fit(given, y, qid)
        with pytest.raises(InputError, match=message):
            kind().fit(X, y, qid).predict(given)


@pytest.mark.parametrize(
    "kind", [Ranker, RankBoost, RankNet, RankSVM, MaximumEntropy, WeightSearch, LambdaMART, TreeRanker]
)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y, qid: (X, y[1:], qid), "X has 120 rows, but y has 119 labels"),
        (lambda X, y, qid: (X, np.where(QID == 7, np.nan, y), qid), "y contains NaN or infinity, first in row 105"),
        (lambda X, y, qid: (X, y, qid[1:]), "qid must be one query id per row"),
        (lambda X, y, qid: (np.where(QID[:, None] == 7, np.inf, X), y, qid), "The first is at row 105, column 0"),
    ],
)
def test_wrong_data_are_errors(kind: Any, change: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        clone(small(kind)).fit(*change(*data()))
