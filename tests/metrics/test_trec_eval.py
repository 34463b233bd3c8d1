"""Agreement with trec_eval on the files that it is tested with."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from structsvm.metrics import AP, NDCG, RR, Measure, P, PerQuery
from structsvm.metrics.base import Judged

DATA = Path(os.environ.get("STRUCTSVM_DATA", Path(__file__).parents[3] / "shared" / "data")) / "trec_eval"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="needs STRUCTSVM_DATA: trec_eval test files")

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
MEASURES: dict[str, Measure] = {
    "map": AP(),
    "recip_rank": RR(),
    **{f"P_{k}": P(k) for k in CUTOFFS},
    "ndcg": NDCG(gain="linear"),
    **{f"ndcg_cut_{k}": NDCG(k, gain="linear") for k in CUTOFFS},
}


def table(name: str) -> NDArray[Any]:
    lines = [line.split() for line in (DATA / name).read_text().splitlines()]
    return np.array([line[: len(lines[0])] for line in lines])


class Run:
    """A run with the judgments it is measured by: the columns of the two files, joined."""

    def __init__(self, run: str, qrels: str) -> None:
        rows, judgments = table(run), table(qrels)
        grade = {(topic, doc): float(value) for topic, _, doc, value in judgments}
        self.topic, self.doc, self.score = rows[:, 0], rows[:, 2], rows[:, 4].astype(float)
        self.label = [grade.get((topic, doc), 0.0) for topic, doc in zip(self.topic, self.doc, strict=True)]
        self.judged: Judged = (judgments[:, 3].astype(float), judgments[:, 0])

    def mean(self, measure: Measure) -> float:
        return measure.mean(self.score, self.label, self.topic, doc_ids=self.doc, judged=self.judged)

    def per_query(self, measure: Measure) -> PerQuery:
        return measure.per_query(self.score, self.label, self.topic, doc_ids=self.doc, judged=self.judged)


def expected(name: str) -> dict[tuple[str, str], float]:
    """Values of an output of trec_eval by (measure, topic)."""
    rows = (line.split() for line in (DATA / name).read_text().splitlines())
    return {(measure, topic): float(value) for measure, topic, value in rows if measure not in {"runid", "relstring"}}


@needs_data
@pytest.mark.parametrize("name", [name for name in MEASURES if "ndcg" not in name])
def test_means_agree_with_trec_eval_to_four_digits(name: str) -> None:
    run = Run("results.test", "qrels.test")
    assert f"{run.mean(MEASURES[name]):.4f}" == f"{expected('out.test')[name, 'all']:.4f}"


@needs_data
@pytest.mark.parametrize("name", MEASURES)
def test_values_per_query_agree_with_trec_eval_to_four_digits(name: str) -> None:
    run = Run("results.test", "qrels.test")
    values = expected("out.test.aq")
    measure = MEASURES[name]
    ids, found = run.per_query(measure)
    assert ids.tolist() == ["301", "302", "303"]
    assert [f"{value:.4f}" for value in found] == [f"{values[name, topic]:.4f}" for topic in ids]
    assert f"{run.mean(measure):.4f}" == f"{values[name, 'all']:.4f}"


@needs_data
@pytest.mark.parametrize(
    ("measure", "value"),
    [
        (AP(relevant_from=2), "0.1667"),
        (RR(relevant_from=2), "0.3520"),
        (P(10, relevant_from=2), "0.2333"),
        (P(100, relevant_from=2), "0.1633"),
        (NDCG(gain="linear"), "0.3894"),
        (NDCG(10, gain="linear"), "0.2656"),
        (NDCG(100, gain="linear"), "0.3577"),
    ],
    ids=str,
)
def test_graded_judgments_agree_with_trec_eval_at_relevance_level_two(measure: Measure, value: str) -> None:
    """The values are those of test/out.test.aql in trec_eval 9.0: ``-l2 qrels.rel_level results.test``."""
    assert f"{Run('results.test', 'qrels.rel_level').mean(measure):.4f}" == value
