"""Trees in every format that supports them give the scores of the model."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from sklearn.ensemble import GradientBoostingRegressor

from structsvm.exceptions import InputError
from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.models.export import export
from structsvm.models.leaves import LEFT, NAN_MISSING, ZERO_MISSING, LeafModel, Trees, largest_float32
from structsvm.models.linear import LinearModel
from structsvm.rankers import LambdaMART, RankBoost, TreeRanker
from tests.models.export import readers

NAMES = ["bm25", "title match", "größe", "x:y"]
DECISIONS = {
    "nothing": [0, LEFT],
    "NaN": [NAN_MISSING, NAN_MISSING + LEFT],
    "zeros": [ZERO_MISSING, ZERO_MISSING + LEFT],
}


def documents(number: int, seed: int, *, missing: bool) -> Matrix:
    """Return documents with numbers of float32, of which some are 0 and some NaN."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(number, 4)).round(1).astype(np.float32).astype(float)
    X[rng.random(X.shape) < 0.1] = 0.0
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X


def forest(seed: int, kind: str, *, single: bool) -> Trees:
    """Return random trees, of which one has a single leaf, with thresholds among the values of documents."""
    rng = np.random.default_rng(seed)
    sizes, left, right, first = [4, 0, 1, 6], [], [], 0
    for size in sizes:
        children: list[list[int]] = [[] for _ in range(size)]
        for node in range(1, size):
            parents = [each for each in range(node) if len(children[each]) < 2]
            children[rng.choice(parents)].append(first + node)
        leaf = 0
        for each in children:
            while len(each) < 2:
                each.insert(int(rng.integers(2)), -1 - leaf)
                leaf += 1
            left.append(each[0])
            right.append(each[1])
        first += size
    threshold = rng.normal(size=first).round(1).astype(np.float32).astype(float)
    threshold[:3] = 0.0, 1e-35, -1e-7
    return Trees(
        np.cumsum([0, *sizes]),
        rng.integers(4, size=first),
        threshold,
        rng.choice(DECISIONS[kind], size=first).astype(np.uint8),
        np.array(left),
        np.array(right),
        single,
    )


def model(seed: int, kind: str = "nothing", *, single: bool = False, linear: bool = False) -> LeafModel:
    rng = np.random.default_rng(seed)
    trees = forest(seed, kind, single=single)
    leaves = int(trees.offsets[-1])
    weights = LinearModel(n_features=4, coef=[0.5, 0.0, -2.0, 1e-3], intercept=0.25) if linear else None
    made = LeafModel(
        trees=trees,
        values=rng.normal(size=leaves),
        counts=rng.integers(1, 9, size=leaves),
        linear=weights,
        n_features=4,
        feature_names=tuple(NAMES),
    )
    made.trees._check(4)
    return made


def onnx(path: Path, X: Matrix) -> Any:
    pytest.importorskip("onnx")
    session = pytest.importorskip("onnxruntime").InferenceSession(path)
    return session.run(None, {"features": X})[0]


def lightgbm(path: Path, X: Matrix) -> Any:
    return pytest.importorskip("lightgbm").Booster(model_file=path).predict(X)


@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("kind", DECISIONS)
def test_scores_are_those_of_the_model(kind: str, single: bool, linear: bool, tmp_path: Path) -> None:
    for name, read in {"onnx": onnx, "lightgbm": lightgbm}.items():
        for seed in range(3):
            given, X = model(seed, kind, single=single, linear=linear), documents(300, seed, missing=True)
            X[:100] += 1e-9
            assert len(export(given, tmp_path / name, name)) == (name == "lightgbm")
            np.testing.assert_allclose(read(tmp_path / name, X), given.predict(X), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", ["nothing", "NaN"])
@pytest.mark.parametrize("form", ["solr", "elasticsearch"])
def test_search_engines_find_the_same_leaves(form: str, kind: str, tmp_path: Path) -> None:
    read = {"solr": readers.solr_trees, "elasticsearch": readers.elasticsearch_trees}[form]
    for seed in range(3):
        given = model(seed, kind)
        X = documents(300, seed, missing=form == "elasticsearch")
        said = export(given, tmp_path / "m.json", form)
        if kind == "NaN":
            assert said == (f"{form} counts a missing feature as 0, which some splits of this model do not",)
        else:
            assert said == ()
        np.testing.assert_allclose(read(tmp_path / "m.json", NAMES, X), given.predict(X), rtol=0.0, atol=2e-6)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("ranker", [LambdaMART(5, min_child_samples=5), RankBoost(20)], ids=["LambdaMART", "RankBoost"])
def test_boosted_rankers_have_the_formats_of_trees(ranker: Any, missing: bool, tmp_path: Path) -> None:
    pytest.importorskip("lightgbm")
    X = documents(400, 0, missing=missing)
    y = (np.nan_to_num(X[:, 0] * X[:, 1]) > 0.5) ^ np.isnan(X[:, 2])
    scores = ranker.fit(X, y, np.repeat(np.arange(20), 20)).predict(X)
    readers_of = {"solr": readers.solr_trees, "elasticsearch": readers.elasticsearch_trees}
    for name, read in {"onnx": onnx, "lightgbm": lightgbm}.items():
        export(ranker, tmp_path / name, name)
        np.testing.assert_allclose(read(tmp_path / name, X), scores, rtol=1e-12, atol=1e-12)
    full = ~np.isnan(X).any(axis=1)
    for name, reader in readers_of.items():
        export(ranker, tmp_path / name, name, feature_names=NAMES)
        np.testing.assert_allclose(reader(tmp_path / name, NAMES, X[full]), scores[full], rtol=0.0, atol=2e-6)


def test_unsupported_trees_are_errors(tmp_path: Path) -> None:
    for form in ("json", "numpy", "svm_rank"):
        with pytest.raises(
            InputError, match=rf"{form} stores weighted sums .* has trees: export it as lightgbm or onnx"
        ):
            export(model(0), tmp_path / "m", form)
    for form in ("solr", "elasticsearch"):
        with pytest.raises(InputError, match=r"this LeafModel has both: train with features=False .* or export as"):
            export(model(0, linear=True), tmp_path / "m", form)
        with pytest.raises(InputError, match="compares zeros with thresholds, and this model counts them as missing"):
            export(model(0, "zeros"), tmp_path / "m", form)
        with pytest.raises(InputError, match="this model has 4 features without names"):
            export(evolve(model(0), feature_names=None), tmp_path / "m", form)
        large = evolve(model(0), values=model(0).values * 1e60)
        with pytest.raises(InputError, match="reads weights as float32"):
            export(large, tmp_path / "m", form)
    assert list(tmp_path.iterdir()) == []


def test_thresholds_of_float32_stay_exact_in_float64() -> None:
    """A float64 number goes the way of the float32 number that it is rounded to, beside every threshold."""
    rng = np.random.default_rng(0)
    threshold = np.concatenate([rng.normal(size=200), 10.0 ** rng.uniform(-45, 38, 200), [0.0, 3.4028235e38, -1e-46]])
    S = len(threshold)
    stumps = Trees(
        np.arange(S + 1),
        np.arange(S),
        threshold,
        np.zeros(S, dtype=np.uint8),
        np.full(S, -1),
        np.full(S, -2),
        single=True,
    )
    below = largest_float32(threshold).astype(float)
    half = below + np.abs(np.spacing(below.astype(np.float32)).astype(float)) / 2.0
    for center in (threshold, below, half, stumps.double.threshold):
        for X in (center, np.nextafter(center, np.inf), np.nextafter(center, -np.inf)):
            with np.errstate(over="ignore"):
                assert np.array_equal(stumps.leaves(X[None]), stumps.double.leaves(X[None]))


def test_rankers_of_each_library(tmp_path: Path) -> None:
    """Splits of scikit-learn round features to float32; features are weighed within queries."""
    X = documents(400, 0, missing=False)
    y: Vector = (X[:, 0] * X[:, 1] > 0.5).astype(float)
    qid: IntVector = np.repeat(np.arange(20), 20)
    grown = GradientBoostingRegressor(n_estimators=10, random_state=0).fit(X, y)
    ranker = TreeRanker(C=10.0, trees=grown, normalize="query-z-score").fit(X, y, qid)
    export(ranker, tmp_path / "m.onnx", "onnx")
    np.testing.assert_allclose(
        onnx(tmp_path / "m.onnx", X[:20]), ranker.predict(X[:20], qid[:20]), rtol=1e-9, atol=1e-9
    )
    with pytest.raises(InputError, match="lightgbm scores one document at a time"):
        export(ranker, tmp_path / "m.txt", "lightgbm")


def test_lightgbm_explains_an_exported_model(tmp_path: Path) -> None:
    given, X = model(1), documents(50, 1, missing=False)
    export(given, tmp_path / "m.txt", "lightgbm")
    booster = pytest.importorskip("lightgbm").Booster(model_file=tmp_path / "m.txt")
    assert booster.feature_name() == ["bm25", "title_match", "größe", "x_y"]
    parts = booster.predict(X, pred_contrib=True)
    np.testing.assert_allclose(parts.sum(axis=1), given.predict(X), rtol=1e-9, atol=1e-9)
    export(given, tmp_path / "m.txt", "lightgbm", feature_names=["a b", "a:b", "c", "d"])
    again = pytest.importorskip("lightgbm").Booster(model_file=tmp_path / "m.txt")
    assert again.feature_name() == [f"Column_{k}" for k in range(4)]
