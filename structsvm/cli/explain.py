"""``structsvm explain``."""

from pathlib import Path

import click

from structsvm.cli.shared.command import command
from structsvm.cli.shared.console import show_tables
from structsvm.cli.shared.data import Columns, with_columns
from structsvm.cli.shared.files import read_model_and_data
from structsvm.cli.shared.options import COUNT
from structsvm.cli.shared.paths import DATA, INPUT
from structsvm.cli.shared.results import shows_text, with_json, write_json
from structsvm.exceptions import InputError, first_of, quoted


@command(
    "explain",
    "Explain the ranking of a query's documents.",
    examples=[
        "structsvm explain m.npz test.txt --query 7",
        "structsvm explain m.npz test.txt --query 7 --documents GX012 GX305 --top 10",
    ],
)
@click.argument("model", type=INPUT)
@click.argument("data", type=DATA)
@click.option("--query", metavar="ID", help="Query to explain.  [default: the first of DATA]")
@click.option(
    "--documents",
    metavar="A B",
    nargs=2,
    help="Explain the difference between the scores of two documents: their ids, or if DATA has no ids, line numbers "
    "within the query from 1.",
)
@click.option(
    "--top", type=COUNT, default=5, help="Number of contributions to show for each document, the largest first."
)
@with_json
@with_columns()
def explain_command(
    model: Path,
    data: Path,
    query: str | None,
    documents: tuple[str, str] | None,
    top: int,
    json_path: Path | None,
    columns: Columns,
) -> None:
    """Show the contribution of each feature to the scores of a query's documents, the largest first.

    Only differences of scores determine a ranking. Contributions are therefore differences from the mean document of
    the query, or with --documents from the second document. They add up to the difference of the scores.
    """
    from structsvm.models.ranking import ExplainedRanking

    text = shows_text(json_path)
    scorer, rows = read_model_and_data(model, [data], doc_ids=None, columns=columns, labels=False)
    ids = list(dict.fromkeys(rows.qid.tolist()))
    qid = next((id for id in ids if query is None or str(id) == query), None)
    if qid is None:
        raise InputError(f"{data} has no query {quoted(query or '')}; it has {first_of(map(str, ids))}")
    ranking = ExplainedRanking.of(scorer, rows.X, rows.qid, qid, rows.doc_ids)
    if documents is None:
        table = ranking.table(top)
        content = {"mean_score": ranking.mean_score, "rows": table.records}
    else:
        if ranking.row(documents[0]) == ranking.row(documents[1]):
            raise InputError(f"--documents {' '.join(documents)} names the same document twice: name two documents")
        table = ranking.comparison(*documents, top)
        first, second = map(ranking.document, documents)
        gap = first["score"] - second["score"]
        content = {"documents": [first, second], "difference": gap, "rows": table.records}
    write_json({"model": model, "data": data, "query": qid, **content, "notes": table.notes}, json_path)
    if text:
        show_tables(table)
