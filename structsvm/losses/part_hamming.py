"""The Hamming loss over a feasible set."""

from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike

from structsvm.exceptions import InputError, brief
from structsvm.foundation.arrays import finite_vector
from structsvm.foundation.settings import truth_value
from structsvm.inference.sets import FeasibleSet
from structsvm.losses.shared.declared import DeclaredLoss, Placed, require_output


def _weights(values: ArrayLike | None) -> Any:
    if values is None:
        return None
    try:
        weights = tuple(float(value) for value in np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError):
        weights = (-1.0,)
    if not (all(0.0 <= weight < np.inf for weight in weights) and any(weights)):
        raise InputError(
            f"PartHamming(weights=...) must be numbers of at least 0, one per part, not all 0, got {brief(values)}"
        )
    return weights


@frozen
class PartHamming(DeclaredLoss):
    """The Hamming loss for outputs in a feasible set: the share or number of wrong parts.

    An output is a vector with 0 or 1 for each part, such as an edge of a path or a pair of a matching. For weights v
    and scores s of parts, the loss is ``Δ(y, ŷ) = Σ_k v_k |y_k − ŷ_k|``, and ŷ has the score ``Σ_k s_k ŷ_k``. As Δ is
    linear in ŷ, the loss-augmented argmax maximizes over the set at the scores ``s_k + v_k (1 − 2 y_k)`` (Taskar,
    Guestrin and Koller, "Max-Margin Markov Networks", NIPS 2003). Outputs of relaxed programs may be fractional.

    An input is a vector of features, shape (d,), and each part has its own learned weights. Or it is a matrix with a
    row for each part, shape (p, d), and all parts have the same learned weights. Or it is a pair of both. An input may
    also be a tuple that ends with the feasible set of its example, even in ``predict``.

    Parameters
    ----------
    feasible : the feasible set of all examples, or a function of the input that returns it.
    weights : the weight v of each part, 0 for parts that do not count. Default: 1 for all.
    average : True to divide Δ by the sum of the weights.

    Raises
    ------
    InputError : an input or a true output does not fit the set; the message has the number of the example.

    Examples
    --------
    >>> from structsvm import StructuralSVM
    >>> from structsvm.inference.sets import Subset
    >>> xs = [[[2.0], [0.0], [1.0]], [[0.0], [1.0], [3.0]]]  # a row of features for each part
    >>> model = StructuralSVM(PartHamming(Subset(n=3, k=2)), C=10).fit(xs, [[1, 0, 1], [0, 1, 1]])
    >>> model.predict([[[0.5], [0.1], [0.3]]])[0]
    array([1., 0., 1.])
    """

    within_unit_box = True

    weights: tuple[float, ...] | None = field(default=None, converter=_weights)
    average: bool = field(default=True, validator=truth_value)

    def place(self, feasible: FeasibleSet, y: Any) -> Placed:
        truth = finite_vector(y, feasible.size, "a true output")
        weights = np.ones(feasible.size) if self.weights is None else np.array(self.weights)
        if len(weights) != feasible.size:
            raise InputError(f"PartHamming has {len(weights)} weights, and the feasible set has {feasible.size} parts")
        counted = weights > 0.0
        low, high = (np.broadcast_to(bound, feasible.size)[counted] for bound in feasible.box)
        if (low < 0.0).any() or (high > 1.0).any():
            raise InputError(
                "PartHamming needs outputs between 0 and 1: bound the variables of the program, or give weight 0 to "
                "parts that do not count"
            )
        if not np.isin(truth[counted], (0.0, 1.0)).all():
            raise InputError(f"a true output of PartHamming must consist of 0 and 1, got {brief(y)}")
        require_output(feasible, truth, "the true output")
        total = weights.sum() if self.average else 1.0
        weights = weights / total
        return Placed(feasible, truth, float(weights @ truth), weights * (1.0 - 2.0 * truth))
