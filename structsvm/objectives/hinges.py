"""The hinge of every query as a function of scores, with its subgradient per document."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from attrs import define, field, frozen
from numpy.typing import ArrayLike, NDArray

from structsvm.exceptions import InputError, brief
from structsvm.features.operators.base import LARGEST_SCORE
from structsvm.foundation.arrays import numbers
from structsvm.foundation.compute.threads import using
from structsvm.foundation.memory import require_memory
from structsvm.foundation.queries import Queries
from structsvm.foundation.settings import require_switch
from structsvm.foundation.types import BoolVector, Vector
from structsvm.losses import Loss, ScoreLoss
from structsvm.losses.user_methods import RAISED_AS_IS, coefficients
from structsvm.problem.checks import (
    checked_output,
    checked_weights,
    failed,
    is_usable,
    labels_of_loss,
    number_of,
    require_argmaxes,
    require_one_usable,
    require_planes,
    require_usable,
)
from structsvm.problem.examples import weighted_queries
from structsvm.problem.oracle import PlaneOracle, make_oracle
from structsvm.registry import losses

_WORTH_THREADS = 100_000
"""Scores above which argmaxes outweigh starting and stopping threads (some 0.4 ms)."""


class HingeValues(NamedTuple):
    """Values and subgradient of a `Hinge` at some scores; see its call."""

    values: Vector
    gradient: Vector


@frozen(eq=False, init=False)
class Hinge:
    """The hinges of queries with given labels, as a function of scores from any model.

    ``Hinge(loss, y, qid)`` prepares everything that depends on labels only, so that a training loop can call the result
    many times. The hinge is the convex upper bound of Δ that a structural SVM minimizes with margin rescaling
    (Tsochantaridis, Joachims, Hofmann and Altun, JMLR 2005, section 2.2): a maximum of functions that are linear in the
    scores. Losses with a kernel run as compiled code, on numba's number of threads if there are enough scores.

    Parameters
    ----------
    loss : name or object; a `ScoreLoss` with one score per row. It is bound to the labels, as in `Ranker`:
        ``"ndcg@10"`` is trained without its cut-off, and ``"ndcg@10(truncated=true)"`` keeps the cut-off.
    y : label of each row, larger is better, shape (n,).
    qid : query id of each row; rows of a query need not be contiguous. Default: all rows are one query. Ignored if each
        row is an example (``zero_one``).
    sample_weight : weight κ of each row, constant within a query unless the loss takes weights of documents. The weight
        of a query, the largest of its rows, scales the gradient, but not the values. Default: all 1.
    none_usable : accept labels from which the loss cannot learn, as in batches of few queries. Values are then
        empty and the gradient is 0. Default: raise `InputError`.

    Attributes
    ----------
    loss : the bound loss.
    ids : ids of the usable queries, in order of first appearance, shape (U,); row numbers if each row is an example.
    weights : κ of the usable queries, shape (U,).

    Raises
    ------
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
    _oracle: PlaneOracle | None = field(repr=False)
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
        unbound = score_loss(loss)
        if not unbound.scores_rows:
            raise InputError(
                f"{unbound.title} does not give each row one score, so labels do not determine the scores of an "
                "example: use Hinge.of_outputs(loss, ys, sizes)"
            )
        labels: Any = np.asarray(y)
        bound: ScoreLoss[Any] = unbound.bind(labels)
        labels = labels_of_loss(bound, (len(labels) if labels.ndim else 0, 1), labels)
        if not len(labels) and not none_usable:
            raise InputError("y has no labels: a hinge needs at least one query")
        if bound.per_row:
            queries, usable = Queries.of_sizes(np.ones(len(labels), dtype=np.int64)), np.ones(len(labels), np.bool_)
            self._prepare(bound, labels, queries, queries.weights(sample_weight), usable)
            return
        queries = Queries.of(qid, len(labels))
        ys, usable, weights = weighted_queries(labels, queries, bound, sample_weight)
        if not none_usable:
            require_one_usable(bound, ys, usable)
        self._prepare(bound, ys, queries, weights, usable)

    @classmethod
    def of_outputs(
        cls,
        loss: str | ScoreLoss[Any],
        ys: Sequence[Any],
        sizes: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Make hinges of examples with outputs of any kind; the scores of all examples form one vector, in order.

        Parameters
        ----------
        loss : name or object; any `ScoreLoss`.
        ys : true output of each example: classes for ``multiclass``, sequences for ``chain_hamming``, `JudgedPairs` for
            `PreferencePairs`.
        sizes : number of scores of each example, shape (m,), or one number for all: K for ``multiclass`` with K
            classes, ``T K + K²`` for a sequence of T labels of K states.
        sample_weight : weight of each example, shape (m,). Default: all 1.
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
                f"sizes must be the number of scores of each of the {m} examples, or one number for all, "
                f"got {brief(sizes)}"
            )
        total = float(np.broadcast_to(count, m).sum())
        require_memory(16.0 * total, f"sizes: {total:g} scores", "use smaller sizes")
        bound: ScoreLoss[Any] = score_loss(loss).bind_outputs(ys)
        queries = Queries.of_sizes(np.broadcast_to(count, m).astype(np.int64))
        usable = np.array([is_usable(bound, y) for y in ys], dtype=np.bool_)
        require_usable(bound, queries.number, ys, queries.sizes, usable)
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
        """Return ``(values, gradient)``: the hinge of each usable query and the subgradient for each row.

        ``values``, shape (U,) in the order of `ids`, are ``max_ŷ [Δ(y, ŷ) + s·c(ŷ)] − s·c(y)``, at least 0 and not
        multiplied by κ. ``gradient``, shape (n,) in the order of the rows, is a subgradient of ``Σ κ_q values_q``:
        ``κ_q (c(ŷ) − c(y))`` at the most violated output ŷ of the query, and 0 in unusable queries.

        Parameters
        ----------
        scores : one per row, in the order of the labels, shape (n,); float32 is converted to float64.

        Raises
        ------
        OracleError : the loss returned an output that is not the most violated one.
        """
        grouped, ptr = self._grouped(scores), self._queries.ptr
        if self._oracle is None:
            return HingeValues(np.zeros(0), np.zeros(len(grouped)))
        with using(1 if len(grouped) < _WORTH_THREADS else None):
            planes = self._oracle.planes(grouped, ptr, self._usable.astype(np.float64))
        require_planes(self.loss, planes, ptr, 0)
        values = planes.loss - planes.dots(grouped, ptr)
        require_argmaxes(self.loss, values, grouped, ptr, self._ys, 0)
        gradient = planes.coef * self._factor
        # Turn −0 into 0.
        gradient += 0.0
        return HingeValues(np.maximum(values[self._usable], 0.0), self._queries.ungrouped(gradient))

    def most_violated(self, scores: ArrayLike) -> list[Any]:
        """Return the most violated output of each usable query, in the order of `ids`, from the loss's Python method.

        A ranking is one number per document, in the order of the query's rows; larger ranks higher. If several outputs
        are violated most, the gradient may belong to any of them. If an inexact argmax, or one with
        ``unreachable_truths``, finds no violated output, the result is the true output.

        Parameters
        ----------
        scores : as in a call.
        """
        grouped, ptr = self._grouped(scores), self._queries.ptr
        return [self._worst(grouped[ptr[i] : ptr[i + 1]], self._ys[i]) for i in np.flatnonzero(self._usable).tolist()]

    def per_row(self, values: ArrayLike) -> Vector:
        """Repeat one value per usable query on the rows of the query, shape (n,); rows of other queries get 0."""
        every = np.zeros(len(self._queries))
        vector = numbers(values, "values")
        if vector.shape != self.ids.shape:
            raise InputError(
                f"values must have one entry for each of the {len(self)} usable queries, got shape {vector.shape}"
            )
        every[self._usable] = vector
        return every[self._queries.number]

    def _grouped(self, scores: ArrayLike) -> Vector:
        """Return the scores grouped by query, contiguous for compiled code."""
        vector, n = numbers(scores, "scores"), len(self._queries.number)
        if vector.shape != (n,):
            raise InputError(f"scores must be a vector with one score per row, shape ({n},), got shape {vector.shape}")
        if not np.abs(vector).max(initial=0.0) <= LARGEST_SCORE:
            worst = int(np.argmax(~(np.abs(vector) <= LARGEST_SCORE)))
            raise InputError(
                f"scores must be finite, and at most {LARGEST_SCORE:.0e}: row {worst} has {vector[worst]:g}. "
                "Training has diverged (a smaller learning rate helps), or a feature is not finite"
            )
        return np.ascontiguousarray(self._queries.grouped(vector))

    def _worst(self, scores: Vector, y: Any) -> Any:
        loss, y_hat = self.loss, None
        try:
            y_hat, _ = checked_output(loss, loss.loss_augmented_argmax(scores, y))
            if loss.exact and not loss.unreachable_truths:
                return y_hat
            code = coefficients(loss, y_hat, y) - coefficients(loss, y, y)
            return y_hat if loss.loss(y, y_hat) + scores @ code > 0.0 else y
        except RAISED_AS_IS:
            raise
        except Exception as error:
            raise failed(loss, "loss_augmented_argmax", error, y, y_hat) from error


def score_loss(loss: str | ScoreLoss[Any]) -> ScoreLoss[Any]:
    """Return a loss by name or object; reject a `Loss`, because it has no hinge as a function of scores."""
    resolved: ScoreLoss[Any] | Loss[Any, Any] = losses.create(loss)
    # SlackRescaled may wrap a Loss as `inner`.
    if isinstance(resolved, Loss) or isinstance(getattr(resolved, "inner", None), Loss):
        raise InputError(
            f"{resolved.title} is a Loss: its joint feature Ψ(x, y) may be anything, so its hinge depends on weights w "
            "and x, and other models cannot provide its scores. Write it as a ScoreLoss, or learn w with StructuralSVM"
        )
    return resolved


@define(eq=False)
class Recent:
    """A cache of the last `Hinge`, because trainers pass the same labels and groups at each step."""

    loss: str | ScoreLoss[Any]
    none_usable: bool = False
    _last: tuple[NDArray[Any], NDArray[Any] | None, Hinge] | None = field(default=None, init=False, repr=False)

    def __reduce__(self) -> tuple[type["Recent"], tuple[Any, bool]]:
        """Leave the labels out of copies and pickles."""
        return type(self), (self.loss, self.none_usable)

    def __attrs_post_init__(self) -> None:
        """Reject a loss without a hinge of scores before training starts."""
        score_loss(self.loss)

    @property
    def score_loss(self) -> ScoreLoss[Any]:
        """The loss as an object."""
        return score_loss(self.loss)

    def of(self, y: ArrayLike, qid: ArrayLike | None) -> Hinge:
        """Return the hinge of these labels."""
        labels, ids = np.asarray(y), None if qid is None else np.asarray(qid)
        # Another thread may replace the cache meanwhile, so read it once.
        last = self._last
        if last is not None and _same(last[0], labels) and _same(last[1], ids):
            return last[2]
        hinge = Hinge(self.loss, labels, ids, none_usable=self.none_usable)
        self._last = labels.copy(), None if ids is None else ids.copy(), hinge
        return hinge


def _same(one: NDArray[Any] | None, other: NDArray[Any] | None) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other)
