"""Data sets returned by readers: features with labels and queries, and joined runs."""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from structsvm.data.runs import Qrels
from structsvm.exceptions import UnknownNameError, counted
from structsvm.foundation.arrays import is_sparse
from structsvm.foundation.settings import require_kind
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
    sample_weight : weight of each row, shape (n,), for ``fit(..., sample_weight=data.sample_weight)``; None if there is
        no file of weights.

    Examples
    --------
    >>> data = RankingData(np.ones((3, 2)), y=np.array([0.0, 1.0, 2.0]), qid=np.array([1, 1, 2]))
    >>> data.summary
    '2 queries, 3 documents, 2 features, dense'
    """

    X: Features
    y: Vector
    qid: IntVector | NDArray[np.str_]
    doc_ids: NDArray[np.str_] | None = None
    feature_names: tuple[str, ...] | None = None
    sample_weight: Vector | None = None

    @property
    def summary(self) -> str:
        """Numbers of queries, documents and features, and the storage of the features, as text."""
        kind = "sparse" if is_sparse(self.X) else "dense"
        n, d = self.X.shape
        queries = counted(len(np.unique(self.qid)), "query", "queries")
        return f"{queries}, {counted(n, 'document')}, {counted(d, 'feature')}, {kind}"

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
        sizes = (
            counted(len(self.topics), "topic"),
            counted(len(self.qid), "document"),
            counted(len(self.run_names), "run"),
        )
        return f"{type(self).__name__}({', '.join(sizes)})"


def _read_only(reasons: Mapping[str, str]) -> Mapping[str, str]:
    require_kind("left_out", reasons, Mapping, "a dict of topics and reasons")
    return MappingProxyType(dict(reasons))


@frozen(eq=False, repr=False, kw_only=True)
class Pool(JoinedRuns):
    """The documents that several runs retrieved, with judgments, for topics that have relevant documents.

    Made by `pool_runs`. Rows are ordered by topic (by number if all topics are numbers) and by document id, descending.
    With ``ties="input"``, measures order documents of equal score as trec_eval does.

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


def _count(qid: NDArray[np.str_], mask: BoolVector, topics: tuple[str, ...]) -> dict[str, int]:
    names, counts = np.unique(qid[mask], return_counts=True)
    number: dict[str, int] = dict(zip(names.tolist(), counts.tolist(), strict=True))
    return {topic: number.get(topic, 0) for topic in topics}
