"""The linear ranker on a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import Any, Self

import numpy as np
from attrs import define, evolve, field, frozen
from sklearn.utils.validation import check_is_fitted

from structsvm.distributed.dask_cluster import DaskCluster
from structsvm.distributed.partition import Partition, labels_of, naming
from structsvm.distributed.partitions import TIMEOUT, Partitions
from structsvm.distributed.preparation import feature_statistics, scaled_partitions, weighted, without_empty_columns
from structsvm.distributed.problem import DistributedProblem
from structsvm.distributed.sources import AS_READ, calls_of, is_local
from structsvm.distributed.sources.collections import is_collection, is_dask_frame
from structsvm.distributed.sources.files import FileColumns
from structsvm.distributed.workers import open_client
from structsvm.estimators import fits
from structsvm.estimators.parameters import measure_of, ranking_spec, solver_of
from structsvm.estimators.ranker import Ranker
from structsvm.exceptions import InputError
from structsvm.features.scaling.names import scaling_named
from structsvm.foundation.compute.threads import using
from structsvm.foundation.frames import ordered
from structsvm.foundation.queries import Queries
from structsvm.foundation.settings import RANKING_TOL, place, require_number, require_switch
from structsvm.foundation.types import Vector
from structsvm.losses import ScoreLoss
from structsvm.metrics import Measure, rank_lists
from structsvm.metrics.base import checked_measures
from structsvm.models.linear import LinearModel
from structsvm.models.rows import require_width
from structsvm.solvers import OneSlack
from structsvm.solvers.checkpoint import CheckpointPath
from structsvm.solvers.state import Callback
from structsvm.training.objective import Objective, Spec
from structsvm.training.ranking import RankingSpec
from structsvm.training.scaling import warn_of_ranges


@define(slots=False, eq=False, repr=False, init=True)
class DaskRanker(Ranker):
    """A `Ranker` whose data stay at the workers of a Dask cluster.

    The objective, the certificate and the saved model are as in `Ranker`. Data are Dask arrays or data frames with a
    query id for each row, files that the workers read, or futures; the rows of a query must be in one partition. A
    round of the solver costs some passes at the workers, and messages of d numbers to and from each worker.

    Parameters
    ----------
    loss, C, tol, max_iter, fit_intercept, intercept_scaling, class_weight, measure, normalize, center : as in `Ranker`.
    feature_penalty, bounds, monotonic_cst, warm_start : as in `Ranker`.
    missing : None; partitions are not searched for missing values.
    solver : "auto", "one-slack", or a `OneSlack` with custom settings.
    n_jobs : number of threads in this process, as in `Ranker`. Each thread of a worker handles one partition at a time.
    shuffle : whether to move the rows of split queries to one partition before training and measuring. False: raise
        InputError if a query is split.
    client : Dask's client; None: the current client. It is not pickled with the ranker.
    timeout : seconds to wait for the next finished task or answer.

    Attributes
    ----------
    coef_, intercept_, scaling_, result_, loss_, n_features_in_, n_examples_, n_left_out_ : as in `Ranker`.
    client_ : the client in use.

    Examples
    --------
    >>> import dask.array as da
    >>> from dask.distributed import Client
    >>> X, y, qid = [[1.0], [2.0], [3.0], [1.0]], [0, 1, 1, 0], [1, 1, 2, 2]
    >>> spread = [da.from_array(np.array(column), chunks=2) for column in (X, y, qid)]
    >>> with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
    ...     ranker = DaskRanker("map", C=10.0, client=client).fit(*spread)
    ...     print(ranker.result_.converged, ranker.score(*spread))
    True 1.0
    """

    shuffle: bool = field(default=False, kw_only=True)
    client: Any = field(default=None, kw_only=True)
    timeout: float = field(default=TIMEOUT, kw_only=True)

    @property
    def client_(self) -> Any:
        """Dask's client."""
        return open_client(self.client)

    def fit(
        self,
        X: Any,
        y: Any = None,
        qid: Any = None,
        sample_weight: Any = None,
        callback: Callback | None = None,
        checkpoint: CheckpointPath | None = None,
    ) -> Self:
        """Train on queries.

        Parameters
        ----------
        X : a Dask array, shape (rows, d), or a Dask data frame. Or data with labels and query ids: the path of a file
            or a list of paths, in LETOR's format or tables, which the workers read with the defaults of
            `read_partitions`. Or the result of `read_partitions`, or a list of futures or delayed calls that return
            ``(X, y, qid)``, ``(X, y, qid, sample_weight)`` or a data set of `structsvm.data`.
        y, qid, sample_weight : as in `Ranker.fit`, Dask arrays or series in the chunks of X; or names of columns of X.
        callback, checkpoint : as in `Ranker.fit`; this process writes the checkpoint.

        Warns
        -----
        CheckpointWarning, ConvergenceWarning, FeatureScaleWarning, ZeroWeightsWarning : as `Ranker.fit`.
        """
        return fits.fit(self, X, y, qid, sample_weight, callback, checkpoint)

    def predict(self, X: Any, qid: Any = None) -> Any:
        """Return the score of each row; higher is better within a query.

        Parameters
        ----------
        X : as in `fit`; workers read files when scores are computed, and calls may return X alone. An array or pandas
            data frame of this process is scored here.
        qid : query id of each row, needed only if features are normalized by query.

        Returns
        -------
        A lazy Dask array in the chunks of X, shape (rows,). Its length is unknown if the length of X is unknown. Errors
        in single rows are raised when the array is computed. If X is in this process: a NumPy array.
        """
        if is_local(X):
            return super().predict(X, qid)
        check_is_fitted(self, "coef_")
        from dask import delayed
        from dask.array import concatenate, from_delayed

        scorer = PartitionScorer.of(self)
        calls, rows = self._calls(X, qid, scorer)
        score, sent = delayed(PartitionScorer.scores, pure=False), delayed(scorer, pure=False)
        return concatenate(
            [from_delayed(score(sent, call), shape=(n,), dtype=np.float64) for call, n in zip(calls, rows, strict=True)]
        )

    def score(self, X: Any, y: Any = None, qid: Any = None, sample_weight: Any = None) -> float:
        """Return the mean of ``measure`` over queries, computed by the workers; undefined values count as 0.

        Arguments are as in `fit`; arrays of this process are scored here.
        """
        if is_local(X):
            return super().score(X, y, qid, sample_weight)
        return next(iter(self.evaluate(X, y, qid, sample_weight, measures=[measure_of(self)]).values()))

    def evaluate(
        self,
        X: Any,
        y: Any = None,
        qid: Any = None,
        sample_weight: Any = None,
        *,
        measures: Iterable[str | Measure] = ("map", "ndcg@10"),
    ) -> dict[str, float]:
        """Return the means of measures, by name or as objects; the workers score the queries once.

        Other arguments are as in `fit`.
        """
        check_is_fitted(self, "coef_")
        columns = checked_measures(measures)
        if is_dask_frame(X):
            X = with_features_of(self, X, y, qid, sample_weight)
        data = self._partitions(X, y, qid, sample_weight, self._columns(labels=True))
        self._require_width(data.n_features)
        if not data.first.labeled:
            raise InputError("measures need labels: pass y, or partitions that have them")
        if self._fitted_with_qid and not data.first.has_queries:
            raise InputError("this ranker was fitted with qid, so measures need qid too")
        parts = data.ask(parts_of_means, PartitionScorer.of(self), columns)
        return {
            str(measure): overall_mean(measure, means)
            for measure, means in zip(columns, zip(*parts, strict=True), strict=True)
        }

    def to_local(self) -> Ranker:
        """Return a `Ranker` for one machine with the same parameters and fitted attributes."""
        local = Ranker()
        local.__dict__.update(vars(self))
        for name in ("shuffle", "client", "timeout"):
            delattr(local, name)
        return local

    def spec(self) -> DaskSpec:  # type: ignore[override]
        """Return the checked settings of a fit."""
        auto = isinstance(self.solver, str) and self.solver == "auto"
        solver = solver_of(self, OneSlack() if auto else None, tol=RANKING_TOL)
        if not isinstance(solver, OneSlack):
            raise InputError(
                f"{place(self, 'solver')} must be 'auto' or OneSlack: {type(solver).__name__} needs access to single "
                "queries, which are at the workers"
            )
        return DaskSpec(evolve(ranking_spec(self), solver=solver), self._partitions)

    def _partitions(self, X: Any, y: Any, qid: Any, sample_weight: Any, columns: FileColumns = AS_READ) -> Partitions:
        require_switch(place(self, "shuffle"), self.shuffle)
        require_number(place(self, "timeout"), self.timeout, above=0.0)
        settings = {"client": self.client, "timeout": self.timeout, "shuffle": self.shuffle}
        return Partitions.of(X, y, qid, sample_weight, columns=columns, **settings)

    def _columns(self, *, labels: bool) -> FileColumns:
        """Return the columns that files to score must have."""
        return FileColumns(features=self.known_names, n_features=self.n_features_in_, labels=labels)

    def _calls(self, X: Any, qid: Any, scorer: PartitionScorer) -> tuple[Sequence[Any], Sequence[float]]:
        """Return delayed calls for the partitions to score, and their numbers of rows, NaN if unknown."""
        if isinstance(X, Partitions):
            X.require_held()
            self._require_width(X.n_features)
            scorer.require_queries(known=X.first.has_queries)
            return X.parts, [survey.rows for survey in X.surveys]
        if is_dask_frame(X):
            X = with_features_of(self, X, qid)
        calls = calls_of(X, None, qid, columns=self._columns(labels=False))
        if is_collection(X):
            scorer.require_queries(known=qid is not None)
        chunks = getattr(X, "chunks", None)
        if chunks is None:
            return calls, [np.nan] * len(calls)
        self._require_width(X.shape[1])
        return calls, chunks[0]

    def _require_width(self, columns: float) -> None:
        if not np.isnan(columns):
            require_width(columns, self.n_features_in_, type(self).__name__)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {**state, "client": None}

    def __sklearn_clone__(self) -> Self:
        # Dask's clients cannot be copied, so a shallow copy of the ranker omits its client.
        cloned: Self = super(DaskRanker, copy(self)).__sklearn_clone__()
        cloned.client = self.client
        return cloned


@frozen(eq=False)
class DaskSpec(Spec):
    """Settings of a ranker whose data are at the workers; ``partitions`` reads the arguments of `fit`."""

    ranking: RankingSpec
    partitions: Callable[..., Partitions]

    def data(self, X: Any, y: Any = None, qid: Any = None, weight: Any = None) -> Partitions:
        """Return the partitions, which must have labels, and query ids unless examples are rows."""
        if is_collection(X):
            _require_roles(self.ranking.loss, labels=y is not None, queries=qid is not None)
        data = self.partitions(X, y, qid, weight)
        _require_roles(self.ranking.loss, labels=data.first.labeled, queries=data.first.has_queries)
        return data

    def objective(self, data: Partitions) -> Objective:
        """Return the objective over scaled, weighted and narrowed partitions."""
        ranking, n_features, names = self.ranking, data.n_features, data.first.names
        statistics = feature_statistics(data)
        # `Ranker` computes scalings without the weights of classes.
        if ranking.missing is not None:
            raise InputError(
                f"{ranking.owner} does not replace missing values: leave missing={ranking.missing!r} out, and replace "
                "NaN in the partitions, as by X.fillna(X.median())"
            )
        name, scaling = scaling_named(place(ranking.owner, "normalize"), ranking.normalize), None
        if name is not None:
            data, scaling = scaled_partitions(data, name)
        elif (ranges := max(data.surveys, key=lambda survey: survey.rows).ranges) is not None:
            warn_of_ranges(ranges, names)
        classes = None if ranking.class_weight is None else ranking.weights_of_classes(labels_of(data.surveys))
        if classes is not None:
            data = weighted(data, classes)
        data, columns = without_empty_columns(data) if ranking.regularizer.plain else (data, None)
        problem = DistributedProblem.from_queries(
            DaskCluster(data.workers.client, timeout=data.workers.timeout),
            data.parts,
            loss=ranking.loss,
            C=ranking.C,
            intercept=ranking.intercept,
            surveys=data.surveys,
        )
        return ranking.over(
            problem,
            n_features,
            names,
            columns=columns,
            scaling=scaling,
            with_qid=data.first.has_queries,
            statistics=statistics,
        )


def _require_roles(loss: ScoreLoss[Any], *, labels: bool, queries: bool) -> None:
    if not labels:
        raise InputError("a ranker learns from labels: pass y, or partitions that have them")
    if not (queries or loss.per_row):
        raise InputError(
            "qid is missing: pass the query id of each row, or the name of a data frame's column, as in "
            'fit(frame, "label", "qid")'
        )


@frozen(eq=False)
class PartitionScorer:
    """Model of a fitted ranker for workers; with ``needs_queries``, rows without query ids are an error."""

    model: LinearModel
    needs_queries: bool

    @classmethod
    def of(cls, ranker: Ranker) -> Self:
        """Return the scorer of a fitted ranker."""
        return cls(ranker.model_.without_training(), ranker._fitted_with_qid and ranker.model_.by_query)

    def require_queries(self, *, known: bool) -> None:
        """Raise `InputError` if rows have no query ids, and the model needs them."""
        if self.needs_queries and not known:
            raise InputError(
                f"this {self.model.title} was fitted with qid and normalizes by query: pass qid to predict, too"
            )

    def scores(self, part: Partition) -> Vector:
        """Return the scores of the rows of a partition, shape (rows,)."""
        self.require_queries(known=part.qid is not None)
        with using(1):
            return self.model.predict(part.X, part.qid)


def parts_of_means(part: Partition, scorer: PartitionScorer, measures: Sequence[Measure]) -> list[tuple[float, float]]:
    """Return the mean of each measure over a labeled partition, 0 without weight, and the weight of that mean."""
    with naming(part.title):
        weights = query_weights(part)
        y: Any = part.y
        lists = rank_lists(scorer.scores(part), y, part.qid)
        parts = []
        for measure in measures:
            values, weight = measure.weighted(lists, weights)
            mean = measure.over_queries(values, weight) if weight.any() else 0.0
            parts.append((mean, float(weight.sum())))
        return parts


def query_weights(part: Partition) -> Vector:
    """Return the weight of each query of a partition, in order of appearance; all may be 0."""
    queries = Queries.of(part.qid, part.rows)
    if part.sample_weight is None or not part.sample_weight.any():
        return np.full(len(queries), 1.0 if part.sample_weight is None else 0.0)
    return queries.weights(part.sample_weight)


def overall_mean(measure: Measure, parts: Sequence[tuple[float, float]]) -> float:
    """Return the mean of a measure over all queries, from the means and weights of partitions."""
    values, weights = np.array([part for part in parts if part[1] > 0.0]).reshape(-1, 2).T
    measure.require_weight(float(weights.sum()))
    return measure.over_queries(values, None if measure.summary == "sum" else weights)


def with_features_of(ranker: Ranker, X: Any, *roles: Any) -> Any:
    """Return a Dask data frame with the features that a ranker knows by name, and the columns that ``roles`` name."""
    named = [role for role in roles if isinstance(role, str)]
    columns = [name for name in X.columns if name not in named]
    features = ordered(columns, ranker.known_names, f"{type(ranker).__name__} was fitted with")
    return X if features == columns else X[[*features, *named]]
