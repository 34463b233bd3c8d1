"""Runs measured by other programs: ``python -m benchmarks.peers.evaluation NAME QRELS RUN...``."""

import gzip
import sys
from pathlib import Path


def pytrec_eval(qrels: str, runs: list[str]) -> None:
    import pytrec_eval

    with Path(qrels).open(encoding="utf-8") as file:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(file), {"map", "P.10", "ndcg_cut.10"})
    for path in runs:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            found = evaluator.evaluate(pytrec_eval.parse_run(file)).values()
        means = (sum(each[name] for each in found) / len(found) for name in ("map", "P_10", "ndcg_cut_10"))
        print(path, *(f"{mean:.4f}" for mean in means))


def ir_measures(qrels: str, runs: list[str]) -> None:
    import ir_measures

    measures = [ir_measures.AP, ir_measures.P @ 10, ir_measures.nDCG @ 10]
    evaluator = ir_measures.evaluator(measures, list(ir_measures.read_trec_qrels(qrels)))
    for path in runs:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            found = evaluator.calc_aggregate(ir_measures.read_trec_run(file))
        print(path, *(f"{found[measure]:.4f}" for measure in measures))


if __name__ == "__main__":
    {"pytrec_eval": pytrec_eval, "ir_measures": ir_measures}[sys.argv[1]](sys.argv[2], sys.argv[3:])
