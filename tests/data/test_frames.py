"""Runs and judgments in data frames and dictionaries, and arrays with missing ids."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest

from structsvm.data import Qrels, Run, join_runs, load_digits_runs, pool_runs
from structsvm.evaluation import compare_runs, rank_run
from structsvm.exceptions import InputError
from structsvm.fusion import fuse_runs
from structsvm.metrics import AP

PYTERRIER = {"qid": "qid", "doc_ids": "docno", "scores": "score", "grades": "label"}
IR_MEASURES = {"qid": "query_id", "doc_ids": "doc_id", "scores": "score", "grades": "relevance"}


def as_dict(of: Run | Qrels) -> dict[Any, dict[str, Any]]:
    """Return ``{topic: {document: value}}`` with integers as topics and numbers of several types."""
    values: dict[Any, dict[str, Any]] = {}
    rows = zip(of.qid.tolist(), of.doc_ids.tolist(), of.scores if isinstance(of, Run) else of.grades, strict=True)
    for row, (topic, document, value) in enumerate(rows):
        kind = (np.float32, float, np.float64)[row % 3] if value % 1 else (int, np.int8, np.float64)[row % 3]
        values.setdefault(int(topic), {})[document] = kind(value)
    return values


def framed(of: Run | Qrels, names: dict[str, str] = PYTERRIER) -> pd.DataFrame:
    """Return rows in another order, with a column that is not read."""
    columns = {name: getattr(of, attribute) for attribute, name in names.items() if hasattr(of, attribute)}
    return pd.DataFrame({**columns, "rank": 0}).sample(frac=1.0, random_state=0)


def same(run: Run, other: Run) -> bool:
    return all(getattr(run, name).tolist() == getattr(other, name).tolist() for name in ("qid", "doc_ids", "scores"))


@pytest.mark.parametrize("convert", [framed, lambda of: framed(of, IR_MEASURES), as_dict])
def test_functions_take_frames_and_dictionaries_as_they_take_runs(convert: Callable[[Run | Qrels], Any]) -> None:
    (old, new, *_), qrels = load_digits_runs(n_queries=4, n_candidates=30, depth=20)
    frames, judged = [convert(run) for run in (old, new)], convert(qrels)
    assert same((Run.from_dict if isinstance(frames[0], dict) else Run.from_frame)(frames[0]), old)
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
        ({"qid": [1.0, 2.5]}, "column 'qid': ids must be text or whole numbers, not fractions, got 2.5 in row 1"),
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
    with pytest.raises(InputError, match="runs must be a list of runs, such as \\[run, other\\], got one data frame"):
        join_runs(frame)
    with pytest.raises(InputError, match="runs must be a list of runs, such as \\[run, other\\], got one dictionary"):
        join_runs({"1": {"a": 1.0}})


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ({}, "the dictionary of run 'run' is empty: it must map each topic to the scores of its documents"),
        ({"1": {}}, "run 'run', topic '1' has no documents: leave the topic out"),
        ({"a": 1}, r"topic 'a': expected a dictionary from document to score, such as \{'d1': 2\}, got 1"),
        ({"1": ["a"]}, r"topic '1': expected a dictionary from document to score"),
        ({"1": {"a": {"b": 1}}}, "topic '1', document 'a': the score must be a finite number, got {'b': 1}"),
        ({"1": {"a": float("nan")}}, "document 'a': the score must be a finite number, got nan"),
        ({"1": {"a": np.float32("inf")}}, "document 'a': the score must be a finite number, got"),
        ({"1": {"a": "2"}}, "document 'a': the score must be a finite number, got '2'"),
        ({"1": {"a": None}}, "document 'a': the score must be a finite number, got None"),
        ({"1": {"a": 10**400}}, "scores must be numbers"),
        ({1: {"a": 1}, "1": {"b": 1}}, "has topic '1' as text and as a number: merge the two"),
        ({"1": {1: 1, "1": 2}}, "document '1' .*twice .* topic '1'"),
        ({None: {"a": 1}}, "qid: row 0 has no id but None"),
        ({"1": {"a": 1, None: 1}}, "doc_ids: row 1 has no id but None"),
        ({"1": {("a", "b"): 1}}, "doc_ids must have one id per row"),
    ],
)
def test_faults_of_dictionaries(scores: Mapping[Any, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Run.from_dict(scores)
    with pytest.raises(InputError, match=message.replace("run 'run'", ".*").replace("score", "(score|grade)")):
        rank_run({"1": {"a": 1.0}}, scores)


def test_grades_of_a_dictionary_are_whole_numbers() -> None:
    assert Qrels.from_dict({1: {"a": -1, "b": np.int8(3), "c": True}}).grades.tolist() == [-1.0, 3.0, 1.0]
    with pytest.raises(InputError, match="grades must be whole numbers, such as 0, 1 and 2: row 1 has 0.5"):
        Qrels.from_dict({1: {"a": 1, "b": 0.5}})


@pytest.mark.parametrize(
    "ids",
    [
        ["a", None],
        ["a", float("nan")],
        [1, None],
        [1.0, float("nan")],
        ("a", pd.NA),
        np.array(["a", None], dtype=object),
        np.array(["2020-01-01", "NaT"], dtype="M8[D]"),
        pd.Series(["a", None]),
        pd.array(["a", None], "string"),
        pd.array([1, None], "Int64"),
        pd.Categorical(["a", None]),
        np.ma.array([1, 2], mask=[False, True]),
    ],
)
def test_missing_ids_are_errors(ids: Any) -> None:
    for make in (Run.from_scores, Qrels.from_grades):
        name = ("run",) if make == Run.from_scores else ()
        with pytest.raises(InputError, match=r"doc_ids: row 1 has no id but|doc_ids is a masked array"):
            make(*name, ["1", "1"], ids, [1, 2])
        with pytest.raises(InputError, match=r"qid: row 1 has no id but|qid is a masked array"):
            make(*name, ids, ["a", "b"], [1, 2])


def test_a_missing_id_among_the_wanted_topics_is_an_error() -> None:
    with pytest.raises(InputError, match="topics: row 1 has no id but None"):
        join_runs([Run.from_dict({"1": {"a": 1.0}})], topics=["1", None])  # type: ignore[list-item]


def test_topics_that_differ_by_leading_zeros_are_reported() -> None:
    run = {"1": {"a": 1.0}, "10": {"a": 1.0}, "q": {"a": 1.0}}
    with pytest.warns(UserWarning, match="run 'run': topic '1' is not judged, but '01' is"):
        assert rank_run(run, {"01": {"a": 1}, "10": {"a": 1}}).ids.tolist() == ["10"]
    for judged in ({"1": {"a": 1}, "01": {"b": 1}}, {"10": {"a": 1}, "2": {"b": 1}}):
        rank_run(run, judged)
