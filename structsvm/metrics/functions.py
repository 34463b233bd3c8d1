"""The measures as functions: one number, the mean over queries.

Each is ``Measure(...).mean(...)``. Common arguments, with their meaning in `rank_lists` and
`Measure.mean`: `scores`, `labels` and `qid`, shape (n,) each; `relevant_from`, the smallest label
that is relevant (None: every label above 0); `empty`, what a query counts for which the measure is
undefined ("zero" or "skip"); `weights` of the queries; `doc_ids` for trec_eval's tie rule; `judged`
for its denominators. They raise `InputError`.
"""

from typing import Literal, TypedDict, Unpack

from numpy.typing import ArrayLike

from structsvm.metrics.base import Empty, Judged, Weights
from structsvm.metrics.measures import AP, NDCG, RR, P, Recall, ROCArea


class _Mean(TypedDict, total=False):
    weights: Weights | None
    doc_ids: ArrayLike | None
    judged: Judged | None


def average_precision(
    scores: ArrayLike,
    labels: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    relevant_from: float | None = None,
    empty: Empty = "zero",
    **rest: Unpack[_Mean],
) -> float:
    """Mean average precision; see `AP`.

    Examples
    --------
    >>> average_precision([3.0, 2.0, 1.0, 0.0], [1, 0, 1, 0])
    0.8333333333333333
    """
    return AP(relevant_from=relevant_from, empty=empty).mean(scores, labels, qid, **rest)


def roc_area(
    scores: ArrayLike,
    labels: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    relevant_from: float | None = None,
    empty: Empty = "zero",
    **rest: Unpack[_Mean],
) -> float:
    """Mean area under the ROC curve; see `ROCArea` (ties follow the tie rule, not 1/2).

    Examples
    --------
    >>> roc_area([3.0, 2.0, 1.0, 0.0], [1, 0, 1, 0])
    0.75
    """
    return ROCArea(relevant_from=relevant_from, empty=empty).mean(scores, labels, qid, **rest)


def ndcg(
    scores: ArrayLike,
    labels: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    k: int | None = None,
    discount: Literal["standard", "letor"] = "standard",
    gain: Literal["exponential", "linear"] = "exponential",
    empty: Empty = "zero",
    **rest: Unpack[_Mean],
) -> float:
    """Mean normalised discounted cumulative gain; see `NDCG`, also for `k`, `discount` and `gain`.

    Examples
    --------
    >>> round(ndcg([3.0, 2.0, 1.0], [1, 2, 0]), 4)
    0.7967
    """
    return NDCG(k, discount=discount, gain=gain, empty=empty).mean(scores, labels, qid, **rest)


def precision(
    scores: ArrayLike,
    labels: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    k: int,
    relevant_from: float | None = None,
    empty: Empty = "zero",
    **rest: Unpack[_Mean],
) -> float:
    """Mean precision at k; see `P`.

    Examples
    --------
    >>> precision([3.0, 2.0, 1.0, 0.0], [1, 0, 1, 0], k=2)
    0.5
    """
    return P(k, relevant_from=relevant_from, empty=empty).mean(scores, labels, qid, **rest)


def recall(
    scores: ArrayLike,
    labels: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    k: int,
    relevant_from: float | None = None,
    empty: Empty = "zero",
    **rest: Unpack[_Mean],
) -> float:
    """Mean recall at k; see `Recall`.

    Examples
    --------
    >>> recall([3.0, 2.0, 1.0, 0.0], [1, 0, 1, 1], k=3)
    0.6666666666666666
    """
    return Recall(k, relevant_from=relevant_from, empty=empty).mean(scores, labels, qid, **rest)


def reciprocal_rank(
    scores: ArrayLike,
    labels: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    relevant_from: float | None = None,
    empty: Empty = "zero",
    **rest: Unpack[_Mean],
) -> float:
    """Mean reciprocal rank of the first relevant document; see `RR`.

    Examples
    --------
    >>> reciprocal_rank([3.0, 2.0, 1.0, 0.0], [0, 0, 1, 1])
    0.3333333333333333
    """
    return RR(relevant_from=relevant_from, empty=empty).mean(scores, labels, qid, **rest)
