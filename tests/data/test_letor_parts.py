"""Several LETOR data sets of the same columns."""

import numpy as np
import pytest
import scipy.sparse as sp

from structsvm.data import load_letor, write_letor
from structsvm.data.letor.reading import load_letor_parts
from structsvm.exceptions import InputError


@pytest.fixture
def files(tmp_path):
    texts = (
        "2 qid:1 1:1 2:2 # docid = a\n0 qid:1 3:1 # docid = b\n",
        "1 qid:2 1:3 # docid = c\n",
        "0 qid:3 4:5 # docid = d\n",
    )
    paths = [tmp_path / f"{k}.txt" for k in range(3)]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    return paths


def test_all_have_the_columns_of_the_widest(files):
    first, second = load_letor_parts([files[:2], files[2]], sparse=False, doc_ids=True)
    whole = load_letor(files, sparse=False, doc_ids=True)
    for name in ("X", "y", "qid", "doc_ids"):
        joined = np.concatenate([getattr(first, name), getattr(second, name)])
        assert joined.tolist() == getattr(whole, name).tolist()
    assert (first.X.shape, second.X.shape) == ((3, 4), (1, 4))
    assert [part.X.shape[1] for part in load_letor_parts(files, n_features=9)] == [9, 9, 9]


def test_all_are_dense_or_all_sparse(files):
    wide = files[2].with_name("wide.txt")
    wide.write_text("1 qid:9 4000:1\n")
    narrow, one = load_letor_parts([files[0], wide])
    assert sp.issparse(narrow.X)
    assert sp.issparse(one.X)
    assert isinstance(load_letor(files[0]).X, np.ndarray)


def test_a_query_in_two_parts_is_refused(files):
    copy = files[0].with_name("copy.txt")
    copy.write_text(files[0].read_text())
    with pytest.raises(InputError, match=r"1 query, such as 1, may be in one file only, but .*0.txt and .*copy.txt"):
        load_letor_parts([files[0], copy])


def test_parts_whose_features_have_other_names_are_refused(tmp_path):
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for k, (path, names) in enumerate(zip(paths, ["ab", "ba"], strict=True)):
        write_letor(path, [[1, 2]], [1], [k], feature_names=list(names))
    with pytest.raises(InputError, match=r"feature 1 is 'a' in .*a.txt, but 'b' in .*b.txt"):
        load_letor_parts(paths)


def test_queries_of_sizes_are_numbered_on_from_part_to_part(tmp_path, files):
    plain = [tmp_path / f"{name}.txt" for name in ("train", "vali", "test")]
    for path, suffix in zip(plain, (".query", ".group", ".query"), strict=True):
        path.write_text("1 1:1\n0 2:1\n0 1:2\n")
        path.with_name(path.name + suffix).write_text("2\n1\n")
    assert [part.qid.tolist() for part in load_letor_parts(plain)] == [[1, 1, 2], [3, 3, 4], [5, 5, 6]]
    assert [part.qid.tolist() for part in load_letor_parts([files[2], plain[0]])] == [[3], [4, 4, 5]]
