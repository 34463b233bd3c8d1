"""The folder of an index: what is read is what was written, or it is refused."""

import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
import xxhash
from attrs import evolve

from structsvm.exceptions import DataFormatError, InputError
from structsvm.storage import temporary
from structsvm.storage.records import as_json, from_json
from structsvm.text import Analyzer, Index, index_files, stop_words
from structsvm.text.index_files import DESCRIPTION, IndexDescription, Stored, folder_size

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


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def index():
    return Index.build(DOCUMENTS, Analyzer("porter", "lucene"))


@pytest.fixture
def folder(index, tmp_path):
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
def test_what_is_loaded_is_what_was_saved(documents, analyzer, tmp_path):
    made = Index.build(documents, analyzer)
    made.save(tmp_path / "idx")
    loaded = Index.load(tmp_path / "idx")
    assert same(loaded, made)
    assert (loaded.whole is loaded.fields["text"]) == (len(loaded.fields) == 1)
    assert not loaded.whole.documents.flags.writeable
    loaded.save(str(tmp_path / "again"))
    assert contents(tmp_path / "again") == contents(tmp_path / "idx")
    assert folder_size(tmp_path / "idx") == sum(map(len, contents(tmp_path / "idx").values()))


def test_the_whole_is_stored_once_where_there_is_one_field(tmp_path):
    Index.build(ONE_FIELD, Analyzer(None, None)).save(tmp_path / "idx")
    assert sorted(contents(tmp_path / "idx")) == [
        "ids.ptr.npy",
        "ids.text.npy",
        "index.json",
        *(f"whole.{part}.npy" for part in ("counts", "documents", "lengths", "ptr", "terms.ptr", "terms.text")),
    ]


def test_the_names_of_fields_name_no_files(tmp_path):
    names = ["../up", "a/b", "", "CON", "Title", "title", "x" * 300, "whole", "é\n"]
    made = Index.build([("a", dict.fromkeys(names, "wing"))], Analyzer(None, None))
    made.save(tmp_path / "idx")
    assert same(Index.load(tmp_path / "idx"), made)
    assert [path.name for path in tmp_path.iterdir()] == ["idx"]


def test_at_most_twelve_bytes_a_posting_and_the_strings(tmp_path):
    rng = np.random.default_rng(0)
    words = [f"word{number}" for number in range(300)]
    documents = [(f"d{k}", {"x": " ".join(words[j] for j in rng.integers(0, 300, 80))}) for k in range(300)]
    made = Index.build(documents, Analyzer(None, None))
    made.save(tmp_path / "idx")
    strings = sum(len(texts.content) + texts.ptr.nbytes for texts in (made.doc_ids, made.whole.terms))
    assert folder_size(tmp_path / "idx") <= 12 * made.whole.n_postings + strings


def test_a_list_that_has_other_words_by_now(folder, index):
    """Queries are analysed as the documents were, whatever the list of that name has become."""
    with patch.dict(stop_words.STOP_LISTS, {"lucene": lambda: frozenset(["wing"])}):
        loaded = Index.load(folder)
        assert loaded.analyzer.stop_words == tuple(sorted(set(stop_words._LUCENE.split())))
    assert Index.load(folder).analyzer == index.analyzer


# Damage


def described(folder, change):
    """Change what is said of an index, as somebody would who knows how it is written."""
    path = folder / DESCRIPTION
    description = change(from_json(path.read_text(), IndexDescription))
    path.write_text(as_json(evolve(description, sha256=description.digest())))


def raw(folder, change):
    """Change the text of the description."""
    path = folder / DESCRIPTION
    found = json.loads(path.read_text())
    change(found)
    path.write_text(json.dumps(found))


def truncated(name, count=1):
    def damage(folder):
        path = folder / name
        path.write_bytes(path.read_bytes()[:-count])

    return damage


def longer(name):
    def damage(folder):
        with (folder / name).open("ab") as file:
            file.write(b"\0")

    return damage


def written(name, content):
    return lambda folder: (folder / name).write_bytes(content)


def saved(name, make):
    """Put another array in the place of one, without a word."""
    return lambda folder: np.save(folder / name, make(np.load(folder / name)))


def told(name, make):
    """Put another array in the place of one, and say so: what is wrong is what is in it."""

    def damage(folder):
        array = make(np.load(folder / f"{name}.npy"))
        np.save(folder / f"{name}.npy", array)

        def change(description):
            digest = xxhash.xxh3_128_hexdigest((folder / f"{name}.npy").read_bytes())
            stored = Stored(array.dtype.str, len(array), digest)
            return evolve(description, arrays={**description.arrays, name: stored})

        described(folder, change)

    return damage


def missing(name):
    return lambda folder: (folder / name).unlink()


def a_folder(name):
    def damage(folder):
        (folder / name).unlink()
        (folder / name).mkdir()

    return damage


def set_at(place, value):
    def make(array):
        array = array.copy()
        array[place] = value
        return array

    return make


def pickled(folder):
    np.save(folder / "whole.counts.npy", np.array([print], dtype=object), allow_pickle=True)


ARRAYS = ("ids.text", "ids.ptr", "whole.terms.text", "whole.terms.ptr", "whole.ptr", "whole.documents", "field0.counts")
DAMAGE = {
    **{f"{name} cut short": truncated(f"{name}.npy") for name in ARRAYS},
    **{f"{name} longer": longer(f"{name}.npy") for name in ARRAYS[:2]},
    **{f"{name} missing": missing(f"{name}.npy") for name in ARRAYS},
    "an empty array": written("whole.ptr.npy", b""),
    "a header cut short": written("whole.ptr.npy", b"\x93NUMPY\x01\x00v\x00{'descr'"),
    "a header of nonsense": written("whole.ptr.npy", b"\x93NUMPY\x01\x00\x14\x00{'descr': ((((((((((\n"),
    "another version of arrays": written("whole.ptr.npy", b"\x93NUMPY\x03\x00"),
    "text in an array": written("whole.counts.npy", b"1 2 3\n"),
    "objects": pickled,
    "an array that is a folder": a_folder("whole.counts.npy"),
    "floats": saved("whole.documents.npy", lambda array: array.astype("f4")),
    "a wider type": saved("whole.documents.npy", lambda array: array.astype("i8")),
    "another byte order": saved("whole.ptr.npy", lambda array: array.astype(">i8")),
    "a matrix": saved("whole.documents.npy", lambda array: array[None]),
    "fewer numbers": saved("whole.counts.npy", lambda array: array[1:]),
    "a type that is told, and wrong": told("whole.documents", lambda array: array.astype("i8")),
    "signed counts": told("whole.counts", lambda array: array.astype("i2")),
    "counts of fewer postings": told("whole.counts", lambda array: array[1:]),
    "lengths of fewer documents": told("field0.lengths", lambda array: array[1:]),
    "a count of 0": told("whole.counts", set_at(0, 0)),
    "a count that was changed": told("field0.counts", set_at(-1, 9)),
    "lengths that were changed": told("whole.lengths", set_at(0, 9)),
    "negative lengths": told("whole.lengths", set_at(0, -1)),
    "a document that there is not": told("whole.documents", set_at(3, 4)),
    "documents that fall": told("whole.documents", lambda array: -np.sort(-array)),
    "a document twice": told("whole.documents", lambda array: np.zeros_like(array)),
    "a negative document": told("field0.documents", set_at(0, -1)),
    "postings of no term": told("whole.ptr", lambda array: np.append(array, array[-1])),
    "an end beyond": told("whole.ptr", set_at(-1, 10**6)),
    "a beginning beyond": told("whole.ptr", set_at(0, 1)),
    "falling places": told("whole.terms.ptr", set_at(2, 0)),
    "no places": told("ids.ptr", lambda array: array[:0]),
    "more ids than documents": told("ids.ptr", lambda array: np.append(array, array[-1])),
    "no description": missing(DESCRIPTION),
    "a description that is a folder": a_folder(DESCRIPTION),
    "an empty description": written(DESCRIPTION, b""),
    "a description cut short": truncated(DESCRIPTION, 30),
    "a description of bytes": written(DESCRIPTION, bytes(range(256))),
    "a description without end": written(DESCRIPTION, b" " * (2**24 + 1)),
    "no JSON": written(DESCRIPTION, b"index"),
    "deep JSON": written(DESCRIPTION, b"[" * 100_000),
    "a list": written(DESCRIPTION, b"[]"),
    "something else": written(DESCRIPTION, b'{"kind": "experiment"}'),
    "a stemmer that was changed": lambda folder: raw(folder, lambda found: found.update(stemmer="porter2")),
    "a name too many": lambda folder: raw(folder, lambda found: found.update(more=1)),
    "a name too few": lambda folder: raw(folder, lambda found: found.pop("fields")),
    "a field of another type": lambda folder: raw(folder, lambda found: found.update(arrays=[])),
    "an unknown stemmer": lambda folder: described(folder, lambda it: evolve(it, stemmer="lovins")),
    "a field that is nowhere": lambda folder: described(folder, lambda it: evolve(it, fields={"x": "field9"})),
    "an array elsewhere": lambda folder: described(
        folder, lambda it: evolve(it, arrays={"../whole.ptr": it.arrays["whole.ptr"], **it.arrays})
    ),
    "an array that is not told of": lambda folder: described(
        folder, lambda it: evolve(it, arrays={name: it.arrays[name] for name in it.arrays if name != "ids.ptr"})
    ),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_told(kind, folder):
    DAMAGE[kind](folder)
    with pytest.raises(DataFormatError) as caught:
        Index.load(folder)
    assert str(caught.value).startswith(f"{folder}: it is ")
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(
        ("again", "makes one of a collection", "of something else", "of ours", "a folder")
    )


def test_a_newer_version_is_told(folder):
    raw(folder, lambda found: found.update(format=99, novelty=True))
    with pytest.raises(DataFormatError, match="written by a newer version of structural-svm: upgrade, or index"):
        Index.load(folder)


@pytest.mark.parametrize("name", ["ids.text", "whole.terms.text", "whole.counts"])
def test_every_byte_of_an_array_that_was_changed_is_found(folder, name):
    path = folder / f"{name}.npy"
    content = path.read_bytes()
    for place in range(len(content)):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises(DataFormatError, match=r"it is damaged: .*\. Index the collection again$"):
            Index.load(folder)
    path.write_bytes(content)
    Index.load(folder)


@pytest.mark.parametrize("make", [lambda path: None, lambda path: path.write_text("x")])
def test_what_is_no_folder(make, tmp_path):
    make(tmp_path / "idx")
    with pytest.raises(InputError, match="there is no index in "):
        Index.load(tmp_path / "idx")
    with pytest.raises(InputError, match="folder must be a path, got 3"):
        Index.load(3)


def test_a_file_that_may_not_be_read(folder):
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    (folder / "whole.ptr.npy").chmod(0)
    with pytest.raises(InputError, match="cannot read"):
        Index.load(folder)


# Writing


def test_an_index_replaces_another_with_all_of_it(folder, tmp_path):
    other = Index.build(ONE_FIELD, Analyzer(None, None))
    loaded = Index.load(folder)
    other.save(folder)
    assert same(Index.load(folder), other)
    assert "field0.ptr.npy" not in contents(folder)
    assert loaded.whole.find("wing") is not None  # what is open stays as it was
    loaded.save(folder)
    assert Index.load(folder).fields.keys() == {"title", "text"}
    assert [path.name for path in tmp_path.iterdir()] == ["idx"]


def test_an_empty_folder_and_a_damaged_index_are_replaced(index, folder, tmp_path):
    (tmp_path / "empty").mkdir()
    index.save(tmp_path / "empty")
    missing("whole.ptr.npy")(folder)
    index.save(folder)
    assert contents(folder) == contents(tmp_path / "empty")


def test_a_link_stays(index, folder, tmp_path):
    (tmp_path / "link").symlink_to("idx")
    Index.build(ONE_FIELD, Analyzer(None, None)).save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert same(Index.load(folder), Index.build(ONE_FIELD, Analyzer(None, None)))


@pytest.mark.parametrize("name", ["notes.txt", "whole.npy", ".hidden", "sub", "run.txt"])
def test_a_folder_with_something_else_is_refused(index, folder, name):
    if name == "sub":
        (folder / name).mkdir()
    else:
        (folder / name).write_text("mine")
    before = contents(folder)
    with pytest.raises(InputError, match=f"holds {name!r}, which is no part of an index"):
        index.save(folder)
    assert contents(folder) == before


@pytest.mark.parametrize(
    "content", ["{}", "x", '{"kind": "index of a collection"}', '{"kind": "results", "arrays": {}}']
)
def test_a_file_of_that_name_makes_no_index(index, tmp_path, content):
    (tmp_path / "idx").mkdir()
    (tmp_path / "idx" / DESCRIPTION).write_text(content)
    with pytest.raises(InputError, match=f"holds '{DESCRIPTION}', which is no part of an index"):
        index.save(tmp_path / "idx")


def test_places_where_nothing_can_be(index, tmp_path):
    (tmp_path / "file").write_text("x")
    for place, message in (
        ("file", "it is a file, and a folder is to be put there"),
        ("file/idx", "file is a file, and no folder"),
        ("file/deep/idx", "file is a file, and no folder"),
        ("/", "/ cannot be written: it is the root of the file system"),
    ):
        with pytest.raises(InputError, match=message):
            index.save(tmp_path / place)
    with pytest.raises(InputError, match="folder must be a path"):
        index.save(None)


@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_what_was_there_stays_where_writing_fails(index, tmp_path, there, error):
    if there:
        Index.build(ONE_FIELD, Analyzer(None, None)).save(tmp_path / "idx")
    before = contents(tmp_path)
    left = [3]

    def save(path, array):
        left[0] -= 1
        if not left[0]:
            raise error
        path.write_bytes(b"half")

    kept = "What was there before is as it was" if there else "Nothing was left there"
    wanted = pytest.raises(InputError, match=f"idx cannot be written: No space left on device. {kept}")
    with (
        patch.object(index_files, "write_array", save),
        wanted if isinstance(error, OSError) else pytest.raises(KeyboardInterrupt),
    ):
        index.save(tmp_path / "idx")
    assert contents(tmp_path) == before
    assert [path.name for path in tmp_path.iterdir()] == ["idx"] * there


@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), KeyboardInterrupt()])
def test_what_was_there_comes_back_where_the_new_one_cannot_be_moved(index, folder, tmp_path, error):
    before = contents(folder)
    found = Path.rename

    def rename(path, target):
        if path.name == "new":
            raise error
        return found(path, target)

    with patch.object(Path, "rename", rename), pytest.raises((InputError, KeyboardInterrupt)):
        Index.build(ONE_FIELD, Analyzer(None, None)).save(folder)
    assert contents(folder) == before
    assert [path.name for path in tmp_path.iterdir()] == ["idx"]


def killed(moment, folder):
    """Save another index in a process of its own, which is killed before it does this."""
    found = {"write_array": index_files.write_array, "rename": Path.rename, "rmtree": shutil.rmtree}[moment]

    def killing(*arguments, **settings):
        if (moment == "write_array" and "counts" not in str(arguments[0])) or (
            moment == "rename" and arguments[0].name != "new"
        ):
            return found(*arguments, **settings)
        os.kill(os.getpid(), signal.SIGKILL)

    child = os.fork()
    if not child:
        setattr({"write_array": index_files, "rename": Path, "rmtree": shutil}[moment], moment, killing)
        Index.build([("z", {"text": "another wing"})], Analyzer(None, None)).save(folder)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the locks of folders")
@pytest.mark.parametrize("moment", ["write_array", "rename", "rmtree"])
def test_a_process_that_is_killed(index, folder, tmp_path, moment):
    """Before the new index is in its place, the old one is there, or comes back; then the new one is."""
    assert killed(moment, folder) == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == (1 if moment == "rename" else 2)
    loaded = Index.load(folder)
    assert loaded.doc_ids.tolist() == (["z"] if moment == "rmtree" else index.doc_ids.tolist())
    index.save(folder)
    assert [path.name for path in tmp_path.iterdir()] == ["idx"]
    assert same(Index.load(folder), index)


def test_what_another_process_is_writing_is_left_alone(index, folder, tmp_path):
    with temporary.folder_on_the_way(folder) as other:
        (other / "x").write_text("half")
        index.save(folder)
        assert (other / "x").exists()
    assert contents(folder) == {"x": b"half"}


def test_leftovers_of_other_machines_are_left_alone(index, folder, tmp_path):
    theirs = tmp_path / ".idx.structsvm-00000000-01234567"
    theirs.mkdir()
    ours = tmp_path / f"{temporary._prefix(folder)}01234567"
    ours.mkdir()
    index.save(folder)
    assert {path.name for path in tmp_path.iterdir()} == {"idx", theirs.name}


def test_lists_longer_than_what_is_looked_at_together():
    """A list may begin anywhere among the postings that are looked at together, and at their beginning."""
    documents = [(f"d{number}", {"x": "a b" if number % 3 else "b c"}) for number in range(40)]
    whole = Index.build(documents, Analyzer(None, None)).whole
    for at_once in range(1, 90):
        with patch.object(index_files, "_AT_ONCE", at_once):
            assert index_files._are_lists(whole.documents, whole.ptr, 40)
            for place in (1, 20, 60, 79):
                changed = set_at(place, whole.documents[place - 1])(whole.documents)
                assert index_files._are_lists(changed, whole.ptr, 40) == (place in whole.ptr)


def test_loading_takes_milliseconds(tmp_path):
    rng = np.random.default_rng(0)
    words = np.array([f"word{number}" for number in range(20_000)], dtype=object)
    documents = ((f"d{k}", {"x": " ".join(words[rng.integers(0, 20_000, 100)])}) for k in range(3_000))
    Index.build(documents, Analyzer(None, None)).save(tmp_path / "idx")
    seconds = []
    for _ in range(5):
        began = time.perf_counter()
        Index.load(tmp_path / "idx")
        seconds.append(time.perf_counter() - began)
    assert min(seconds) < 0.1
