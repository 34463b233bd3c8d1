"""Convert measures from and to ir_measures."""

from collections.abc import Iterator
from typing import Any

from structsvm.data import Qrels
from structsvm.evaluation.runs import rank_run
from structsvm.exceptions import InputError, brief
from structsvm.foundation.extras import needed
from structsvm.metrics import Measure, parse_measure
from structsvm.registry import measures

with needed("structsvm.objectives.for_ir_measures needs ir_measures", "ir-measures"):
    import ir_measures


def from_ir_measures(measure: Any) -> Measure:
    """Return the structsvm measure that equals a measure of ir_measures, such as ``ir_measures.nDCG @ 10``.

    Text such as ``"nDCG@10"`` needs no conversion: `structsvm.metrics.parse_measure` reads it.

    Raises
    ------
    UnknownNameError : structsvm does not implement the measure.
    """
    if not isinstance(measure, ir_measures.measures.Measure):
        raise InputError(
            f"from_ir_measures takes a measure of ir_measures, such as ir_measures.AP, got {brief(measure)}"
        )
    return parse_measure(str(measure))


def to_ir_measures(measure: str | Measure) -> Any:
    """Return a measure, by name or as an object, in a form that ir_measures can compute.

    Values are as in `structsvm.evaluation`; ties are broken by document id. The ir_measures name is
    ``str(measure)``. As in ir_measures, queries without a value and judged queries that the run lacks count as 0.
    """
    ours: Measure = measures.create(measure)

    def values(qrels: Any, run: Any) -> Iterator[tuple[str, float]]:
        judgments = Qrels.from_frame(qrels)
        judged = run[run["query_id"].isin(qrels["query_id"])]
        if len(judged):
            by_query = ours.of(rank_run(judged, judgments))
            yield from zip(by_query.ids.tolist(), by_query.values.tolist(), strict=True)

    return ir_measures.define(values, name=str(ours), support_cutoff=False)
