"""Agreement with trec_eval on the files that it is tested with."""

import pytest

from structsvm.data import load_qrels, load_run
from structsvm.metrics import AP, NDCG, RR, Measure, P, RankedLists, Recall, rank_lists
from tests.real_data import TREC_EVAL, needs

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
MEASURES: dict[str, Measure] = {
    "map": AP(),
    "recip_rank": RR(),
    **{f"P_{k}": P(k) for k in CUTOFFS},
    **{f"recall_{k}": Recall(k) for k in CUTOFFS},
    "ndcg": NDCG(gain="linear"),
    **{f"ndcg_cut_{k}": NDCG(k, gain="linear") for k in CUTOFFS},
}


def lists(run: str, qrels: str) -> RankedLists:
    """A run with the judgments it is measured by."""
    rows, judgments = load_run(TREC_EVAL / run), load_qrels(TREC_EVAL / qrels)
    labels = judgments.labels(rows.qid, rows.doc_ids)
    return rank_lists(rows.scores, labels, rows.qid, judged=judgments.judged, ties="input")


def expected(name: str) -> dict[tuple[str, str], float]:
    """Values of an output of trec_eval by (measure, topic)."""
    rows = (line.split() for line in (TREC_EVAL / name).read_text().splitlines())
    return {(measure, topic): float(value) for measure, topic, value in rows if measure not in {"runid", "relstring"}}


@needs(TREC_EVAL)
@pytest.mark.parametrize("name", MEASURES)
def test_values_per_query_agree_with_trec_eval_to_four_digits(name: str) -> None:
    values = expected("out.test.aq")
    ids, result = MEASURES[name].of(lists("results.test", "qrels.test"))
    assert ids.tolist() == ["301", "302", "303"]
    assert [f"{value:.4f}" for value in result] == [f"{values[name, topic]:.4f}" for topic in ids]
    assert f"{result.mean():.4f}" == f"{values[name, 'all']:.4f}"


@needs(TREC_EVAL)
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
    """The values come from test/out.test.aql in trec_eval 9.0: ``-l2 qrels.rel_level results.test``."""
    assert f"{measure.of(lists('results.test', 'qrels.rel_level')).values.mean():.4f}" == value
