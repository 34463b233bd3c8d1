"""Rank and judge runs as trec_eval does, and measure rankings."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from attrs import evolve

from structsvm.data.pairs import number_topics
from structsvm.data.runs import Qrels, QrelsLike, Run, RunLike, as_qrels, as_run
from structsvm.evaluation.significance.intervals import mean_interval
from structsvm.exceptions import InputError
from structsvm.foundation.settings import require_choice
from structsvm.metrics import Measure, RankedLists, rank_lists
from structsvm.metrics.ranking import Ties


def rank_run(run: RunLike, qrels: QrelsLike, *, ties: Ties = "trec", all_topics: bool = False) -> RankedLists:
    """Rank the documents of a run as trec_eval does, and join their judgments, for `Measure.of`.

    Topics without judgments are left out, as by trec_eval; all judged relevant documents count.

    Parameters
    ----------
    run : a run, or a data frame or dictionary of one (`Run.from_frame`, `Run.from_dict`).
    qrels : the judgments, or a data frame or dictionary of them (`Qrels.from_frame`, `Qrels.from_dict`).
    ties : "trec", or "mean" for the mean over all orders of documents with equal scores. "input" is not possible,
        because a `Run` has trec_eval's order.
    all_topics : also include judged topics that the run lacks, as trec_eval's -c. Most measures are 0 for them.

    Raises
    ------
    InputError : no topic of the run is judged.

    Examples
    --------
    >>> from structsvm.data import Qrels, Run
    >>> from structsvm.metrics import AP
    >>> run = Run.from_scores("bm25", qid=[1, 1], doc_ids=["a", "b"], scores=[0.5, 2.0])
    >>> AP().values(rank_run(run, Qrels.from_grades([1, 1], ["a", "b"], [1, 0]))).tolist()
    [0.5]
    """
    require_choice("ties of runs", ties, ("mean", "trec"))
    run, qrels = as_run("run", run), as_qrels(qrels)
    index = qrels.index
    topic = index.number(run.qid)
    rows = topic >= 0
    if not rows.any():
        raise InputError(
            f"no topic of the run {run.name!r} is judged: "
            f"the first topics are {str(run.qid[0])!r} and {index.topics[0]!r}"
        )
    _warn_of_zeros(run, index.topics)
    grades = qrels.grades_of(run.qid[rows], run.doc_ids[rows])
    lists = rank_lists(
        run.scores[rows],
        grades,
        topic[rows],
        judged=(qrels.grades, index.topic),
        # The documents of a run are in trec_eval's order already.
        ties="mean" if ties == "mean" else "input",
        all_topics=all_topics,
    )
    return evolve(lists, ids=np.array(index.topics)[lists.ids], ties=ties)


def _warn_of_zeros(run: Run, judged: Sequence[str]) -> None:
    """Warn if topics of a run and of the judgments differ by leading zeros only, because ids are text."""
    topics = dict.fromkeys(number_topics(run.qid)[0])
    judged_only = {name.lstrip("0"): name for name in judged if name not in topics}
    judged_topics = set(judged)
    pairs = [
        (name, judged_only[name.lstrip("0")])
        for name in topics
        if name not in judged_topics and name.isdecimal() and name.lstrip("0") in judged_only
    ]
    if pairs:
        warnings.warn(
            f"run {run.name!r}: topic {pairs[0][0]!r} is not judged, but {pairs[0][1]!r} is ({len(pairs)} in all). "
            "Ids are text: write the ids of both files without leading zeros",
            stacklevel=3,
        )


def figures(
    lists: RankedLists, measures: Mapping[str, Measure], *, per_query: bool = False, **interval: Any
) -> dict[str, Any]:
    """Return value, interval, range over ties and number of undefined queries of each measure; values if ``per_query``.

    ``interval`` has the settings of `mean_interval`. Sums and geometric means have no interval.
    """
    report: dict[str, dict[str, Any]] = {"measures": {}}
    if per_query:
        report["per_query"] = {}
    for name, measure in measures.items():
        raw = measure.expected(lists)
        ids, values = measure.counted(lists.ids, raw)
        if not len(values):
            raise InputError(f"{measure} has no mean: it is undefined for every query. Give judged queries")
        try:
            low, high = None, None
            if measure.summary == "mean":
                low, high = mean_interval(values, value_range=measure.value_range, **interval) or (None, None)
        except InputError as error:
            raise InputError(f"{measure}: {error}") from error
        report["measures"][name] = {
            "mean": measure.over_queries(values),
            "low": low,
            "high": high,
            "cut": low == measure.value_range[0] or high == measure.value_range[1],
            "summary": measure.summary,
            "undefined": int(np.isnan(raw).sum()),
            "empty": measure.empty,
            "note": measure.note,
            **_over_ties(measure, lists, measure.over_queries(values)),
        }
        if per_query:
            report["per_query"][name] = dict(zip(map(str, ids.tolist()), values.tolist(), strict=True))
    return report


def _over_ties(measure: Measure, lists: RankedLists, mean: float) -> dict[str, float]:
    """Return the number of queries whose value depends on the order of ties, and the range of the mean."""
    queries, low, high = (0, mean, mean) if lists.straddling is None else measure.range_over_ties(lists)
    return {"tied_queries": queries, "lowest": low, "highest": high}


def measure_run(
    run: Run,
    qrels: Qrels,
    measures: Mapping[str, Measure],
    *,
    per_query: bool = False,
    ties: Ties = "trec",
    all_topics: bool = False,
    **interval: Any,
) -> tuple[dict[str, Any], RankedLists]:
    """Return counts and figures of a run by the conventions of trec_eval, and its ranked documents."""
    lists = rank_run(run, qrels, ties=ties, all_topics=all_topics)
    topics, judged = (dict.fromkeys(names) for names in (number_topics(run.qid)[0], qrels.index.topics))
    counts = {
        "topics": len(lists.ids),
        "documents": len(lists.query),
        "relevant": int(np.sum(lists.judged > 0)),
        "relevant_retrieved": int(np.sum(lists.label > 0)),
        "not_judged": [topic for topic in topics if topic not in judged],
        "not_in_run": [topic for topic in judged if topic not in topics],
    }
    return {**counts, **figures(lists, measures, per_query=per_query, **interval)}, lists
