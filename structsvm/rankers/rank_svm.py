"""The ranking SVM."""

from __future__ import annotations  # `help` shows the types by name, not as the long unions that they are

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from attrs import evolve
from numpy.typing import ArrayLike

from structsvm.estimators.fitting import Objective
from structsvm.estimators.linear import LinearRanker
from structsvm.estimators.parameters import measure_of, require_solver
from structsvm.exceptions import InputError
from structsvm.losses import JudgedPairs, PreferencePairs, ScoreLoss, SwappedPairs
from structsvm.metrics import Measure
from structsvm.operators import Rows, narrowed, occupied
from structsvm.problem import Problem
from structsvm.queries import Queries
from structsvm.rankers.preferences import Preferences
from structsvm.rankers.ranker_file import SavedRanker
from structsvm.rankers.training import checked_training
from structsvm.registry import solvers
from structsvm.result import Result
from structsvm.serving.linear import weights_of_result
from structsvm.serving.scorer import Description
from structsvm.settings import place, require_choice, require_number
from structsvm.solvers import Solver
from structsvm.types import IntVector, Vector


class RankSVM(SavedRanker, LinearRanker):
    """A linear ranker that puts the better document of each pair of a query ahead of the other, by a margin of 1.

    Minimises over the n queries q that have pairs and a weight κ_q above 0, with ``ξ_ij = max(0, 1 − w·(x_i − x_j))``
    for each of their P_q pairs (i, j), of which i has the larger label:

    - ``objective="pairs"``: ``½‖w‖² + (C/n) Σ_q κ_q Σ_ij ξ_ij``, every pair counts the same;
    - ``objective="queries"``: ``½‖w‖² + (C/n) Σ_q κ_q (1/P_q) Σ_ij ξ_ij``, every query counts the same.

    These are what svm_rank minimises with ``-l 1`` and ``-l 2``; its n counts queries without pairs too, so that
    ``-c c`` is ``C = c · n / (n + n_left_out_)``. Pairs are never listed: the gradient of a query of m
    documents takes O(m log m). Where `Preferences` are given in the place of labels, these are the pairs,
    ξ_ij is multiplied by their magnitude, and P_q is the sum of the magnitudes.

    Herbrich, Graepel and Obermayer, "Large margin rank boundaries for ordinal regression", 2000; Joachims,
    "Optimizing search engines using clickthrough data", KDD 2002, section 4.2; and for the cutting planes "Training
    linear SVMs in linear time", KDD 2006. The hinge divided by the pairs of the query is that of Cao et al.,
    "Adapting ranking SVM to document retrieval", SIGIR 2006, without its costs of positions.

    Parameters
    ----------
    C : weight of the hinge against the regulariser; larger fits the training data closer.
    objective : "pairs" or "queries", see above.
    solver : how, by name ("auto", "frank-wolfe", "one-slack", "n-slack") or as an object with settings of its own.
    tol : gap to the optimum that is good enough, as a share of the pairs: ``primal − dual ≤ tol · C`` for
        "queries", and ``tol · C · Σ P_q / n`` for "pairs" (as svm_rank's ``-e``). None leaves it to the solver, whose
        default is 1e-3.
    measure : what `score` reports, by name ("map", "ndcg@10", "p@5", ...) or as an object; None is "map".
    normalise : what is done to features first: "query-min-max", "query-z-score", "standard" or nothing, None; see
        `Ranker`.

    Attributes
    ----------
    coef_ : weights, shape (d,), of the normalised features where they are normalised.
    result_ : `Result` with both bounds, status and history; its ``tol`` is that for a gap of ``tol · C``.
    n_features_in_ : number of features.
    n_examples_ : number of queries learned from.
    n_left_out_ : number of queries without pairs, or of weight 0.
    n_pairs_ : number of pairs learned from.
    gap_unit_ : what ``tol · C`` is multiplied by: ``Σ P_q / n`` for "pairs", 1 for "queries". The certified gap as a
        share of the pairs is ``result_.gap / (result_.C * gap_unit_)``.

    Examples
    --------
    >>> from structsvm.rankers import RankSVM
    >>> X, y = [[0.0, 1.0], [1.0, 3.0], [2.0, 2.0]], [0, 1, 2]
    >>> RankSVM(C=10.0, tol=1e-6).fit(X, y).coef_.round(2)
    array([1., 0.])
    """

    _kind = "rank_svm"
    _counts: ClassVar[Mapping[str, int]] = {**SavedRanker._counts, "n_pairs_": 1}
    _figures = ("gap_unit_",)

    def __init__(
        self,
        C: float = 1.0,
        *,
        objective: str = "pairs",
        solver: str | Solver = "auto",
        tol: float | None = None,
        measure: str | Measure | None = None,
        normalise: str | None = None,
    ) -> None:
        self.C = C
        self.objective = objective
        self.solver = solver
        self.tol = tol
        self.measure = measure
        self.normalise = normalise

    def _objective(self, X: Any, y: Any, qid: ArrayLike | None, sample_weight: ArrayLike | None) -> Objective:
        self._require_settings()
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
        X = self._normalised_for_fit(training.X, lambda: Queries.of_sizes(training.queries.sizes))
        columns = occupied(X)
        self.n_examples_, self.n_left_out_ = int(usable.sum()), int((~usable).sum())
        problem = evolve(
            Problem.make(loss, Rows(narrowed(X, columns), ptr), ys, self.C, kappa, usable),
            left_out=self.n_left_out_,
        )
        self.n_pairs_ = int(counts[usable].sum())
        self.gap_unit_ = unit
        tol = getattr(solvers.create(self.solver), "tol", None) if self.tol is None else self.tol
        return Objective(
            problem,
            self.solver,
            None if tol is None else tol * unit,
            problem.loss,
            ranks=True,
            other_losses=False,
            n_features=X.shape[1],
            columns=columns,
        )

    def _require_settings(self) -> None:
        require_choice(place(self, "objective"), self.objective, ["pairs", "queries"])
        require_solver(self)
        measure_of(self)

    def _state(self) -> dict[str, Any]:
        return self.result_.arrays()

    def _restore(self, arrays: Mapping[str, Any], about: Description) -> None:
        require_number("gap_unit_", self.gap_unit_, above=0.0)
        weights_of_result(arrays, about.n_features, 0.0)
        self._take(Result.from_arrays(arrays))

    def _take(self, result: Result) -> None:
        self.result_ = result
        self.coef_: Vector = result.wide(self.n_features_in_)


def _judged(preferences: Preferences, ptr: IntVector) -> list[JudgedPairs]:
    """Return the pairs of each query, with its documents numbered from 0."""
    query = preferences.queries(ptr)
    order = np.argsort(query, kind="stable")
    better, worse, magnitude = (
        np.split(part[order], np.cumsum(np.bincount(query, minlength=len(ptr) - 1))[:-1])
        for part in (preferences.better - ptr[query], preferences.worse - ptr[query], preferences.magnitude)
    )
    return [JudgedPairs(*each) for each in zip(np.diff(ptr), better, worse, magnitude, strict=True)]
