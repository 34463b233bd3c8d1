"""Pools that are made from arrays."""

import numpy as np
import pytest

from structsvm.data import Pool, load_qrels, load_runs, pool_runs
from structsvm.exceptions import InputError
from structsvm.protocols.experiment import Settings
from structsvm.protocols.experiment.plan import ExperimentPlan
from tests.protocols.experiment.conftest import scored_documents, write_trec

X = np.array([[1.0], [2.0], [3.0], [np.nan], [5.0]])
Y = [0, 1, 2, 0, 0]
QID = ["b", "a", "b", "a", "c"]


def test_rows_of_a_topic_are_together_and_in_the_tie_order():
    made = Pool.from_arrays(X, Y, QID, doc_ids=["d1", "d2", "d3", "d4", "d5"])
    assert made.topics == ("b", "a")
    assert made.qid.tolist() == ["b", "b", "a", "a"]
    assert made.X[:, 0] == pytest.approx([3.0, 1.0, np.nan, 2.0], nan_ok=True)
    assert made.y.tolist() == [2.0, 0.0, 0.0, 1.0]
    assert Pool.from_arrays(X, Y, QID).X[:2, 0].tolist() == [1.0, 3.0]
    assert made.run_names == ("f1",)


def test_topics_without_relevant_documents_are_left_out_and_said():
    made = Pool.from_arrays(X, Y, QID, left_out={"z": "no run has it"})
    assert made.left_out == {"z": "no run has it", "c": "no document in its pool is relevant"}


def test_the_judged_count_in_the_denominators_of_trec_eval():
    assert Pool.from_arrays(X, Y, QID).relevant_judged == {"b": 1, "a": 1}
    assert Pool.from_arrays(X, Y, QID, judged={"a": 3, "b": 1, "c": 0}).relevant_judged == {"b": 1, "a": 3}
    with pytest.raises(InputError, match="query a has 1 relevant documents, but judged says 0"):
        Pool.from_arrays(X, Y, QID, judged={"a": 0, "b": 1, "c": 0})


def fingerprint(pool):
    return ExperimentPlan.of(pool, Settings(trials=1, train=1, validation=1, models="CombSUM")).header().data


def test_the_fingerprint_tells_data_apart():
    doubled = [*QID, "d"]
    scores, labels = np.vstack([X, [[1.0]]]), [*Y, 1]
    made = Pool.from_arrays(scores, labels, doubled)
    others = [
        Pool.from_arrays(np.where(scores == 2.0, 2.5, scores), labels, doubled),
        Pool.from_arrays(scores, [1, 1, 2, 0, 0, 1], doubled),
        Pool.from_arrays(scores, labels, ["b", "x", "b", "x", "c", "d"]),
        Pool.from_arrays(scores, labels, doubled, run_names=["other"]),
        Pool.from_arrays(scores, labels, doubled, judged={"a": 3, "b": 1, "c": 0, "d": 1}),
    ]
    assert fingerprint(made) == fingerprint(Pool.from_arrays(scores.copy(), labels, doubled))
    assert len({fingerprint(each) for each in (made, *others)}) == 6


def test_the_pool_of_runs_has_the_tie_order_of_trec_eval(tmp_path):
    scores, y, qid = scored_documents(6, 20, 4)
    write_trec(tmp_path, scores, y, qid)
    pool = pool_runs(load_runs(tmp_path / "runs"), load_qrels(tmp_path / "qrels.txt"))
    by_ids = Pool.from_arrays(
        pool.X, pool.y, pool.qid, run_names=pool.run_names, doc_ids=pool.doc_ids, judged=pool.relevant_judged
    )
    assert fingerprint(pool) == fingerprint(by_ids)
    assert list(pool.relevant_judged.values()) == (y.reshape(6, 20).sum(axis=1) + np.eye(6)[0]).tolist()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": X[:, 0]}, "X must be a matrix"),
        ({"y": [1, 0]}, r"X has 5 rows, but y has shape \(2,\)"),
        ({"X": np.where(X == 2.0, np.inf, X)}, "X must not be infinite: row 1 of f1 is. Write NaN"),
        ({"y": [0, 1, np.nan, 0, 0]}, "y must be finite: row 2 is not"),
        ({"y": [0, 0, 0, 0, -1]}, "no query has a relevant document"),
        ({"run_names": ["a", "b"]}, "X has 1 columns, but run_names has 2 names"),
        ({"X": np.hstack([X, X]), "run_names": ["a", "a"]}, "run_names has 'a' twice"),
        ({"doc_ids": ["d1"]}, "doc_ids must be one document id per row"),
        ({"qid": [1, 2]}, "qid must be one query id per row"),
    ],
)
def test_what_does_not_fit_is_refused(change, message):
    with pytest.raises(InputError, match=message):
        Pool.from_arrays(**({"X": X, "y": Y, "qid": QID} | change))
