"""The optimum of a small problem from a list of all outputs, by a QP solver without argmaxes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from structsvm.foundation.types import Matrix, Vector
from tests.small_problems import matrix_of

_OUTPUTS: dict[str, tuple[Any, Matrix, list[float]]] = {}
"""Losses, and the codes and losses of all outputs of an example, which take longer to list than a QP takes."""


def exhaustive_objective(
    loss: Any, examples: Sequence[tuple[Any, Any]], C: float, weights: Vector | None = None, intercept: float = 0.0
) -> float:
    """Minimize ``P(w)`` with every output of every example as a constraint of a QP, which cvxopt solves.

    Of the loss, only ``outputs``, ``loss`` and ``encode`` (``joint_feature``) are used, and its operator.

    Parameters
    ----------
    loss : a `ScoreLoss` or a `Loss`, bound to the data.
    examples : inputs and true outputs: rows of features and labels of a query, say.
    C : weight of the mean hinge.
    weights : example weights κ; None: all 1.
    intercept : value of a constant feature; 0 for none.

    Returns
    -------
    ``P`` at the minimizer, which a lower bound proves to be within 1e-7 (1 + P) of the optimum.
    """
    planes = [planes_of(loss, x, y, intercept) for x, y in examples]
    cap = C / len(planes) * (np.ones(len(planes)) if weights is None else weights)
    w, lower = solve(planes, cap)
    upper = float(0.5 * w @ w + sum(c * (L - G @ w).max() for c, (G, L) in zip(cap, planes, strict=True)))
    assert lower <= upper + 1e-9 * (1.0 + upper)
    assert upper - lower <= 1e-7 * (1.0 + upper)
    return upper


def planes_of(loss: Any, x: Any, y: Any, intercept: float) -> tuple[Matrix, Vector]:
    """Every ``(Ψ(x, y) − Ψ(x, ŷ), Δ(y, ŷ))`` of one example, each once."""
    given = loss.examples([x], [y], intercept)
    A, truth = matrix_of(given.operator), given.ys[0]
    key = repr((given.loss, truth))
    if key not in _OUTPUTS:
        outputs = list(given.loss.outputs(truth))
        codes = np.stack([given.loss.encode(output, truth) for output in outputs])
        _OUTPUTS[key] = given.loss, codes, [given.loss.loss(truth, output) for output in outputs]
    _, codes, losses = _OUTPUTS[key]
    planes = np.column_stack([(given.loss.encode(truth, truth) - codes) @ A, losses])
    distinct = np.unique(np.round(planes, 12), axis=0)
    return distinct[:, :-1], distinct[:, -1]


def solve(planes: list[tuple[Matrix, Vector]], cap: Vector) -> tuple[Vector, float]:
    """Minimize ``½‖w‖² + cap·ξ`` with ``w·g ≥ L − ξ_i``; return w and a lower bound."""
    cvxopt = pytest.importorskip("cvxopt")
    n, d = len(planes), planes[0][0].shape[1]
    G = np.concatenate([-np.column_stack([g, np.tile(np.eye(n)[i], (len(g), 1))]) for i, (g, _) in enumerate(planes)])
    h = -np.concatenate([L for _, L in planes])
    P = np.diag(np.concatenate([np.ones(d), np.zeros(n)]))
    q = np.concatenate([np.zeros(d), cap])
    options = {"show_progress": False, "abstol": 1e-11, "reltol": 1e-11, "feastol": 1e-11, "maxiters": 200}
    result = cvxopt.solvers.qp(*map(cvxopt.matrix, (P, q, G, h)), options=options)
    a = np.maximum(np.array(result["z"])[:, 0], 0.0)
    group = np.repeat(np.arange(n), [len(g) for g, _ in planes])
    a *= np.minimum(1.0, cap / np.maximum(np.bincount(group, weights=a), 1e-300))[group]
    w = a @ -G[:, :d]
    return w, float(-a @ h - 0.5 * w @ w)
