"""``structsvm evaluate``."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import is_zipfile

import click

from structsvm.cli.console import counted, print_table
from structsvm.cli.failures import Failure
from structsvm.cli.measuring import cell, measured, of_each_query, print_queries, print_undefined
from structsvm.cli.options import FILE, as_measures, example
from structsvm.cli.reading import read_model_and_data
from structsvm.cli.runs import measure_runs, print_runs
from structsvm.exceptions import DataFormatError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from structsvm.metrics import Measure
    from structsvm.metrics.base import Empty


@click.command(
    name="evaluate",
    short_help="Measure a ranker on LETOR files, or TREC runs.",
    options_metavar="[OPTIONS]",
    epilog=example(
        "structsvm evaluate m.npz test.txt --measure map --measure ndcg@10 --measure p@5",
        "structsvm evaluate --qrels qrels.txt run1.gz run2.gz --measure map",
    ),
)
@click.argument("files", type=FILE, nargs=-1, required=True, metavar="MODEL DATA... | --qrels QRELS RUN...")
@click.option(
    "--qrels", type=FILE, help="Judgments in TREC's format: the files are then runs, not a model and its data."
)
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
    qrels: Path | None,
    measures: "tuple[Measure, ...]",
    per_query: bool,
    form: str,
    empty: "Empty | None",
) -> None:
    """Measure how well a model ranks LETOR files, which are read as one data set; or how well TREC runs do.

    The names of measures are shown by "structsvm list". Documents of equal score keep the order of a LETOR file.
    Runs are measured as by trec_eval: documents of equal score (in float32) by id, descending; relevant documents
    that a run lacks count; topics without judgments do not. Its NDCG is "ndcg(gain=linear)".
    """
    from attrs import evolve

    asked = {str(measure): evolve(measure, empty=empty) if empty else measure for measure in measures}
    if qrels is not None:
        try:
            report = measure_runs(qrels, files, asked, per_query=per_query)
        except DataFormatError as error:
            if error.path in files and is_zipfile(error.path):
                raise Failure(f"{error}. With --qrels the files are runs, not a model and its data") from error
            raise
    elif len(files) < 2:
        raise click.UsageError("give a model and the LETOR files to measure it on, or --qrels and TREC runs")
    else:
        report = _measure_model(files[0], files[1:], asked, per_query=per_query)
    if form == "json":
        click.echo(json.dumps(report, indent=2))
    elif qrels is not None:
        print_runs(report)
    else:
        _print_model(report)


def _measure_model(
    model: Path, data: "Sequence[Path]", measures: "Mapping[str, Measure]", *, per_query: bool
) -> dict[str, Any]:
    from structsvm.metrics import rank_lists

    ranker, read = read_model_and_data(model, data)
    lists = rank_lists(ranker.predict(read.X), read.y, read.qid)
    report: dict[str, Any] = {
        "model": str(model),
        "data": [str(path) for path in data],
        "queries": len(lists.ids),
        "documents": len(read.y),
        "measures": {name: measured(measure, lists) for name, measure in measures.items()},
    }
    if per_query:
        report["per_query"] = {name: of_each_query(measure, lists) for name, measure in measures.items()}
    return report


def _print_model(report: dict[str, Any]) -> None:
    measures, queries = report["measures"], report["queries"]
    if "per_query" in report:
        print_queries(report["per_query"])
    click.echo(f"{counted(queries, 'query', 'queries')}, {counted(report['documents'], 'document')}\n")
    print_table(
        ["measure", "mean", "queries", "without a value"],
        ([name, cell(of["mean"]), str(queries), str(of["undefined"])] for name, of in measures.items()),
        numbers_from=1,
    )
    print_undefined(measures.values())
