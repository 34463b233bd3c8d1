"""``structsvm evaluate``."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from structsvm.cli.console import counted, print_table
from structsvm.cli.options import FILE, as_measures, example
from structsvm.cli.reading import read_model_and_data
from structsvm.exceptions import InputError

if TYPE_CHECKING:
    from structsvm.metrics import Measure, RankedLists
    from structsvm.metrics.base import Empty

_EMPTY = {
    "zero": "counted as 0, as LETOR's tools do; --empty skip leaves them out",
    "skip": "left out, as trec_eval does; --empty zero counts them as 0",
}


@click.command(
    name="evaluate",
    short_help="Measure a ranker on LETOR files.",
    epilog=example("structsvm evaluate m.npz test.txt --measure map --measure ndcg@10 --measure p@5"),
)
@click.argument("model", type=FILE)
@click.argument("data", type=FILE, nargs=-1, required=True)
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
    help="What a query without relevant documents counts: zero (LETOR), or nothing, skip (trec_eval).  [default: zero]",
)
def evaluate_command(
    model: Path,
    data: tuple[Path, ...],
    measures: "tuple[Measure, ...]",
    per_query: bool,
    form: str,
    empty: "Empty | None",
) -> None:
    """Measure how well a model ranks LETOR files, which are read as one data set.

    The names of measures are shown by "structsvm list". Documents of equal score keep the order of the file.
    """
    from attrs import evolve

    from structsvm.metrics import rank_lists

    ranker, read = read_model_and_data(model, data)
    lists = rank_lists(ranker.predict(read.X), read.y, read.qid)
    asked = {str(measure): evolve(measure, empty=empty) if empty else measure for measure in measures}
    report: dict[str, Any] = {
        "model": str(model),
        "data": [str(path) for path in data],
        "queries": len(lists.ids),
        "documents": len(read.y),
        "measures": {name: _measured(measure, lists) for name, measure in asked.items()},
    }
    if per_query:
        report["per_query"] = {name: _of_each_query(measure, lists) for name, measure in asked.items()}
    if form == "json":
        click.echo(json.dumps(report, indent=2))
    else:
        _print_tables(report)


def _measured(measure: "Measure", lists: "RankedLists") -> dict[str, Any]:
    """Return the mean, the number of queries for which the measure is undefined, and what these count."""
    import numpy as np

    values = measure.of(lists).values
    if not len(values):
        raise InputError(f"{measure} has no mean: it is undefined for every query")
    undefined = int(np.isnan(measure.values(lists)).sum())
    return {"mean": float(values.mean()), "undefined": undefined, "empty": measure.empty}


def _of_each_query(measure: "Measure", lists: "RankedLists") -> dict[str, float]:
    ids, values = measure.of(lists)
    return dict(zip(map(str, ids.tolist()), values.tolist(), strict=True))


def _print_tables(report: dict[str, Any]) -> None:
    measures, queries = report["measures"], report["queries"]
    if "per_query" in report:
        table = report["per_query"]
        ids = list(dict.fromkeys(query for values in table.values() for query in values))
        rows = ([query, *(_cell(values.get(query)) for values in table.values())] for query in ids)
        print_table(["query", *table], rows, numbers_from=1)
    click.echo(f"{counted(queries, 'query', 'queries')}, {counted(report['documents'], 'document')}\n")
    print_table(
        ["measure", "mean", "queries", "without a value"],
        ([name, _cell(of["mean"]), str(queries), str(of["undefined"])] for name, of in measures.items()),
        numbers_from=1,
    )
    for empty in dict.fromkeys(of["empty"] for of in measures.values() if of["undefined"]):
        click.echo(f"Queries without a value, such as those without relevant documents, are {_EMPTY[empty]}.")


def _cell(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
