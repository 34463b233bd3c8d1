"""The file of an index: it is read as it was written, or refused."""

import json
import os
from contextlib import suppress
from unittest.mock import patch

import numpy as np
import pytest

from structsvm.exceptions import DataFormatError, InputError
from structsvm.foundation.storage.artefacts import CACHE, INDEX, MAGIC
from structsvm.foundation.storage.mapped import read_header, read_mapped, write_mapped
from structsvm.text import Analyzer, Index, analyzer
from structsvm.text import index as index_module

DOCUMENTS = [
    ("a", {"title": "On wings", "text": "A wing is a wing, and of wings there are two."}),
    ("é", {"text": "Supersonic flow of the boundary layer"}),
    ("c" * 40, {}),
    ("caf\udce9", {"title": "Flow", "text": "flow " * 300}),
]
ONE_FIELD = [(name, {"text": fields.get("text", "")}) for name, fields in DOCUMENTS]


def arrays_of(index):
    for name, postings in {"": index.whole, **index.fields}.items():
        for part in ("ptr", "documents", "counts", "lengths"):
            yield f"{name}.{part}", getattr(postings, part)
        yield f"{name}.terms", np.asarray(postings.terms)
    yield "ids", np.asarray(index.doc_ids)


def same(one, other):
    ours, theirs = dict(arrays_of(one)), dict(arrays_of(other))
    assert list(ours) == list(theirs)
    for name, array in ours.items():
        assert array.dtype == theirs[name].dtype, name
        assert np.array_equal(array, theirs[name]), name
    assert one.analyzer == other.analyzer
    return True


@pytest.fixture
def index():
    return Index.build(DOCUMENTS, Analyzer("porter", "lucene"))


@pytest.fixture
def path(index, tmp_path):
    index.save(tmp_path / "idx")
    return tmp_path / "idx"


@pytest.mark.parametrize("documents", [DOCUMENTS, ONE_FIELD])
@pytest.mark.parametrize(
    "analyzer",
    [
        Analyzer(None, None),
        Analyzer("porter", "lucene"),
        Analyzer("porter2", ("flow", "of")),
        Analyzer(None, "glasgow"),
    ],
)
def test_an_index_is_loaded_as_it_was_saved(documents, analyzer, tmp_path):
    made = Index.build(documents, analyzer)
    made.save(tmp_path / "idx")
    loaded = Index.load(tmp_path / "idx")
    assert same(loaded, made)
    assert (loaded.whole is loaded.fields["text"]) == (len(loaded.fields) == 1)
    assert not loaded.whole.documents.flags.writeable
    loaded.save(str(tmp_path / "again"))
    assert (tmp_path / "again").read_bytes() == (tmp_path / "idx").read_bytes()
    loaded.save(tmp_path / "idx")
    assert same(loaded, made)


def test_a_single_field_is_stored_once(tmp_path):
    Index.build(ONE_FIELD, Analyzer(None, None)).save(tmp_path / "idx")
    _, arrays = read(tmp_path / "idx")
    parts = ("counts", "documents", "lengths", "ptr", "terms.ptr", "terms.text")
    assert sorted(arrays) == ["ids.ptr", "ids.text", *(f"whole.{part}" for part in parts)]


def test_fields_of_any_name(tmp_path):
    names = ["../up", "a/b", "", "CON", "Title", "title", "x" * 300, "whole", "é\n"]
    made = Index.build([("a", dict.fromkeys(names, "wing"))], Analyzer(None, None))
    made.save(tmp_path / "idx")
    assert same(Index.load(tmp_path / "idx"), made)


def test_at_most_twelve_bytes_a_posting_and_the_strings(tmp_path):
    rng = np.random.default_rng(0)
    words = [f"word{number}" for number in range(300)]
    documents = [(f"d{k}", {"x": " ".join(words[j] for j in rng.integers(0, 300, 80))}) for k in range(300)]
    made = Index.build(documents, Analyzer(None, None))
    made.save(tmp_path / "idx")
    strings = sum(len(texts.content) + texts.ptr.nbytes for texts in (made.doc_ids, made.whole.terms))
    assert (tmp_path / "idx").stat().st_size <= 12 * made.whole.n_postings + strings


def test_the_words_of_a_list_that_changed_are_those_of_the_index(path, index):
    with patch.dict(analyzer.STOP_LISTS, {"lucene": lambda: frozenset(["wing"])}):
        loaded = Index.load(path)
        assert loaded.analyzer.stop_words == tuple(sorted(set(analyzer._LUCENE.split())))
    assert Index.load(path).analyzer == index.analyzer


# Damage


def read(path):
    """Return the description and copies of the arrays of a file."""
    with path.open("rb") as file:
        arrays = {name: array.copy() for name, array in read_mapped(file, INDEX).items()}
        return read_header(file, INDEX)["about"], arrays


def array(name, make):
    """Replace an array, with its digest."""

    def damage(path):
        about, arrays = read(path)
        arrays[name] = make(arrays[name])
        write_mapped(path, INDEX, about, arrays)

    return damage


def about(**changes):
    """Change the description, with its digest; None removes a name."""

    def damage(path):
        result, arrays = read(path)
        result = {name: value for name, value in (result | changes).items() if name not in changes or value is not None}
        write_mapped(path, INDEX, result, arrays)

    return damage


def without(name):
    def damage(path):
        result, arrays = read(path)
        del arrays[name]
        write_mapped(path, INDEX, result, arrays)

    return damage


def header(change):
    """Write a header with a wrong digest."""

    def damage(path):
        content = path.read_bytes()
        path.write_bytes(change(content))

    return damage


def set_at(place, value):
    def make(array):
        array = array.copy()
        array[place] = value
        return array

    return make


DAMAGE = {
    "an empty file": header(lambda content: b""),
    "another file": header(lambda content: b"wing " * 100),
    "a header cut short": header(lambda content: content[:100]),
    "arrays cut short": header(lambda content: content[:-64]),
    "a long header": header(lambda content: content[:16] + b"\xff" * 8 + content[24:]),
    "a stemmer without its digest": header(lambda content: content.replace(b'"porter"', b'"lovins"')),
    "a missing array": without("whole.counts"),
    "missing ids": without("ids.ptr"),
    "a wider type": array("whole.documents", lambda array: array.astype("i8")),
    "floats": array("whole.documents", lambda array: array.astype("f4")),
    "another byte order": array("whole.ptr", lambda array: array.astype(">i8")),
    "a matrix": array("whole.documents", lambda array: array[None]),
    "signed counts": array("whole.counts", lambda array: array.astype("i2")),
    "counts of fewer postings": array("whole.counts", lambda array: array[1:]),
    "lengths of fewer documents": array("field0.lengths", lambda array: array[1:]),
    "a count of 0": array("whole.counts", set_at(0, 0)),
    "a wrong count": array("field0.counts", set_at(-1, 9)),
    "a wrong length": array("whole.lengths", set_at(0, 9)),
    "negative lengths": array("whole.lengths", set_at(0, -1)),
    "an unknown document": array("whole.documents", set_at(3, 4)),
    "descending documents": array("whole.documents", lambda array: -np.sort(-array)),
    "a repeated document": array("whole.documents", lambda array: np.zeros_like(array)),
    "a negative document": array("field0.documents", set_at(0, -1)),
    "postings of no term": array("whole.ptr", lambda array: np.append(array, array[-1])),
    "an end beyond": array("whole.ptr", set_at(-1, 10**6)),
    "a beginning beyond": array("whole.ptr", set_at(0, 1)),
    "descending offsets": array("whole.terms.ptr", set_at(2, 0)),
    "no offsets": array("ids.ptr", lambda array: array[:0]),
    "more ids than documents": array("ids.ptr", lambda array: np.append(array, array[-1])),
    "a cache": header(lambda content: MAGIC[CACHE] + content[16:]),
    "another format": about(format=99),
    "no format": about(format=None),
    "no fields": about(fields=None),
    "a list of fields": about(fields=["text"]),
    "an unknown stemmer": about(stemmer="lovins"),
    "a field without arrays": about(fields={"x": "field9"}),
    "stop words of another type": about(stop_words=3),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_file_is_refused(kind, path):
    DAMAGE[kind](path)
    with pytest.raises(DataFormatError) as caught:
        Index.load(path)
    assert str(caught.value).startswith(f"{path}: it ")
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith("Index the collection again")


@pytest.mark.parametrize(
    "declared", [{"dtype": "O"}, {"dtype": "?"}, {"shape": [10**9]}, {"shape": [-1]}, {"place": 3}, {"place": -64}, {}]
)
def test_a_forged_header_is_refused(declared, path):
    with path.open("rb") as file:
        result = read_header(file, INDEX)
    result["arrays"]["whole.ptr"] = result["arrays"]["whole.ptr"] | declared if declared else 3
    content = path.read_bytes()
    text = json.dumps(result).encode()
    from structsvm.foundation.storage import mapped

    rest = content[mapped._aligned(40 + int.from_bytes(content[16:24], "little")) :]
    made = content[:16] + len(text).to_bytes(8, "little") + mapped._digest(text).encode() + text
    path.write_bytes(made + bytes(-len(made) % 64) + rest)
    with pytest.raises(DataFormatError, match="it is damaged"):
        Index.load(path)


def test_no_index_is_there(tmp_path):
    path = tmp_path / "idx"
    for make, message in (
        (lambda: None, "there is no index "),
        (lambda: path.symlink_to("idx"), "there is no index "),
        (lambda: path.mkdir(), "is a folder: name the file"),
        (lambda: os.mkfifo(path), "is a pipe or a device"),
    ):
        make()
        with pytest.raises(InputError, match=message):
            Index.load(path)
        with suppress(OSError):
            path.rmdir() if path.is_dir() else path.unlink()
    with pytest.raises(InputError, match="File name too long"):
        Index.load("x" * 5000)
    with pytest.raises(InputError, match="path must be a path, got 3"):
        Index.load(3)


# Writing


def test_an_index_replaces_another(path):
    other = Index.build(ONE_FIELD, Analyzer(None, None))
    loaded = Index.load(path)
    other.save(path)
    assert same(Index.load(path), other)
    assert loaded.whole.find("wing") is not None  # an open index is unchanged
    loaded.save(path)
    assert Index.load(path).fields.keys() == {"title", "text"}


def test_other_files_are_not_replaced(index, tmp_path):
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(InputError, match="notes is not an index and would be replaced: choose another file"):
        index.save(tmp_path / "notes")
    assert (tmp_path / "notes").read_text() == "mine"
    (tmp_path / "empty").touch()
    with pytest.raises(InputError, match="empty is not an index"):
        index.save(tmp_path / "empty")
    with pytest.raises(InputError, match="it is a folder"):
        index.save(tmp_path)
    with pytest.raises(InputError, match="path must be a path"):
        index.save(None)


def test_lists_longer_than_what_is_looked_at_together():
    """A list may begin anywhere among the postings that are looked at together, and at their beginning."""
    documents = [(f"d{number}", {"x": "a b" if number % 3 else "b c"}) for number in range(40)]
    whole = Index.build(documents, Analyzer(None, None)).whole
    for at_once in range(1, 90):
        with patch.object(index_module, "_AT_ONCE", at_once):
            assert index_module._are_lists(whole.documents, whole.ptr, 40)
            for place in (1, 20, 60, 79):
                changed = set_at(place, whole.documents[place - 1])(whole.documents)
                assert index_module._are_lists(changed, whole.ptr, 40) == (place in whole.ptr)
