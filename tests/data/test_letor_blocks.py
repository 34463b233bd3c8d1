"""LETOR files in blocks: any size of them, compiled or not, gives the same data and the same message."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from structsvm.data import blocks, load_letor
from structsvm.data.letor import block as letor_block
from structsvm.data.letor import reading
from structsvm.exceptions import DataFormatError, InputError, TooLargeError
from tests.fuzz.reference import Refused, read_letor

IN_PYTHON, COMPILED = 2**40, 0
quickly = settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])


def read(path: Path, block: int, compiled: int, **options) -> object:
    """Return the data, or the message of the error."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK", block)
        patch.setattr(letor_block, "WORTH_COMPILING", compiled)
        try:
            data = load_letor(path, sparse=True, **options)
        except InputError as error:
            return str(error)
    ids = None if data.doc_ids is None else data.doc_ids.tolist()
    return data.y.tobytes(), data.qid.tolist(), data.X.toarray().tobytes(), data.X.shape, ids


tokens = st.sampled_from(
    [
        "1",
        "0",
        "-2.5",
        "+1",
        "1e5",
        "nan",
        "inf",
        "1_0",
        "0x10",
        "١",
        "qid:1",
        "qid:2",
        "qid:+7",
        "qid:-3",
        "qid:1_0",
        "qid:",
        "1:1",
        "1:0",
        "2:1",
        "2:.5",
        "3:-1e-3",
        "3:1_0",
        "+4:2",
        "9:1e999",
        "0:1",
        "5:",
        "5:x",
        ":",
        "1.5",
        "#",
        "#docid",
        "=",
        "a",
        "12345678901234567890",
        "5:0.12345678901234567890",
        "6:5e-324",
        "7:1.7976931348623157e308",
    ]
)
finite = st.floats(allow_nan=False, allow_infinity=False)
spaces = st.sampled_from([" ", "  ", "\t", "", "\v", "\u00a0"])
right = st.builds(
    lambda label, query, values, comment: (
        f"{label!r} qid:{query} " + " ".join(f"{j}:{value!r}" for j, value in values.items()) + comment
    ),
    st.floats(-9, 9),
    st.integers(-(2**63), 2**63 - 1),
    st.dictionaries(st.integers(1, 6), st.floats(allow_nan=False, allow_infinity=False)).map(
        lambda d: dict(sorted(d.items()))
    ),
    st.sampled_from(["", " # docid = D1", "#docid=é", " #", " # qid:4 1:1"]),
)
wrong = st.lists(st.tuples(tokens, spaces), max_size=6).map(lambda cells: "".join(a + b for a, b in cells))
line = st.one_of(right, right, right, wrong, st.just(""))
files = st.lists(st.tuples(line, st.sampled_from(["\n", "\n", "\n", "\r\n", "\r\r\n", "\r", ""])), max_size=8).map(
    lambda lines: "".join(a + b for a, b in lines).encode()
)


@given(files, st.booleans())
@example(b"\xef\xbb\xbf1 qid:1 1:1\n", False)
@example(b"1 qid:1 1:1\n\xef\xbb\xbf0 qid:1 1:1\n", False)
@example(b"1 qid:1 1:1\r0 qid:1 1:1\r", False)
@example(b"1 qid:1 1:1 # docid = a\nx\n1 qid:1 1:1\0", True)
@example(b"1 qid:1 1:1\nx\n1 qid:1 1:1\0", True)
@example(b"1 qid:1 1:1\n1 qid:1 1:1 # caf\xe9\n1 qid:1 1:\xe9", False)
@quickly
def test_any_block_gives_the_same(tmp_path, content, doc_ids):
    path = tmp_path / "data.txt"
    path.write_bytes(content)
    whole = read(path, 2**22, IN_PYTHON, doc_ids=doc_ids)
    assert read(path, 2**22, COMPILED, doc_ids=doc_ids) == whole
    for size in (1, 2, 3, 13, 64):
        assert read(path, size, IN_PYTHON, doc_ids=doc_ids) == whole
    assert read(path, 5, COMPILED, doc_ids=doc_ids) == whole


@given(files)
@example(b"1 qid: 1:1\n")
@example(b"1 qid:-9223372036854775808 1:1\n")
@example(b"1 qid:-9223372036854775809 1:1\n")
@example(b"1 qid:9223372036854775808 1:1\n")
@quickly
def test_what_is_read_and_what_is_refused_is_as_by_the_definition(tmp_path, content):
    path = tmp_path / "data.txt"
    path.write_bytes(content)
    try:
        expected = read_letor(content)
    except Refused:
        expected = None
    for compiled in (IN_PYTHON, COMPILED):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(letor_block, "WORTH_COMPILING", compiled)
            if expected is None:
                with pytest.raises(DataFormatError):
                    load_letor(path, n_features=9, sparse=True)
                continue
            data = load_letor(path, n_features=9, sparse=False)
        assert data.y.tolist() == expected.labels
        assert data.qid.tolist() == expected.queries
        for row, features in zip(data.X, expected.features, strict=True):
            assert row.tolist() == [features.get(j, 0.0) for j in range(1, 10)]


@given(st.binary(max_size=200))
@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_read_or_refused(tmp_path, content):
    path = tmp_path / "data"
    path.write_bytes(content)
    read(path, 16, COMPILED)


def test_rows_are_dense_whatever_is_filled_at_a_time(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(57, 6)) * (rng.random((57, 6)) < 0.8)
    path = tmp_path / "data.txt"
    path.write_text("".join(f"1 qid:1 {' '.join(f'{j}:{v!r}' for j, v in enumerate(row, 1))}\n" for row in X.tolist()))
    for at_once in (1, 7, 60, 10**6):
        monkeypatch.setattr("structsvm.data.letor.growing._AT_ONCE", at_once)
        assert load_letor(path, sparse=False).X.tolist() == X.tolist()


def test_rows_of_a_model_s_width(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text("1 qid:1 2:1.5\n0 qid:1 1:2 3:0\n")
    rows = reading.read_rows([path], reading.Reading(n_features=5, beyond="no"))
    assert rows.width == 3
    assert rows.data(5).X.shape == (2, 5)
    with pytest.raises(DataFormatError, match="line 2: the model knows 2"):
        reading.read_rows([path], reading.Reading(n_features=2, beyond="the model knows 2"))


@pytest.mark.parametrize("compiled", [IN_PYTHON, COMPILED])
def test_an_index_of_more_than_31_bits_is_refused_whatever_n_features_is(tmp_path, compiled):
    path = tmp_path / "data.txt"
    path.write_text(f"1 qid:1 {2**32 + 3}:1\n")
    assert "must be from 1 to 2147483647" in str(read(path, 2**22, compiled, n_features=2**33))


def test_numbers_are_those_of_the_format(tmp_path):
    """Python's own readers accept all of the files."""
    path = tmp_path / "data.txt"
    for line, problem in (
        ("1_0 qid:1 1:1", "the label '1_0' is not a number"),
        ("1 qid:1_0 1:1", "'qid:1_0' must be a 64-bit whole number"),
        ("1 qid:1 1_0:1", "the feature index in '1_0:1' must be a whole number"),
        ("1 qid:1 1:1_0", "the value of feature 1, '1_0', is not a number"),
        ("1 qid:1 1:infinity", "'infinity', is not finite"),
        ("1 qid:١ 1:1", "'qid:١' must be a 64-bit whole number"),
        ("1 qid:1 1:٣", "'٣', is not a number; digits are 0 to 9"),
        ("1 qid:1 1:1\u00a02:2", r"'1\\xa02:2', is not a number; digits are 0 to 9, and blanks and tabs separate"),
        ("1 qid:1 1:1\v2:2", r"'1\\x0b2:2', is not a number"),
    ):
        path.write_text(f"1 qid:1 1:1\n{line}\n", encoding="utf-8")
        with pytest.raises(DataFormatError, match=f"line 2: .*{problem}"):
            load_letor(path)


def test_a_document_id_is_kept_as_it_is(tmp_path):
    path = tmp_path / "data.txt"
    path.write_bytes("1 qid:1 1:1 # docid = é#x\n".encode())
    assert load_letor(path, doc_ids=True).doc_ids.tolist() == ["é#x"]
    path.write_bytes(b"1 qid:1 1:1 # docid = caf\xe9\n")
    assert load_letor(path, doc_ids=True).doc_ids.tolist() == ["caf\udce9"]
    path.write_bytes(b"# first\n1 qid:1 1:1 # docid = " + b"x" * 1001)
    with pytest.raises(DataFormatError, match=r"line 2: .* \(1,001 bytes\) is too long: it may have 1000 bytes"):
        load_letor(path, doc_ids=True)


def test_a_message_quotes_the_beginning_only(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text("1 qid:1 1:1\n1 qid:1 1:" + "x" * 10**6)
    with pytest.raises(
        DataFormatError, match=r"line 2: .*'x{60}\.\.\.' \(1,000,000 characters\), is not a number"
    ) as caught:
        load_letor(path)
    assert len(str(caught.value)) < 300 + len(str(path))


def test_no_memory_for_dense_rows(tmp_path, monkeypatch):
    path = tmp_path / "data.txt"
    path.write_text("1 qid:1 2000000000:1\n")
    assert load_letor(path).X.shape == (1, 2_000_000_000)

    monkeypatch.setattr("structsvm.foundation.memory.available", lambda: 1e9)
    with pytest.raises(TooLargeError, match="1 dense rows of 2,000,000,000 features take 14.9 GiB.*sparse=True"):
        load_letor(path, sparse=False)
    assert math.isfinite(load_letor(path, sparse=True).X.sum())
