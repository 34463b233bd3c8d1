"""What a problem is made of, and the ways to make it."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import ArrayLike

from structsvm.losses import Loss, ScoreLoss
from structsvm.operators import Operator, Readable, WithIntercept, readable
from structsvm.problem.checks import checked_weights, is_usable, require_pairs, require_positive_C, require_usable
from structsvm.problem.oracle import Oracle, make_oracle, per_output
from structsvm.problem.queries import group_queries
from structsvm.registry import losses
from structsvm.types import BoolVector, IntVector, Vector


@frozen(eq=False, kw_only=True)
class WeightedExamples:
    """Examples with their features, their argmaxes, and the weight of each.

    Parameters
    ----------
    loss : the loss.
    operator : features of the n examples.
    oracle : their loss-augmented argmaxes.
    ptr : where the scores of each example begin, shape (n + 1,).
    cap : ``κ_i C / n``, the largest sum of the dual variables of each example, shape (n,).
    C : weight of the mean hinge against the regulariser.
    used : number of examples that the loss can learn from, the n of the objective.
    first : number of the first example, where this is a block of a larger problem.
    left_out : number of queries that it cannot learn from; where they are kept, their cap is 0.
    seal : the `fingerprint`, where it is known and the data have not changed since; None: it is taken when needed.
    """

    loss: ScoreLoss[Any]
    operator: Operator = field(repr=False)
    oracle: Oracle = field(repr=False)
    ptr: IntVector = field(repr=False)
    cap: Vector = field(repr=False)
    C: float
    used: int
    left_out: int = 0
    first: int = 0
    seal: Vector | None = field(default=None, repr=False)

    @classmethod
    def from_queries(
        cls,
        X: Readable,
        y: Vector,
        qid: ArrayLike | None = None,
        *,
        loss: str | ScoreLoss[Any] = "map",
        C: float = 1.0,
        sample_weight: ArrayLike | None = None,
        intercept: float = 0.0,
    ) -> Self:
        """Make a ranking problem of rows of features.

        Parameters
        ----------
        X : features, shape (rows, d), dense, CSR or a `BinnedMatrix`; these, float64 or float32, are read
            where they are, if the rows of each query are together.
        y : labels, shape (rows,).
        qid : query of each row; rows of a query need not be together. None: one query.
        loss : name or object.
        C : weight of the mean hinge; positive.
        sample_weight : weight of each row, the same for all rows of a query; None: all 1.
        intercept : value of a constant feature that is added to every row; 0 for none.

        Raises
        ------
        InputError : when the arrays do not fit each other, or no query can be learned from.
        UnknownNameError : when no loss has that name.
        """
        X, y = readable(X), np.asarray(y)
        bound: ScoreLoss[Any] = losses.create(loss).bind(y)
        queries = group_queries(bound, X, y, qid, sample_weight)
        rows = WithIntercept(queries.rows, intercept) if intercept else queries.rows
        problem = cls.make(bound, bound.operator(rows), queries.ys, C, queries.weights, queries.usable)
        return evolve(problem, left_out=queries.left_out)

    @classmethod
    def from_examples(
        cls,
        xs: Any,
        ys: Sequence[Any],
        *,
        loss: str | ScoreLoss[Any] | Loss[Any, Any],
        C: float = 1.0,
        sample_weight: ArrayLike | None = None,
        intercept: float = 0.0,
    ) -> Self:
        """Make a problem of inputs and outputs of any kind.

        Parameters
        ----------
        xs : inputs, whatever the loss reads; for a `ScoreLoss`, see `ScoreLoss.examples`.
        ys : true outputs.
        loss : name or object.
        C, intercept : as in `from_queries`.
        sample_weight : example weights κ; None: all 1.

        Raises
        ------
        InputError : when there are not as many outputs as inputs, or none.
        UnknownNameError : when no loss has that name.
        """
        require_pairs(xs.shape[0] if hasattr(xs, "shape") else len(xs), len(ys))
        examples = losses.create(loss).examples(xs, ys, intercept)
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        usable = np.array(per_output(lambda y: is_usable(examples.loss, y), examples.ys), dtype=np.bool_)
        require_usable(examples.loss, xs, examples.ys, examples.operator.ptr, usable)
        problem = cls.make(examples.loss, examples.operator, examples.ys, C, weights, usable)
        return evolve(problem, left_out=int((~usable).sum()))

    @classmethod
    def make(
        cls,
        loss: ScoreLoss[Any],
        operator: Operator,
        ys: Sequence[Any],
        C: float,
        weights: Vector | None = None,
        usable: BoolVector | None = None,
    ) -> Self:
        """Put a problem together from its parts.

        Parameters
        ----------
        loss, operator : the loss and the features.
        ys : true outputs, one an example.
        C : weight of the mean hinge; positive.
        weights : example weights κ, shape (n,), not negative; None: all 1.
        usable : which examples the loss can learn from; the others count for nothing. None: all.

        Raises
        ------
        InputError : when C, the weights or the numbers of examples do not fit.
        """
        require_positive_C(C)
        require_pairs(operator.n, len(ys))
        kappa = checked_weights(weights, operator.n, usable)
        used = operator.n if usable is None else int(usable.sum())
        return cls(
            loss=loss,
            operator=operator,
            oracle=make_oracle(loss, ys),
            ptr=operator.ptr,
            cap=kappa * C / used,
            C=float(C),
            used=used,
        )

    @property
    def n(self) -> int:
        """Number of examples, those without weight included."""
        return len(self.cap)

    @property
    def has_kernel(self) -> bool:
        """Whether argmaxes run in compiled code, so that they cost less than a pass over the data."""
        return self.loss.kernel is not None

    @property
    def exact(self) -> bool:
        """Whether argmaxes are exact; if not, the primal is an estimate (`estimate`)."""
        return self.loss.exact

    @property
    def stored(self) -> int:
        """Number of feature values that a pass over the data reads."""
        return self.operator.stored

    @property
    def d(self) -> int:
        """Number of weights."""
        return self.operator.d

    def with_C(self, C: float) -> Self:
        """Return the problem with another C."""
        require_positive_C(C)
        return evolve(self, C=float(C), cap=self.cap * (C / self.C))

    def block(self, start: int, stop: int) -> Self:
        """Return the part of the problem that the examples ``start`` to ``stop − 1`` make up, with the same caps."""
        return evolve(
            self,
            operator=self.operator.block(start, stop),
            oracle=self.oracle.block(start, stop),
            ptr=self.ptr[start : stop + 1] - self.ptr[start],
            cap=self.cap[start:stop],
            first=self.first + start,
            seal=None,
        )
