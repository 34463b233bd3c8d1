"""The measures as functions: one number, the mean over queries.

Each is ``Measure(...).mean(...)``. Common arguments, with their meaning in `rank_lists` and
`Measure.mean`: `scores`, `labels` and `qid`, shape (n,) each; `relevant_from`, the smallest label
that is relevant (None: every label above 0); `empty`, what a query counts for which the measure is
undefined ("zero" or "skip"); `weights` of the queries; `doc_ids` for trec_eval's tie rule; `judged`
for its denominators. They raise `InputError`.
"""

from collections.abc import Mapping
from typing import Any, TypedDict, Unpack

from numpy.typing import ArrayLike

from structsvm.metrics.base import Empty, Judged, Measure, Weights
from structsvm.metrics.discounts import Discount, Gain
from structsvm.metrics.measures import AP, NDCG, RR, P, Recall, ROCArea


class _OfMean(TypedDict, total=False):
    weights: Weights | None
    doc_ids: ArrayLike | None
    judged: Judged | None


class _OfAny(_OfMean, total=False):
    empty: Empty


class _OfBinary(_OfAny, total=False):
    relevant_from: float | None


def average_precision(
    scores: ArrayLike, labels: ArrayLike, qid: ArrayLike | None = None, **settings: Unpack[_OfBinary]
) -> float:
    """Mean average precision; see `AP`.

    Parameters
    ----------
    scores, labels, qid : score, label and query id of each document, shape (n,) each; see `rank_lists`. Without
        ``qid``, all documents are of one query.
    **settings : ``relevant_from`` and ``empty`` of the measure; ``weights``, ``doc_ids``, ``judged`` of `Measure.mean`.

    Raises
    ------
    InputError : as `Measure.mean`.

    Examples
    --------
    >>> from structsvm.metrics import average_precision
    >>> average_precision([3.0, 2.0, 1.0, 0.0], [1, 0, 1, 0])
    0.8333333333333333
    """
    return _mean(AP, scores, labels, qid, settings)


def roc_area(
    scores: ArrayLike, labels: ArrayLike, qid: ArrayLike | None = None, **settings: Unpack[_OfBinary]
) -> float:
    """Mean area under the ROC curve; see `ROCArea` (ties follow the tie rule, not 1/2).

    Parameters
    ----------
    scores, labels, qid : score, label and query id of each document, shape (n,) each; see `rank_lists`. Without
        ``qid``, all documents are of one query.
    **settings : ``relevant_from`` and ``empty`` of the measure; ``weights``, ``doc_ids``, ``judged`` of `Measure.mean`.

    Raises
    ------
    InputError : as `Measure.mean`.

    Examples
    --------
    >>> from structsvm.metrics import roc_area
    >>> roc_area([3.0, 2.0, 1.0, 0.0], [1, 0, 1, 0])
    0.75
    """
    return _mean(ROCArea, scores, labels, qid, settings)


def ndcg(
    scores: ArrayLike,
    labels: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    k: int | None = None,
    discount: Discount = "standard",
    gain: Gain = "exponential",
    **settings: Unpack[_OfAny],
) -> float:
    """Mean normalised discounted cumulative gain; see `NDCG`.

    Parameters
    ----------
    scores, labels, qid : score, label and query id of each document, shape (n,) each; see `rank_lists`. Without
        ``qid``, all documents are of one query.
    k, discount, gain : see `NDCG`.
    **settings : ``empty`` of the measure; ``weights``, ``doc_ids``, ``judged`` of `Measure.mean`.

    Raises
    ------
    InputError : as `Measure.mean`.

    Examples
    --------
    >>> from structsvm.metrics import ndcg
    >>> round(ndcg([3.0, 2.0, 1.0], [1, 2, 0]), 4)
    0.7967
    """
    return _mean(NDCG, scores, labels, qid, {"k": k, "discount": discount, "gain": gain, **settings})


def precision(
    scores: ArrayLike, labels: ArrayLike, qid: ArrayLike | None = None, *, k: int, **settings: Unpack[_OfBinary]
) -> float:
    """Mean precision at k; see `P`.

    Parameters
    ----------
    scores, labels, qid : score, label and query id of each document, shape (n,) each; see `rank_lists`. Without
        ``qid``, all documents are of one query.
    k : cut-off, at least 1.
    **settings : ``relevant_from`` and ``empty`` of the measure; ``weights``, ``doc_ids``, ``judged`` of `Measure.mean`.

    Raises
    ------
    InputError : as `Measure.mean`.

    Examples
    --------
    >>> from structsvm.metrics import precision
    >>> precision([3.0, 2.0, 1.0, 0.0], [1, 0, 1, 0], k=2)
    0.5
    """
    return _mean(P, scores, labels, qid, {"k": k, **settings})


def recall(
    scores: ArrayLike, labels: ArrayLike, qid: ArrayLike | None = None, *, k: int, **settings: Unpack[_OfBinary]
) -> float:
    """Mean recall at k; see `Recall`.

    Parameters
    ----------
    scores, labels, qid : score, label and query id of each document, shape (n,) each; see `rank_lists`. Without
        ``qid``, all documents are of one query.
    k : cut-off, at least 1.
    **settings : ``relevant_from`` and ``empty`` of the measure; ``weights``, ``doc_ids``, ``judged`` of `Measure.mean`.

    Raises
    ------
    InputError : as `Measure.mean`.

    Examples
    --------
    >>> from structsvm.metrics import recall
    >>> recall([3.0, 2.0, 1.0, 0.0], [1, 0, 1, 1], k=3)
    0.6666666666666666
    """
    return _mean(Recall, scores, labels, qid, {"k": k, **settings})


def reciprocal_rank(
    scores: ArrayLike, labels: ArrayLike, qid: ArrayLike | None = None, **settings: Unpack[_OfBinary]
) -> float:
    """Mean reciprocal rank of the first relevant document; see `RR`.

    Parameters
    ----------
    scores, labels, qid : score, label and query id of each document, shape (n,) each; see `rank_lists`. Without
        ``qid``, all documents are of one query.
    **settings : ``relevant_from`` and ``empty`` of the measure; ``weights``, ``doc_ids``, ``judged`` of `Measure.mean`.

    Raises
    ------
    InputError : as `Measure.mean`.

    Examples
    --------
    >>> from structsvm.metrics import reciprocal_rank
    >>> reciprocal_rank([3.0, 2.0, 1.0, 0.0], [0, 0, 1, 1])
    0.3333333333333333
    """
    return _mean(RR, scores, labels, qid, settings)


def _mean(
    kind: type[Measure], scores: ArrayLike, labels: ArrayLike, qid: ArrayLike | None, settings: Mapping[str, Any]
) -> float:
    """Return the mean of a measure of these settings, some of which are arguments of the mean."""
    rest = {name: value for name, value in settings.items() if name in _OfMean.__annotations__}
    measure = kind(**{name: value for name, value in settings.items() if name not in rest})
    return measure.mean(scores, labels, qid, **rest)
