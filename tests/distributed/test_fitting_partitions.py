"""`DaskRanker.fit` reaches the optimum of `Ranker.fit` from every source, and rejects unsupported arguments."""

from mmap import mmap

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from dask import delayed
from sklearn.exceptions import ConvergenceWarning

import structsvm
from structsvm import Ranker
from structsvm.data import RankingData, load_letor
from structsvm.distributed import DaskRanker
from structsvm.distributed.partitions import Partitions
from structsvm.exceptions import FeatureScaleWarning, InputError
from structsvm.solvers import OneSlack
from tests.distributed.queries import (
    COLUMNS,
    CUTS,
    DATA,
    arrays,
    delayed_blocks,
    frame,
    frames,
    letor_files,
    ranking,
    source,
)
from tests.slow import slow

TOL = 1e-4


def assert_alike(distributed, alone=None):
    """Require that both fits are within their gaps of the same optimum; by default, `alone` is a fit of `DATA`."""
    if alone is None:
        alone = Ranker("map", C=distributed.result_.C, tol=TOL, solver="one-slack").fit(DATA.X, DATA.y, DATA.qid)
    C = alone.result_.C
    assert distributed.result_.converged
    assert distributed.result_.dual <= alone.result_.primal + 1e-9 * C
    assert alone.result_.dual <= distributed.result_.primal + 1e-9 * C
    assert abs(distributed.result_.primal - alone.result_.primal) <= TOL * C
    for name in ("n_examples_", "n_left_out_", "n_features_in_", "loss_"):
        assert getattr(distributed, name) == getattr(alone, name)


def both(client, data=DATA, weight=None, **settings):
    settings = {"C": 10.0, "tol": TOL, "solver": "one-slack", **settings}
    weights = None if weight is None else da.from_array(weight, chunks=60)
    distributed = DaskRanker(client=client, **settings).fit(*arrays(data), weights)
    alone = Ranker(**settings).fit(data.X, data.y, data.qid, weight)
    assert_alike(distributed, alone)
    return distributed, alone


@pytest.mark.parametrize(
    "kind",
    [
        *("arrays", "letor", "partitions"),
        *slow("frames", "delayed", "parquet"),
    ],
)
def test_every_source_gives_the_same_optimum(kind, client, tmp_path):
    ranker = DaskRanker("map", C=10.0, tol=TOL, client=client)
    assert_alike(ranker.fit(*source(kind, client, tmp_path)))
    if kind == "frames":
        assert list(ranker.feature_names_in_) == COLUMNS
    if kind == "parquet":
        assert ranker.known_names == tuple(COLUMNS)


@pytest.mark.slow
def test_a_path_has_the_optimum_of_each_C_from_every_source(client):
    ranker = DaskRanker("map", tol=TOL, client=client)
    data = Partitions.of(*arrays(DATA), client=client)
    for arguments in ((data,), (delayed_blocks(DATA, CUTS),), arrays(DATA)):
        path = ranker.path(*arguments, Cs=[10, 1])
        assert [fitted.C for fitted in path] == [10, 1]
        for fitted in path:
            assert_alike(fitted)


@pytest.mark.slow
def test_a_repeated_fit_has_the_same_weights_to_the_bit_and_a_warm_start_fewer_rounds(client):
    data = Partitions.of(*arrays(DATA), client=client)
    first, again = (DaskRanker("map", C=10.0, warm_start=True, client=client).fit(data) for _ in range(2))
    assert first.coef_.tobytes() == again.coef_.tobytes()
    rounds = len(first.result_.history)
    assert rounds == len(again.result_.history)
    assert len(again.fit(data).result_.history) < rounds


@pytest.mark.parametrize(
    "settings",
    [
        {"loss": "ndcg"},
        *slow(
            {"loss": "roc_area", "normalize": "standard"},
            {"normalize": "query-min-max"},
            {"normalize": "query-z-score"},
            {"loss": "zero_one", "class_weight": {1.0: 2.0}},
            {"loss": "zero_one", "fit_intercept": True},
            {"loss": "zero_one", "class_weight": "balanced"},
        ),
        {"center": [1.0, -2.0, 0.0, 3.0, 0.5], "feature_penalty": [0.1, 1.0, 10.0, 0.5, 2.0], "normalize": "standard"},
        {"loss": "zero_one", "feature_penalty": [0.1, 1.0, 10.0, 0.5, 2.0], "fit_intercept": True},
        {"bounds": (None, 0.2), "monotonic_cst": [1, 0, 0, 0, -1]},
        {"solver": OneSlack(tol=TOL, backend="active-set"), "tol": None},
    ],
    ids=str,
)
def test_settings_lead_to_the_optimum_of_one_machine(client, settings):
    data = ranking(seed=3)
    if settings.get("loss") == "ndcg":
        data = RankingData(X=data.X, y=data.y * (1 + (np.arange(240) % 3 == 0)), qid=data.qid)
    distributed, alone = both(client, data, **settings)
    if alone.scaling_ is not None:
        for name, value in alone.scaling_.state().items():
            np.testing.assert_allclose(distributed.scaling_.state()[name], value, rtol=1e-12, atol=1e-12)
    X, y, qid = arrays(data)
    assert distributed.score(X, y, qid) == pytest.approx(distributed.to_local().score(data.X, data.y, data.qid))


@pytest.mark.slow
def test_weights_lead_to_the_optimum_of_one_machine(client):
    weights = np.repeat(np.random.default_rng(2).uniform(0.0, 2.0, 40), 6)
    weights[:60] = 0.0  # all of a partition
    for settings in ({}, {"normalize": "standard"}):
        distributed, alone = both(client, weight=weights, **settings)
    np.testing.assert_allclose(distributed.scaling_.mean, alone.scaling_.mean, atol=1e-12)
    np.testing.assert_allclose(distributed.scaling_.deviation, alone.scaling_.deviation, rtol=1e-12)


def test_unusable_queries_and_rows_in_any_order_leave_the_optimum(client):
    y = DATA.y.copy()
    y[60:120] = 0.0  # all of a partition
    distributed, _ = both(client, RankingData(X=DATA.X, y=y, qid=DATA.qid))
    assert distributed.n_left_out_ == 10
    rows = np.concatenate([np.random.default_rng(k).permutation(60) + 60 * k for k in range(4)])
    both(client, RankingData(X=DATA.X[rows], y=DATA.y[rows], qid=DATA.qid[rows]))


def test_split_queries_are_moved_together_with_shuffle_only(client):
    X, y, qid = arrays(DATA, 63)
    with pytest.raises(InputError, match="query 20 is in partition 0 and in partition 1"):
        DaskRanker(client=client).fit(X, y, qid)
    assert_alike(DaskRanker("map", C=10.0, tol=TOL, shuffle=True, client=client).fit(X, y, qid))


@pytest.mark.slow
def test_wide_sparse_features_keep_the_columns_that_have_entries(client):
    rng = np.random.default_rng(0)
    X = sp.csr_array(
        (rng.standard_normal(480), (np.repeat(np.arange(240), 2), rng.integers(0, 300, 480) * 7)), (240, 2100)
    )
    parts = [
        delayed(lambda k=k: (X[k : k + 60], DATA.y[k : k + 60], DATA.qid[k : k + 60]))() for k in range(0, 240, 60)
    ]
    distributed = DaskRanker("map", C=10.0, tol=TOL, client=client).fit(parts)
    alone = Ranker("map", C=10.0, tol=TOL, solver="one-slack").fit(X, DATA.y, DATA.qid)
    assert_alike(distributed, alone)
    np.testing.assert_array_equal(distributed.result_.columns, alone.result_.columns)
    assert len(distributed.coef_) == 2100
    pulled = distributed.set_params(center=np.arange(2100.0)).fit(parts)
    assert pulled.result_.columns is None
    np.testing.assert_allclose(pulled.coef_[1::7], np.arange(1.0, 2100.0, 7.0))  # those without entries stay there


def test_models_load_and_score_on_one_machine(client, tmp_path):
    ranker = DaskRanker("map", C=10.0, normalize="standard", client=client).fit(frames(DATA), "label", "session")
    ranker.save(tmp_path / "model.npz")
    scores = ranker.to_local().predict(frame(DATA)[COLUMNS])
    np.testing.assert_allclose(structsvm.load(tmp_path / "model.npz").predict(DATA.X), scores, rtol=1e-6)
    for again in (Ranker.load(tmp_path / "model.npz"), DaskRanker.load(tmp_path / "model.npz")):
        np.testing.assert_array_equal(again.coef_, ranker.coef_)
        assert list(again.feature_names_in_) == COLUMNS
    local = ranker.to_local()
    assert type(local) is Ranker
    assert local.result_ is ranker.result_
    assert set(vars(local)) == set(vars(ranker)) - {"client", "timeout", "shuffle"}


@pytest.mark.slow
def test_a_fit_resumes_from_its_checkpoint(client, tmp_path):
    path = tmp_path / "fit.npz"
    with pytest.warns(ConvergenceWarning):
        first = DaskRanker("map", C=100.0, client=client).fit(
            *arrays(DATA), callback=lambda step: step.iteration == 2, checkpoint=path
        )
    again = DaskRanker("map", C=100.0, client=client).fit(*arrays(DATA), checkpoint=path)
    assert first.result_.history[-1].iteration == 2
    assert again.result_.converged
    assert again.result_.history[:3] == first.result_.history
    with pytest.raises(InputError, match="checkpoint"):
        DaskRanker("map", C=100.0, client=client).fit(*arrays(ranking(seed=9)), checkpoint=path)


def test_unsupported_settings_and_data_are_errors(client):
    X, y, qid = arrays(DATA)
    texts = frames(DATA).assign(session=frames(DATA)["session"].map("q{}".format, meta=("session", object)))
    for settings, arguments, match in (
        ({}, (X, y), "qid is missing"),
        ({}, (X, None, qid), "a ranker learns from labels"),
        # Columns are not read if one is missing.
        ({}, (texts, "label"), r'qid is missing: .*as in fit\(frame, "label", "qid"\)'),
        ({}, (texts, None, "session"), "a ranker learns from labels"),
        ({}, (X, da.zeros_like(y), qid), "cannot learn from any of the 40 queries"),
        (
            {"solver": "frank-wolfe"},
            (X, y, qid),
            r"DaskRanker\(solver=...\) must be 'auto' or OneSlack: .* single queries",
        ),
        ({"solver": "n-slack"}, (X, y, qid), r"DaskRanker\(solver=...\) must be 'auto' or OneSlack: .* single queries"),
        ({"center": np.ones(4)}, (X, y, qid), "center must be 5 finite numbers, one per weight"),
        ({"feature_penalty": -np.ones(5)}, (X, y, qid), "penalty must be at least 0, got -1 for weight 0"),
        ({"class_weight": "balanced"}, (X, y, qid), "class_weight is for losses whose examples are rows"),
        ({"loss": "multiclass"}, (X, y, qid), "use StructuralSVM"),
    ):
        with pytest.raises(InputError, match=match):
            DaskRanker(**{"loss": "map", "client": client, **settings}).fit(*arguments)


def test_features_of_different_scales_warn(client):
    X = DATA.X.copy()
    X[:, 1] *= 1e5
    with pytest.warns(FeatureScaleWarning, match="column 1") as warned:
        DaskRanker("map", C=1.0, client=client).fit(*arrays(RankingData(X=X, y=DATA.y, qid=DATA.qid)))
    assert warned[0].filename == __file__


def test_memory_mapped_features_stay_mapped(client, tmp_path):
    path = letor_files(DATA, [], tmp_path)[0]
    load_letor(path, dtype="float32", cache=tmp_path / "kept")
    data = Partitions.of([delayed(load_letor)(path, dtype="float32", cache=tmp_path / "kept")], client=client)
    base = client.gather(list(data.parts))[0].X
    while isinstance(base, np.ndarray):
        base = base.base
    assert isinstance(base.obj, mmap)


@pytest.mark.slow
def test_signs_apply_to_named_columns_of_files(client, tmp_path):
    paths = [str(tmp_path / f"part{k}.csv") for k in range(2)]
    for path, rows in zip(paths, (slice(0, 120), slice(120, 240)), strict=True):
        frame(DATA).rename(columns={"session": "qid"})[rows].to_csv(path, index=False)
    named = DaskRanker("map", C=10.0, tol=TOL, monotonic_cst={"b": -1, "d": 1}, client=client).fit(paths)
    signs = DaskRanker("map", C=10.0, tol=TOL, monotonic_cst=[0, -1, 0, 1, 0], client=client).fit(paths)
    np.testing.assert_array_equal(named.coef_, signs.coef_)
    with pytest.raises(InputError, match="has 'bb', and no feature of X has that name"):
        DaskRanker("map", monotonic_cst={"bb": 1}, client=client).fit(paths)
