"""The linear ranker of a Dask cluster."""

from __future__ import annotations  # `help` shows the types by name, not as the long unions that they are

from collections.abc import Iterable
from copy import deepcopy
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from structsvm.distributed.dask_cluster import DaskCluster
from structsvm.distributed.partitions import LIMIT, Partitions, calls_of, open_client
from structsvm.distributed.preparation import (
    ClassWeights,
    narrowed_to,
    normalised,
    normaliser,
    occupied_columns,
    weighted,
)
from structsvm.distributed.preparation import ranges as ranges_of
from structsvm.distributed.problem import DistributedProblem
from structsvm.distributed.scoring import (
    checked_measures,
    light,
    mean,
    parts_of_means,
    scores_of,
    with_features_of,
)
from structsvm.distributed.sources import FileColumns, are_files, is_call
from structsvm.distributed.sources.collections import is_frame
from structsvm.estimators.fitting import Objective
from structsvm.estimators.model_file import Trained
from structsvm.estimators.parameters import (
    class_weights_of,
    is_plain,
    measure_of,
    not_one_score,
    ranking_loss,
    regularised,
    require_settings,
)
from structsvm.estimators.ranker import Ranker
from structsvm.exceptions import InputError
from structsvm.losses import ScoreLoss
from structsvm.metrics import Measure
from structsvm.normalisation import normalisation_named
from structsvm.problem.coordinates import Bounds
from structsvm.registry import solvers
from structsvm.settings import place, require_number, require_switch
from structsvm.solvers import OneSlack, Solver
from structsvm.solvers.checkpoint import CheckpointPath
from structsvm.solvers.state import Callback


class DaskRanker(Ranker):
    """A `Ranker` whose data are spread over the workers of a Dask cluster, where they stay.

    The objective, the certificate and the saved model are those of `Ranker`. Data are Dask arrays or data frames with a
    query id for each row, files that the workers read, or futures; the rows of a query must be in one partition. The
    solver is `OneSlack`: a round costs some passes at the workers, and messages of d numbers to and from each.

    Parameters
    ----------
    loss, C, tol, fit_intercept, intercept_scaling, class_weight, measure, normalise, centre, penalty : as of `Ranker`.
    bounds, monotonic_cst, warm_start : as of `Ranker`.
    solver : "auto" and "one-slack" are `OneSlack`, which may be given with settings of its own; no other.
    n_jobs : threads that compute in this process, as of `Ranker`; a worker has as many as it was started with, each of
        which works on a partition at a time.
    shuffle : whether queries that are split over partitions are moved together before they are learned from or
        measured; if not, they are refused. The rows that move are those of split queries alone.
    client : Dask's client; None: the one that is found when it is needed. It is not pickled with the ranker.
    limit : seconds after which a wait is given up in which the workers did nothing, or did not answer a question.

    Attributes
    ----------
    coef_, intercept_, normaliser_, result_, loss_, n_features_in_, n_examples_, n_left_out_ : as of `Ranker`.
    client_ : the client that is used.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from dask.distributed import Client
    >>> from structsvm.distributed import DaskRanker
    >>> X, y, qid = [[1.0], [2.0], [3.0], [1.0]], [0, 1, 1, 0], [1, 1, 2, 2]
    >>> spread = [da.from_array(np.array(each), chunks=2) for each in (X, y, qid)]
    >>> with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
    ...     ranker = DaskRanker("map", C=10.0, client=client).fit(*spread)
    ...     print(ranker.result_.converged, ranker.score(*spread))
    True 1.0
    """

    __metadata_request__fit: ClassVar[dict[str, Any]] = {"qid": True, "sample_weight": True}

    def __init__(
        self,
        loss: str | ScoreLoss[Any] = "map",
        C: float = 1.0,
        *,
        solver: str | Solver = "auto",
        tol: float | None = None,
        fit_intercept: bool = False,
        intercept_scaling: float = 1.0,
        class_weight: dict[Any, float] | str | None = None,
        measure: str | Measure | None = None,
        normalise: str | None = None,
        centre: ArrayLike | None = None,
        penalty: ArrayLike | None = None,
        bounds: Bounds | None = None,
        monotonic_cst: ArrayLike | dict[str, int] | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        shuffle: bool = False,
        client: Any = None,
        limit: float = LIMIT,
    ) -> None:
        super().__init__(
            loss,
            C,
            solver=solver,
            tol=tol,
            fit_intercept=fit_intercept,
            intercept_scaling=intercept_scaling,
            class_weight=class_weight,
            measure=measure,
            normalise=normalise,
            centre=centre,
            penalty=penalty,
            bounds=bounds,
            monotonic_cst=monotonic_cst,
            warm_start=warm_start,
            n_jobs=n_jobs,
        )
        self.shuffle = shuffle
        self.client = client
        self.limit = limit

    @property
    def client_(self) -> Any:
        """Dask's client.

        Raises
        ------
        InputError : when there is none, or it is closed; it says how to make one.
        """
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
        """Learn from queries.

        Parameters
        ----------
        X : a Dask array, shape (rows, d), or data frame; the path of a file, or a list of them, in LETOR's format or
            tables, which the workers read with the defaults of `read_partitions`; a list of futures or delayed calls
            that return ``(X, y, qid)``, ``(X, y, qid, sample_weight)`` or what the readers of `structsvm.data` do; or
            `Partitions`. All but arrays and data frames hold labels and query ids themselves.
        y : labels of rows, a Dask array or series in the chunks of X; or the name of a column of X.
        qid : query id of each row (not group sizes), as y.
        sample_weight : weight of each row, the same for all rows of a query, as y.
        callback, checkpoint : as of `Ranker.fit`; the checkpoint is written by this process.

        Raises
        ------
        InputError : when the data cannot be used, a query is split over partitions and ``shuffle`` is False, or the fit
            in the checkpoint is another one; it says why and where.

        Warns
        -----
        CheckpointWarning, ConvergenceWarning, FeatureScaleWarning, ZeroWeightsWarning : as `Ranker.fit`.
        """
        objective = self._objective(X, y, qid, sample_weight)
        start = self.result_ if self.warm_start and hasattr(self, "result_") else None
        self._take(objective.minimise(start, callback, checkpoint))
        self.trained_ = Trained.now()
        return self

    def path(
        self,
        X: Any,
        y: Any = None,
        qid: Any = None,
        Cs: ArrayLike = (0.01, 0.1, 1.0, 10.0, 100.0),
        sample_weight: Any = None,
        callback: Callback | None = None,
        checkpoint: CheckpointPath | None = None,
    ) -> list[Self]:
        """Learn at several values of C, each from the result of the one before: cheaper than one by one.

        Parameters
        ----------
        X, y, qid, sample_weight : as in `fit`.
        Cs, callback, checkpoint : as of `Ranker.path`.

        Returns
        -------
        A fitted ranker for each value, as `Ranker.path` does.
        """
        return super().path(X, y, qid, Cs, sample_weight, callback, checkpoint)

    def predict(self, X: Any, qid: Any = None) -> Any:
        """Return the score of each row; within a query, larger is ahead.

        Parameters
        ----------
        X : as in `fit`; files are read by the workers when scores are computed, and calls may return X alone. An array
            of this process, or a pandas data frame, is scored here.
        qid : query id of each row, which only a normalisation by query looks at.

        Returns
        -------
        A Dask array in the chunks of X, shape (rows,), of which nothing is computed yet; its length is not known where
        that of X is not. A NumPy array where X is of this process.

        Raises
        ------
        InputError : when X or qid cannot be used, or qid is missing; it says why. What is wrong in single rows is said
            when scores are computed.
        """
        if _is_local(X):
            return super().predict(X, qid)
        check_is_fitted(self, "coef_")
        from dask import delayed
        from dask.array import concatenate, from_delayed

        calls, rows = self._calls(X, qid)
        score = delayed(scores_of, pure=False)
        scorer = delayed(light(self), pure=False)
        blocks = [
            from_delayed(score(scorer, call), shape=(n,), dtype=np.float64) for call, n in zip(calls, rows, strict=True)
        ]
        return concatenate(blocks)

    def score(self, X: Any, y: Any = None, qid: Any = None, sample_weight: Any = None) -> float:
        """Return the mean of ``measure`` over queries, computed by the workers; those that it is undefined for count 0.

        Parameters
        ----------
        X, y, qid, sample_weight : as in `fit`. Arrays of this process are scored here.

        Raises
        ------
        InputError : when the data cannot be used, or a query is split over partitions; it says why and where.
        """
        if _is_local(X):
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
        """Return the means of measures over the queries of partitions, by name: the workers score them once.

        Parameters
        ----------
        X, y, qid, sample_weight : as in `fit`.
        measures : names, or measures with their settings.

        Raises
        ------
        InputError : as `score`.
        """
        check_is_fitted(self, "coef_")
        require_number(place(self, "limit"), self.limit, above=0.0)
        chosen = checked_measures(measures)
        if is_frame(X):
            X = with_features_of(self, X, y, qid, sample_weight)
        data = Partitions.of(
            *(X, y, qid, sample_weight),
            client=self.client,
            limit=self.limit,
            shuffle=self.shuffle,
            columns=self._columns(labels=True),
        )
        self._require_width(data.n_features)
        if not data.has_labels:
            raise InputError("measures need labels: pass y, or partitions that have them")
        if self._fitted_with_qid and not data.has_queries:
            raise InputError("this ranker was fitted with qid, so measures need qid too")
        scorer = light(self)
        futures = [
            data.workers.submit(parts_of_means, part, scorer, chosen, about.name)
            for part, about in zip(data.parts, data.surveys, strict=True)
        ]
        found = data.workers.fetch(futures)
        return {str(measure): mean(measure, [each[k] for each in found]) for k, measure in enumerate(chosen)}

    def to_local(self) -> Ranker:
        """Return a `Ranker` of one machine with the same parameters and all that was fitted."""
        parameters = self.get_params(deep=False)
        local = Ranker(**{name: parameters[name] for name in Ranker().get_params(deep=False)})
        for name, value in vars(self).items():
            if name not in parameters:
                setattr(local, name, value)
        return local

    def _objective(self, X: Any, y: Any, qid: Any, sample_weight: Any) -> Objective:
        require_settings(self)
        require_switch(place(self, "shuffle"), self.shuffle)
        require_number(place(self, "limit"), self.limit, above=0.0)
        measure_of(self)
        loss, solver = ranking_loss(self), self._solver()
        if hasattr(X, "dask") and not is_call(X):
            _require_roles(loss, labels=y is not None, queries=qid is not None)
        data = Partitions.of(X, y, qid, sample_weight, client=self.client, limit=self.limit, shuffle=self.shuffle)
        _require_roles(loss, labels=data.has_labels, queries=data.has_queries)
        labels: Any = data.labels
        bound = loss.bind(labels)
        self._remember(data, in_frame=is_frame(X))
        if self.class_weight is not None:
            data = data.mapped(weighted, self._class_weights(loss, data))
        data = self._normalised(data)
        columns = occupied_columns(data) if is_plain(self) else None
        if columns is not None:
            data = data.mapped(narrowed_to, columns)
        problem = _problem(data, bound, self.C, self._intercept())
        width = data.n_features if columns is None else len(columns)
        if problem.d != width + bool(self.fit_intercept):
            raise not_one_score(self)
        problem = regularised(self, problem, intercept=self.fit_intercept)
        self.loss_ = problem.loss
        self.n_examples_ = problem.used
        self.n_left_out_ = problem.left_out
        self._fitted_with_qid = data.has_queries
        return Objective(problem, solver, self.tol, self.loss, ranks=True, n_features=data.n_features, columns=columns)

    def _solver(self) -> Solver:
        """Return the solver, which must work where examples cannot be visited one by one."""
        if self.solver == "auto":
            return OneSlack()
        solver: Solver = solvers.create(self.solver)
        if not isinstance(solver, OneSlack):
            raise InputError(
                f"{place(self, 'solver')} must be 'auto' or OneSlack: {type(solver).__name__} visits the queries one "
                "by one, or keeps cuts of each, which a cluster does not do"
            )
        return solver

    def _class_weights(self, loss: ScoreLoss[Any], data: Partitions) -> ClassWeights:
        given = class_weights_of(self, loss, data.labels)
        return ClassWeights(given) if isinstance(given, dict) else ClassWeights.balanced(data)

    def _normalised(self, data: Partitions) -> Partitions:
        name = normalisation_named(place(self, "normalise"), self.normalise)
        self.normaliser_ = None
        if name is None:
            self._warn_of_scales(ranges_of(data))
            return data
        self.normaliser_ = normaliser(name, data)
        return data.mapped(normalised, self.normaliser_)

    def _remember(self, data: Partitions, *, in_frame: bool) -> None:
        """Set the attributes that say what features are, as `Ranker.fit` does of arrays and data frames."""
        self.n_features_in_ = data.n_features
        self.__dict__.pop("feature_names_in_", None)
        if data.names is not None:
            self.feature_names_in_ = np.array(data.names, dtype=object)

    def _columns(self, *, labels: bool) -> FileColumns:
        """Return what files must hold that are to be scored: the features of this ranker."""
        names = self.known_names
        return FileColumns(features=names, n_features=self.n_features_in_, labels=labels)

    def _calls(self, X: Any, qid: Any) -> tuple[list[Any], list[float]]:
        """Return delayed calls of the partitions that are to be scored, and their numbers of rows."""
        if isinstance(X, Partitions):
            X.require_held()
            self._require_width(X.n_features)
            self._require_qid(known=X.has_queries)
            return list(X.parts), [each.rows for each in X.surveys]
        if is_frame(X):
            X = with_features_of(self, X, qid)
        calls, _ = calls_of(X, None, qid, columns=self._columns(labels=False))
        if hasattr(X, "chunks") and getattr(X, "ndim", 0) == 2:
            self._require_width(X.shape[1])
        if not isinstance(X, list | tuple) and not are_files(X):
            self._require_qid(known=qid is not None)
        chunks = getattr(X, "chunks", None)
        return calls, [np.nan] * len(calls) if chunks is None else list(chunks[0])

    def _require_width(self, columns: float) -> None:
        if columns != self.n_features_in_ and not np.isnan(columns):
            raise InputError(
                f"X has {columns} features, but {type(self).__name__} is expecting {self.n_features_in_} features as "
                "input"
            )

    def _require_qid(self, *, known: bool) -> None:
        if not known and self._fitted_with_qid and self.normaliser_ is not None and self.normaliser_.by_query:
            raise InputError(
                f"this {type(self).__name__} was fitted with qid and normalises by query, so predict needs qid too"
            )

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {**state, "client": None}

    def __sklearn_clone__(self) -> Self:
        parameters = self.get_params(deep=False)
        client = parameters.pop("client")
        cloned = type(self)(**{name: clone(value, safe=False) for name, value in parameters.items()}, client=client)
        for name in ("_metadata_request", "_sklearn_output_config"):
            if hasattr(self, name):
                setattr(cloned, name, deepcopy(getattr(self, name)))
        return cloned


def _problem(data: Partitions, loss: ScoreLoss[Any], C: float, intercept: float) -> DistributedProblem:
    """Return the problem of partitions that are ready."""
    cluster = DaskCluster(data.workers.client, limit=data.workers.limit)
    return DistributedProblem.from_queries(cluster, data.parts, loss=loss, C=C, intercept=intercept)


def _require_roles(loss: ScoreLoss[Any], *, labels: bool, queries: bool) -> None:
    if not labels:
        raise InputError("a ranker learns from labels: pass y, or partitions that have them")
    if not (queries or loss.per_row):
        raise InputError(
            "qid is missing: the query id of each row, by which those of a query are together in one partition; of a "
            'data frame the name of its column does, as in fit(frame, "label", "qid")'
        )


def _is_local(X: Any) -> bool:
    """Say whether it is data of this process: an array, a matrix or a data frame that is not Dask's."""
    return not (hasattr(X, "dask") or is_call(X) or isinstance(X, Partitions | list | tuple) or are_files(X))
