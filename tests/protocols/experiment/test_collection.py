"""The data of an experiment."""

import numpy as np
import pytest

from structsvm.data import load_pool
from structsvm.exceptions import InputError
from structsvm.protocols.experiment import Collection
from tests.protocols.experiment.conftest import scored_documents, write_trec

X = np.array([[1.0], [2.0], [3.0], [np.nan], [5.0]])
Y = [0, 1, 2, 0, 0]
QID = ["b", "a", "b", "a", "c"]


def test_rows_of_a_query_are_together_and_in_the_tie_order():
    made = Collection.from_arrays(X, Y, QID, doc_ids=["d1", "d2", "d3", "d4", "d5"])
    assert made.ids == ("b", "a")
    assert made.ptr.tolist() == [0, 2, 4]
    assert made.X[:, 0] == pytest.approx([3.0, 1.0, np.nan, 2.0], nan_ok=True)
    assert made.relevant.tolist() == [True, False, False, True]
    assert Collection.from_arrays(X, Y, QID).X[:2, 0].tolist() == [1.0, 3.0]
    assert made.functions == ("f1",)
    assert made.queries.rows([1, 0]).tolist() == [2, 3, 0, 1]


def test_queries_without_relevant_documents_are_left_out_and_said():
    made = Collection.from_arrays(X, Y, QID, left_out={"z": "no run has it"})
    assert made.left_out == {"z": "no run has it", "c": "no document in its pool is relevant"}


def test_the_judged_count_in_the_denominators_of_trec_eval():
    assert Collection.from_arrays(X, Y, QID).judged.tolist() == [1, 1]
    assert Collection.from_arrays(X, Y, QID, judged={"a": 3, "b": 1, "c": 0}).judged.tolist() == [1, 3]
    with pytest.raises(InputError, match="query a has 1 relevant documents, but only 0 judged so"):
        Collection.from_arrays(X, Y, QID, judged={"a": 0, "b": 1, "c": 0})


def test_the_fingerprint_tells_data_apart():
    made = Collection.from_arrays(X, Y, QID)
    assert made.fingerprint() == Collection.from_arrays(X.copy(), list(Y), QID).fingerprint()
    others = [
        Collection.from_arrays(np.where(X == 2.0, 2.5, X), Y, QID),
        Collection.from_arrays(X, [1, 1, 2, 0, 0], QID),
        Collection.from_arrays(X, Y, ["b", "x", "b", "x", "c"]),
        Collection.from_arrays(X, Y, QID, functions=["other"]),
        Collection.from_arrays(X, Y, QID, judged={"a": 3, "b": 1, "c": 0}),
    ]
    assert len({made.fingerprint(), *(each.fingerprint() for each in others)}) == 6


def test_the_pool_of_runs_has_the_tie_order_of_trec_eval(tmp_path):
    X, y, qid = scored_documents(6, 20, 4)
    write_trec(tmp_path, X, y, qid)
    pool = load_pool(tmp_path / "runs", tmp_path / "qrels.txt")
    made = Collection.of_pool(pool)
    by_ids = Collection.from_arrays(
        pool.X, pool.y, pool.qid, functions=pool.run_names, doc_ids=pool.doc_ids, judged=pool.relevant_judged
    )
    assert made.fingerprint() == by_ids.fingerprint()
    assert made.judged.tolist() == (y.reshape(6, 20).sum(axis=1) + np.eye(6)[0]).tolist()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": X[:, 0]}, "X must be a matrix"),
        ({"y": [1, 0]}, r"X has 5 rows but y has shape \(2,\)"),
        ({"X": np.where(X == 2.0, np.inf, X)}, "X must not be infinite: row 1 of f1 is. NaN marks"),
        ({"y": [0, 1, np.nan, 0, 0]}, "y must be finite: row 2 is not"),
        ({"y": [0, 0, 0, 0, -1]}, "no query has a relevant document"),
        ({"functions": ["a", "b"]}, "X has 1 columns, but there are 2 names"),
        ({"X": np.hstack([X, X]), "functions": ["a", "a"]}, "two base functions are called 'a'"),
        ({"doc_ids": ["d1"]}, "doc_ids must hold one document id per row"),
        ({"qid": [1, 2]}, "qid must hold one query id per row"),
    ],
)
def test_what_does_not_fit_is_refused(change, message):
    with pytest.raises(InputError, match=message):
        Collection.from_arrays(**({"X": X, "y": Y, "qid": QID} | change))
