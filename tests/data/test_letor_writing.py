"""LETOR files that are written are read back as they were."""

import gzip
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from structsvm.data import load_letor, write_letor
from structsvm.data.letor.side_files import feature_names_of
from structsvm.exceptions import InputError

NAMES = ["title.L1", "body.lm_dirichlet(mu=500)", "né"]
finite = st.floats(allow_nan=False, allow_infinity=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("letor")


@given(data=st.data(), sparse=st.booleans())
def test_what_is_written_is_read_back_to_the_last_bit(data, sparse, folder):
    n, d = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 4))
    X = data.draw(arrays(np.float64, (n, d), elements=st.just(0.0) | finite))
    y = data.draw(arrays(np.float64, n, elements=finite))
    qid = data.draw(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=n, max_size=n))
    ids = data.draw(
        st.lists(
            st.text(
                st.characters(codec="utf-8", exclude_characters=" \t\r\n\0\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0"), min_size=1
            ),
            min_size=n,
            max_size=n,
        )
    )
    path = folder / "one.txt"
    write_letor(path, sp.csr_array(X) if sparse else X, y, np.array(qid, dtype=np.int64), ids)
    read = load_letor(path, doc_ids=True, sparse=sparse)
    np.testing.assert_array_equal(read.X.toarray() if sparse else read.X, X)
    np.testing.assert_array_equal(read.y, y)
    assert read.qid.tolist() == qid
    assert read.doc_ids.tolist() == ids


def test_a_file_looks_as_letors_do(tmp_path):
    path = tmp_path / "one.txt"
    write_letor(path, [[0.5, 0.0, 1e-20], [3.0, 1 / 3, -2.0]], [1, 0.5], ["7", "7"], ["a", "b"], feature_names=NAMES)
    assert path.read_text(encoding="utf-8") == (
        "# feature 1 = title.L1\n"
        "# feature 2 = body.lm_dirichlet(mu=500)\n"
        "# feature 3 = né\n"
        "1 qid:7 1:0.5 2:0.0 3:1e-20 #docid = a\n"
        "0.5 qid:7 1:3.0 2:0.3333333333333333 3:-2.0 #docid = b\n"
    )
    assert feature_names_of(path) == tuple(NAMES)
    assert load_letor(path).X.shape == (2, 3)


def test_many_rows_are_written_piece_by_piece(tmp_path):
    X = np.random.default_rng(0).standard_normal((9000, 40))
    path = tmp_path / "many.txt"
    write_letor(path, X, np.arange(9000) % 3, np.repeat(np.arange(90), 100))
    np.testing.assert_array_equal(load_letor(path).X, X)


def test_the_last_column_of_sparse_rows_is_kept(tmp_path):
    path = tmp_path / "one.txt"
    write_letor(path, sp.csr_array([[0.0, 2.0, 0.0], [0.0, 0.0, 0.0]]), [1, 0], [1, 1])
    assert path.read_text() == "1 qid:1 2:2.0 3:0.0\n0 qid:1 3:0.0\n"
    assert load_letor(path).X.shape == (2, 3)


@pytest.mark.parametrize("topics", [["MB2", "MB1", "MB2"], ["01", "1", "01"], ["9" * 30, "1", "9" * 30]])
def test_topics_that_are_no_numbers_are_numbered(topics, tmp_path):
    path = tmp_path / "one.txt"
    write_letor(path, np.ones((3, 1)), [1, 0, 0], topics)
    assert load_letor(path).qid.tolist() == [1, 2, 1]
    assert path.read_text().startswith(f"# query 1 = {topics[0]}\n# query 2 = {topics[1]}\n")


def test_names_are_read_of_a_packed_file(tmp_path):
    path = tmp_path / "one.txt.gz"
    path.write_bytes(
        gzip.compress(b"\n# made by hand\n# feature 1 = a\n# feature 2 = b\n1 qid:1 1:2\n# feature 3 = c\n")
    )
    assert feature_names_of(path) == ("a", "b")


def test_a_file_without_names_has_none(tmp_path):
    path = tmp_path / "one.txt"
    path.write_text("# feature x\n1 qid:1 1:2\n")
    assert feature_names_of(path) is None


def test_names_out_of_order_are_ignored(tmp_path):
    path = tmp_path / "one.txt"
    path.write_text("# feature 1 = a\n# feature 3 = b\n1 qid:1 1:2\n")
    assert feature_names_of(path) is None


RIGHT = {"X": np.ones((2, 2)), "y": [1, 0], "qid": [1, 1], "doc_ids": ["a", "b"], "feature_names": ["p", "q"]}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"X": np.ones(2)}, r"a row per document and a column per feature, got shape \(2,\)"),
        ({"X": np.ones((3, 2))}, r"its shape is \(3, 2\), but there are \(2,\) labels"),
        ({"X": np.ones((0, 2)), "y": [], "qid": [], "doc_ids": []}, r"at least one document and feature"),
        ({"X": [[1.0, np.nan], [1.0, 1.0]]}, r"X contains NaN or infinity"),
        ({"y": [1, np.inf]}, r"label 1 is inf"),
        ({"qid": [1]}, r"there are \(1,\) query ids"),
        ({"doc_ids": ["a"]}, r"there are \(1,\) document ids"),
        ({"doc_ids": ["a", "b c"]}, r"the document id 'b c' must not be empty or contain a blank"),
        ({"doc_ids": ["a", ""]}, r"the document id '' must not be empty or contain a blank"),
        ({"doc_ids": ["a", "\ud800"]}, r"text in UTF-8"),
        ({"qid": ["x y", "z"]}, r"the topic 'x y' must not be empty or contain a blank"),
        ({"feature_names": ["p"]}, r"feature_names must be 2 texts, one for each feature, got 1"),
        ({"feature_names": ["p", "p"]}, r"feature_names has 'p' twice"),
        ({"feature_names": ["p", "q r"]}, r"the name of a feature 'q r' must not be empty or contain a blank"),
        ({"feature_names": "pq"}, r"must be a list of names"),
        ({"feature_names": [1, 2]}, r"feature_names must be a list of names, got 1"),
    ],
)
def test_what_no_file_can_have_is_refused_and_nothing_is_written(wrong, said, tmp_path):
    path = tmp_path / "one.txt"
    with pytest.raises(InputError, match=said):
        write_letor(path, **{**RIGHT, **wrong})
    assert not list(tmp_path.iterdir())


def test_a_file_is_replaced_whole_or_stays(tmp_path, monkeypatch):
    path = Path(tmp_path / "one.txt")
    write_letor(path, **RIGHT)
    before = path.read_bytes()

    def fail(X):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("structsvm.data.letor.writing._dense_lines", fail)
    with pytest.raises(InputError, match="No space left"):
        write_letor(path, **{**RIGHT, "y": [0, 1]})
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
