"""Refitted ensembles: the library's scores equal the certified scores, or `refit` rejects the model."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from attrs import evolve
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor, RandomForestRegressor
from sklearn.exceptions import NotFittedError

from structsvm.data import load_letor
from structsvm.exceptions import InputError
from structsvm.features import Thresholds
from structsvm.models.ensembles import ScikitLearnEnsemble
from structsvm.models.export import export
from structsvm.rankers import TreeRanker, refit
from tests.models.ensembles import BOOSTED, GROUPS, SMALL, Case, Data, cases, native, of_xgboost, reloaded, trained


@pytest.mark.parametrize("case", cases())
@pytest.mark.filterwarnings("ignore")
def test_the_library_scores_as_certified_or_refit_refuses(case: Case, tmp_path: Path) -> None:
    model, data = trained(case)
    if case.refused:
        with pytest.raises((InputError, NotFittedError), match=case.refused):
            refit(model, data.X, data.y, GROUPS)
        return
    before = native(model, data.X)
    made = refit(model, data.X, data.y, GROUPS, C=10.0, tol=1e-3)
    assert type(made) is type(model) or case.library != "sklearn"
    np.testing.assert_array_equal(native(model, data.X), before)  # the model is not changed
    certified = TreeRanker(C=10.0, tol=1e-3, trees=model, features=False).fit(data.X, data.y, GROUPS)
    scores = certified.predict(data.X)
    primal = certified.result_.primal
    bound = 1e-5 * np.maximum.reduceat(np.abs(certified.model_.values), certified.model_.trees.offsets[:-1]).sum()
    assert primal < 10.0 or "1000" in case.objective
    for each in (made, *reloaded(made, tmp_path)):
        np.testing.assert_allclose(native(each, data.X), scores, rtol=0, atol=bound)


def test_other_arguments_are_errors() -> None:
    data = Data.of()
    with pytest.raises(NotFittedError, match="not fitted yet"):
        refit(RandomForestRegressor(2), data.X, data.y)
    with pytest.raises(InputError, match=r"model.txt must be a model file of LightGBM \(text\), XGBoost"):
        refit("model.txt", data.X, data.y)
    several = RandomForestRegressor(2).fit(data.X, np.stack([data.y, data.y], axis=1))
    with pytest.raises(InputError, match="RandomForestRegressor has several outputs"):
        refit(several, data.X, data.y)
    with pytest.raises(InputError, match="features must not be True"):
        refit(several, data.X, data.y, features=True)
    classes = GradientBoostingClassifier(n_estimators=2).fit(data.X, np.arange(len(data.y)) % 3)
    with pytest.raises(InputError, match="GradientBoostingClassifier has several trees per round"):
        refit(classes, data.X, data.y)
    catboost = pytest.importorskip("catboost")
    with pytest.raises(NotFittedError, match="this CatBoostRanker is not fitted yet: call its fit first"):
        refit(catboost.CatBoostRanker(), data.X, data.y)


def test_features_that_the_library_reads_otherwise_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = Data.of()
    boosted = GradientBoostingRegressor(**BOOSTED).fit(data.X, data.y)
    with pytest.raises(InputError, match="the refitted GradientBoostingRegressor cannot score the rows of X: .*NaN"):
        refit(boosted, Data.of(missing=True).X, data.y, GROUPS)
    own = ScikitLearnEnsemble.with_values
    monkeypatch.setattr(ScikitLearnEnsemble, "with_values", lambda self, values: own(self, values[::-1]))
    with pytest.raises(InputError, match="scores training rows otherwise than its leaf values, by up to"):
        refit(boosted, data.X, data.y, GROUPS)
    monkeypatch.undo()
    bins = Thresholds(bins=5).fit_transform(data.X)
    forest = RandomForestRegressor(**SMALL).fit(bins.toarray(), data.y)
    made, certified = refit(forest, bins, data.y, GROUPS), TreeRanker(trees=forest, features=False)
    expected = certified.fit(bins, data.y, GROUPS).predict(bins)
    np.testing.assert_allclose(made.predict(bins.toarray()), expected, atol=1e-12)
    pytest.importorskip("xgboost")
    X = sp.csr_matrix(data.X)
    model = of_xgboost("reg:squarederror").train(evolve(data, X=X))
    X.data[0] = 0.0
    with pytest.raises(InputError, match=r"stores zeros, which XGBoost reads as values.*X.eliminate_zeros\(\)"):
        refit(model, X, data.y, GROUPS)


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
@pytest.mark.parametrize("first", [0, 1])
def test_a_file_that_the_library_reads_has_zero_based_columns(tmp_path: Path, library: str, first: int) -> None:
    module: Any = pytest.importorskip(library)
    rng = np.random.default_rng(0)
    # XGBoost rounds other decimals in text differently, and reads stored zeros as values.
    X, y = rng.integers(-9, 9, size=(180, 5)) / 4.0 + 0.125, rng.integers(0, 2, 180)
    X[:, -1] += y
    cells = (" ".join(f"{j}:{value!r}" for j, value in enumerate(row, first)) for row in X.tolist())
    path = tmp_path / "train.txt"
    path.write_text("".join(f"{label} {row}\n" for label, row in zip(y, cells, strict=True)))
    (tmp_path / "train.txt.query").write_text("12\n" * 15)
    if library == "lightgbm":
        source, settings = str(path), {"verbosity": -1, "num_threads": 1}
        model = module.train(settings, module.Dataset(source), 5)
    else:
        source = module.DMatrix(f"{path}?format=libsvm")
        model = module.train({"nthread": 1}, source, 5)
    data = load_letor(path, zero_based=True, sparse=True)
    made = refit(model, data.X, data.y, data.qid, C=10.0)
    ranker = TreeRanker(C=10.0, trees=model, features=False).fit(data.X, data.y, data.qid)
    np.testing.assert_allclose(made.predict(source), ranker.predict(data.X), atol=1e-5)
    if library == "lightgbm":
        (note,) = export(ranker, tmp_path / "model.txt", "lightgbm")
        assert "counts features from 0 when it reads a text file itself: for such files, train with zero_based" in note
        exported = module.Booster(model_file=str(tmp_path / "model.txt"))
        np.testing.assert_allclose(exported.predict(source), ranker.predict(data.X), atol=1e-12)
    if first:
        other = load_letor(path)
        left, right = (np.pad(other.X, [(0, 0), side]) for side in ((1, 0), (0, 1)))
        np.testing.assert_array_equal(left, data.X.toarray())
        if library == "lightgbm":
            with pytest.raises(
                InputError, match="so that X seems to be shifted. LightGBM and XGBoost count the features"
            ):
                refit(model, right, data.y, data.qid)
        with pytest.raises(InputError, match=r"has 6 features, and X has 5. .* X by load_letor\(..., zero_based=True"):
            refit(model, other.X, data.y, data.qid)
    wide = np.pad(data.X.toarray(), [(0, 0), (0, 1)])
    with pytest.raises(InputError, match="features, and X has .* from arrays of load_letor, read X without zero_based"):
        refit(model, wide, data.y, data.qid)
