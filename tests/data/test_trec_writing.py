"""Rankings written as runs: their text, reading them back, and no half-written file."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structsvm.data import Run, load_run, write_run
from structsvm.exceptions import InputError


def test_the_file(tmp_path):
    path = tmp_path / "run.txt"
    path.write_text("old")
    write_run(path, [10, 9, 10, 10], ["b", "x", "c", "a"], [1.5, 0.1, 1.5 + 1e-12, 2], "mine")
    assert path.read_text() == "9 Q0 x 1 0.1 mine\n10 Q0 a 1 2.0 mine\n10 Q0 c 2 1.5 mine\n10 Q0 b 3 1.5 mine\n"


words = st.text(
    st.characters(codec="utf-8", exclude_categories=["C"], exclude_characters=" ", include_characters="\v\f\x85"),
    min_size=1,
    max_size=3,
)


@given(
    rows=st.dictionaries(
        st.tuples(words.filter(lambda topic: not topic.startswith("#")), words),
        st.floats(allow_nan=False, allow_infinity=False),
        min_size=1,
    ),
    tag=words,
)
def test_it_reads_back(tmp_path_factory, rows, tag):
    path = tmp_path_factory.mktemp("run") / "run.txt"
    topics, documents = zip(*rows, strict=True)
    write_run(path, topics, documents, list(rows.values()), tag)
    run, read = Run.from_scores(tag, topics, documents, list(rows.values())), load_run(path)
    assert read.name == tag
    for column in ("qid", "doc_ids", "scores"):
        assert getattr(read, column).tolist() == getattr(run, column).tolist()
    ranks = [int(line.split(" ")[3]) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]
    same = read.qid[1:] == read.qid[:-1]
    assert ranks[0] == 1
    assert np.diff(ranks)[same].tolist() == [1] * same.sum()
    assert np.array(ranks[1:])[~same].tolist() == [1] * (~same).sum()


def test_more_lines_than_are_written_at_once(tmp_path):
    n = 25_001
    write_run(tmp_path / "run", np.repeat([1, 2], [20_000, n - 20_000]), np.arange(n), np.arange(n) / 7, "long")
    run = load_run(tmp_path / "run")
    np.testing.assert_array_equal(
        run.scores, np.float32(np.r_[np.arange(20_000)[::-1], np.arange(20_000, n)[::-1]] / 7)
    )


@pytest.mark.parametrize(
    ("qid", "doc_ids", "scores", "tag", "message"),
    [
        (
            ["1 2"],
            ["a"],
            [1],
            "t",
            "the topic '1 2' must not be empty or contain a blank, tab, line end or NUL in a run",
        ),
        (["#1"], ["a"], [1], "t", "a topic begins with '#'"),
        ([1], [""], [1], "t", "the document id '' must not be empty or contain a blank, tab, line end or NUL in a run"),
        ([1], ["a\n"], [1], "t", "the document id"),
        ([1], ["a"], [1], "my run", "the name 'my run'"),
        ([1], ["a"], [-np.inf], "t", "Leave out documents that were not retrieved"),
        ([1, 1], ["a", "a"], [1, 2], "t", "twice in topic '1'"),
    ],
)
def test_what_cannot_be_written(tmp_path, qid, doc_ids, scores, tag, message):
    path = tmp_path / "run.txt"
    path.write_text("old")
    with pytest.raises(InputError, match=message):
        write_run(path, qid, doc_ids, scores, tag)
    assert [file.read_text() for file in tmp_path.iterdir()] == ["old"]


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="cannot be written: there is no folder"):
        write_run(tmp_path / "none" / "run", [1], ["a"], [1], "t")
