"""The ranking SVM, a linear ranker trained on pairs of documents."""

# `help` then shows types by name instead of as long unions.
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from attrs import evolve
from numpy.typing import ArrayLike

from structsvm.estimators.fitting import Objective
from structsvm.estimators.linear import LinearRanker
from structsvm.estimators.parameters import measure_of, solver_of
from structsvm.exceptions import InputError
from structsvm.features.operators import Rows
from structsvm.features.operators.occupied import narrowed, occupied
from structsvm.foundation.queries import Queries
from structsvm.foundation.settings import RANKING_TOL, place, require_choice, require_number
from structsvm.foundation.types import IntVector
from structsvm.losses import JudgedPairs, PreferencePairs, ScoreLoss, SwappedPairs
from structsvm.losses.base import Examples
from structsvm.metrics import Measure
from structsvm.problem import Problem
from structsvm.rankers.preferences import Preferences
from structsvm.rankers.training import checked_training
from structsvm.solvers import Solver


class RankSVM(LinearRanker):
    """The ranking SVM: ranks the better document of each pair of a query first, by a margin of 1.

    Minimizes over the n queries q that have pairs and a weight κ_q above 0, with ``ξ_ij = max(0, 1 − w·(x_i − x_j))``
    for each of their P_q pairs (i, j), of which i has the larger label:

    - ``objective="pairs"``: ``½‖w‖² + (C/n) Σ_q κ_q Σ_ij ξ_ij``, every pair counts the same;
    - ``objective="queries"``: ``½‖w‖² + (C/n) Σ_q κ_q (1/P_q) Σ_ij ξ_ij``, every query counts the same.

    svm_rank minimizes the first objective with ``-l 1`` and the second with ``-l 2``. Its n includes queries without
    pairs, so ``-c c`` is ``C = c · n / (n + n_left_out_)``. Pairs are never listed: the gradient of a query of m
    documents takes O(m log m). If y is `Preferences`, their magnitudes multiply ξ_ij, and P_q is their sum.

    Herbrich, Graepel and Obermayer, "Large margin rank boundaries for ordinal regression", 2000; Joachims, KDD 2002;
    for "queries" Cao et al., SIGIR 2006, without costs of positions.

    Parameters
    ----------
    C : weight of the hinge against the regularizer; larger values fit the training data more closely.
    objective : "pairs" or "queries", see above.
    solver, max_iter, measure, normalize : as in `Ranker`.
    tol : accepted gap to the optimum as a share of the pairs: ``primal − dual ≤ tol · C`` for "queries", and
        ``tol · C · Σ P_q / n`` for "pairs" (as svm_rank's ``-e``). None: as in `Ranker`.

    Attributes
    ----------
    model_, coef_, n_features_in_, n_examples_ : as in `Ranker`.
    result_ : as in `Ranker`; its ``tol`` is for a gap of ``tol · C``.
    n_left_out_ : number of queries without pairs, or of weight 0.
    n_pairs_ : number of pairs learned from.
    gap_unit_ : factor of ``tol · C``: ``Σ P_q / n`` for "pairs", 1 for "queries". The certified gap as a share of the
        pairs is ``result_.gap / (result_.C * gap_unit_)``.

    Examples
    --------
    >>> X, y = [[0.0, 1.0], [1.0, 3.0], [2.0, 2.0]], [0, 1, 2]
    >>> RankSVM(C=10.0, tol=1e-6).fit(X, y, qid=[1, 1, 1]).coef_.round(2) + 0.0
    array([1., 0.])
    """

    _saved_as = "RankSVM"
    capabilities = evolve(LinearRanker.capabilities, takes_preferences=True)
    _kept: ClassVar[Mapping[str, Any]] = {
        "_fitted_with_qid": bool,
        "n_examples_": 1,
        "n_left_out_": 0,
        "n_pairs_": 1,
        "gap_unit_": float,
    }

    def __init__(
        self,
        C: float = 1.0,
        *,
        objective: str = "pairs",
        solver: str | Solver = "auto",
        tol: float | None = None,
        max_iter: int | None = None,
        measure: str | Measure | None = None,
        normalize: str | None = None,
    ) -> None:
        self.C = C
        self.objective = objective
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.measure = measure
        self.normalize = normalize

    def _objective(self, X: Any, y: Any, qid: ArrayLike | None, sample_weight: ArrayLike | None) -> Objective:
        self._require_settings()
        solver: Any = solver_of(self, tol=RANKING_TOL)
        training = checked_training(self, X, y, qid, sample_weight, takes_preferences=True)
        ptr = training.queries.ptr
        loss: ScoreLoss[Any]
        ys: Sequence[Any]
        if isinstance(training.y, Preferences):
            loss, ys = PreferencePairs(), _judged(training.y, ptr)
            counts = np.array([len(pairs) for pairs in ys])
            with np.errstate(over="ignore"):
                sums = np.array([pairs.magnitude.sum() for pairs in ys])
        else:
            loss, ys = SwappedPairs(), np.split(training.y, ptr[1:-1])
            counts = np.array([loss.number_of_pairs(labels) for labels in ys])
            sums = counts.astype(np.float64)
        usable = training.usable(self, training.with_pairs())
        kappa = sums if self.objective == "pairs" else np.ones(len(sums))
        with np.errstate(over="ignore"):
            unit = float(kappa[usable].mean())
            kappa = kappa * training.weights
            total = kappa[usable].sum()
        if not (np.isfinite(unit) and np.isfinite(total) and total > 0.0):
            raise InputError(
                f"the weights of the pairs, sample_weight times magnitudes, sum to {total:g} over all queries: divide "
                "them by their largest"
            )
        self._fitted_with_qid = qid is not None
        X, scaling = self._scaled_for_fit(
            training.X, lambda: Queries.of_sizes(training.queries.sizes), training.row_weights
        )
        columns = occupied(X)
        self.n_examples_, self.n_left_out_ = int(usable.sum()), int((~usable).sum())
        problem = evolve(
            Problem.make(Examples(loss, Rows(narrowed(X, columns), ptr), ys, kappa, usable), self.C),
            left_out=self.n_left_out_,
        )
        self.n_pairs_ = int(counts[usable].sum())
        self.gap_unit_ = unit
        if hasattr(solver, "tol"):
            solver = evolve(solver, tol=solver.tol * unit)
        return Objective(
            problem,
            solver,
            problem.loss,
            ranks=True,
            other_losses=False,
            n_features=X.shape[1],
            columns=columns,
            scaling=scaling,
        )

    def _require_settings(self) -> None:
        require_choice(place(self, "objective"), self.objective, ["pairs", "queries"])
        measure_of(self)

    def _restore(self) -> None:
        super()._restore()
        require_number("gap_unit_", self.gap_unit_, above=0.0)


def _judged(preferences: Preferences, ptr: IntVector) -> list[JudgedPairs]:
    """Return the pairs of each query, with the query's documents numbered from 0."""
    query = preferences.queries(ptr)
    order = np.argsort(query, kind="stable")
    better, worse, magnitude = (
        np.split(part[order], np.cumsum(np.bincount(query, minlength=len(ptr) - 1))[:-1])
        for part in (preferences.better - ptr[query], preferences.worse - ptr[query], preferences.magnitude)
    )
    return [JudgedPairs(*each) for each in zip(np.diff(ptr), better, worse, magnitude, strict=True)]
