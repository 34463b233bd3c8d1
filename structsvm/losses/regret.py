"""The regret of a decision over a feasible set: SPO+."""

from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike

from structsvm.exceptions import InputError
from structsvm.foundation.arrays import finite_vector, numbers
from structsvm.foundation.settings import truth_value
from structsvm.foundation.types import Vector
from structsvm.inference.sets import Bounded, FeasibleSet
from structsvm.losses.shared.declared import DeclaredLoss, Placed, require_output
from structsvm.losses.user_methods import at_example

_PROVED = 1e-7
"""Largest distance to the best decision at the true costs, relative to the size of the costs."""


@frozen
class Regret(DeclaredLoss):
    """The regret of the decision that is best for predicted costs, bounded by the hinge SPO+.

    A decision ŷ of a feasible set has the cost ``c·ŷ``. The true output of an example is its cost vector c, one number
    for each part; y* is the best decision for it. The model predicts costs ĉ, its scores, and the decision is
    ``argmin_y ĉ·y``. The regret is ``Δ = c·ŷ − c·y*``, the score of a decision is ``−2 ĉ·ŷ``, and the hinge is

    ``max_ŷ [c·ŷ − c·y* − 2 ĉ·(ŷ − y*)]``,

    the loss SPO+ of Elmachtoub and Grigas, "Smart 'Predict, then Optimize'", Management Science 2022, eq. (8), which is
    a structural hinge with margin rescaling. With ``maximize``, c are profits: ``Δ = c·y* − c·ŷ``, and the score is
    ``2 ĉ·ŷ``. Inputs are as in `PartHamming`.

    Parameters
    ----------
    feasible : the feasible set of all examples, or a function of the input that returns it.
    maximize : True if the numbers are profits.

    Raises
    ------
    InputError : costs are not finite or do not fit the set, or the best decision for them is not proved.

    Examples
    --------
    >>> from structsvm import StructuralSVM
    >>> from structsvm.inference.sets import Subset
    >>> X, costs = [[1.0, 0.0], [0.0, 1.0]], [[3.0, 1.0], [1.0, 2.0]]
    >>> model = StructuralSVM(Regret(Subset(n=2, k=1)), C=10).fit(X, costs)  # choose the cheaper of two
    >>> model.predict([[1.0, 0.2]])[0]
    array([0., 1.])
    """

    maximize: bool = field(default=False, validator=truth_value)

    @property
    def unit(self) -> float:  # type: ignore[override]
        return 2.0 if self.maximize else -2.0

    def place(self, feasible: FeasibleSet, y: Any) -> Placed:
        costs = finite_vector(y, feasible.size, "the profits" if self.maximize else "the costs")
        slope = -costs if self.maximize else costs
        truth, bound = _proved(feasible.maximize(-slope), -slope)
        gap = bound + float(slope @ truth)
        if gap > _PROVED * float(np.abs(slope).max() + np.abs(slope) @ np.abs(truth)):
            raise InputError(
                f"the best decision for the true costs is known only to {gap:.3g}: raise the time limit of the "
                "feasible set or lower its gap"
            )
        return Placed(feasible, truth, -float(slope @ truth), slope)

    def relative(self, costs: ArrayLike, decisions: ArrayLike) -> float:
        """Return the relative regret of decisions, shape (n, p): ``Σ_i Δ_i / Σ_i |c_i·y*_i|``, as PyEPO reports it.

        All examples must have the same feasible set, and decisions must be in it.
        """
        rows = list(np.atleast_1d(numbers(costs, "the costs")))
        outputs = list(np.atleast_1d(numbers(decisions, "the decisions")))
        if len(rows) != len(outputs):
            raise InputError(f"there are {len(rows)} rows of costs and {len(outputs)} decisions: give one each")
        placed = self.truths(None, rows)
        losses = [at_example(i, self._regret, *pair) for i, pair in enumerate(zip(placed, outputs, strict=True))]
        best = sum(abs(one.base) for one in placed)
        if best == 0.0:
            other = "maximize=False if the numbers are costs" if self.maximize else "maximize=True if they are profits"
            raise InputError(f"relative regret needs best decisions of a value other than 0: set {other}")
        return float(sum(losses) / best)

    def _regret(self, costs: Placed, decision: Vector) -> float:
        """Return the regret of a decision that may be outside the feasible set."""
        decision = finite_vector(decision, costs.feasible.size, "the decision")
        require_output(costs.feasible, decision, "the decision")
        return self.loss(costs, decision)


def _proved(answer: Any, scores: Any) -> tuple[Any, float]:
    """Return an output with a bound of the largest score."""
    if isinstance(answer, Bounded):
        return np.asarray(answer.output, dtype=np.float64), answer.bound
    return answer, float(scores @ answer)
