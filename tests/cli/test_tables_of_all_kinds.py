"""A CSV with empty cells, categories, truth values, a date and an index becomes an exported model in three commands."""

import re

import numpy as np
import pandas as pd
import pytest

from structsvm import Ranker, load
from structsvm.data import load_table
from structsvm.rankers import TreeRanker

RNG = np.random.default_rng(7)
N = 240
COLOURS = RNG.choice(["amber", "blue", "coral", "denim", "ecru", "flax", "gold", "hazel"], N)
AGE = RNG.integers(0, 90, N).astype(float)
FRAME = pd.DataFrame(
    {
        "qid": np.repeat(np.arange(24), 10),
        "label": (AGE / 90 + (COLOURS == "coral") + RNG.random(N) > 1.2).astype(int),
        "bm25": RNG.normal(size=N).round(6),
        "age": np.where(RNG.random(N) < 0.2, np.nan, AGE),
        "colour": np.where(RNG.random(N) < 0.1, None, COLOURS),
        "new": RNG.random(N) < 0.5,
        "day": pd.date_range("2026-01-01", periods=N).strftime("%Y-%m-%d"),
    }
)
FEATURES = ["bm25", "age", "colour", "new"]
RANKERS = {
    "ranker": (["--missing", "median", "--normalize", "standard"], Ranker(missing="median", normalize="standard")),
    "trees": (["--ranker", "trees(n_estimators=20, random_state=0)"], TreeRanker(n_estimators=20, random_state=0)),
}


@pytest.fixture
def table(tmp_path):
    FRAME.to_csv(tmp_path / "train.csv")
    return tmp_path / "train.csv"


@pytest.mark.parametrize("name", RANKERS)
def test_three_commands_lead_from_a_csv_to_equal_scores_elsewhere(run, table, tmp_path, name):
    lightgbm, onnxruntime = pytest.importorskip("lightgbm"), pytest.importorskip("onnxruntime")
    model = tmp_path / "model.npz"
    options, _ = RANKERS[name]
    result = run("train", table, *options, "--model", model)
    assert "columns of categories, each value a feature of 0 or 1: colour" in result.output
    assert "day (dates)" in result.output
    assert "saved index: Unnamed: 0" in result.output
    result = run("predict", model, table, "--output", tmp_path / "scores.txt")
    scores = np.loadtxt(tmp_path / "scores.txt")
    X = load(model).checked(FRAME)
    assert np.isnan(X).any()
    np.testing.assert_allclose(load(model).predict(FRAME), scores, atol=1e-12)
    for form in ("onnx", "lightgbm"):
        result = run("export", model, "--format", form, "--output", tmp_path / form)
        assert "named column=value, for the columns of categories: colour" in result.output
    session = onnxruntime.InferenceSession(tmp_path / "onnx")
    np.testing.assert_allclose(session.run(None, {"features": X})[0], scores, atol=1e-6)
    np.testing.assert_allclose(lightgbm.Booster(model_file=tmp_path / "lightgbm").predict(X), scores, atol=1e-6)


@pytest.mark.parametrize("name", RANKERS)
@pytest.mark.parametrize("declared", [False, True])
def test_files_and_frames_of_all_kinds_give_equal_models(run, table, tmp_path, name, declared):
    polars = pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    options, ranker = RANKERS[name]
    frame = FRAME.astype({"colour": "category"}) if declared else FRAME
    frame.to_parquet(tmp_path / "train.parquet")
    frames = {"pandas": frame, "polars": polars.from_pandas(frame), "pyarrow": polars.from_pandas(frame).to_arrow()}
    models = {}
    for path in (table, tmp_path / "train.parquet"):
        run("train", path, *options, "--model", tmp_path / "model.npz")
        models[path.suffix] = load(tmp_path / "model.npz")
    for kind, whole in frames.items():
        X = whole.select(FEATURES) if hasattr(whole, "select") else whole[FEATURES]
        models[kind] = type(ranker)(**ranker.get_params()).fit(X, FRAME["label"], qid=FRAME["qid"]).model_
    first = models[".csv"]
    for model in models.values():
        assert model.feature_names == first.feature_names
        assert model.categories == ("colour",)
        for whole in frames.values():
            np.testing.assert_array_equal(model.predict(whole), first.predict(FRAME))


def test_columns_in_another_order_and_unknown_categories_are_no_error(run, table, tmp_path):
    run("train", table, "--missing", "median", "--model", tmp_path / "model.npz")
    model = load(tmp_path / "model.npz")
    new = FRAME[FRAME.columns[::-1]].assign(colour="ultramarine")
    new.to_csv(tmp_path / "new.csv", index=False)
    result = run("predict", tmp_path / "model.npz", tmp_path / "new.csv", "--output", tmp_path / "scores.txt")
    assert "lack, which are 0 in all features: colour (240 rows, such as 'ultramarine')\n" in result.output
    np.testing.assert_allclose(np.loadtxt(tmp_path / "scores.txt"), model.predict(FRAME.assign(colour=None)))
    data = load_table(table)
    again = load_table(table, features=data.feature_names, categories=data.categories)
    np.testing.assert_array_equal(again.X, data.X)
    np.testing.assert_array_equal(model.predict(again.X), model.predict(FRAME))


@pytest.mark.parametrize(
    ("change", "options", "code", "said"),
    [
        ({}, [], 2, "age.* is missing in [0-9]+ of 240 documents: give --missing median"),
        ({}, ["--ranker", "trees", "--missing", "mean"], 2, "TreeRanker learns from missing features.*leave --missing"),
        ({}, ["--missing", "most"], 2, "'most' is not median, mean or a number"),
        ({"bm25": ["1"] * (N - 1) + ["odd"]}, [], 2, "'odd' in column 'bm25' is not a number: correct it, or leave"),
        ({}, ["--features", "bm25,day"], 2, "column 'day' has dates"),
        ({"colour": [f"c{k}" for k in range(N)]}, ["--features", "colour"], 2, "more than 50 texts, .*--categories"),
        ({"age": np.nan}, ["--missing", "mean"], 0, r"left out.*age \(only missing values\)"),
    ],
)
def test_a_table_with_a_mistake_gets_one_message(run, tmp_path, change, options, code, said):
    FRAME.assign(**change).to_csv(tmp_path / "train.csv")
    result = run("train", tmp_path / "train.csv", *options, "--model", tmp_path / "model.npz", code=code)
    assert re.search(said, " ".join(result.output.split())), result.output


def test_other_commands_read_the_table(run, table, tmp_path):
    run("select", table, "--missing", "median", "--step", 0.5, "--folds", 2, "--model", tmp_path / "chosen.npz")
    assert load(tmp_path / "chosen.npz").categories == ("colour",)
    run("evaluate", tmp_path / "chosen.npz", table)
    run("train", table, "--missing", "median", "--model", tmp_path / "model.npz")
    shown = run("show", tmp_path / "model.npz").output
    assert re.search(r"missing +median\ncategories +colour\n", shown)
    assert "'age' is missing in" in run("compare", table, code=2).output
    run("compare", table, "--missing", "median", "--solver", "one-slack", "--csv", tmp_path / "gaps.csv")
