"""Use a structsvm ranker as a step of a PyTerrier pipeline."""

from typing import Any, Self

import numpy as np

from structsvm.estimators.ranking import RankingEstimator, predicted
from structsvm.exceptions import InputError
from structsvm.foundation.extras import needed
from structsvm.foundation.settings import require_kind
from structsvm.foundation.types import Matrix, Vector

with needed("structsvm.objectives.for_pyterrier needs PyTerrier", "pyterrier"):
    import pyterrier
    from pyterrier.model import add_ranks


class LearnedRanking(pyterrier.Estimator):
    """A PyTerrier step that trains a ranker on results and reranks results: ``retrieved >> LearnedRanking()``.

    Parameters
    ----------
    ranker : a `Ranker`, or another ranker of `structsvm.rankers`.
    """

    def __init__(self, ranker: RankingEstimator) -> None:
        super().__init__()
        require_kind("ranker", ranker, RankingEstimator, "a Ranker, or one of structsvm.rankers")
        self.ranker: Any = ranker

    def fit(
        self,
        topics_or_res_tr: Any,
        qrels_tr: Any,
        topics_or_res_va: Any = None,
        qrels_va: Any = None,
    ) -> Self:
        """Train on results and their judgments.

        Parameters
        ----------
        topics_or_res_tr : data frame of results with the columns ``qid``, ``docno`` and ``features``, one vector each.
        qrels_tr : data frame of judgments with ``qid``, ``docno`` and ``label``. Unjudged results get label 0.
        topics_or_res_va, qrels_va : validation results and judgments for rankers that train in stages and keep the best
            one, such as `LambdaMART`; other rankers ignore them.
        """
        X, y, qid = _labeled(topics_or_res_tr, qrels_tr)
        held: dict[str, Any] = {}
        if self.ranker.capabilities.is_staged and topics_or_res_va is not None and qrels_va is not None:
            held = {"validation": _labeled(topics_or_res_va, qrels_va)}
        self.ranker.fit(X, y, qid=qid, **held)
        return self

    def transform(self, inp: Any) -> Any:
        """Return results, a data frame with ``qid``, ``docno`` and ``features``, with the ranker's scores and ranks."""
        _require_columns(inp, "the results", ("qid", "docno", "features"))
        if not len(inp):
            return add_ranks(inp.assign(score=np.zeros(0)))
        return add_ranks(inp.assign(score=predicted(self.ranker, _features(inp), inp["qid"].to_numpy())))


def _labeled(results: Any, qrels: Any) -> tuple[Matrix, Vector, Any]:
    _require_columns(results, "the results", ("qid", "docno", "features"))
    _require_columns(qrels, "the judgments", ("qid", "docno", "label"))
    labels = results[["qid", "docno"]].merge(qrels[["qid", "docno", "label"]], on=["qid", "docno"], how="left")
    return _features(results), labels["label"].fillna(0).to_numpy(), results["qid"].to_numpy()


def _features(results: Any) -> Matrix:
    vectors = [np.asarray(vector, dtype=np.float64) for vector in results["features"]]
    lengths = {vector.shape for vector in vectors}
    if len(lengths) != 1:
        raise InputError(f"each result must have a vector of features, all of equal length, got shapes {lengths}")
    return np.stack(vectors)


def _require_columns(frame: Any, what: str, names: tuple[str, ...]) -> None:
    columns = list(getattr(frame, "columns", ()))
    lacking = [name for name in names if name not in columns]
    if lacking:
        hint = ". A step before it makes features, such as ** of two retrieval functions" * ("features" in lacking)
        raise InputError(f"{what} must be a data frame with {', '.join(names)}; it has no {', '.join(lacking)}{hint}")
