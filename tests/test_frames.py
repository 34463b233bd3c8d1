"""Data frames of pandas, polars and pyarrow, and lists of them, in all estimators: columns are found by name."""

import datetime
import decimal
import warnings
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

import structsvm
from structsvm import Problem, Ranker, RankerCV, StructuralSVM, StructuralSVMCV
from structsvm.estimators import FeatureEliminationCV, RampRanker
from structsvm.exceptions import GridEndWarning, IdFeaturesWarning, InputError, ZeroWeightsWarning
from structsvm.features import FillMissing, QueryMinMax, Thresholds
from structsvm.fusion import CombSUM
from structsvm.inspection import query_permutation_importance
from structsvm.rankers import (
    LambdaMART,
    MaximumEntropy,
    RankBoost,
    RankNet,
    RankSVM,
    TreeRanker,
    WeightSearch,
    refit,
)
from structsvm.registry import rankers
from tests.slow import slow

LIBRARIES = ("pandas", "polars", "pyarrow")
each_library = pytest.mark.parametrize("library", ["pandas", *slow("polars", "pyarrow")])
ROWS = 48
QID = np.repeat(np.arange(12), 4)
_rng = np.random.default_rng(0)
COLUMNS = {
    "match": _rng.standard_normal(ROWS),
    "recent": _rng.integers(0, 2, ROWS),
    "clicks": _rng.integers(0, 50, ROWS),
    "stars": _rng.integers(1, 4, ROWS),
    "price": _rng.integers(0, 9, ROWS) / 2,
}
NAMES = list(COLUMNS)
X = np.column_stack(list(COLUMNS.values())).astype(np.float64)
Y = (X[:, 0] + 0.5 * X[:, 1] + 0.3 * X[:, 3] > 1.0).astype(np.float64)

ESTIMATORS: dict[str, Any] = {
    "ranker": Ranker(C=10.0),
    "ranker of rows": Ranker("zero_one", fit_intercept=True),
    "ranker by query": Ranker(normalize="query-min-max"),
    "signs": Ranker(monotonic_cst={"match": 1, "price": -1}),
    "ramp": RampRanker(max_iter=3),
    "search": RankerCV(Cs=[1.0, 10.0], cv=2),
    "elimination": FeatureEliminationCV(cv=2),
    "rank_svm": RankSVM(),
    "maximum_entropy": MaximumEntropy(),
    "weight_search": WeightSearch(max_iter=1),
    "rank_boost": RankBoost(3),
    "rank_net": RankNet(2, max_iter=2, random_state=0),
    "lambda_mart": LambdaMART(3, min_child_samples=2, random_state=0, params={"num_threads": 1}),
    "trees": TreeRanker(n_estimators=2, trees="scikit-learn", random_state=0),
    "fusion": CombSUM(),
    "classes": StructuralSVM("multiclass"),
    "classes by search": StructuralSVMCV(StructuralSVM("multiclass"), Cs=[1.0, 10.0], cv=2),
}
JOINT = ("classes", "classes by search")


def table(library: str, columns: dict[str, Any]) -> Any:
    """Return a data frame of a library."""
    module = pytest.importorskip(library)
    return module.table(columns) if library == "pyarrow" else module.DataFrame(columns)


def typed(library: str) -> Any:
    """Return the columns as booleans, nullable integers, categories and decimals or objects."""
    columns = {name: values.tolist() for name, values in COLUMNS.items()}
    flags, prices = [value == 1 for value in columns["recent"]], [decimal.Decimal(value) for value in columns["price"]]
    if library == "pandas":
        import pandas as pd

        kinds = {"clicks": "Int64", "stars": "category", "price": object, "recent": "boolean"}
        return pd.DataFrame({**columns, "recent": flags, "price": prices}).astype(kinds)
    if library == "polars":
        import polars as pl

        stars = pl.Series(map(str, columns["stars"]), dtype=pl.Enum(["1", "2", "3"]))
        clicks = pl.Series(columns["clicks"], dtype=pl.Int8)
        return pl.DataFrame({**columns, "recent": flags, "price": prices, "stars": stars, "clicks": clicks})
    import pyarrow as pa

    stars = pa.array(columns["stars"]).dictionary_encode()
    return pa.table(
        {**columns, "recent": flags, "price": prices, "stars": stars, "clicks": pa.array(columns["clicks"])}
    )


@cache
def variants(library: str) -> dict[str, Any]:
    """Return data frames of the same features."""
    turned = {name: COLUMNS[name] for name in NAMES[::-1]}
    return {
        "as fitted": table(library, COLUMNS),
        "reordered": table(library, turned),
        "with an unknown column": table(library, {"site": ["b.org"] * ROWS, **turned}),
        "typed": typed(library),
    }


@cache
def faults(library: str) -> list[tuple[str, Any, str]]:
    """Return data frames that are refused, each with its message."""
    days = [datetime.date(2020, 1, 1)] * ROWS
    wrong = [
        ("missing", {"match": COLUMNS["match"]}, r"lacks 4 of the 5 features .*: 'recent', 'clicks', 'stars', 'price'"),
        ("renamed", {**{n: COLUMNS[n] for n in NAMES[1:]}, "Match": X[:, 0]}, r"lacks 1 .*: 'match'; .*: 'Match'"),
        ("text", {**COLUMNS, "stars": ["three"] * ROWS}, r"'three' at row 0, column 3 \('stars'\): leave the column"),
        ("dates", {**COLUMNS, "stars": days}, r"'stars'.*(dates: convert|leave the column out)"),
        ("lists", {**COLUMNS, "stars": [[1.0]] * ROWS}, r"'stars'.*(one number per row|leave the column out)"),
        ("a missing value", {**COLUMNS, "stars": [None, *COLUMNS["stars"][1:].tolist()]}, r"NaN.* \('stars'\)"),
    ]
    frames = [(name, table(library, columns), message) for name, columns, message in wrong]
    if library == "pandas":
        repeated = table(library, COLUMNS).rename(columns={"price": "match"})
        frames.append(("repeated", repeated, "several columns named 'match'"))
        frames.append(
            ("mixed names", table(library, {**COLUMNS, 7: X[:, 0]}), "all texts or all numbers, but one is 7")
        )
    if library == "pyarrow":
        repeated = table(library, COLUMNS).rename_columns([*NAMES[:-1], "match"])
        frames.append(("repeated", repeated, "several columns named 'match'"))
    return frames


def fit(name: str, frame: Any) -> Any:
    with warnings.catch_warnings():
        for category in (ConvergenceWarning, ZeroWeightsWarning, GridEndWarning):
            warnings.simplefilter("ignore", category)
        estimator = clone(ESTIMATORS[name])
        return estimator.fit(frame, Y) if name in JOINT else estimator.fit(frame, Y, qid=QID)


@cache
def fitted(name: str, library: str | None) -> Any:
    """Return an estimator fitted on a frame, or on an array, if it needs no names."""
    if library is None and name != "signs":
        return fit(name, X)
    return fit(name, table(library or "pandas", COLUMNS))


def scores(name: str, estimator: Any, frame: Any) -> Any:
    by_query = name in ("ranker by query", "fusion")
    return estimator.predict(frame, qid=QID) if by_query else estimator.predict(frame)


def score(name: str, estimator: Any, frame: Any) -> Any:
    return estimator.score(frame, Y) if name in JOINT else estimator.score(frame, Y, qid=QID)


USES = {
    "predict": scores,
    "score": score,
    "explain": lambda _, estimator, frame: estimator.model_.explain(frame, QID).contributions,
    "check": lambda _, estimator, frame: str(estimator.model_.check(frame, QID)),
    "calibrate": lambda _, estimator, frame: estimator.model_.calibrated(frame, Y, QID).predict_proba(frame, QID),
    "importance": lambda _, estimator, frame: (
        query_permutation_importance(estimator, frame, Y, QID, n_repeats=1).importances
    ),
    "load": lambda name, estimator, frame: scores(name, reloaded(estimator), frame),
}
_loaded: dict[int, Any] = {}


def reloaded(estimator: Any) -> Any:
    if id(estimator) not in _loaded:
        estimator.model_.save("model.npz")
        _loaded[id(estimator)] = structsvm.load("model.npz")
    return _loaded[id(estimator)]


def applies(name: str, use: str) -> bool:
    if name == "fusion":
        return use in ("predict", "score")
    return name not in JOINT or use in ("predict", "score", "load")


def test_all_rankers_are_here() -> None:
    here = {type(estimator) for estimator in ESTIMATORS.values()}
    assert {rankers.find(name) for name in rankers.names()} <= here


@pytest.mark.parametrize(
    ("library", "name", "use"),
    [
        pytest.param(*case, marks=[pytest.mark.slow] * (case[0] != "pandas" and case[2] != "predict"))
        for case in product(LIBRARIES, ESTIMATORS, USES)
        if applies(*case[1:])
    ],
)
def test_columns_are_found_by_name(library: str, name: str, use: str, tmp_path: Any, monkeypatch: Any) -> None:
    if name == "lambda_mart":
        pytest.importorskip("lightgbm")
    monkeypatch.chdir(tmp_path)
    estimator = fitted(name, library)
    assert estimator.feature_names_in_.tolist() == NAMES
    expected = USES[use](name, fitted(name, None), X if name != "signs" else table("pandas", COLUMNS))
    for variant, frame in variants(library).items():
        np.testing.assert_array_equal(USES[use](name, estimator, frame), expected, err_msg=variant)
    for variant, frame, message in faults(library):
        if variant == "a missing value" and (name in ("lambda_mart", "trees", "fusion", "rank_boost")):
            continue
        with pytest.raises(InputError, match=message):
            pytest.fail(f"{variant}: {USES[use](name, estimator, frame)}")


@each_library
@pytest.mark.parametrize("name", [name for name in ESTIMATORS if name != "signs"])
def test_types_of_columns_are_read_by_fit(library: str, name: str) -> None:
    if name == "lambda_mart":
        pytest.importorskip("lightgbm")
    np.testing.assert_array_equal(scores(name, fit(name, typed(library)), X), scores(name, fitted(name, None), X))
    for variant, frame, message in faults(library):
        if variant in ("missing", "renamed") or "missing value" in variant:
            continue
        with pytest.raises(InputError, match=message):
            pytest.fail(f"{variant}: {fit(name, frame)}")


def test_fit_warns_of_names_of_ids_labels_or_a_saved_index() -> None:
    ordinary = dict.fromkeys(["bm25", "idf", "labels", "paid", "valid", "page_rank", "index_size", "level"], X[:, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Ranker().fit(table("pandas", ordinary), Y, qid=QID)
    for name in ("Unnamed: 0", "index", "level_0", "doc_id", "qid", "label"):
        with pytest.warns(IdFeaturesWarning, match=rf"drop\(columns=\['{name}'\]\)") as issued:
            Ranker().fit(table("pandas", {**ordinary, name: X[:, 1]}), Y, qid=QID)
        assert [warning.filename for warning in issued] == [__file__]


@each_library
def test_paths_and_transformers_read_frames(library: str) -> None:
    frames = variants(library)
    path = Ranker().path(frames["typed"], Y, QID, Cs=[1.0, 10.0])
    for ranker, expected in zip(path, Ranker().path(X, Y, QID, Cs=[1.0, 10.0]), strict=True):
        for frame in frames.values():
            np.testing.assert_array_equal(ranker.predict(frame), expected.predict(X))
    for transformer, settings in ((QueryMinMax(), {"qid": QID}), (FillMissing(0.0), {}), (Thresholds(bins=3), {})):
        expected = dense(clone(transformer).fit(X, **settings).transform(X, **settings))
        transformer.fit(frames["as fitted"], **settings)
        assert transformer.feature_names_in_.tolist() == NAMES
        for frame in frames.values():
            np.testing.assert_array_equal(dense(transformer.transform(frame, **settings)), expected)
        with pytest.raises(InputError, match="lacks 4 of the 5 features that .* was fitted with"):
            transformer.transform(table(library, {"match": X[:, 0]}), **settings)
    np.testing.assert_array_equal(Problem.from_queries(typed(library), Y, QID).at(np.ones(5)).scores, X.sum(axis=1))
    pipeline = make_pipeline(FillMissing(0.0), Ranker("zero_one")).fit(frames["typed"], Y)
    np.testing.assert_array_equal(
        query_permutation_importance(pipeline, frames["reordered"], Y, QID, n_repeats=1).importances[::-1],
        [by_hand(pipeline, k) for k in range(5)],
    )


def dense(rows: Any) -> Any:
    return rows.toarray() if hasattr(rows, "toarray") else rows


def by_hand(pipeline: Any, feature: int) -> float:
    """Return the importance of a feature that the table of all features, in the order of fit, would have."""
    turned = make_pipeline(FillMissing(0.0), Ranker("zero_one")).fit(X[:, ::-1], Y)
    return float(query_permutation_importance(turned, X[:, ::-1], Y, QID, n_repeats=1).importances[4 - feature])


@each_library
@pytest.mark.parametrize("kind", ["scikit-learn", "lightgbm", "xgboost"])
def test_trees_find_their_features_by_name(library: str, kind: str) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=NAMES)
    if kind == "scikit-learn":
        model = RandomForestRegressor(3, max_leaf_nodes=4, random_state=0).fit(frame, Y)
    elif kind == "lightgbm":
        module = pytest.importorskip("lightgbm")
        model = module.LGBMRegressor(n_estimators=3, min_child_samples=2, verbose=-1, n_jobs=1).fit(frame, Y)
    else:
        model = pytest.importorskip("xgboost").XGBRegressor(n_estimators=3, n_jobs=1).fit(frame, Y)
    expected = TreeRanker(trees=model).fit(frame, Y, qid=QID)
    for variant in variants(library).values():
        ranker = TreeRanker(trees=model).fit(variant, Y, qid=QID)
        assert ranker.feature_names_in_.tolist() == NAMES
        np.testing.assert_array_equal(ranker.predict(variant), expected.predict(X))
        refit(model, variant, Y, QID)
    with pytest.raises(InputError, match="lacks 4 of the 5 features that the trees were trained with: 'recent'"):
        TreeRanker(trees=model).fit(table(library, {"match": X[:, 0]}), Y, qid=QID)
    unnamed = RandomForestRegressor(3, max_leaf_nodes=4, random_state=0).fit(X, Y)
    assert TreeRanker(trees=unnamed).fit(frame, Y, qid=QID).feature_names_in_.tolist() == NAMES


@each_library
def test_vectors_of_a_library_are_read(library: str) -> None:
    frame = table(library, {"y": Y, "qid": QID, "weight": 1.0 + QID % 2, "word": [f"q{q:02}" for q in QID]})
    expected = Ranker().fit(X, Y, QID, sample_weight=1.0 + QID % 2)
    for qid in ("qid", "word"):
        ranker = Ranker().fit(X, frame["y"], qid=frame[qid], sample_weight=frame["weight"])
        np.testing.assert_array_equal(ranker.coef_, expected.coef_)
        assert ranker.score(X, frame["y"], qid=frame[qid]) == expected.score(X, Y, qid=QID)
    model = StructuralSVM().fit(X, frame["word"], sample_weight=frame["weight"])
    assert model.score(X, frame["word"]) == StructuralSVM().fit(X, QID, sample_weight=1.0 + QID % 2).score(X, QID)
    with pytest.warns(GridEndWarning):
        search = RankerCV(Cs=[1.0, 10.0], cv=2).fit(X, frame["y"], qid=frame["qid"])
    assert search.best_score_ == fitted("search", None).best_score_


def chains(library: str, order: list[str], part: slice = slice(None)) -> tuple[list[Any], list[Any]]:
    xs = [table(library, {name: COLUMNS[name][q == QID] for name in order}) for q in range(12)]
    return xs[part], [Y[q == QID].astype(int).tolist() for q in range(12)][part]


EDGES = np.array([[0, 1], [1, 2], [2, 3]])


def graphs(library: str, order: list[str], edges: list[str] | None) -> tuple[list[Any], list[Any]]:
    xs, ys = chains(library, order)
    ends = {"near": np.arange(3.0), "far": 10.0 - np.arange(3.0)}
    of_edges = [] if edges is None else [table(library, {name: ends[name] for name in edges})]
    return [(x, EDGES, *of_edges) for x in xs], ys


@each_library
@pytest.mark.parametrize("kind", ["chains", "graphs", "graphs with features of edges"])
def test_lists_of_frames_are_read_by_name(library: str, kind: str, tmp_path: Any) -> None:
    loss = "chain_hamming" if kind == "chains" else "graph_hamming"

    def inputs(order: list[str], edges: list[str]) -> tuple[list[Any], list[Any]]:
        return (
            chains(library, order) if kind == "chains" else graphs(library, order, edges if "edges" in kind else None)
        )

    xs, ys = inputs(NAMES, ["near", "far"])
    turned, _ = inputs(NAMES[::-1], ["far", "near"])
    model = StructuralSVM(loss, C=10.0, tol=0.01).fit(xs, ys)
    model.save(tmp_path / "m.npz")
    models = [model, StructuralSVM.load(tmp_path / "m.npz"), structsvm.load(tmp_path / "m.npz")]
    models.append(StructuralSVM(loss, C=10.0, tol=0.01).fit([xs[0], *turned[1:]], ys))
    for other in models:
        for given in (xs, turned, [turned[0], *xs[1:]]):
            assert [list(y) for y in other.predict(given)] == [list(y) for y in model.predict(xs)]
    assert model.feature_names_in_.tolist() == NAMES
    assert model.most_violated(turned[0], ys[0]).margin == model.most_violated(xs[0], ys[0]).margin
    search = StructuralSVMCV(StructuralSVM(loss, tol=0.01), Cs=[1.0, 10.0], cv=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(turned, ys)
    assert [list(y) for y in search.predict(xs)] == [list(y) for y in search.predict(turned)]
    lacking, _ = inputs(NAMES[:4], ["near", "far"])
    with pytest.raises(
        InputError, match=r"X\[0\] lacks 1 of the 5 features that StructuralSVM was fitted with: 'price'"
    ):
        model.predict(lacking)
    with pytest.raises(InputError, match=r"X\[2\] lacks 1 of the 5 features that .*X\[0\] has: 'price'"):
        StructuralSVM(loss).fit([*xs[:2], *lacking[2:]], ys)
    if "edges" in kind:
        other, _ = inputs(NAMES, ["near"])
        with pytest.raises(InputError, match="edge features 0 lacks 1 of the 2 features .* 'far'"):
            model.predict(other)


@pytest.mark.parametrize("library", ["pandas", "pyarrow"])
def test_repeated_names_are_an_error_in_lists(library: str) -> None:
    xs, ys = chains(library, NAMES)
    if library == "pandas":
        xs[3] = xs[3].rename(columns={"price": "match"})
    else:
        xs[3] = xs[3].rename_columns([*NAMES[:4], "match"])
    with pytest.raises(InputError, match=r"X\[3\] has several columns named 'match'"):
        StructuralSVM("chain_hamming").fit(xs, ys)


def test_names_that_are_not_text_count_as_positions() -> None:
    pd = pytest.importorskip("pandas")
    for columns in (range(5), pd.MultiIndex.from_tuples([("a", name) for name in NAMES])):
        frame = pd.DataFrame(X, columns=columns, index=pd.MultiIndex.from_arrays([QID, np.arange(ROWS)]))
        ranker = fit("ranker", frame)
        assert not hasattr(ranker, "feature_names_in_")
        np.testing.assert_array_equal(ranker.predict(frame), fitted("ranker", None).predict(X))
    sparse = pd.DataFrame(X, columns=NAMES).astype(pd.SparseDtype("float64", 0.0))
    np.testing.assert_array_equal(fit("ranker", sparse).predict(sparse), fitted("ranker", None).predict(X))


def test_a_frame_that_is_not_in_memory_is_an_error() -> None:
    lazy = table("polars", COLUMNS).lazy()
    with pytest.raises(InputError, match=r"X is a polars LazyFrame, whose rows cannot be read: .* collect\(\)"):
        fit("ranker", lazy)


def test_numbers_beside_dates_are_errors() -> None:
    """polars alone turns dates into days since 1970 if the other columns are numbers."""
    frame = table("polars", {**COLUMNS, "price": [datetime.date(2020, 1, 1)] * ROWS})
    with pytest.raises(InputError, match="X, column 'price', must have real numbers, got dates"):
        fit("ranker", frame)
