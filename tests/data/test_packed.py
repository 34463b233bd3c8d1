"""Compressed files of every kind, for every reader: detected by content, damaged, and larger than they look."""

import bz2
import gzip
import lzma
import sys

import pytest

from structsvm.data import load_letor, load_qrels, load_run, load_table, read_documents
from structsvm.exceptions import InputError, NotInstalledError

LETOR = b"1 qid:1 1:2\n0 qid:1 2:1\n"
READERS = {
    "letor": (lambda path: len(load_letor(path).qid), LETOR),
    "run": (lambda path: len(load_run(path).qid), b"1 Q0 a 1 2.5 t\n1 Q0 b 2 1.5 t\n"),
    "qrels": (lambda path: len(load_qrels(path).qid), b"1 0 a 1\n1 0 b 0\n"),
    "table": (lambda path: len(load_table(path).qid), b"label,qid,x\n1,1,0.5\n0,1,0\n"),
    "documents": (lambda path: sum(1 for _ in read_documents(path)), b'{"id": "a"}\n{"id": "b", "text": "t"}\n'),
}


def zstd(content: bytes) -> bytes:
    if sys.version_info >= (3, 14):
        from compression import zstd as package
    else:
        package = pytest.importorskip("backports.zstd", reason="needs the package backports.zstd")
    return package.compress(content)


PACKERS = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress, "Zstandard": zstd}
SUFFIXES = {"gzip": ".gz", "bzip2": ".bz2", "xz": ".xz", "Zstandard": ".zst"}
packed = pytest.mark.parametrize("kind", PACKERS)


@packed
@pytest.mark.parametrize("reader", READERS)
def test_how_a_file_is_compressed_is_told_by_its_content(tmp_path, reader, kind):
    load, content = READERS[reader]
    path = tmp_path / "file.gz"
    path.write_bytes(PACKERS[kind](content))
    assert load(path) == 2
    path.write_bytes(PACKERS[kind](content[:12]) + PACKERS[kind](content[12:]))  # as "cat one two" makes it
    assert load(path) == 2


@packed
def test_a_stream_that_is_damaged_or_cut_short(tmp_path, kind):
    path = tmp_path / "file"
    right = PACKERS[kind](LETOR * 500)
    changed = right[:20] + bytes(8) + right[28:]
    for wrong in (right[:-5], right[: len(right) // 2], *([changed] if kind != "Zstandard" else [])):  # no checksum
        path.write_bytes(wrong)
        with pytest.raises(InputError, match=f"the {kind} stream is damaged or cut short"):
            load_letor(path)


@packed
def test_a_stream_that_unpacks_to_far_more(tmp_path, kind, monkeypatch):
    monkeypatch.setattr("structsvm.foundation.storage.files._MOST_UNPACKED", 100_000)
    monkeypatch.setattr("structsvm.data.blocks.BLOCK", 50_000)
    path = tmp_path / "file"
    path.write_bytes(PACKERS[kind](LETOR + (b"#" + b" " * 999 + b"\n") * 4_000))
    with pytest.raises(InputError, match=f"the {kind} stream unpacks to more than 200 times its size"):
        load_letor(path)
    monkeypatch.setattr("structsvm.foundation.storage.files._MOST_UNPACKED", 10**8)
    assert len(load_letor(path).y) == 2


@packed
def test_names_that_promise_what_the_content_is_not(tmp_path, kind):
    path = tmp_path / f"file{SUFFIXES[kind]}"
    path.write_bytes(b"x\n")
    with pytest.raises(InputError, match=f"despite its name, the file is not compressed with {kind}"):
        load_letor(path)


@packed
def test_what_is_compressed_twice_is_named(tmp_path, kind):
    path = tmp_path / "file"
    path.write_bytes(gzip.compress(PACKERS[kind](LETOR)))
    with pytest.raises(InputError, match=f"line 1: this is compressed with {kind}, and that was compressed again"):
        load_letor(path)


def test_text_may_begin_as_bzip2_does(tmp_path):
    path = tmp_path / "run"
    path.write_bytes(b"BZh9 Q0 a 1 2.5 t\n")
    assert load_run(path).qid.tolist() == ["BZh9"]


def test_the_package_that_is_missing_is_named(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"\x28\xb5\x2f\xfd" + bytes(20))
    for name in ("compression", "compression.zstd", "backports", "backports.zstd"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(NotInstalledError, match=r"pip install 'structural-svm\[zstd\]'"):
        load_letor(path)
