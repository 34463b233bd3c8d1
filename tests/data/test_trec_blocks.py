"""Runs and qrels in blocks: every size of block gives the data or the message of the definition."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from structsvm.data import blocks, load_qrels, load_run
from structsvm.exceptions import DataFormatError, InputError
from tests.fuzz.reference import Refused, read_qrels, read_run

quickly = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])

cells = st.sampled_from(
    [
        "1",
        "2",
        "Q0",
        "a",
        "b",
        "é",
        "2.5",
        "-1e3",
        "nan",
        "1_0",
        "١",
        "x#y",
        "\xa0",
        "\x0b",
        "0x1",
        "99999999999999999999",
    ]
)
spaces = st.sampled_from([" ", " ", "  ", "\t"])
wrong = st.lists(st.tuples(cells, spaces), max_size=8).map(lambda pairs: "".join(a + b for a, b in pairs))
words = st.text("abé", min_size=1, max_size=3)
run_lines = st.builds("{} Q0 {} 1 {!r} t".format, st.integers(1, 3), words, st.floats(-9, 9))
qrels_lines = st.builds("{}\t0\t{} {}".format, st.integers(1, 3), words, st.integers(-1, 2))
short_lines = st.builds("{} {}\t{}".format, st.integers(1, 3), words, st.integers(-1, 2))
ends = st.sampled_from(["\n", "\n", "\n\n", "\r\n", "\n# note\n", "\r", ""])


def files(right: st.SearchStrategy[str]) -> st.SearchStrategy[bytes]:
    lines = st.lists(st.tuples(st.one_of(right, right, right, right, wrong), ends), min_size=1, max_size=7)
    return lines.map(lambda pairs: "".join(a + b for a, b in pairs).encode())


def read(load, path: Path, block: int) -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK", block)
        try:
            result = load(path)
        except InputError as error:
            return str(error)
    numbers = result.scores if load is load_run else result.grades
    return result.qid.tolist(), result.doc_ids.tolist(), numbers.tolist(), getattr(result, "name", "")


@pytest.mark.parametrize("load", [load_run, load_qrels])
@given(data=st.data())
@quickly
def test_any_block_gives_the_same(tmp_path, load, data):
    content = data.draw(
        files(run_lines if load is load_run else data.draw(st.sampled_from([qrels_lines, short_lines])))
    )
    path = tmp_path / "file"
    path.write_bytes(content)
    whole = read(load, path, 2**22)
    for size in (1, 11, 64):
        assert read(load, path, size) == whole
    try:
        expected = read_run(content)[1] if load is load_run else read_qrels(content)
    except Refused:
        assert isinstance(whole, str)
    else:
        topics, documents, numbers, _ = whole
        assert dict(zip(zip(topics, documents, strict=True), numbers, strict=True)) == expected


@given(st.binary(max_size=120))
@example(b"#\xff\n1 Q0 a 1 2 t\n")
@quickly
def test_any_bytes_are_read_or_refused(tmp_path, content):
    path = tmp_path / "file"
    path.write_bytes(content)
    read(load_run, path, 16)
    read(load_qrels, path, 16)


def test_a_repeated_document_is_found_across_blocks_with_its_line(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 20)
    path = tmp_path / "file"
    path.write_text("# note\n1 0 a 1\n\n1 0 b 1\n2 0 a 1\n\n# note\n1 0 a 0\n")
    with pytest.raises(DataFormatError, match="line 8: document 'a' is in topic '1' twice, first in line 2"):
        load_qrels(path)


def test_columns_without_number(tmp_path):
    """A file of the wrong kind may be one line of a million columns."""
    path = tmp_path / "file"
    path.write_text("1 0 a 1 1 t" + " 1" * 200_000)
    with pytest.raises(
        DataFormatError, match=r"line 1: there are more than 20 columns in '1 0 a .*\.\.\.' \(400,011 ch"
    ):
        load_qrels(path)
    assert load_run(path).doc_ids.tolist() == ["a"]
