"""Runs against a baseline, in Python."""

import numpy as np
import pytest

from structsvm.data import Qrels, Run
from structsvm.evaluation import compare_runs, rank_run
from structsvm.evaluation.significance import holm, paired_tests
from structsvm.exceptions import InputError
from structsvm.foundation.tables.formats import as_json
from structsvm.foundation.tables.table import as_csv, as_text
from structsvm.metrics import AP, Bpref, Judged, P, parse_measure, rank_lists

QRELS = Qrels.from_grades(
    [topic for topic in range(12) for _ in range(6)], list("abcdef") * 12, [1, 0, 0, 2, 0, 0] * 12
)


def random_run(name: str, seed: int, topics: range = range(12)) -> Run:
    scores = np.random.default_rng(seed).random(6 * len(topics))
    return Run.from_scores(name, [topic for topic in topics for _ in range(6)], list("abcdef") * len(topics), scores)


OLD, NEW, FEW = random_run("old", 0), random_run("new", 1), random_run("few", 2, range(8, 14))


def test_rows_are_paired_tests_of_the_values():
    result = compare_runs([NEW, FEW], QRELS, OLD, ["map", P(2)], n_resamples=200, random_state=3)
    assert [(row.run, row.measure) for row in result.rows] == [
        ("new", "map"), ("new", "p@2"), ("few", "map"), ("few", "p@2"),
    ]  # fmt: skip
    row = result.rows[0]
    first, second = (AP().of(rank_run(run, QRELS)).values for run in (NEW, OLD))
    assert row.paired == paired_tests(first, second, n_resamples=200, random_state=3)
    assert (row.mean, row.baseline_mean) == (pytest.approx(first.mean()), pytest.approx(second.mean()))
    few = result.rows[2]
    assert few.paired.queries == 4
    assert few.left_out == tuple(map(str, (0, 1, 2, 3, 4, 5, 6, 7))) or len(few.left_out) == 8
    assert few.baseline_mean == pytest.approx(AP().of(rank_run(OLD, QRELS)).values[8:].mean())
    assert [row.holm["wilcoxon"] for row in result.rows] == holm(
        [row.paired.p_values["wilcoxon"] for row in result.rows]
    )
    assert result.rows[0].bonferroni["t"] == pytest.approx(min(1.0, 4 * result.rows[0].paired.p_values["t"]))


def test_topics_are_paired_by_id_whatever_their_order():
    turned = random_run("turned", 1, range(11, -1, -1))
    (row,) = compare_runs([turned], QRELS, OLD, n_resamples=100).rows
    ids, values = AP().of(rank_run(turned, QRELS))
    base = dict(zip(*AP().of(rank_run(OLD, QRELS)), strict=True))
    assert row.paired.difference == pytest.approx(np.mean([v - base[k] for k, v in zip(ids, values, strict=True)]))


def test_a_baseline_by_name_is_not_compared_with_itself():
    by_name = compare_runs([OLD, NEW], QRELS, "old", "map", n_resamples=100)
    assert by_name == compare_runs([OLD, NEW], QRELS, OLD, ["map"], n_resamples=100)
    assert by_name == compare_runs([NEW], QRELS, OLD, [AP()], n_resamples=100)
    assert [row.run for row in by_name.rows] == ["new"]


def test_the_same_run_has_a_clear_row():
    same = Run.from_scores("same", OLD.qid, OLD.doc_ids, OLD.scores)
    (row,) = compare_runs([same], QRELS, OLD, n_resamples=100).rows
    assert (row.paired.ties, row.paired.difference) == (12, 0.0)
    assert row.paired.p_values["t"] == row.holm["wilcoxon"] == 1.0


def test_tables():
    table = compare_runs([NEW, FEW], QRELS, OLD, ["map"], confidence_level=0.9, n_resamples=100).table()
    text = as_text(table)
    assert "90% interval" in text
    assert "few: the comparison leaves out" in " ".join(text.split())
    lines = as_csv([table]).splitlines()
    assert lines[0].startswith(
        "run,baseline,measure,topics,mean,baseline_mean,difference,low,high,wins,losses,ties,p_t,"
    )
    assert len(lines) == 3
    assert '"bonferroni_randomization"' in as_json([table])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"runs": []}, "is the only run: give another run"),
        ({"baseline": "odl"}, "the baseline 'odl' is not among the runs: 'new'"),
        ({"runs": [NEW, NEW]}, "two runs are named 'new'"),
        ({"runs": [random_run("old", 5)]}, "two runs are named 'old'"),
        ({"runs": [random_run("far", 5, range(20, 22))]}, "no topic of the run 'far' is judged"),
        ({"measures": ["num_rel_ret"]}, "num_rel_ret is a sum over topics"),
        ({"measures": ["gm_map"]}, "gm_map is a geometric mean over topics"),
        ({"measures": []}, "the list of measures is empty"),
        (
            {"runs": [random_run("left", 5, range(3))], "baseline": random_run("right", 5, range(3, 6))},
            "left and the baseline right have no common topic",
        ),
    ],
)
def test_invalid_comparisons_are_errors(arguments, message):
    with pytest.raises(InputError, match=message):
        compare_runs(**{"runs": [NEW], "qrels": QRELS, "baseline": OLD, **arguments})


def test_unjudged_runs_are_errors():
    """Labels of 0 for documents that were not judged would be taken for judgments."""
    run = Run.from_scores("r", [1, 1, 1], ["a", "x", "d"], [3, 2, 1])
    labels = QRELS.labels(run.qid, run.doc_ids)
    unjudged = Qrels.from_grades([1, 1], ["a", "d"], [1, 0])
    for measure in (Bpref(), Judged(), parse_measure("infAP")):
        with pytest.raises(InputError, match="query '1' has 2 judged documents, but 3 are ranked as judged"):
            measure.of(rank_lists(run.scores, labels, run.qid, judged=unjudged.judged))
    assert Judged().of(rank_run(run, unjudged)).values.tolist() == [pytest.approx(2 / 3)]
    assert Judged().of(rank_lists(run.scores, labels)).values.tolist() == [1.0]
    with pytest.raises(InputError, match="labels must not be NaN"):
        rank_lists(run.scores, [1.0, np.nan, 0.0], run.qid)


def test_grades_as_they_stand():
    qrels = Qrels.from_grades([1, 1, 1], ["a", "b", "c"], [2, -1, 0])
    assert qrels.grades_of([1] * 4, list("abcx")).tolist() == pytest.approx([2.0, -1.0, 0.0, np.nan], nan_ok=True)
    assert qrels.labels([1] * 4, list("abcx")).tolist() == [2.0, 0.0, 0.0, 0.0]


def test_a_grade_beyond_the_scale_of_err():
    with pytest.raises(InputError, match=r"grades up to 1, but the largest is 2: give .* err\(max_grade=2\)"):
        parse_measure("err(max_grade=1)").of(rank_run(OLD, QRELS))
