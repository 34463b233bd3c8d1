"""Explain the ranking of one query: contributions of features to differences of scores, as tables."""

from typing import Any, Self

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray

from structsvm.exceptions import InputError, counted, first_of, quoted
from structsvm.foundation.settings import require_integer, require_kind
from structsvm.foundation.tables.table import Column, Record, Table
from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.models.base import TrainedModel
from structsvm.models.explanation import Explanation


@frozen(eq=False, kw_only=True)
class ExplainedRanking:
    """The documents of a query, in input order, with their scores, ranks from 1, and contributions of features.

    Make it with `of`.

    Parameters
    ----------
    query : the query.
    documents, with_ids : id of each document, or line numbers from 1 if ``with_ids`` is False.
    X, scores, ranks : features, score and rank of each document.
    explanation : contributions of the features.

    Examples
    --------
    >>> from structsvm.models import LinearModel
    >>> model = LinearModel(n_features=2, feature_names=("bm25", "age"), coef=[2.0, -1.0])
    >>> ranking = ExplainedRanking.of(model, [[1.0, 3.0], [2.0, 1.0]], [7, 7], 7, doc_ids=["a", "b"])
    >>> ranking.document("b")
    {'rank': 1, 'document': 'b', 'score': 3.0}
    >>> [(record["name"], record["contribution"]) for record in ranking.comparison("b", "a").records]
    [('bm25', 2.0), ('age', 2.0)]
    """

    query: int | str
    documents: NDArray[Any]
    with_ids: bool
    X: Matrix = field(repr=False)
    scores: Vector = field(repr=False)
    ranks: IntVector = field(repr=False)
    explanation: Explanation = field(repr=False)

    @classmethod
    def of(cls, model: TrainedModel, X: Any, qid: ArrayLike, query: int | str, doc_ids: Any = None) -> Self:
        """Explain the ranking of a query.

        Parameters
        ----------
        model : the model, which scores documents independently of each other.
        X, qid : features and query of each document.
        query : the query.
        doc_ids : id of each document; None: line numbers within the query, from 1.
        """
        rows = np.flatnonzero(np.asarray(qid) == query)
        if not len(rows):
            raise InputError(f"there is no query {quoted(str(query))}: choose one of qid")
        X = X[rows] if hasattr(X, "tocsr") else np.asarray(X)[rows]
        scores, ranks = model.predict(X), np.empty(len(rows), dtype=np.int64)
        ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(rows) + 1)
        return cls(
            query=query,
            documents=np.arange(1, len(rows) + 1) if doc_ids is None else np.asarray(doc_ids)[rows],
            with_ids=doc_ids is not None,
            X=X if isinstance(X, np.ndarray) else X.toarray(),
            scores=scores,
            ranks=ranks,
            explanation=model.explain(X),
        )

    @property
    def mean_score(self) -> float:
        """Mean score of the documents."""
        return float(self.scores.mean())

    def table(self, top: int = 5) -> Table:
        """Return the ranking with the ``top`` largest contributions to the score of each document."""
        records = [
            {
                **self._document(row),
                "contributions": self._contributions(self.explanation.difference(row), [row], top),
            }
            for row in np.argsort(self.ranks).tolist()
        ]
        columns = (
            Column.number("rank", "rank"),
            Column.text("document", "document"),
            Column.number("score", "score", ".6g"),
            Column("largest contributions", _listed, right=False),
        )
        notes = (
            f"Contributions are differences from the mean document of the query, whose score is {self.mean_score:.6g}. "
            "The contributions of all features add up to score minus mean score.",
            *self._notes,
        )
        return Table(f"query {self.query}: {counted(len(records), 'document')}", columns, (tuple(records),), notes)

    def comparison(self, first: str, second: str, top: int = 5) -> Table:
        """Return the ``top`` largest contributions to the difference of the scores of two documents."""
        i, j = self.row(first), self.row(second)
        a, b = self._document(i), self._document(j)
        difference = self.explanation.difference(i, j)
        records = self._contributions(difference, [i, j], top)
        columns = (
            Column("feature", _label, right=False),
            Column(f"in {a['document']}", lambda record: f"{record['values'][0]:.6g}"),
            Column(f"in {b['document']}", lambda record: f"{record['values'][1]:.6g}"),
            Column.number("contribution", "contribution", "+.6g"),
        )
        title = (
            f"query {self.query}: document {a['document']} (rank {a['rank']}, score {a['score']:.6g}) "
            f"{'above' if a['rank'] < b['rank'] else 'below'} document {b['document']} (rank {b['rank']}, "
            f"score {b['score']:.6g}), a difference of {a['score'] - b['score']:+.6g}"
        )
        rest = difference.contributions.sum() - sum(record["contribution"] for record in records)
        others = difference.contributions.shape[1] - len(records)
        notes = (*([f"The other {others} features contribute {rest:+.4g} together."] if others else []), *self._notes)
        return Table(title, columns, (tuple(records),), notes)

    def document(self, name: str) -> dict[str, Any]:
        """Return rank, name and score of a document."""
        return self._document(self.row(name))

    def row(self, name: str) -> int:
        """Return the position of a document; raise InputError if it is unknown or ambiguous."""
        require_kind("the document", name, str, "text")
        rows = np.flatnonzero(self.documents.astype(str) == name)
        if len(rows) == 1:
            return int(rows[0])
        if len(rows):
            raise InputError(
                f"query {self.query} has {len(rows)} documents {quoted(name)}: give each document another id"
            )
        kind = "document" if self.with_ids else "line"
        names = first_of(map(str, self.documents.tolist()))
        raise InputError(f"query {self.query} has no {kind} {quoted(name)}; it has {names}")

    @property
    def _notes(self) -> list[str]:
        return [] if self.with_ids else ["Documents are line numbers within the query: DATA has no document ids."]

    def _document(self, row: int) -> dict[str, Any]:
        name = self.documents[row].item()
        return {"rank": int(self.ranks[row]), "document": name, "score": float(self.scores[row])}

    def _contributions(self, explanation: Explanation, rows: list[int], top: int) -> list[dict[str, Any]]:
        require_integer("top", top, 0)
        names, contributions = self.explanation.feature_names, explanation.contributions[0]
        return [
            {
                "feature": k + 1,
                "name": None if names is None else names[k],
                "values": self.X[rows, k].tolist(),
                "contribution": float(contributions[k]),
            }
            for k in np.argsort(-np.abs(contributions), kind="stable")[:top].tolist()
        ]


def _label(record: Record) -> str:
    return record["name"] or f"feature {record['feature']}"


def _listed(record: Record) -> str:
    return ", ".join(f"{_label(part)} {part['contribution']:+.4g}" for part in record["contributions"])
