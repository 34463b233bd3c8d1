"""The measures of LETOR's evaluation tools."""

import numpy as np

from structsvm.metrics import AP, NDCG, P, RankedLists, rank_lists
from structsvm.types import IntVector, Vector

CUTOFFS = range(1, 11)


def measured(scores: Vector, y: Vector, qid: IntVector) -> dict[str, float]:
    """Return the means over queries of what LETOR reports.

    ``map``; ``p@1`` to ``p@10``, where places beyond the last document hold none that is relevant;
    ``ndcg@1`` to ``ndcg@10``, with gains ``2^grade - 1`` and discounts 1, 1, 1/log2(3), 1/log2(4), ...;
    and ``ndcg4@1`` to ``ndcg4@10``, the same as the tool of LETOR 4.0 counts it: 0 for a query with fewer
    than k documents. A query without a relevant document (a label above 0) counts 0 in all of them.
    Documents of one score keep their order.

    Parameters
    ----------
    scores : larger is ahead, shape (rows,).
    y : grades, shape (rows,).
    qid : query of each row.

    Raises
    ------
    InputError : a score is NaN.
    """
    lists = rank_lists(scores, y, qid)
    documents = np.bincount(lists.query, minlength=len(lists.ids))
    ndcg = {k: _ndcg(lists, k) for k in CUTOFFS}
    return {
        "map": float(AP().of(lists).values.mean()),
        **{f"p@{k}": float(P(k).of(lists).values.mean()) for k in CUTOFFS},
        **{f"ndcg@{k}": float(ndcg[k].mean()) for k in CUTOFFS},
        **{f"ndcg4@{k}": float((ndcg[k] * (documents >= k)).mean()) for k in CUTOFFS},
    }


def _ndcg(lists: RankedLists, k: int) -> Vector:
    return NDCG(k, discount="letor").of(lists).values
