"""Every measure against trec_eval's and ir_measures' own code: random runs with ties, and TREC's."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import TypeAlias

import numpy as np
import pytest

from structsvm.data import Qrels, Run, load_qrels, load_runs
from structsvm.evaluation import rank_run
from structsvm.metrics import Measure, RankedLists, parse_measure
from tests.real_data import ROBUST03, needs

pytrec_eval = pytest.importorskip("pytrec_eval")
ir_measures = pytest.importorskip("ir_measures")
pytest.importorskip("cwl.cwl_eval", reason="needs cwl-eval")

Values: TypeAlias = Mapping[str, Mapping[str, float]]

TREC_EVAL = {
    *("map", "map_cut", "P", "recall", "ndcg_cut", "recip_rank", "bpref", "Rprec", "iprec_at_recall", "11pt_avg"),
    *("set_P", "set_recall", "set_F", "set_map", "infAP", "success", "num_ret", "num_rel", "num_rel_ret", "num_q"),
}
IR_MEASURES = [
    *("AP", "AP@10", "AP(rel=2)@5", "nDCG", "nDCG@5", "nDCG(dcg='exp-log2')@10", "P@5", "P(rel=2)@5", "R@10"),
    *("R(rel=2)@3", "RR", "RR@3", "RR(rel=2)", "Rprec", "Bpref", "Bpref(rel=2)", "infAP", "IPrec@0.3", "Judged@5"),
    *("Judged", "Success@3", "Success(rel=2)@3", "ERR@3", "ERR@20", "RBP(rel=1)", "RBP(p=0.95,rel=2)", "SetP", "SetR"),
    *("SetF", "SetF(beta=2.0)", "SetAP", "NumRet", "NumRet(rel=1)", "NumRel", "NumQ"),
]
PRINTED = {"nDCG(dcg='exp-log2')@10": 5e-6, "ERR@3": 5e-6, "ERR@20": 5e-6}
"""gdeval prints five digits."""

measure = cache(parse_measure)


def random_case(seed: int) -> tuple[Values, dict[str, dict[str, int]]]:
    """A run with ties, and judgments with some documents of the pool that were not judged, of up to three topics."""
    rng = np.random.default_rng(seed)
    run: dict[str, dict[str, float]] = {}
    qrels: dict[str, dict[str, int]] = {}
    for topic in map(str, range(1, rng.integers(2, 5))):
        documents = [f"d{number}" for number in range(rng.integers(2, 40))]
        judged = {each: int(rng.choice([-1, 0, 0, 0, 1, 1, 2, 3])) for each in documents if rng.random() < 0.7}
        ranked = {each: float(rng.integers(0, 8)) for each in documents if rng.random() < 0.7}
        # trec_eval does not return if a topic has grades below 0 only
        qrels[topic] = judged if max(judged.values(), default=-1) >= 0 else {documents[0]: 1}
        run[topic] = ranked or {documents[0]: 1.0}
    return run, qrels


def as_ours(run: Values, qrels: Mapping[str, Mapping[str, int]]) -> tuple[Run, Qrels]:
    rows = [(topic, each, score) for topic, ranked in run.items() for each, score in ranked.items()]
    judged = [(topic, each, grade) for topic, grades in qrels.items() for each, grade in grades.items()]
    return Run.from_scores("r", *map(list, zip(*rows, strict=True))), Qrels.from_grades(
        *map(list, zip(*judged, strict=True))
    )


def untied(run: Run) -> dict[str, dict[str, float]]:
    """The order of trec_eval as scores: the providers of ir_measures break ties in different ways."""
    ranked: dict[str, dict[str, float]] = {}
    for row, (topic, document) in enumerate(zip(run.qid.tolist(), run.doc_ids.tolist(), strict=True)):
        ranked.setdefault(topic, {})[document] = float(len(run.qid) - row)
    return ranked


def of_trec_eval(
    run: Values, qrels: Mapping[str, Mapping[str, int]], lists: RankedLists
) -> Iterator[tuple[str, float]]:
    """Differences of all measures of trec_eval, by name."""
    theirs = pytrec_eval.RelevanceEvaluator(qrels, TREC_EVAL | {"ndcg"}).evaluate(run)
    for name in next(iter(theirs.values())):
        ids, ours = measure("ndcg(gain=linear)" if name == "ndcg" else name).of(lists)
        assert set(ids) == set(theirs)
        yield name, max(abs(theirs[topic][name] - value) for topic, value in zip(ids, ours, strict=True))


def of_ir_measures(run: Run, qrels: Mapping[str, Mapping[str, int]], lists: RankedLists) -> Iterator[tuple[str, float]]:
    """Differences of measures of ir_measures, by name. It takes -1 for a judgment in Judged, where we do not."""
    ranked = untied(run)
    only_judged = {topic: {each: of[each] for each in of if of[each] >= 0} for topic, of in qrels.items()}
    for name in IR_MEASURES:
        judged = only_judged if name.startswith("Judged") else qrels
        asked = ir_measures.parse_measure(name)
        ours = dict(zip(*measure(name).of(lists), strict=True))
        theirs = list(ir_measures.iter_calc([asked], judged, ranked))
        assert theirs
        yield name, max(abs(ours[each.query_id] - each.value) for each in theirs if each.query_id in ours)


def check(differences: Iterator[tuple[str, float]], where: object) -> None:
    for name, difference in differences:
        assert difference <= PRINTED.get(name, 0.0) + 1e-9, (where, name, difference)


@pytest.mark.parametrize("seed", range(0, 60, 20))
def test_random_runs_are_measured_as_by_trec_eval(seed: int) -> None:
    for each in range(seed, seed + 20):
        run, qrels = random_case(each)
        check(of_trec_eval(run, qrels, rank_run(*as_ours(run, qrels))), each)


def test_random_runs_are_measured_as_by_ir_measures() -> None:
    for seed in range(3):
        run, judgments = random_case(seed)
        ours, qrels = as_ours(run, judgments)
        check(of_ir_measures(ours, judgments, rank_run(ours, qrels)), seed)


def test_documents_that_were_not_judged_are_never_relevant() -> None:
    """pytrec_eval refuses this level, so all grades are one higher for it."""
    names = {
        "AP": "AP(rel=0)",
        "P@5": "P(rel=0)@5",
        "R@5": "R(rel=0)@5",
        "Rprec": "Rprec(rel=0)",
        "RR": "RR(rel=0)",
        "Success@1": "Success(rel=0)@1",
        "SetP": "set_p(rel=0)",
        "SetR": "set_recall(rel=0)",
        "Bpref": "Bpref(rel=0)",
        "IPrec@0.5": "IPrec(rel=0)@0.5",
        "NumRet(rel=1)": "NumRet(rel=0)",
        "RBP(rel=1)": "RBP(rel=0)",
    }
    for seed in range(5):
        run, judgments = random_case(seed)
        lists = rank_run(*as_ours(run, judgments))
        raised = {
            topic: {each: grade + 1 for each, grade in grades.items() if grade >= 0}
            for topic, grades in judgments.items()
        }
        ranked = untied(as_ours(run, judgments)[0])
        for theirs, ours in names.items():
            values = dict(zip(*measure(ours).of(lists), strict=True))
            for each in ir_measures.iter_calc([ir_measures.parse_measure(theirs)], raised, ranked):
                assert abs(values[each.query_id] - each.value) < 1e-9, (seed, ours)
                assert values[each.query_id] <= 1.0 or ours.startswith("NumRet")


@pytest.mark.slow
def test_a_thousand_random_runs() -> None:
    for seed in range(1000):
        run, judgments = random_case(seed)
        ours, qrels = as_ours(run, judgments)
        lists = rank_run(ours, qrels)
        check(of_trec_eval(run, judgments, lists), seed)
        check(of_ir_measures(ours, judgments, lists), seed)


@pytest.mark.slow
@needs(ROBUST03)
def test_the_runs_of_robust03() -> None:
    """With -s it shows the largest difference of each measure."""
    qrels = load_qrels(ROBUST03 / "qrels.txt")
    judgments: dict[str, dict[str, int]] = {}
    for topic, document, grade in zip(qrels.qid.tolist(), qrels.doc_ids.tolist(), qrels.grades.tolist(), strict=True):
        judgments.setdefault(topic, {})[document] = int(grade)
    largest: dict[str, float] = {}
    runs = load_runs(ROBUST03 / "runs")
    assert len(runs) == 17
    for run in runs:
        lists, ranked = rank_run(run, qrels), untied(run)
        for tool, result in {
            "trec_eval": of_trec_eval(ranked, judgments, lists),
            "ir_measures": of_ir_measures(run, judgments, lists),
        }.items():
            for name, difference in result:
                assert difference <= PRINTED.get(name, 0.0) + 1e-9, (run.name, tool, name, difference)
                largest[f"{tool} {name}"] = max(largest.get(f"{tool} {name}", 0.0), difference)
    for name, difference in largest.items():
        print(f"{name:40} {difference:.1e}")


@pytest.mark.parametrize("name", ["gm_map", "num_rel_ret", "map"])
def test_figures_over_queries_are_those_of_trec_eval(name: str) -> None:
    for seed in range(20):
        run, qrels = random_case(seed)
        theirs = pytrec_eval.RelevanceEvaluator(qrels, {name}).evaluate(run)
        wanted = pytrec_eval.compute_aggregated_measure(name, [of[name] for of in theirs.values()])
        made: Measure = measure(name)
        lists = rank_run(*as_ours(run, qrels))
        assert made.over_queries(made.of(lists).values) == pytest.approx(wanted, abs=1e-12)
