"""Caches of text give the same data, and are rejected after changes of text, settings or the cache itself."""

import os
import time

import numpy as np
import pytest

from structsvm.data import cache, load_letor
from structsvm.exceptions import InputError
from structsvm.foundation.storage.artefacts import CACHE
from structsvm.foundation.storage.mapped import read_header, read_mapped, write_mapped

TEXT = "# feature 1 = a\n# feature 2 = b\n1 qid:1 1:0.5 #docid = d1\n0 qid:1 2:1 #docid = d2\n1 qid:2 1:3 #docid = d3\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A file of data, old enough to tell by its times whether it changed, and the path of a cache."""
    path = tmp_path / "train.txt"
    path.write_text(TEXT)
    monkeypatch.setattr(cache, "_RECENT", -1)
    return path, tmp_path / "train.cache"


def same(one, other) -> bool:
    X = [matrix if isinstance(matrix, np.ndarray) else matrix.toarray() for matrix in (one.X, other.X)]
    ids = [None if names is None else names.tolist() for names in (one.doc_ids, other.doc_ids)]
    return (
        X[0].tobytes() == X[1].tobytes()
        and one.X.dtype == other.X.dtype
        and isinstance(one.X, np.ndarray) == isinstance(other.X, np.ndarray)
        and one.y.tobytes() == other.y.tobytes()
        and one.qid.tolist() == other.qid.tolist()
        and ids[0] == ids[1]
        and one.feature_names == other.feature_names
    )


def read_anew(monkeypatch) -> list[int]:
    """Count how often text is read."""
    reads: list[int] = []
    load = load_letor.__globals__["_load"]
    monkeypatch.setitem(load_letor.__globals__, "_load", lambda *arguments: (reads.append(1), load(*arguments))[1])
    return reads


@pytest.mark.parametrize("settings", [{}, {"sparse": True}, {"doc_ids": True}, {"dtype": "float32", "n_features": 9}])
def test_what_is_kept_is_what_was_read(files, monkeypatch, settings):
    path, cache_path = files
    first = load_letor(path, cache=cache_path, **settings)
    reads = read_anew(monkeypatch)
    again = load_letor(path, cache=cache_path, **settings)
    assert reads == []
    assert same(first, again)
    assert same(first, load_letor(path, **settings))
    again.y[:] = 7  # a copy of the page, and not the file
    if isinstance(again.X, np.ndarray):
        again.X[:] = 7
    assert same(first, load_letor(path, cache=cache_path, **settings))


def test_text_that_has_changed_is_read_anew(files, monkeypatch):
    path, cache_path = files
    load_letor(path, cache=cache_path)
    reads = read_anew(monkeypatch)
    path.write_text(TEXT.replace("0.5", "0.7"))
    assert load_letor(path, cache=cache_path).X[0, 0] == 0.7
    assert len(reads) == 1
    assert load_letor(path, cache=cache_path).X[0, 0] == 0.7
    assert len(reads) == 1


def test_text_of_other_times_and_the_same_content_is_not(files, monkeypatch):
    path, cache_path = files
    load_letor(path, cache=cache_path)
    reads = read_anew(monkeypatch)
    os.utime(path, (1, 1))
    load_letor(path, cache=cache_path)
    copy = path.with_name("copy.txt")
    copy.write_text(TEXT)
    load_letor(copy, cache=cache_path)
    assert reads == []


def test_a_change_within_the_same_instant_is_seen(files, monkeypatch):
    """As in git: if a file is as new as its record, its content is compared."""
    path, cache_path = files
    monkeypatch.setattr(cache, "_RECENT", 2 * 10**9)
    load_letor(path, cache=cache_path)
    stamp, real = cache._identity(path), cache._identity
    monkeypatch.setattr(cache, "_identity", lambda file: stamp if file == path else real(file))
    path.write_text(TEXT.replace("0.5", "0.7"))
    assert load_letor(path, cache=cache_path).X[0, 0] == 0.7


def test_other_settings_and_other_sizes_are_read_anew(files, monkeypatch):
    path, cache_path = files
    load_letor(path, cache=cache_path)
    reads = read_anew(monkeypatch)
    load_letor(path, cache=cache_path, n_features=3)
    load_letor(path, cache=cache_path, dtype="float32")
    load_letor(path, cache=cache_path, labels="optional")
    assert len(reads) == 3
    path.write_text("1 1:1\n0 1:2\n")
    sizes = path.with_name("train.txt.query")
    sizes.write_text("2\n")
    assert load_letor(path, cache=cache_path).qid.tolist() == [1, 1]
    sizes.write_text("1\n1\n")
    assert load_letor(path, cache=cache_path).qid.tolist() == [1, 2]


def test_text_that_changes_while_it_is_read_is_not_kept(files, monkeypatch):
    path, cache_path = files
    load = load_letor.__globals__["_load"]

    def change(*arguments):
        read = load(*arguments)
        path.write_text(TEXT.replace("0.5", "0.7"))
        os.utime(path, ns=(time.time_ns() + 10**10,) * 2)
        return read

    monkeypatch.setitem(load_letor.__globals__, "_load", change)
    assert load_letor(path, cache=cache_path).X[0, 0] == 0.5
    assert not cache_path.exists()


def test_a_damaged_cache_is_made_anew(files):
    path, cache_path = files
    first = load_letor(path, cache=cache_path, doc_ids=True)
    whole = cache_path.read_bytes()
    damaged = [whole[:length] for length in range(37, len(whole), 37)]
    for k in range(16, len(whole), 11):
        damaged.append(whole[:k] + bytes([whole[k] ^ 16]) + whole[k + 1 :])
    for content in damaged:
        cache_path.write_bytes(content)
        assert same(load_letor(path, cache=cache_path, doc_ids=True), first)
    assert same(load_letor(path, cache=cache_path, doc_ids=True), first)


def test_other_files_are_not_replaced(files):
    path, cache_path = files
    cache_path.touch()
    with pytest.raises(InputError, match="is not a cache of data"):
        load_letor(path, cache=cache_path)
    cache_path.write_text("my notes")
    with pytest.raises(
        InputError, match="train.cache is not a cache of data and would be replaced: choose another file"
    ):
        load_letor(path, cache=cache_path)
    with pytest.raises(InputError, match="is not a cache of data"):
        load_letor(path, cache=path)
    assert cache_path.read_text() == "my notes"
    with pytest.raises(InputError, match="there is no folder"):
        load_letor(path, cache=path.parent / "missing" / "cache")
    with pytest.raises(InputError, match="cache must be a path"):
        load_letor(path, cache=3)


def test_a_pipe_cannot_be_kept(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(InputError, match="pipe is not a regular file, so its data cannot be cached"):
        load_letor(path, cache=tmp_path / "cache")
    with pytest.raises(InputError, match="there is no file .*missing"):
        load_letor(tmp_path / "missing", cache=tmp_path / "cache")


def changed(name, make):
    """Return a change of an array of a cache."""
    return lambda about, arrays: (about, {**arrays, name: make(arrays[name])})


def described(**changes):
    """Return a change of the description of a cache."""
    return lambda about, arrays: ({**about, **changes}, arrays)


def set_at(place, value):
    return lambda array: np.array([*array[:place], value, *array[place + 1 :]], dtype=array.dtype)


CRAFTED = {
    "labels cut short": changed("y", lambda y: y[:1]),
    "a matrix of labels": changed("y", lambda y: y[None]),
    "a label that is NaN": changed("y", set_at(0, np.nan)),
    "labels of another type": changed("y", lambda y: y.astype("f4")),
    "another byte order": changed("y", lambda y: y.astype(">f8")),
    "query ids of another type": changed("qid", lambda qid: qid.astype("f8")),
    "query ids as texts": changed("qid", lambda qid: qid.astype(str)),
    "more query ids": changed("qid", lambda qid: np.append(qid, 3)),
    "no query ids": lambda about, arrays: (about, {name: arrays[name] for name in arrays if name != "qid"}),
    "document ids as numbers": changed("doc_ids", lambda ids: np.arange(len(ids))),
    "fewer document ids": changed("doc_ids", lambda ids: ids[1:]),
    "values as whole numbers": changed("data", lambda data: data.astype("i8")),
    "values of another type": changed("data", lambda data: data.astype("f4")),
    "a value that is infinite": changed("data", set_at(0, np.inf)),
    "fewer values": changed("data", lambda data: data[1:]),
    "indices of another type": changed("indices", lambda indices: indices.astype("f8")),
    "a negative feature": changed("indices", set_at(0, -1)),
    "a feature beyond": changed("indices", set_at(0, 99)),
    "a feature twice": lambda about, arrays: (
        about,
        {**arrays, "indices": np.array([0, 1, 1, 0], "i4"), "indptr": np.array([0, 1, 3, 4], "i4")}
        | {"data": np.ones(4)},
    ),
    "an end beyond": changed("indptr", set_at(-1, 99)),
    "descending offsets": changed("indptr", set_at(1, 3)),
    "fewer rows": changed("indptr", lambda indptr: np.delete(indptr, 1)),
    "another shape": described(shape=[3, 1]),
    "a shape of three": described(shape=[3, 2, 1]),
    "a huge shape": described(shape=[2**70, 2]),
    "a shape of text": described(shape="32"),
    "names of fewer features": described(feature_names=["a"]),
    "equal names": described(feature_names=["a", "a"]),
    "names that are numbers": described(feature_names=[1, 2]),
    "sources of another kind": described(sources=[3]),
    "another moment": described(looked="now"),
    "no description": lambda about, arrays: ([], arrays),
}


@pytest.mark.parametrize("kind", CRAFTED)
def test_a_crafted_cache_is_made_anew(files, monkeypatch, kind):
    path, cache_path = files
    first = load_letor(path, cache=cache_path, doc_ids=True, sparse=True)
    with cache_path.open("rb") as file:
        about = read_header(file, CACHE)["about"]
        arrays = {name: array.copy() for name, array in read_mapped(file, CACHE).items()}
    write_mapped(cache_path, CACHE, *CRAFTED[kind](about, arrays))
    reads = read_anew(monkeypatch)
    assert same(load_letor(path, cache=cache_path, doc_ids=True, sparse=True), first)
    assert len(reads) == 1


@pytest.mark.parametrize("make", [lambda X: X[:1], lambda X: X.T, lambda X: X.astype("f4"), lambda X: X * np.nan])
def test_crafted_dense_features_are_read_anew(files, make):
    path, cache_path = files
    first = load_letor(path, cache=cache_path, sparse=False)
    with cache_path.open("rb") as file:
        about = read_header(file, CACHE)["about"]
        arrays = {name: array.copy() for name, array in read_mapped(file, CACHE).items()}
    write_mapped(cache_path, CACHE, about, {**arrays, "X": make(arrays["X"])})
    assert same(load_letor(path, cache=cache_path, sparse=False), first)


@pytest.mark.parametrize("name", ["sparse", "doc_ids"])
def test_switches_of_the_reader_are_true_or_false(files, name):
    with pytest.raises(InputError, match=f"{name} must be True or False, got 'no'"):
        load_letor(files[0], **{name: "no"})
