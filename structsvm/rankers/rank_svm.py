"""The ranking SVM, a linear ranker trained on pairs of documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from attrs import define, evolve, field, frozen

from structsvm.estimators import fits
from structsvm.estimators.parameters import measure_of, solver_of
from structsvm.estimators.ranker import LINEAR, restore_linear
from structsvm.estimators.ranking import RankingEstimator
from structsvm.estimators.saving import Stored
from structsvm.exceptions import InputError
from structsvm.features.operators import Rows
from structsvm.features.operators.occupied import narrowed, occupied
from structsvm.foundation.queries import Queries
from structsvm.foundation.settings import RANKING_TOL, place, require_choice, require_number
from structsvm.foundation.types import IntVector
from structsvm.losses import JudgedPairs, PreferencePairs, ScoreLoss, SwappedPairs
from structsvm.losses.base import Examples
from structsvm.metrics import Measure
from structsvm.models.linear import LinearModel
from structsvm.problem import Problem
from structsvm.solvers import Solver
from structsvm.training.data import TrainingData
from structsvm.training.filling import without_missing
from structsvm.training.grouped import GroupedData
from structsvm.training.objective import Objective, Spec
from structsvm.training.preferences import Preferences
from structsvm.training.ranking import linear_form
from structsvm.training.scaling import scaled


@frozen(eq=False)
class PairsSpec(Spec):
    """Settings of a ranking SVM: pairs of different labels, or of preferences, are weighted by ``weighting``."""

    owner: str
    C: float
    solver: Solver
    weighting: str
    normalize: str | None
    missing: str | float | None

    def data(self, X: Any, y: Any, qid: Any = None, weight: Any = None) -> TrainingData:
        """Check features, labels or preferences, query ids and weights of rows."""
        missing = self.missing is not None
        return TrainingData.of(self.owner, X, y, qid, weight, missing=missing, takes_preferences=True)

    def objective(self, data: TrainingData) -> Objective:
        """Return the objective, whose tol and gap are in units of the mean number of pairs."""
        grouped = GroupedData.of(data)
        ptr = grouped.queries.ptr
        loss: ScoreLoss[Any]
        ys: Sequence[Any]
        if isinstance(grouped.y, Preferences):
            loss, ys = PreferencePairs(), _judged(grouped.y, ptr)
            counts = np.array([len(pairs) for pairs in ys])
            with np.errstate(over="ignore"):
                sums = np.array([pairs.magnitude.sum() for pairs in ys])
        else:
            loss, ys = SwappedPairs(), np.split(grouped.y, ptr[1:-1])
            counts = sums = np.array([loss.number_of_pairs(labels) for labels in ys])
        usable = grouped.usable(grouped.with_pairs())
        kappa = sums if self.weighting == "pairs" else np.ones(len(sums))
        with np.errstate(over="ignore"):
            unit = float(kappa[usable].mean())
            kappa = kappa * grouped.weights
            total = kappa[usable].sum()
        if not (np.isfinite(unit) and np.isfinite(total) and total > 0.0):
            raise InputError(
                f"the weights of the pairs, sample_weight times magnitudes, sum to {total:g} over all queries: divide "
                "them by their largest"
            )
        X, fill = without_missing(self.owner, self.missing, grouped.X, data.names)
        X, scaling = scaled(
            self.owner,
            self.normalize,
            X,
            lambda: Queries.of_sizes(grouped.queries.sizes),
            grouped.row_weights,
            data.names,
        )
        columns = occupied(X)
        left_out = int((~usable).sum())
        problem = evolve(
            Problem.make(Examples(loss, Rows(narrowed(X, columns), ptr), ys, kappa, usable), self.C), left_out=left_out
        )
        solver: Any = self.solver
        return Objective(
            problem,
            evolve(solver, tol=solver.tol * unit) if hasattr(solver, "tol") else solver,
            problem.loss,
            linear_form(data.n_features, data.names, scaling, fill),
            facts={
                "_fitted_with_qid": data.qid is not None,
                "n_examples_": int(usable.sum()),
                "n_left_out_": left_out,
                "n_pairs_": int(counts[usable].sum()),
                "gap_unit_": unit,
            },
            statistics=data.statistics,
            ranks=True,
            other_losses=False,
            n_features=data.n_features,
            columns=columns,
            categories=data.categories,
        )


def _restore(ranker: Any) -> None:
    require_choice(place(ranker, "objective"), ranker.objective, ["pairs", "queries"])
    measure_of(ranker)
    restore_linear(ranker)
    require_number("gap_unit_", ranker.gap_unit_, above=0.0)


@define(slots=False, eq=False, repr=False)
class RankSVM(RankingEstimator):
    """The ranking SVM: ranks the better document of each pair of a query first, by a margin of 1.

    A query q has a weight κ_q and P_q pairs (i, j) in which i has the larger label. With ``ξ_ij = max(0, 1 − w·(x_i −
    x_j))``, the fit minimizes over the n queries that have pairs and a weight above 0:

    - ``objective="pairs"``: ``½‖w‖² + (C/n) Σ_q κ_q Σ_ij ξ_ij``, every pair counts the same;
    - ``objective="queries"``: ``½‖w‖² + (C/n) Σ_q κ_q (1/P_q) Σ_ij ξ_ij``, every query counts the same.

    svm_rank minimizes the first objective with ``-l 1`` and the second with ``-l 2``. It also counts queries without
    pairs, so its ``-c c`` is ``C = c · n / (n + n_left_out_)``. Pairs are never listed: the gradient of a query of m
    documents takes O(m log m). If y is `Preferences`, their magnitudes multiply ξ_ij, and P_q is their sum.

    Sources: Herbrich, Graepel and Obermayer, "Large margin rank boundaries for ordinal regression", 2000; Joachims, KDD
    2002; for "queries", Cao et al., SIGIR 2006, without their costs of positions.

    Parameters
    ----------
    C : weight of the hinge against the regularizer; larger values fit the training data more closely.
    objective : "pairs" or "queries", see above.
    solver, max_iter, measure, normalize, missing : as in `Ranker`.
    tol : accepted gap to the optimum as a share of the pairs: ``primal − dual ≤ tol · C`` for "queries", and
        ``tol · C · Σ P_q / n`` for "pairs" (as svm_rank's ``-e``). None: as in `Ranker`.

    Attributes
    ----------
    model_, coef_, n_features_in_, n_examples_ : as in `Ranker`.
    result_ : as in `Ranker`, with ``gap ≤ result_.tol · C`` if it converged.
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

    capabilities = evolve(LINEAR, takes_preferences=True)
    stored: ClassVar[Stored] = Stored(
        "RankSVM",
        LinearModel,
        {"_fitted_with_qid": bool, "n_examples_": 1, "n_left_out_": 0, "n_pairs_": 1, "gap_unit_": float},
        _restore,
    )

    C: float = 1.0
    objective: str = field(default="pairs", kw_only=True)
    solver: str | Solver = field(default="auto", kw_only=True)
    tol: float | None = field(default=None, kw_only=True)
    max_iter: int | None = field(default=None, kw_only=True)
    measure: str | Measure | None = field(default=None, kw_only=True)
    normalize: str | None = field(default=None, kw_only=True)
    missing: str | float | None = field(default=None, kw_only=True)

    fit = fits.fit
    path = fits.path

    def spec(self) -> PairsSpec:
        """Return the checked settings of a fit."""
        require_choice(place(self, "objective"), self.objective, ["pairs", "queries"])
        measure_of(self)
        solver = solver_of(self, tol=RANKING_TOL)
        return PairsSpec(type(self).__name__, self.C, solver, self.objective, self.normalize, self.missing)


def _judged(preferences: Preferences, ptr: IntVector) -> list[JudgedPairs]:
    """Return the pairs of each query, with the query's documents numbered from 0."""
    query = preferences.queries(ptr)
    order = np.argsort(query, kind="stable")
    better, worse, magnitude = (
        np.split(part[order], np.cumsum(np.bincount(query, minlength=len(ptr) - 1))[:-1])
        for part in (preferences.better - ptr[query], preferences.worse - ptr[query], preferences.magnitude)
    )
    return [JudgedPairs(*pairs) for pairs in zip(np.diff(ptr), better, worse, magnitude, strict=True)]
