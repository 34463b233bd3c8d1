"""Calls of public names, from the examples of their docstrings and from `MORE`."""

import ast
import contextlib
import doctest
import importlib
import inspect
import io
import tempfile
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any, NamedTuple

import attrs
import numpy as np
from sklearn import clone

import structsvm
from structsvm.exceptions import StructSVMError
from structsvm.registry import fusions
from tests.docs.reference import PACKAGES

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

SHARED = """
X = np.random.default_rng(0).standard_normal((8, 3))
y, qid, ids, tags = np.tile([0.0, 1.0], 4), np.repeat([0, 1], 4), list("abcdefgh"), [[0, 1, 0, 1], [1, 0, 1, 0]]
weights = np.ones(8)
ranker = structsvm.Ranker().fit(X, y, qid=qid)
run, qrels = data.Run.from_scores("a", qid, ids, X[:, 0]), data.Qrels.from_grades(qid, ids, y)
"""
"""Data of the calls in `MORE`."""

MORE = {
    "": """
structsvm.Ranker("roc_area").path(X, y, qid=qid, Cs=[1.0], sample_weight=weights)
structsvm.Ranker("zero_one").fit(X, y)
ranker.most_violated(X, y)
ranker.name_features(["a", "b", "c"])
ranker.save("ranker.npz")
structsvm.Ranker.load("ranker.npz")
structsvm.StructuralSVM("multiclass").path(X, y, Cs=[1.0], sample_weight=weights)
structsvm.StructuralSVM("multiclass").fit(X, y).predict(X)
structsvm.StructuralSVM("multiclass").fit(X, y).score(X, y, sample_weight=weights)
structsvm.StructuralSVM("multiclass").fit(X, y).most_violated(X[0], y[0])
structsvm.StructuralSVMCV(structsvm.StructuralSVM("chain_hamming"), [1.0], cv=2).fit([X[:4], X[4:]], tags)
structsvm.Problem.from_examples(X, y, loss="zero_one", C=1.0, sample_weight=weights, intercept=0.0)
problem = structsvm.Problem.from_queries(X, y, qid, loss="roc_area")
structsvm.Problem.make(losses.base.Examples(losses.ZeroOne(), features.operators.Rows.one_row_per_example(X), y), C=1.0)
problem.at(np.ones(3))
problem.with_C(2.0)
solvers.OneSlack().solve(problem).save("result.npz")
structsvm.Result.load("result.npz")
""",
    "clicks": """
log = clicks.ClickLog.of(qid, np.arange(8), np.tile([1, 2], 4), np.tile([1, 1, 0, 0], 2))
clicks.ClickLog.joined([log])
clicks.ClickLog.read("missing", qid="a", document="b", position="c", clicks="d", impressions="e")
clicks.PositionBias.from_randomized(log)
clicks.PositionBias.from_log(log, X, rounds=2)
""",
    "data": """
qrels.labels(qid, ids)
pool = data.pool_runs([run], qrels)
pool.retrieved("a")
pool.submission_scores("a")
list(data.read_documents("missing", format="jsonl", encoding="ascii", id_field="id", fields=["text"]))
data.write_letor("new.txt", qid=qid, doc_ids=ids, X=X, y=y, feature_names=["p", "q", "r"])
""",
    "features": """
features.QueryMinMax().fit(X, qid=qid).transform(X, qid=qid)
features.BinnedMatrix.stack([features.BinnedMatrix([[1]], [0, 2])])
""",
    "features.operators": """
features.operators.LeafMatrix.stack([features.operators.LeafMatrix([[1]], [0, 2])])
""",
    "fusion": "".join(
        f"registry.fusions.create({name!r}).fit(X, y, qid=qid).{call}\n"
        for name in fusions.built_in
        for call in ("predict(X, qid)", "score(X, y, qid=qid)")
    ),
    "losses": """
losses.FBeta(beta=1.0, relevant_from=1.0)
losses.PrecisionRecallBreakEven(relevant_from=1.0)
losses.ROCArea(relevant_from=1.0)
losses.ReciprocalRank(relevant_from=1.0)
losses.SwappedPairs()
losses.WeightedRanks()
losses.ZeroOne()
losses.ChainHamming(states=[0, 1])
losses.GraphHamming(states=[0, 1], inference="exact", accuracy=0.1, max_sweeps=3)
losses.MultiLabelHamming(edges=[(0, 1)], cost=[[0.0, 1.0], [2.0, 0.0]], inference="exact", n_labels=3)
""",
    "metrics": """
metrics.AP().per_query(X[:, 0], y, qid, doc_ids=ids, judged=(y, qid), ties="trec", all_topics=True)
""",
    "models": """
models.LinearModel(n_features=3, coef=np.ones(3), intercept=1.0).predict(X)
from sklearn.tree import DecisionTreeRegressor
models.from_ensemble(DecisionTreeRegressor(max_depth=2).fit(X, y), X, qid).check(X)
""",
    "objectives": """
objectives.Hinge.of_outputs("multiclass", ["a", "b"], 2, sample_weight=[1.0, 2.0])
hinge = objectives.Hinge("map", y, qid)
hinge(X[:, 0])
hinge.most_violated(X[:, 0])
hinge.per_row([1.0, 2.0])
objectives.LightGBMHinge("map", 1.0)
objectives.LightGBMMeasure("map")
objectives.XGBoostMeasure("map")
""",
    "plots": """
from matplotlib.figure import Figure
ax = Figure().subplots()
plots.ConvergenceDisplay({"a": ([1, 2], [0.5, 0.1])}, x="passes", y="gap", tol=1e-3, unfinished=["a"])
plots.ConvergenceDisplay.from_results(ranker.result_, ax=ax)
plots.FeatureImportanceDisplay.from_estimator(ranker, X, y, qid=qid, top=2, ax=ax, n_repeats=1)
plots.RegularizationPathDisplay.from_estimator(structsvm.Ranker("roc_area"), X, y, qid=qid, Cs=[1.0], folds=2, ax=ax)
plots.RegularizationPathDisplay.from_search(structsvm.RankerCV(cv=2).fit(X, y, qid=qid))
lists = metrics.rank_lists(X[:, 0], y, qid)
plots.QueryDifferencesDisplay.from_predictions(X[:, 0], X[:, 1], y, qid=qid, names=("a", "b"), measure="map", ax=ax)
plots.QueryDifferencesDisplay.from_lists(lists, lists, measure="map", ax=ax)
plots.QueryDifferencesDisplay.from_estimators(ranker, ranker, X, y, qid=qid, ax=ax)
plots.WeightsDisplay.from_estimator(ranker, names=["a", "b", "c"], top=2, ax=ax)
plots.InterpolatedPrecisionDisplay([0.0, 1.0], {"a": [1.0, 0.5]})
plots.InterpolatedPrecisionDisplay.from_lists(lists, ax=ax)
plots.InterpolatedPrecisionDisplay.from_estimator(ranker, X, y, qid=qid, ax=ax)
plots.MeansDisplay.from_lists(lists, measure="map", ax=ax)
plots.FusionWeightsDisplay({"a": [1.0, 2.0]}, systems=["x", "y"])
""",
    "protocols.letor": """
protocols.letor.benchmark("missing", "SVM-map")
""",
    "rankers": "".join(
        f"rankers.{name}.fit(X, y, qid=qid).{call}\n"
        for name in (
            "TreeRanker(n_estimators=2, trees='scikit-learn')",
            "RankSVM()",
            "RankBoost(n_estimators=2)",
            "RankNet(hidden_layer_sizes=2, max_iter=1)",
            "WeightSearch(max_iter=1)",
            "MaximumEntropy()",
            "LambdaMART(n_estimators=2)",
        )
        for call in ("predict(X)", "score(X, y, qid=qid, sample_weight=None)")
    )
    + """
rankers.Preferences.of_labels(y, qid)
""",
    "solvers": """
solvers.Auto().solve(structsvm.Problem.from_queries(X, y, qid, loss="roc_area"))
""",
    "text": """
index = text.Index.build([("a", {"text": "a wing"}), ("b", {"text": "two wings"})], text.Analyzer())
index.save("index")
text.Index.load("index")
topics, judged = {"0": "wing wings"}, data.Qrels.from_grades([0, 0, 1], list("aba"), [1, 0, 1])
text.TextRanker(index, "okapi").fit(topics, judged).score(topics, judged)
text.TextRanker(index, "okapi").fit(topics, judged).save("text.npz")
text.TextRanker.load("text.npz", indexes=index)
""",
}
"""Calls of methods that the examples of a package lack."""

UNCHECKED = {
    # Values that the package makes or passes on.
    *(
        "AP.values",
        "ExplainedRanking.of",
        "CertifiedBounds.cut",
        "CertifiedBounds.evaluate",
        "IndexedField",
        "Okapi.weights",
        "Postings.find",
    ),
    *("RankedLists.total", "SolverState", "SolverState.cut", "SolverState.evaluate", "SolverState.record"),
    *("ExampleData.subset", "Regularizer.limits", "TrainingData.of.names", "TrainingData.of.takes_preferences"),
    "TrainingData.subset",
    *("TermStatistics.of", "XGBoostMeasure.__call__", "compare_runs.callback", "fold_table", "run", "write_tables"),
    *("letor_features.progress", "most_violated.cuts", "Results.rows", "Run.from_frame", "Run.from_dict"),
    *("Qrels.from_frame", "Qrels.from_dict", "Settings.models", "Settings.variants", "Retriever.retrieve.progress"),
    # For authors of losses, features, operators, solvers and backends.
    *("ActiveSet.solve", "AveragePrecision.loss", "EstimatorModel", "EstimatorModel.candidates", "PositionBias.at"),
    *("PreferencePairs.loss", "Rows.block", "Rows.combine", "Rows.scores", "check_backend.sequences", "descend"),
    *("check_latent_loss.tol", "check_loss.examples", "check_loss.tol", "check_retrieval.definition", "fingerprint"),
    *("example_add", "example_gram", "example_product", "example_scores", "ramp", "register_view", "scales"),
    *("ExplainedRanking.of", "CutSet.none"),
    *("BinnedMatrix.toarray.dtype", "LeafMatrix.toarray.dtype"),
}
"""Functions and parameters that may raise other errors."""


MADE = {
    "Attempt",
    "Candidate",
    "FeatureCheck",
    "FeatureImportance",
    "FeatureMap",
    "Fit",
    "Fusion",
    "PairedTests",
    "Status",
}
"""Classes whose objects only the package makes."""


class Call(NamedTuple):
    """A function that takes some of its arguments anew, and the names of these arguments."""

    name: str
    function: Callable[..., Any]
    parameters: list[str]


@cache
def calls(package: str) -> list[Call]:
    """Run `MORE` and the examples of a package; return for each function the call with most arguments."""
    result = dict[str, tuple[int, Call]]()
    names: dict[str, Any] = {"__name__": "calls", "np": np, "structsvm": structsvm}
    public = public_names(package)
    if package in MORE:
        parts = {part: importlib.import_module(f"structsvm.{part}") for part in PACKAGES if part.isidentifier()}
        exec(SHARED, parts := {**parts, **names})
        _collect(MORE[package], parts, set(public), 100, result)
    for name, value in public.items():
        for text in _docstrings(value):
            source = "".join(example.source for example in doctest.DocTestParser().get_examples(text))
            module = vars(importlib.import_module(value.__module__)) if hasattr(value, "__module__") else {}
            _collect(source, {**module, **names, name: value}, set(public), 0, result)
    return [call for _, call in result.values()]


def public_names(package: str) -> dict[str, Any]:
    """Return the public names of a package with their values, without names of ``structsvm`` itself."""
    module = importlib.import_module(f"structsvm.{package}".rstrip("."))
    names = {name: getattr(module, name) for name in module.__all__}
    return {name: value for name, value in names.items() if not package or getattr(structsvm, name, None) is not value}


def _docstrings(public: Any) -> Iterator[str]:
    """Return the docstrings of a public name and of its public methods."""
    for part in (public, *(getattr(public, name) for name in (vars(public) if inspect.isclass(public) else ()))):
        if getattr(part, "__doc__", None) and (part is public or inspect.isroutine(part)):
            yield inspect.getdoc(part) or ""


def _collect(
    source: str, names: dict[str, Any], public: set[str], rank: int, found: dict[str, tuple[int, Call]]
) -> None:
    """Run statements in an empty folder; add their calls of public functions, and of methods of public classes."""
    with contextlib.chdir(tempfile.mkdtemp(dir=".")), contextlib.redirect_stdout(io.StringIO()):
        for statement in ast.parse(source).body:
            for node in filter(_is_plain, ast.walk(statement)):
                # Names in comprehensions and lambdas have no value here.
                with contextlib.suppress(NameError, StructSVMError):
                    function = _value(node.func, names)
                    if name := _name(function, public):
                        values = [_value(value, names) for value in node.args]
                        words = {word.arg: _value(word.value, names) for word in node.keywords}
                        _add(name, function, inspect.signature(function).bind(*values, **words), rank, found)
            with contextlib.suppress(StructSVMError):
                exec(compile(ast.Module([statement], []), "<example>", "exec"), names)


def _is_plain(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and not any(
        isinstance(value, ast.Starred) or (isinstance(value, ast.keyword) and value.arg is None)
        for value in (*node.args, *node.keywords)
    )


def _value(node: ast.expr, names: dict[str, Any]) -> Any:
    return eval(compile(ast.Expression(node), "<example>", "eval"), names)


def _name(function: Any, public: set[str]) -> str:
    """Return the name of a public function, or of a method with its class; "" for other functions."""
    owner = getattr(function, "__self__", None)
    if owner is None and hasattr(function, "__name__"):
        return function.__name__ if function.__name__ in public else ""
    kind = owner if inspect.isclass(owner) else type(function if owner is None else owner)
    inherits = any(base.__name__ in public for base in kind.__mro__) and kind.__module__.startswith("structsvm")
    return f"{kind.__name__}.{getattr(function, '__name__', '__call__')}" if inherits else ""


def _add(
    name: str, function: Any, bound: inspect.BoundArguments, rank: int, found: dict[str, tuple[int, Call]]
) -> None:
    """Add a call with all its parameters, and a call of an estimator or solver with all its settings."""
    size = rank + len(bound.arguments)
    if size <= found.get(name, (-1,))[0]:
        return
    owner = getattr(function, "__self__", None)
    bound.apply_defaults()
    kinds = {parameter.name: parameter.kind for parameter in bound.signature.parameters.values()}
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = [parameter for parameter in bound.arguments if kinds[parameter] not in several]
    found[name] = size, Call(name, partial(_call, function, bound), parameters)
    if hasattr(owner, "get_params") and name.endswith((".fit", ".fit_transform")):
        settings = list(owner.get_params(deep=False))
    elif name.endswith(".solve") and attrs.has(type(owner)):
        settings = [field.alias for field in attrs.fields(type(owner)) if field.init]
    else:
        return
    found[f"{name} with"] = size, Call(f"{name} with", partial(_call_with, function, bound), settings)


def _call(function: Any, bound: inspect.BoundArguments, /, **changed: Any) -> Any:
    arguments = inspect.BoundArguments(bound.signature, {**bound.arguments, **changed})
    return function(*arguments.args, **arguments.kwargs)


def _call_with(method: Any, bound: inspect.BoundArguments, /, **settings: Any) -> Any:
    owner = method.__self__
    other = clone(owner).set_params(**settings) if hasattr(owner, "get_params") else attrs.evolve(owner, **settings)
    return _call(getattr(other, method.__name__), bound)
