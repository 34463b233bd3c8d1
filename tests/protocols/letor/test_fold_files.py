"""Folds that are made of a data set, and read as LETOR's rotation."""

import numpy as np
import pytest

from structsvm.data import RankingData, load_letor
from structsvm.exceptions import InputError
from structsvm.protocols.letor import write_folds
from structsvm.protocols.letor.folds import find_folds


def make(queries, *, names=None):
    qid = np.repeat(np.arange(1, queries + 1), 3)
    X = np.random.default_rng(1).random((len(qid), 2))
    return RankingData(X, (np.arange(len(qid)) % 3 == 0) * 1.0, qid.astype(str), np.arange(len(qid)).astype(str), names)


def test_every_query_is_tested_once_and_files_are_even(tmp_path):
    data = make(23, names=("a", "b"))
    paths = write_folds(tmp_path / "made" / "here", data)
    assert [path.name for path in paths] == [f"S{k}.txt" for k in range(1, 6)]
    parts = [load_letor(path, doc_ids=True) for path in paths]
    assert sorted(len(set(part.qid.tolist())) for part in parts) == [4, 4, 5, 5, 5]
    assert sorted(np.concatenate([part.qid for part in parts]).tolist()) == sorted(data.qid.astype(int).tolist())
    for part in parts:
        assert sorted(part.qid.tolist()) == part.qid.tolist()
        rows = part.doc_ids.astype(int)
        np.testing.assert_array_equal(part.X, data.X[rows])
        np.testing.assert_array_equal(part.y, data.y[rows])
    assert all(load_letor(path).feature_names == ("a", "b") for path in paths)
    folds = find_folds(tmp_path / "made" / "here")
    assert [fold.test[0].name for fold in folds] == ["S5.txt", "S1.txt", "S2.txt", "S3.txt", "S4.txt"]


def test_the_seed_draws_the_order_of_queries(tmp_path):
    def first(name, **settings):
        return load_letor(write_folds(tmp_path / name, make(20), **settings)[0]).qid.tolist()

    expected = sorted(np.random.default_rng(0).permutation(20)[:4] + 1)
    assert list(dict.fromkeys(first("a"))) == expected
    assert first("b", random_state=0) == first("a")
    assert first("c", random_state=1) != first("a")
    assert len(find_folds(tmp_path / "a")) == 5
    write_folds(tmp_path / "d", make(20), folds=3)
    assert len(find_folds(tmp_path / "d")) == 3


def test_topics_that_are_no_numbers_are_numbered_over_all_files(tmp_path):
    data = make(9)
    named = RankingData(data.X, data.y, np.char.add("MB", data.qid), data.doc_ids)
    paths = write_folds(tmp_path, named, folds=3)
    assert sorted(load_letor(paths).qid.tolist()) == sorted(data.qid.astype(int).tolist())
    for path in paths:
        heads = [line for line in path.read_text().splitlines() if line.startswith("# query")]
        assert heads == [f"# query {query} = MB{query}" for query in dict.fromkeys(load_letor(path).qid.tolist())]


def test_the_same_files_are_replaced_and_others_refused(tmp_path):
    write_folds(tmp_path, make(9))
    write_folds(tmp_path, make(20))
    with pytest.raises(InputError, match="has S4.txt, a file of other folds"):
        write_folds(tmp_path, make(20), folds=3)
    (tmp_path / "Fold1").mkdir()
    with pytest.raises(InputError, match="has Fold1, a file of other folds"):
        write_folds(tmp_path, make(20))
    assert len(load_letor(list(tmp_path.glob("S*.txt"))).qid) == 60


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"folds": 2}, "folds must be an integer of at least 3"),
        ({"folds": 10}, "9 queries are too few for 10 folds"),
        ({"random_state": -1}, "random_state must be"),
        ({"data": "here"}, "data must be RankingData"),
        ({"folder": 3}, "folder must be a path"),
    ],
)
def test_invalid_settings_are_errors(settings, message, tmp_path):
    with pytest.raises(InputError, match=message):
        write_folds(**{"folder": tmp_path / "out", "data": make(9), **settings})
    assert not list(tmp_path.iterdir())


def test_nothing_is_replaced_when_one_file_cannot_be_written(tmp_path):
    write_folds(tmp_path, make(9))
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    (tmp_path / "S5.txt").unlink()
    (tmp_path / "S5.txt").mkdir()
    with pytest.raises(InputError, match="it is a folder"):
        write_folds(tmp_path, make(20))
    assert {path.name: path.read_bytes() for path in tmp_path.glob("S[1-4].txt")} == {
        name: content for name, content in before.items() if name != "S5.txt"
    }
    assert len(list(tmp_path.iterdir())) == 5
