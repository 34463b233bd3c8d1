"""A right call of every public name that takes something from users, from which wrong ones are made."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import attrs
import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor

import structsvm
import structsvm.text.letor
from structsvm import (
    clicks,
    data,
    evaluation,
    features,
    fusion,
    inference,
    inspection,
    losses,
    metrics,
    models,
    objectives,
    plots,
    protocols,
    rankers,
    registry,
    solvers,
    testing,
    text,
)
from structsvm.data.letor.writing import LetorText
from structsvm.evaluation import significance
from structsvm.features import operators
from structsvm.losses.base import Examples
from structsvm.models import export
from structsvm.protocols import experiment, letor
from structsvm.registry import fusions
from structsvm.solvers import comparison, qp

X = np.random.default_rng(0).standard_normal((8, 3))
Y, QID = np.tile([0.0, 1.0], 4), np.repeat([0, 1], 4)
IDS = list("abcdefgh")
TAGS = [[0, 1, 0, 1], [1, 0, 1, 0]]

ROWS: dict[str, Any] = {"X": X, "y": Y, "qid": QID}
BAD: dict[str, Any] = {
    "None": None,
    "a number without a vector": np.array(3.0),
    "nothing": [],
    "text": "nonsense",
    "an object": object(),
    "three dimensions": np.zeros((2, 2, 2)),
    "words": np.array(["a", "b", "c"]),
    "below 0": -1,
    "NaN": float("nan"),
    "a dict": {"a": 1},
    "eight NaN": np.full(8, np.nan),
}


class Call(NamedTuple):
    """A function with arguments that it takes; or refuses for another reason, such as a file that is missing."""

    name: str
    function: Callable[..., Any]
    arguments: dict[str, Any]
    right: bool = True


@cache
def small() -> structsvm.Problem:
    return structsvm.Problem.from_queries(X, Y, QID, loss="roc_area")


@cache
def solved() -> structsvm.Result:
    return solvers.OneSlack().solve(small())


@cache
def fitted(kind: type) -> Any:
    return (kind(cv=2) if kind is structsvm.RankerCV else kind()).fit(X, Y, qid=QID)


@cache
def classifier() -> structsvm.StructuralSVM:
    return structsvm.StructuralSVM().fit(X, Y)


@cache
def tagger() -> structsvm.StructuralSVM:
    return structsvm.StructuralSVM("chain_hamming").fit([X[:4], X[4:]], TAGS)


@cache
def one_run(name: str = "a") -> data.Run:
    return data.Run.from_scores(name, QID, IDS, X[:, 0])


@cache
def judgments() -> data.Qrels:
    return data.Qrels.from_grades(QID, IDS, Y)


_MADE = "made by the package: what is in it was checked where it came from"
_DERIVED = "derived from, not called"
_NO_ARGUMENTS = "takes nothing"
_FOR_FEATURES = "for authors of features"
_TEXT = "made of tables and results of the package"

NOT_CALLED = {
    **dict.fromkeys(
        [
            "Status",
            "plots.COLORS",
            "plots.STYLE",
        ],
        "no function",
    ),
    "solvers.comparison.Comparison": _MADE,
    "text.Postings": _MADE,
    **dict.fromkeys(["data.RankingData", "inference.Inference"], _MADE),
    **dict.fromkeys(["text.letor.Evidence", "text.letor.RELEASED"], _MADE),
    "text.letor.Feature": _FOR_FEATURES,
    "metrics.RankedLists": _MADE,
    "losses.Bounded": "returned by losses of users; fits and check_loss try what is in it",
    "losses.SlackRescaled": "a loss around another, which its own tests try",
    **dict.fromkeys(["problem.ramp", "solvers.descend"], "for objectives of one's own"),
    "testing.check_latent_loss": "as check_loss",
    **dict.fromkeys(
        ["evaluation.RunComparison", "inspection.FeatureImportance", "evaluation.significance.PairedTests"], _MADE
    ),
    **dict.fromkeys(
        ["problem.fingerprint", "solvers.SolverState", "solvers.CheckpointWriter"],
        "for authors of solvers",
    ),
    **dict.fromkeys(
        [
            "solvers.qp.Attempt",
            "solvers.qp.DualQP",
            "solvers.qp.QPSolution",
            "solvers.qp.scales",
            "solvers.qp.ActiveSet",
        ],
        "for authors of backends",
    ),
    **dict.fromkeys([f"solvers.qp.{name}" for name in ("GeneralBackend", "QPBackend")], _DERIVED),
    **dict.fromkeys(
        ["solvers.CuttingPlane", "solvers.Solver", "fusion.Fusion", "metrics.BinaryMeasure", "clicks.ClickModel"],
        _DERIVED,
    ),
    **{
        f"losses.{name}": _DERIVED
        for name in (
            *("GradedPairsLoss", "GradedRankingLoss", "InterleavingLoss", "LatentLoss"),
            *("Loss", "PairwiseLoss", "ScoreLoss"),
        )
    },
    **dict.fromkeys(["features.operators.MatrixKind", "features.operators.Operator"], _DERIVED),
    "text.RetrievalFunction": _DERIVED,
    "models.export.Format": _DERIVED,
    "models.TrainedModel": _DERIVED,
    "models.ExplainedRanking": _MADE,
    "models.Explanation": _MADE,
    "models.FeatureCheck": _MADE,
    **dict.fromkeys(
        ["features.operators.example_scores", "features.operators.example_combine", "features.operators.register_view"],
        "for compiled loops",
    ),
    **{f"losses.{name}": "as AveragePrecision" for name in ("PrecisionRecallBreakEven", "ROCArea", "ReciprocalRank")},
    **dict.fromkeys(
        ["losses.PreferencePairs", "losses.SwappedPairs", "losses.WeightedRanks", "losses.ZeroOne"], _NO_ARGUMENTS
    ),
    "rankers.LambdaMART": "its package may not be there; it reads arrays as the others do",
    **{f"registry.{name}": "by way of all that takes names" for name in registry.__all__},
    **dict.fromkeys(
        [
            *(f"protocols.{name}" for name in ("AsGiven", "Candidate", "EstimatorModel", "FeatureMap", "Indicators")),
            *(f"protocols.{name}" for name in ("ProtocolModel", "RankingSVM", "Scores")),
        ],
        "settings of models, checked by their own tests",
    ),
    "protocols.letor.fold_table": _TEXT,
    **dict.fromkeys([f"protocols.letor.{name}" for name in ("Benchmark", "Fold", "write_tables")], _MADE),
    **dict.fromkeys([f"protocols.experiment.{name}" for name in ("ExperimentResults", "run")], _MADE),
}
"""Public names that are not called here, and why."""


SETTINGS: dict[str, dict[str, Any]] = {
    "Ranker": {
        "loss": "roc_area",
        "C": 1.0,
        "solver": "auto",
        "tol": 1e-3,
        "fit_intercept": False,
        "intercept_scaling": 1.0,
        "class_weight": None,
        "measure": "map",
        "center": None,
        "feature_penalty": None,
        "bounds": None,
        "monotonic_cst": None,
        "warm_start": False,
    },
    "RankerCV": {
        "estimator": None,
        "Cs": [1.0],
        "cv": 2,
        "scoring": "map",
        "refit": True,
        "random_state": 0,
    },
    "TreeRanker": {
        "loss": "map",
        "C": 1.0,
        "n_estimators": 2,
        "num_leaves": 2,
        "learning_rate": 0.1,
        "min_child_samples": 1,
        "trees": "scikit-learn",
        "features": True,
        "normalize": "standard",
        "monotonic_cst": None,
        "random_state": 0,
    },
    "RankSVM": {"C": 1.0, "objective": "pairs", "solver": "auto", "tol": 1e-3, "measure": "map"},
    "RankBoost": {"n_estimators": 2, "max_thresholds": 255, "measure": "map"},
    "RankNet": {"hidden_layer_sizes": 2, "max_iter": 1, "learning_rate": 0.1, "log_odds": 1.0, "weight_decay": 0.0},
    "WeightSearch": {"directions": "coordinates", "start": "first", "max_iter": 1},
    "MaximumEntropy": {"C": 1.0, "relevant_from": None, "class_weight": None, "tol": 1e-3, "max_iter": 9},
}


def _of_estimators() -> Iterator[Call]:
    for name, settings in SETTINGS.items():
        kind = getattr(structsvm if name.startswith("Ranker") else rankers, name)

        def fit(kind: Any = kind, **given: Any) -> Any:
            made = {key: value for key, value in given.items() if key not in ROWS}
            return kind(**made).fit(**{key: value for key, value in given.items() if key in ROWS})

        yield Call(f"{name}().fit", fit, {**settings, **ROWS})
        yield Call(f"{name}.predict", lambda X, kind=kind: fitted(kind).predict(X), {"X": X})
        yield Call(
            f"{name}.score", lambda kind=kind, **given: fitted(kind).score(**given), {**ROWS, "sample_weight": None}
        )
    yield Call("Ranker.path", structsvm.Ranker("roc_area").path, {**ROWS, "Cs": [1.0], "sample_weight": np.ones(8)})
    yield Call("Ranker.fit", structsvm.Ranker("zero_one").fit, {**ROWS, "sample_weight": np.ones(8), "callback": None})
    yield Call("Ranker.most_violated", fitted(structsvm.Ranker).most_violated, {"X": X, "y": Y, "example": None})
    yield Call("Ranker.predict", fitted(structsvm.Ranker).predict, {"X": X, "qid": QID})
    normalize = {"normalize": "standard", **ROWS}
    yield Call(
        "Ranker(normalize)", lambda normalize, **rows: structsvm.Ranker(normalize=normalize).fit(**rows), normalize
    )
    forest = RandomForestRegressor(1, random_state=0).fit(X, Y)
    yield Call("refit", rankers.refit, {"model": forest, **ROWS, "sample_weight": np.ones(8)})
    yield Call("Ranker.name_features", fitted(structsvm.Ranker).name_features, {"names": ["a", "b", "c"]})
    exported = {"path": "model.json", "format": "json", "feature_names": ["a", "b", "c"], "model_name": "a"}
    yield Call("export", export.export, {"ranker": fitted(structsvm.Ranker), **exported})
    yield Call("Ranker.load", structsvm.Ranker.load, {"path": "missing.npz"}, right=False)
    yield Call("structsvm.load", structsvm.load, {"path": "missing.npz"}, right=False)
    weights = {"n_features": 3, "coef": np.ones(3), "intercept": 1.0}
    yield Call("LinearModel", lambda **given: models.LinearModel(**given).predict(X), weights)
    model = models.LinearModel(**weights)
    yield Call("LinearModel.predict", model.predict, {"X": X})
    yield Call("LinearModel.explain", model.explain, {"X": X})
    judged = {"y": np.tile(Y, 5), "qid": np.repeat(np.arange(10), 4), "sample_weight": np.ones(40)}
    rising = X[:, 0].argsort() % 2 + np.tile(Y, 5).reshape(5, 8)
    yield Call("Calibration.of", models.Calibration.of, {"scores": rising.ravel(), **judged, "method": "sigmoid"})
    calibration = models.Calibration.of(rising.ravel(), **judged)
    yield Call("Calibration.probabilities", calibration.probabilities, {"scores": [0.5]})
    known = {"X": np.column_stack([np.tile(Y, 5)] * 3), **judged}
    yield Call("LinearModel.calibrated", model.calibrated, {**known, "method": "isotonic"})
    yield Call("LinearModel.predict_proba", attrs.evolve(model, calibration=calibration).predict_proba, {"X": X})
    svm = structsvm.StructuralSVM
    for loss, model, xs, ys in (("multiclass", classifier, X, Y), ("chain_hamming", tagger, [X[:4], X[4:]], TAGS)):
        yield Call(f"StructuralSVM({loss}).fit", svm(loss).fit, {"X": xs, "y": ys, "sample_weight": np.ones(len(xs))})
        path = {"X": xs, "y": ys, "Cs": [1.0], "sample_weight": np.ones(len(xs))}
        yield Call(f"StructuralSVM({loss}).path", svm(loss).path, path)
        search = structsvm.StructuralSVMCV(svm(loss), [1.0], cv=2)
        weighted = {"X": xs, "y": ys, "sample_weight": np.ones(len(xs))}
        yield Call(f"StructuralSVMCV({loss}).fit", search.fit, {**weighted, "validation": (xs, ys), "callback": None})
        yield Call(f"StructuralSVM({loss}).predict", lambda X, model=model: model().predict(X), {"X": xs})
        yield Call(f"StructuralSVM({loss}).score", model().score, {"X": xs, "y": ys, "sample_weight": np.ones(len(xs))})
        yield Call(f"StructuralSVM({loss}).most_violated", model().most_violated, {"x": xs[0], "y": ys[0]})
    for name in fusions.built_in:
        kind = fusions.find(name)
        yield Call(
            f"{name}.fit", lambda kind=kind, **given: kind().fit(**given).predict(given["X"], given["qid"]), ROWS
        )
        yield Call(f"{name}.score", lambda kind=kind, **given: kind().fit(X, Y, qid=QID).score(**given), ROWS)
    for kind in (features.QueryMinMax, features.QueryPercentiles, features.ReciprocalRanks, features.FillMissing):
        yield Call(f"{kind.__name__}.fit", kind().fit_transform, {"X": X, "qid": QID})
        yield Call(f"{kind.__name__}.transform", kind().fit(X, qid=QID).transform, {"X": X, "qid": QID})
    yield Call(
        "FillMissing", lambda value: features.FillMissing(value).fit(X, qid=QID).transform(X, qid=QID), {"value": 0.0}
    )
    thresholds = {"bins": 3, "spacing": "even", "low": 0.0, "high": 1.0}
    yield Call(
        "Thresholds", lambda X, **given: features.Thresholds(**given).fit(X).transform(X), {**thresholds, "X": X}
    )
    yield Call("BinnedMatrix", features.BinnedMatrix, {"codes": np.ones((2, 1), dtype=int), "offsets": [0, 2]})
    yield Call("BinnedMatrix.stack", features.BinnedMatrix.stack, {"parts": [features.BinnedMatrix([[1]], [0, 2])]})
    yield Call("LeafMatrix", operators.LeafMatrix, {"codes": np.ones((2, 1), dtype=int), "offsets": [0, 2]})
    yield Call("LeafMatrix.stack", operators.LeafMatrix.stack, {"parts": [operators.LeafMatrix([[1]], [0, 2])]})
    yield Call("Preferences", rankers.Preferences, {"better": [0], "worse": [1], "magnitude": 1.0})
    yield Call("Preferences.of", rankers.Preferences.of, {"pairs": [(0, 1)]})
    yield Call("Preferences.of_labels", rankers.Preferences.of_labels, {"y": Y, "qid": QID})
    clicks = {"sessions": [1, 1], "rows": [0, 1], "ranks": [1, 2], "clicked": [False, True]}
    yield Call("Preferences.from_clicks", rankers.Preferences.from_clicks, clicks)


def _of_problems() -> Iterator[Call]:
    make = {"loss": "zero_one", "C": 1.0, "sample_weight": np.ones(8), "intercept": 0.0}
    yield Call("Problem.from_queries", structsvm.Problem.from_queries, {**ROWS, **make})
    yield Call("Problem.from_examples", structsvm.Problem.from_examples, {"xs": X, "ys": Y, **make})
    parts = Examples(losses.ZeroOne(), operators.Rows.one_row_per_example(X), Y)
    yield Call("Problem.make", structsvm.Problem.make, {"examples": parts, "C": 1.0})
    yield Call("Problem.with_C", small().with_C, {"C": 2.0})
    yield Call("Problem.at", small().at, {"w": np.ones(3)})
    violated = {"x": X, "y": Y, "w": np.ones(3), "loss": "map", "intercept": 0.0}
    yield Call("most_violated", structsvm.most_violated, violated)
    for name in ("OneSlack", "NSlack", "FrankWolfe", "Auto"):
        kind = getattr(solvers, name)
        given = {"problem": small(), "start": solved(), "callback": None}
        yield Call(f"{name}.solve", kind().solve, given)
        yield Call(name, kind, {"tol": 0.1, "max_iter": 9})
    backend = {"backend": "active-set", "max_cuts": 9}
    yield Call("OneSlack", lambda **given: solvers.OneSlack(**given).solve(small()), {**backend, "line_search": True})
    yield Call("NSlack", lambda **given: solvers.NSlack(**given).solve(small()), {**backend, "batch": 1, "max_idle": 1})
    yield Call(
        "Checkpoint",
        lambda **given: solvers.Checkpoint(**given),
        {"path": "missing/fit.npz", "every": 1.0},
        right=False,
    )
    yield Call("FrankWolfe", solvers.FrankWolfe, {"memory": 9, "cache_sweeps": 1, "random_state": 0})
    yield Call("Result.load", structsvm.Result.load, {"path": "missing.npz"}, right=False)
    yield Call("Rows", operators.Rows, {"X": X, "ptr": np.array([0, 8])})
    yield Call("Rows.of", operators.Rows.of, {"xs": [X, X]})
    yield Call("Rows.one_row_per_example", operators.Rows.one_row_per_example, {"X": X})
    yield Call("readable", operators.readable, {"X": X})
    rows = operators.Rows.one_row_per_example(X)
    yield Call("register_matrix", operators.register_matrix, {"kind": None}, right=False)
    compared = {"problems": small(), "solvers": "one-slack", "backends": "active-set", "Cs": 1.0, "tol": 0.1}
    yield Call("compare", comparison.compare, {**compared, "time_limit": 5.0, "callback": None})
    yield Call("gap_against_time", plots.gap_against_time, {"comparison": None}, right=False)
    yield Call("CVXOPT", qp.CVXOPT, {"reltol": 0.1, "max_iter": 1})
    yield Call("OSQP", qp.OSQP, {"eps": 0.1, "polishing": True, "max_iter": 1, "time_limit": 1.0})
    yield Call("HiGHS", qp.HiGHS, {"time_limit": 1.0})
    yield Call("check_loss", testing.check_loss, {"loss": "roc_area", "trials": 1})
    yield Call("check_retrieval", testing.check_retrieval, {"function": "okapi", "random_state": 0, "collections": 1})
    yield Call("check_operator", testing.check_operator, {"operator": rows, "random_state": 0})
    yield Call("check_backend", testing.check_backend, {"backend": qp.ActiveSet(), "random_state": 0})
    yield Call("check_solver", testing.check_solver, {"solver": None, "random_state": 0}, right=False)


def _of_losses_and_measures() -> Iterator[Call]:
    for name, settings in {
        "AveragePrecision": {"relevant_from": 1.0},
        "NDCGLoss": {"k": 3, "discount": "letor", "gain": "linear", "truncated": True},
        "FBeta": {"beta": 1.0, "relevant_from": 1.0},
        "PrecisionAtK": {"k": 3, "relevant_from": 1.0, "truncated": True},
        "RecallAtK": {"k": 3, "relevant_from": 1.0, "truncated": True},
        "Multiclass": {"classes": [0, 1], "cost": [[0.0, 1.0], [1.0, 0.0]]},
        "ChainHamming": {"states": [0, 1]},
        "GraphHamming": {"states": [0, 1], "inference": "exact", "accuracy": 0.1, "max_sweeps": 3},
        "MultiLabelHamming": {"edges": [(0, 1)], "cost": [[0.0, 1.0], [2.0, 0.0]], "inference": "exact", "n_labels": 3},
        "JudgedPairs": {"documents": 2, "better": [0], "worse": [1], "magnitude": [1.0]},
    }.items():
        yield Call(f"losses.{name}", getattr(losses, name), settings)
    for name, settings in {
        "AP": {"empty": "skip", "relevant_from": 1.0, "k": 3},
        "NDCG": {"k": 3, "empty": "skip", "discount": "letor", "gain": "linear"},
        "P": {"k": 3},
        "Recall": {"k": 3},
        "RR": {"k": 3, "relevant_from": 1},
        "ERR": {"k": 3, "max_grade": 4},
        "RBP": {"k": 3, "p": 0.8, "relevant_from": 1},
        "IPrec": {"recall": 0.1, "relevant_from": 1},
        "Judged": {"k": 3, "empty": "skip"},
        "Success": {"k": 3, "relevant_from": 1},
        **{name: {"relevant_from": 1, "empty": "skip"} for name in ("Bpref", "InfAP", "Rprec")},
        "AUC": {"relevant_from": 1},
    }.items():
        yield Call(f"metrics.{name}", getattr(metrics, name), settings)
    ranked = {"scores": X[:, 0], "labels": Y, "qid": QID, "doc_ids": IDS, "judged": (Y, QID)}
    ranked |= {"ties": "trec", "all_topics": True}
    yield Call("Measure.mean", metrics.AP().mean, {**ranked, "weights": [1.0, 2.0]})
    yield Call("Measure.per_query", metrics.AP().per_query, ranked)
    yield Call("rank_lists", metrics.rank_lists, ranked)
    yield Call("parse_measure", metrics.parse_measure, {"text": "map"})
    values = {"first": [0.5, 0.25, 0.0], "second": [0.25, 0.5, 0.5]}
    settings = {"confidence_level": 0.9, "n_resamples": 100, "random_state": 1}
    yield Call("paired_tests", significance.paired_tests, {**values, **settings})
    yield Call("holm", significance.holm, {"p_values": [0.1, None]})
    runs = {"runs": [one_run(), one_run("b")], "qrels": judgments(), "baseline": "a", "measures": ["map"]}
    yield Call("compare_runs", evaluation.compare_runs, {**runs, **settings})
    interval = {"values": [0.5, 0.25, 0.0], "method": "betting", **settings}
    yield Call("mean_interval", evaluation.mean_interval, interval)
    importance = {"measure": "p@1", "n_repeats": 1, "across_queries": True, "confidence_level": 0.9, "random_state": 1}
    importance |= {"ranker": models.LinearModel(n_features=3, coef=np.ones(3)), **ROWS, "callback": print}
    yield Call("query_permutation_importance", inspection.query_permutation_importance, importance)
    plan = {"spread": 0.2, "power": 0.7, "significance_level": 0.1, "systems": 3, "all_pairs": True}
    yield Call("smallest_difference", evaluation.smallest_difference, {**plan, "queries": 50})
    yield Call("queries_needed", evaluation.queries_needed, {**plan, "difference": 0.05})
    spread = {"values": [0.5, 0.25, 0.0], "correlation": 0.5}
    yield Call("spread_of_differences", evaluation.spread_of_differences, spread)
    joined = {"run": one_run(), "qrels": judgments(), "ties": "mean", "all_topics": True}
    yield Call("rank_run", evaluation.rank_run, joined)


def _of_graphs() -> Iterator[Call]:
    graph = inference.Graph.of(3, [[0, 1], [1, 2]])
    yield Call("Graph.of", inference.Graph.of, {"n_nodes": 3, "edges": [[0, 1]]})
    yield Call("grid_edges", inference.grid_edges, {"height": 2, "width": 3, "connectivity": 8})
    scores = {"graph": graph, "unary": np.ones((3, 2)), "pairwise": np.eye(2), "method": "exact"}
    yield Call("infer", inference.infer, {**scores, "gap": 0.0, "max_sweeps": 3, "max_branches": 9})


def _of_data() -> Iterator[Call]:
    columns = {"qid": QID, "doc_ids": IDS}
    yield Call("Run.from_scores", data.Run.from_scores, {"name": "a", **columns, "scores": X[:, 0]})
    yield Call("Qrels.from_grades", data.Qrels.from_grades, {**columns, "grades": Y})
    yield Call("Qrels.labels", judgments().labels, columns)
    runs = {"runs": [one_run()], "depth": 3, "topics": ["1"]}
    yield Call("join_runs", data.join_runs, runs)
    yield Call("pool_runs", data.pool_runs, {**runs, "qrels": judgments()})
    yield Call("fuse_runs", fusion.fuse_runs, {**runs, "method": "borda", "length": 3, "name": "b"})
    pool = data.pool_runs([one_run()], judgments())
    yield Call("Pool.retrieved", pool.retrieved, {"run": "a"})
    yield Call("Pool.submission_scores", pool.submission_scores, {"run": "a"})
    letor = {"n_features": 3, "dtype": "float32", "labels": "optional", "queries": "optional", "groups": "missing"}
    yield Call("load_letor", data.load_letor, {"path_or_paths": "missing", **letor, "cache": "missing"}, right=False)
    table = {"label": "a", "qid": "b", "docid": "c", "features": ["d"], "dtype": "float32", "labels": "optional"}
    yield Call("load_table", data.load_table, {"path_or_paths": "missing", **table, "queries": "optional"}, right=False)
    yield Call("load_qrels", data.load_qrels, {"path": "missing", "grades": {1: 2}}, right=False)
    yield Call("load_run", data.load_run, {"path": "missing", "name": "a"}, right=False)
    yield Call("load_runs", data.load_runs, {"folder_or_paths": ["missing"]}, right=False)
    yield Call(
        "write_run", data.write_run, {"path": "missing/a", **columns, "scores": X[:, 0], "tag": "a"}, right=False
    )
    yield Call("Document", data.Document, {"id": "a", "fields": {"text": "a wing"}})
    yield Call("Topic", data.Topic, {"id": "1", "fields": {"title": "wings"}})
    yield Call("Topic.query", data.Topic("1", {"title": "wings"}).query, {"part": "title"})
    written = {"source": "missing", "format": "jsonl", "encoding": "ascii", "id_field": "id"}
    documents = {**written, "fields": ["text"]}
    yield Call("read_documents", lambda **given: list(data.read_documents(**given)), documents, right=False)
    yield Call("read_topics", data.read_topics, {**written, "numbering": "given"}, right=False)
    columns = {**columns, "X": X, "y": Y, "feature_names": ["p", "q", "r"]}
    yield Call("write_letor", data.write_letor, {"path": "missing/a", **columns}, right=False)
    yield Call("LETOR's lines", lambda **given: list(LetorText.of(**given).pieces()), columns)
    yield Call("load_digits_queries", data.load_digits_queries, {"n_train": 1})
    yield Call("load_digits_runs", data.load_digits_runs, {"random_state": 0})


def _of_clicks() -> Iterator[Call]:
    rows = {"qid": QID, "document": np.arange(8), "position": np.tile([1, 2], 4), "clicks": np.tile([1, 1, 0, 0], 2)}
    log, bias = clicks.ClickLog.of(**rows), clicks.PowerBias(1.0, 2)
    yield Call("ClickLog.of", clicks.ClickLog.of, {**rows, "impressions": np.ones(8)})
    names = {"qid": "a", "document": "b", "position": "c", "clicks": "d", "impressions": "e"}
    yield Call("ClickLog.read", clicks.ClickLog.read, {"path": "missing", **names}, right=False)
    yield Call("ClickLog.joined", clicks.ClickLog.joined, {"logs": [log]})
    yield Call("PositionBias", clicks.PositionBias, {"propensity": [1.0, 0.5]})
    yield Call("PowerBias", clicks.PowerBias, {"eta": 1.0, "positions": 3})
    estimates = clicks.PositionBias
    yield Call("PositionBias.from_randomized", estimates.from_randomized, {"log": log})
    twice = clicks.ClickLog.of([0] * 4, [0, 0, 1, 1], [1, 2, 1, 2], [1, 1, 1, 1], [2, 3, 2, 3])
    yield Call("PositionBias.from_interventions", estimates.from_interventions, {"log": twice, "positions": 2})
    yield Call("PositionBias.from_log", estimates.from_log, {"log": log, "features": X, "rounds": 2})
    yield Call("weigh", clicks.weigh, {"log": log, "bias": bias, "qid": QID, "document": None, "smallest": 0.1})
    users = {"scores": X[:, 0], "relevance": 0.5 * Y, "qid": QID, "bias": bias}
    yield Call("simulate", clicks.simulate, {**users, "sessions": 2, "shown": "swapped", "random_state": 0})


def _of_the_rest() -> Iterator[Call]:
    folds = {"folder": "missing.txt/a", "data": data.RankingData(X, Y, QID), "folds": 5, "random_state": 0}
    yield Call("write_folds", letor.write_folds, folds, right=False)
    yield Call("letor.benchmark", letor.benchmark, {"data": "missing", "models": "SVM-map"}, right=False)
    yield Call(
        "Settings", experiment.Settings, {"trials": 1, "train": 1, "validation": 1, "bins": 3, "random_state": 0}
    )


def _of_text() -> Iterator[Call]:
    yield Call("tokens", text.tokens, {"text": "a wing"})
    yield Call("Analyzer", text.Analyzer, {"stemmer": "porter", "stop_words": "lucene"})
    yield Call("Analyzer.terms", text.Analyzer("porter").terms, {"text": "a wing"})
    yield Call("Index.build", text.Index.build, {"documents": [("a", {"x": "wing"})], "analyzer": text.Analyzer()})
    yield Call("Index.load", text.Index.load, {"path": "missing"}, right=False)
    index = text.Index.build([("a", {"text": "a wing"}), ("b", {"text": "two wings"})], text.Analyzer())
    topics, candidates = {"0": "wing", "1": "wings"}, data.Qrels.from_grades([0, 0, 1], list("aba"), [1, 0, 1])
    made = {"features": "L1", "fields": ["text"], "normalize": None, "query": None}
    yield Call(
        "letor_features",
        text.letor.letor_features,
        {"index": index, "topics": topics, "candidates": candidates, "qrels": candidates, **made},
    )
    asked = {"index": index, "topics": topics, "function": "bm25", "top": 1, "query": None, "name": "run"}
    yield Call("retrieve", text.retrieve, asked)
    yield Call("Retriever", text.Retriever, {"index": index, "function": "okapi", "field": "text"})
    yield Call("Retriever.retrieve", text.Retriever(index, "okapi").retrieve, {"topics": topics, "top": 1})
    used: dict[str, Any] = {"topics": {"0": "wing wings"}, "qrels": candidates}
    own = {"indexes": index, "functions": "okapi", "depth": 3, "letor": "L1", "fields": ["text"], "query": None}
    own |= {"features": protocols.Scores(), "ranker": structsvm.Ranker()}
    yield Call("TextRanker", lambda **settings: text.TextRanker(**settings).fit(**used), own)
    ranker = text.TextRanker(index, "okapi")
    yield Call("TextRanker.fit", ranker.fit, used)
    ranker = text.TextRanker(index, "okapi").fit(**used)
    yield Call("TextRanker.rank", ranker.rank, {"topics": topics, "name": "run"})
    yield Call("TextRanker.score", ranker.score, used)
    yield Call("TextRanker.save", ranker.save, {"path": "missing"}, right=False)
    yield Call("TextRanker.load", text.TextRanker.load, {"path": "missing", "indexes": None}, right=False)


def _of_objectives() -> Iterator[Call]:
    given: dict[str, Any] = {"loss": "map", "y": Y, "qid": QID, "sample_weight": np.ones(8)}
    yield Call("Hinge", objectives.Hinge, {**given, "none_usable": False})
    outputs = {"loss": "multiclass", "ys": ["a", "b"], "sizes": 2, "sample_weight": [1.0, 2.0]}
    yield Call("Hinge.of_outputs", objectives.Hinge.of_outputs, outputs)
    made = objectives.Hinge("map", Y, QID)
    yield Call("Hinge.of_scores", made, {"scores": X[:, 0]})
    yield Call("Hinge.most_violated", made.most_violated, {"scores": X[:, 0]})
    yield Call("Hinge.per_row", made.per_row, {"values": [1.0, 2.0]})
    trees = {"y_true": Y, "y_pred": X[:, 0], "weight": np.ones(8), "group": [4, 4]}
    yield Call("LightGBMHinge", objectives.LightGBMHinge, {"loss": "map", "hessian": 1.0})
    yield Call("LightGBMHinge", objectives.LightGBMHinge(), trees)
    yield Call("LightGBMMeasure", objectives.LightGBMMeasure, {"measure": "map"})
    yield Call("LightGBMMeasure", objectives.LightGBMMeasure(), {**trees, "weight": None})
    yield Call("XGBoostHinge", objectives.XGBoostHinge, {"loss": "map", "hessian": 1.0})
    yield Call("XGBoostMeasure", objectives.XGBoostMeasure, {"measure": "map"})


def _of_plots() -> Iterator[Call]:
    pytest.importorskip("matplotlib", reason="Matplotlib is not installed: nothing can be drawn")
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.use("agg")
    ax = {"ax": Figure().subplots()}
    gaps = {"curves": {"a": ([1, 2], [0.5, 0.1])}, "x": "passes", "y": "gap", "tol": 1e-3, "unfinished": ["a"]}
    yield Call("ConvergenceDisplay", plots.ConvergenceDisplay, gaps)
    yield Call("ConvergenceDisplay.from_results", plots.ConvergenceDisplay.from_results, {"results": solved(), **ax})
    yield Call(
        "ConvergenceDisplay.from_estimator",
        plots.ConvergenceDisplay.from_estimator,
        {"estimator": fitted(structsvm.Ranker), "y": "bounds", **ax},
    )
    path = {"Cs": [0.1, 1.0], "validation": [0.5, 0.6], "train": [0.5, 0.7], "test": [0.4, 0.5], "picks": [0, 3]}
    words = {"measure": "MAP", "parameter": "C", "intervals": [[0.4, 0.6], [0.5, 0.7]]}
    yield Call("RegularizationPathDisplay", plots.RegularizationPathDisplay, {**path, **words})
    fits = {"estimator": structsvm.Ranker("roc_area"), **ROWS, "Cs": [1.0], "folds": 2}
    yield Call("path.from_estimator", plots.RegularizationPathDisplay.from_estimator, {**fits, **ax})
    yield Call("path.from_search", plots.RegularizationPathDisplay.from_search, {"search": 3}, right=False)
    systems = {"first": X[:, 0], "second": X[:, 1], "names": ("a", "b"), "measure": "map"}
    yield Call("QueryDifferencesDisplay", plots.QueryDifferencesDisplay, systems)
    differences = plots.QueryDifferencesDisplay
    yield Call("differences.from_predictions", differences.from_predictions, {"y": Y, "qid": QID, **systems, **ax})
    lists = {name: metrics.rank_lists(X[:, k], Y, QID) for k, name in enumerate(("first", "second"))}
    yield Call("differences.from_lists", differences.from_lists, {**lists, "measure": "map", **ax})
    rankers = dict.fromkeys(("first", "second"), fitted(structsvm.Ranker))
    yield Call("differences.from_estimators", differences.from_estimators, {**rankers, **ROWS, **ax})
    weights = {"values": [1.0, 2.0], "names": ["a", "b"], "quantity": "weight", "top": 1}
    yield Call("WeightsDisplay", plots.WeightsDisplay, weights)
    yield Call("WeightsDisplay.plot", plots.WeightsDisplay([1.0]).plot, ax)
    known = {"estimator": fitted(structsvm.Ranker), "names": ["a", "b", "c"], "top": 2}
    yield Call("WeightsDisplay.from_estimator", plots.WeightsDisplay.from_estimator, {**known, **ax})
    ranks = {"estimator": fitted(structsvm.Ranker), **ROWS, "top": 2, "n_repeats": 1, **ax}
    yield Call("FeatureImportanceDisplay.from_estimator", plots.FeatureImportanceDisplay.from_estimator, ranks)
    search = structsvm.estimators.FeatureEliminationCV(cv=2).fit(X, Y, qid=QID)
    yield Call("FeatureEliminationDisplay", plots.FeatureEliminationDisplay, {"search": search})
    sure = {"probabilities": np.full(8, 0.5), "y": Y, "qid": QID, "n_bins": 2, "strategy": "quantile"}
    yield Call("ReliabilityDisplay", plots.ReliabilityDisplay, {**sure, "confidence_level": 0.9})
    precision = plots.InterpolatedPrecisionDisplay
    yield Call("InterpolatedPrecisionDisplay", precision, {"recall": [0.0, 1.0], "curves": {"a": [1.0, 0.5]}})
    yield Call("precision.from_predictions", precision.from_predictions, {"y": Y, "scores": X[:, 0], "levels": 3, **ax})
    yield Call("precision.from_lists", precision.from_lists, {"lists": lists["first"], **ax})
    yield Call("precision.from_estimator", precision.from_estimator, {"estimator": rankers["first"], **ROWS, **ax})
    values = {"values": {"a": [0.1, 0.5]}, "measure": "AP", "method": "t", "confidence_level": 0.9}
    yield Call("MeansDisplay", plots.MeansDisplay, values)
    means = plots.MeansDisplay
    yield Call("MeansDisplay.from_lists", means.from_lists, {"lists": lists["first"], "measure": "map", **ax})
    yield Call("MeansDisplay.plot", means({"a": [0.1, 0.5]}).plot, {"shift": 0.1, **ax})
    fused = {"weights": {"a": [1.0, 2.0]}, "systems": ["x", "y"]}
    yield Call("FusionWeightsDisplay", plots.FusionWeightsDisplay, fused)
    linear = {"estimator": fitted(structsvm.Ranker), "systems": ["x", "y", "z"], **ax}
    yield Call("FusionWeightsDisplay.from_estimator", plots.FusionWeightsDisplay.from_estimator, linear)


GROUPS: dict[str, Callable[[], Iterator[Call]]] = {
    "estimators": _of_estimators,
    "problems": _of_problems,
    "losses and measures": _of_losses_and_measures,
    "graphs": _of_graphs,
    "data": _of_data,
    "clicks": _of_clicks,
    "protocols": _of_the_rest,
    "text": _of_text,
    "objectives": _of_objectives,
    "plots": _of_plots,
}
"""Right calls of everything that `structsvm` and its parts offer, methods among it."""


def covered() -> set[str]:
    """Return the names that are called, themselves or a method of theirs."""
    called = {part for group in GROUPS.values() for call in group() for part in re.findall(r"\w+", call.name)}
    return called | {fusions.find(name).__name__ for name in fusions.built_in}
