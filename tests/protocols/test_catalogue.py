"""The models by name: each system of `structsvm.rankers` and fusion in the experiment and in LETOR's protocol."""

import numpy as np
import pytest

from structsvm import fusion, rankers
from structsvm.exceptions import NotInstalledError
from structsvm.features import FillMissing, QueryMinMax
from structsvm.fusion import CombMNZ
from structsvm.metrics import AP
from structsvm.protocols import AsGiven, Scores, catalogue, create_model, model_names, other_systems, paper_model_names
from structsvm.protocols.experiment import Settings, run
from structsvm.protocols.letor import benchmark, installed_model_names
from structsvm.protocols.letor import create_model as create_letor_model
from structsvm.protocols.letor import model_names as letor_model_names
from structsvm.rankers import RankBoost, WeightSearch
from structsvm.registry import fusions
from tests.protocols.experiment.conftest import scored_documents
from tests.protocols.letor.conftest import write_set

FEW = {"every": 100, "tol": 1e-3, "pairs_Cs": (1e-3, 1.0), "queries_Cs": (0.1, 10.0)}
NO_MODELS = {"Preferences", "preferences_from_clicks", "Comb", "Fusion", "fuse_runs", "fusion_method"}


def names(models):
    return [model.name for model in models]


def test_every_other_ranker_and_method_of_fusion_is_a_model():
    every = names(other_systems(AsGiven(), **FEW))
    known = {*rankers.__all__, *fusion.__all__}
    assert set(every) == known - NO_MODELS | {"RankSVM-queries", "RankNet-linear"}
    assert len(set(every)) == len(every)
    assert model_names() == [*paper_model_names(), *every]
    assert letor_model_names() == ["SVM-map", "SVM-map-bins", "SVM-roc", "SVM-ndcg", *every]
    assert names(create_model(name) for name in model_names()) == model_names()
    assert Settings().models == tuple(paper_model_names())


def test_the_experiment_takes_all_of_them(tmp_path):
    pytest.importorskip("lightgbm")
    from structsvm.protocols.experiment import Collection

    X, y, qid = scored_documents(9, 40, 4, seed=3)
    collection = Collection.from_arrays(X, y, qid)
    models = other_systems(Scores("min-max"), **FEW)
    results = run(collection, Settings(trials=1, train=4, validation=2, models=models), tmp_path, jobs=1)
    rows = np.repeat(np.arange(collection.n_queries), np.diff(collection.ptr))
    (trial,) = results.trials
    assert list(trial.fits["with-best"]) == list(trial.fits["without-best"]) == names(models)

    train, test = (np.isin(rows, part) for part in (trial.train, trial.test))
    dense = FillMissing(0.0).fit_transform(QueryMinMax().fit_transform(collection.X, qid=rows), qid=rows)
    labels = collection.relevant.astype(float)
    fits = trial.fits["with-best"]
    for name, features, estimator in (
        ("CombMNZ", collection.X, CombMNZ()),
        ("WeightSearch", dense, WeightSearch()),
        ("RankBoost", collection.X, RankBoost(int(fits["RankBoost"].values[fits["RankBoost"].chosen]))),
    ):
        estimator.fit(features[train], labels[train], qid=rows[train])
        routed = {"qid": rows[test]} if name == "CombMNZ" else {}
        scores = estimator.predict(features[test], **routed)
        assert fits[name].ranked.ap == pytest.approx(AP().per_query(scores, labels[test], rows[test]).values, abs=1e-12)


def test_those_that_know_what_is_missing_read_the_scores_as_they_are():
    models = other_systems(Scores("min-max"), **FEW)
    told = {model.name for model in models if isinstance(model.features, AsGiven)}
    assert told == {"RankBoost", "LambdaMART", *(fusions.find(name).__name__ for name in fusions.built_in)}


def test_the_benchmark_takes_all_of_them(tmp_path):
    pytest.importorskip("lightgbm")
    for number in range(1, 4):
        write_set(tmp_path / f"S{number}.txt", first=100 * number, seed=number)
    models = other_systems(AsGiven(), **FEW)
    results = benchmark(tmp_path, models, jobs=1)
    assert list(results.models) == [*names(models), "Best feature"]
    assert all(0.3 < results.mean(name, "map") <= 1.0 for name in results.models if name != "CombMIN")


@pytest.mark.parametrize("create", [create_model, create_letor_model])
def test_methods_of_fusion_have_the_names_that_fuse_knows(create):
    for name, method in ((name, fusions.find(name)) for name in fusions.built_in):
        assert create(name).name == create(method.__name__).name == method.__name__


def test_a_model_whose_package_is_not_installed(monkeypatch):
    monkeypatch.setattr(catalogue, "find_spec", lambda _: None)
    assert "LambdaMART" not in installed_model_names()
    assert "LambdaMART" in letor_model_names()
    for create in (create_model, create_letor_model):
        with pytest.raises(NotInstalledError, match=r"LambdaMART needs lightgbm: pip install 'structural-svm\[lambda"):
            create("lambdamart")


def test_a_model_whose_package_cannot_be_loaded(monkeypatch):
    def import_module(name):
        raise OSError("libgomp.so.1: cannot open shared object file")

    monkeypatch.setattr(catalogue, "find_spec", lambda name: name)
    monkeypatch.setattr(catalogue, "import_module", import_module)
    assert "LambdaMART" not in installed_model_names()
    assert "RankBoost" in installed_model_names()
    for create in (create_model, create_letor_model):
        with pytest.raises(
            NotInstalledError, match=r"LambdaMART needs lightgbm, which is installed but cannot be loaded: libgomp.so.1"
        ):
            create("lambdamart")
