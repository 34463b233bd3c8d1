"""A linear ranker for scikit-learn."""

from __future__ import annotations  # `help` shows the types by name, not as the long unions that they are

from typing import Any, ClassVar

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from structsvm.estimators.fitting import Objective
from structsvm.estimators.inputs import checked_features, checked_labels, features_as_fitted, warn_of_one_query
from structsvm.estimators.linear import LinearRanker
from structsvm.estimators.model_file import SavedEstimator
from structsvm.estimators.parameters import (
    is_plain,
    measure_of,
    not_one_score,
    ranking_loss,
    regularised,
    require_settings,
    weights_of_rows,
)
from structsvm.estimators.written_settings import require_object
from structsvm.exceptions import InputError
from structsvm.losses import ScoreLoss
from structsvm.metrics import Measure
from structsvm.operators import Operator, narrowed, occupied
from structsvm.problem import MostViolated, Problem, most_violated
from structsvm.problem.coordinates import Bounds
from structsvm.queries import Queries
from structsvm.registry import losses
from structsvm.result import Result
from structsvm.solvers import Solver
from structsvm.types import Vector


class Ranker(SavedEstimator, LinearRanker):
    """A linear ranker that optimises the measure you report, with a proof of how close to optimal it is.

    Minimises ``½‖w‖² + (C/n) Σ_q κ_q max_ŷ [Δ(y_q, ŷ) − w·(Ψ(x_q, y_q) − Ψ(x_q, ŷ))]`` over the
    n queries that can be learned from (Yue, Finley, Radlinski and Joachims, SIGIR 2007).

    Parameters
    ----------
    loss : what is optimised, by name ("map", "roc_area", "zero_one", ...) or as an object. A cut-off, as in "ndcg@10",
        is trained at full depth, as ``loss_`` says, unless "ndcg@10(truncated=true)" is.
    C : weight of the mean hinge against the regulariser; larger fits the training data closer.
    solver : how, by name ("auto", "frank-wolfe", "one-slack", "n-slack") or as an object with settings of its own.
    tol : gap to the optimum, in units of the loss, that is good enough: ``primal − dual ≤ tol · C``.
        None leaves it to the solver, whose default is 1e-3.
    fit_intercept : add a constant to all scores. Only losses that look at the sign of a
        score ("zero_one", `FBeta`) can use it: a ranking does not change with it.
    intercept_scaling : value of the constant feature behind the intercept, which is
        regularised like the others; the larger, the less.
    class_weight : {label: weight} or "balanced", for losses whose examples are rows.
    measure : what `score` reports, by name ("map", "ndcg@10", "p@5", ...) or as an object;
        None is "map", whatever the loss.
    normalise : what is done to features first: "query-min-max" (from 0 to 1 within each query), "query-z-score" (mean
        0 and standard deviation 1 within each query) or "standard" (these over all training rows); None: nothing.
        Sparse features are divided and not shifted, see `LinearScores`.
    centre : weights that the regulariser pulls the others to, shape (d,): those of a model of other data, say, to
        transfer what it learned; None: 0. See `Problem.regularised`.
    penalty : λ, weights of the regulariser, shape (d,): ``½ Σ_j λ_j (w_j − centre_j)²``; None: 1. Positive, or 0 where
        the weight has two finite bounds.
    bounds : smallest and largest weights, ``(low, high)``, each a number, one for each feature, or None: ``(0, None)``
        for weights that are not negative, as ``positive=True`` of scikit-learn's linear models. None: no bounds. A
        pair, as in SciPy's ``lsq_linear``, of two features too: ``[(0, 1), (0, 1)]`` fixes weights 0 and 1. They
        are of `coef_`, so of normalised features, and not of the intercept. The optimum is that within them.
    monotonic_cst : features with which scores only rise (1), only fall (-1), or do either (0), one for each, or
        ``{name: 1}`` for features with names, as scikit-learn's trees have it: the weight of such a feature is at least
        0, or at most. Normalisation leaves signs as they are, so that it is so of the features before, too.
    warm_start : start from the result of the last fit.
    n_jobs : threads that compute: so many, or -1 for all cores, -2 for all but one and so on. None: what
        ``joblib.parallel_config(n_jobs=...)`` says, 1 in a worker of joblib's (as in a parallel grid search), and
        outside of both all cores, or as many as ``NUMBA_NUM_THREADS`` says. Results do not depend on it. A loss in
        Python runs in as many processes instead, in one where it is None and nothing is said by joblib. It is not
        saved with a model.

    Attributes
    ----------
    coef_ : weights, shape (d,), of the normalised features where they are normalised; `raw_weights` has those of
        features as they are.
    intercept_ : constant part of the scores.
    normaliser_ : what is done to features, with what it learned of the training rows; None: nothing.
    result_ : `Result` with both bounds, status and history. Where features are sparse, and most of more than 1000
        have no entry, it is of the others: those of ``result_.columns``.
    loss_ : the loss that was optimised, with what it took from the training data filled in.
    n_features_in_ : number of features.
    n_examples_ : number of queries learned from (of rows for "zero_one").
    n_left_out_ : number of queries without both relevant and other documents, which were not.

    Examples
    --------
    >>> from structsvm import Ranker
    >>> X, y, qid = [[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1], [1, 1, 2, 2]
    >>> ranker = Ranker("map", C=10).fit(X, y, qid=qid)
    >>> ranker.score(X, y, qid=qid)
    1.0
    >>> ranker.result_.converged
    True
    """

    _kind = "ranker"
    _kept: ClassVar[tuple[str, ...]] = ("n_features_in_", "n_examples_", "n_left_out_", "_fitted_with_qid")
    _needed = ("n_features_in_", "_fitted_with_qid")

    def __init__(
        self,
        loss: str | ScoreLoss[Any] = "map",
        C: float = 1.0,
        *,
        solver: str | Solver = "auto",
        tol: float | None = None,
        fit_intercept: bool = False,
        intercept_scaling: float = 1.0,
        class_weight: dict[Any, float] | str | None = None,
        measure: str | Measure | None = None,
        normalise: str | None = None,
        centre: ArrayLike | None = None,
        penalty: ArrayLike | None = None,
        bounds: Bounds | None = None,
        monotonic_cst: ArrayLike | dict[str, int] | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.C = C
        self.solver = solver
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.measure = measure
        self.normalise = normalise
        self.centre = centre
        self.penalty = penalty
        self.bounds = bounds
        self.monotonic_cst = monotonic_cst
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    def _objective(self, X: Any, y: Any, qid: ArrayLike | None, sample_weight: ArrayLike | None) -> Objective:
        require_settings(self)
        measure_of(self)
        loss = ranking_loss(self)
        rows: Any
        if isinstance(X, Operator):
            rows, y = X, checked_labels(y, int(X.ptr[-1]))
            width, columns = self._width_of(X), None
        else:
            X = checked_features(self, X, min_rows=2)
            y = checked_labels(y, X.shape[0])
            if not (loss.per_row or loss.of_one_sample):
                warn_of_one_query(qid, len(y))
            X = self._normalised_for_fit(X, lambda: Queries.of(qid, X.shape[0]))
            width = X.shape[1]
            columns = occupied(X) if is_plain(self) else None
            rows = narrowed(X, columns)
        problem = Problem.from_queries(
            rows,
            y,
            qid,
            loss=loss,
            C=self.C,
            sample_weight=weights_of_rows(self, loss, y, sample_weight),
            intercept=self._intercept(),
            n_jobs=self.n_jobs,
        )
        used = width if columns is None else len(columns)
        if problem.d != used + bool(self.fit_intercept):  # a loss that does not say so of its operator
            raise not_one_score(self)
        problem = regularised(self, problem, intercept=self.fit_intercept)
        self.loss_ = problem.loss
        self.n_examples_ = problem.used
        self.n_left_out_ = problem.left_out
        self._fitted_with_qid = qid is not None
        return Objective(problem, self.solver, self.tol, self.loss, ranks=True, n_features=width, columns=columns)

    def _width_of(self, operator: Operator) -> int:
        """Take note of the number of features of an operator in the place of a matrix, and return it.

        Raises
        ------
        InputError : when features are to be normalised, which are not seen.
        """
        if self.normalise is not None:
            raise InputError(
                f"normalise={self.normalise!r} needs the features, and X is an operator, {type(operator).__name__}, "
                "which holds them as it likes: leave normalise=None, and let the operator do it"
            )
        self.__dict__.pop("feature_names_in_", None)
        self.normaliser_ = None
        self.n_features_in_ = operator.d
        return operator.d

    def most_violated(self, X: Any, y: Any, example: int | None = None) -> MostViolated:
        """Show the most violated output of one query at the learned weights.

        Parameters
        ----------
        X, y : rows of one query and their labels.
        example : number of the query in the training data, in order of first appearance from 0,
            to be told only of its own cuts, which 1-slack does not keep; None: all cuts that bind.

        Raises
        ------
        InputError : when the data cannot be used, or the ranker was loaded and the file has no more than the text
            of its loss.
        """
        check_is_fitted(self)
        require_object("loss", self.loss_)
        rows = features_as_fitted(self, X)
        labels = checked_labels(y, rows.shape[0])
        if self.normaliser_ is not None:
            rows = self.normaliser_.rows(rows, None)
        if self.loss_.per_row and len(labels) != 1:
            raise InputError(f"an example of {self.loss_.title} is a single row with its label, got {len(labels)}")
        result, intercept = self.result_, self._intercept()
        return most_violated(
            rows,
            labels,
            result.wide(rows.shape[1]),
            loss=self.loss_,
            cuts=result.cuts,
            example=example,
            intercept=intercept,
        )

    def _number_of_weights(self, columns: int) -> int:
        if losses.holds(self.loss_) and not self.loss_.scores_rows:
            raise not_one_score(self)
        return columns + bool(self.fit_intercept)

    def _take(self, result: Result) -> None:
        w = result.wide(self.n_features_in_)
        self.result_ = result
        self.coef_: Vector = w[:-1] if self.fit_intercept else w
        self.intercept_ = float(w[-1] * self.intercept_scaling) if self.fit_intercept else 0.0

    def _intercept(self) -> float:
        return self.intercept_scaling if self.fit_intercept else 0.0
