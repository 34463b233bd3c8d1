"""``structsvm evaluate``."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import is_zipfile

import click

from structsvm.cli.collections import with_grades
from structsvm.cli.console import counted, echo, print_table
from structsvm.cli.failures import Failure
from structsvm.cli.files import read_model_and_data
from structsvm.cli.options import as_measures
from structsvm.cli.paths import DATA, QRELS, Command
from structsvm.cli.texts import example
from structsvm.exceptions import DataFormatError, InputError
from structsvm.storage.files import STANDARD_INPUT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from structsvm.data import Qrels
    from structsvm.metrics import Measure, RankedLists
    from structsvm.metrics.base import Empty

_EMPTY = {
    "zero": "counted as 0, as LETOR's tools and trec_eval do; --empty skip leaves them out",
    "skip": "left out; --empty zero counts them as 0, as LETOR's tools and trec_eval do",
}


@click.command(
    cls=Command,
    name="evaluate",
    short_help="Measure a ranker on LETOR files, or TREC runs.",
    options_metavar="[OPTIONS]",
    epilog=example(
        "structsvm evaluate m.npz test.txt --measure map --measure ndcg@10 --measure p@5",
        "structsvm evaluate --qrels qrels.txt run1.gz run2.gz --measure map",
    ),
)
@click.argument("files", type=DATA, nargs=-1, required=True, metavar="MODEL DATA... | --qrels QRELS RUN...")
@click.option(
    "--qrels", type=QRELS, help="Judgments in TREC's format: the files are then runs, not a model and its data."
)
@with_grades
@click.option(
    "--measure",
    "measures",
    metavar="NAME",
    callback=as_measures,
    multiple=True,
    default=["map"],
    show_default=True,
    help="What is measured, such as map, ndcg@10 or p@5; may be given more than once.",
)
@click.option("--per-query", is_flag=True, help="Show the value of each query too.")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
@click.option(
    "--empty",
    type=click.Choice(["zero", "skip"]),
    help="What a query without relevant documents counts: zero (LETOR, trec_eval), or nothing, skip.  [default: zero]",
)
def evaluate_command(
    files: tuple[Path, ...],
    qrels: Path | str | None,
    grades: dict[int, int] | None,
    measures: "tuple[Measure, ...]",
    per_query: bool,
    form: str,
    empty: "Empty | None",
) -> None:
    """Measure how well a model ranks LETOR files, which are read as one data set; or how well TREC runs do.

    One of DATA, QRELS and RUN may be "-", standard input.

    The names of measures are shown by "structsvm list". Documents of equal score keep the order of a LETOR file.
    Runs are measured as by trec_eval: documents of equal score (in float32) by id, descending; relevant documents
    that a run lacks count; topics without judgments do not. Its NDCG is "ndcg(gain=linear)".
    """
    from attrs import evolve

    asked = {str(measure): evolve(measure, empty=empty) if empty else measure for measure in measures}
    if qrels is not None:
        try:
            report = _measure_runs(qrels, files, asked, grades, per_query=per_query)
        except DataFormatError as error:
            if error.path in files and error.path.is_file() and is_zipfile(error.path):
                raise Failure(f"{error}. With --qrels the files are runs, not a model and its data") from error
            raise
    elif grades is not None:
        raise click.UsageError("--grades says what the grades of --qrels mean: give both")
    elif len(files) < 2:
        raise click.UsageError("give a model and the LETOR files to measure it on, or --qrels and TREC runs")
    elif files[0] == STANDARD_INPUT:
        raise click.UsageError("a model cannot come from standard input: name its file")
    else:
        report = _measure_model(files[0], files[1:], asked, per_query=per_query)
    if form == "json":
        echo(*json.dumps(report, indent=2).split("\n"))
    elif qrels is not None:
        _print_runs(report)
    else:
        _print_model(report)


def _measure_model(
    model: Path, data: "Sequence[Path]", measures: "Mapping[str, Measure]", *, per_query: bool
) -> dict[str, Any]:
    from structsvm.metrics import rank_lists

    ranker, read = read_model_and_data(model, data)
    lists = rank_lists(ranker.predict(read.X, qid=read.qid), read.y, read.qid)
    return {
        "model": str(model),
        "data": [str(path) for path in data],
        "queries": len(lists.ids),
        "documents": len(read.y),
        **_figures(measures, lists, per_query=per_query),
    }


def _print_model(report: dict[str, Any]) -> None:
    measures, queries = report["measures"], report["queries"]
    if "per_query" in report:
        _print_queries(report["per_query"])
    echo(f"{counted(queries, 'query', 'queries')}, {counted(report['documents'], 'document')}", "")
    print_table(
        ["measure", "mean", "queries", "without a value"],
        ([name, _cell(of["mean"]), str(queries), str(of["undefined"])] for name, of in measures.items()),
        numbers_from=1,
    )
    _print_undefined(measures.values())


def _measure_runs(
    qrels: Path | str,
    paths: "Sequence[Path]",
    measures: "Mapping[str, Measure]",
    grades: dict[int, int] | None,
    *,
    per_query: bool,
) -> dict[str, Any]:
    """Measure runs by the conventions of trec_eval.

    Parameters
    ----------
    qrels : file of the judgments.
    paths : files of the runs.
    measures : what is measured, by the name it is reported under.
    grades : what the grades of the judgments mean; None: as they stand.
    per_query : whether to report the value of each topic too.

    Raises
    ------
    InputError : a file cannot be read, or no topic of a run is judged.
    """
    from structsvm.data import load_qrels

    judgments = load_qrels(qrels, grades)
    runs = [_measure_run(path, qrels, judgments, measures, per_query=per_query) for path in paths]
    return {"qrels": str(qrels), "runs": runs}


def _measure_run(
    path: Path, qrels: Path | str, judgments: "Qrels", measures: "Mapping[str, Measure]", *, per_query: bool
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
    return {
        "run": run.name,
        "file": str(path),
        "topics": len(lists.ids),
        "documents": len(qid),
        "relevant": int(np.sum(lists.judged > 0)),
        "relevant_retrieved": int(np.sum(labels > 0)),
        "not_judged": [topic for topic in topics if topic not in judged],
        "not_in_run": [topic for topic in judged if topic not in topics],
        **_figures(measures, lists, per_query=per_query),
    }


def _print_runs(report: dict[str, Any]) -> None:
    """Print what `_measure_runs` returns."""
    runs = report["runs"]
    for run in runs:
        if "per_query" in run:
            _print_queries(run["per_query"], title=f"{run['run']} ({run['file']})")
    print_table(
        ["run", "file", "topics", "retrieved", "relevant", "relevant retrieved", *runs[0]["measures"]],
        (
            [
                run["run"],
                run["file"],
                *(str(run[count]) for count in ("topics", "documents", "relevant", "relevant_retrieved")),
                *(_cell(of["mean"]) for of in run["measures"].values()),
            ]
            for run in runs
        ),
        numbers_from=2,
    )
    _print_undefined(of for run in runs for of in run["measures"].values())
    for run in runs:
        if run["not_judged"]:
            echo(f"{run['run']}: {_topics(run['not_judged'])} not judged, and left out, as by trec_eval.")
        if run["not_in_run"]:
            echo(
                f"{run['run']}: {_topics(run['not_in_run'])} not in the run, and left out, as by trec_eval without -c."
            )


def _topics(topics: list[str]) -> str:
    names = ", ".join(topics[:3]) + (", ..." if len(topics) > 3 else "")
    return f"{counted(len(topics), 'topic')} ({names}) {'is' if len(topics) == 1 else 'are'}"


def _figures(measures: "Mapping[str, Measure]", lists: "RankedLists", *, per_query: bool) -> dict[str, Any]:
    figures: dict[str, Any] = {"measures": {name: _measured(measure, lists) for name, measure in measures.items()}}
    if per_query:
        figures["per_query"] = {name: _of_each_query(measure, lists) for name, measure in measures.items()}
    return figures


def _measured(measure: "Measure", lists: "RankedLists") -> dict[str, Any]:
    """Return the mean, the number of queries for which the measure is undefined, and what these count.

    Raises
    ------
    InputError : the measure is undefined for every query, and these are left out.
    """
    import numpy as np

    values = measure.of(lists).values
    if not len(values):
        raise InputError(f"{measure} has no mean: it is undefined for every query")
    undefined = int(np.isnan(measure.values(lists)).sum())
    return {"mean": float(values.mean()), "undefined": undefined, "empty": measure.empty}


def _of_each_query(measure: "Measure", lists: "RankedLists") -> dict[str, float]:
    """Return the value of each query, by its id as text."""
    ids, values = measure.of(lists)
    return dict(zip(map(str, ids.tolist()), values.tolist(), strict=True))


def _cell(value: float | None) -> str:
    """Return a value with four digits, "-" for none."""
    return "-" if value is None else f"{value:.4f}"


def _print_queries(table: "Mapping[str, Mapping[str, float]]", *, title: str = "") -> None:
    """Print values by measure and query, a query a row."""
    ids = dict.fromkeys(query for values in table.values() for query in values)
    rows = ([query, *(_cell(values.get(query)) for values in table.values())] for query in ids)
    print_table(["query", *table], rows, title=title, numbers_from=1)


def _print_undefined(reports: "Iterable[dict[str, Any]]") -> None:
    """Say what the queries counted for which a measure was undefined, if there were any."""
    for empty in dict.fromkeys(of["empty"] for of in reports if of["undefined"]):
        echo(f"Queries without a value, such as those without relevant documents, are {_EMPTY[empty]}.")
