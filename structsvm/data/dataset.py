"""Data sets returned by readers, and pools, which are the joined documents of several runs."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from structsvm.data.pairs import as_ids, number_pairs, number_topics, sort_topics
from structsvm.data.runs import Qrels, QrelsLike, Run, RunLike, as_qrels, as_run, unjudged_as_zero
from structsvm.exceptions import InputError, UnknownNameError, brief, counted
from structsvm.foundation.arrays import is_sparse
from structsvm.foundation.frames import is_frame
from structsvm.foundation.settings import as_list, repeated, require_integer, require_kind
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
    categories : columns of categories in the file; each value has a feature "column=value".
    sample_weight : weight of each row, shape (n,), for ``fit(..., sample_weight=data.sample_weight)``; None if there is
        no file or column of weights.

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
    categories: tuple[str, ...] = ()

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
        """Return a run's score of each document of the pool, shape (n,): -inf if it did not retrieve the document.

        A ranking by these scores ends with documents that the run did not retrieve. Other names raise UnknownNameError.
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


def pool_runs(
    runs: Sequence[RunLike],
    qrels: QrelsLike,
    *,
    depth: int = 1000,
    topics: Iterable[str | int] | None = None,
) -> Pool:
    """Pool the first `depth` documents of each run for each topic, with their judgments.

    Unjudged documents are not relevant. A topic is left out if its pool has no relevant document, or if it is missing
    from the runs or from the judgments; `Pool.left_out` gives the reasons. Pool and default depth are as in section 4
    of Yue, Finley, Radlinski and Joachims (SIGIR 2007).

    Parameters
    ----------
    runs : the runs, with distinct names; or data frames or dictionaries (`Run.from_frame`, `Run.from_dict`),
        named run 1, run 2, ...
    qrels : the judgments, or a data frame or dictionary of them (`Qrels.from_frame`, `Qrels.from_dict`).
    depth : number of best documents that a run contributes to a topic, at least 1.
    topics : the topics to pool. None: all topics of the runs and of the judgments.

    Examples
    --------
    >>> from structsvm.data import Qrels, Run
    >>> found = {"one": ["a", "b"], "two": ["b", "c"]}
    >>> runs = [Run.from_scores(name, [1, 1], ids, [2.0, 1.0]) for name, ids in found.items()]
    >>> pool = pool_runs(runs, Qrels.from_grades([1, 1], ["a", "c"], [1, 0]))
    >>> pool.X.shape
    (3, 2)
    """
    asked, listed = _as_topics(topics), as_runs(runs)
    judgments = _of_topics(as_qrels(qrels), asked)
    joined = _joined(listed, depth, asked)
    qid, y = joined.qid, unjudged_as_zero(judgments.grades_of(joined.qid, joined.doc_ids))
    all_topics = sort_topics({*joined.topics, *judgments.index.topics} if asked is None else asked)
    left_out = _reasons(all_topics, qid, y, judgments)
    pooled = ~np.isin(qid, list(left_out))
    if not pooled.any():
        shown = [f"{topic}, because {reason}" for topic, reason in list(left_out.items())[:3]]
        more = f"; and {len(left_out) - 3} more" if len(left_out) > 3 else ""
        raise InputError(f"the pool has no topics: {'; '.join(shown) or 'the list of topics is empty'}{more}")
    return Pool(
        X=joined.X[pooled],
        y=y[pooled],
        qid=qid[pooled],
        doc_ids=joined.doc_ids[pooled],
        run_names=joined.run_names,
        qrels=_of_topics(judgments, set(qid[pooled].tolist())),
        left_out=left_out,
    )


def join_runs(runs: Sequence[RunLike], *, depth: int = 1000, topics: Iterable[str | int] | None = None) -> JoinedRuns:
    """Join the first `depth` documents of each run for each topic, without judgments.

    Parameters
    ----------
    runs, depth : see `pool_runs`.
    topics : the topics to join. None: all topics of the runs.

    Returns
    -------
    joined : an object with ``X``, the score of each document in each run, shape (n, runs), NaN if the run did not
        retrieve it; ``qid`` and ``doc_ids``, shape (n,); and ``run_names``. Rows are ordered as in `Pool`.

    Examples
    --------
    >>> from structsvm.data import Run
    >>> one = Run.from_scores("one", qid=[7, 7], doc_ids=["x", "y"], scores=[2.0, 1.0])
    >>> two = Run.from_scores("two", qid=[7], doc_ids=["y"], scores=[0.5])
    >>> join_runs([one, two]).X
    array([[1. , 0.5],
           [2. , nan]])
    """
    asked = _as_topics(topics)
    joined = _joined(as_runs(runs), depth, asked)
    if not len(joined.qid):
        raise InputError(f"no run has any of the {len(asked or ())} topics: check that the runs use the same topic ids")
    return joined


def _joined(runs: Sequence[Run], depth: int, topics: set[str] | None) -> JoinedRuns:
    """Join the best documents of each run for the topics."""
    names = tuple(run.name for run in runs)
    if not names:
        raise InputError("the list of runs is empty: pass at least one")
    twice = repeated(names)
    if twice is not None:
        raise InputError(f"two runs are named {twice!r}: rename one of them, for example with load_run(path, name=...)")
    require_integer("depth", depth, 1)
    tops = [_first(run, depth, topics) for run in runs]
    pairs = number_pairs(np.concatenate([top.qid for top in tops]), np.concatenate([top.doc_ids for top in tops]))
    key, row = np.unique(pairs.key, return_inverse=True)
    X = np.full((len(key), len(tops)), np.nan)
    X[row, np.repeat(np.arange(len(tops)), [len(top.qid) for top in tops])] = np.concatenate(
        [top.scores for top in tops]
    )
    return JoinedRuns(X, pairs.qid(key), pairs.doc_ids(key), names)


def as_runs(runs: Any) -> list[Run]:
    """Return runs, data frames and dictionaries as a list of runs; the unnamed ones are called run 1, run 2, ..."""
    if isinstance(runs, Run):
        raise InputError(f"runs must be a list of runs, such as [run, other], got one run, {runs.name!r}")
    if is_frame(runs) or isinstance(runs, Mapping):
        kind = "dictionary" if isinstance(runs, Mapping) else "data frame"
        raise InputError(f"runs must be a list of runs, such as [run, other], got one {kind}")
    if isinstance(runs, str) or not isinstance(runs, Iterable):
        raise InputError(f"runs must be a list of runs, such as load_runs returns, got {brief(runs)}")
    listed = as_list("runs", runs, "a list of runs")
    return [as_run(f"runs[{number}]", run, f"run {number + 1}") for number, run in enumerate(listed)]


def _as_topics(topics: Iterable[str | int] | None) -> set[str] | None:
    """Return the topics as text, or None for all."""
    if isinstance(topics, str):
        raise InputError(f"topics must be a list of topics, such as [{topics!r}]")
    return None if topics is None else set(as_ids(as_list("topics", topics, "a list of topics"), "topics").tolist())


def _first(run: Run, depth: int, topics: set[str] | None) -> Run:
    """Return the best documents of a run for the topics."""
    names, number = number_topics(run.qid)
    starts = np.flatnonzero(np.diff(number, prepend=-1))
    wanted = np.array([topics is None or name in topics for name in names], dtype=np.bool_)
    rows = wanted[number] & (np.arange(len(number)) - starts[number] < depth)
    return Run(run.name, run.qid[rows], run.doc_ids[rows], run.scores[rows])


def _of_topics(qrels: Qrels, topics: set[str] | None) -> Qrels:
    if topics is None:
        return qrels
    rows = np.isin(qrels.qid, list(topics))
    return Qrels(qrels.qid[rows], qrels.doc_ids[rows], qrels.grades[rows])


def _reasons(topics: Iterable[str], qid: NDArray[np.str_], y: Vector, judgments: Qrels) -> dict[str, str]:
    """Return the topics without a relevant document in the pool (qid, y), each with the reason."""
    pooled, judged = set(qid.tolist()), set(judgments.qid.tolist())
    topics_with_relevant = set(qid[y > 0].tolist())
    relevant = Counter(judgments.qid[judgments.grades > 0].tolist())

    def reason(topic: str) -> str:
        if topic not in pooled:
            return "no run has it" if topic in judged else "no run has it and it is not judged"
        if topic not in judged:
            return "it is not judged"
        if not relevant[topic]:
            return "no document is judged relevant"
        return f"no run retrieved any of the {relevant[topic]} documents judged relevant"

    return {topic: reason(topic) for topic in topics if topic not in topics_with_relevant}
