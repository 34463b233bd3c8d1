"""``structsvm explain``."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from attrs import frozen

from structsvm.cli.shared.command import Command
from structsvm.cli.shared.console import show_tables
from structsvm.cli.shared.data import Columns, with_columns
from structsvm.cli.shared.files import read_model_and_data
from structsvm.cli.shared.options import COUNT
from structsvm.cli.shared.paths import DATA, INPUT
from structsvm.cli.shared.results import shows_text, with_json, write_json
from structsvm.exceptions import InputError, counted, first_of, quoted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from structsvm.data import RankingData
    from structsvm.foundation.tables.table import Table
    from structsvm.foundation.types import IntVector, Matrix, Vector
    from structsvm.models import Explanation, TrainedModel


@click.command(
    cls=Command,
    name="explain",
    short_help="Explain the ranking of a query's documents.",
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
    text = shows_text(json_path)
    scorer, read = read_model_and_data(model, [data], doc_ids=None, columns=columns, labels=False)
    ranking = _Ranking.of(scorer, read, query, data)
    table, content = ranking.listed(top) if documents is None else ranking.compared(*documents, top)
    write_json({"model": model, "data": data, "query": ranking.query, **content, "notes": table.notes}, json_path)
    if text:
        show_tables(table)


@frozen(eq=False)
class _Ranking:
    """The documents of a query in the order of DATA, with scores, ranks from 1, and an explanation."""

    query: int | str
    names: "NDArray[Any]"
    X: "Matrix"
    scores: "Vector"
    ranks: "IntVector"
    explained: "Explanation"
    with_ids: bool

    @classmethod
    def of(cls, model: "TrainedModel", data: "RankingData", query: str | None, path: Path) -> "_Ranking":
        ids = list(dict.fromkeys(data.qid.tolist()))
        found = next((each for each in ids if query is None or str(each) == query), None)
        if found is None:
            raise InputError(f"{path} has no query {quoted(query or '')}; it has {first_of(map(str, ids))}")
        rows = np.flatnonzero(data.qid == found)
        X = data.X[rows]
        scores, ranks = model.predict(X), np.empty(len(rows), dtype=np.int64)
        ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(rows) + 1)
        names = np.arange(1, len(rows) + 1) if data.doc_ids is None else data.doc_ids[rows]
        dense = X if isinstance(X, np.ndarray) else X.toarray()
        return cls(found, names, dense, scores, ranks, model.explain(X), data.doc_ids is not None)

    def listed(self, top: int) -> "tuple[Table, dict[str, Any]]":
        """Return the ranking with the largest contributions of each document, as a table and for JSON."""
        from structsvm.foundation.tables.table import Column, Table

        rows = [
            {**self._document(row), "contributions": self._contributions(self.explained.difference(row), [row], top)}
            for row in np.argsort(self.ranks).tolist()
        ]
        mean = float(self.scores.mean())
        columns = (
            Column.number("rank", "rank"),
            Column.text("document", "document"),
            Column.number("score", "score", ".6g"),
            Column(
                "largest contributions",
                lambda row: ", ".join(f"{_label(each)} {each['contribution']:+.4g}" for each in row["contributions"]),
                right=False,
            ),
        )
        notes = (
            f"Contributions are differences from the mean document of the query, whose score is {mean:.6g}. The "
            "contributions of all features add up to score minus mean score.",
            *self._lines,
        )
        table = Table(f"query {self.query}: {counted(len(rows), 'document')}", columns, (tuple(rows),), notes)
        return table, {"mean_score": mean, "rows": rows}

    def compared(self, first: str, second: str, top: int) -> "tuple[Table, dict[str, Any]]":
        """Return the largest contributions to the difference of two scores, as a table and for JSON."""
        from structsvm.foundation.tables.table import Column, Table

        i, j = self._row(first), self._row(second)
        if i == j:
            raise InputError(f"--documents {first} {second} names the same document twice: name two documents")
        a, b = self._document(i), self._document(j)
        difference = self.explained.difference(i, j)
        rows = self._contributions(difference, [i, j], top)
        columns = (
            Column("feature", _label, right=False),
            Column(f"in {a['document']}", lambda row: f"{row['values'][0]:.6g}"),
            Column(f"in {b['document']}", lambda row: f"{row['values'][1]:.6g}"),
            Column.number("contribution", "contribution", "+.6g"),
        )
        gap = a["score"] - b["score"]
        title = (
            f"query {self.query}: document {a['document']} (rank {a['rank']}, score {a['score']:.6g}) "
            f"{'above' if a['rank'] < b['rank'] else 'below'} document {b['document']} (rank {b['rank']}, "
            f"score {b['score']:.6g}), a difference of {gap:+.6g}"
        )
        rest = difference.contributions.sum() - sum(row["contribution"] for row in rows)
        others = difference.contributions.shape[1] - len(rows)
        notes = (*([f"The other {others} features contribute {rest:+.4g} together."] if others else []), *self._lines)
        return Table(title, columns, (tuple(rows),), notes), {"documents": [a, b], "difference": gap, "rows": rows}

    @property
    def _lines(self) -> list[str]:
        return [] if self.with_ids else ["Documents are line numbers within the query: DATA has no document ids."]

    def _document(self, row: int) -> dict[str, Any]:
        return {
            "rank": int(self.ranks[row]),
            "document": self.names[row].item(),
            "score": float(self.scores[row]),
        }

    def _contributions(self, explained: "Explanation", rows: list[int], top: int) -> list[dict[str, Any]]:
        names, contributions = self.explained.feature_names, explained.contributions[0]
        return [
            {
                "feature": k + 1,
                "name": None if names is None else names[k],
                "values": self.X[rows, k].tolist(),
                "contribution": float(contributions[k]),
            }
            for k in np.argsort(-np.abs(contributions), kind="stable")[:top].tolist()
        ]

    def _row(self, name: str) -> int:
        found = np.flatnonzero(self.names.astype(str) == name)
        if len(found) == 1:
            return int(found[0])
        if len(found):
            raise InputError(
                f"query {self.query} has {len(found)} documents {quoted(name)}: give each document another id"
            )
        kind = "document" if self.with_ids else "line"
        raise InputError(
            f"query {self.query} has no {kind} {quoted(name)}; it has {first_of(map(str, self.names.tolist()))}"
        )


def _label(row: Any) -> str:
    return row["name"] or f"feature {row['feature']}"
