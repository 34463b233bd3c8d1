"""Rankers of ramps: their files, and queries whose labels are wrong."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from structsvm import Ranker, StructuralSVM, load
from structsvm.estimators import RampRanker
from structsvm.exceptions import InputError, ModelFileError
from structsvm.models.base import read_model


def queries(wrong: float, seed: int) -> tuple[Any, Any, Any]:
    """Queries of which a part has its labels the wrong way round, with features that are large there."""
    rng = np.random.default_rng(seed)
    n, m = 60, 10
    X, qid = rng.standard_normal((n * m, 3)), np.repeat(np.arange(n), m)
    utility = X[:, 0] + 0.3 * rng.standard_normal(n * m)
    flipped = np.repeat(rng.random(n) < wrong, m)
    X[flipped] *= 3.0
    y = (np.where(flipped, -utility, utility) > 0.8).astype(float)
    return X, y, qid


def test_it_is_saved_and_predicts_the_same(tmp_path: Path) -> None:
    X, y, qid = queries(0.2, 0)
    ranker = RampRanker("map", C=10.0, fit_intercept=True, normalize="standard").fit(X, y, qid=qid)
    ranker.save(tmp_path / "ramp.npz")
    np.testing.assert_allclose(load(tmp_path / "ramp.npz").predict(X), ranker.predict(X), atol=1e-12)
    again = RampRanker.load(tmp_path / "ramp.npz")
    np.testing.assert_array_equal(again.coef_, ranker.coef_)
    assert again.result_.primal == ranker.result_.primal
    for name in ("objective_", "rounds_", "stationary_", "trained_", "max_iter", "n_examples_"):
        assert getattr(again, name) == getattr(ranker, name), name


def test_its_file_is_not_that_of_a_ranker_of_hinges(tmp_path: Path) -> None:
    X, y, qid = queries(0.2, 0)
    RampRanker("map", C=10.0).fit(X, y, qid=qid).save(tmp_path / "ramp.npz")
    for kind in (Ranker, StructuralSVM):
        with pytest.raises(
            ModelFileError, match=r"holds a RampRanker: read it with RampRanker\.load or structsvm\.load"
        ):
            kind.load(tmp_path / "ramp.npz")
    assert load(tmp_path / "ramp.npz").title == "RampRanker"


def test_the_record_says_what_is_certified() -> None:
    X, y, qid = queries(0.2, 0)
    ranker = RampRanker("map", C=10.0).fit(X, y, qid=qid)
    record = ranker.model_.record
    assert record["ranker"] == "RampRanker"
    assert record["status"].startswith("stationary within 2 tol * C, which the last convex problem proved")
    assert (record["objective"], record["rounds"]) == (ranker.objective_, len(ranker.rounds_))
    assert not record.keys() & {"primal", "dual", "gap_over_C"}
    with pytest.warns(ConvergenceWarning):
        few = RampRanker("map", C=10.0, max_iter=1).fit(X, y, qid=qid).model_.record
    assert few["status"].startswith("not proved stationary")


@pytest.mark.parametrize("name", ["objective_", "stationary_", "rounds"])
def test_a_part_of_the_certificate_alone_is_refused(name: str) -> None:
    X, y, qid = queries(0.2, 0)
    arrays = RampRanker("map").fit(X, y, qid=qid).model_.arrays()
    text = json.loads(str(arrays["model"]))
    (arrays if name == "rounds" else text["fitted"]).pop(name)
    with pytest.raises((KeyError, ValueError), match=name):
        RampRanker.from_model(read_model(arrays | {"model": np.array(json.dumps(text))}))


def test_it_computes_with_as_many_threads_as_it_is_told() -> None:
    X, y, qid = queries(0.2, 0)
    rankers = [RampRanker("map", C=10.0, n_jobs=n_jobs) for n_jobs in (1, 2)]
    one, two = (ranker.fit(X, y, qid=qid) for ranker in rankers)
    np.testing.assert_array_equal(one.coef_, two.coef_)
    assert clone(two).n_jobs == 2
    with pytest.raises(InputError, match=r"RampRanker\(n_jobs=...\) must be a number of threads"):
        RampRanker("map", n_jobs=0).fit(X, y, qid=qid)


def test_a_warm_start_of_another_width_is_refused() -> None:
    X, y, qid = queries(0.2, 0)
    ranker = RampRanker("map", warm_start=True).fit(X, y, qid=qid)
    wide = np.hstack([X, X])
    with pytest.raises(InputError, match="start has 3 weights, but the problem has 6"):
        ranker.fit(wide, y, qid=qid)


def test_it_has_neither_checkpoints_nor_a_path(tmp_path: Path) -> None:
    X, y, qid = queries(0.2, 0)
    with pytest.raises(TypeError, match=r"RampRanker\.fit\(\) got an unexpected keyword argument 'checkpoint'"):
        RampRanker().fit(X, y, qid=qid, checkpoint=tmp_path / "a")
    assert not hasattr(RampRanker(), "path")
