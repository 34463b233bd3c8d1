"""The measuring of TREC runs."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from structsvm.cli.console import counted, print_table
from structsvm.cli.measuring import cell, measured, of_each_query, print_queries, print_undefined
from structsvm.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from structsvm.data import Qrels
    from structsvm.metrics import Measure


def measure_runs(
    qrels: Path, paths: "Sequence[Path]", measures: "Mapping[str, Measure]", *, per_query: bool
) -> dict[str, Any]:
    """Measure runs by the conventions of trec_eval.

    Parameters
    ----------
    qrels : file of the judgments.
    paths : files of the runs.
    measures : what is measured, by the name it is reported under.
    per_query : whether to report the value of each topic too.

    Raises
    ------
    InputError : a file cannot be read, or no topic of a run is judged.
    """
    from structsvm.data import load_qrels

    judgments = load_qrels(qrels)
    runs = [_measure_run(path, qrels, judgments, measures, per_query=per_query) for path in paths]
    return {"qrels": str(qrels), "runs": runs}


def _measure_run(
    path: Path, qrels: Path, judgments: "Qrels", measures: "Mapping[str, Measure]", *, per_query: bool
) -> dict[str, Any]:
    import numpy as np

    from structsvm.data import load_run
    from structsvm.metrics import rank_lists

    run = load_run(path)
    topics, judged = dict.fromkeys(run.qid.tolist()), dict.fromkeys(judgments.qid.tolist())
    rows = np.isin(run.qid, list(judged))
    if not rows.any():
        first, first_judged = next(iter(topics)), next(iter(judged))
        raise InputError(
            f"no topic of {path} is judged in {qrels}: the first topics are {first!r} and {first_judged!r}"
        )
    qid = run.qid[rows]
    labels = judgments.labels(qid, run.doc_ids[rows])
    lists = rank_lists(run.scores[rows], labels, qid, judged=judgments.judged)
    report: dict[str, Any] = {
        "run": run.name,
        "file": str(path),
        "topics": len(lists.ids),
        "documents": len(qid),
        "relevant": int(np.sum(lists.judged > 0)),
        "relevant_retrieved": int(np.sum(labels > 0)),
        "not_judged": [topic for topic in topics if topic not in judged],
        "not_in_run": [topic for topic in judged if topic not in topics],
        "measures": {name: measured(measure, lists) for name, measure in measures.items()},
    }
    if per_query:
        report["per_query"] = {name: of_each_query(measure, lists) for name, measure in measures.items()}
    return report


def print_runs(report: dict[str, Any]) -> None:
    """Print what `measure_runs` returns."""
    runs = report["runs"]
    for run in runs:
        if "per_query" in run:
            print_queries(run["per_query"], title=f"{run['run']} ({run['file']})")
    print_table(
        ["run", "file", "topics", "retrieved", "relevant", "relevant retrieved", *runs[0]["measures"]],
        (
            [
                run["run"],
                run["file"],
                *(str(run[count]) for count in ("topics", "documents", "relevant", "relevant_retrieved")),
                *(cell(of["mean"]) for of in run["measures"].values()),
            ]
            for run in runs
        ),
        numbers_from=2,
    )
    print_undefined(of for run in runs for of in run["measures"].values())
    for run in runs:
        if run["not_judged"]:
            click.echo(f"{run['run']}: {_topics(run['not_judged'])} not judged, and left out, as by trec_eval.")
        if run["not_in_run"]:
            click.echo(
                f"{run['run']}: {_topics(run['not_in_run'])} not in the run, and left out, as by trec_eval without -c."
            )


def _topics(topics: list[str]) -> str:
    names = ", ".join(topics[:3]) + (", ..." if len(topics) > 3 else "")
    return f"{counted(len(topics), 'topic')} ({names}) {'is' if len(topics) == 1 else 'are'}"
