"""A ranker as a step of PyTerrier's pipelines."""

from typing import Any, Self

import numpy as np

from structsvm.estimators.linear import LinearScores
from structsvm.estimators.ranking import RankingEstimator
from structsvm.exceptions import InputError, NotInstalledError
from structsvm.rankers.staged import StagedRanker
from structsvm.settings import require_kind
from structsvm.types import Matrix, Vector

try:
    import pyterrier
    from pyterrier.model import add_ranks
except ImportError as error:
    raise NotInstalledError(
        "structsvm.objectives.for_pyterrier needs PyTerrier: pip install 'structural-svm[pyterrier]'."
    ) from error


class LearnedRanking(pyterrier.Estimator):
    """A ranker that learns from, and ranks, what a pipeline returns with features: ``retrieved >> LearnedRanking()``.

    PyTerrier's own ``apply_learned_model`` gives a learner features and labels and drops the queries, or wants the
    arguments of LightGBM. Java is not needed.

    Parameters
    ----------
    ranker : a `Ranker`, or any other of `structsvm.rankers`.
    """

    def __init__(self, ranker: RankingEstimator) -> None:
        super().__init__()
        require_kind("ranker", ranker, RankingEstimator, "a Ranker, or one of structsvm.rankers")
        self.ranker = ranker

    def fit(
        self,
        topics_or_res_tr: Any,
        qrels_tr: Any,
        topics_or_res_va: Any = None,
        qrels_va: Any = None,
    ) -> Self:
        """Learn from results and their judgments.

        Parameters
        ----------
        topics_or_res_tr : data frame of results, with ``qid``, ``docno`` and ``features``, a vector each.
        qrels_tr : data frame of judgments, with ``qid``, ``docno`` and ``label``. Results without one count as 0.
        topics_or_res_va, qrels_va : the same to validate by, for rankers that learn step by step and keep the best
            one, such as `LambdaMART`; others do not look at it.

        Raises
        ------
        InputError : a column is missing, there are no results, or the ranker cannot use them; it says why.
        """
        X, y, qid = _labelled(topics_or_res_tr, qrels_tr)
        held: dict[str, Any] = {}
        if isinstance(self.ranker, StagedRanker) and topics_or_res_va is not None and qrels_va is not None:
            held = {"validation": _labelled(topics_or_res_va, qrels_va)}
        self.ranker.fit(X, y, qid=qid, **held)
        return self

    def transform(self, inp: Any) -> Any:
        """Return results with the scores of the ranker, and ranks by these.

        Parameters
        ----------
        inp : data frame of results, with ``qid``, ``docno`` and ``features``.
        """
        _require_columns(inp, "the results", ("qid", "docno", "features"))
        if not len(inp):
            return add_ranks(inp.assign(score=np.zeros(0)))
        by_query = {"qid": inp["qid"].to_numpy()} if isinstance(self.ranker, LinearScores) else {}
        return add_ranks(inp.assign(score=self.ranker.predict(_features(inp), **by_query)))


def _labelled(results: Any, qrels: Any) -> tuple[Matrix, Vector, Any]:
    _require_columns(results, "the results", ("qid", "docno", "features"))
    _require_columns(qrels, "the judgments", ("qid", "docno", "label"))
    labels = results[["qid", "docno"]].merge(qrels[["qid", "docno", "label"]], on=["qid", "docno"], how="left")
    return _features(results), labels["label"].fillna(0).to_numpy(), results["qid"].to_numpy()


def _features(results: Any) -> Matrix:
    vectors = [np.asarray(vector, dtype=np.float64) for vector in results["features"]]
    lengths = {vector.shape for vector in vectors}
    if len(lengths) != 1:
        raise InputError(f"the results must have a vector of features each, all of one length, got shapes {lengths}")
    return np.stack(vectors)


def _require_columns(frame: Any, what: str, names: tuple[str, ...]) -> None:
    columns = list(getattr(frame, "columns", ()))
    lacking = [name for name in names if name not in columns]
    if lacking:
        hint = ". A step before it makes features, such as ** of two retrieval functions" * ("features" in lacking)
        raise InputError(f"{what} must be a data frame with {', '.join(names)}; it has no {', '.join(lacking)}{hint}")
