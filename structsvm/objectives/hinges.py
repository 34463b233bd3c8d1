"""The hinge of every query as a function of scores, with its subgradient per document."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray

from structsvm.arrays import numbers
from structsvm.compute.threads import using
from structsvm.exceptions import InputError
from structsvm.losses import Loss, ScoreLoss
from structsvm.losses.base import RAISED_AS_IS
from structsvm.problem.checks import (
    LARGEST_SCORE,
    checked_labels,
    checked_weights,
    failed,
    is_usable,
    number_of,
    require_argmaxes,
    require_one_usable,
    require_output,
    require_planes,
    require_usable,
)
from structsvm.problem.loops import segment_dots
from structsvm.problem.oracle import Oracle, make_oracle
from structsvm.queries import Queries
from structsvm.registry import losses
from structsvm.settings import require_switch
from structsvm.types import BoolVector, Vector

_WORTH_THREADS = 100_000
"""Scores of which the argmaxes take longer than to begin and to end threads, some 0.4 ms."""


class HingeValues(NamedTuple):
    """The values and the subgradient of a `Hinge` at some scores.

    Parameters
    ----------
    values : ``max_ŷ [Δ(y, ŷ) + s·c(ŷ)] − s·c(y)`` of each usable query, at least 0, in the order of `Hinge.ids`,
        shape (U,). Weights of queries are not in them.
    gradient : subgradient of ``Σ κ_q values_q`` with respect to the scores, ``κ_q (c(ŷ) − c(y))`` at the most violated
        output ŷ of the query, in the order of the rows given, shape (n,); 0 in queries that are not usable.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm.objectives import Hinge
    >>> found = Hinge("map", [1, 0], [1, 1])(np.array([0.0, 0.0]))
    >>> type(found).__name__
    'HingeValues'
    """

    values: Vector
    gradient: Vector


@frozen(eq=False, init=False)
class Hinge:
    """The hinges of queries with given labels, as a function of scores that may come from any model.

    ``Hinge(loss, y, qid)`` prepares what does not depend on scores; what it makes is called with scores, thousands of
    times in the loop of a trainer. The hinge is the convex bound of Δ that a structural SVM minimises with margin
    rescaling (Tsochantaridis, Joachims, Hofmann and Altun, JMLR 2005, section 2.2): it is at least Δ of the ranking by
    the scores, and a maximum of functions that are linear in these. A loss with a kernel is computed by compiled code,
    on as many threads as numba is set to, where there are enough scores for them.

    Parameters
    ----------
    loss : name or object; a `ScoreLoss` with one score a row. It is bound to the labels, as in `Ranker`: so
        ``"ndcg@10"`` is trained without its cut-off, which ``"ndcg@10(truncated=true)"`` keeps.
    y : label of each row, larger is better, shape (n,).
    qid : query id of each row; rows of a query need not be together. None: all rows are one query. Where each row is an
        example of its own (``zero_one``), it is not looked at.
    sample_weight : weight of each row, the same for all rows of a query: its κ, which the gradient is multiplied by,
        and values are not. None: all 1.
    none_usable : what is done where the loss can learn from none of the queries, True: values are an empty vector and
        the gradient is 0, as a batch of few queries may want; False: it is refused.

    Attributes
    ----------
    loss : the loss, bound.
    ids : ids of the usable queries, in order of first appearance, shape (U,); those of rows, which are their numbers,
        where each row is an example.
    weights : κ of the usable queries, shape (U,).

    Raises
    ------
    InputError : the labels or ids cannot be used, it says why; the loss has no scores of documents, or (unless
        ``none_usable``) can learn from no query.
    UnknownNameError : no loss has that name.

    Examples
    --------
    >>> hinge = Hinge("map", [1, 0, 0, 1, 0], [7, 7, 7, 8, 8])
    >>> values, gradient = hinge([0.1, 0.3, -1.0, 2.0, 0.0])
    >>> values.round(3)
    array([0.7, 0. ])
    >>> gradient
    array([-1.,  1.,  0.,  0.,  0.])
    """

    loss: ScoreLoss[Any]
    ids: NDArray[Any]
    weights: Vector = field(repr=False)
    _ys: Any = field(repr=False)
    _queries: Queries = field(repr=False)
    _usable: BoolVector = field(repr=False)
    _oracle: Oracle | None = field(repr=False)
    _factor: Vector = field(repr=False)

    def __init__(
        self,
        loss: str | ScoreLoss[Any],
        y: ArrayLike,
        qid: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        none_usable: bool = False,
    ) -> None:
        require_switch("none_usable", none_usable)
        chosen = score_loss(loss)
        if not chosen.scores_rows:
            raise InputError(
                f"{chosen.title} does not give each row one score, so that labels alone do not tell which scores an "
                "example has: Hinge.of_outputs(loss, ys, sizes) is told"
            )
        labels: Any = np.asarray(y)
        bound: ScoreLoss[Any] = chosen.bind(labels)
        labels = checked_labels(bound, (len(labels) if labels.ndim else 0, 1), labels)
        if not len(labels) and not none_usable:
            raise InputError("y has no labels: a hinge is of one query at least")
        if bound.per_row:
            queries, usable = Queries.of_sizes(np.ones(len(labels), dtype=np.int64)), np.ones(len(labels), np.bool_)
            self._prepare(bound, labels, queries, queries.weights(sample_weight), usable)
            return
        queries = Queries.of(qid, len(labels))
        ys = queries.split(labels)
        usable = np.array([is_usable(bound, each) for each in ys], dtype=np.bool_)
        if not none_usable:
            require_one_usable(bound, ys, usable)
        self._prepare(bound, ys, queries, queries.weights(sample_weight, usable), usable)

    @classmethod
    def of_outputs(
        cls,
        loss: str | ScoreLoss[Any],
        ys: Sequence[Any],
        sizes: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Make the hinges of examples with outputs of any kind, whose scores come one example after the other.

        Parameters
        ----------
        loss : name or object; any `ScoreLoss`.
        ys : true outputs, one an example: classes for ``multiclass``, sequences for ``chain_hamming``,
            `JudgedPairs` for `PreferencePairs`.
        sizes : number of scores of each example, shape (m,), or one number for all: K for ``multiclass`` with K
            classes, ``T K + K²`` for a sequence of T labels of K states.
        sample_weight : weight of each example, shape (m,). None: all 1.

        Raises
        ------
        InputError : outputs do not fit the number of their scores, or the loss can learn from none.
        """
        if isinstance(ys, Mapping):
            raise InputError("ys must be a list of true outputs, got a dict: pass list(ys.values())")
        m = number_of("ys", ys)
        count = numbers(sizes, "sizes")
        if (
            count.shape not in ((), (m,))
            or not (np.isfinite(count) & (count >= 0.0)).all()
            or (count != np.floor(count)).any()
        ):
            raise InputError(
                f"sizes must be the number of scores of each of the {m} examples, or one number for all, got {sizes!r}"
            )
        bound: ScoreLoss[Any] = score_loss(loss).bind(ys)
        queries = Queries.of_sizes(np.broadcast_to(count, m).astype(np.int64))
        usable = np.array([is_usable(bound, y) for y in ys], dtype=np.bool_)
        require_usable(bound, queries.number, ys, queries.ptr, usable)
        hinge = cls.__new__(cls)
        hinge._prepare(bound, ys, queries, checked_weights(sample_weight, m, usable), usable)
        return hinge

    def _prepare(
        self, loss: ScoreLoss[Any], ys: Sequence[Any], queries: Queries, weights: Vector, usable: BoolVector
    ) -> None:
        oracle = make_oracle(loss, ys) if usable.any() else None
        factor = np.repeat(np.where(usable, -weights, 0.0), queries.sizes)
        self.__attrs_init__(loss, queries.ids[usable], weights[usable], ys, queries, usable, oracle, factor)

    def __len__(self) -> int:
        """Return the number of usable queries."""
        return len(self.ids)

    def __call__(self, scores: ArrayLike) -> HingeValues:
        """Return the hinge of each usable query and its subgradient.

        Parameters
        ----------
        scores : one a row, in the order of the labels, shape (n,); float32 is computed with in float64.

        Raises
        ------
        InputError : when they are not n finite numbers.
        OracleError : when the loss returned an output that is not the most violated one.
        """
        grouped, ptr = self._grouped(scores), self._queries.ptr
        if self._oracle is None:
            return HingeValues(np.zeros(0), np.zeros(len(grouped)))
        with using(1 if len(grouped) < _WORTH_THREADS else None):
            planes = self._oracle.planes(grouped, ptr, self._usable.astype(np.float64))
        require_planes(self.loss, planes.loss, planes.coef, ptr, 0)
        values = planes.loss - segment_dots(planes.coef, grouped, ptr)
        require_argmaxes(self.loss, values, grouped, 0)
        gradient = planes.coef * self._factor
        gradient += 0.0  # where it is −0
        return HingeValues(np.maximum(values[self._usable], 0.0), self._queries.ungrouped(gradient))

    def most_violated(self, scores: ArrayLike) -> list[Any]:
        """Return the most violated output of each usable query, in the order of `ids`, by the loss's Python method.

        For rankings an output is one number per document, in the order of the rows of the query; larger is ahead. Where
        several outputs are violated most, it need not be that of the gradient. Of a loss whose argmax is inexact it is
        the truth, where no worse output was found.

        Parameters
        ----------
        scores : as in a call.
        """
        grouped, ptr = self._grouped(scores), self._queries.ptr
        return [self._worst(grouped[ptr[i] : ptr[i + 1]], self._ys[i]) for i in np.flatnonzero(self._usable).tolist()]

    def per_row(self, values: ArrayLike) -> Vector:
        """Return the value of its query for each row, shape (n,): 0 for rows of queries that are not usable.

        Parameters
        ----------
        values : one a usable query, in the order of `ids`, shape (U,).

        Raises
        ------
        InputError : when they are not U numbers.
        """
        every = np.zeros(len(self._queries))
        known = numbers(values, "values")
        if known.shape != self.ids.shape:
            raise InputError(f"values must hold one of each of the {len(self)} usable queries, got shape {known.shape}")
        every[self._usable] = known
        return every[self._queries.number]

    def _grouped(self, scores: ArrayLike) -> Vector:
        """Return scores query after query, as compiled code reads them."""
        given, n = numbers(scores, "scores"), len(self._queries.number)
        if given.shape != (n,):
            raise InputError(f"scores must be a vector with one score a row, shape ({n},), got shape {given.shape}")
        if not np.abs(given).max(initial=0.0) <= LARGEST_SCORE:
            worst = int(np.argmax(~(np.abs(given) <= LARGEST_SCORE)))
            raise InputError(
                f"scores must be finite, and at most {LARGEST_SCORE:.0e}: that of row {worst} is {given[worst]:g}. "
                "Training has diverged (a smaller learning rate helps), or a feature is not finite"
            )
        return np.ascontiguousarray(self._queries.grouped(given))

    def _worst(self, scores: Vector, y: Any) -> Any:
        loss, y_hat = self.loss, None
        try:
            y_hat = loss.loss_augmented_argmax(scores, y)
            require_output(loss, y_hat)
            if loss.exact or loss.loss(y, y_hat) + scores @ (loss.encode(y_hat, y) - loss.encode(y, y)) > 0.0:
                return y_hat
            return y
        except RAISED_AS_IS:
            raise
        except Exception as error:
            raise failed(loss, "loss_augmented_argmax", error, y, y_hat) from error


def hinge(
    loss: str | ScoreLoss[Any],
    scores: ArrayLike,
    y: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
) -> HingeValues:
    """Return the hinge of each usable query at some scores, and its subgradient per document.

    For many scores of the same labels, make a `Hinge` once and call it.

    Parameters
    ----------
    loss, y, qid, sample_weight : as in `Hinge`.
    scores : one a row, shape (n,).

    Raises
    ------
    InputError, UnknownNameError, OracleError : as `Hinge`, and a call of it.

    Examples
    --------
    >>> values, gradient = hinge("roc_area", [0.2, 0.0, 1.0], [1, 0, 0], [5, 5, 5])
    >>> values.round(3), gradient
    (array([1.6]), array([-2.,  1.,  1.]))
    """
    return Hinge(loss, y, qid, sample_weight=sample_weight)(scores)


def score_loss(loss: str | ScoreLoss[Any]) -> ScoreLoss[Any]:
    """Return a loss by name or object.

    Raises
    ------
    InputError : when it is a `Loss`, which has no hinge as a function of scores.
    UnknownNameError : when no loss has that name.
    """
    chosen: ScoreLoss[Any] | Loss[Any, Any] = losses.create(loss)
    if isinstance(chosen, Loss) or isinstance(getattr(chosen, "inner", None), Loss):  # as SlackRescaled may have
        raise InputError(
            f"{chosen.title} is a Loss: its joint feature Ψ(x, y) may be anything, so that its hinge is a function of "
            "the weights w and of x, and not of scores of documents that another model could make. Write it as a "
            "ScoreLoss, or learn w with StructuralSVM"
        )
    return chosen
