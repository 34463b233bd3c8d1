"""`DaskRanker.fit` finds the optimum that `Ranker.fit` finds, from every source, and says what it cannot do."""

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
from structsvm.distributed.workers import Workers
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

TOL = 1e-4


def agree(distributed, alone):
    """Each is within its gap of the same optimum."""
    C = alone.result_.C
    assert distributed.result_.converged
    assert distributed.result_.dual <= alone.result_.primal + 1e-9 * C
    assert alone.result_.dual <= distributed.result_.primal + 1e-9 * C
    assert abs(distributed.result_.primal - alone.result_.primal) <= TOL * C
    for name in ("n_examples_", "n_left_out_", "n_features_in_", "loss_"):
        assert getattr(distributed, name) == getattr(alone, name)


def both(client, chunks=60, data=DATA, weight=None, **settings):
    settings = {"C": 10.0, "tol": TOL, **settings}
    X, y, qid = arrays(data, chunks)
    weights = None if weight is None else da.from_array(weight, chunks=chunks)
    distributed = DaskRanker(client=client, **settings).fit(X, y, qid, weights)
    alone = Ranker(solver="one-slack", **settings).fit(data.X, data.y, data.qid, weight)
    return distributed, alone


@pytest.mark.parametrize("kind", ["arrays", "frames", "delayed", "letor", "parquet", "partitions"])
def test_every_source_gives_the_same_optimum(kind, client, tmp_path):
    ranker = DaskRanker("map", C=10.0, tol=TOL, client=client)
    given = source(kind, client, tmp_path)
    agree(ranker.fit(*given), Ranker("map", C=10.0, tol=TOL, solver="one-slack").fit(DATA.X, DATA.y, DATA.qid))
    if kind == "frames":
        assert list(ranker.feature_names_in_) == COLUMNS
    if kind == "parquet":
        assert ranker.known_names == tuple(COLUMNS)


@pytest.mark.filterwarnings("ignore:stopped by the callback")
@pytest.mark.parametrize(
    ("kind", "settings", "expected"),
    [("arrays", {}, 3), ("letor", {}, 3), ("partitions", {}, 2), ("partitions", {"normalize": "standard"}, 3)],
)
def test_a_fit_waits_for_the_workers_three_times_before_its_first_step(
    kind, settings, expected, client, tmp_path, monkeypatch
):
    waits, inside = [], []

    def counted(wait):
        def waiting(*given, **settings):
            if not inside:
                waits.append(wait.__name__)
            inside.append(wait)
            try:
                return wait(*given, **settings)
            finally:
                inside.pop()

        return waiting

    given = source(kind, client, tmp_path)
    for name in ("settle", "fetch", "answers"):
        monkeypatch.setattr(Workers, name, counted(getattr(Workers, name)))
    until_first = []
    DaskRanker("map", C=10.0, client=client, **settings).fit(
        *given, callback=lambda step: until_first.append(len(waits)) or True
    )
    assert until_first == [expected + 1]  # the first step is a wait, too


def test_a_path_takes_what_a_fit_takes(client):
    ranker = DaskRanker("map", tol=TOL, client=client)
    data = Partitions.of(*arrays(DATA), client=client)
    for given in (data, delayed_blocks(DATA, CUTS)):
        for found in ranker.path(given, Cs=[1, 10]):
            alone = Ranker("map", C=found.C, tol=TOL, solver="one-slack").fit(DATA.X, DATA.y, qid=DATA.qid)
            agree(found, alone)


def test_the_same_fit_again_has_the_same_bits(client):
    data = Partitions.of(*arrays(DATA), client=client)
    first, again = (DaskRanker("map", C=10.0, client=client).fit(data) for _ in range(2))
    assert first.coef_.tobytes() == again.coef_.tobytes()
    assert len(first.result_.history) == len(again.result_.history)


@pytest.mark.parametrize(
    "settings",
    [
        {"loss": "ndcg"},
        {"loss": "roc_area", "normalize": "standard"},
        {"normalize": "query-min-max"},
        {"normalize": "query-z-score"},
        {"loss": "zero_one", "fit_intercept": True},
        {"center": [1.0, -2.0, 0.0, 3.0, 0.5], "feature_penalty": [0.1, 1.0, 10.0, 0.5, 2.0], "normalize": "standard"},
        {"loss": "zero_one", "feature_penalty": [0.1, 1.0, 10.0, 0.5, 2.0], "fit_intercept": True},
        {"bounds": (None, 0.2), "monotonic_cst": [1, 0, 0, 0, -1]},
        {"loss": "zero_one", "class_weight": "balanced"},
        {"loss": "zero_one", "class_weight": {1.0: 2.0}},
        {"solver": OneSlack(tol=TOL, backend="active-set"), "tol": None},
    ],
    ids=str,
)
def test_settings_mean_the_same(client, settings):
    data = ranking(seed=3)
    if settings.get("loss") == "ndcg":
        data = RankingData(X=data.X, y=data.y * (1 + (np.arange(240) % 3 == 0)), qid=data.qid)
    if "solver" in settings:
        distributed = DaskRanker(C=10.0, client=client, **settings).fit(*arrays(data))
        alone = Ranker(C=10.0, **settings).fit(data.X, data.y, data.qid)
    else:
        distributed, alone = both(client, data=data, **settings)
    agree(distributed, alone)
    if alone.scaling_ is not None:
        for name, value in alone.scaling_.state().items():
            np.testing.assert_allclose(distributed.scaling_.state()[name], value, rtol=1e-12, atol=1e-12)
    X, y, qid = arrays(data)
    assert distributed.score(X, y, qid) == pytest.approx(distributed.to_local().score(data.X, data.y, data.qid))


def test_weights_of_queries_mean_the_same(client):
    weights = np.repeat(np.random.default_rng(2).uniform(0.0, 2.0, 40), 6)
    weights[:60] = 0.0  # all of a partition
    for settings in ({}, {"normalize": "standard"}):
        distributed, alone = both(client, weight=weights, **settings)
        agree(distributed, alone)
    np.testing.assert_allclose(distributed.scaling_.mean, alone.scaling_.mean, atol=1e-12)
    np.testing.assert_allclose(distributed.scaling_.deviation, alone.scaling_.deviation, rtol=1e-12)


def test_queries_that_cannot_be_learned_from_are_left_out(client):
    y = DATA.y.copy()
    y[60:120] = 0.0  # all of a partition
    distributed, alone = both(client, data=RankingData(X=DATA.X, y=y, qid=DATA.qid))
    assert distributed.n_left_out_ == 10
    agree(distributed, alone)


def test_rows_of_queries_may_be_in_any_order(client):
    rows = np.concatenate([np.random.default_rng(k).permutation(60) + 60 * k for k in range(4)])
    agree(*both(client, data=RankingData(X=DATA.X[rows], y=DATA.y[rows], qid=DATA.qid[rows])))


def test_split_queries_are_moved_together_before_they_are_learned_from(client):
    X, y, qid = arrays(DATA, 63)
    with pytest.raises(InputError, match="query 20 is in partition 0 and in partition 1"):
        DaskRanker(client=client).fit(X, y, qid)
    moved = DaskRanker("map", C=10.0, tol=TOL, shuffle=True, client=client).fit(X, y, qid)
    agree(moved, Ranker("map", C=10.0, tol=TOL, solver="one-slack").fit(DATA.X, DATA.y, DATA.qid))


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
    agree(distributed, alone)
    np.testing.assert_array_equal(distributed.result_.columns, alone.result_.columns)
    assert len(distributed.coef_) == 2100
    pulled = distributed.set_params(center=np.arange(2100.0)).fit(parts)
    assert pulled.result_.columns is None
    np.testing.assert_allclose(pulled.coef_[1::7], np.arange(1.0, 2100.0, 7.0))  # those without entries stay there


def test_the_model_is_that_of_one_machine(client, tmp_path):
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


def test_a_warm_start_takes_fewer_rounds(client):
    ranker = DaskRanker("map", C=10.0, warm_start=True, client=client).fit(*arrays(DATA))
    cold = ranker.result_.history[-1].iteration
    assert ranker.fit(*arrays(DATA)).result_.history[-1].iteration < cold


def test_a_path_has_a_ranker_for_each_C(client):
    found = DaskRanker("map", tol=TOL, client=client).path(*arrays(DATA), Cs=[10.0, 1.0])
    for each, C in zip(found, (10.0, 1.0), strict=True):
        agree(each, Ranker("map", C=C, tol=TOL, solver="one-slack").fit(DATA.X, DATA.y, DATA.qid))


def test_a_fit_goes_on_from_its_checkpoint(client, tmp_path):
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


def test_what_cannot_be_learned_is_said(client):
    X, y, qid = arrays(DATA)
    ranker = DaskRanker("map", client=client)
    with pytest.raises(InputError, match="qid is missing"):
        ranker.fit(X, y)
    with pytest.raises(InputError, match="a ranker learns from labels"):
        ranker.fit(X, qid=qid)
    for solver in ("frank-wolfe", "n-slack"):
        with pytest.raises(
            InputError, match=r"DaskRanker\(solver=...\) must be 'auto' or OneSlack: .* needs access to single queries"
        ):
            DaskRanker("map", solver=solver, client=client).fit(X, y, qid)
    with pytest.raises(InputError, match="center must be 5 finite numbers, one per weight"):
        DaskRanker("map", center=np.ones(4), client=client).fit(X, y, qid)
    with pytest.raises(InputError, match="penalty must be at least 0, got -1 for weight 0"):
        DaskRanker("map", feature_penalty=-np.ones(5), client=client).fit(X, y, qid)
    with pytest.raises(InputError, match="class_weight is for losses whose examples are rows"):
        DaskRanker("map", class_weight="balanced", client=client).fit(X, y, qid)
    with pytest.raises(InputError, match="use StructuralSVM"):
        DaskRanker("multiclass", client=client).fit(X, y, qid)
    with pytest.raises(InputError, match="cannot learn from any of the 40 queries"):
        ranker.fit(X, da.zeros_like(y), qid)


def test_features_of_different_scales_are_warned_of(client):
    X = DATA.X.copy()
    X[:, 1] *= 1e5
    with pytest.warns(FeatureScaleWarning, match="column 1") as warned:
        DaskRanker("map", C=1.0, client=client).fit(*arrays(RankingData(X=X, y=DATA.y, qid=DATA.qid)))
    assert warned[0].filename == __file__


def test_features_that_were_mapped_to_memory_stay_so(client, tmp_path):
    path = letor_files(DATA, [], tmp_path)[0]
    load_letor(path, dtype="float32", cache=tmp_path / "kept")
    data = Partitions.of([delayed(load_letor)(path, dtype="float32", cache=tmp_path / "kept")], client=client)
    X = client.gather(list(data.parts))[0].X
    base = X
    while isinstance(base, np.ndarray):
        base = base.base
    assert isinstance(base.obj, mmap)


def test_signs_are_given_by_the_names_of_columns_in_files(client, tmp_path):
    paths = [str(tmp_path / f"part{k}.csv") for k in range(2)]
    for path, rows in zip(paths, (slice(0, 120), slice(120, 240)), strict=True):
        frame(DATA).rename(columns={"session": "qid"})[rows].to_csv(path, index=False)
    named = DaskRanker("map", C=10.0, tol=TOL, monotonic_cst={"b": -1, "d": 1}, client=client).fit(paths)
    signs = DaskRanker("map", C=10.0, tol=TOL, monotonic_cst=[0, -1, 0, 1, 0], client=client).fit(paths)
    np.testing.assert_array_equal(named.coef_, signs.coef_)
    with pytest.raises(InputError, match="has 'bb', and no feature of X has that name"):
        DaskRanker("map", monotonic_cst={"bb": 1}, client=client).fit(paths)


def test_a_frame_without_query_ids_is_told_so_before_its_columns_are_looked_at(client):
    table = frames(DATA)
    texts = table.assign(session=table["session"].map("q{}".format, meta=("session", object)))
    with pytest.raises(InputError, match=r'qid is missing: .*as in fit\(frame, "label", "qid"\)'):
        DaskRanker("map", client=client).fit(texts, "label")
    with pytest.raises(InputError, match="a ranker learns from labels"):
        DaskRanker("map", client=client).fit(texts, qid="session")
