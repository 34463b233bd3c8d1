"""Convex functions to subtract from an objective, as in ramp losses, given by values and tangents."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from structsvm.exceptions import InputError
from structsvm.features.operators.base import scores_of_examples
from structsvm.foundation.types import Vector
from structsvm.losses.latent import Completed
from structsvm.losses.user_methods import coefficients, joint_features
from structsvm.problem.problem import Problem


class Tangent(NamedTuple):
    """The value and a subgradient (d,) of a convex h at w: ``h(w') ≥ value + slope·(w' − w)`` for all w'."""

    value: float
    slope: Vector


Subtracted: TypeAlias = Callable[[Vector], Tangent]
"""A convex function of the weights that is subtracted from an objective."""


def ramp(problem: Problem) -> Subtracted:
    """Return the convex function h that, subtracted from a problem's objective, turns its hinges into ramps.

    ``h(w) = (C/n) Σ_i κ_i [max_ŷ w·Ψ(x_i, ŷ) − w·Ψ(x_i, y_i)]``. A ramp, ``max_ŷ [Δ(y, ŷ) + w·Ψ(x, ŷ)] − max_ŷ w·Ψ(x,
    ŷ)``, lies between the loss of the prediction and the largest loss, so outliers cannot dominate the objective. See
    Collobert, Sinz, Weston and Bottou, "Trading convexity for scalability", ICML 2006; Chapelle, Do, Le, Smola and Teo,
    "Tighter bounds for structured estimation", NIPS 2008.

    Parameters
    ----------
    problem : the problem with the hinges; its loss has an exact argmax.

    Examples
    --------
    >>> from structsvm import Problem
    >>> problem = Problem.from_queries([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1], loss="map", C=0.1)
    >>> ramp(problem)(np.zeros(1)).value
    0.0
    """
    loss = problem.loss
    if not loss.exact:
        raise InputError(f"a ramp needs exact argmaxes, but {loss.title} has exact = False: use another loss")
    if loss.unreachable_truths:
        raise InputError(
            f"a ramp needs argmaxes that can return true outputs, but {loss.title} has unreachable_truths = True: use "
            "another loss"
        )
    ys, used = problem.ys, np.flatnonzero(problem.cap).tolist()

    def tangent(w: Vector) -> Tangent:
        scores = problem.operator.scores(w)
        coef = np.zeros_like(scores)
        for i in used:
            prediction = loss.prediction(scores_of_examples(scores, problem.ptr, i, i + 1), ys[i])
            code = problem.cap[i] * (coefficients(loss, prediction, ys[i]) - coefficients(loss, ys[i], ys[i]))
            rows, end = slice(problem.ptr[i], problem.ptr[i + 1]), int(problem.ptr[i + 1] - problem.ptr[i])
            coef[rows] = code[:end]
            coef[problem.ptr[-1] :] += code[end:]
        return Tangent(float(coef @ scores), problem.operator.combine(coef))

    return tangent


def completion(problem: Problem, loss: Completed, xs: Sequence[Any], truths: Sequence[tuple[Any, Any]]) -> Subtracted:
    """Return ``h(w) = (C/n) Σ_i κ_i [max_h w·Ψ(x_i, y_i, h) − w·Ψ(x_i, y_i, h_i)]``, which frees the truths' latents.

    ``problem`` fixes the latents h_i; ``truths`` are its pairs (y, h).
    """

    def features(i: int, h: Any) -> Vector:
        return joint_features(loss, i, problem.d, loss.inner.joint_feature, xs[i], truths[i][0], h)

    fixed = [features(i, h) for i, (_, h) in enumerate(truths)]

    def tangent(w: Vector) -> Tangent:
        slope = np.zeros(problem.d)
        for i in np.flatnonzero(problem.cap).tolist():
            completed = loss.completion(i, xs[i], truths[i][0], w)
            slope += problem.cap[i] * (features(i, completed) - fixed[i])
        return Tangent(float(slope @ w), slope)

    return tangent
