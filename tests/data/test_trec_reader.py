"""Runs and qrels from files: values, order, and the messages of errors."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structsvm.data import Qrels, Run, load_qrels, load_run, load_runs, write_run
from structsvm.data.pairs import sort_topics
from structsvm.exceptions import DataFormatError, InputError
from structsvm.metrics import AP
from tests.data.trec_reference import average_precisions, ranked

RUN = """\
10\tQ0  b  7\t1.5 mine
  2 Q0 x  1 -1e1 mine
10 Q0 a  1 1.5 mine more words

# a comment, and a document id that has the sign and quotes
10 Q0 c#"1 2 2.25 mine
"""


@pytest.fixture
def write(tmp_path):
    def to_file(text: str | bytes, name: str = "file.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return to_file


def test_a_run_is_ordered_by_score_and_ties_by_document(write):
    run = load_run(write(RUN))
    assert repr(run) == "Run('mine', 2 topics, 4 documents)"
    assert run.qid.tolist() == ["2", "10", "10", "10"]
    assert run.doc_ids.tolist() == ["x", 'c#"1', "b", "a"]
    assert run.scores.tolist() == [-10.0, 2.25, 1.5, 1.5]
    assert load_run(write(RUN), name="other").name == "other"


def test_a_comment_behind_a_byte_order_mark(write):
    text = f"\ufeff# note\n{RUN}"
    assert len(load_run(write(text)).qid) == 4
    with pytest.raises(DataFormatError, match="line 2: there is 1 column"):
        load_run(write("\ufeff# note\n1\n"))
    with pytest.raises(DataFormatError, match="line 2: document 'a' is in topic '1' twice, first in line 1"):
        load_run(write(f"\ufeff{GOOD}{GOOD}"))


@pytest.mark.parametrize("space", ["\u00a0", "\u3000", "\v", "\f", "\x85"])
def test_blanks_tabs_and_line_ends_alone_separate(write, tmp_path, space):
    run = load_run(write(f"1{space}x Q0 a{space}b 1 2.5 t\n"))
    assert (run.qid.tolist(), run.doc_ids.tolist()) == ([f"1{space}x"], [f"a{space}b"])
    write_run(tmp_path / "written", run.qid, run.doc_ids, run.scores, run.name)
    assert load_run(tmp_path / "written").doc_ids.tolist() == run.doc_ids.tolist()
    with pytest.raises(DataFormatError, match="line 2: there are 5 columns"):
        load_run(write(f"{GOOD}1 Q0 b{space}b 1 2.5\n"))


def test_an_id_of_great_length_is_refused(write):
    """All ids of a vector would take as much memory as it."""
    assert load_run(write(GOOD.replace("a", "b" * 1000))).doc_ids.tolist() == ["b" * 1000]
    with pytest.raises(DataFormatError, match="line 2: the document has 1001 characters, in '.*' .*: it may have 1000"):
        load_run(write(f"{GOOD}2 Q0 {'b' * 1001} 1 2.5 t\n"))
    with pytest.raises(DataFormatError, match="line 1: the topic has 5000 characters"):
        load_qrels(write(f"{'1' * 5000} 0 a 1\n"))
    with pytest.raises(InputError, match="doc_ids: the id in row 1 has 1001 characters, 'bbb.*may have 1000"):
        Run.from_scores("r", [1, 1], ["a", "b" * 1001], [1.0, 2.0])
    with pytest.raises(InputError, match="qid: the id in row 1 has 1001 characters"):
        Qrels.from_grades(np.array([1, "b" * 1001], dtype=object), ["a", "b"], [1, 0])


def test_topics_of_many_digits_are_in_the_order_of_numbers():
    long = "1" + "0" * 5000
    assert sort_topics([long, "10", "9", "010", "0"]) == ("0", "9", "010", "10", long)
    assert sort_topics(["011", "10", "2"]) == ("2", "10", "011")


@pytest.mark.parametrize(
    ("topics", "ordered"),
    [
        (["10", "9", "100"], ["9", "10", "100"]),
        (["010", "9", "10"], ["9", "010", "10"]),
        (["10", "9", "q1"], ["10", "9", "q1"]),
        (["NA", "nan", "None"], ["NA", "None", "nan"]),
    ],
)
def test_topics_are_text_in_the_order_of_numbers_if_all_are(write, topics, ordered):
    run = load_run(write("".join(f"{topic} Q0 NA 1 1 tag\n" for topic in topics)))
    assert run.qid.tolist() == ordered
    assert run.doc_ids.tolist() == ["NA"] * 3
    qrels = load_qrels(write("".join(f"{topic} 0 null 1\n" for topic in topics)))
    assert sorted(qrels.qid.tolist()) == sorted(topics)
    assert qrels.doc_ids.tolist() == ["null"] * 3


def test_scores_are_compared_in_float32():
    """As in trec_eval 9: 1 + 1e-9 is 1, so the document id decides. Scores beyond float32 become its largest number."""
    run = Run.from_scores("r", [1, 1, 2, 2], ["a", "b", "a", "b"], [1 + 1e-9, 1.0, -1e300, 1e300])
    assert run.doc_ids.tolist() == ["b", "a", "b", "a"]
    assert run.scores.tolist() == [1.0, 1.0, 3.4028234663852886e38, -3.4028234663852886e38]


def test_qrels(write):
    qrels = load_qrels(write("1 0 a 2\n1 0 b -1\n\n# comment\n01 0 a 0\n1\t0\tc\t1\n"))
    assert repr(qrels) == "Qrels(2 topics, 1 of grade -1, 1 of grade 0, 1 of grade 1, 1 of grade 2)"
    assert (qrels.qid.tolist(), qrels.doc_ids.tolist()) == (["1", "1", "01", "1"], ["a", "b", "a", "c"])
    assert qrels.labels([1, 1, 1, 1, "01", "01", "7"], ["c", "b", "a", "z", "c", "a", "a"]).tolist() == [
        1,
        0,
        2,
        0,
        0,
        0,
        0,
    ]
    assert qrels.labels([], []).tolist() == []


documents = st.dictionaries(
    st.sampled_from(["a", "B", "b", "aa", "é", "10", "9"]),
    st.sampled_from([0.0, -1.5, 2.0, 2.0 + 1e-12, 7e10]),
    min_size=1,
)


@given(
    run=st.dictionaries(st.sampled_from(["1", "2", "10", "q"]), documents, min_size=1),
    judged=st.dictionaries(
        st.sampled_from(["1", "2", "10", "q"]),
        st.dictionaries(st.sampled_from(["a", "b", "aa", "é", "9", "z"]), st.integers(-1, 2), min_size=1),
        min_size=1,
    ),
)
def test_average_precision_of_a_run_is_that_of_the_definition(run, judged):
    rows = [(topic, doc, score) for topic, scores in run.items() for doc, score in scores.items()]
    read = Run.from_scores("r", *zip(*rows, strict=True))
    for topic, scores in run.items():
        assert read.doc_ids[read.qid == topic].tolist() == ranked(scores)
    qrels = Qrels.from_grades(*zip(*((t, d, g) for t, of in judged.items() for d, g in of.items()), strict=True))
    expected = average_precisions(run, judged)
    rows = np.isin(read.qid, list(expected))
    if expected:
        labels = qrels.labels(read.qid[rows], read.doc_ids[rows])
        values = AP().per_query(read.scores[rows], labels, read.qid[rows], judged=qrels.judged, ties="input")
        assert dict(zip(values.ids.tolist(), values.values.tolist(), strict=True)) == pytest.approx(expected)


GOOD = "1 Q0 a 1 2.5 t\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "1 Q0 a 1 2.5\n",
            "line 1: there are 5 columns in '1 Q0 a 1 2.5', but a line of a run reads '<topic> Q0 <document>",
        ),
        (f"{GOOD}\n1 Q0 b\n", "line 3: there are 3 columns in '1 Q0 b'"),
        (f"{GOOD}1 Q0 b 2 1.5\n", "line 2: there are 5 columns in '1 Q0 b 2 1.5'"),
        (f"{GOOD}1\n", "line 2: there is 1 column in '1'"),
        (f"{GOOD}1 0 b 0\n", "line 2: there are 4 columns.*This looks like a line of qrels: are the two files swapped"),
        (f"{GOOD}1 Q0 b 2 high t\n", "line 2: the score 'high' is not a finite number, in '1 Q0 b 2 high t'"),
        (f"{GOOD}1 Q0 b 2 nan t\n", "line 2: the score 'nan' is not a finite number"),
        (f"{GOOD}1 Q0 b 2 -inf t\n", "line 2: the score '-inf' is not a finite number"),
        (f"{GOOD}1 Q0 b 2 1e999 t\n", "line 2: the score '1e999' is not a finite number"),
        (f"{GOOD}1 Q0 b 2 1_000 t\n", "line 2: the score '1_000' is not a finite number"),
        (f"{GOOD}1 Q0 b 2 ١ t\n", "line 2: the score '١' is not a finite number"),
        (f"{GOOD}1 Q0 b 2 1,5 t\n", "line 2: the score '1,5' is not a finite number"),
        (f"{GOOD}1 Q0 my doc 2 1.5 t\n", "line 2: the rank 'doc' is not a number.* id contain a blank"),
        (
            f"{GOOD}1 Q0 doc 7 2 1.5 t\n",
            "line 2: there are 7 columns in .*, and the sixth is a number.* contain a blank",
        ),
        (f"{GOOD}my topic Q0 a 2 1.5 t\n", "line 2: the rank 'a' is not a number"),
        ("1 a 1\n1 b 2\n", r"line 1: there are 3 columns.*rank, as in MS MARCO's runs, .*\$3, -\$3, \"NAME\"}'"),
        ("1,Q0,a,1,2.5,t\n", "line 1: there is 1 column.*Commas separate"),
        ("qid docno rank\n1 a 1\n", "line 1: there are 3 columns.*MS MARCO"),
        (f"{GOOD}2 Q0 a 1 1 t\n\n1 Q0 a 2 1 t\n", "line 4: document 'a' is in topic '1' twice, first in line 1"),
        (
            f"# note\n{GOOD}1 Q0 {'b' * 300}\n",
            "line 3: there are 3 columns in '1 Q0 bbb.*bbb...' \\(305 characters\\), but",
        ),
        (b"1 Q0 caf\xe9 1 2.5 t\n", "line 1: this is not text: .* TREC files are text in UTF-8"),
        (GOOD.encode("utf-16"), "line 1: this is UTF-16, not text in UTF-8: 'iconv -f UTF-16 -t UTF-8'"),
        (GOOD.encode("utf-16-le"), "line 1: this is binary or UTF-16, not text"),
        (GOOD.replace("a", "a\0").encode(), "line 1: this is binary or UTF-16"),
        ("", "file.txt: the file is empty; a line of a run reads"),
        ("\n \n# nothing\n", "file.txt: the file is empty"),
    ],
)
def test_faults_of_runs(write, text, message):
    with pytest.raises(DataFormatError, match=rf"file\.txt(?:, )?.*{message.removeprefix('file.txt')}") as caught:
        load_run(write(text))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "1 0 a\n",
            "there are 3 columns in '1 0 a', but a line of qrels reads '<topic> <iteration> <document> <grade>'",
        ),
        ("1 0 a 1\n1 0 b\n", "line 2: there are 3 columns"),
        ("1 0 a 1\n1 0 b 1 0\n", "line 2: there are 5 columns"),
        ("1 0 a 1 0\n1 0 b 1 0\n", "line 1: there are 5 columns"),
        (RUN, "line 1: there are 6 columns.*This looks like a line of a run: are the two files swapped"),
        ("1 0 a 1\n1 0 b 0.5\n", "line 2: the grade '0.5' is not a 64-bit whole number"),
        ("1 0 a 1_0\n", "line 1: the grade '1_0' is not a 64-bit whole number"),
        ("1 0 a yes\n", "line 1: the grade 'yes' is not a 64-bit whole number"),
        ("1 0 a 99999999999999999999\n", "line 1: the grade '9*' is not a 64-bit whole number"),
        ("1 0 a 1\n2 0 a 1\n1 0 a 0\n", "line 3: document 'a' is in topic '1' twice, first in line 1"),
        ("", "the file is empty; a line of qrels reads"),
    ],
)
def test_faults_of_qrels(write, text, message):
    with pytest.raises(DataFormatError, match=message):
        load_qrels(write(text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "q1 d1 0 0\nq1 d2 0 0\n",
            r"the third, with '0'.*\$1, 0, \$2, 1}' FILE > NEW, if all documents .* are relevant",
        ),
        ("q1 d1 0 0\nq2 d2 0 0\n", "line 1.*seems to have the documents"),  # nothing is there twice
        ("01 8 0 1\n01 09 0 0\n02 7 0 0\n", r"awk '{print \$1 \+ 0, 0, \$2 \+ 0, \$4}' FILE > NEW$"),
        ("1 184 2 0\n1 29 1 1\n1 30 2 0\n", r"the third, with '1', '2'.*awk '{print \$1, 0, \$2, \$4}' FILE > NEW$"),
    ],
)
def test_judgments_in_another_order(write, text, message):
    expected = "a line of qrels reads '<topic> <iteration> <document> <grade>', or.* in this file the second column"
    with pytest.raises(DataFormatError, match=f"{expected}.*{message}" if "line 1" not in message else message):
        load_qrels(write(text))


@pytest.mark.parametrize(
    ("text", "padded"),
    [
        ("01 1410  0 0\n01 0756  0 0\n02 2434 0 0\n10 1410 0 0\n", True),
        ("     1   1410\t0\t0.000000\n 1 756 0 0.0\n 2 2434\t0\t0.000000\n10 1410 0 0\n", False),
    ],
)
def test_judgments_in_the_order_of_smart(write, text, padded):
    with pytest.warns(UserWarning, match="file.txt has SMART's columns.*: its 4 documents are relevant") as caught:
        qrels = load_qrels(write(text))
    assert ("leading zeros of ids do not count" in str(caught[0].message)) == padded
    assert qrels.qid.tolist() == ["1", "1", "2", "10"]
    assert qrels.doc_ids.tolist() == ["1410", "756", "2434", "1410"]
    assert qrels.grades.tolist() == [1.0] * 4
    with pytest.warns(UserWarning, match="SMART"):
        assert load_qrels(write(text), {0: 3}).grades.tolist() == [3.0] * 4
    with (
        pytest.warns(UserWarning, match="SMART"),
        pytest.raises(DataFormatError, match="line 2: document '7' is in topic '1' twice, first in line 1"),
    ):
        load_qrels(write("1 7 0 0\n01 007 0 0\n"))


@pytest.mark.parametrize("text", ["1 0 0 0\n2 0 0 0\n", "1 1 0 1\n", "x 1 0 0\n", "1 x 0 0\n", "1 Q0 0 0\n"])
def test_other_judgments_are_not_in_the_order_of_smart(write, text):
    assert set(load_qrels(write(text)).doc_ids.tolist()) == {"0"}


LISA = "Query 1\n2 Relevant Refs:\n3392 3396 -1\n \nQuery 2\r\n3 Relevant Refs:\r\n2623\n4291 7 -1\n"


def test_judgments_of_lisa(write):
    qrels = load_qrels(write(LISA))
    assert (qrels.qid.tolist(), qrels.grades.tolist()) == (["1", "1", "2", "2", "2"], [1.0] * 5)
    assert qrels.doc_ids.tolist() == ["3392", "3396", "2623", "4291", "7"]
    with pytest.raises(DataFormatError, match="line 9: document '7' is in topic '2' twice, first in line 5"):
        load_qrels(write(f"{LISA}Query 2\n1 Relevant Refs:\n7 -1\n"))


@pytest.mark.parametrize(
    ("old", "new"), [("4291 7 -1", "4291 -1"), ("4291 7 -1", "4291 7"), ("Query 2\r\n", ""), ("7", "x")]
)
def test_damaged_judgments_of_lisa(write, old, new):
    with pytest.raises(DataFormatError, match="line [45]: LISA's judgments read 'Query <topic>', '<number> Relevant"):
        load_qrels(write(LISA.replace(old, new)))


HEADERS = [
    "query-id\tcorpus-id\tscore\nq1\tb\t1\nq1\ta\t2\n",
    "# note\n\nqid docno label\nq1 b 1\nq1 a 2\n",
    "# qid docno label\nqid docno label\nq1 b 1\nq1 a 2\n",
    "QUERY_ID\tIteration\tDoc_ID\tRelevance\r\nq1\t0\tb\t1\r\nq1\t0\ta\t2\r\n",
    "grade docid topic\n1 b q1\n2 a q1\n",
    '{"q1": {"b": 1, "a": 2.0}}',
    ' \n{\n "q1": {"b": 1,\n "a": 2}}\n',
]


@pytest.mark.parametrize("text", HEADERS)
@pytest.mark.parametrize("block", [2**22, 8])
def test_judgments_with_a_header_or_in_json(write, monkeypatch, text, block):
    path = write(f"\ufeff{text}")
    monkeypatch.setattr("structsvm.data.blocks.BLOCK", block)
    qrels = load_qrels(path)
    rows = (qrels.qid.tolist(), qrels.doc_ids.tolist(), qrels.grades.tolist())
    assert rows == (["q1", "q1"], ["b", "a"], [1.0, 2.0])
    assert load_qrels(path, {1: 0, 2: 1}).grades.tolist() == [0.0, 1.0]
    with pytest.raises(DataFormatError, match="grade 2 is missing in grades, which maps 1: add it"):
        load_qrels(path, {1: 0})


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("query_id doc_id score\n2 a 0.5\n2 b 1e1\n1 a -1\n", "file"),
        ("qid\tdocno\trank\tscore\tname\n2\ta\t1\t0.5\tbm25\n1\ta\t7\t-1\tbm25\n2\tb\t0\t10\tbm25\n", "bm25"),
        ('{"2": {"a": 0.5, "b": 10}, "1": {"a": -1}}', "file"),
    ],
)
def test_runs_with_a_header_or_in_json(write, text, name):
    run = load_run(write(text))
    assert (run.name, run.qid.tolist(), run.doc_ids.tolist()) == (name, ["1", "2", "2"], ["a", "b", "a"])
    assert run.scores.tolist() == [-1.0, 10.0, 0.5]
    assert load_run(write(text), name="other").name == "other"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "query-id\tcorpus-id\tscore\n",
            "the file is empty; a line of qrels with this header reads '<topic> <document>",
        ),
        (
            "query-id\tcorpus-id\tscore\nq1\tmy doc\t1\n",
            "line 2: there are 4 columns in .*, but a line of qrels with this h",
        ),
        ("query-id\tcorpus-id\tscore\nq1\ta\t0.5\n", "line 2: the grade '0.5' is not a 64-bit whole number"),
        (
            "query-id\tcorpus-id\tscore\nq1\ta\t1\nq1\ta\t1\n",
            "line 3: document 'a' is in topic 'q1' twice, first in line 2",
        ),
        ("query-id\tcorpus-id\tscore\nq\ta\t1\nquery-id\tcorpus-id\tscore\n", "line 3: the grade 'score' is not"),
        ("query-id\tcorpus-id\ttitle\tscore\nq\ta\tb\t1\n", "line 1: the grade 'score' is not"),
        ("query_id,doc_id,relevance\n1,a,1\n", r"line 1: there is 1 column.*Commas separate its columns: .* tr ','"),
        (
            "1\tmy doc\t1\n2\tmy doc\t1\n",
            "line 1: there are 4 columns.*, but a line of qrels whose first line has three",
        ),
        ('{"q1": {"a": "1"}}', "the JSON object, topic 'q1', document 'a': the grade must be a finite number, got '1'"),
        ('{"q1": {"a": 0.5}}', "file.txt: grades must be whole numbers"),
        ('{"q1": {"a": NaN}}', 'file.txt: .*; a JSON file reads {"<topic>": {"<document>": <grade>'),
        ('{"q1": {"a": 1, "a": 2}}', "file.txt: .*'a'"),
        ('{"q1": {"a": 1}', "file.txt: Expecting ',' delimiter"),
        ('{"_id": "q1", "text": "a"}\n', "topic '_id': expected a dictionary from document to grade"),
        ('{"q1": {}}', "topic 'q1' has no documents"),
        ("{}", "the JSON object is empty"),
    ],
)
def test_faults_of_judgments_with_a_header_or_in_json(write, text, message):
    with pytest.raises(DataFormatError, match=message):
        load_qrels(write(text))


def test_judgments_of_one_document_only(write):
    assert load_qrels(write("1 0 a 1\n2 0 a 0\n")).doc_ids.tolist() == ["a", "a"]


def test_whole_grades_may_be_written_as_floats(write):
    assert load_qrels(write("1 0 a 1.0\n1 0 b 0.000000\n1 0 c -2\n")).grades.tolist() == [1.0, 0.0, -2.0]
    assert load_qrels(write("1 a 3.0\n1 b 1e0\n")).grades.tolist() == [3.0, 1.0]
    with pytest.raises(DataFormatError, match="line 2: the grade '1e30' is not a 64-bit whole number"):
        load_qrels(write("1 0 a 1.0\n1 0 b 1e30\n"))


def test_judgments_of_three_columns(write):
    qrels = load_qrels(write("# note\n\n 1 a  3\r\n1\tb -1 \n"))
    assert (qrels.qid.tolist(), qrels.doc_ids.tolist(), qrels.grades.tolist()) == (["1", "1"], ["a", "b"], [3.0, -1.0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "1 a 3\n1 0 b 3\n",
            "line 2: there are 4 columns in '1 0 b 3', but a line of qrels whose first line has three c",
        ),
        (
            "1 0 b 3\n1 a 3\n",
            "line 2: there are 3 columns in '1 a 3', but a line of qrels reads '<topic> <iteration> <",
        ),
        ("1 a 3\n1 b\n", "line 2: there are 2 columns in '1 b', but a line of qrels .* '<topic> <document> <grade>'"),
        ("1 a\n", "line 1: there are 2 columns.*, or every line '<topic> <document> <grade>'"),
        ("1 a 3\n1 b 2.5\n", "line 2: the grade '2.5' is not a 64-bit whole number"),
        ("1 a 3\n1 a 2\n", "line 2: document 'a' is in topic '1' twice, first in line 1"),
        (f"1 {'a' * 1001} 3\n", "line 1: the document has 1001 characters"),
    ],
)
def test_faults_of_judgments_of_three_columns(write, text, message):
    with pytest.raises(DataFormatError, match=message):
        load_qrels(write(text))


def test_grades_are_translated(write):
    path = write("# note\n1 0 a 1\n1 0 b 5\n2 0 a -1\n")
    assert load_qrels(path, {1: 4, 5: 0, -1: 0, 2: 9}).grades.tolist() == [4.0, 0.0, 0.0]
    assert load_qrels(path, grades={1: -2, 5: 2**40, -1: 0}).grades.tolist() == [-2.0, 2.0**40, 0.0]
    with pytest.raises(DataFormatError, match=r"line 3: grade 5 is missing in grades, which maps -1, 1"):
        load_qrels(path, {1: 4, -1: 0})


@pytest.mark.parametrize("grades", [{}, [1, 2], {1: 0.5}, {"1": 2}, {1: True}, {1: 2**63}, "1=2"])
def test_grades_that_are_none(write, grades):
    with pytest.raises(InputError, match="grades must be a mapping from each grade in the file to a new whole number"):
        load_qrels(write("1 0 a 1\n"), grades)


@pytest.mark.parametrize("load", [load_run, load_qrels])
def test_bytes_that_are_no_text_are_refused_wherever_they_stand_in_a_line(write, load):
    line = {load_run: b"1 Q0 a 1 2.5 t", load_qrels: b"1 0 a 1"}[load]
    columns = line.split()
    for k in range(len(columns)):
        damaged = b" ".join([*columns[:k], columns[k] + b"\xbe", *columns[k + 1 :]])
        with pytest.raises(DataFormatError, match="line 2: this is not text: .* TREC files are text in UTF-8"):
            load(write(b"# any \xbe\n" + damaged + b"\n"))
    with pytest.raises(DataFormatError, match=r"line 2: this is not text: '1 .* \\xbe' is not UTF-8"):
        load(write(b"# any \xbe\n" + line + b" x \xbe\n"))
    load(write(b"# any \xbe\n" + line + b"\n"))


def test_a_folder_of_runs(write, tmp_path):
    with pytest.raises(InputError, match="the folder .* has no runs"):
        load_runs(tmp_path)
    b, a = write(GOOD.replace(" t", " first"), "b.txt"), write(gzip.compress(GOOD.encode()), "a.gz")
    write("not a run", ".hidden")
    (tmp_path / "folder").mkdir()
    assert [run.name for run in load_runs(tmp_path)] == ["t", "first"]
    assert [run.name for run in load_runs([b, a])] == ["first", "t"]
    assert [run.name for run in load_runs(str(b))] == ["first"]
    write(GOOD, "c.txt")
    with pytest.raises(InputError, match=r"two runs are named 't': .*a\.gz and .*c\.txt\. Change the last column"):
        load_runs(tmp_path)
    write("Results of last year\n", "README")
    with pytest.raises(DataFormatError, match="README, line 1: there are 4 columns in 'Results of last year'"):
        load_runs(tmp_path)
    with pytest.raises(InputError, match="there is no folder"):
        load_runs(tmp_path / "none")
    with pytest.raises(InputError, match="runs is empty: name at least one file"):
        load_runs([])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (([1, 1], ["a", "a"], [1, 2]), "run 'r' has document 'a' twice in topic '1', again in row 1"),
        (([1, "1"], ["a", "b"], [1]), "got 2 topics, 2 document ids and 1 scores"),
        (([], [], []), "at least one row"),
        (([1], ["a"], [np.nan]), "scores must be finite: row 0 has nan. Leave out documents that were not retrieved"),
        (([1], ["a"], ["high"]), "scores must be numbers"),
        (([1], ["a"], [[1.0]]), "scores must have one number per row"),
        (([[1]], ["a"], [1.0]), "qid must have one id per row"),
        (([[1], [1, 2]], ["a", "b"], [1.0, 2.0]), "qid must have one id per row, not lists of several lengths"),
        ((np.zeros(1, dtype=[("a", "f8"), ("b", "i4")]), ["a"], [1.0]), "qid must have one id per row, not records"),
    ],
)
def test_runs_of_arrays_that_are_none(rows, message):
    with pytest.raises(InputError, match=message):
        Run.from_scores("r", *rows)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (([1, 2, 1], ["a", "a", "a"], [1, 2, 1]), "document 'a' is judged twice for topic '1', again in row 2"),
        (([1], ["a"], [0.5]), "grades must be whole numbers"),
        (([1], ["a"], [np.inf]), "grades must be whole numbers"),
        (([1], ["a"], [0, 1]), "got 1 topics, 1 document ids and grades of shape"),
        (([], [], []), "at least one row"),
    ],
)
def test_qrels_of_arrays_that_are_none(rows, message):
    with pytest.raises(InputError, match=message):
        Qrels.from_grades(*rows)


def test_a_score_of_many_digits_is_rounded_as_by_python(write):
    long = f"0.{'123456789' * 30}"
    run = load_run(write(f"1 Q0 a 1 {long} t\n1 Q0 b 2 0.1 t\n"))
    assert run.scores.tolist() == np.float32([float(long), 0.1]).astype(float).tolist()
