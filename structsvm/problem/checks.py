"""Checks of a problem: of its data, and of the argmaxes that its loss returns."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from structsvm.exceptions import InputError, OracleError
from structsvm.losses import ScoreLoss
from structsvm.losses.base import RAISED_AS_IS, method_failed
from structsvm.queries import require_labels, row_weights
from structsvm.settings import require_number
from structsvm.types import BoolVector, IntVector, Matrix, Vector

LARGEST = 1e140
"""C, and C times the norm of a cut: what is computed of them, such as squares and sums, stays far below 1e308."""

ROUNDING = 1e-8
"""Value, relative to the scores, by which the truth or an earlier output may beat an argmax."""

LARGEST_SCORE = 1e150
"""Largest score whose sums, over all documents and in an argmax, a line search or the primal, are far from overflow:
from 1e307 on argmaxes are wrong although their scores are finite, from 1e154 on squares are infinite."""


def run_check(loss: ScoreLoss[Any]) -> str:
    """Return the sentence that says how a loss is checked."""
    return f"Run {loss.checked_by} on the loss."


def failed(
    loss: ScoreLoss[Any], method: str, error: Exception, y: Any, y_hat: Any = None, example: int | None = None
) -> InputError:
    """Return the error for a method of a loss that raised one, which names the method.

    Parameters
    ----------
    loss : the loss.
    method : the method of the `ScoreLoss`.
    error : what it raised.
    y, y_hat : the truth, and the output that the method was given, if any; where that is shorter or longer, the
        argmax that returned it is named.
    example : number of the example, where it is known.
    """
    return method_failed(loss, loss.called(method), error, example, _other_length(loss, y, y_hat))


def require_output(loss: ScoreLoss[Any], y_hat: Any) -> None:
    """Refuse an argmax that returned nothing."""
    if y_hat is None or loss.unwrap(y_hat) is None:
        raise InputError(
            f"{loss.title}.loss_augmented_argmax returned None: it must return an output. {run_check(loss)}"
        )


def require_code(loss: ScoreLoss[Any], code: Vector, scores: int, y: Any, y_hat: Any) -> None:
    """Require an encoding with one coefficient a score."""
    if code.shape != (scores,):
        raise InputError(
            f"{loss.title}.{loss.called('encode')} returned shape {code.shape}, but the example has {scores} scores: "
            f"it must return one coefficient a score. {_other_length(loss, y, y_hat)}{run_check(loss)}"
        )


def _other_length(loss: ScoreLoss[Any], y: Any, y_hat: Any) -> str:
    if not (isinstance(y, np.ndarray) and isinstance(y_hat, np.ndarray | list | tuple)) or len(y_hat) == len(y):
        return ""
    return (
        f"{loss.title}.loss_augmented_argmax had returned an output of length {len(y_hat)} for a truth of length "
        f"{len(y)}. "
    )


def is_usable(loss: ScoreLoss[Any], y: Any) -> bool:
    """Ask a loss whether it can learn from an example.

    Raises
    ------
    InputError : when it does not say True or False.
    """
    try:
        usable = loss.usable(y)
    except RAISED_AS_IS:
        raise
    except Exception as error:
        raise failed(loss, "usable", error, y) from error
    if not isinstance(usable, bool | np.bool_):
        what = f"an array of shape {usable.shape}" if isinstance(usable, np.ndarray) else repr(usable)
        raise InputError(f"{loss.title}.usable returned {what}: it must return True or False. {run_check(loss)}")
    return bool(usable)


def checked_labels(loss: ScoreLoss[Any], shape: tuple[int, ...], y: Vector) -> Vector:
    """Return the labels of rows, as numbers where the loss compares them with one.

    Parameters
    ----------
    loss : the loss.
    shape : shape of the features X.
    y : labels.

    Raises
    ------
    InputError : when X is not a matrix, or y not a finite label for each of its rows.
    """
    if len(shape) != 2:
        raise InputError(f"X must be a matrix with one document a row; its shape is {shape}")
    if y.ndim == 0 or (loss.numeric_labels and y.ndim != 1):
        raise InputError(f"y must be a vector with one label a row; its shape is {y.shape}")
    if loss.numeric_labels and y.dtype.kind not in "biuf":
        try:
            if y.dtype.kind not in "OUS":
                raise TypeError(f"they are {y.dtype}")
            y = y.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"the labels y must be numbers for {loss.title}: {error}") from None
    require_labels(y, shape[0])
    return y


def require_one_usable(loss: ScoreLoss[Any], ys: Sequence[Any], usable: BoolVector) -> None:
    """Require a query that the loss can learn from; the labels of all say why there is none."""
    if not usable.any():
        why = loss.why_none_usable(ys)
        raise InputError(f"{loss.title} can learn from none of the {len(usable)} queries: {why}")


def number_of(what: str, several: Any) -> int:
    """Return the number of several things, in a list or one a row of a matrix."""
    try:
        return int(several.shape[0]) if hasattr(several, "shape") else len(several)
    except (TypeError, IndexError):
        words = f"a {type(several).__name__}" if several is not None else "None"
        raise InputError(f"{what} must be a list, or a matrix with one a row, got {words}") from None


def require_pairs(inputs: int, outputs: int) -> None:
    """Require one output for each input, and one at least."""
    if inputs != outputs or inputs == 0:
        raise InputError(f"there are {inputs} inputs and {outputs} outputs: each input needs its output")


def checked_weights(weights: ArrayLike | None, n: int, usable: BoolVector | None) -> Vector:
    """Return example weights κ, 1 unless given; refuse those that are negative, not finite, or all 0.

    Examples that are not usable have weight 0, whatever was given.
    """
    kappa = np.ones(n) if weights is None else row_weights(weights, n, "example")
    if usable is None:
        return kappa
    kept = np.where(usable, kappa, 0.0)
    if not kept.any():
        raise InputError(f"sample_weight is zero at every example that can be learned from, {usable.sum()} of {n}")
    return kept


def require_usable(loss: ScoreLoss[Any], xs: Any, ys: Sequence[Any], ptr: IntVector, usable: BoolVector) -> None:
    """Require a usable example, and true outputs that fit their inputs.

    Kernels would read beyond the scores of such an input.

    Parameters
    ----------
    loss, xs, ys, ptr : the loss, the inputs, the true outputs, and where the scores of each example begin.
    usable : which examples the loss can learn from; where each row is one, the first of them tells whether it fits.
    """
    if not usable.any():
        raise InputError(f"{loss.title} can learn from none of the {len(usable)} examples: its usable(y) refuses each")
    for i in np.flatnonzero(usable)[: 1 if loss.per_row else None].tolist():
        scores = int(ptr[i + 1] - ptr[i])
        try:
            code = np.shape(loss.encode(ys[i], ys[i]))
        except RAISED_AS_IS:
            raise
        except Exception as error:
            raise failed(loss, "encode", error, ys[i], example=i) from error
        if code != (scores,):
            rows = np.shape(xs[i]) if loss.reads_rows and not hasattr(xs, "shape") else None
            if rows is not None and len(rows) == 2 and np.ndim(ys[i]) == 1 and len(ys[i]) != rows[0]:
                raise InputError(f"example {i} has {rows[0]} rows and {len(ys[i])} labels: a label a row is needed")
            name = loss.called("encode")
            if name != "encode":
                raise InputError(
                    f"{loss.title}.{name} returned shape {code} for example {i}, and shape ({scores},) for example 0: "
                    f"it must return a vector of as many numbers for every x and y. {run_check(loss)}"
                )
            raise InputError(
                f"example {i} has {scores} scores, but {loss.title} encodes its true output in shape {code}: "
                "the output does not fit the input (a label for each row?), or encode is wrong. "
                f"{run_check(loss)}"
            )


def require_finite(scores: Vector, ptr: IntVector, first: int) -> None:
    """Refuse scores that are not finite, or too large, because a feature is; ``first`` numbers the first example."""
    if np.abs(scores).max(initial=0.0) <= LARGEST_SCORE:  # NaN is not
        return
    worst = int(np.argmax(~(np.abs(scores) <= LARGEST_SCORE)))
    example = first + int(np.searchsorted(ptr, worst, side="right")) - 1
    raise InputError(
        f"example {example} has features that are NaN, infinite or too large to compute with: a score of it is "
        f"{scores[worst]:.3g}, and {LARGEST_SCORE:.0e} is the most. Scale them, as "
        "sklearn.preprocessing.StandardScaler does"
    )


def require_C(C: float) -> None:
    """Refuse a C that is no positive number, or whose products with cuts float64 may not hold."""
    require_number("C", C, above=0.0)
    if not 1.0 / LARGEST <= C <= LARGEST:
        raise InputError(f"C must be from {1.0 / LARGEST:g} to {LARGEST:g}, so that it can be computed with; got {C!r}")


def require_caps(cap: Vector) -> Vector:
    """Return the caps κ C/n of the examples; refuse those whose sum is too large or small to compute with."""
    total = float(cap.sum())
    if not 1e-10 / LARGEST <= total <= 1e10 * LARGEST:
        raise InputError(
            f"the example weights are too large or too small to compute with: times C / n they sum up to {total:g}"
        )
    return cap


def require_moderate(G: Matrix, C: float) -> None:
    """Refuse cuts, one a row, whose products with one another and with C float64 may not hold."""
    squares = np.einsum("ij,ij->i", G, G)  # which overflows without a warning
    require_moderate_norm(float(squares.max(initial=0.0)) ** 0.5, C)


def require_moderate_norm(largest: float, C: float) -> None:
    """Refuse cuts of which the largest norm, or C times it, is too large."""
    if not max(C, 1.0) * largest <= LARGEST:
        raise InputError(
            f"the features are too large to compute with, or C is: a cut has a norm of {largest:g}, and C times it "
            f"may be {LARGEST:g} at most. Scale the features, as by sklearn.preprocessing.StandardScaler"
        )


def require_planes(loss: ScoreLoss[Any], losses: Vector, coef: Vector, ptr: IntVector, first: int) -> None:
    """Refuse losses that are not finite numbers of at least 0, and outputs whose encodings are not finite.

    Parameters
    ----------
    loss : the loss.
    losses, coef : of the outputs found.
    ptr : where the coefficients of each example begin.
    first : number of the first example.
    """
    right = np.isfinite(losses) & (losses >= 0.0)
    if not right.all():
        i = int(np.argmin(right))
        raise OracleError(
            f"{loss.title} returned a loss of {losses[i]} for example {first + i}; a loss is a finite number of at "
            f"least 0 (leave outputs that are forbidden out of the argmax). {run_check(loss)}"
        )
    finite = np.isfinite(coef)
    if not finite.all():
        example = first + int(np.searchsorted(ptr, np.argmin(finite), side="right")) - 1
        if loss.kernel is None:
            name = loss.called("encode")
            why = f"Is such a number in the example? If not, {name} is wrong, of the truth or of this output"
        else:
            why = "A kernel must write every element of out"
        raise OracleError(
            f"{loss.title}: the output returned as the loss-augmented argmax of example {example} is encoded by NaN or "
            f"infinity. {why}; run {loss.checked_by} on the loss."
        )


def require_argmaxes(loss: ScoreLoss[Any], violation: Vector, scores: Vector, first: int) -> None:
    """Refuse argmaxes that the truth itself beats.

    Parameters
    ----------
    loss : the loss.
    violation : ``Δ − w·(Ψ(x, y) − Ψ(x, ŷ))`` of each example, at least 0 for an argmax.
    scores : the scores at which it was found.
    first : number of the first example.
    """
    lowest = int(np.argmin(violation))
    if violation[lowest] < -_tolerance(scores):
        raise OracleError(
            f"{loss.title}: the output returned as the loss-augmented argmax of example {first + lowest} has Δ + w·Ψ "
            f"lower than the true output by {-violation[lowest]:.3g}, so it is not the argmax. "
            f"Run {loss.checked_by} on the loss to see which output it should be."
        )


def require_unbeaten(loss: ScoreLoss[Any], violation: Vector, known: Vector, scores: Vector, first: int) -> None:
    """Refuse argmaxes that an output found earlier beats.

    Parameters
    ----------
    loss : the loss.
    violation, known : ``Δ − w·(Ψ(x, y) − Ψ(x, ŷ))`` of each example, by the argmax and by earlier outputs.
    scores : the scores at which it was found.
    first : number of the first example.
    """
    missed = violation < known - _tolerance(scores)
    if missed.any():
        raise beaten(loss, first + int(missed.argmax()))


def beaten(loss: ScoreLoss[Any], example: int) -> OracleError:
    """Return the error for an argmax that an output found earlier beats."""
    return OracleError(
        f"{loss.title}: an output found earlier for example {example} has a larger Δ + w·Ψ than the one now returned "
        f"as its argmax. Run {loss.checked_by} on the loss to see which output it should be."
    )


def _tolerance(scores: Vector) -> float:
    """Return by how much values of ``Δ − c·s`` at these scores may be off."""
    return float(ROUNDING * (1.0 + np.abs(scores).max(initial=0.0)))
