"""Independent readers of exported models, each after the documentation or source of its target.

They compute as their targets do: Solr's LinearModel and the linear ranker of the Elasticsearch plugin in float32, one
product after the other; svm_rank_classify with weights and features in float32, and sums in float64.
"""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

F = np.float32


def _standardized(value: Any, mean: Any, deviation: Any) -> Any:
    assert deviation > 0
    return (F(value) - F(mean)) / F(deviation)


def solr(path: Path, names: list[str], X: Any) -> Any:
    """``org.apache.solr.ltr.model.LinearModel`` and ``norm.StandardNormalizer``, of Solr 7 to 9.

    Weights that are JSON integers are Longs in Java, which its cast to Double refuses; parameters of normalizers have
    setters for text and float, and JSON numbers are Doubles: so they must be text.
    """
    model = json.loads(path.read_text(encoding="utf-8"))
    assert set(model) == {"class", "name", "features", "params"}
    assert model["class"] == "org.apache.solr.ltr.model.LinearModel"
    weights = model["params"]["weights"]
    assert all(type(weight) is float for weight in weights.values())
    assert {feature["name"] for feature in model["features"]} == set(weights) == set(names)
    scores = []
    for row in X:
        score = F(0.0)
        for feature in model["features"]:
            value = F(row[names.index(feature["name"])])
            if "norm" in feature:
                assert feature["norm"]["class"] == "org.apache.solr.ltr.norm.StandardNormalizer"
                params = feature["norm"]["params"]
                assert set(params) == {"avg", "std"}
                assert all(isinstance(text, str) for text in params.values())
                value = _standardized(value, params["avg"], F(params["std"]))
            score += value * F(weights[feature["name"]])
        scores.append(score)
    return np.array(scores)


def elasticsearch(path: Path, names: list[str], X: Any) -> Any:
    """``LinearRankerParser``, ``LinearRanker`` and ``StandardFeatureNormalizer`` of the Learning to Rank plugin."""
    body = json.loads(path.read_text(encoding="utf-8"))
    assert set(body) == {"model"}
    assert set(body["model"]) == {"name", "model"}
    model = body["model"]["model"]
    assert model["type"] == "model/linear"
    assert isinstance(model["definition"], str)
    weights = json.loads(model["definition"])
    assert set(weights) <= set(names), "Feature [..] is unknown."
    norms = model.get("feature_normalizers", {})
    scores = []
    for row in X:
        score = F(0.0)
        for name, value in zip(names, row, strict=True):
            read = F(value)
            if name in norms:
                (kind, params), *others = norms[name].items()
                assert kind == "standard"
                assert not others
                read = _standardized(read, params["mean"], F(params["standard_deviation"]))
            score += F(weights.get(name, 0.0)) * read
        scores.append(score)
    return np.array(scores)


def solr_trees(path: Path, names: list[str], X: Any) -> Any:
    """``org.apache.solr.ltr.model.MultipleAdditiveTreesModel``, of Solr 6 to 9: it adds 1e-6 to thresholds."""
    model = json.loads(path.read_text(encoding="utf-8"))
    assert set(model) == {"class", "name", "features", "params"}
    assert model["class"] == "org.apache.solr.ltr.model.MultipleAdditiveTreesModel"
    expected = [feature["name"] for feature in model["features"]]
    assert expected == names

    def score(node: dict[str, str | Any], row: Any) -> Any:
        while "feature" in node:
            assert set(node) == {"feature", "threshold", "left", "right"}
            threshold = F(node["threshold"]) + F(1e-6)
            node = node["left"] if row[expected.index(node["feature"])] <= threshold else node["right"]
        assert set(node) == {"value"}
        return F(node["value"])

    scores = []
    for row in X.astype(F):
        total = F(0.0)
        for tree in model["params"]["trees"]:
            total += F(tree["weight"]) * score(tree["root"], row)
        scores.append(total)
    return np.array(scores)


def elasticsearch_trees(path: Path, names: list[str], X: Any) -> Any:
    """``XGBoostJsonParser`` and ``NaiveAdditiveDecisionTree`` of the Learning to Rank plugin.

    NaN is a missing feature of OpenSearch; Elasticsearch's plugin has 0 there.
    """
    body = json.loads(path.read_text(encoding="utf-8"))
    assert set(body["model"]) == {"name", "model"}
    model = body["model"]["model"]
    assert set(model) == {"type", "definition"}
    assert model["type"] == "model/xgboost+json"
    trees = json.loads(model["definition"])
    assert isinstance(trees, list)
    assert trees

    def check(node: dict[str, Any]) -> None:
        if "leaf" in node:
            assert set(node) == {"nodeid", "leaf"}
            return
        needed = {"nodeid", "depth", "split", "split_condition", "yes", "no", "missing", "children"}
        assert set(node) == needed
        assert [child["nodeid"] for child in node["children"]] == [node["yes"], node["no"]]
        assert node["missing"] in (node["yes"], node["no"])
        for child in node["children"]:
            assert child.get("depth", node["depth"] + 1) == node["depth"] + 1
            check(child)

    scores = []
    for tree in trees:
        check(tree)
    for row in X.astype(F):
        total = F(0.0)
        for tree in trees:
            node = tree
            while "leaf" not in node:
                value = row[names.index(node["split"])]
                left = node["missing"] == node["yes"] if np.isnan(value) else F(node["split_condition"]) > value
                node = node["children"][0 if left else 1]
            total += F(node["leaf"])
        scores.append(total)
    return np.array(scores)


def svm_rank(path: Path, X: Any) -> Any:
    """``read_model`` and ``classify_example_linear`` of svm_common.c, version V6.20, as svm_rank 1.00 has them."""
    lines = path.read_text(encoding="ascii").split("\n")
    assert lines[0] == "SVM-light Version V6.20"
    kinds = (int, int, float, float, float, str, int, int, int, float)
    head = []
    for line, kind in zip(lines[1:11], kinds, strict=True):
        text, mark, _ = line.partition("#")
        assert mark
        head.append(kind(text))
    assert head[0] == 0, "a linear kernel"
    highest, vectors, b = head[6], head[8], head[9]
    w = np.zeros(highest + 1)
    for line in lines[11 : 10 + vectors]:
        alpha, *pairs = line.partition("#")[0].split()
        last = 0
        for pair in pairs:
            result = re.fullmatch(r"(\d+):(\S+)", pair)
            assert result is not None
            number = int(result[1])
            assert last < number <= highest, "Features must be in increasing order!!!"
            w[number] += float(alpha) * float(F(result[2]))
            last = number
    assert lines[10 + vectors :] == [""]
    return X.astype(F).astype(float) @ w[1:] - b


def plain(content: dict[str, Any], X: Any) -> Any:
    """The reader in docs/howto/export_a_model.md, of JSON and NumPy; the rows belong to one query."""
    X = np.asarray(X)
    if content["normalize"] == "query-min-max":
        shift, divisor = X.min(axis=0), np.ptp(X, axis=0)
    elif content["normalize"] == "query-z-score":
        shift, divisor = X.mean(axis=0), X.std(axis=0)
    else:
        assert content["normalize"] is None
        shift, divisor = 0.0, np.ones(X.shape[1])
    if content["normalize"] and not content["centered"]:
        shift = 0.0
    return (X - shift) / np.where(divisor > 0.0, divisor, 1.0) @ np.array(content["weights"]) + content["intercept"]
