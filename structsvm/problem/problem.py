"""The problem that solvers minimize, with its data in this process."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import ArrayLike

from structsvm.exceptions import InputError
from structsvm.features.operators import Operator
from structsvm.features.operators.base import largest_score, require_finite_scores, scores_of_examples
from structsvm.features.operators.matrix import Readable
from structsvm.features.operators.occupied import columns_of_operator
from structsvm.foundation.arrays import numbers
from structsvm.foundation.compute.summation import ExactSum, exact_sum
from structsvm.foundation.compute.threads import require_jobs, using
from structsvm.foundation.memory import require_memory
from structsvm.foundation.settings import require_kind, require_number
from structsvm.foundation.types import BoolVector, IntVector, Vector
from structsvm.losses import Loss, ScoreLoss
from structsvm.losses.base import Examples
from structsvm.losses.user_methods import RAISED_AS_IS
from structsvm.problem.base import AbstractProblem
from structsvm.problem.checking.before_fit import trusted_oracle
from structsvm.problem.checks import (
    checked_weights,
    failed,
    is_usable,
    number_of,
    require_argmaxes,
    require_best,
    require_bounds,
    require_C,
    require_caps,
    require_moderate,
    require_one_usable,
    require_pairs,
    require_planes,
    require_unbeaten,
    require_usable,
)
from structsvm.problem.content import Content, add_problem
from structsvm.problem.coordinates import Coordinates
from structsvm.problem.examples import ranking_examples
from structsvm.problem.line import Line, LineHinge, ScoredLine, Tangents
from structsvm.problem.oracle import PlaneOracle, per_output
from structsvm.problem.planes.capacity import earlier_points
from structsvm.problem.points import Cut, Cuts, Planes, Point
from structsvm.registry import losses

_COPIES_OF_SCORES = 4
_COPIES_OF_WEIGHTS = 6
"""Smallest number of vectors of scores, and of weights and cuts, that a solver needs in memory at a time."""


@frozen(eq=False, kw_only=True)
class Problem(AbstractProblem):
    """The training problem of a structural SVM, which solvers minimize; make it with `from_queries` or `from_examples`.

    Its solution is the w that minimizes ``P(w) = ½‖w‖² + (C/n) Σ_i κ_i max_ŷ [Δ(y_i, ŷ) − w·(Ψ(x_i, y_i) − Ψ(x_i,
    ŷ))]``, with weights κ_i of the examples. The data are in this process.

    Parameters
    ----------
    loss, operator, oracle : the loss, the features of the n examples, and their loss-augmented argmaxes.
    ptr : example i has the scores ``ptr[i]:ptr[i + 1]``, shape (n + 1,).
    cap : ``κ_i C / n``, the largest sum of the dual variables of each example, shape (n,).
    weights : example weights κ, shape (n,).
    C : weight of the mean hinge against the regularizer.
    used : number of examples that the loss can learn from, the n of the objective.
    left_out : number of queries that the loss cannot learn from; they have cap 0.
    first : index of the first example, if this is a block of a larger problem.
    known_fingerprint : the `fingerprint`; None: it is computed if needed.
    ys : true output of each example.
    coordinates : the change of variables that `regularized` sets; None: none.
    n_jobs : threads, or processes if the loss is in Python; −1 uses all cores, −2 all but one, and so on. None: the
        setting of ``joblib.parallel_config(n_jobs=...)``, 1 in a joblib worker, and otherwise as many threads as numba
        is set to (all cores by default) and one process. Results do not depend on it.

    Examples
    --------
    >>> from structsvm.solvers import OneSlack
    >>> problem = Problem.from_queries([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1], loss="map", C=0.1)
    >>> problem.n, problem.d
    (1, 1)
    >>> OneSlack().solve(problem).converged
    True
    """

    loss: ScoreLoss[Any]
    operator: Operator = field(repr=False)
    oracle: PlaneOracle = field(repr=False)
    ptr: IntVector = field(repr=False)
    cap: Vector = field(repr=False)
    weights: Vector = field(repr=False)
    C: float
    used: int
    left_out: int = 0
    first: int = 0
    known_fingerprint: Vector | None = field(default=None, repr=False)
    ys: Sequence[Any] = field(default=(), repr=False)
    coordinates: Coordinates | None = None
    n_jobs: int | None = field(default=None, repr=False)

    @classmethod
    def from_queries(
        cls,
        X: Readable | Operator,
        y: Vector,
        qid: ArrayLike | None = None,
        *,
        loss: str | ScoreLoss[Any] = "map",
        C: float = 1.0,
        sample_weight: ArrayLike | None = None,
        intercept: float = 0.0,
        n_jobs: int | None = None,
    ) -> Self:
        """Make a ranking problem from rows of features.

        Parameters
        ----------
        X : features, shape (rows, d): dense, CSR or a `BinnedMatrix`. Or an `Operator` with one score per row, whose
            examples are the queries (single rows, for a loss of rows). float64 and float32 are not copied if the rows
            of each query are contiguous.
        y : labels, shape (rows,).
        qid : query of each row, in any order; None: one query.
        loss : name or object.
        C : weight of the mean hinge; positive.
        sample_weight : weight of each row, equal within a query unless the loss takes weights of documents; None: all
            1.
        intercept : value of a constant feature that is added to every row; 0 for none.
        n_jobs : threads or processes; see `Problem`.

        Raises
        ------
        UnknownNameError : no loss has that name.
        """
        require_number("intercept", intercept)
        bound = losses.create(loss).bind(np.asarray(y))
        examples = ranking_examples(X, y, qid, bound, sample_weight, intercept)
        if examples.usable is not None:
            require_one_usable(bound, examples.ys, examples.usable)
        return cls.make(examples, C, n_jobs)

    @classmethod
    def from_examples(
        cls,
        xs: Any,
        ys: Sequence[Any],
        *,
        loss: str | ScoreLoss[Any] | Loss[Any, Any],
        C: float = 1.0,
        sample_weight: ArrayLike | None = None,
        intercept: float = 0.0,
        n_jobs: int | None = None,
    ) -> Self:
        """Make a problem from inputs and outputs of any kind.

        Parameters
        ----------
        xs : inputs in the form that the loss reads; for a `ScoreLoss`, see `ScoreLoss.examples`.
        ys : true outputs.
        loss : name or object.
        C, intercept : as in `from_queries`.
        sample_weight : example weights κ; None: all 1.
        n_jobs : threads or processes; see `Problem`.

        Raises
        ------
        UnknownNameError : no loss has that name.
        """
        require_number("intercept", intercept)
        require_pairs(number_of("xs", xs), number_of("ys", ys))
        examples = losses.create(loss).bind_outputs(ys).examples(xs, ys, intercept)
        weights = None if sample_weight is None else numbers(sample_weight, "sample_weight")
        usable = np.array(per_output(lambda y: is_usable(examples.loss, y), examples.ys), dtype=np.bool_)
        require_usable(examples.loss, xs, examples.ys, examples.sizes, usable)
        return cls.make(evolve(examples, weights=weights, usable=usable), C, n_jobs)

    @classmethod
    def make(cls, examples: Examples, C: float, n_jobs: int | None = None) -> Self:
        """Make a problem from examples; raise `CheckError` if a check on a few shows a mistake in a user's loss."""
        require_kind("examples", examples, Examples, "Examples")
        loss, operator, ys, usable = examples.loss, examples.operator, examples.ys, examples.usable
        require_C(C)
        require_jobs("n_jobs", n_jobs)
        require_pairs(operator.n, number_of("ys", ys))
        scores, d = int(operator.ptr[-1]) + operator.shared, operator.d
        require_memory(
            8.0 * (_COPIES_OF_SCORES * scores + _COPIES_OF_WEIGHTS * d),
            f"a fit with {scores:,} scores of {operator.n:,} examples and {d:,} weights",
            "leave out features or classes, or use fewer examples",
        )
        kappa = checked_weights(examples.weights, operator.n, usable)
        used = operator.n if usable is None else int(usable.sum())
        cap = _caps(kappa, C, used)
        problem = cls(
            loss=loss,
            operator=operator,
            oracle=trusted_oracle(examples, n_jobs),
            ptr=operator.ptr,
            cap=cap,
            weights=kappa,
            C=float(C),
            used=used,
            left_out=operator.n - used,
            ys=ys,
            n_jobs=n_jobs,
        )
        return problem if loss.weight_bounds(d) is None else problem.regularized()

    @property
    def n(self) -> int:
        return len(self.cap)

    @property
    def sizes(self) -> tuple[int, int, int]:
        return self.n, self.d, int(self.ptr[-1]) + self.operator.shared

    @cached_property
    def total_cap(self) -> float:
        return exact_sum(self.cap)

    @property
    def stored(self) -> int:
        """Number of feature values that one pass over the data reads."""
        return self.operator.stored

    @property
    def d(self) -> int:
        return self.operator.d

    def with_C(self, C: float) -> Self:
        require_C(C)
        return evolve(self, C=float(C), cap=_caps(self.weights, C, self.used))

    def of_features(self, columns: IntVector) -> Self:
        """Return the problem with only the features ``columns`` and any intercept; all other weights are 0."""
        operator = columns_of_operator(self.operator, columns)
        coordinates = self.coordinates
        if coordinates is not None:
            weights = np.concatenate([columns, np.arange(self.d - operator.d + len(columns), self.d)])
            coordinates = coordinates.of_weights(weights)
        return evolve(self, operator=operator, coordinates=coordinates, known_fingerprint=None)

    def block(self, start: int, stop: int) -> Self:
        """Return the problem of the examples ``start`` to ``stop − 1``, with the same caps."""
        return evolve(
            self,
            operator=self.operator.block(start, stop),
            oracle=self.oracle.block(start, stop),
            ptr=self.ptr[start : stop + 1] - self.ptr[start],
            cap=self.cap[start:stop],
            weights=self.weights[start:stop],
            ys=self.ys[start:stop],
            first=self.first + start,
            known_fingerprint=None,
        )

    def origin(self) -> Point:
        u = np.zeros(self.d)
        return Point(u, np.zeros(self.sizes[2])) if self.coordinates is None else self.at(u)

    def at(self, w: Vector) -> Point:
        """Return w, or the nearest weights within bounds, with all scores: half a pass; reject infinite features."""
        w = numbers(w, "w")
        if w.shape != (self.d,):
            raise InputError(f"w must be {self.d} weights, got shape {w.shape}")
        w = self.nearest(w)
        with np.errstate(invalid="ignore", over="ignore"), using(self.n_jobs):
            # An operator may return one buffer at every call.
            scores = np.array(self.operator.scores(self.to_weights(w)))
        require_finite_scores(scores, self.ptr, self.first)
        return Point(w, scores)

    def planes(self, point: Point, which: BoolVector | None = None) -> Planes:
        """Find the loss-augmented argmaxes of all examples, or of ``which`` (n,); the planes of others are 0."""
        cap = self.cap if which is None else np.where(which, self.cap, 0.0)
        try:
            with using(self.n_jobs):
                planes = self.oracle.planes(point.scores, self.ptr, cap)
        except RAISED_AS_IS:
            raise
        except Exception as error:
            raise failed_kernel(self, point, error) from error
        require_planes(self.loss, planes, self.ptr, self.first)
        if planes.missed is not None:
            require_bounds(self.loss, planes.missed, point.scores, self.ys, self.first)
        return planes

    def violation(self, planes: Planes, point: Point) -> Vector:
        """Return ``L − c·s`` of each plane at a point with scores s, shape (n,): no pass over the data."""
        return planes.loss - planes.dots(point.scores, self.ptr)

    def checked_violation(self, planes: Planes, point: Point, least: Vector) -> Vector:
        """Return each example's violation at a point, or that by earlier planes, ``least`` (n,), if it is larger.

        If argmaxes are exact or bounded, a violation above their limit raises `OracleError`.
        """
        violation = self.violation(planes, point)
        if self.certified:
            require_unbeaten(self.loss, violation + _missed(planes), least, point.scores, self.first)
        return np.maximum(violation, least)

    @property
    def planes_kept(self) -> int:
        return earlier_points(int(self.ptr[-1]), self.has_kernel)

    def require_unbeaten(self, planes: Planes, point: Point, others: Iterable[Planes]) -> None:
        require_best(self, planes, point, others)

    def slope(self, planes: Planes, along: Vector) -> float:
        """Return ``Σ κ_i C/n c_i·ds_i``: how fast the planes' weighted sum falls if scores move along ds."""
        return float(np.sum(self.cap * planes.dots(along, self.ptr)))

    def on_line(self, base: Point, along: Vector, line: Tangents, settled: BoolVector | None) -> None:
        """Compute the hinges at a point of a line, and their slopes, of all examples that are not ``settled``."""
        cap = self.cap if settled is None else np.where(settled, 0.0, self.cap)
        try:
            with using(self.n_jobs):
                self.oracle.on_line(base.scores, along, line.t, self.ptr, cap, line.value, line.slope)
        except RAISED_AS_IS:
            raise
        except Exception as error:
            raise failed_kernel(self, Point(base.w, base.scores + line.t * along), error) from error
        if not np.isfinite(line.value).all():
            # This raises an error that names the example and the mistake.
            self.planes(Point(base.w, base.scores + line.t * along))

    def weighted_hinge(self, line: Tangents) -> LineHinge:
        """Return the sums of the examples' hinges and of their slopes, each times its cap."""
        return LineHinge(exact_sum(self.cap * np.maximum(line.value, 0.0)), float(np.sum(self.cap * line.slope)))

    def hinge(self, planes: Planes, point: Point) -> float:
        return self.exact_hinge(planes, point).value

    def exact_hinge(self, planes: Planes, point: Point) -> ExactSum:
        """Return the weighted sum of the hinges, as an exact sum that others can be added to."""
        violation = self.violation(planes, point)
        require_argmaxes(self.loss, violation, point.scores, self.ptr, self.ys, self.first)
        return ExactSum.of(self.cap * (np.maximum(violation, 0.0) + _missed(planes)))

    def inference_gap(self, planes: Planes) -> float:
        return float(np.sum(self.cap * _missed(planes)))

    def estimate(self, planes: Planes, point: Point, violations: Vector) -> float:
        hinges = np.maximum(self.violation(planes, point), 0.0)
        by_example = len(violations) == self.n
        hinge = exact_sum(self.cap * (np.maximum(hinges, violations) if by_example else hinges))
        return self.regularizer(point.w) + (hinge if by_example else max(hinge, float(self.total_cap * violations[0])))

    def largest_score(self, point: Point) -> float:
        return largest_score(point.scores)

    def line(self, base: Point, planes: Planes, target: Point) -> Line:
        return ScoredLine(self, base, planes, target)

    def add_content(self, content: Content) -> None:
        add_problem(self, content)

    def cut(self, planes: Planes) -> Cut:
        g, total = self.weighted(planes, self.total_cap)
        L = total.value
        if self.coordinates is not None:
            (g,), (L,) = self.coordinates.planes(g[np.newaxis], np.array([L]))
        require_moderate(g[np.newaxis], self.C)
        return Cut(g, float(L))

    def weighted(self, planes: Planes, total: float) -> tuple[Vector, ExactSum]:
        """Return the sum of the planes ``(g_i, L_i)``, each times its cap divided by ``total``, the sum of all caps."""
        # A block may consist of examples of weight 0.
        weight = self.cap / total if total > 0.0 else self.cap
        with using(self.n_jobs):
            g = np.array(self.operator.combine(planes.combined(weight, self.ptr)))
        if not np.isfinite(g).all():
            # This raises an error that names the example, unless features are too large only in sum.
            self.at(np.ones(self.d))
        return g, ExactSum.of(weight * planes.loss)

    def cuts(self, planes: Planes, which: BoolVector) -> Cuts:
        """Return the planes of some examples as one cut each."""
        examples = np.flatnonzero(which)
        if self.sparse and planes.shared is not None:
            return Cuts(planes.shared[examples], planes.loss[examples], examples)
        with using(self.n_jobs):
            G, L = self.operator.combine_each(planes.coef, examples), planes.loss[examples]
        if planes.shared is not None:
            G[:, self.d - self.operator.shared :] = planes.shared[examples].toarray()
        return Cuts(*((G, L) if self.coordinates is None else self.coordinates.planes(G, L)), examples)


def _missed(planes: Planes) -> Vector | float:
    """Return the part of each hinge that argmaxes may miss, shape (n,); 0.0 if they are exact or have no bounds."""
    return 0.0 if planes.missed is None else np.maximum(planes.missed, 0.0)


def _caps(weights: Vector, C: float, used: int) -> Vector:
    with np.errstate(over="ignore", invalid="ignore"):
        return require_caps(weights * C / used)


def failed_kernel(problem: Problem, point: Point, error: Exception) -> InputError:
    """Return the error for a kernel that raised an exception, naming the first example that fails at this point."""
    for i in range(problem.n):
        example = problem.block(i, i + 1)
        try:
            example.oracle.planes(scores_of_examples(point.scores, problem.ptr, i, i + 1), example.ptr, example.cap)
        except Exception as again:
            return failed(problem.loss, "kernel", again, None, example=problem.first + i)
    return failed(problem.loss, "kernel", error, None)
