"""Trained models: each is saved and loaded, as the estimator and as a model that needs NumPy alone."""

import json
import re
import shutil
import subprocess
import sys
import warnings
from contextlib import nullcontext, suppress
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import structsvm
from structsvm import Ranker, StructuralSVM
from structsvm.cli import main
from structsvm.exceptions import InputError, ModelFileError, TooLargeError
from structsvm.foundation.storage.files import read_archive, write_archive
from structsvm.models import LinearModel, TrainedModel
from structsvm.models.export import export
from structsvm.models.joint import JointModel
from structsvm.models.trees import booster_of, read_trees
from structsvm.rankers import LambdaMART, MaximumEntropy, RankBoost, RankNet, RankSVM, TreeRanker, WeightSearch
from structsvm.registry import rankers
from structsvm.registry.built_in import exports

needs_lightgbm = pytest.mark.skipif(find_spec("lightgbm") is None, reason="needs the package lightgbm")

MADE = {
    "ranker": Ranker(C=10.0),
    "ranker with an intercept": Ranker("zero_one", fit_intercept=True, intercept_scaling=2.0, measure="ndcg@5"),
    "rank_svm": RankSVM(C=3.0, objective="queries", solver="one-slack"),
    "maximum_entropy": MaximumEntropy(class_weight={0: 1.0, 1: 2.0}, relevant_from=1),
    "weight_search": WeightSearch(max_iter=2),
    "weight_search by arrays": WeightSearch(np.eye(5)[::-1], start=np.ones(5), max_iter=1),
    "rank_boost": RankBoost(20),
    "rank_net": RankNet(3, max_iter=5, random_state=0),
    "rank_net without hidden units": RankNet(0, max_iter=5, random_state=0),
    "lambda_mart": LambdaMART(
        8, min_child_samples=3, random_state=0, params={"num_threads": 1, "label_gain": [0, 1, 3]}
    ),
    "trees": TreeRanker(n_estimators=5, trees="scikit-learn", random_state=0),
    "trees alone": TreeRanker(n_estimators=5, trees="scikit-learn", random_state=0, features=False),
}
every = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[needs_lightgbm] if name == "lambda_mart" else []) for name in MADE]
)


def data(rows: int = 120):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, 5))
    signal = X @ [1.0, 2.0, 0.0, -1.0, 0.5] + rng.standard_normal(rows)
    return X, (signal > 0.5) * 1.0 + (signal > 2.0), np.repeat(np.arange(rows // 15), 15)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Fit and save each when it is first asked for."""
    folder, made = tmp_path_factory.mktemp("models"), {}

    def of(name):
        if name not in made:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                made[name] = MADE[name].fit(*data())
            made[name].save(folder / f"{name}.npz")
        return made[name], folder / f"{name}.npz"

    return of


def attributes(estimator):
    left_out = ("booster_", "scaling_", "model_", "_statistics")
    return {name: value for name, value in vars(estimator).items() if name not in left_out}


@every
def test_all_that_was_fitted_comes_back(saved, name):
    ranker, path = saved(name)
    loaded = type(ranker).load(path)
    X, y, qid = data()
    np.testing.assert_array_equal(loaded.predict(X), ranker.predict(X))
    assert loaded.score(X, y, qid) == ranker.score(X, y, qid)
    kept, result = attributes(ranker), attributes(loaded)
    assert result.keys() == kept.keys()
    for key, value in kept.items():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(result[key], value)
            assert key in ("directions", "start") or result[key].dtype == value.dtype
        else:
            assert str(result[key]) == str(value)
    if hasattr(ranker, "staged_predict"):
        for mine, theirs in zip(ranker.staged_predict(X), loaded.staged_predict(X), strict=True):
            np.testing.assert_array_equal(mine, theirs)


@every
def test_a_model_scores_as_the_estimator_to_the_last_bit(saved, name):
    ranker, path = saved(name)
    scorer = structsvm.load(path)
    assert isinstance(scorer, TrainedModel)
    assert (scorer.n_features, scorer.feature_names) == (5, None)
    assert scorer.title == type(ranker).__name__
    assert scorer.training.settings.keys() == ranker.get_params().keys() - {"n_jobs"}
    assert scorer.record == ranker.model_.record
    assert scorer.record["trained"] == ranker.trained_.time
    X, _, _ = data()
    dense = [X, np.asfortranarray(X), X[::2], X.tolist(), pd.DataFrame(X), X[:0], X[:1], X.round().astype(int)]
    sparse = [sp.csr_matrix(X), sp.csr_array(X.round()), sp.coo_array(X), sp.csc_array(X), sp.csr_array((0, 5))]
    holed = [np.where(X > 1.0, np.nan, X)]
    for rows in (*dense, *sparse * scorer.takes_sparse, *holed * scorer.takes_missing):
        for each in (rows, rows.astype(np.float32)) if hasattr(rows, "dtype") else (rows,):
            assert scorer.predict(each).tobytes() == ranker.predict(each).tobytes()
    assert scorer.predict(X[:0]).shape == (0,)
    equal = scorer.predict(np.repeat(X[:1], 7, axis=0))
    assert len(set(equal.tolist())) == 1


@every
def test_parts_are_of_features_the_largest_first(saved, name):
    ranker, path = saved(name)
    parts = ranker.model_.parts()
    assert parts == structsvm.load(path).parts()
    sizes = [abs(row["value"]) for row in parts.rows]
    assert sizes == sorted(sizes, reverse=True)
    assert {row["feature"] for row in parts.rows} <= set(range(5))
    if name.startswith("rank_boost"):
        alphas = sum(row["value"] for row in parts.rows)
        np.testing.assert_allclose(alphas, ranker.alphas_.sum())
    elif name == "rank_net":  # each unit's weights and what it passes on are what they are taken for: by differences
        w, b, v = ranker.weights_[:15].reshape(3, 5), ranker.weights_[15:18], ranker.weights_[18:]
        slope = (v * (1.0 - np.tanh(b) ** 2)) @ w / ranker.scaling_.deviation
        steps = ranker.scaling_.mean + 1e-5 * np.vstack([np.eye(5), -np.eye(5)])
        up, down = ranker.predict(steps).reshape(2, 5)
        np.testing.assert_allclose((up - down) / 2e-5, slope, rtol=1e-6)
        result = [row["value"] for row in sorted(parts.rows, key=lambda row: row["feature"])]
        np.testing.assert_allclose(result, np.abs(v) @ np.abs(w))
    elif "search" not in name:
        assert parts.rows[0]["feature"] == 1  # the one with the largest share of the signal


def test_missing_features_of_stumps(tmp_path):
    X, y, qid = data()
    X = np.where(X > 0.8, np.nan, X)
    ranker = RankBoost(30).fit(X, y, qid)
    assert ranker.missing_.any()
    assert np.isneginf(ranker.thresholds_).any() or not ranker.missing_.all()
    ranker.save(tmp_path / "m.npz")
    np.testing.assert_allclose(structsvm.load(tmp_path / "m.npz").predict(X), ranker.predict(X), rtol=1e-12)


def infinite(X):
    X = X.copy()
    X[3, 2] = np.inf
    return X


def holes(X):
    X = X.copy()
    X[3, 2] = np.nan
    return X


BAD = {
    "too few": lambda X: X[:, :4],
    "too many": lambda X: np.column_stack([X, X]),
    "no rows and too few columns": lambda X: X[:0, :3],
    "one row": lambda X: X[0],
    "a number": lambda X: 1.0,
    "three dimensions": lambda X: X[:, :, None],
    "NaN": holes,
    "infinite": infinite,
    "infinite float32": lambda X: infinite(X).astype(np.float32),
    "None": lambda X: None,
    "a name": lambda X: "X.txt",
    "a dict": lambda X: {"a": [1.0]},
    "texts": lambda X: np.array([["a", 1.0, 2.0, 3.0, 4.0]], dtype=object),
    "complex": lambda X: X + 1j,
    "masked": lambda X: np.ma.masked_greater(X, 1.0),
    "sparse": lambda X: sp.csr_array(X),
    "sparse and too few": lambda X: sp.csr_array(X[:, :4]),
    "sparse NaN": lambda X: sp.csr_array(holes(X)),
}


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("name", ["ranker", "rank_boost", "rank_net", "lambda_mart"])
def test_refusals_are_those_of_the_estimator(saved, name, bad):
    if name == "lambda_mart":
        pytest.importorskip("lightgbm")
    ranker, path = saved(name)
    X = BAD[bad](data()[0])
    said = []
    for model in (ranker, structsvm.load(path)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model.predict(X)
            except InputError as error:
                said.append((str(error).split("array=")[0], type(error)))
            else:
                said.append("nothing")
    assert said[0] == said[1]


def test_a_frame_is_read_by_position_if_the_model_has_no_names(saved):
    ranker, path = saved("ranker")
    frame = pd.DataFrame(data()[0], columns=list("abcde"))
    for model in (ranker, Ranker.load(path), structsvm.load(path)):
        np.testing.assert_array_equal(model.predict(frame[list("badce")]), ranker.predict(frame[list("badce")].values))


@given(st.integers(1, 30), st.integers(0, 30), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=40)
def test_equal_rows_have_equal_scores(columns, rows, seed):
    rng = np.random.default_rng(seed)
    model = LinearModel(n_features=columns, coef=rng.standard_normal(columns), intercept=0.5)
    one = rng.standard_normal(columns)
    X = np.repeat(one[None], rows, axis=0)
    assert set(model.predict(X).tolist()) <= {model.predict(one[None])[0]}


def test_finite_features_may_give_scores_that_are_not():
    model = LinearModel(n_features=2, coef=[1e200, 1e200])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isinf(model.predict(np.full((2, 2), 1e200))).all()


def changed(path, to, change):
    """Write the arrays of a file again after a change, with digests that are right."""
    arrays = read_archive(path, lambda found: {key: np.array(found[key]) for key in found})
    change(arrays)
    write_archive(to, arrays)


def header(**changes):
    def change(arrays):
        text = json.loads(str(arrays["model"]))
        for place, value in changes.items():
            part, _, key = place.partition("__")
            (text[part] if key else text)[key or part] = value
        arrays["model"] = np.array(json.dumps(text))

    return change


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("ranker", lambda arrays: arrays.update(w=np.full(5, np.nan))),
        ("ranker", lambda arrays: arrays.update(w=np.zeros(4))),
        ("ranker", lambda arrays: arrays.update(coef=np.ones(5))),
        ("ranker", lambda arrays: arrays.pop("result")),
        ("ranker", header(n_features=6)),
        ("ranker", header(intercept=1.0)),
        ("ranker", header(form="stumps")),
        ("ranker", header(settings__bounds=[[0.0, "a"], None])),
        ("ranker", header(settings__bounds=[[0.0, 1.0], None])),
        ("rank_svm", header(fitted__n_pairs_=0)),
        ("rank_svm", header(settings__objective="x")),
        ("rank_svm", header(settings__tol=-1.0)),
        ("maximum_entropy", lambda arrays: arrays.update(coef=np.zeros(5, dtype=np.float32))),
        ("maximum_entropy", header(intercept="a")),
        ("weight_search", lambda arrays: arrays.update(coef_path=np.zeros((0, 5)), map_path=np.zeros(0))),
        ("weight_search", lambda arrays: arrays.update(history=np.zeros((3, 4)))),
        ("rank_boost", lambda arrays: arrays.update(features=arrays["features"] + 5)),
        ("rank_boost", lambda arrays: arrays.update(features=arrays["features"] - 5)),
        ("rank_boost", lambda arrays: arrays.update(thresholds=np.full(20, np.nan))),
        ("rank_boost", header(fitted__best_iteration_=19)),
        ("rank_boost", header(settings__n_rounds=0)),
        ("rank_boost", header(settings__color=0)),
        ("rank_net", header(fitted__best_iteration_=6)),
        ("rank_net", header(hidden=4)),
        ("rank_net", header(fitted__hidden_=4)),
        ("rank_net", header(hidden=10**18)),
        ("rank_net", lambda arrays: arrays.update(scaling_deviation=np.zeros(5))),
        pytest.param("lambda_mart", header(fitted__best_iteration_=9), marks=needs_lightgbm),
        pytest.param("lambda_mart", lambda arrays: arrays.update(trees=arrays["trees"][:9000]), marks=needs_lightgbm),
        pytest.param(
            "lambda_mart", lambda arrays: arrays.update(trees=arrays["trees"].astype(np.int64)), marks=needs_lightgbm
        ),
    ],
)
def test_malformed_models_are_errors(saved, tmp_path, name, change):
    ranker, path = saved(name)
    changed(path, tmp_path / "m.npz", change)
    with pytest.raises(ModelFileError):
        type(ranker).load(tmp_path / "m.npz")


def test_a_file_without_digests_is_not_read(saved, tmp_path):
    _, path = saved("ranker")
    arrays = read_archive(path, lambda found: {key: np.array(found[key]) for key in found})
    np.savez(tmp_path / "m.npz", **arrays)
    for load in (structsvm.load, Ranker.load):
        with pytest.raises(ModelFileError, match="no digests"):
            load(tmp_path / "m.npz")


@pytest.mark.parametrize("found", [0, 2, "1", 1.0, None, True])
def test_another_format_is_not_read(saved, tmp_path, found):
    changed(saved("ranker")[1], tmp_path / "m.npz", header(format=found))
    for load in (structsvm.load, Ranker.load):
        with pytest.raises(
            ModelFileError, match=r"m\.npz: another version .* wrote it \(format .*; this version reads format 1\)"
        ):
            load(tmp_path / "m.npz")


@needs_lightgbm
def test_damaged_trees_are_refused_before_lightgbm_sees_them(saved):
    """LightGBM's reader ends the process on some of the texts: the test is to survive."""
    ranker, path = saved("lambda_mart")
    whole = read_archive(path, lambda found: np.array(found["trees"])).tobytes()
    rng = np.random.default_rng(3)
    for _ in range(60):
        text, place = bytearray(whole), int(rng.integers(len(whole)))
        match rng.integers(3):
            case 0:
                text[place] = rng.choice(list(b"0123456789-= .\nabc"))
            case 1:
                del text[place : place + int(rng.integers(1, 200))]
            case _:
                text[place:place] = bytes(text[place - 30 : place])
        with suppress(KeyError, ValueError):
            trees = read_trees({"trees": np.frombuffer(bytes(text), dtype=np.uint8)}, 5, ranker.best_iteration_)
            booster_of(trees).predict(data()[0])


HEADS = {
    "num_tree_per_iteration": ["0", "-1", "2", ""],
    "num_class": ["2", "0", "-1"],
    "objective": ["", "binary", "lambdarank x"],
    "label_index": ["1"],
    "max_feature_idx": ["3", "5", "-1"],
    "feature_names": ["a", "Column_0 " * 6],
    "feature_infos": ["none"],
    "version": ["v9", ""],
    "tree_sizes": ["", "0", "1 1", "-5"],
}
TREES = {
    "decision_type": ["1", "3", "12", "-1", "128"],
    "leaf_count": ["99999999999", "100000000000000000000"],
    "leaf_value": ["1e999", "nan"],
    "threshold": ["1e999"],
    "split_feature": ["5", "-1"],
    "left_child": ["0", "99"],
    "num_leaves": ["0", "99", "2147483649"],
    "num_cat": ["1"],
    "is_linear": ["1"],
    "shrinkage": ["", "1 1"],
}


@needs_lightgbm
def test_no_text_of_a_head_or_tree_reaches_lightgbm(saved):
    """Each field is replaced by values that end LightGBM's reader or its walk; none is given to it."""
    ranker, path = saved("lambda_mart")
    text = read_archive(path, lambda found: np.array(found["trees"])).tobytes().decode()

    def read(text):
        return read_trees({"trees": np.frombuffer(text.encode(), dtype=np.uint8)}, 5, ranker.best_iteration_)

    plain = read(text)
    np.testing.assert_array_equal(booster_of(plain).predict(data()[0], raw_score=True), ranker.predict(data()[0]))
    assert read(plain) == plain
    head, _, body = text.partition("\n\n")
    for name, values in HEADS.items():
        for value in values:
            with pytest.raises(ValueError, match="tree"):
                read(re.sub(rf"(?m)^{name}=.*$", f"{name}={value}", head) + "\n\n" + body)
    for line in ("Tree=0", "color=1", "num_class=1", "linear_tree"):
        with pytest.raises(ValueError, match="'trees' has"):
            read(f"{head}\n{line}\n\n{body}")
    size = int(re.search(r"tree_sizes=(\d+)", head)[1])
    for name, values in TREES.items():
        for value in values:
            many = name not in ("num_leaves", "num_cat", "is_linear", "shrinkage")
            edit = rf"(?m)^({name}=)\S*" if many else rf"(?m)^({name}=).*$"
            first = re.sub(edit, rf"\g<1>{value}", body[:size])
            assert first != body[:size], name
            with pytest.raises((ValueError, KeyError)):
                read(head.replace(f"tree_sizes={size}", f"tree_sizes={len(first)}") + "\n\n" + first + body[size:])


def test_other_files_are_named(saved, tmp_path):
    ranker, path = saved("ranker")
    for name in ("rank_svm", "rank_boost", "maximum_entropy"):
        other, elsewhere = saved(name)
        with pytest.raises(
            ModelFileError, match=rf"holds a {type(other).__name__}: read it with {type(other).__name__}"
        ):
            Ranker.load(elsewhere)
    with pytest.raises(ModelFileError, match=r"holds a Ranker: read it with Ranker\.load"):
        RankBoost.load(path)
    ranker.result_.save(tmp_path / "r.npz")
    with pytest.raises(ModelFileError, match=r"a Result: read it with Result\.load"):
        structsvm.load(tmp_path / "r.npz")
    write_archive(tmp_path / "x.npz", {"a": np.zeros(1)})
    with pytest.raises(ModelFileError, match="it holds no model"):
        structsvm.load(tmp_path / "x.npz")
    with pytest.raises(ModelFileError, match="does not exist"):
        structsvm.load(tmp_path / "none.npz")


def test_a_model_of_joint_features_predicts_by_its_estimator(tmp_path):
    X, y, _ = data()
    svm = StructuralSVM("multiclass").fit(X, y.astype(int))
    svm.save(tmp_path / "m.npz")
    model = structsvm.load(tmp_path / "m.npz")
    assert isinstance(model, JointModel)
    np.testing.assert_array_equal(model.predict(X), svm.predict(X))
    np.testing.assert_array_equal(model.coef, svm.coef_)
    model.save(tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "m.npz").read_bytes()
    with pytest.raises(InputError, match="it does not score rows"):
        model.explain(X)
    changed(tmp_path / "m.npz", tmp_path / "x.npz", header(settings__C="a"))
    with pytest.raises(ModelFileError, match="malformed"):
        structsvm.load(tmp_path / "x.npz").predict(X)


def test_every_ranker_is_here():
    assert {type(ranker) for ranker in MADE.values()} == set(map(rankers.find, rankers.built_in))


@every
def test_a_loaded_model_is_a_whole(saved, tmp_path, name):
    """It predicts, explains its scores, is shown and exported as the estimator's, and is saved to the same bytes."""
    ranker, path = saved(name)
    model, (X, _, _) = structsvm.load(path), data()
    explained, scores = model.explain(X), ranker.predict(X)
    result = explained.contributions
    assert result.shape == X.shape
    np.testing.assert_allclose(result.sum(axis=1) + explained.base, scores, rtol=1e-12, atol=1e-12)
    assert explained.difference(2, 0).contributions.sum() == pytest.approx(scores[2] - scores[0], rel=0, abs=1e-12)
    assert explained.difference(2).contributions.sum() == pytest.approx(scores[2] - scores.mean(), rel=0, abs=1e-12)
    for each in (model, type(ranker).load(path)):
        each.save(tmp_path / "again.npz")
        assert (tmp_path / "again.npz").read_bytes() == path.read_bytes()
    shown = CliRunner().invoke(main, ["show", str(path), "--json", "-"])
    assert json.loads(shown.output)["rows"]
    forms = {"rank_net": ("onnx",), "trees": ("lightgbm", "onnx")}
    forms |= dict.fromkeys(["trees alone", "rank_boost", "lambda_mart"], ("lightgbm", "onnx", "solr", "elasticsearch"))
    for form in exports.built_in:
        fits = form in forms.get(name, exports.built_in)
        target = tmp_path / f"m.{form}"
        with nullcontext() if fits else pytest.raises(InputError, match="weighted sums|has both|the hidden layer"):
            export(model, target, form, feature_names=list("abcde"))
        if fits:
            content = target.read_bytes()
            export(ranker, target, form, feature_names=list("abcde"))
            assert target.read_bytes() == content


@pytest.mark.parametrize("normalize", ["query-min-max", "query-z-score", "standard"])
def test_normalized_features_explain_scores(normalize):
    X, y, qid = data()
    ranker = Ranker("zero_one", C=5.0, fit_intercept=True, normalize=normalize).fit(X + 3.0, y, qid=qid)
    for rows in (X, X.astype(np.float32), sp.csr_array(X)):
        explained, scores = ranker.model_.explain(rows, qid), ranker.predict(rows, qid=qid)
        sums = explained.contributions.sum(axis=1) + explained.base
        np.testing.assert_allclose(sums, scores, rtol=1e-12, atol=1e-12)
    assert explained.base == ranker.intercept_


def test_contributions_are_listed_by_name():
    model = LinearModel(n_features=3, coef=[1.0, -2.0, 0.5])
    explained = model.explain(np.array([[1.0, 1.0, 1.0], [0.0, 3.0, 1.0]]))
    assert explained.as_list(1, top=1) == [("feature 2", -6.0)]
    named = model.named(["a", "b", "c"]).explain(np.array([[1.0, 1.0, 1.0], [0.0, 3.0, 1.0]]))
    assert named.difference(0, 1).as_list() == [("b", 4.0), ("a", 1.0), ("c", 0.0)]
    for wrong in (2, -1, 0.5):
        with pytest.raises(InputError, match="j must be"):
            named.difference(0, wrong)


def test_contributions_that_memory_cannot_hold_are_refused():
    model = LinearModel(n_features=10**7, coef=np.zeros(10**7))
    with pytest.raises(TooLargeError, match="explain fewer rows at a time"):
        model.explain(sp.csr_array((10**6, 10**7)))


def test_hidden_units_share_what_they_pass_on():
    """Against the integral of the gradient from the average document, summed numerically."""
    X, y, qid = data()
    model = RankNet(3, max_iter=5, random_state=0).fit(X, y, qid).model_
    X[0] = model.scaling.mean  # nothing to explain
    explained = model.explain(X[:4])
    result, base = explained.contributions, explained.base
    z = (X[:4] - model.scaling.mean) / model.scaling.deviation
    U, b, v = model.weights[:15].reshape(3, 5), model.weights[15:18], model.weights[18:]
    places = (np.arange(2000) + 0.5) / 2000
    inner = np.tanh(places[:, None, None] * (z @ U.T) + b)
    slopes = ((1.0 - inner**2) * v).mean(axis=0) @ U
    np.testing.assert_allclose(result, slopes * z, rtol=1e-5, atol=1e-9)
    assert not result[0].any()
    assert base == pytest.approx(model.predict(X[:1])[0])


def test_a_model_made_by_hand_is_saved_and_exported(tmp_path):
    model = LinearModel(n_features=2, feature_names=("a", "b"), coef=[2.0, -1.0], intercept=0.5)
    model.save(tmp_path / "m.npz")
    again = structsvm.load(tmp_path / "m.npz")
    assert again.predict([[1.0, 1.0]]).tolist() == [1.5]
    assert again.feature_names == ("a", "b")
    assert again.record["ranker"] == "LinearModel"
    export(again, tmp_path / "m.json", "json")
    with pytest.raises(ModelFileError, match=r"holds a LinearModel: read it with structsvm\.load"):
        Ranker.load(tmp_path / "m.npz")
    with pytest.raises(InputError, match="weight for each of 3 features"):
        LinearModel(n_features=3, coef=[1.0])
    with pytest.raises(InputError, match="weights of the original features overflow"):
        export(LinearModel(n_features=1, coef=[np.inf]), tmp_path / "x.json", "json")


LIGHT = """
import sys
import numpy as np
import structsvm
for path in sys.argv[1:]:
    structsvm.load(path).predict(np.ones((3, 5)))
    structsvm.load(path).predict(np.ones((3, 5)).tolist())
    structsvm.load(path).explain(np.ones((3, 5)))
    structsvm.load(path).save(path)
    try:
        structsvm.load(path).predict(np.full((3, 5), np.inf))
    except ValueError:
        pass
print([name for name in ("numba", "sklearn", "scipy", "pandas", "rich", "click") if name in sys.modules])
"""


def test_a_loaded_model_needs_neither_numba_nor_scikit_learn_nor_scipy(saved, tmp_path):
    """Run in a separate process, whose modules can be listed."""
    paths = [shutil.copy(saved(name)[1], tmp_path) for name in MADE if name != "lambda_mart"]
    done = subprocess.run([sys.executable, "-c", LIGHT, *paths], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")
