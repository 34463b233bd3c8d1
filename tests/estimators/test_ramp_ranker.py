"""Rankers of ramps: what a file keeps, and queries whose labels are wrong."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from structsvm import Ranker, load
from structsvm.estimators import RampRanker
from structsvm.exceptions import InputError


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


def test_wrong_queries_do_less_harm_than_with_hinges() -> None:
    X, y, qid = queries(0.3, 0)
    tested = queries(0.0, 1)
    hinges, ramps = (kind("roc_area", C=10.0, measure="roc_area").fit(X, y, qid=qid) for kind in (Ranker, RampRanker))
    assert ramps.stationary_
    assert ramps.score(tested[0], tested[1], qid=tested[2]) > hinges.score(tested[0], tested[1], qid=tested[2]) + 0.05
    met = [one.objective for one in ramps.rounds_]
    assert met[-1] < met[0]
    assert ramps.objective_ <= met[-1] + 1e-9


def test_it_is_saved_and_predicts_the_same(tmp_path: Path) -> None:
    X, y, qid = queries(0.2, 0)
    ranker = RampRanker("map", C=10.0, fit_intercept=True, normalise="standard").fit(X, y, qid=qid)
    ranker.save(tmp_path / "ramp.npz")
    np.testing.assert_allclose(load(tmp_path / "ramp.npz").predict(X), ranker.predict(X), atol=1e-12)
    again = RampRanker.load(tmp_path / "ramp.npz")
    np.testing.assert_array_equal(again.coef_, ranker.coef_)
    assert again.result_.primal == ranker.result_.primal


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


def test_what_it_has_not_is_refused(tmp_path: Path) -> None:
    X, y, qid = queries(0.2, 0)
    with pytest.raises(InputError, match="RampRanker keeps no checkpoints"):
        RampRanker().fit(X, y, qid=qid, checkpoint=tmp_path / "a")
    with pytest.raises(InputError, match="RampRanker has no path over C"):
        RampRanker().path(X, y, qid=qid)
