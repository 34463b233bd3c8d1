"""dlib's structural SVM solver (OCA with a cache of oracle results) on average precision.

Its objective is ours, ``½‖w‖² + (C/n) Σ hinge``, and its stopping rule, too:
``(primal − dual) / C < epsilon``. C++ calls the oracle for one example at a time.
"""

import time
from typing import Any

import dlib
import numpy as np
from attrs import define, field

from benchmarks.peers.vectorized import AveragePrecisionOracle
from structsvm.foundation.types import Vector


@define
class _Whole:
    """All queries as one example, whose loss and plane are the means: one call per pass."""

    oracle: AveragePrecisionOracle
    C: float
    epsilon: float
    num_samples: int = 1
    max_cache_size: int = 0
    seen: list[tuple[float, Vector, float]] = field(factory=list)

    @property
    def num_dimensions(self) -> int:
        return int(self.oracle.X.shape[1])

    def get_truth_joint_feature_vector(self, idx: int) -> Any:
        """Return 0: the oracle returns differences to the truth."""
        return dlib.vector([0.0] * self.num_dimensions)

    def separation_oracle(self, idx: int, solution: Any) -> tuple[float, Any]:
        w = np.array(list(solution))
        psi, loss = self.oracle.mean(w)
        self.seen.append((time.perf_counter(), w, 0.5 * float(w @ w) + self.C * (loss + float(psi @ w))))
        return loss, dlib.vector(psi.tolist())


@define
class _OneByOne(_Whole):
    """Each query an example, for dlib's cache of planes; all planes are computed at the first call with new weights."""

    max_cache_size: int = 10
    _known: Any = None
    _w: Any = None

    def separation_oracle(self, idx: int, solution: Any) -> tuple[float, Any]:
        w = np.array(list(solution))
        if self._w is None or not np.array_equal(w, self._w):
            psi, losses = self.oracle.each(w)
            self._known, self._w = (psi, losses), w
            hinges = losses + psi @ w
            self.seen.append((time.perf_counter(), w, 0.5 * float(w @ w) + self.C * float(hinges.mean())))
        psi, losses = self._known
        return float(losses[idx]), dlib.vector(psi[idx].tolist())


def solve(
    oracle: AveragePrecisionOracle, C: float, epsilon: float, *, one_by_one: bool
) -> tuple[Vector, list[list[float]]]:
    """Solve with dlib.

    Parameters
    ----------
    oracle : oracle of all queries.
    C : as in this library.
    epsilon : ``tol`` of this library.
    one_by_one : whether each query is an example to dlib, or all queries are one.

    Returns
    -------
    w : the weights.
    history : seconds and best primal value so far, after each pass.
    """
    made = _OneByOne(oracle, C, epsilon, num_samples=oracle.n) if one_by_one else _Whole(oracle, C, epsilon)
    began = time.perf_counter()
    w = np.array(list(dlib.solve_structural_svm_problem(made)))
    best = np.minimum.accumulate([primal for _, _, primal in made.seen])
    return w, [[seen[0] - began, float(primal)] for seen, primal in zip(made.seen, best, strict=True)]
