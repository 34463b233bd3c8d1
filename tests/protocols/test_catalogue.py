"""The models by name: each system of `structsvm.rankers` and fusion in the experiment and in the benchmark."""

import sys

import numpy as np
import pytest

from structsvm import rankers
from structsvm.exceptions import NotInstalledError
from structsvm.features import FillMissing, QueryMinMax
from structsvm.fusion import CombMNZ
from structsvm.metrics import AP
from structsvm.protocols import AsGiven, Scores, catalogue
from structsvm.protocols.catalogue import PAPER_MODELS, needed_package
from structsvm.protocols.experiment import Settings, run
from structsvm.protocols.letor.plan import models_of
from structsvm.rankers import RankBoost, WeightSearch
from structsvm.registry import benchmark_models, fusions
from structsvm.registry.built_in import experiment_models
from tests.protocols.experiment.conftest import pool_of, scored_documents

FEW = {"every": 100, "tol": 1e-3, "pairs_Cs": (1e-3, 1.0), "queries_Cs": (0.1, 10.0)}
OTHERS = [name for name in benchmark_models.names() if not name.startswith("SVM-")]
NO_MODELS = {"Preferences", "Fusion", "refit", "TreeRanker"}


def names(models):
    return [model.name for model in models]


def few(features):
    """Each other system, with short grids."""
    return tuple(catalogue.other_system(name, features=features, **FEW) for name in OTHERS)


def test_every_other_ranker_and_method_of_fusion_is_a_model():
    pytest.importorskip("lightgbm")
    every = names(few(AsGiven()))
    methods = {fusions.find(name).__name__ for name in fusions.built_in}
    ranker_names = {*rankers.__all__} | methods
    assert set(every) == ranker_names - NO_MODELS | {"RankSVM-queries", "RankNet-linear"}
    assert len(set(every)) == len(every)
    assert experiment_models.names() == [*PAPER_MODELS, *every]
    assert benchmark_models.names() == ["SVM-map", "SVM-map-bins", "SVM-roc", "SVM-ndcg", "SVM-map-trees", *every]
    for registry in (benchmark_models, experiment_models):
        assert names(map(registry.create, registry.names())) == registry.names()
    assert Settings().models == PAPER_MODELS


@pytest.mark.slow
def test_the_experiment_takes_all_of_them(tmp_path):
    pytest.importorskip("lightgbm")
    X, y, qid = scored_documents(9, 40, 4, seed=3)
    pool = pool_of(X, y, qid)
    models = few(Scores("min-max"))
    results = run(pool, Settings(trials=1, train=4, validation=2, models=models), tmp_path, n_jobs=1)
    rows = pool.qid
    (trial,) = results.trials
    assert list(trial.fits["with-best"]) == list(trial.fits["without-best"]) == names(models)

    train, test = (np.isin(rows, part) for part in (trial.train, trial.test))
    dense = FillMissing(0.0).fit_transform(QueryMinMax().fit_transform(pool.X, qid=rows), qid=rows)
    labels = (pool.y > 0).astype(float)
    fits = trial.fits["with-best"]
    for name, features, estimator in (
        ("CombMNZ", pool.X, CombMNZ()),
        ("WeightSearch", dense, WeightSearch()),
        ("RankBoost", pool.X, RankBoost(int(fits["RankBoost"].values[fits["RankBoost"].chosen]))),
    ):
        estimator.fit(features[train], labels[train], qid=rows[train])
        routed = {"qid": rows[test]} if name == "CombMNZ" else {}
        scores = estimator.predict(features[test], **routed)
        assert fits[name].queries["map"] == pytest.approx(
            AP().per_query(scores, labels[test], rows[test]).values, abs=1e-12
        )


def test_models_for_missing_scores_read_unchanged_scores():
    models = few(Scores("min-max"))
    as_given = {model.name for model in models if isinstance(model.features, AsGiven)}
    assert as_given == {"RankBoost", "LambdaMART", *(fusions.find(name).__name__ for name in fusions.built_in)}


@pytest.mark.parametrize("create", [experiment_models.create, benchmark_models.create])
def test_methods_of_fusion_have_the_names_that_fuse_knows(create):
    for name, method in ((name, fusions.find(name)) for name in fusions.built_in):
        assert create(name).name == create(method.__name__).name == method.__name__


def test_a_model_whose_package_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    assert "LambdaMART" not in names(models_of(None))
    for create in (experiment_models.create, benchmark_models.create):
        with pytest.raises(NotInstalledError, match=r"LambdaMART needs lightgbm: pip install 'structural-svm\[lambda"):
            create("lambdamart")


def test_a_model_whose_package_cannot_be_loaded(monkeypatch):
    def import_module(name):
        raise OSError("libgomp.so.1: cannot open shared object file")

    monkeypatch.setattr(catalogue, "import_module", import_module)
    assert (needed_package("LambdaMART"), needed_package("RankBoost")) == ("lightgbm", "")
    for create in (experiment_models.create, benchmark_models.create):
        with pytest.raises(
            NotInstalledError,
            match=r"needs lightgbm, which is installed but cannot be loaded \(libgomp.so.1",
        ):
            create("lambdamart")
