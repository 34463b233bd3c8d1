"""What a problem refuses: data that cannot be used, and outputs that are not argmaxes."""

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from structsvm.exceptions import InputError, OracleError
from structsvm.losses import ScoreLoss
from structsvm.losses.base import InScoreSpace
from structsvm.types import BoolVector, IntVector, Vector

ROUNDING = 1e-8
"""Value, relative to the scores, by which the truth or an earlier output may beat an argmax."""


def rounding(scores: Vector) -> float:
    """Return by how much values of ``Δ − c·s`` at these scores may be off."""
    return float(ROUNDING * (1.0 + np.abs(scores).max(initial=0.0)))


def require_positive_C(C: Any) -> None:
    """Refuse a C that is not a positive finite number."""
    if isinstance(C, bool) or not isinstance(C, Real) or not 0.0 < float(C) < np.inf:
        raise InputError(f"C must be a positive finite number, got {C!r}")


def require_pairs(inputs: int, outputs: int) -> None:
    """Refuse other than one output an input, or none at all."""
    if inputs != outputs or inputs == 0:
        raise InputError(f"there are {inputs} inputs and {outputs} outputs: each input needs its output")


def checked_weights(weights: ArrayLike | None, n: int, usable: BoolVector | None) -> Vector:
    """Return example weights κ, 1 unless given; refuse those that are negative, not finite, or all 0.

    Examples that are not usable have weight 0, whatever was given.
    """
    kappa = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    if usable is not None and kappa.shape == (n,):
        kappa = np.where(usable, kappa, 0.0)
    if kappa.shape != (n,) or not np.isfinite(kappa).all() or (kappa < 0).any() or not kappa.any():
        raise InputError(
            f"example weights must be {n} finite numbers, none negative and not all zero, got shape {kappa.shape}"
        )
    return kappa


def require_usable(loss: ScoreLoss[Any], xs: Any, ys: Sequence[Any], ptr: IntVector, usable: BoolVector) -> None:
    """Refuse examples of which the loss can learn from none, and true outputs that do not fit their inputs.

    Kernels would read beyond the scores of such an input.

    Parameters
    ----------
    loss, xs, ys, ptr : the loss, the inputs, the true outputs, and where the scores of each example begin.
    usable : which examples the loss can learn from; where each row is one, the first of them tells whether it fits.
    """
    if not usable.any():
        raise InputError(f"{loss.title} can learn from none of the {len(usable)} examples: its usable(y) refuses each")
    for i in np.flatnonzero(usable)[: 1 if loss.per_row else None].tolist():
        code, scores = np.shape(loss.encode(ys[i], ys[i])), int(ptr[i + 1] - ptr[i])
        if code != (scores,):
            rows = None if isinstance(loss, InScoreSpace) or hasattr(xs, "shape") else np.shape(xs[i])
            if rows is not None and len(rows) == 2 and np.ndim(ys[i]) == 1 and len(ys[i]) != rows[0]:
                raise InputError(f"example {i} has {rows[0]} rows and {len(ys[i])} labels: a label a row is needed")
            raise InputError(
                f"example {i} has {scores} scores, but {loss.title} encodes its true output in shape {code}: "
                "the output does not fit the input (a label for each row?), or encode is wrong"
            )


def require_finite(scores: Vector, ptr: IntVector, first: int) -> None:
    """Refuse scores that are not finite, because a feature is not; ``first`` is the number of the first example."""
    finite = np.isfinite(scores)
    if not finite.all():
        example = first + int(np.searchsorted(ptr, np.argmin(finite), side="right")) - 1
        raise InputError(f"example {example} has features that are NaN, infinite or too large to compute with")


def require_planes(title: str, losses: Vector, coef: Vector, ptr: IntVector, first: int) -> None:
    """Refuse losses that are not finite numbers of at least 0, and outputs whose encodings are not finite.

    Parameters
    ----------
    title : name of the loss.
    losses, coef : of the outputs found.
    ptr : where the coefficients of each example begin.
    first : number of the first example.
    """
    right = np.isfinite(losses) & (losses >= 0.0)
    if not right.all():
        i = int(np.argmin(right))
        raise OracleError(
            f"{title} returned a loss of {losses[i]} for example {first + i}; a loss is a finite number of at least 0 "
            "(leave outputs that are forbidden out of the argmax). Run structsvm.testing.check_loss on it."
        )
    finite = np.isfinite(coef)
    if not finite.all():
        example = first + int(np.searchsorted(ptr, np.argmin(finite), side="right")) - 1
        raise OracleError(
            f"{title}: the output returned as the loss-augmented argmax of example {example} is encoded by NaN or "
            "infinity. A kernel must write every element of out; run structsvm.testing.check_loss on the loss."
        )


def require_argmaxes(title: str, violation: Vector, scores: Vector, first: int) -> None:
    """Refuse argmaxes that the truth itself beats.

    Parameters
    ----------
    title : name of the loss.
    violation : ``Δ − w·(Ψ(x, y) − Ψ(x, ŷ))`` of each example, at least 0 for an argmax.
    scores : the scores at which it was found.
    first : number of the first example.
    """
    lowest = int(np.argmin(violation))
    if violation[lowest] < -rounding(scores):
        raise OracleError(
            f"{title}: the output returned as the loss-augmented argmax of example {first + lowest} has Δ + w·Ψ "
            f"lower than the true output by {-violation[lowest]:.3g}, so it is not the argmax. "
            "Run structsvm.testing.check_loss on the loss to see which output it should be."
        )


def require_unbeaten(title: str, violation: Vector, known: Vector, scores: Vector, first: int) -> None:
    """Refuse argmaxes that an output found earlier beats.

    Parameters
    ----------
    title : name of the loss.
    violation, known : ``Δ − w·(Ψ(x, y) − Ψ(x, ŷ))`` of each example, by the argmax and by earlier outputs.
    scores : the scores at which it was found.
    first : number of the first example.
    """
    missed = violation < known - rounding(scores)
    if missed.any():
        raise beaten(title, first + int(missed.argmax()))


def beaten(title: str, example: int) -> OracleError:
    """Return the error for an argmax that an output found earlier beats."""
    return OracleError(
        f"{title}: an output found earlier for example {example} has a larger Δ + w·Ψ than the one now returned "
        "as its argmax. Run structsvm.testing.check_loss on the loss to see which output it should be."
    )
