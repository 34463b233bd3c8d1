"""Data sets that readers return: features with labels and queries, and joined runs."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray

from structsvm.data.qrels import Qrels
from structsvm.exceptions import InputError, UnknownNameError
from structsvm.foundation.arrays import is_sparse, numbers
from structsvm.foundation.queries import Queries
from structsvm.foundation.settings import as_names, require_kind
from structsvm.foundation.types import BoolVector, Features, IntVector, Matrix, Vector


@frozen(eq=False, repr=False)
class RankingData:
    """Documents with their features, labels and queries.

    Parameters
    ----------
    X : features, shape (n, d), float64, dense or CSR.
    y : labels, shape (n,), float64.
    qid : query id of each row, shape (n,), integers or strings.
    doc_ids : document id of each row, shape (n,); None if they were not read.
    feature_names : name of each column; None if the columns have only numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm.data import RankingData
    >>> data = RankingData(np.ones((3, 2)), y=np.array([0.0, 1.0, 2.0]), qid=np.array([1, 1, 2]))
    >>> data.summary
    '2 queries, 3 documents, 2 features, dense'
    """

    X: Features
    y: Vector
    qid: IntVector | NDArray[np.str_]
    doc_ids: NDArray[np.str_] | None = None
    feature_names: tuple[str, ...] | None = None

    @property
    def summary(self) -> str:
        """Numbers of queries, documents and features, and the storage of the features, in words."""
        kind = "sparse" if is_sparse(self.X) else "dense"
        n, d = self.X.shape
        return f"{len(np.unique(self.qid))} queries, {n} documents, {d} features, {kind}"

    def __repr__(self) -> str:
        return f"RankingData({self.summary})"


@frozen(eq=False, repr=False)
class JoinedRuns:
    """The documents that any of several runs retrieved for a topic; made by `join_runs`. A `Pool` adds judgments."""

    X: Matrix
    qid: NDArray[np.str_]
    doc_ids: NDArray[np.str_]
    run_names: tuple[str, ...]

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics, in the order of the rows."""
        return tuple(dict.fromkeys(self.qid.tolist()))

    def __repr__(self) -> str:
        sizes = f"{len(self.topics)} topics, {len(self.qid)} documents, {len(self.run_names)} runs"
        return f"{type(self).__name__}({sizes})"


def _read_only(reasons: Mapping[str, str]) -> Mapping[str, str]:
    return MappingProxyType(dict(reasons))


@frozen(eq=False, repr=False, kw_only=True)
class Pool(JoinedRuns):
    """The documents that several runs retrieved, with judgments, for topics that have relevant documents.

    Made by `pool_runs`. Rows are ordered by topic (by number if all topics are numbers) and by document id, descending.
    Measures leave documents of equal score in the order of the rows, so they break ties as trec_eval does.

    Parameters
    ----------
    X : score of each document in each run, shape (n, number of runs); NaN if the run did not retrieve the document.
    qid : topic of each document, shape (n,).
    doc_ids : document ids, shape (n,).
    run_names : names of the runs, in the order of the columns.
    y : grade of each document, shape (n,); 0 if it was not judged.
    qrels : the judgments for the topics of the pool, including documents that no run retrieved.
    left_out : the topics that are not in the pool, each with the reason.

    Examples
    --------
    >>> from structsvm.data import Qrels, Run, pool_runs
    >>> found = {"one": ["a", "b"], "two": ["b", "c"]}
    >>> runs = [Run.from_scores(name, [1, 1], ids, [2.0, 1.0]) for name, ids in found.items()]
    >>> pool = pool_runs(runs, Qrels.from_grades([1, 1], ["a", "c"], [1, 0]))
    >>> pool.X.tolist(), pool.y.tolist()
    ([[nan, 1.0], [1.0, 2.0], [2.0, nan]], [0.0, 0.0, 1.0])
    """

    y: Vector
    qrels: Qrels
    left_out: Mapping[str, str] = field(converter=_read_only)

    @classmethod
    def from_arrays(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        qid: ArrayLike,
        *,
        run_names: Sequence[str] | None = None,
        doc_ids: ArrayLike | None = None,
        judged: Mapping[Any, int] | None = None,
        left_out: Mapping[str, str] | None = None,
    ) -> Self:
        """Make a pool from arrays.

        Parameters
        ----------
        X : score of each document in each run, larger is better, shape (n, number of runs); NaN if the run did not
            retrieve the document.
        y : grades, shape (n,); relevant above 0.
        qid : topic of each row, shape (n,); rows of a topic need not be together.
        run_names : names of the runs; None: "f1", "f2", ...
        doc_ids : document ids, shape (n,). Documents of one score are ranked by id, descending, as in trec_eval. None:
            they keep the order of the rows.
        judged : number of documents judged relevant for each topic, in the rows or not; None: as in the rows.
        left_out : further topics that are not in the pool, each with the reason.

        Raises
        ------
        InputError : the arrays do not fit each other, scores are infinite, or no topic has a relevant document.

        Examples
        --------
        >>> from structsvm.data import Pool
        >>> X, y, qid = [[3.0, 0.1], [1.0, 0.9], [1.0, 0.2]], [1, 0, 0], ["q1", "q1", "q2"]
        >>> pool = Pool.from_arrays(X, y, qid, run_names=["bm25", "lm"], judged={"q1": 2, "q2": 1})
        >>> pool.relevant_judged, dict(pool.left_out)
        ({'q1': 2}, {'q2': 'no document in its pool is relevant'})
        """
        scores, grades = numbers(X, "X"), numbers(y, "y")
        names = _names(run_names, scores)
        if grades.shape != (len(scores),):
            raise InputError(f"X has {len(scores)} rows, but y has shape {grades.shape}: pass one label per row")
        if np.isinf(scores).any():
            row, column = np.argwhere(np.isinf(scores))[0]
            raise InputError(
                f"X must not be infinite: row {row} of {names[column]} is. Write NaN for documents not retrieved"
            )
        if not np.isfinite(grades).all():
            raise InputError(f"y must be finite: row {int(np.argmin(np.isfinite(grades)))} is not")
        queries = Queries.of(qid, len(grades))
        found = np.bincount(queries.number, grades > 0, len(queries.ids)).astype(np.int64)
        ids = np.array([str(each) for each in queries.ids.tolist()])
        if not found.any():
            raise InputError("no query has a relevant document: some labels must be above 0")
        counts = found if judged is None else np.array([judged[each] for each in queries.ids.tolist()])
        if (counts < found).any():
            k = int(np.argmax(counts < found))
            raise InputError(f"query {ids[k]} has {found[k]} relevant documents, but judged says {counts[k]}")
        documents, order = _tie_order(queries.number, doc_ids)
        order = order[found[queries.number[order]] > 0]
        topics, documents = ids[queries.number[order]], documents[order]
        absent = [(k, f"not retrieved {n}") for k in np.flatnonzero(found) for n in range(counts[k] - found[k])]
        return cls(
            X=np.ascontiguousarray(scores[order]),
            y=grades[order],
            qid=topics,
            doc_ids=documents,
            run_names=names,
            qrels=Qrels.from_grades(
                [*topics.tolist(), *(ids[k] for k, _ in absent)],
                [*documents.tolist(), *(name for _, name in absent)],
                [*(grades[order] > 0).astype(int).tolist(), *[1] * len(absent)],
            ),
            left_out=dict(left_out or {}) | {ids[k].item(): _NONE_RELEVANT for k in np.flatnonzero(found == 0)},
        )

    @property
    def data(self) -> RankingData:
        """The pool as `RankingData`."""
        return RankingData(X=self.X, y=self.y, qid=self.qid, doc_ids=self.doc_ids)

    @property
    def relevant(self) -> dict[str, int]:
        """Number of relevant documents (grade above 0) in the pool of each topic."""
        return _count(self.qid, self.y > 0, self.topics)

    @property
    def relevant_judged(self) -> dict[str, int]:
        """Number of documents judged relevant (grade above 0) for each topic, retrieved or not: trec_eval's R."""
        return _count(self.qrels.qid, self.qrels.grades > 0, self.topics)

    def retrieved(self, run: str) -> BoolVector:
        """Return which documents of the pool a run retrieved, shape (n,); raise UnknownNameError for other runs."""
        return ~np.isnan(self.X[:, self._column(run)])

    def submission_scores(self, run: str) -> Vector:
        """Return the scores of a run for all documents of the pool, shape (n,): -inf if it did not retrieve one.

        A ranking by these scores ends with documents that the run did not retrieve. Raises UnknownNameError.
        """
        return np.nan_to_num(self.X[:, self._column(run)], nan=-np.inf)

    def _column(self, run: str) -> int:
        require_kind("run", run, str, "the name of a run")
        if run not in self.run_names:
            raise UnknownNameError("run", run, self.run_names)
        return self.run_names.index(run)


_NONE_RELEVANT = "no document in its pool is relevant"


def _names(names: Sequence[str] | None, X: NDArray[Any]) -> tuple[str, ...]:
    if X.ndim != 2 or 0 in X.shape:
        raise InputError(f"X must be a matrix with a column per run, got shape {X.shape}")
    made = tuple(f"f{k + 1}" for k in range(X.shape[1])) if names is None else as_names("run_names", names)
    if len(made) != X.shape[1]:
        raise InputError(f"X has {X.shape[1]} columns, but run_names has {len(made)} names")
    return made


def _tie_order(number: IntVector, doc_ids: ArrayLike | None) -> tuple[NDArray[np.str_], IntVector]:
    """Return document ids, and the rows topic after topic and by descending id within each; as given without ids."""
    rows = np.arange(len(number))
    names = rows.astype(str) if doc_ids is None else np.asarray(doc_ids)
    if names.shape != number.shape:
        raise InputError(f"doc_ids must be one document id per row, shape {number.shape}, got {names.shape}")
    if doc_ids is not None:
        rows = np.argsort(names, kind="stable")[::-1]
    return names.astype(str), rows[np.argsort(number[rows], kind="stable")]


def _count(qid: NDArray[np.str_], chosen: BoolVector, topics: tuple[str, ...]) -> dict[str, int]:
    found, counts = np.unique(qid[chosen], return_counts=True)
    number: dict[str, int] = dict(zip(found.tolist(), counts.tolist(), strict=True))
    return {topic: number.get(topic, 0) for topic in topics}
