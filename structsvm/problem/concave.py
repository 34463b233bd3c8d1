"""Convex functions that are subtracted from an objective, as in ramp losses, by their values and tangents."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from structsvm.exceptions import InputError
from structsvm.losses import ScoreLoss
from structsvm.losses.base import joint_features
from structsvm.losses.latent import Completed
from structsvm.problem.problem import Problem
from structsvm.types import Vector


class Tangent(NamedTuple):
    """A convex function h at some weights w: ``h(w') ≥ value + slope·(w' − w)`` everywhere.

    Parameters
    ----------
    value : h(w).
    slope : a subgradient of h at w, shape (d,).

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm import Problem
    >>> from structsvm.problem import Tangent
    >>> from structsvm.solvers import OneSlack, descend
    >>> def half(w):  # of the regulariser
    ...     return Tangent(0.25 * float(w @ w), 0.5 * w)
    >>> problem = Problem.from_queries([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1], loss="map", C=0.1)
    >>> descent = descend(problem, half, OneSlack(tol=1e-6))
    >>> descent.stationary, round(descent.objective, 4)
    (True, 0.0156)
    """

    value: float
    slope: Vector


Subtracted: TypeAlias = Callable[[Vector], Tangent]
"""A convex function of the weights that is subtracted from an objective.

Examples
--------
>>> import numpy as np
>>> from structsvm.problem import Subtracted, Tangent
>>> def half_a_norm(w: np.ndarray) -> Tangent:
...     size = float(np.linalg.norm(w))
...     return Tangent(0.5 * size, 0.5 * w / size if size else np.zeros_like(w))
>>> subtracted: Subtracted = half_a_norm  # as `descend` takes it
>>> subtracted(np.array([3.0, 4.0]))
Tangent(value=2.5, slope=array([0.3, 0.4]))
"""


def ramp(problem: Problem) -> Subtracted:
    """Return ``h(w) = (C/n) Σ_i κ_i [max_ŷ w·Ψ(x_i, ŷ) − w·Ψ(x_i, y_i)]``, which makes hinges of P ramps.

    What is left of a hinge, ``max_ŷ [Δ(y, ŷ) + w·Ψ(x, ŷ)] − max_ŷ w·Ψ(x, ŷ)``, is between the loss of the prediction
    and the largest loss: no example counts for more than that, however wrong it is (Collobert, Sinz, Weston and Bottou,
    "Trading convexity for scalability", ICML 2006; Chapelle, Do, Le, Smola and Teo, "Tighter bounds for structured
    estimation", NIPS 2008).

    Parameters
    ----------
    problem : the problem of the hinges.

    Raises
    ------
    InputError : when the argmax of the loss is inexact.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm import Problem
    >>> from structsvm.problem import ramp
    >>> problem = Problem.from_queries([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1], loss="map", C=0.1)
    >>> ramp(problem)(np.zeros(1)).value
    0.0
    """
    loss = problem.loss
    if not loss.exact:
        raise InputError(f"a ramp needs exact argmaxes, and those of {loss.title} are not (exact = False)")
    ys, used = problem.ys, np.flatnonzero(problem.cap).tolist()

    def tangent(w: Vector) -> Tangent:
        scores = problem.operator.scores(w)
        coef = np.zeros_like(scores)
        for i in used:
            own = slice(problem.ptr[i], problem.ptr[i + 1])
            coef[own] = problem.cap[i] * _beyond_the_truth(loss, scores[own], ys[i])
        return Tangent(float(coef @ scores), problem.operator.combine(coef))

    return tangent


def _beyond_the_truth(loss: ScoreLoss[Any], scores: Vector, y: Any) -> Vector:
    """Return ``c(ŷ) − c(y)`` of the prediction ŷ."""
    return loss.encode(loss.prediction(scores, y), y) - loss.encode(y, y)


def completion(problem: Problem, loss: Completed, xs: Sequence[Any], truths: Sequence[tuple[Any, Any]]) -> Subtracted:
    """Return ``h(w) = (C/n) Σ_i κ_i [max_h w·Ψ(x_i, y_i, h) − w·Ψ(x_i, y_i, h_i)]``, which frees latents of truths.

    Parameters
    ----------
    problem : the problem in which the latents h_i of the truths are fixed.
    loss : completes truths.
    xs : inputs.
    truths : pairs (y, h) of the problem.
    """

    def features(i: int, h: Any) -> Vector:
        return joint_features(loss, i, problem.d, loss.latent.joint_feature, xs[i], truths[i][0], h)

    fixed = [features(i, h) for i, (_, h) in enumerate(truths)]

    def tangent(w: Vector) -> Tangent:
        slope = np.zeros(problem.d)
        for i in np.flatnonzero(problem.cap).tolist():
            found = loss.completion(i, xs[i], truths[i][0], w)
            slope += problem.cap[i] * (features(i, found) - fixed[i])
        return Tangent(float(slope @ w), slope)

    return tangent
