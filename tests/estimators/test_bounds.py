"""Estimators whose weights have bounds."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold

from structsvm import Problem, Ranker, StructuralSVM, load
from structsvm.estimators import LatentStructuralSVM, RampRanker
from structsvm.exceptions import InputError, ZeroWeightsWarning
from structsvm.solvers import OneSlack
from tests.estimators.detector import Detector, series
from tests.estimators.test_center_and_penalty import QID, X, Y

INF = np.inf
NAMES = ["a", "b", "c"]
SIGNS = [1, 0, -1]


@pytest.mark.parametrize("intercept", [False, True])
def test_a_ranker_minimizes_the_objective_that_was_asked_for(intercept: bool) -> None:
    loss = "zero_one" if intercept else "map"
    given: dict[str, Any] = {"center": [1.0, -1.0, 0.0], "feature_penalty": [0.0, 2.0, 1.0]}
    given["bounds"] = ([-0.1, -INF, 0.0], 0.2)
    ranker = Ranker(loss, C=5.0, tol=1e-6, fit_intercept=intercept, **given).fit(X, Y, qid=QID)
    low, high = np.array([-0.1, -INF, 0.0, -INF]), np.array([0.2, 0.2, 0.2, INF])
    d = 3 + intercept
    whole: dict[str, Any] = {
        "center": np.array([1.0, -1.0, 0.0, 0.0])[:d],
        "penalty": np.array([0.0, 2.0, 1.0, 1.0])[:d],
    }
    whole["bounds"] = low[:d], high[:d]
    problem = Problem.from_queries(X, Y, QID, loss=loss, C=5.0, intercept=float(intercept))
    result = OneSlack(tol=1e-6).solve(problem.regularized(**whole))
    assert ranker.result_.primal == pytest.approx(result.primal, abs=1e-5)
    assert ranker.result_.converged
    assert ranker.intercept_ != 0.0 or not intercept


@pytest.mark.parametrize("name", ["center", "feature_penalty", "bounds", "monotonic_cst"])
def test_settings_in_a_series_must_have_the_order_of_the_features(name: str) -> None:
    frame = pd.DataFrame(X, columns=NAMES)
    values = pd.Series([1, 0, -1] if name == "monotonic_cst" else [1.0, 2.0, 3.0], index=NAMES)

    def fit(setting: Any) -> Any:
        return Ranker(C=10.0, **{name: (None, setting) if name == "bounds" else setting}).fit(frame, Y, qid=QID).coef_

    np.testing.assert_array_equal(fit(values), fit(values.to_numpy()))
    for wrong in (values[::-1], values.rename({"a": "z"})):
        with pytest.raises(InputError, match=rf"Ranker\({name}=...\) is a Series whose index does not list"):
            fit(wrong)


def test_monotonic_features_by_number_and_by_name() -> None:
    frame = pd.DataFrame(X, columns=NAMES)
    wrong = Ranker("map", C=10.0).fit(X, Y, qid=QID).coef_
    for normalize in (None, "standard", "query-min-max", "query-z-score"):
        by_number = Ranker("map", C=10.0, monotonic_cst=[-1, 0, 1], normalize=normalize).fit(X, Y, qid=QID)
        by_name = Ranker("map", C=10.0, monotonic_cst={"a": -1, "c": 1}, normalize=normalize).fit(frame, Y, qid=QID)
        np.testing.assert_array_equal(by_number.coef_, by_name.coef_)
        assert by_number.coef_[0] == 0.0 < wrong[0]
        more = X.copy()
        more[:, 2] += 0.5 * (QID % 3 + 1.0)
        if normalize in (None, "standard"):
            assert (by_number.predict(more) >= by_number.predict(X)).all()
    assert (Ranker("map", C=10.0, bounds=(None, 0)).fit(X, Y, qid=QID).coef_ <= 0.0).all()


def test_a_path_a_grid_and_a_file(tmp_path: Path) -> None:
    ranker = Ranker("roc_area", bounds=([-INF, 0.0, -0.2], 0.2), monotonic_cst=SIGNS)
    for each in ranker.path(X, Y, qid=QID, Cs=[1e-4, 1.0, 100.0]):
        assert (each.coef_ >= [0.0, 0.0, -0.2]).all()
        assert (each.coef_ <= [0.2, 0.2, 0.0]).all()
        assert each.result_.converged
    ranker.fit(X, Y, qid=QID).save(tmp_path / "model.npz")
    again = Ranker.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.bounds[0], [-INF, 0.0, -0.2])
    assert again.bounds[1] == 0.2
    assert again.monotonic_cst == SIGNS
    np.testing.assert_array_equal(clone(again).fit(X, Y, qid=QID).coef_, ranker.coef_)
    np.testing.assert_allclose(load(tmp_path / "model.npz").predict(X), ranker.predict(X), atol=1e-12)
    for given in ({"bounds": (None, 1.0)}, {"monotonic_cst": {"b": 1}}, {"bounds": (0.0, INF)}):
        one = Ranker("map", **given).fit(pd.DataFrame(X, columns=NAMES), Y, qid=QID)
        one.save(tmp_path / f"{len(str(given))}.npz")
        back = Ranker.load(tmp_path / f"{len(str(given))}.npz")
        assert back.monotonic_cst == given.get("monotonic_cst")
        assert (back.bounds is None) == ("bounds" not in given)
        np.testing.assert_array_equal(clone(back).fit(pd.DataFrame(X, columns=NAMES), Y, qid=QID).coef_, one.coef_)
    with config_context(enable_metadata_routing=True):
        grid = GridSearchCV(Ranker("map"), {"bounds": [None, (0.0, None)], "C": [0.1, 10.0]}, cv=GroupKFold(2))
        grid.fit(X, Y, groups=QID, qid=QID)
    assert np.isfinite(grid.cv_results_["mean_test_score"]).all()


def test_a_pair_of_pairs_is_that_of_the_smallest_and_the_largest_weights() -> None:
    ranker = Ranker("map", bounds=[(0.0, 1.0), (0.0, 1.0)]).fit(X[:, :2], Y, qid=QID)
    np.testing.assert_array_equal(ranker.coef_, [0.0, 1.0])


def test_the_record_of_a_model_has_its_bounds(tmp_path: Path) -> None:
    frame = pd.DataFrame(X, columns=NAMES)
    given: dict[str, Any] = {"bounds": (-0.1, [INF, 0.2, INF]), "monotonic_cst": {"a": -1}}
    Ranker("map", C=10.0, **given).fit(frame, Y, qid=QID).save(tmp_path / "model.npz")
    ranker = Ranker.load(tmp_path / "model.npz")
    record = ranker.model_.record
    assert record["bounds"] == [-0.1, [None, 0.2, None]]
    assert record["monotonic_cst"] == {"a": -1}
    at_one = (ranker.coef_ == -0.1) | (ranker.coef_ == [0.0, 0.2, INF])
    assert record["weights_at_a_bound"] == at_one.sum() > 0
    assert "bounds" not in Ranker("map").fit(X, Y, qid=QID).model_.record


def test_features_without_entries_are_kept_within_bounds() -> None:
    wide = sp.csr_array((X.ravel(), np.tile([5, 900, 1500], 60), np.arange(61) * 3), shape=(60, 2000))
    low = np.zeros(2000)
    low[7] = 0.5
    ranker = Ranker("map", C=1.0, bounds=(low, None)).fit(wide, Y, qid=QID)
    assert ranker.coef_[7] == 0.5
    assert (ranker.coef_ >= 0.0).all()


def test_others_take_them_or_have_the_bounds_of_their_loss() -> None:
    labels = np.digitize(X[:, 0], [-0.5, 0.5])
    svm = StructuralSVM("multiclass", C=10.0, bounds=(-0.1, 0.3)).fit(X, labels)
    assert svm.coef_.min() == -0.1
    assert svm.coef_.max() == 0.3
    ramps = RampRanker("roc_area", C=10.0, bounds=(0.0, 0.7)).fit(X, Y, qid=QID)
    assert ramps.stationary_
    assert (ramps.coef_ >= 0.0).all()
    objectives = [each.objective for each in ramps.rounds_]
    assert objectives == sorted(objectives, reverse=True)
    with pytest.raises(InputError, match=r"weight 0 has no regularizer \(penalty 0\), so it cannot have a linear term"):
        RampRanker(feature_penalty=[0.0, 1.0, 1.0], bounds=(-1.0, 1.0)).fit(X, Y, qid=QID)


def test_the_domain_of_a_latent_loss_is_kept() -> None:
    class Positive(Detector):
        def weight_bounds(self, d: int) -> Any:
            return np.zeros(d), np.full(d, INF)

    fitted = LatentStructuralSVM(Positive(), C=10.0).fit(*series(12, 0))
    assert (fitted.coef_ >= 0.0).all()
    assert (LatentStructuralSVM(Detector(), C=10.0).fit(*series(12, 0)).coef_ < 0.0).any()
    assert fitted.stationary_


def test_impossible_bounds_are_errors() -> None:
    for given, said in [
        ({"bounds": 3}, r"Ranker\(bounds=...\) must be a pair \(smallest, largest\)"),
        ({"bounds": ([0.0, 0.0], None)}, r"Ranker\(bounds=...\): the smallest weights must be one number or 3 numbers"),
        ({"bounds": ("0", "1")}, r"Ranker\(bounds=...\): the smallest weights must be numbers, got '0'"),
        ({"bounds": (False, True)}, "the smallest weights must be numbers, got False"),
        ({"bounds": ([0, None, 0], None)}, r"or partly None: use -inf \(numpy.inf\) for no bound"),
        ({"bounds": [(0, 1)] * 3}, r"must be a pair \(smallest, largest\)"),
        ({"center": [1.0]}, "center must be 3 finite numbers, one per weight"),
        ({"center": "there"}, r"Ranker\(center=...\) must be numbers"),
        ({"feature_penalty": [1.0, 1.0, -1.0]}, "penalty must be at least 0, got -1 for weight 2"),
        ({"feature_penalty": 0}, "penalty must be 3 finite numbers, one per weight, got one number, 0"),
        ({"feature_penalty": ["1", "1", "1"]}, r"Ranker\(feature_penalty=...\) must be numbers, got '1'"),
        ({"monotonic_cst": ["1", "0", "0"]}, r"Ranker\(monotonic_cst=...\) must be numbers, got '1'"),
        ({"monotonic_cst": [True, False, False]}, "must be numbers, got True"),
        ({"bounds": (1.0, 0.0)}, r"Ranker\(bounds=...\): low 1 is above high 0 of weight 0"),
        ({"monotonic_cst": [1, 0]}, r"Ranker\(monotonic_cst=...\) must be 1 \(scores rise with the feature\)"),
        ({"monotonic_cst": [2, 0, 0]}, "must be 1"),
        ({"monotonic_cst": "up"}, r"Ranker\(monotonic_cst=...\) must be numbers"),
        ({"monotonic_cst": {"a": 1}}, "has names of features, but X has no names"),
        ({"bounds": (1.0, 2.0), "monotonic_cst": [0, -1, 0]}, "contradict each other: the weight of feature 1"),
        ({"bounds": (0.0, None), "solver": "frank-wolfe"}, "frank-wolfe supports neither bounds"),
    ]:
        with pytest.raises(InputError, match=said):
            Ranker(**given).fit(X, Y, qid=QID)
    with pytest.raises(InputError, match="has 'z', and no feature of X has that name"):
        Ranker(monotonic_cst={"z": 1}).fit(pd.DataFrame(X, columns=NAMES), Y, qid=QID)
    for sign in ("+1", True, 2, [1, 0]):
        with pytest.raises(InputError, match=r"the sign of 'a' must be the number 1, -1 or 0, got"):
            Ranker(monotonic_cst={"a": sign}).fit(pd.DataFrame(X, columns=NAMES), Y, qid=QID)
    for given, said in [
        ({"bounds": ([0, 0, 2], 1)}, f"low 2 is above high 1 of the weight of '{NAMES[2]}': exchange them"),
        ({"bounds": (1, 2), "monotonic_cst": [0, -1, 0]}, f"the weight of '{NAMES[1]}' cannot be between 1 and 0"),
    ]:
        with pytest.raises(InputError, match=said):
            Ranker(**given).fit(pd.DataFrame(X, columns=NAMES), Y, qid=QID)
    with pytest.warns(ZeroWeightsWarning, match="No weights within their bounds have a smaller hinge"):
        Ranker("map", bounds=(None, 0)).fit(X[:, :1] + 2.0 * Y[:, None], Y, qid=QID)
