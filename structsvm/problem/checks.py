"""What a problem refuses: data that cannot be used, and argmaxes that are none."""

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from structsvm.exceptions import InputError, OracleError
from structsvm.types import IntVector, Vector

_ROUNDING = 1e-8
"""Value, relative to the scores, by which the truth may beat an argmax."""


def require_positive_C(C: Any) -> None:
    """Refuse a C that is not a positive finite number."""
    if isinstance(C, bool) or not isinstance(C, Real) or not 0.0 < float(C) < np.inf:
        raise InputError(f"C must be a positive finite number, got {C!r}")


def require_pairs(inputs: int, outputs: int) -> None:
    """Refuse other than one output an input, or none at all."""
    if inputs != outputs or inputs == 0:
        raise InputError(f"there are {inputs} inputs and {outputs} outputs: each input needs its output")


def checked_weights(weights: ArrayLike | None, n: int) -> Vector:
    """Return example weights κ, 1 unless given; refuse those that are negative, not finite, or all 0."""
    kappa = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    if kappa.shape != (n,) or not np.isfinite(kappa).all() or (kappa < 0).any() or not kappa.any():
        raise InputError(
            f"example weights must be {n} finite numbers, none negative and not all zero, got shape {kappa.shape}"
        )
    return kappa


def require_finite(scores: Vector, ptr: IntVector) -> None:
    """Refuse scores that are not finite, because a feature is not."""
    finite = np.isfinite(scores)
    if not finite.all():
        example = int(np.searchsorted(ptr, np.argmin(finite), side="right")) - 1
        raise InputError(f"example {example} has features that are NaN, infinite or too large to compute with")


def require_losses(title: str, losses: Vector) -> None:
    """Refuse losses that are not numbers of at least 0."""
    if not (losses >= 0.0).all():
        i = int(np.argmin(losses >= 0.0))
        raise OracleError(
            f"{title} returned a loss of {losses[i]} for example {i}; a loss is a number of at least 0. "
            "Run structsvm.testing.check_loss on it."
        )


def require_argmaxes(title: str, violation: Vector, scores: Vector) -> None:
    """Refuse argmaxes that the truth itself beats, and planes of NaN.

    Parameters
    ----------
    title : name of the loss.
    violation : ``Δ − w·(Ψ(x, y) − Ψ(x, ŷ))`` of each example, at least 0 for an argmax.
    scores : the scores at which it was found.
    """
    lowest = int(np.argmin(violation))
    if np.isnan(violation[lowest]):
        raise OracleError(
            f"{title}: the output returned as the loss-augmented argmax of example {lowest} is encoded by NaN. "
            "A kernel must write every element of out; run structsvm.testing.check_loss on the loss."
        )
    if violation[lowest] < -_ROUNDING * (1.0 + np.abs(scores).max(initial=0.0)):
        raise OracleError(
            f"{title}: the output returned as the loss-augmented argmax of example {lowest} has Δ + w·Ψ lower than "
            f"the true output by {-violation[lowest]:.3g}, so it is not the argmax. "
            "Run structsvm.testing.check_loss on the loss to see which output it should be."
        )
