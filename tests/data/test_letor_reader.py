"""The reader of LETOR files: MQ2008's facts, representations, and every way a file can be wrong."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from structsvm.data import load_letor
from structsvm.exceptions import DataFormatError, InputError
from tests.real_data import MQ2008, needs

TEXT = """\
# a comment line, and a blank one

2 qid:7 1:0.5 3:-1e-3 #docid = GX1 inc = 1 prob = 0.08
0 qid:7 2:0 #docid = GX2
1 qid:3 #docid=GX3
"""


def write(folder: Path, text: str, name: str = "S1.txt") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def dense(path: Path | list[Path], n_features: int | None = None) -> list[list[float]]:
    X = load_letor(path, sparse=False, n_features=n_features).X
    assert isinstance(X, np.ndarray)
    return [[float(value) for value in row] for row in X]


@needs(MQ2008)
def test_mq2008_is_as_its_publishers_describe_it() -> None:
    data = load_letor([MQ2008 / f"S{k}.txt" for k in range(1, 6)], doc_ids=True)
    assert repr(data) == "RankingData(784 queries, 15211 documents, 46 features, dense)"
    assert data.summary == "784 queries, 15211 documents, 46 features, dense"
    assert np.bincount(data.y.astype(int)).tolist() == [12279, 2001, 931]
    assert len(set(data.qid.tolist()) - set(data.qid[data.y > 0].tolist())) == 220
    assert data.doc_ids is not None
    assert data.doc_ids[0] == "GX008-86-4444840"
    assert [data.X.dtype, data.y.dtype, data.qid.dtype] == [np.float64, np.float64, np.int64]


@needs(MQ2008)
def test_mq2008_has_its_queries_in_five_parts() -> None:
    assert [len(set(load_letor(MQ2008 / f"S{k}.txt").qid)) for k in range(1, 6)] == [157, 157, 157, 157, 156]


def test_reads_features_labels_queries_and_document_ids(tmp_path: Path) -> None:
    path = write(tmp_path, TEXT)
    data = load_letor(path, doc_ids=True)
    assert dense(path) == [[0.5, 0, -1e-3], [0, 0, 0], [0, 0, 0]]
    assert data.y.tolist() == [2, 0, 1]
    assert data.qid.tolist() == [7, 7, 3]
    assert data.doc_ids is not None
    assert data.doc_ids.tolist() == ["GX1", "GX2", "GX3"]
    assert load_letor(str(path)).doc_ids is None


def test_n_features_widens(tmp_path: Path) -> None:
    assert dense(write(tmp_path, "1 qid:1 1:2"), n_features=3) == [[2.0, 0.0, 0.0]]
    assert dense(write(tmp_path, "1 qid:1"), n_features=2) == [[0.0, 0.0]]


def test_several_files_are_one_data_set_of_the_widest(tmp_path: Path) -> None:
    paths = [write(tmp_path, "1 qid:1 1:2", "a"), write(tmp_path, "0 qid:2 3:4", "b")]
    assert dense(paths) == [[2, 0, 0], [0, 0, 4]]
    assert load_letor(paths).qid.tolist() == [1, 2]


def test_a_query_in_two_files_is_refused(tmp_path: Path) -> None:
    paths = [write(tmp_path, "1 qid:1 1:2\n0 qid:9 1:2", "a"), write(tmp_path, "0 qid:9 1:4\n0 qid:8 1:1", "b")]
    with pytest.raises(
        InputError, match=r"1 query, such as 9, may be in one file only, but .*a and .*b have rows of it.*renumber"
    ):
        load_letor(paths)


def test_sparse_rows_stay_sparse_unless_chosen(tmp_path: Path) -> None:
    full = write(tmp_path, "1 qid:1 1:1 2:1 3:1\n0 qid:1 1:1 2:1 3:1", "full")
    empty = write(tmp_path, "1 qid:1 50:1\n0 qid:1 40:1", "empty")
    zeros = write(tmp_path, "1 qid:1 " + " ".join(f"{j}:0" for j in range(1, 50)) + " 50:1", "zeros")
    assert not sp.issparse(load_letor(full).X)
    assert sp.issparse(load_letor(full, sparse=True).X)
    assert not sp.issparse(load_letor(empty, sparse=False).X)
    for path, stored in ((empty, 2), (zeros, 1)):
        X = load_letor(path).X
        assert isinstance(X, sp.csr_array)
        assert X.nnz == stored
        assert X.indices.dtype == X.indptr.dtype == np.int32


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("good qid:1 1:2", "the label 'good' is not a number"),
        ("nan qid:1 1:2", "the label 'nan' is not finite: leave the line out"),
        ("1 1:2", "no query id: after the label comes '1:2'"),
        ("1", "no query id: there is only a label"),
        ("1 1:2 qid:1", "no query id: after the label comes '1:2'"),
        ("1 qid:x 1:2", "query id in 'qid:x' must be a 64-bit whole number"),
        ("1 qid: 1:2", "query id in 'qid:' must be a 64-bit whole number"),
        ("1 qid:99999999999999999999 1:2", "must be a 64-bit whole number"),
        ("1 qid:1 3:abc", "the value of feature 3, 'abc', is not a number"),
        ("1 qid:1 3:", "the value of feature 3, '', is not a number"),
        ("1 qid:1 3:nan", "the value of feature 3, 'nan', is not finite: leave the feature out"),
        ("1 qid:1 3:-inf", "the value of feature 3, '-inf', is not finite"),
        ("1 qid:1 3", "'3' has no colon: a line reads '<label> qid:<query> <index>:<value> ...'"),
        ("1 qid:1 x:3", "feature index in 'x:3' must be a whole number"),
        ("1 qid:1 -1:3", "feature index in '-1:3' must be from 1"),
        ("1 qid:1 9999999999:3", "feature index in '9999999999:3' must be from 1"),
        (
            "1 qid:1 0:3",
            "index 0, but LETOR counts features from 1: if the file counts from 0, pass zero_based=True (--zero-based",
        ),
        ("1 qid:1 3:1 2:1", "feature 2 follows feature 3: indices must ascend"),
        ("1 qid:1 3:1 3:1", "feature 3 follows feature 3"),
        ("1 qid:1 6:1", "feature 6 is beyond n_features=5; pass n_features=6 or more"),
    ],
)
def test_a_faulty_line_is_named_with_its_fault(tmp_path: Path, line: str, problem: str) -> None:
    path = write(tmp_path, f"# heading\n1 qid:1 1:1\n{line} # comment\n1 qid:1 1:1\n")
    with pytest.raises(DataFormatError) as caught:
        load_letor(path, n_features=5)
    assert caught.value.line == 3
    assert str(caught.value).startswith(f"{path}, line 3: ")
    assert problem in caught.value.problem


@pytest.mark.parametrize("name", ["a b", "a b c = 1", "a, b", "a\tb"])
def test_a_document_id_with_a_blank_is_an_error(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, f"1 qid:1 1:1 #docid = x inc = 1 # docid = y\n1 qid:1 1:1 #docid = {name}\n")
    with pytest.raises(DataFormatError, match="line 2: the document id 'a.*b.*' contains a blank: replace it"):
        load_letor(path, doc_ids=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"S1.txt: the file has no documents"),
        ("\n\n", r"S1.txt: the file has no documents"),
        ("# only a comment\n", r"S1.txt: the file has no documents"),
        ("1 qid:1 #docid = a\n", "no line has a feature: pass n_features"),
        (TEXT + "1 qid:3 1:1 # no id\n", r"line 6: there is no comment '#docid = \.\.\.'"),
    ],
)
def test_files_without_documents_features_or_ids_are_errors(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataFormatError, match=message):
        load_letor(write(tmp_path, text), doc_ids=True)


def test_invalid_arguments_are_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="path_or_paths is empty: name at least one file"):
        load_letor([])
    with pytest.raises(InputError, match="n_features must be an integer of at least 1 or None, got 0"):
        load_letor(write(tmp_path, TEXT), n_features=0)
