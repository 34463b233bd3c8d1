"""Check a problem's data and the argmaxes that its loss returns."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from structsvm.exceptions import InputError, OracleError, brief, with_article
from structsvm.features.operators.base import Operator, largest_score, scores_of_examples
from structsvm.foundation.frames import without_masks
from structsvm.foundation.queries import require_labels, row_weights
from structsvm.foundation.settings import require_number
from structsvm.foundation.types import BoolVector, IntVector, Vector
from structsvm.inference.sets import Bounded
from structsvm.losses import ScoreLoss
from structsvm.losses.base import InScoreSpace
from structsvm.losses.user_methods import RAISED_AS_IS, coefficients, encoded, method_failed
from structsvm.problem.points import Planes, Point

LARGEST = 1e140
"""Largest C, and C times the norm of a cut; squares and sums of these stay far below 1e308."""

ROUNDING = 1e-8
"""Tolerance, relative to the scores, by which the true output or an earlier output may beat an argmax."""

_NEARBY = (0.95, 1.05)
"""Multiples of the weights at which argmaxes are found for comparison."""

_MOST_TURNS = 100
"""Largest number of scores at which a prediction is compared with the true output."""

_FEWEST_PROBED = 8
_PROBED = 50
"""With a kernel, compare one example in `_PROBED`, and at least `_FEWEST_PROBED`."""


def run_check(loss: ScoreLoss[Any]) -> str:
    """Return the sentence that names the check for a loss."""
    return f"Run {loss.checked_by} on the loss."


def failed(
    loss: ScoreLoss[Any], method: str, error: Exception, y: Any, y_hat: Any = None, example: int | None = None
) -> InputError:
    """Return the error for an exception in a method of a loss, naming the method and, if known, the example."""
    return method_failed(loss, loss.method_label(method), error, example, _other_length(loss, y, y_hat))


def output_fault(loss: ScoreLoss[Any], answer: Any) -> str | None:
    """Describe the mistake in the form of a loss-augmented argmax's result; None if there is no mistake."""
    if isinstance(answer, Bounded) and not loss.bounded:
        return "returned Bounded, but bounded = False in the class: set bounded = True"
    if loss.bounded and not isinstance(answer, Bounded):
        return "returned an output without a bound, but bounded = True in the class: return Bounded(output, bound)"
    y_hat = answer.output if loss.bounded else answer
    return "returned None: it must return an output" if y_hat is None or loss.unwrap(y_hat) is None else None


def checked_output(loss: ScoreLoss[Any], answer: Any) -> tuple[Any, float | None]:
    """Return the output of a loss-augmented argmax and, if the loss is bounded, its bound; reject other results."""
    fault = output_fault(loss, answer)
    if fault is not None:
        raise InputError(f"{loss.title}.loss_augmented_argmax {fault}. {run_check(loss)}")
    return answer if loss.bounded else (answer, None)


def require_code(loss: ScoreLoss[Any], shape: tuple[int, ...], scores: int, y: Any, y_hat: Any) -> None:
    """Reject the shape of an encoding without one coefficient per score."""
    if shape != (scores,):
        raise InputError(
            f"{loss.title}.{loss.method_label('encode')} returned shape {shape}, but the example has {scores} scores: "
            f"it must return one coefficient per score. {_other_length(loss, y, y_hat)}{run_check(loss)}"
        )


def _other_length(loss: ScoreLoss[Any], y: Any, y_hat: Any) -> str:
    if not (isinstance(y, np.ndarray) and isinstance(y_hat, np.ndarray | list | tuple)) or len(y_hat) == len(y):
        return ""
    return (
        f"{loss.title}.loss_augmented_argmax returned an output of length {len(y_hat)} for a true output of length "
        f"{len(y)}. "
    )


def is_usable(loss: ScoreLoss[Any], y: Any) -> bool:
    """Return whether the loss can learn from an example; reject results that are not booleans."""
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


def labels_of_loss(loss: ScoreLoss[Any], shape: tuple[int, ...], y: Vector) -> Vector:
    """Return valid labels for features X of this shape, as numbers if the loss compares them with numbers."""
    if len(shape) != 2:
        raise InputError(f"X must be a matrix with one document per row, got shape {shape}")
    if y.ndim == 0 or (loss.numeric_labels and y.ndim != 1):
        raise InputError(f"y must be a vector with one label per row, got shape {y.shape}")
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
    """Reject labels if the loss cannot learn from any query; the message gives the reason."""
    if not usable.any():
        why = loss.why_none_usable(ys)
        raise InputError(f"{loss.title} cannot learn from any of the {len(usable)} queries: {why}")


def number_of(what: str, several: Any) -> int:
    """Return the length of a list, or the number of rows of a matrix or of examples of an operator."""
    if isinstance(several, Operator):
        return several.n
    try:
        return int(several.shape[0]) if hasattr(several, "shape") else len(several)
    except (TypeError, IndexError):
        words = with_article(type(several).__name__) if several is not None else "None"
        raise InputError(f"{what} must be a list, or a matrix with one example per row, got {words}") from None


def require_pairs(inputs: int, outputs: int) -> None:
    """Require one output per input, and at least one pair."""
    if inputs != outputs or inputs == 0:
        raise InputError(
            f"{inputs} inputs and {outputs} outputs were given: give one output per input, and at least one"
        )


def checked_weights(weights: ArrayLike | None, n: int, usable: BoolVector | None) -> Vector:
    """Return example weights κ, 1 by default and 0 for unusable examples; reject invalid or all-zero ones."""
    kappa = np.ones(n) if weights is None else row_weights(weights, n, "example")
    if usable is None:
        return kappa
    used_weights = np.where(usable, kappa, 0.0)
    if not used_weights.any():
        raise InputError(
            f"sample_weight is zero at all {usable.sum()} examples (of {n}) that the loss can learn from: raise some"
        )
    return used_weights


def require_usable(loss: ScoreLoss[Any], xs: Any, ys: Sequence[Any], sizes: IntVector, usable: BoolVector) -> None:
    """Require a usable example, and a true output for each that matches its input.

    Only one is encoded if rows are examples, or if joint features are sparse: the first pass encodes all others.
    """
    if not usable.any():
        raise InputError(f"{loss.title} cannot learn from any of the {len(usable)} examples: no usable(y) is True")
    for i in np.flatnonzero(usable)[: 1 if loss.per_row or loss.sparse_entries is not None else None].tolist():
        scores = int(sizes[i])
        try:
            code = encoded(loss, ys[i], ys[i]).shape
        except RAISED_AS_IS:
            raise
        except Exception as error:
            raise failed(loss, "encode", error, ys[i], example=i) from error
        if code != (scores,):
            # Sequences of different lengths may be in an array of objects.
            listed = isinstance(xs, Sequence) or (isinstance(xs, np.ndarray) and xs.dtype == object)
            rows, y = np.shape(without_masks(xs)[0][i]) if loss.reads_rows and listed else None, loss.unwrap(ys[i])
            if rows is not None and len(rows) == 2 and np.ndim(y) == 1 and len(y) != rows[0]:
                raise InputError(f"example {i} has {rows[0]} rows and {len(y)} labels: give one label per row")
            name = loss.method_label("encode")
            if name != "encode":
                raise InputError(
                    f"{loss.title}.{name} returned shape {code} for example {i}, and shape ({scores},) for example 0: "
                    f"it must return a vector of the same length for every x and y. {run_check(loss)}"
                )
            raise InputError(
                f"example {i} has {scores} scores, but {loss.title} encodes its true output in shape {code}. Give one "
                f"label per row, or correct encode. {run_check(loss)}"
            )


def require_C(C: float) -> None:
    """Reject a C that is not positive, or whose products with cuts may overflow."""
    require_number("C", C, above=0.0)
    if not 1.0 / LARGEST <= C <= LARGEST:
        raise InputError(f"C must be from {1.0 / LARGEST:g} to {LARGEST:g}, got {brief(C)}")


def require_caps(cap: Vector) -> Vector:
    """Return the caps κ C/n of the examples; reject them if their sum is too large or small to compute with."""
    total = float(cap.sum())
    if not 1e-10 / LARGEST <= total <= 1e10 * LARGEST:
        raise InputError(
            f"the example weights are too large or too small to compute with: times C / n, their sum is {total:g}. "
            "Scale them to a mean of 1"
        )
    return cap


def require_moderate(G: Any, C: float) -> None:
    """Reject cuts, one per row, whose products with each other or with C may overflow."""
    # einsum overflows without a warning.
    squares = np.einsum("ij,ij->i", G, G) if isinstance(G, np.ndarray) else G.multiply(G).sum(axis=1)
    require_moderate_norm(float(squares.max(initial=0.0)) ** 0.5, C)


def require_moderate_norm(largest: float, C: float) -> None:
    """Reject cuts if their largest norm, or C times it, is too large."""
    if not max(C, 1.0) * largest <= LARGEST:
        raise InputError(
            f"the features or C are too large to compute with: a cut has a norm of {largest:g}, and C times the norm "
            f"must be at most {LARGEST:g}. Scale the features, for example with sklearn.preprocessing.StandardScaler"
        )


def require_planes(loss: ScoreLoss[Any], planes: Planes, ptr: IntVector, first: int) -> None:
    """Reject losses that are not finite and at least 0, and infinite encodings; ``first`` numbers the first example."""
    losses = planes.loss
    right = np.isfinite(losses) & (losses >= 0.0)
    if not right.all():
        i = int(np.argmin(right))
        raise OracleError(
            f"{loss.title} returned a loss of {losses[i]} for example {first + i}; a loss must be finite and at least "
            f"0. Exclude forbidden outputs in the argmax instead. {run_check(loss)}"
        )
    finite = np.isfinite(planes.coef)
    if finite.all() and planes.shared is not None:
        finite, ptr = np.isfinite(planes.shared.data), planes.shared.indptr.astype(np.int64)
    if not finite.all():
        example = first + int(np.searchsorted(ptr, np.argmin(finite), side="right")) - 1
        if loss.kernel is None:
            name = loss.method_label("encode")
            why = f"Look for NaN or infinity in the example, and for a mistake in {name}"
        else:
            why = "A kernel must write every element of out"
        raise OracleError(
            f"{loss.title}: the encoding of the loss-augmented argmax of example {example} contains NaN or infinity. "
            f"{why}; run {loss.checked_by} on the loss."
        )


def require_bounds(loss: ScoreLoss[Any], missed: Vector, scores: Vector, ys: Sequence[Any], first: int) -> None:
    """Reject bounds of argmaxes that are not finite, or below the value of the output found or of the true output."""
    wrong = ~((missed >= -_tolerance(scores)) & (missed < np.inf))
    if wrong.any():
        i = int(np.argmax(wrong))
        if np.isfinite(missed[i]):
            _require_reachable(loss, ys, i, first, -float(missed[i]))
        what = f"{-missed[i]:.3g} below the value of an output" if np.isfinite(missed[i]) else f"{missed[i]}"
        raise OracleError(
            f"{loss.title}.loss_augmented_argmax returned a bound for example {first + i} that is {what}: it must be "
            f"at least the largest Δ + w·Ψ. Run {loss.checked_by} on the loss."
        )


def require_argmaxes(
    loss: ScoreLoss[Any], violation: Vector, scores: Vector, ptr: IntVector, ys: Sequence[Any], first: int
) -> None:
    """Reject argmaxes that the true output beats: negative violations ``Δ − w·(Ψ(x, y) − Ψ(x, ŷ))``."""
    lowest = int(np.argmin(violation))
    # The tolerance takes a pass over the scores.
    if violation[lowest] < 0.0 and violation[lowest] < -_tolerance(scores):
        _require_reachable(loss, ys, lowest, first, -float(violation[lowest]))
        raise OracleError(
            f"{loss.title}.loss_augmented_argmax returned a wrong output for example {first + lowest}: its Δ + w·Ψ is "
            f"{-violation[lowest]:.3g} below that of the true output. Run {loss.checked_by} on the loss to see the "
            "argmax."
        )


def _require_reachable(loss: ScoreLoss[Any], ys: Sequence[Any], i: int, first: int, ahead: float) -> None:
    """Raise `OracleError` if no argmax can return the true output, whose value is higher by ``ahead``."""
    if i < len(ys) and lead_of_unreachable(loss, ys[i]):
        raise OracleError(unreachable(loss, f"example {first + i}", ahead))


def lead_of_unreachable(loss: ScoreLoss[Any], y: Any) -> float:
    """Return the lead of the true output over the outputs of both argmaxes at some scores; 0 without such scores.

    A perceptron learns scores that favor the true output. If it is the prediction, or a mean of outputs, no scores
    separate it.
    """
    by = loss.predicting
    try:
        of_truth = coefficients(by, y, y)
        bounds = loss.weight_bounds(len(of_truth)) if isinstance(loss, InScoreSpace) else None
        scores = of_truth
        for _ in range(_MOST_TURNS):
            scores = scores if bounds is None else np.clip(scores, *bounds)
            prediction = by.prediction(scores.copy(), y)
            code = coefficients(by, prediction, y)
            ahead = float(scores @ (of_truth - code))
            if ahead > ROUNDING * float(np.abs(scores) @ (np.abs(of_truth) + np.abs(code))):
                # At large scores, Δ does not count.
                scores = scores * (100.0 * (1.0 + loss.loss(y, prediction)) / ahead)
                scores = scores if bounds is None else np.clip(scores, *bounds)
                prediction, bound = checked_output(loss, loss.loss_augmented_argmax(scores.copy(), y))
                value = float(scores @ coefficients(loss, prediction, y)) + loss.loss(y, prediction)
                lead = float(scores @ coefficients(loss, y, y)) - (value if bound is None else bound)
                return lead if lead > _tolerance(scores) else 0.0
            distance = float((of_truth - code) @ (of_truth - code))
            if distance == 0.0:
                return 0.0
            scores = scores + (1.0 + 1.5 * abs(ahead) / distance) * (of_truth - code)
    # The caller reports another mistake of the loss.
    except Exception:
        return 0.0
    return 0.0


def unreachable(loss: ScoreLoss[Any], place: str, ahead: float) -> str:
    """Return the message for a true output that is better by ``ahead`` than all outputs that the argmax can return."""
    return (
        f"the true output of {place} cannot be returned by the argmax of {loss.title}: its Δ + w·Ψ is {ahead:.3g} "
        "above that of the best output found, and argmax returns other outputs even at scores that favor it. If true "
        "outputs may lie outside the outputs of the argmax, set unreachable_truths = True in the class; otherwise "
        f"correct the example or the argmax. {run_check(loss)}"
    )


def require_unbeaten(loss: ScoreLoss[Any], violation: Vector, least: Vector, scores: Vector, first: int) -> None:
    """Reject argmaxes if earlier outputs have larger violations ``Δ − w·(Ψ(x, y) − Ψ(x, ŷ))``."""
    missed = violation < least - _tolerance(scores)
    if missed.any():
        raise beaten(loss, first + int(missed.argmax()))


def require_best(problem: Any, planes: Planes, point: Point, others: Iterable[Planes]) -> None:
    """Raise `OracleError` if an output found elsewhere beats an argmax of a `Problem`, or its bound, without a pass.

    ``others`` are outputs found earlier. For some examples, outputs found at slightly shorter and longer weights are
    compared too: an argmax that weighs the loss a little wrong finds outputs there that beat its own. Argmaxes in
    Python dominate the time anyway, so all examples are compared then.
    """
    violation = problem.violation(planes, point) + (0.0 if planes.missed is None else planes.missed)
    for other in others:
        require_unbeaten(problem.loss, violation, problem.violation(other, point), point.scores, problem.first)
    looked_at = max(_FEWEST_PROBED, problem.n // _PROBED) if problem.has_kernel else problem.n
    some, here, start = problem, point, 0
    if looked_at < problem.n:
        start = int(np.random.default_rng(problem.n).integers(problem.n - looked_at + 1))
        some = problem.block(start, start + looked_at)
        here = Point(point.w, scores_of_examples(point.scores, problem.ptr, start, start + looked_at))
    # Multiples above 1 may be out of bounds.
    for t in _NEARBY if problem.box is None else _NEARBY[:1]:
        nearby = some.planes(some.origin().toward(here, t))
        value, violated = some.violation(nearby, here), violation[start : start + some.n]
        require_unbeaten(problem.loss, violated, value, here.scores, some.first)


def beaten(loss: ScoreLoss[Any], example: int) -> OracleError:
    """Return the error for an argmax, or its bound, that an output found earlier beats."""
    if loss.bounded:
        return OracleError(
            f"{loss.title}.loss_augmented_argmax returned a wrong bound for example {example}: an output found earlier "
            f"has a larger Δ + w·Ψ. Run {loss.checked_by} on the loss to see the bound."
        )
    return OracleError(
        f"{loss.title}.loss_augmented_argmax returned a wrong output for example {example}: an output found earlier "
        f"has a larger Δ + w·Ψ. Run {loss.checked_by} on the loss to see the argmax."
    )


def _tolerance(scores: Vector) -> float:
    """Return the rounding error of values ``Δ − c·s`` at these scores."""
    return float(ROUNDING * (1.0 + largest_score(scores)))
