"""Tables with named columns: CSV and TSV in blocks of any size, Parquet, and every way they can be wrong."""

import io
import math
import os
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from structsvm.data import load_table
from structsvm.data.table import Naming, read_tables
from structsvm.exceptions import DataFormatError, InputError, NotInstalledError

TEXT = 'qid,label,tf,"length, in words",docid,title\nq1,1,0.5,3,d1,"a, b"\nq1,0,-1e-3,0,d2,c\n\nq2,2,7,1e3,d3,\n'


def write(folder: Path, text: str, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_columns_are_what_they_are_named(tmp_path):
    data = load_table(write(tmp_path, TEXT))
    assert data.feature_names == ("tf", "length, in words")
    assert data.X.tolist() == [[0.5, 3], [-1e-3, 0], [7, 1e3]]
    assert data.y.tolist() == [1, 0, 2]
    assert data.qid.tolist() == ["q1", "q1", "q2"]
    assert data.doc_ids is not None
    assert data.doc_ids.tolist() == ["d1", "d2", "d3"]
    chosen = load_table(tmp_path / "t.csv", label="tf", qid="label", docid="title", features=["length, in words"])
    assert chosen.y.tolist() == [0.5, -1e-3, 7]
    assert chosen.qid.tolist() == [1, 0, 2]
    assert chosen.qid.dtype == np.int64
    assert chosen.X.tolist() == [[3], [0], [1e3]]
    assert chosen.doc_ids is not None
    assert chosen.doc_ids.tolist() == ["a, b", "c", ""]


def test_labels_and_queries_may_be_missing_where_they_are_optional(tmp_path):
    path = write(tmp_path, "a,b\n1,2\n3,4\n")
    data = load_table([path, write(tmp_path, "b,a\n6,5\n", "u.csv")], labels="optional", queries="optional")
    assert np.isnan(data.y).all()
    assert data.X.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert [data.qid[0] == data.qid[1], data.qid[1] == data.qid[2]] == [True, False]
    with pytest.raises(
        InputError,
        match=r"t.csv has no column 'label': name the column of labels \(label=\.\.\., or --label COLUMN on the "
        r"command line\); its columns: 'a', 'b'",
    ):
        load_table(path)
    with pytest.raises(
        InputError, match=r"no column 'qid': name the column of query ids \(qid=\.\.\., or --qid COLUMN"
    ):
        load_table(path, label="a")


@pytest.mark.parametrize("text", ["label,qid,x\n1,7,0.5", "label,qid,x\n\n1,7,0.5", "label,qid,x\n1,7,0.5\n"])
@pytest.mark.parametrize("block", [1, 2**22])
def test_a_single_row_may_lack_its_line_end(tmp_path, monkeypatch, text, block):
    monkeypatch.setattr("structsvm.data.blocks.BLOCK", block)
    data = load_table(write(tmp_path, text))
    assert [data.feature_names, data.X.tolist(), data.qid.tolist()] == [("x",), [[0.5]], [7]]
    write(tmp_path, text.replace("0.5", "0.5,"))
    with pytest.raises(DataFormatError, match=f"line {text.rstrip().count(chr(10)) + 1}: the line has 4 columns"):
        load_table(tmp_path / "t.csv")


def test_blanks_around_ids_are_none_of_them(tmp_path):
    data = load_table(write(tmp_path, 'label, qid, x, docid\n1, 7, 3, a b\n0,7,2 ,c\n1," 7 ",1,d \n'))
    assert data.qid.tolist() == [7, 7, 7]
    assert data.doc_ids is not None
    assert data.doc_ids.tolist() == ["a b", "c", "d"]
    with pytest.raises(DataFormatError, match="a query id in column 'qid' is empty"):
        load_table(write(tmp_path, "label,qid,x\n1, ,3\n"))


@pytest.mark.parametrize("block", [1, 2**22])
@pytest.mark.parametrize(
    ("cells", "line", "said"),
    [
        (["0.5", "inf", "2"], 3, "'inf' in column 'x' is not finite"),
        (["1", "?", "3"], 3, "'?' in column 'x' is not a number"),
        (["1", "NA", "", "absent", "2"], 5, "'absent' in column 'x' is not a number"),
    ],
)
def test_a_column_of_numbers_but_for_a_cell_is_refused_wherever_that_is(
    tmp_path, monkeypatch, block, cells, line, said
):
    monkeypatch.setattr("structsvm.data.blocks.BLOCK", block)
    path = write(tmp_path, "label,qid,x,y\n" + "".join(f"1,7,{cell},2\n" for cell in cells))
    with pytest.raises(DataFormatError) as caught:
        load_table(path)
    assert str(caught.value) == (
        f"{path}, line {line}: {said}: correct it, or leave the cell empty if the value is missing; "
        "if it is not a feature, name the features: features=[...] (--features on "
        "the command line)"
    )
    assert load_table(path, features=["y"]).X.tolist() == [[2]] * len(cells)
    with pytest.raises(DataFormatError) as caught:
        load_table(path, features=["x"])
    assert str(caught.value).startswith(f"{path}, line {line}: {said}: correct it")


@pytest.mark.parametrize("cells", [["a", "b", "2"], ["a", "2"], ["", "", ""], ["", "nan", "NA"], ["", "b", "1"]])
def test_a_column_of_many_words_is_left_out(tmp_path, cells):
    path = write(tmp_path, "label,qid,x,y\n" + "".join(f"1,7,{cell},2\n" for cell in cells))
    assert load_table(path).feature_names == ("y",)


@pytest.mark.parametrize(
    "name", ["id", "ID", "_id", "doc_id", "docId", "DocID", "document", "docno", "query id", "Query"]
)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_numbers_that_are_ids_by_their_name_are_no_feature_unless_named(tmp_path, name, kind):
    cells = {"label": [0, 1], "qid": [1, 1], "x": [3.0, 4.0], name: [11, 12]}
    path = tmp_path / f"t.{kind}"
    if kind == "csv":
        pd.DataFrame(cells).to_csv(path, index=False)
    else:
        pytest.importorskip("pyarrow")
        pd.DataFrame(cells).to_parquet(path)
    assert load_table(path).feature_names == ("x",)
    assert load_table(path, features=["x", name]).X.tolist() == [[3.0, 11.0], [4.0, 12.0]]
    taken = load_table(path, docid=name)
    assert taken.feature_names == ("x",)
    assert taken.doc_ids.tolist() == ["11", "12"]


@pytest.mark.parametrize("name", ["bid", "valid", "width", "docs", "documents", "ids", "grid", "query_length", "idf"])
def test_other_names_are_of_features(tmp_path, name):
    path = write(tmp_path, f"label,qid,{name}\n1,7,2\n0,7,3\n")
    assert load_table(path).feature_names == (name,)


def test_ids_alone_are_no_data(tmp_path):
    path = write(tmp_path, "label,qid,id\n1,7,2\n")
    with pytest.raises(InputError, match=r"could be a feature, unless it is named \(features=.*--features.*: .?id"):
        load_table(path)


def test_ids_may_have_words_among_them(tmp_path):
    path = write(tmp_path, "label,qid,doc_id,x\n" + "1,7,5,2\n" * 20 + "1,7,D6,2\n")
    assert load_table(path).feature_names == ("x",)


values = st.floats(allow_nan=False, allow_infinity=False)
words = st.text(st.sampled_from('ab ,\t"é'), max_size=5)


@given(
    st.lists(st.tuples(values, values, words, st.integers(-(2**63), 2**63 - 1)), min_size=1, max_size=12),
    st.sampled_from([1, 7, 40, 2**22]),
    st.sampled_from([",", "\t"]),
    st.sampled_from(["\n", "\r\n"]),
)
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_pandas_writes_is_read_back_to_the_bit(tmp_path, rows, block, separator, end):
    frame = pd.DataFrame(rows, columns=["label", "x", "word", "qid"])
    text = io.StringIO()
    frame.to_csv(text, sep=separator, index=False, lineterminator=end)
    path = tmp_path / "t"
    path.write_bytes(text.getvalue().encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("structsvm.data.blocks.BLOCK", block)
        data = load_table(path, features=["x"], docid="word")
    assert data.X.tobytes() == frame[["x"]].to_numpy().tobytes()
    assert data.y.tobytes() == frame["label"].to_numpy().tobytes()
    assert data.qid.tolist() == frame["qid"].tolist()
    assert data.doc_ids is not None
    assert data.doc_ids.tolist() == [word.strip() for word in frame["word"]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("label,qid,x\n1,1,2\n1,1\n", "line 3: the line has 2 columns, but the first line names 3"),
        ("label,qid,x\n1,1,2,3\n1,1\n", "line 2: the line has 4 columns, but the first line names 3"),
        ("label,qid,x\n1,1,2\n\n1,1,good\n1,1,3\n", "line 4: 'good' in column 'x' is not a number"),
        ("label,qid,x\n1,1,2\n1,1,1_0\n1,1,3\n", "line 3: '1_0' in column 'x' is not a number"),
        ("label,qid,x\n1,1,2\n1,1,-inf\n1,1,3\n", "line 3: '-inf' in column 'x' is not finite"),
        ("label,qid,x\n1,1,2\n1,1,1e999\n1,1,3\n", "line 3: '1e999' in column 'x' is not finite"),
        ("label,qid,x\n,1,2\n1,1,2\n", "line 2: column 'label' is empty"),
        ('label,qid,x\n1,1,2\n1,"1,2\n', "line 3: a cell in quotes has no end on its line"),
        ("label,qid,x\n", "the table has no rows"),
        ("", "the file is empty: its first line names the columns"),
        ("label\n1\n", "line 1: the first line must name the columns, separated by commas or tabs: 'label' names one"),
        ("label;x\n1;0,5\n", "'label;x' names one: save the file with commas, and with points in decimal numbers"),
        ("label,,x\n1,1,2\n", "line 1: column 2 has no name"),
        ("label,x,x\n1,1,2\n", "line 1: two columns are named 'x'"),
        ("1,1,2\n1,1,2\n", "line 1: the first line must name the columns, but has numbers"),
        ("label,qid,x\n1,,2\n", "a query id in column 'qid' is empty"),
        ("label,qid,x\n1,1,a\n", "has no column of numbers or categories that could be a feature: 'x'"),
    ],
)
def test_a_faulty_table_is_named_with_its_fault(tmp_path, text, said):
    path = write(tmp_path, text)
    features = None if "could be a feature" in said or "label,qid,x" not in text else ["x"]
    with pytest.raises(InputError) as caught:
        load_table(path, features=features)
    assert said in str(caught.value)
    assert str(caught.value).startswith(f"{path}")


@given(st.text(st.sampled_from('1a,"\n\t-.é\0'), max_size=30), st.sampled_from([1, 5, 2**22]))
@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_is_read_or_refused(tmp_path, text, block):
    path = tmp_path / "t"
    path.write_bytes(b"label,qid,x\n" + text.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("structsvm.data.blocks.BLOCK", block)
        try:
            data = load_table(path, features=["x"])
        except InputError:
            return
    assert all(math.isfinite(value) for value in data.X.ravel().tolist())
    assert len(data.y) == sum(bool(line.strip(" \t\r")) for line in text.split("\n"))


def test_text_that_is_no_utf_8(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"label,qid,x,title\n1,1,2,a\n1,1,2,\xff\n")
    with pytest.raises(DataFormatError, match="line 3: this is not text in UTF-8"):
        load_table(path)


def test_columns_that_are_missing_or_used_twice(tmp_path):
    path = write(tmp_path, TEXT)
    with pytest.raises(InputError, match="lacks features: 'idf', "):
        load_table(path, features=["tf", "idf", "bm25"])
    with pytest.raises(InputError, match="no column 'id'; its columns: 'qid'"):
        load_table(path, docid="id")
    with pytest.raises(InputError, match="column 'label' is a feature and has another role"):
        load_table(path, features=["label"])
    for wrong in ("tf", [], ["tf", "tf"], [1], 3):
        with pytest.raises(InputError, match="features"):
            load_table(path, features=wrong)
    with pytest.raises(InputError, match="query q1 is in .*t.csv and in .*u.csv"):
        load_table([path, write(tmp_path, TEXT, "u.csv")])
    merged = [write(tmp_path, f"label,qid,x\n1,{qid},2\n", f"{qid}.csv") for qid in ("1", "1.0")]
    with pytest.raises(InputError, match="query 1 is in .*1.csv and in .*1.0.csv"):
        load_table(merged)


def test_a_pipe_is_read_once(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=(TEXT,))
    writer.start()
    assert len(load_table(path).y) == 3
    writer.join()


@pytest.fixture
def parquet(tmp_path):
    pytest.importorskip("pyarrow", reason="needs the package pyarrow")

    def write(**columns):
        path = tmp_path / "t.parquet"
        pd.DataFrame(columns).to_parquet(path)
        return path

    return write


def test_parquet(parquet, monkeypatch):
    columns = {
        "label": np.array([2, 0, 1], np.int8),
        "qid": [5, 5, 6],
        "x": np.array([0.5, -1e-3, 7], np.float32),
        "clicked": [True, False, True],
        "docid": ["a", "b", "c"],
        "title": ["x", None, "z"],
    }
    monkeypatch.setattr("structsvm.data.columns.parquet._AT_ONCE", 2)
    data = load_table(parquet(**columns), dtype="float32")
    assert data.X.dtype == np.float32
    assert data.X.tolist() == [[0.5, 1], [np.float32(-1e-3), 0], [7, 1]]
    assert data.feature_names == ("x", "clicked")
    assert data.y.tolist() == [2, 0, 1]
    assert data.qid.tolist() == [5, 5, 6]
    assert data.doc_ids is not None
    assert data.doc_ids.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize(
    "name", ["", "index", "level_0", "level_1", "Unnamed: 0", "Unnamed: 0.1", ",Unnamed: 0", "Index"]
)
def test_a_saved_index_is_left_out(tmp_path, name):
    index = "0,0" if name.startswith(",") else "0"
    data, left_out = read_tables(
        [write(tmp_path, f"{name},label,qid,x\n{index},1,1,2\n{index},0,1,3\n")], Naming(), np.float64
    )
    assert data.feature_names == ("x",)
    assert len(left_out.ids) == 1 + (name == ",Unnamed: 0")
    column = left_out.ids[0]
    assert load_table(tmp_path / "t.csv", features=[column]).X.tolist() == [[0.0], [0.0]]


@pytest.mark.parametrize("block", [40, 2**22])
@pytest.mark.parametrize("words", [("True", "False"), ("true", "false"), ("TRUE", " FALSE ")])
def test_truth_values_are_numbers(tmp_path, monkeypatch, block, words):
    monkeypatch.setattr("structsvm.data.blocks.BLOCK", block)
    yes, no = words
    path = write(tmp_path, f"label,qid,new,x\n{yes},1,{no},1\n{no},1,{yes},2\n{no},2,{yes},3\n{yes},2,{no},4\n")
    data = load_table(path)
    assert data.feature_names == ("new", "x")
    assert data.X[:, 0].tolist() == [0, 1, 1, 0]
    assert data.y.tolist() == [1, 0, 0, 1]
    frame = pd.DataFrame({"label": [True, False], "qid": 1, "new": [False, True], "x": [1.0, 2.0]})
    frame.to_csv(tmp_path / "p.csv")
    assert load_table(tmp_path / "p.csv").X.tolist() == [[0, 1], [1, 2]]


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("maybe", "line 4: 'maybe' in column 'new' is neither True nor False"),
        ("1", "line 4: '1' in column 'new' is neither True nor False"),
    ],
)
def test_a_faulty_truth_value_is_an_error(tmp_path, monkeypatch, cell, said):
    rows = f"label,qid,new\n1,1,True\n0,1,False\n1,2,{cell}\n0,2,True\n"
    monkeypatch.setattr("structsvm.data.blocks.BLOCK", 30)
    with pytest.raises(DataFormatError, match=said):
        load_table(write(tmp_path, rows), features=["new"])


@pytest.mark.parametrize("name", [None, "row", "qid"])
def test_an_index_of_pandas_is_no_feature(tmp_path, name):
    pq = pytest.importorskip("pyarrow.parquet", reason="needs the package pyarrow")
    path = tmp_path / "t.parquet"
    frame = pd.DataFrame({"label": [1, 0, 2], "x": [0.5, 1, 2]}, index=pd.Index([5, 5, 9], name=name))
    if name != "qid":
        frame["qid"] = [1, 1, 2]
    frame.to_parquet(path)
    data = load_table(path)
    assert data.feature_names == ("x",)
    assert data.qid.tolist() == ([5, 5, 9] if name == "qid" else [1, 1, 2])
    column = name or "__index_level_0__"
    if name != "qid":
        assert load_table(path, features=[column]).X.ravel().tolist() == [5, 5, 9]
    for damaged in ("{", "[]", '{"index_columns": 3}'):
        pq.write_table(pq.read_table(path).replace_schema_metadata({"pandas": damaged}), path)
        assert set(load_table(path).feature_names or ()) == ({"row", "x"} if name == "row" else {"x"})


@pytest.mark.parametrize(
    ("x", "said"),
    [
        ([1.0, 2.0, math.inf], "inf in column 'x', row 3, is not finite"),
        ([1.0, 2.0, 1e39], r"1e\+39 in column 'x', row 3, is beyond float32"),
        (["1", "2", "3"], "column 'x' has 3 texts, not categories by default"),
    ],
)
def test_a_faulty_cell_of_parquet(parquet, x, said):
    path = parquet(label=[1, 0, 1], qid=["a", "a", "a"], x=x)
    with pytest.raises(InputError, match=said):
        load_table(path, features=["x"], dtype=np.float32)
    if x != ["1", "2", "3"]:
        with pytest.raises(DataFormatError, match=rf"{said}.*; if it is not a feature, .*--features"):
            load_table(path, dtype=np.float32)


def test_damaged_parquet(parquet):
    path = parquet(label=[1, 0, 1], qid=["a", "a", "a"], x=[1.0, 2.0, 3.0])
    whole = path.read_bytes()
    for wrong in (whole[:-1], whole[: len(whole) // 2], whole[:8] + bytes(300) + whole[308:]):
        path.write_bytes(wrong)
        with pytest.raises(InputError, match=r"t.parquet: it cannot be read as Parquet|cannot read .*t.parquet"):
            load_table(path)


def test_the_package_that_reads_parquet_is_named(tmp_path, monkeypatch):
    path = tmp_path / "t"
    path.write_bytes(b"PAR1")
    monkeypatch.setitem(__import__("sys").modules, "pyarrow.parquet", None)
    with pytest.raises(NotInstalledError, match=r"pip install 'structural-svm\[parquet\]'"):
        load_table(path)


def test_a_named_column_has_the_weights_of_rows(tmp_path):
    path = write(tmp_path, "label,qid,x,weight\n1,1,2,0.5\n0,1,3,2\n")
    data = load_table(path, weight="weight")
    assert data.feature_names == ("x",)
    assert data.sample_weight.tolist() == [0.5, 2.0]
    assert load_table(path).feature_names == ("x", "weight")
    with pytest.raises(InputError, match="has no column 'w'"):
        load_table(path, weight="w")
