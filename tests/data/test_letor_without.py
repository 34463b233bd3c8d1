"""LETOR files without labels, without query ids, in float32, and with names of features."""

from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from structsvm.data import blocks, load_letor, write_letor
from structsvm.data.letor import block as letor_block
from structsvm.data.letor.reading import load_letor_parts
from structsvm.exceptions import DataFormatError, InputError


def write(folder: Path, text: str, name: str = "train.txt") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_labels_may_be_missing_where_they_are_optional(tmp_path):
    path = write(tmp_path, "qid:1 1:1 #docid = a\n2 qid:1 2:1 #docid = b\nqid:2 #docid = c\n")
    data = load_letor(path, labels="optional", doc_ids=True)
    assert np.array_equal(data.y, [np.nan, 2, np.nan], equal_nan=True)
    assert data.qid.tolist() == [1, 1, 2]
    assert data.X.tolist() == [[1, 0], [0, 1], [0, 0]]
    assert data.doc_ids is not None
    assert data.doc_ids.tolist() == ["a", "b", "c"]
    with pytest.raises(DataFormatError, match="line 1: there is no label: the line begins with 'qid:1', but a line"):
        load_letor(path)
    with pytest.raises(DataFormatError, match="line 1: no query id: the line begins with '1:2', but"):
        load_letor(write(tmp_path, "1:2 2:3\n"), labels="optional")


@pytest.mark.parametrize("name", ["train.txt.query", "train.txt.group"])
def test_sizes_beside_the_file_tell_its_queries(tmp_path, name):
    path = write(tmp_path, "# a comment\n1 1:1 2:3\n0 2:1\n2 1:4\n")
    with pytest.raises(DataFormatError, match=r"line 2: no query id: after the label comes '1:1', but .*FILE.query"):
        load_letor(path)
    write(tmp_path, "2\n\n1\n", name)
    data = load_letor(path)
    assert data.qid.tolist() == [1, 1, 2]
    assert data.y.tolist() == [1, 0, 2]
    assert data.X.tolist() == [[1, 3], [0, 1], [4, 0]]
    other = write(tmp_path, "1 1:1\n", "other.txt")
    write(tmp_path, "1\n", "other.txt.query")
    assert load_letor([path, other]).qid.tolist() == [1, 1, 2, 3]
    with_ids = write(tmp_path, "1 qid:7 1:1\n", "ids.txt")
    assert load_letor([with_ids, path]).qid.tolist() == [7, 8, 8, 9]


def test_ids_in_the_lines_count_where_sizes_are_beside(tmp_path):
    path = write(tmp_path, "1 qid:5 1:1\n0 qid:4 2:1\n")
    write(tmp_path, "2\n", "train.txt.query")
    assert load_letor(path).qid.tolist() == [5, 4]
    with pytest.raises(
        DataFormatError, match="line 1: 'qid:5' is a query id, but .* a second file has the sizes of queries"
    ):
        load_letor(path, groups=tmp_path / "train.txt.query")
    path = write(tmp_path, "1 1:1\n0 qid:4 2:1\n")
    with pytest.raises(DataFormatError, match="line 2: 'qid:4' is a query id, but the first line has no query id"):
        load_letor(path)


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ("2\n2\n", "the sizes of 2 queries add up to 4, but .*train.txt has 3 rows"),
        ("2\n", "the sizes of 1 queries add up to 2"),
        ("", "the sizes of 0 queries add up to 0"),
        ("3\n0\n", "line 2: '0' is not the size of a query: write one positive whole number per line"),
        ("2 1\n", "line 1: '2 1' is not the size"),
        ("1.0\n2\n", "line 1: '1.0' is not the size"),
        ("-3\n", "line 1: '-3' is not the size"),
        ("٣\n", "line 1: .* is not the size"),
    ],
)
def test_sizes_that_cannot_be(tmp_path, sizes, said):
    path = write(tmp_path, "1 1:1\n0 2:1\n2 1:4\n")
    write(tmp_path, sizes, "sizes")
    with pytest.raises(DataFormatError, match=said) as caught:
        load_letor(path, groups=tmp_path / "sizes")
    assert caught.value.path.name == "sizes"


def test_files_of_sizes_that_do_not_fit(tmp_path):
    path = write(tmp_path, "1 1:1\n")
    for name in ("train.txt.query", "train.txt.group"):
        write(tmp_path, "1\n", name)
    with pytest.raises(InputError, match="both have the sizes of queries of .*train.txt: remove one"):
        load_letor(path)
    assert load_letor(path, groups=tmp_path / "train.txt.group").qid.tolist() == [1]
    with pytest.raises(InputError, match="groups must be a file for each of the 2 data files, got 1"):
        load_letor([path, path], groups=tmp_path / "train.txt.group")
    with pytest.raises(InputError, match="there is no file .*missing"):
        load_letor(path, groups=tmp_path / "missing")


def test_a_file_that_tells_no_queries_may_be_one(tmp_path):
    paths = [write(tmp_path, "1:1\n2:1\n", "a"), write(tmp_path, "0 1:4\n", "b")]
    assert load_letor(paths, labels="optional", queries="optional").qid.tolist() == [1, 1, 2]


@pytest.mark.parametrize("path", ["", ".", "/", "..", "x" * 300, "a\0b"])
def test_names_that_have_nothing_beside_them(path):
    with pytest.raises(InputError, match="is a directory|there is no file|cannot read"):
        load_letor(path)


def test_float32(tmp_path):
    path = write(tmp_path, "1 qid:1 1:0.1 2:1e-50\n0 qid:1 2:3\n")
    for sparse in (True, False):
        data = load_letor(path, dtype=np.float32, sparse=sparse)
        assert data.X.dtype == np.float32
        assert data.y.dtype == np.float64
        X = data.X.toarray() if sparse else data.X
        assert X.tolist() == [[np.float32(0.1), 0], [0, 3]]
    path = write(tmp_path, "1 qid:1 1:0.1\n# x\n0 qid:1 2:3 5:1e39\n")
    with pytest.raises(DataFormatError, match=r"line 3: the value of feature 5, 1e\+39, is beyond float32: read the"):
        load_letor(path, dtype="float32")
    for wrong in ("float16", int, None, "nonsense", object()):
        with pytest.raises(InputError, match="dtype must be float64 or float32"):
            load_letor(path, dtype=wrong)


def test_names_of_features_come_with_the_data(tmp_path):
    paths = [tmp_path / "a", tmp_path / "b"]
    for k, path in enumerate(paths):
        write_letor(path, [[0.5, 2.0]], [1], [k], feature_names=["tf", "idf"])
    assert load_letor(paths).feature_names == ("tf", "idf")
    assert load_letor(paths[0], n_features=3).feature_names is None
    assert load_letor([paths[0], write(tmp_path, "1 qid:9 1:2\n", "c")]).feature_names == ("tf", "idf")
    write_letor(paths[1], [[0.5, 2.0]], [1], [1], feature_names=["tf", "length"])
    with pytest.raises(InputError, match="feature 2 is 'idf' in .*a, but 'length' in .*b: write the columns"):
        load_letor(paths)
    named = write(tmp_path, "# feature 1 = a\n# feature 2 = b\n# feature 3 = c\n1 qid:1 1:1\n", "d")
    assert load_letor(named).X.shape == (1, 3)
    other = write(tmp_path, "# feature 7 = of another meaning\n1 qid:1 1:1\n", "e")
    assert load_letor(other).feature_names is None


form = st.tuples(st.booleans(), st.booleans())
numbers = st.floats(-9, 9).map(lambda number: round(number, 3))
rows = st.lists(st.tuples(st.booleans(), st.lists(st.none() | numbers, max_size=4)), min_size=1, max_size=8)


@given(form, rows, st.sampled_from([1, 3, 13, 2**22]), st.booleans())
@settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_form_is_read_alike_in_any_block_compiled_or_not(tmp_path, form, rows, block, compiled):
    labeled, with_ids = form
    lines, wanted = [], []
    for k, (label, values) in enumerate(rows):
        has_label = labeled or (label and k % 2 == 0)
        cells = [f"{j}:{v!r}" for j, v in enumerate(values, 1) if v is not None]
        start = ["2.5"] * has_label + [f"qid:{k // 3 + 1}"] * with_ids
        if not start and not cells:
            cells = ["1:0"]
        lines.append(" ".join([*start, *cells, "# comment"]) + "\n")
        wanted.append(
            (2.5 if has_label else np.nan, k // 3 + 1, [v or 0.0 for v in values] + [0.0] * (4 - len(values)))
        )
    path = write(tmp_path, "".join(lines))
    sizes = [len(list(group)) for _, group in groupby(query for _, query, _ in wanted)]
    write(tmp_path, "".join(f"{size}\n" for size in sizes), "train.txt.query")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK", block)
        patch.setattr(letor_block, "WORTH_COMPILING", 0 if compiled else 2**40)
        data = load_letor(path, n_features=4, labels="required" if labeled else "optional", sparse=False)
    assert np.array_equal(data.y, [label for label, _, _ in wanted], equal_nan=True)
    assert data.qid.tolist() == [query for _, query, _ in wanted]
    assert data.X.tolist() == [values for _, _, values in wanted]


@pytest.mark.parametrize("sparse", [None, True, False])
@pytest.mark.parametrize("seed", range(6))
def test_rows_are_the_same_whatever_they_are_kept_as_on_the_way(tmp_path, monkeypatch, sparse, seed):
    """Widths that grow from block to block, more often than rows are moved apart, and rows of any density."""
    rng = np.random.default_rng(seed)
    widths = np.sort(rng.integers(0, 40, 30)) if seed % 2 else np.full(30, 12)
    X = np.zeros((30, 41))
    for row, width in zip(X, widths.tolist(), strict=True):
        row[: width + 1] = rng.normal(size=width + 1) * (rng.random(width + 1) < rng.choice([0.1, 1.0]))
    text = "".join(
        f"1 qid:{k} " + " ".join(f"{j}:{v!r}" for j, v in enumerate(row, 1) if v) + "\n"
        for k, row in enumerate(X.tolist(), 1)
    )
    path = write(tmp_path, text)
    for block in (40, 300, 2**22):
        for at_once in (1, 100, 2**20):
            monkeypatch.setattr("structsvm.data.blocks.BLOCK", block)
            monkeypatch.setattr("structsvm.data.letor.growing._AT_ONCE", at_once)
            data, again = load_letor(path, sparse=sparse), load_letor_parts([path], n_features=41, sparse=sparse)[0]
            matrices = [matrix if isinstance(matrix, np.ndarray) else matrix.toarray() for matrix in (data.X, again.X)]
            assert (matrices[0] == X[:, : matrices[0].shape[1]]).all()
            assert not X[:, matrices[0].shape[1] :].any()
            assert (matrices[1] == X).all()
            if sparse is not None:
                assert isinstance(data.X, np.ndarray) != sparse


@pytest.mark.parametrize("compiled", [False, True])
def test_features_may_be_counted_from_zero(tmp_path, monkeypatch, compiled):
    monkeypatch.setattr(letor_block, "WORTH_COMPILING", 0 if compiled else 2**40)
    path = write(tmp_path, "# feature 0 = tf\n# feature 1 = age\n# feature 2 = x\n1 qid:1 0:3 2:4\n0 qid:1 1:5\n")
    data = load_letor(path, zero_based=True)
    assert data.X.tolist() == [[3, 0, 4], [0, 5, 0]]
    assert data.feature_names == ("tf", "age", "x")
    one_based = write(tmp_path, "1 qid:1 1:3 3:4\n", "one.txt")
    assert load_letor(one_based, zero_based=True).X.tolist() == [[0, 3, 0, 4]]
    cache = tmp_path / "kept"
    assert [load_letor(one_based, zero_based=way, cache=cache).X.shape[1] for way in (True, False, True)] == [4, 3, 4]
    for line, message in {
        "1 qid:1 -1:3": "index in '-1:3' must be from 0",
        "1 qid:1 2:1 1:1": "feature 1 follows feature 2",
        "1 qid:1 0:1 0:1": "feature 0 follows feature 0",
        "1 qid:1 3:1": "feature 3 is beyond n_features=3; pass n_features=4",
        "1 qid:1 0:1e39": "the value of feature 0, 1e.39, is beyond float32",
    }.items():
        path = write(tmp_path, f"{line}\n")
        with pytest.raises(DataFormatError, match=message):
            load_letor(path, zero_based=True, n_features=3, dtype="float32")


@pytest.mark.parametrize("text", ["2\n2\n0.5\n", "2 # q1\n\n0.5"])
def test_weights_beside_the_file_are_those_of_rows_or_queries(tmp_path, text):
    path = write(tmp_path, "1 qid:7 1:1\n0 qid:7 1:2\n1 qid:3 1:4\n")
    assert load_letor(path).sample_weight is None
    write(tmp_path, text, "train.txt.weight")
    for cache in (None, tmp_path / "kept", tmp_path / "kept"):
        weights = load_letor(path, cache=cache).sample_weight
        assert weights is not None
        assert weights.tolist() == [2, 2, 0.5]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\n-1\n1\n", "line 2: '-1' is not a weight: write one number of at least 0 per line"),
        ("1\n1 1\n1\n", "line 2: '1 1' is not a weight"),
        ("1\nnan\n1\n", "line 2: 'nan' is not a weight"),
        ("1\n1\n1\n1\n", "it has 4 weights, but the data have 3 rows and 2 queries: write one weight for each row"),
    ],
)
def test_weights_that_do_not_fit_are_refused(tmp_path, text, message):
    path = write(tmp_path, "1 qid:7 1:1\n0 qid:7 1:2\n1 qid:3 1:4\n")
    write(tmp_path, text, "train.txt.weight")
    with pytest.raises(DataFormatError, match=f"train.txt.weight.*{message}"):
        load_letor(path)
    other = write(tmp_path, "1 qid:8 1:1\n", "more.txt")
    with pytest.raises(InputError, match="train.txt.weight has weights, but there is no .*more.txt.weight: add"):
        load_letor([path, other])


def test_other_files_of_lightgbm_are_named(tmp_path):
    path = write(tmp_path, "1 qid:7 1:1\n")
    for suffix in ("position", "init"):
        write(tmp_path, "1\n", f"train.txt.{suffix}")
    with pytest.warns(UserWarning, match="not read: .*train.txt.position, .*train.txt.init. Rankers learn without"):
        load_letor(path)


def test_each_file_has_its_own_weights(tmp_path):
    one, two = tmp_path / "one.txt", tmp_path / "two.txt"
    one.write_text("1 qid:1 1:1\n  # a note\n0 qid:1 1:2\n")
    two.write_text("1 qid:2 1:1\n0 qid:2 1:2\n\n1 qid:3 1:1\n")
    (tmp_path / "one.txt.weight").write_text("5\n6\n")
    (tmp_path / "two.txt.weight").write_text("7\n8\n")
    assert load_letor([one, two]).sample_weight.tolist() == [5.0, 6.0, 7.0, 7.0, 8.0]
    # Three weights are one for each query of both files.
    (tmp_path / "two.txt.weight").write_text("7\n")
    with pytest.raises(
        DataFormatError, match=r"two\.txt\.weight: it has 1 weight, but the data have 3 rows and 2 queries"
    ):
        load_letor([one, two])
