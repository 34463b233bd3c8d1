"""Measures of this library for ir_measures, and its own for this library."""

from collections.abc import Iterator
from typing import Any

from structsvm.data import Qrels, Run
from structsvm.evaluation.runs import rank_run
from structsvm.exceptions import InputError, NotInstalledError
from structsvm.metrics import Measure, parse_measure

try:
    import ir_measures
except ImportError as error:
    raise NotInstalledError(
        "structsvm.objectives.for_ir_measures needs ir_measures: pip install 'structural-svm[ir-measures]'."
    ) from error


def from_ir_measures(measure: Any) -> Measure:
    """Return the measure of this library that is that of ir_measures, as ``ir_measures.nDCG @ 10``.

    Names alone, such as ``"nDCG@10"``, are read by `structsvm.metrics.parse_measure` wherever a measure is named.

    Parameters
    ----------
    measure : one of ir_measures.

    Raises
    ------
    InputError : it is no measure, or has a setting that ours does not have.
    UnknownNameError : there is no such measure here.
    """
    if not isinstance(measure, ir_measures.measures.Measure):
        raise InputError(f"from_ir_measures takes a measure of ir_measures, such as ir_measures.AP, got {measure!r}")
    return parse_measure(str(measure))


def to_ir_measures(measure: str | Measure) -> Any:
    """Return a measure of this library as one that ir_measures computes, beside its own: ``to_ir_measures("p@3")``.

    It has the values of `structsvm.evaluation`, ties by document id included, and its name there is ``str(measure)``.
    A query without a value counts 0, and so do judged queries that are not in a run, as with ir_measures' own.

    Parameters
    ----------
    measure : name or object.
    """
    ours = measure if isinstance(measure, Measure) else parse_measure(measure)

    def values(qrels: Any, run: Any) -> Iterator[tuple[str, float]]:
        judgments = Qrels.from_grades(*(qrels[column].to_numpy() for column in ("query_id", "doc_id", "relevance")))
        judged = run[run["query_id"].isin(qrels["query_id"])]
        if len(judged):
            ranked = Run.from_scores("run", *(judged[column].to_numpy() for column in ("query_id", "doc_id", "score")))
            found = ours.of(rank_run(ranked, judgments))
            yield from zip(found.ids.tolist(), found.values.tolist(), strict=True)

    return ir_measures.define(values, name=str(ours), support_cutoff=False)
