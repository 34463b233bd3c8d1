"""Every format, read by its target or a reader after its source, gives the scores of the model."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from attrs import evolve

from structsvm import Ranker, StructuralSVM
from structsvm.exceptions import InputError, NotInstalledError, UnknownNameError
from structsvm.features.scaling.names import FEATURE_SCALINGS
from structsvm.models.export import export
from structsvm.rankers import MaximumEntropy, RankNet, RankSVM, WeightSearch
from structsvm.registry.built_in import exports
from tests.models.export import readers

NAMES = ["bm25", "title match", "größe", 'x"y', "e"]
BY_QUERY = FEATURE_SCALINGS[:2]


def documents(seed):
    """Random documents whose features are of float32, as search engines have them; a column does not vary."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 5)) * [1.0, 20.0, 0.3, 1.0, 0.0] + [0.0, 3.0, -1.0, 0.0, 2.0]
    X = X.astype(np.float32).astype(float)
    y = (X[:, 0] + X[:, 2] + rng.normal(size=120) > 0).astype(float)
    return X, y, np.repeat(np.arange(12), 10)


X, Y, QID = documents(0)
TEST, _, TEST_QID = documents(1)
KINDS = {
    "as it is": Ranker(),
    "standard": Ranker(normalize="standard"),
    "a constant": Ranker("zero_one", fit_intercept=True),
    "a constant, standard": Ranker("zero_one", fit_intercept=True, normalize="standard"),
    "RankSVM": RankSVM(),
    "MaximumEntropy": MaximumEntropy(normalize="standard"),
    "WeightSearch": WeightSearch(),
}


def scale(ranker, X):
    """The accuracy of sums in float32 is relative to the sum of all magnitudes."""
    folded = ranker.model_.folded
    return float((np.abs(X) @ np.abs(folded.coef)).max() + abs(folded.intercept))


def written(ranker, form, folder, names=NAMES):
    path = folder / f"model.{form}"
    return path, export(ranker, path, form, feature_names=names)


def read(path, form, rows):
    """Return the scores of the rows of one query by the reader of a format."""
    if form == "solr":
        return readers.solr(path, NAMES, rows)
    if form == "elasticsearch":
        return readers.elasticsearch(path, NAMES, rows)
    if form == "svm_rank":
        return readers.svm_rank(path, rows)
    if form == "onnx":
        runtime = pytest.importorskip("onnxruntime")
        (result,) = runtime.InferenceSession(path).run(None, {"features": rows})
        assert result.shape == (len(rows),)
        return result
    if form == "lightgbm":
        return pytest.importorskip("lightgbm").Booster(model_file=path).predict(rows)
    if form == "json":
        content = json.loads(path.read_text(encoding="utf-8"))
        assert content["features"] == NAMES
        return readers.plain(content, rows)
    with np.load(path) as arrays:
        assert arrays["names"].tolist() == NAMES
        content = {"weights": arrays["coef"], "intercept": arrays["intercept"], "normalize": None}
        if "normalize" in arrays:
            content |= {"normalize": str(arrays["normalize"]), "centered": bool(arrays["centered"])}
    return readers.plain(content, rows)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", exports.built_in)
def test_scores_are_those_of_the_model(form, kind, tmp_path):
    ranker = KINDS[kind].fit(X, Y, qid=QID)
    path, left_out = written(ranker, form, tmp_path)
    result, expected = read(path, form, TEST), ranker.predict(TEST)
    if form in ("solr", "elasticsearch") and ranker.intercept_:
        (said,) = left_out
        assert f"this model adds {ranker.intercept_:.6g}" in said
        expected = expected - ranker.intercept_
    else:
        assert [part for part in left_out if "counts features from 0 when it reads a text file" not in part] == []
        assert len(left_out) == (form == "lightgbm")
    np.testing.assert_allclose(result, expected, rtol=0.0, atol=1e-6 * scale(ranker, TEST))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", BY_QUERY)
@pytest.mark.parametrize("form", ["onnx", "json", "numpy"])
def test_normalization_by_query_is_a_part_of_the_model(form, name, sparse, tmp_path):
    ranker = Ranker(normalize=name).fit(sp.csr_array(X) if sparse else X, Y, qid=QID)
    path, _ = written(ranker, form, tmp_path)
    for query in range(3):
        rows = TEST[query == TEST_QID]
        for part in (rows, rows[:1]):
            expected = ranker.predict(part, qid=np.zeros(len(part)))
            np.testing.assert_allclose(read(path, form, part), expected, atol=1e-9)


@pytest.mark.parametrize("name", BY_QUERY)
@pytest.mark.parametrize("form", ["solr", "elasticsearch", "svm_rank", "lightgbm"])
def test_normalization_by_query_is_refused_where_there_is_no_place_for_it(form, name, tmp_path):
    ranker = Ranker(normalize=name).fit(X, Y, qid=QID)
    with pytest.raises(InputError, match=rf"{form} scores one document at a time.*\({name}\).*--normalize standard"):
        written(ranker, form, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_names_are_those_that_the_ranker_knows(tmp_path):
    ranker = Ranker().fit(X, Y, qid=QID)
    for form in ("solr", "elasticsearch"):
        with pytest.raises(InputError, match="this model has 5 features without names"):
            export(ranker, tmp_path / "m", form)
    export(ranker, tmp_path / "m", "JSON")
    assert json.loads((tmp_path / "m").read_text())["features"] is None
    ranker.name_features(NAMES)
    export(ranker, tmp_path / "m.json", "solr", model_name="a model")
    assert json.loads((tmp_path / "m.json").read_text())["name"] == "a model"
    export(ranker, tmp_path / "m.json", "Elastic search")
    assert json.loads((tmp_path / "m.json").read_text())["model"]["name"] == "m"


def test_refusals(tmp_path):
    ranker = Ranker().fit(X, Y, qid=QID)
    path = tmp_path / "m"
    with pytest.raises(UnknownNameError, match="unknown export format 'sorl'. Did you mean 'solr'"):
        export(ranker, path, "sorl")
    with pytest.raises(InputError, match="export writes models that score rows, but this StructuralSVM predicts"):
        export(StructuralSVM("zero_one").fit(X, Y), path, "json")
    for other in (Ranker(), None):
        with pytest.raises(InputError, match=r"ranker must be a fitted ranker, .* or a model of structsvm.load"):
            export(other, path, "json")
    with pytest.raises(InputError, match="feature_names has 'a' twice"):
        export(ranker, path, "json", feature_names=list("aabcd"))
    with pytest.raises(InputError, match="feature_names must be 5 texts"):
        export(ranker, path, "json", feature_names=["a"])
    with pytest.raises(InputError, match="model_name must be text"):
        export(ranker, path, "json", model_name=" ")
    large = evolve(ranker.model_, coef=ranker.coef_ * 1e60)
    with pytest.raises(InputError, match="svm_rank reads weights as float32, and the largest"):
        export(large, path, "svm_rank")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("form", exports.built_in)
def test_networks_have_the_formats_that_can_represent_them(form, tmp_path):
    linear, hidden = (RankNet(units, max_iter=3, random_state=0).fit(X, Y, qid=QID) for units in (0, 4))
    path, _ = written(linear, form, tmp_path)
    scores, expected = read(path, form, TEST), linear.predict(TEST)
    # Solr and Elasticsearch add no constant.
    np.testing.assert_allclose(scores - scores.mean(), expected - expected.mean(), rtol=0.0, atol=1e-5)
    if form == "onnx":
        path, _ = written(hidden, form, tmp_path)
        np.testing.assert_allclose(read(path, form, TEST), hidden.predict(TEST), rtol=1e-12, atol=1e-12)
        return
    with pytest.raises(
        InputError, match=f"{form} cannot represent the hidden layer of this RankNet: export it as onnx"
    ):
        written(hidden, form, tmp_path)


def test_without_onnx_it_is_told(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    with pytest.raises(NotInstalledError, match=r"pip install 'structural-svm\[onnx\]'"):
        export(Ranker().fit(X, Y, qid=QID), tmp_path / "m.onnx", "onnx")
    assert list(tmp_path.iterdir()) == []
