"""`DaskRanker` scores and measures partitions as `Ranker` scores and measures rows."""

import pickle

import dask.array as da
import numpy as np
import pytest
from dask import delayed
from sklearn.base import clone

from structsvm import Ranker
from structsvm.distributed import DaskRanker
from structsvm.distributed.partitions import Partitions
from structsvm.exceptions import InputError
from tests.distributed.queries import COLUMNS, CUTS, DATA, arrays, delayed_blocks, frame, frames, source


@pytest.fixture(scope="module")
def local():
    return Ranker("map", C=10.0, solver="one-slack").fit(DATA.X, DATA.y, qid=DATA.qid)


def loaded(ranker, tmp_path):
    ranker.save(tmp_path / "model.npz")
    return DaskRanker.load(tmp_path / "model.npz")


@pytest.mark.parametrize("kind", ["arrays", "series", "letor", "parquet", "delayed", "partitions", "local"])
def test_scores_of_every_source_are_the_same(kind, client, local, tmp_path):
    scores = loaded(local, tmp_path).predict(DATA.X if kind == "local" else source(kind, client, tmp_path)[0])
    if kind == "arrays":
        assert isinstance(scores, da.Array)
        assert scores.chunks == ((60, 60, 60, 60),)
    np.testing.assert_allclose(np.asarray(scores), local.predict(DATA.X), rtol=1e-6)  # files hold float64


@pytest.mark.parametrize("measure", ["map", "ndcg@3", "p@2", "map(empty=skip)"])
def test_measures_are_as_on_one_machine(client, local, tmp_path, measure):
    ranker = loaded(local, tmp_path).set_params(measure=measure)
    weights = np.repeat(np.random.default_rng(1).uniform(0.5, 2.0, 40), 6)
    weights[:60] = 0.0
    expected = local.set_params(measure=measure).score(DATA.X, DATA.y, DATA.qid, weights)
    assert ranker.score(*arrays(DATA), da.from_array(weights, chunks=60)) == pytest.approx(expected, rel=1e-12)
    assert ranker.evaluate(*arrays(DATA), measures=[measure, "mrr"])[measure] == pytest.approx(
        local.score(DATA.X, DATA.y, DATA.qid), rel=1e-12
    )
    local.set_params(measure=None)


def test_split_queries_are_measured_with_shuffle_only(client, local, tmp_path):
    ranker = loaded(local, tmp_path)
    X, y, qid = arrays(DATA, chunk=63)
    with pytest.raises(InputError, match="query 20 is in partition 0 and in partition 1"):
        ranker.score(X, y, qid)
    expected = local.score(DATA.X, DATA.y, DATA.qid)
    assert ranker.set_params(shuffle=True).score(X, y, qid) == pytest.approx(expected, rel=1e-12)


def test_data_unlike_those_of_the_fit_are_errors(client, local, tmp_path):
    ranker = loaded(local, tmp_path)
    X, y, _ = arrays(DATA)
    with pytest.raises(InputError, match="X has 4 features, but DaskRanker is expecting 5"):
        ranker.predict(X[:, :4])
    with pytest.raises(InputError, match="fitted with qid, so measures need qid"):
        ranker.score(X, y)
    with pytest.raises(InputError, match="measures need labels"):
        ranker.score(X)
    named = Ranker("map", C=10.0, solver="one-slack").fit(frame(DATA)[COLUMNS], DATA.y, qid=DATA.qid)
    other = loaded(named, tmp_path)
    with pytest.raises(InputError, match="'e'"):
        other.predict(frames(DATA)[list("abcd")])
    for columns in (COLUMNS, list("bacde")):
        scores = other.predict(frames(DATA)[columns]).compute()
        np.testing.assert_array_equal(scores, named.predict(frame(DATA)[COLUMNS]))


def test_files_and_calls_need_no_labels_to_score(client, local, tmp_path):
    ranker = loaded(local, tmp_path)
    bare = tmp_path / "bare.txt"
    bare.write_text("qid:1 1:1 2:2\nqid:1 3:1\n")
    expected = local.predict(np.array([[1.0, 2, 0, 0, 0], [0, 0, 1, 0, 0]]))
    np.testing.assert_allclose(ranker.predict([bare]).compute(), expected)
    blocks = [DATA.X[:60], DATA.X[60:]]
    for calls in (
        [delayed(lambda X=X: X)() for X in blocks],
        [delayed(lambda X=X: (X,))() for X in blocks],
        client.scatter(blocks, hash=False),
    ):
        np.testing.assert_array_equal(ranker.predict(calls).compute(), local.predict(DATA.X))


def test_a_single_call_is_an_error(client, local, tmp_path):
    ranker = loaded(local, tmp_path)
    call = delayed(lambda: (DATA.X, DATA.y, DATA.qid))()
    for single in (call, client.compute(call)):
        for ask in (ranker.fit, ranker.path, ranker.predict, ranker.score, ranker.evaluate):
            with pytest.raises(InputError, match=r"X is a single (Delayed|Future): .* for a single partition, \[X\]"):
                ask(single)


@pytest.mark.parametrize("timeout", [0, -1, "a", None, np.inf])
def test_a_wrong_timeout_is_an_error(client, local, tmp_path, timeout):
    ranker = loaded(local, tmp_path).set_params(timeout=timeout)
    for data in (Partitions.of(*arrays(DATA), client=client), delayed_blocks(DATA, CUTS)):
        for ask in (ranker.fit, ranker.evaluate):
            with pytest.raises(InputError, match=r"DaskRanker\(timeout=...\) must be a positive finite number"):
                ask(data)


def test_partitions_adopt_another_timeout(client):
    data = Partitions.of(*arrays(DATA), client=client, timeout=70)
    assert data.workers.timeout == 70
    patient = Partitions.of(data, timeout=80)
    assert patient.workers.timeout == 80
    assert patient.parts is data.parts


def test_a_closed_client_is_an_error(client, local, tmp_path):
    from distributed import Client

    ranker = loaded(local, tmp_path)
    with Client(client.scheduler.address, set_as_default=False) as closed:
        data = Partitions.of(*arrays(DATA), client=closed)
    for ask in (ranker.fit, ranker.predict, ranker.score, ranker.evaluate, ranker.path):
        with pytest.raises(InputError, match=r"the client of these partitions is closed.* read or make the partitions"):
            ask(data)
    ranker.set_params(client=closed)
    for ask in (ranker.fit, ranker.evaluate, ranker.path):
        with pytest.raises(InputError, match=r"this client is closed: pass an open client"):
            ask(*arrays(DATA))
    with pytest.raises(InputError, match="this client is closed"):
        assert ranker.client_


def test_parameters_clone_and_pickle(client):
    ranker = DaskRanker("ndcg", C=3.0, shuffle=True, client=client)
    assert ranker.get_params()["client"] is client
    assert ranker.client_ is client
    copied = clone(ranker)
    assert copied.client is client
    assert (copied.loss, copied.C, copied.shuffle) == ("ndcg", 3.0, True)
    assert pickle.loads(pickle.dumps(ranker)).client is None
    assert ranker.client is client
    assert set(Ranker().get_params()) | {"client", "timeout", "shuffle"} == set(ranker.get_params())
    assert "C=3.0" in repr(ranker)
    with pytest.raises(InputError, match="must be a dask.distributed.Client or None, got 3"):
        assert ranker.set_params(client=3).client_


@pytest.mark.slow
@pytest.mark.parametrize("normalize", [None, "query-min-max"])
def test_statistics_of_features_are_as_on_one_machine(client, local, normalize):
    merged = DaskRanker("map", C=10.0, normalize=normalize).fit(*arrays(DATA)).model_.training.arrays
    expected = local.model_.training.arrays
    for name in ("feature_ranges", "feature_queries"):
        np.testing.assert_array_equal(merged[name], expected[name])
    shares = merged["feature_shares"]
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    # Merged deciles are within 1/200 of the rows of each partition, of which there are 4.
    assert np.abs(np.cumsum(shares, axis=1)[:, :9] - np.arange(1, 10) / 10.0).max() < 0.02
