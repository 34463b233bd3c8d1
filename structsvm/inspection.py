"""Importance of features: the decrease of a measure when the values of a feature are shuffled."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray

from structsvm.estimators.ranking import RankingEstimator, require_fitted_ranker
from structsvm.evaluation.paired_columns import interval_column
from structsvm.evaluation.significance.intervals import mean_intervals, range_of_differences
from structsvm.exceptions import InputError, counted
from structsvm.features.operators.matrix import is_finite
from structsvm.foundation.arrays import canonical, contents, is_sparse
from structsvm.foundation.frames import as_narwhals, is_frame
from structsvm.foundation.memory import require_memory
from structsvm.foundation.queries import Queries
from structsvm.foundation.settings import require_callback, require_integer, require_switch
from structsvm.foundation.sparse import as_csr
from structsvm.foundation.tables.table import Column, Table
from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.metrics import Measure, rank_lists
from structsvm.metrics.ranking import rank_documents
from structsvm.models.base import TrainedModel
from structsvm.registry import measures
from structsvm.registry.capabilities import capabilities_of
from structsvm.training.data import checked_labels
from structsvm.training.examples import part_of

__all__ = ["FeatureImportance", "query_permutation_importance"]


@frozen(eq=False)
class FeatureImportance:
    """Importances of features, the result of `query_permutation_importance`; ``str`` returns a table.

    Parameters
    ----------
    importances : mean decrease of the measure over queries when a feature is shuffled, shape (d,). Negative if the
        shuffled feature gave a better value.
    intervals : confidence interval of each mean over queries, shape (d, 2); NaN if the decrease is equal for all
        queries.
    by_query : decrease for each query, the mean over repeats, shape (d, Q).
    query_ids : ids of the queries, shape (Q,).
    baseline : value of the measure without shuffling.
    measure : name of the measure.
    n_repeats : number of shuffles of each feature.
    confidence_level : level of the intervals.
    feature_names : names of the features; None if they have numbers only.

    Examples
    --------
    >>> from structsvm.inspection import query_permutation_importance
    >>> from structsvm.models import LinearModel
    >>> model = LinearModel(n_features=2, coef=[1.0, 0.0], feature_names=("bm25", "age"))
    >>> X, y, qid = [[3.0, 1.0], [1.0, 2.0], [0.0, 3.0]] * 4, [1, 0, 0] * 4, [q for q in range(4) for _ in range(3)]
    >>> found = query_permutation_importance(model, X, y, qid)
    >>> isinstance(found, FeatureImportance), found.importances.round(1).tolist()
    (True, [0.3, 0.0])
    """

    importances: Vector
    intervals: Matrix = field(repr=False)
    by_query: Matrix = field(repr=False)
    query_ids: NDArray[Any] = field(repr=False)
    baseline: float
    measure: str
    n_repeats: int
    confidence_level: float
    feature_names: tuple[str, ...] | None = field(default=None, repr=False)

    @property
    def order(self) -> IntVector:
        """The features, from 0, the most important first."""
        order: IntVector = np.argsort(-self.importances, kind="stable")
        return order

    def table(self, top: int | None = None) -> Table:
        """Return the ``top`` most important features as a table; None: all."""
        require_integer("top", top, 1, optional=True)
        names = self.feature_names
        records = []
        for k in self.order[:top].tolist():
            low, high = (None if np.isnan(end) else float(end) for end in self.intervals[k])
            records.append(
                {
                    "feature": k + 1,
                    "name": None if names is None else names[k],
                    "importance": float(self.importances[k]),
                    "low": low,
                    "high": high,
                }
            )
        columns = (
            Column.number("feature", "feature", "d"),
            *(() if names is None else (Column.text("name", "name"),)),
            Column.number("importance", "importance", "+.4f"),
            interval_column(f"{100 * self.confidence_level:g}%", "+.4f"),
        )
        notes = (
            f"Importance is the loss of {self.measure}, {self.baseline:.4f} with all features as they are, if the "
            f"feature is shuffled; means of {counted(self.n_repeats, 'shuffle')} and "
            f"{counted(len(self.query_ids), 'query', 'queries')}.",
        )
        return Table("", columns, (tuple(records),), notes)

    def __str__(self) -> str:
        return str(self.table())


def query_permutation_importance(
    ranker: Any,
    X: Any,
    y: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    measure: str | Measure | None = None,
    n_repeats: int = 5,
    across_queries: bool = False,
    confidence_level: float = 0.95,
    random_state: int = 0,
    callback: Callable[[int], None] | None = None,
) -> FeatureImportance:
    """Return how much a ranker relies on each feature: the decrease of a measure if the feature is shuffled.

    Values are shuffled among the documents of each query, because only differences within a query change its ranking.
    A feature that is equal for all documents of each query therefore has importance 0. Correlated features can replace
    each other, so each of them may have a small importance.

    Parameters
    ----------
    ranker : a fitted ranker, a model of `structsvm.load`, or another object with ``predict``, such as a pipeline. A
        pipeline gets qid at ``predict`` if a step requests it and metadata routing is on.
    X : features, as for ``predict``: dense, sparse, or a data frame, with NaN if the ranker accepts NaN.
    y, qid : label and query id of each row; qid None: all rows are one query. Use queries that did not train the
        ranker.
    measure : a mean over queries, by name or as an object; None: the ranker's measure, by default "map".
    n_repeats : number of shuffles of each feature.
    across_queries : shuffle among all rows. Features that are constant within queries then count too, as trees and
        networks combine them with others. Values from other queries may be far outside a feature's range in a query.
    confidence_level : level of the intervals.
    random_state : seed of the shuffles.
    callback : called with the number of each feature, from 0, before its shuffles.

    Raises
    ------
    TooLargeError : memory is too short for a number for each feature and query.

    Examples
    --------
    >>> from structsvm import Ranker
    >>> from structsvm.data import load_digits_queries
    >>> train, test = load_digits_queries()
    >>> ranker = Ranker("map").fit(train.X, train.y, qid=train.qid)
    >>> found = query_permutation_importance(ranker, test.X, test.y, test.qid)
    >>> found.importances.shape, found.measure, found.by_query.shape == (25, len(found.query_ids))
    ((25,), 'map', True)
    >>> bool(found.importances.max() > 0.01)
    True
    """
    require_integer("n_repeats", n_repeats, 1)
    require_integer("random_state", random_state, 0)
    require_switch("across_queries", across_queries)
    require_callback(callback)
    fitted = _Fitted.of(ranker, X, qid)
    judge = _mean_measure(ranker, measure)
    rows = fitted.X.shape[0]
    labels = checked_labels(y, rows)
    # Shuffles go by position, so sort rows by content: the result must not depend on the order of the file.
    queries = Queries.of(qid, rows).sorted_by(contents(_as_numbers(fitted.X)), labels)
    labels, number = queries.grouped(labels), queries.number[queries.order]
    columns = _Columns.of(part_of(fitted.X, queries.order), number)
    base = judge.expected(rank_lists(fitted.scores(columns.X, number), labels, number))
    counted = judge.counted(np.arange(len(queries)), base)
    if not len(counted.ids):
        raise InputError(f"{judge} is undefined for all {len(queries)} queries: give judged queries")
    base = np.nan_to_num(base)
    d = fitted.X.shape[1]
    require_memory(16.0 * d * len(queries), "The losses of all queries and features", "give fewer queries or features")
    lost = np.zeros((d, len(queries)))
    for feature in range(d):
        if callback is not None:
            callback(feature)
        there = columns.varying(feature, across_queries)
        if not len(there):
            continue
        rng = np.random.default_rng([random_state, feature])
        group = None if across_queries else number[there]
        shuffled = columns.shuffled(there, feature)
        for _ in range(n_repeats):
            # Ranking by random scores shuffles the rows of each query.
            order = rank_documents(rng.random(len(there)), group).order
            scores = fitted.scores(shuffled(order), number[there])
            shuffled_values = judge.of(rank_lists(scores, labels[there], number[there]))
            lost[feature, shuffled_values.ids] += base[shuffled_values.ids] - shuffled_values.values
    by_query = lost[:, counted.ids] / n_repeats
    return FeatureImportance(
        importances=by_query.mean(axis=1),
        intervals=mean_intervals(by_query, confidence_level, range_of_differences(judge.value_range)),
        by_query=by_query,
        query_ids=queries.ids[counted.ids],
        baseline=float(counted.values.mean()),
        measure=str(judge),
        n_repeats=n_repeats,
        confidence_level=confidence_level,
        feature_names=fitted.names,
    )


class _Fitted(NamedTuple):
    """A ranker, and the features in the form that it reads."""

    ranker: Any
    X: Any
    names: tuple[str, ...] | None
    takes_qid: bool

    @classmethod
    def of(cls, ranker: Any, X: Any, qid: Any) -> "_Fitted":
        require_fitted_ranker(ranker, qid)
        if is_finite(X):
            raise InputError(
                f"X is a {type(X).__name__}, whose columns are not features: pass the features, and a pipeline that "
                "transforms them, such as make_pipeline(Thresholds(), ranker)"
            )
        model = getattr(ranker, "model_", ranker)
        if isinstance(model, TrainedModel):
            return cls(model, model.checked(X), model.feature_names, takes_qid=True)
        names = None
        if is_frame(X):
            names = tuple(map(str, as_narwhals(X).columns))
        else:
            X = as_csr(X) if is_sparse(X) else np.asarray(X)
        return cls(ranker, X, names, capabilities_of(ranker).takes_qid_at_predict)

    def scores(self, X: Any, number: IntVector) -> Vector:
        """Return the scores of rows of queries with these numbers."""
        scores: Vector = self.ranker.predict(X, **({"qid": number} if self.takes_qid else {}))
        return scores


class _Columns(NamedTuple):
    """Features grouped by query, with the number of the query of each row; ``by_column`` is CSC if X is CSR."""

    X: Any
    number: IntVector
    by_column: Any

    @classmethod
    def of(cls, X: Any, number: IntVector) -> "_Columns":
        if not is_sparse(X):
            return cls(X, number, None)
        X = canonical(X)
        return cls(X, number, X.tocsc())

    def varying(self, feature: int, across_queries: bool) -> IntVector:
        """Return the rows of queries within which a feature varies, ascending; if across, all rows or no row."""
        rows, values = self._values(feature, across_queries)
        number = self.number[rows]
        differs = np.zeros(len(rows), dtype=np.bool_)
        # NaN differs from itself, but not from another NaN here.
        differs[1:] = (values[1:] != values[:-1]) & ((values[1:] == values[1:]) | (values[:-1] == values[:-1]))
        if across_queries:
            return rows if differs.any() else rows[:0]
        differs[1:] &= number[1:] == number[:-1]
        return rows[np.isin(number, number[differs])]

    def shuffled(self, rows: IntVector, feature: int) -> Callable[[IntVector], Any]:
        """Return a function from an order of ``rows`` to the rows with one feature in this order."""
        block = part_of(self.X, rows)
        if self.by_column is not None:
            block, places = _with_all_entries(block, feature)
            values, data = block.data[places].copy(), block.data

            def sparse(order: IntVector) -> Any:
                data[places] = values[order]
                return block

            return sparse
        if is_frame(block):
            frame = as_narwhals(block)
            column = frame[:, feature]

            def framed(order: IntVector) -> Any:
                return frame.with_columns(column[order]).to_native()

            return framed
        values_in_order = block[:, feature].copy()

        def dense(order: IntVector) -> Any:
            block[:, feature] = values_in_order[order]
            return block

        return dense

    def _values(self, feature: int, every: bool) -> tuple[IntVector, NDArray[Any]]:
        """Return the rows of all queries with values other than 0, or every row, and the values of the feature."""
        if self.by_column is None:
            column = as_narwhals(self.X)[:, feature].to_numpy() if is_frame(self.X) else self.X[:, feature]
            return np.arange(len(column)), column
        start, end = self.by_column.indptr[feature : feature + 2]
        places = self.by_column.indices[start:end]
        rows = np.arange(len(self.number))
        if not every:
            first, last = (np.searchsorted(self.number, self.number[places], side) for side in ("left", "right"))
            queries = np.unique(np.column_stack([first, last]), axis=0)
            rows = np.concatenate([rows[:0], *(np.arange(low, high) for low, high in queries.tolist())])
        values = np.zeros(len(rows))
        values[np.searchsorted(rows, places)] = self.by_column.data[start:end]
        return rows, values


def _as_numbers(X: Any) -> Any:
    """Return X as numbers, with texts and categories numbered by their sorted values."""
    if is_sparse(X) or (not is_frame(X) and X.dtype.kind in "biuf"):
        return X
    columns = (column.to_numpy() for column in as_narwhals(X).iter_columns()) if is_frame(X) else X.T
    return np.column_stack(
        [
            column if column.dtype.kind in "biuf" else np.unique(column.astype(str), return_inverse=True)[1]
            for column in columns
        ]
    )


def _with_all_entries(X: Any, feature: int) -> tuple[Any, IntVector]:
    """Return CSR rows that store an entry of a feature in each row, zeros included, and the places of the entries."""
    import scipy.sparse as sp

    rows, apart = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), X.indices != feature
    values = np.zeros(X.shape[0], dtype=X.dtype)
    values[rows[~apart]] = X.data[~apart]
    entries = np.concatenate([X.data[apart], values])
    columns = np.concatenate([X.indices[apart], np.full(len(values), feature, dtype=X.indices.dtype)])
    rows = np.concatenate([rows[apart], np.arange(len(values))])
    rebuilt = sp.csr_array((entries, (rows, columns)), shape=X.shape)
    rebuilt.sort_indices()
    return rebuilt, np.flatnonzero(rebuilt.indices == feature)


def _mean_measure(ranker: Any, wanted: str | Measure | None) -> Measure:
    if wanted is None:
        last = getattr(ranker, "_final_estimator", ranker)
        if isinstance(last, RankingEstimator):
            wanted = last.measure_
        else:
            recorded = last.training.settings.get("measure") if isinstance(last, TrainedModel) else None
            wanted = getattr(last, "measure", None) or recorded or "map"
    measure: Measure = measures.create(wanted)
    if measure.summary != "mean":
        raise InputError(f"measure must be a mean over queries; {measure} is a {measure.summary}: choose another")
    return measure
