"""Runs and judgments in data frames."""

from typing import Any

import pandas as pd
import pytest

from structsvm.data import Qrels, Run, join_runs, load_digits_runs, pool_runs
from structsvm.evaluation import compare_runs, rank_run
from structsvm.exceptions import InputError
from structsvm.fusion import fuse_runs
from structsvm.metrics import AP

PYTERRIER = {"qid": "qid", "doc_ids": "docno", "scores": "score", "grades": "label"}
IR_MEASURES = {"qid": "query_id", "doc_ids": "doc_id", "scores": "score", "grades": "relevance"}


def framed(of: Run | Qrels, names: dict[str, str] = PYTERRIER) -> pd.DataFrame:
    """Return rows in another order, with a column that is not read."""
    found = {name: getattr(of, each) for each, name in names.items() if hasattr(of, each)}
    return pd.DataFrame({**found, "rank": 0}).sample(frac=1.0, random_state=0)


def same(run: Run, other: Run) -> bool:
    return all(getattr(run, name).tolist() == getattr(other, name).tolist() for name in ("qid", "doc_ids", "scores"))


@pytest.mark.parametrize("names", [PYTERRIER, IR_MEASURES])
def test_functions_take_frames_as_they_take_runs_and_judgments(names: dict[str, str]) -> None:
    (old, new, *_), qrels = load_digits_runs(n_queries=4, n_candidates=30, depth=20)
    frames, judged = [framed(run, names) for run in (old, new)], framed(qrels, names)
    assert same(Run.from_frame(frames[0]), old)
    assert AP().of(rank_run(frames[0], judged)).values.tolist() == AP().of(rank_run(old, qrels)).values.tolist()
    assert same(
        fuse_runs(frames, "weighted-comb-sum", qrels=judged), fuse_runs([old, new], "weighted-comb-sum", qrels=qrels)
    )
    assert pool_runs(frames, judged).run_names == join_runs(frames).run_names == ("run 1", "run 2")
    wanted = compare_runs([new], qrels, old, n_resamples=100).rows[0].paired
    (apart,) = compare_runs([frames[1]], judged, frames[0], n_resamples=100).rows
    (among,) = compare_runs(frames, judged, frames[0], n_resamples=100).rows
    (named,) = compare_runs(frames, judged, "run 1", n_resamples=100).rows
    assert [apart.paired, among.paired, named.paired] == [wanted] * 3
    assert (apart.run, among.run, named.run) == ("run 1", "run 2", "run 2")


def test_kinds_of_columns() -> None:
    frame = pd.DataFrame(
        {"qid": pd.array([1, 1], "Int64"), "docno": pd.array(["a", "b"], "string"), "label": [0.0, 1.0]}
    )
    assert Qrels.from_frame(frame).labels([1], ["b"]).tolist() == [1.0]
    frame["label"] = pd.array([0, 1], "Int64")
    assert Qrels.from_frame(frame.astype({"docno": "category"})).labels([1], ["b"]).tolist() == [1.0]


RESULTS = {"qid": ["1", "1"], "docno": ["a", "b"], "score": [2.0, 1.0]}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"docno": None},
            "must have the columns qid and docno, as in PyTerrier, or query_id and doc_id, as in ir_measures",
        ),
        ({"docno": None}, "the data frame of run 'run' must .*; its columns are qid, score"),
        ({"score": None}, "the data frame of run 'run' must have a column score; its columns are qid, docno"),
        ({"score": [1.0, float("nan")]}, "column 'score': row 1 has no value; fill it in or leave the row out"),
        ({"qid": ["1", None]}, "column 'qid': row 1 has no value"),
        ({"qid": [1.0, 2.0]}, "column 'qid': ids must be text or whole numbers, not fractions, got float64"),
        ({"docno": ["a", "a"]}, "run 'run' has document 'a' twice in topic '1', again in row 1"),
        ({"score": ["high", "low"]}, "scores must be numbers"),
    ],
)
def test_frames_that_are_no_runs(changed: dict[str, Any], message: str) -> None:
    columns = {name: values for name, values in {**RESULTS, **changed}.items() if values is not None}
    with pytest.raises(InputError, match=message):
        Run.from_frame(pd.DataFrame(columns))


def test_frames_that_are_no_judgments_and_lists_that_are_none() -> None:
    frame = pd.DataFrame(RESULTS)
    with pytest.raises(InputError, match="the data frame of judgments must have a column label or relevance"):
        Qrels.from_frame(frame)
    with pytest.raises(InputError, match="document 'a' is judged twice for topic '1'"):
        Qrels.from_frame(pd.DataFrame({"qid": [1, 1], "docno": ["a", "a"], "label": [1, 0]}))
    with pytest.raises(InputError, match="runs must be a list of runs, such as \\[frame, other\\], got one data frame"):
        join_runs(frame)
