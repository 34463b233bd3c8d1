"""Partitions have the same rows from every kind of source, and errors name sources and partitions."""

from pathlib import Path

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from dask import delayed

from structsvm.data import RankingData, load_letor
from structsvm.distributed import read_partitions
from structsvm.distributed.partition import Partition, labels_of, survey_partition
from structsvm.distributed.partitions import Partitions
from structsvm.exceptions import DataFormatError, InputError
from tests.distributed.queries import COLUMNS, CUTS, DATA, arrays, delayed_blocks, frame, frames, letor_files, source


def gathered(partitions):
    return partitions.workers.client.gather(list(partitions.parts))


def rows_of(partitions):
    parts = gathered(partitions)
    dense = [part.X.toarray() if sp.issparse(part.X) else part.X for part in parts]
    return np.concatenate(dense), np.concatenate([p.y for p in parts]), np.concatenate([p.qid for p in parts])


@pytest.mark.parametrize("kind", ["arrays", "frames", "series", "delayed", "futures", "letor", "gzip", "parquet"])
def test_every_source_gives_the_same_rows(kind, client, tmp_path):
    arguments = source(kind, client, tmp_path)
    if kind in ("letor", "gzip", "parquet"):
        partitions = read_partitions(*arguments, dtype="float32", client=client)
    else:
        partitions = Partitions.of(*arguments, client=client)
    X, y, qid = rows_of(partitions)
    assert len(partitions) == 4
    assert X.dtype == np.float32
    np.testing.assert_array_equal(X, DATA.X)
    np.testing.assert_array_equal(y, DATA.y)
    np.testing.assert_array_equal(qid, DATA.qid)
    assert (partitions.rows, partitions.queries, partitions.n_features) == (240, 40, 5)
    assert "4 of them, 40 queries, 240 documents, 5 features" in repr(partitions)
    if kind == "frames":
        assert partitions.first.names == tuple(COLUMNS)


def test_too_many_labels_are_an_error():
    surveys = [
        survey_partition(Partition(np.zeros((n, 1)), np.arange(n) / 7.0, title=f"partition {k}"))
        for k, n in enumerate((10_000, 12_345))
    ]
    assert len(labels_of(surveys[:1])) == 10_000
    with pytest.raises(InputError, match="partition 1 has 12,345 different labels"):
        labels_of(surveys)


def test_files_are_spread_over_the_workers(client, tmp_path):
    partitions = read_partitions(letor_files(DATA, CUTS, tmp_path), client=client)
    holders = [client.who_has(part)[part.key] for part in partitions.parts]
    assert len(set().union(*holders)) == 2


def test_a_partition_shares_the_memory_of_its_source(client):
    future = client.scatter(DATA.X, workers=[next(iter(client.nthreads()))], hash=False)
    call = delayed(lambda X: (X, DATA.y, DATA.qid))(future)
    assert np.shares_memory(gathered(Partitions.of([call], client=client))[0].X, client.gather(future))


def test_smaller_chunks_of_labels_become_those_of_features(client):
    X, y, qid = arrays(DATA)
    partitions = Partitions.of(X, y.rechunk(7), qid.rechunk(240), client=client)
    np.testing.assert_array_equal(rows_of(partitions)[1], DATA.y)


def test_empty_partitions_are_left_out_unless_all_are_empty(client):
    empty = delayed(lambda: (DATA.X[:0], DATA.y[:0], DATA.qid[:0]))()
    partitions = Partitions.of([empty, *delayed_blocks(DATA, CUTS), empty], client=client)
    assert (partitions.rows, len(partitions)) == (240, 4)
    refused(client, "all partitions are empty", [empty])


def test_files_get_the_same_width_and_storage(client, tmp_path):
    X = np.zeros((12, 50))
    X[:, 49] = 1.0
    wide = RankingData(X=sp.csr_array(X), y=DATA.y[:12], qid=DATA.qid[:12] + 900)
    narrow = RankingData(X=DATA.X[:12, :3], y=DATA.y[:12], qid=DATA.qid[12:24] + 500)
    full = RankingData(X=np.ones((12, 50)), y=DATA.y[:12], qid=DATA.qid[12:24] + 700)
    dense = letor_files(DATA, CUTS, tmp_path) + letor_files(narrow, [], tmp_path, ".narrow")
    mixed = dense + letor_files(wide, [], tmp_path, ".sparse") + letor_files(full, [], tmp_path, ".full")
    for paths, width in ((dense, 5), (mixed, 50)):
        partitions = read_partitions(paths, client=client)
        assert {survey.sparse for survey in partitions.surveys} == {width == 50}
        assert partitions.n_features == width
        rows = rows_of(partitions)[0]
        np.testing.assert_array_equal(rows[240:252, :3], DATA.X[:12, :3])
        np.testing.assert_array_equal(rows[240:252, 3:], 0.0)
    np.testing.assert_array_equal(rows[252:], np.concatenate([X, full.X]))


def test_files_with_query_sizes_share_no_ids(client, tmp_path):
    for name in ("one.txt", "two.txt"):
        (tmp_path / name).write_text("1 1:1\n0 1:2\n1 1:3\n0 1:4\n")
        (tmp_path / f"{name}.query").write_text("2\n2\n")
    partitions = read_partitions([tmp_path / "one.txt", tmp_path / "two.txt"], client=client)
    assert len(np.unique(rows_of(partitions)[2])) == 4


def test_weights_beside_files_are_read(client, tmp_path):
    paths = letor_files(DATA, CUTS, tmp_path)
    for weight, path in enumerate(paths):
        queries = len(set(load_letor(path).qid.tolist()))
        Path(f"{path}.weight").write_text(f"{weight}\n" * queries)
    parts = gathered(read_partitions(paths, client=client))
    assert [set(part.sample_weight.tolist()) for part in parts] == [{float(k)} for k in range(len(paths))]


def refused(client, match, *arguments, error=InputError, **settings):
    with pytest.raises(error, match=match):
        Partitions.of(*arguments, client=client, **settings)


def test_unsupported_sources_are_errors(client, tmp_path):
    X, y, qid = arrays(DATA)
    refused(client, r"split its 5 columns in 5.*X.rechunk\(\{1: -1\}\)", X.rechunk((60, 1)), y, qid)
    refused(client, "y must have a number for each of the 240 rows of X, got 239", X, y[:-1], qid)
    refused(client, r"qid must have a number for each of the 240 rows of X, got 239$", X, y, qid[:-1])
    refused(client, "must be a Dask array or series like X, got a ndarray", X, DATA.y, qid)
    table = frame(DATA)
    refused(
        client, r"a ndarray: make a Dask array by dask.array.from_array\(X, chunks=\(100_000, -1\)\)", DATA.X, y, qid
    )
    refused(
        client, r"a DataFrame: make a Dask data frame by dask.dataframe.from_pandas\(X, npartitions=8", table, "label"
    )
    refused(client, r"a Series: make a Dask data frame by dask.dataframe.from_pandas\(y", X, table["label"], qid)
    refused(client, "X must be a matrix", y, y, qid)
    refused(client, "X has no column 'lable', which y names", frames(DATA), "lable", "session")
    texts = frames(DATA).assign(docid="d1", url="a")
    refused(client, r"has columns of text: drop them by frame.drop\(columns=\['docid', 'url'\]\)", texts, "label")
    refused(client, "names a column, but X is not a data frame", X, "label", qid)
    refused(client, "partition 0 is an int", [1, 2])
    refused(client, r"partition 0 is an Array.*dask.array.concatenate\(...\)", [X, X], [y, y], [qid, qid])
    refused(client, r"partition 0 is a DataFrame.*dask.dataframe.concat", [frames(DATA)])
    refused(client, r"partition 0 is a tuple.*\[dask.delayed\(part\) for part in parts\]", [(DATA.X, DATA.y, DATA.qid)])
    refused(client, "the list of partitions is empty", [])
    refused(client, "has a.txt twice", ["a.txt", "a.txt"])
    refused(client, "partition 0 must return", [delayed(lambda: 3)()])
    refused(client, r"y must not be given, because files contain", ["a.txt"], y)
    refused(client, r"there is no file nowhere\.txt", ["nowhere.txt"])
    refused(client, r"If it is a pattern.*sorted\(glob.glob\('part\*.txt'\)\)", "part*.txt")
    bad = tmp_path / "bad.txt"
    bad.write_text("1 qid:1 1:1\nx qid:1 1:1\n")
    refused(client, r"bad\.txt, line 2", [str(bad)], error=DataFormatError)
    partitions = Partitions.of(X, y, qid, client=client)
    refused(3, "must be a dask.distributed.Client or None, got 3", X, y, qid)
    refused("tcp://a:1", "got 'tcp://a:1': make a client from the address", partitions)


def test_errors_name_the_partition_of_wrong_numbers(client):
    X = DATA.X.copy()
    X[130, 2] = np.nan
    y = DATA.y.copy()
    y[61] = np.inf
    for match, data in (
        (r"partition 2: .*NaN.*Call them in the function that returns a partition", (X, DATA.y, DATA.qid)),
        (r"partition 1: y contains NaN or infinity", (DATA.X, y, DATA.qid)),
    ):
        refused(client, match, *(da.from_array(column, chunks=(60, *column.shape[1:])) for column in data))


def test_different_partitions_are_an_error_with_their_titles(client):
    first, *others = [(DATA.X[a : a + 60], DATA.y[a : a + 60], DATA.qid[a : a + 60]) for a in (0, 60)]
    for changed, match in (
        ((others[0][0].astype(float), *others[0][1:]), r"numbers of type of partition 0 and of partition 1 differ"),
        ((others[0][0][:, :4], *others[0][1:]), "partition 0 has 5 features, but partition 1 has 4"),
        ((others[0][0],), "partition 0 has labels, but partition 1 does not"),
        ((*others[0], np.ones(60)), "partition 1 has sample weights, but partition 0 does not"),
        ((others[0][0], others[0][1], others[0][2].astype(str)), "whole numbers in partition 0 and texts in partition"),
    ):
        parts = [delayed(lambda part=part: part)() for part in (first, changed)]
        refused(client, match, parts)


def test_group_sizes_are_an_error(client):
    X, y, _ = arrays(DATA)
    refused(client, "If qid has group sizes", X, y, da.from_array(np.full(40, 6), chunks=10))
    parts = [delayed(lambda: (DATA.X, DATA.y, np.full(40, 6)))()]
    refused(client, r"partition 0: .*these look like group sizes", parts)


def test_a_missing_client_is_an_error(monkeypatch):
    monkeypatch.setattr("distributed.get_client", lambda: int("none"))
    refused(None, "there is no Dask client: connect to a cluster by distributed.Client", *arrays(DATA))
