import numpy as np
import pandas as pd
import pytest

from structsvm.exceptions import InputError, UnknownNameError
from structsvm.metrics import ERR, parse_measure

ir_measures = pytest.importorskip("ir_measures")
from structsvm.objectives.for_ir_measures import from_ir_measures, to_ir_measures  # noqa: E402

BOTH = {
    "map": ir_measures.AP,
    "map@7(relevant_from=2)": ir_measures.AP(rel=2) @ 7,
    "ndcg@5(gain=linear)": ir_measures.nDCG @ 5,
    "p@3": ir_measures.P @ 3,
    "mrr": ir_measures.RR,
    "rprec": ir_measures.Rprec,
    "bpref": ir_measures.Bpref,
}


def judged_run():
    rng = np.random.default_rng(0)
    rows = [(str(q), f"d{d}", rng.integers(0, 5) / 2.0, rng.integers(0, 4)) for q in range(8) for d in range(15)]
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "score", "relevance"])
    run = frame[(rng.random(len(frame)) < 0.7) & (frame["query_id"] != "5")][["query_id", "doc_id", "score"]]
    qrels = frame[(rng.random(len(frame)) < 0.8) & (frame["query_id"] != "6")][["query_id", "doc_id", "relevance"]]
    return qrels, run


def test_both_have_the_same_values():
    """Ties, a judged query that is not ranked, and a ranked one that is not judged included."""
    qrels, run = judged_run()
    ours, theirs = [to_ir_measures(name) for name in BOTH], list(BOTH.values())
    result = ir_measures.calc_aggregate([*ours, *theirs], qrels, run)
    for one, other in zip(ours, theirs, strict=True):
        assert result[one] == pytest.approx(result[other], abs=1e-12), str(one)
    per_query = {(m.query_id, str(m.measure)): m.value for m in ir_measures.iter_calc([ours[0], theirs[0]], qrels, run)}
    assert per_query["5", "map"] == 0.0
    assert all(per_query[query, "map"] == pytest.approx(per_query[query, "AP"]) for query, _ in per_query)


def test_ours_that_it_does_not_have():
    qrels, run = judged_run()
    measure = to_ir_measures(ERR(k=3))
    assert str(measure) == "err@3"
    assert 0.0 < ir_measures.calc_aggregate([measure], qrels, run)[measure] < 1.0
    assert ir_measures.calc_aggregate([measure], qrels, run[:0])[measure] == 0.0


@pytest.mark.parametrize("name", BOTH)
def test_its_measures_become_ours(name):
    assert str(from_ir_measures(BOTH[name])) == name
    assert from_ir_measures(BOTH[name]) == parse_measure(str(BOTH[name]))


def test_mistakes_are_told():
    with pytest.raises(InputError, match="takes a measure of ir_measures"):
        from_ir_measures("AP")
    with pytest.raises(UnknownNameError, match="alpha_nDCG"):
        from_ir_measures(ir_measures.alpha_nDCG @ 10)
    with pytest.raises(InputError, match="judged_only"):
        from_ir_measures(ir_measures.P(judged_only=True) @ 5)
    with pytest.raises(UnknownNameError):
        to_ir_measures("mapp")
