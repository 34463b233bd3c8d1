"""The problem that a solver sees."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import ArrayLike

from structsvm.arrays import numbers
from structsvm.compute.summation import ExactSum, exact_sum
from structsvm.compute.threads import require_jobs, using
from structsvm.exceptions import InputError
from structsvm.losses import Loss, ScoreLoss
from structsvm.losses.base import RAISED_AS_IS
from structsvm.memory import require_memory
from structsvm.operators import Operator, Readable
from structsvm.operators.views import is_built_in
from structsvm.planes import DualPlanes
from structsvm.problem.base import AbstractProblem
from structsvm.problem.checking.before_fit import trusted_oracle
from structsvm.problem.checks import (
    beaten,
    checked_weights,
    failed,
    is_usable,
    number_of,
    require_argmaxes,
    require_C,
    require_caps,
    require_finite,
    require_moderate,
    require_one_usable,
    require_pairs,
    require_planes,
    require_unbeaten,
    require_usable,
)
from structsvm.problem.content import Content
from structsvm.problem.coordinates import Bounds, Coordinates, checked_bounds
from structsvm.problem.line import Line
from structsvm.problem.loops import segment_dots
from structsvm.problem.oracle import Oracle, per_output
from structsvm.problem.points import Cut, Cuts, Planes, Point
from structsvm.problem.ranking_examples import ranking_examples
from structsvm.problem.scored_line import ScoredLine
from structsvm.registry import losses
from structsvm.settings import require_kind, require_number
from structsvm.types import BoolVector, IntVector, Vector

_COPIES_OF_SCORES = 4
_COPIES_OF_WEIGHTS = 6
"""How many vectors of scores and coefficients, and of weights and cuts, a solver holds at the same time, at least."""

_SMALL = 0.1
"""Largest score of the probe of a fingerprint: so near 0 that no hinge vanishes, and every label and loss shows."""

_BYTES_OF_EARLIER_PLANES = 2**28
"""What the planes of earlier points may take together."""

_MOST_EARLIER = 4
_MOST_EARLIER_IN_PYTHON = 16
"""How many points' planes are kept at most, and where argmaxes in Python take most of the time."""

_NEARBY = (0.95, 1.05)
"""Multiples of weights at which outputs are found that are compared with those found there."""

_FEWEST_PROBED = 8
_PROBED = 50
"""One in how many examples is looked at so, where there is a kernel, and how many at least."""


@frozen(eq=False, kw_only=True)
class Problem(AbstractProblem):
    """Find w with the smallest ``P(w) = ½‖w‖² + (C/n) Σ_i κ_i max_ŷ [Δ(y_i, ŷ) − w·(Ψ(x_i, y_i) − Ψ(x_i, ŷ))]``.

    All that a solver knows, with the data in this process. Make one with `from_queries`, `from_examples`, or `make`.

    Parameters
    ----------
    loss : the loss.
    operator : features of the n examples.
    oracle : their loss-augmented argmaxes.
    ptr : where the scores of each example begin, shape (n + 1,).
    cap : ``κ_i C / n``, the largest sum of the dual variables of each example, shape (n,).
    weights : κ, shape (n,).
    C : weight of the mean hinge against the regulariser.
    used : number of examples that the loss can learn from, the n of the objective.
    first : number of the first example, where this is a block of a larger problem.
    left_out : number of queries that it cannot learn from; where they are kept, their cap is 0.
    known_fingerprint : the `fingerprint`, where the data have not changed since it was taken; None: it is taken when
        needed.
    ys : true outputs, one an example.
    coordinates : of the points, planes and cuts of the problem, where its regulariser is another than ``½‖w‖²``, or its
        weights are bounded; see `regularised`.
    n_jobs : threads that compute, or processes where the loss is in Python: so many, or −1 for all cores, −2 for all
        but one and so on. None: what ``joblib.parallel_config(n_jobs=...)`` says, 1 in a worker of joblib's, and
        outside of both as many threads as numba is set to, all cores by default, and one process. Results are the same.

    Examples
    --------
    >>> from structsvm import Problem
    >>> from structsvm.solvers import OneSlack
    >>> problem = Problem.from_queries([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1], loss="map", C=0.1)
    >>> problem.n, problem.d
    (1, 1)
    >>> OneSlack().solve(problem).converged
    True
    """

    loss: ScoreLoss[Any]
    operator: Operator = field(repr=False)
    oracle: Oracle = field(repr=False)
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
        """Make a ranking problem of rows of features.

        Parameters
        ----------
        X : features, shape (rows, d), dense, CSR or a `BinnedMatrix`; these, float64 or float32, are read
            where they are, if the rows of each query are together, else copied once. Or an `Operator` of one score a
            row, whose examples are the queries (single rows, for a loss of rows).
        y : labels, shape (rows,).
        qid : query of each row; rows of a query need not be together. None: one query.
        loss : name or object.
        C : weight of the mean hinge; positive.
        sample_weight : weight of each row, the same for all rows of a query; None: all 1.
        intercept : value of a constant feature that is added to every row; 0 for none.
        n_jobs : threads that compute, or processes; see `Problem`.

        Raises
        ------
        InputError : when the arrays do not fit each other, or no query can be learned from.
        UnknownNameError : when no loss has that name.
        """
        require_number("intercept", intercept)
        bound = losses.create(loss).bind(np.asarray(y))
        parts = ranking_examples(X, y, qid, bound, sample_weight, intercept)
        if parts.usable is not None:
            require_one_usable(bound, parts.ys, parts.usable)
        return cls.make(parts.loss, parts.operator, parts.ys, C, parts.weights, parts.usable, n_jobs, of_queries=True)

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
        """Make a problem of inputs and outputs of any kind.

        Parameters
        ----------
        xs : inputs, whatever the loss reads; for a `ScoreLoss`, see `ScoreLoss.examples`.
        ys : true outputs.
        loss : name or object.
        C, intercept : as in `from_queries`.
        sample_weight : example weights κ; None: all 1.
        n_jobs : threads that compute, or processes; see `Problem`.

        Raises
        ------
        InputError : when there are not as many outputs as inputs, or none.
        UnknownNameError : when no loss has that name.
        """
        require_number("intercept", intercept)
        require_pairs(number_of("xs", xs), number_of("ys", ys))
        examples = losses.create(loss).examples(xs, ys, intercept)
        weights = None if sample_weight is None else numbers(sample_weight, "sample_weight")
        usable = np.array(per_output(lambda y: is_usable(examples.loss, y), examples.ys), dtype=np.bool_)
        require_usable(examples.loss, xs, examples.ys, examples.operator.ptr, usable)
        return cls.make(examples.loss, examples.operator, examples.ys, C, weights, usable, n_jobs)

    @classmethod
    def make(
        cls,
        loss: ScoreLoss[Any],
        operator: Operator,
        ys: Sequence[Any],
        C: float,
        weights: Vector | None = None,
        usable: BoolVector | None = None,
        n_jobs: int | None = None,
        *,
        of_queries: bool = False,
    ) -> Self:
        """Put a problem together from its parts.

        Parameters
        ----------
        loss, operator : the loss and the features.
        ys : true outputs, one an example.
        C : weight of the mean hinge; positive.
        weights : example weights κ, shape (n,), not negative; None: all 1.
        usable : which examples the loss can learn from; the others count for nothing. None: all.
        n_jobs : threads that compute, or processes; see `Problem`.
        of_queries : whether an example is a query, so that some of its documents make up a query too, which a loss
            that is not of this library is checked on.

        Raises
        ------
        InputError : when C, the weights or the numbers of examples do not fit; or when a loss that is not of this
            library has a truth with a loss, or a kernel that reads beyond its vectors, changes them or does not end.
        CheckError : when such a loss is seen to be wrong on some of the examples (`ScoreLoss.check_before_fit`).
        """
        require_C(C)
        require_jobs("n_jobs", n_jobs)
        require_kind("loss", loss, ScoreLoss, "a ScoreLoss")
        require_kind("operator", operator, Operator, "an Operator")
        require_pairs(operator.n, number_of("ys", ys))
        scores, d = int(operator.ptr[-1]), operator.d
        require_memory(
            8.0 * (_COPIES_OF_SCORES * scores + _COPIES_OF_WEIGHTS * d),
            f"{scores:,} scores of {operator.n:,} examples, and {d:,} weights, as a solver needs them,",
            "leave out features or classes, or take fewer examples",
        )
        kappa = checked_weights(weights, operator.n, usable)
        used = operator.n if usable is None else int(usable.sum())
        cap = _caps(kappa, C, used)
        problem = cls(
            loss=loss,
            operator=operator,
            oracle=trusted_oracle(loss, operator, ys, usable, n_jobs, of_queries=of_queries),
            ptr=operator.ptr,
            cap=cap,
            weights=kappa,
            C=float(C),
            used=used,
            left_out=operator.n - used,
            ys=ys,
            n_jobs=n_jobs,
        )
        return problem if loss.weight_bounds(d) is None else problem.regularised()

    @property
    def n(self) -> int:
        """Number of examples, those without weight included."""
        return len(self.cap)

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Number of examples, of weights and of scores."""
        return self.n, self.d, int(self.ptr[-1])

    @cached_property
    def total_cap(self) -> float:
        """``Σ κ_i C / n``, rounded once."""
        return exact_sum(self.cap)

    @property
    def stored(self) -> int:
        """Number of feature values that a pass over the data reads."""
        return self.operator.stored

    @property
    def d(self) -> int:
        """Number of weights."""
        return self.operator.d

    def with_C(self, C: float) -> Self:
        """Return the problem with another C."""
        require_C(C)
        return evolve(self, C=float(C), cap=_caps(self.weights, C, self.used))

    def knowing(self, fingerprint: Vector) -> Self:
        """Return the problem with its fingerprint known."""
        return evolve(self, known_fingerprint=fingerprint)

    def regularised(
        self,
        *,
        centre: ArrayLike | None = None,
        penalty: ArrayLike | None = None,
        linear: ArrayLike | None = None,
        bounds: Bounds | None = None,
    ) -> Self:
        """Return the problem with another regulariser, and bounds; see `AbstractProblem.regularised`."""
        own = self.loss.weight_bounds(self.d)
        if own is not None:
            own = checked_bounds(own, self.d, f"{self.loss.title}.weight_bounds")
            low, high = checked_bounds((None, None) if bounds is None else bounds, self.d)
            bounds = np.maximum(low, own[0]), np.minimum(high, own[1])
        coordinates = Coordinates.of(self.d, centre, penalty, linear, bounds)
        return evolve(self, coordinates=coordinates, known_fingerprint=None)

    def block(self, start: int, stop: int) -> Self:
        """Return the part of the problem that the examples ``start`` to ``stop − 1`` make up, with the same caps.

        A `SolverState` does not see what is computed with a block: add it with its ``count_passes``.
        """
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
        """Return the point at ``w = 0``: no pass over the data."""
        u = np.zeros(self.d)
        return Point(u, np.zeros(self.ptr[-1])) if self.coordinates is None else self.at(u)

    def at(self, w: Vector) -> Point:
        """Return the point at weights w, or the nearest within bounds: half a pass; refuse features not finite."""
        w = numbers(w, "w")
        if w.shape != (self.d,):
            raise InputError(f"w must be {self.d} weights, got shape {w.shape}")
        w = self.nearest(w)
        with np.errstate(invalid="ignore", over="ignore"), using(self.n_jobs):
            scores = self.operator.scores(self.to_weights(w))
        require_finite(scores, self.ptr, self.first)
        return Point(w, scores)

    def planes(self, point: Point) -> Planes:
        """Find the loss-augmented argmax of every example: no pass over the data.

        Raises
        ------
        InputError : when a method of the loss, or its kernel, raises something; it names the example.
        OracleError : when a loss is not a finite number of at least 0, or an encoding not finite.
        """
        try:
            with using(self.n_jobs):
                planes = self.oracle.planes(point.scores, self.ptr, self.cap)
        except RAISED_AS_IS:
            raise
        except Exception as error:
            raise self._failed_kernel(point, error) from error
        require_planes(self.loss, planes.loss, planes.coef, self.ptr, self.first)
        return planes

    def violation(self, planes: Planes, point: Point) -> Vector:
        """Return ``L − c·s`` of each plane at any point, shape (n,): no pass over the data."""
        return planes.loss - segment_dots(planes.coef, point.scores, self.ptr)

    def checked_violation(self, planes: Planes, point: Point, known: Vector) -> Vector:
        """Return the violation of planes found at this very point, or where inexact ones are beaten, of earlier ones.

        Parameters
        ----------
        planes, point : the argmaxes, and where they were found.
        known : values of ``L − g·w`` that outputs found earlier have there, shape (n,).

        Raises
        ------
        OracleError : when one of these is larger than that of an exact argmax.
        """
        violation = self.violation(planes, point)
        if not self.exact:
            return np.maximum(violation, known)
        require_unbeaten(self.loss, violation, known, point.scores, self.first)
        return violation

    @property
    def planes_kept(self) -> int:
        """How many earlier points' planes a solver keeps for `require_unbeaten`: two, and more where memory allows."""
        most = _MOST_EARLIER if self.has_kernel else _MOST_EARLIER_IN_PYTHON
        return int(np.clip(_BYTES_OF_EARLIER_PLANES // (8 * int(self.ptr[-1]) + 1), 2, most))

    def require_unbeaten(self, planes: Planes, point: Point, others: Iterable[Planes]) -> None:
        """Require that no output found elsewhere beats those of exact argmaxes; see `AbstractProblem`.

        It takes no pass over the data. Looked at are outputs found earlier, and for some examples those found at
        weights a little shorter and longer: there, an argmax that weighs the loss a little too little or too much finds
        outputs that are better here than what it finds here. Where argmaxes run in Python, which takes most of the time
        in any case, this is for all examples.
        """
        violation = self.violation(planes, point)
        for other in others:
            require_unbeaten(self.loss, violation, self.violation(other, point), point.scores, self.first)
        looked_at = max(_FEWEST_PROBED, self.n // _PROBED) if self.has_kernel else self.n
        some, here, start = self, point, 0
        if looked_at < self.n:
            start = int(np.random.default_rng(self.n).integers(self.n - looked_at + 1))
            some = self.block(start, start + looked_at)
            here = Point(point.w, point.scores[self.ptr[start] : self.ptr[start + looked_at]])
        for t in _NEARBY if self.box is None else _NEARBY[:1]:  # beyond 1 they may be out of bounds
            nearby = some.planes(some.origin().toward(here, t))
            value, found = some.violation(nearby, here), violation[start : start + some.n]
            require_unbeaten(self.loss, found, value, here.scores, some.first)

    def slope(self, planes: Planes, along: Vector) -> float:
        """Return ``Σ κ_i C/n c_i·ds_i``: how fast the planes' weighted sum falls as scores move along ds."""
        return float(np.sum(self.cap * segment_dots(planes.coef, along, self.ptr)))

    def hinge(self, planes: Planes, point: Point) -> float:
        """Return the second part of ``P(w)``, exactly rounded; see `AbstractProblem.hinge`."""
        return self.exact_hinge(planes, point).value

    def exact_hinge(self, planes: Planes, point: Point) -> ExactSum:
        """Return the same as a sum that can be added to that of other parts."""
        violation = self.violation(planes, point)
        require_argmaxes(self.loss, violation, point.scores, self.first)
        return ExactSum.of(self.cap * np.maximum(violation, 0.0))

    def estimate(self, planes: Planes, point: Point, known: Vector) -> float:
        """Return the largest lower bound of ``P(w)`` that is known; see `AbstractProblem.estimate`."""
        hinges = np.maximum(self.violation(planes, point), 0.0)
        each = len(known) == self.n
        hinge = exact_sum(self.cap * (np.maximum(hinges, known) if each else hinges))
        return self.regulariser(point.w) + (hinge if each else max(hinge, float(self.total_cap * known[0])))

    def largest_score(self, point: Point) -> float:
        """Return the largest absolute value of the scores of a point."""
        return float(np.abs(point.scores).max(initial=0.0))

    def line(self, base: Point, planes: Planes, target: Point) -> Line:
        """Return the objective on the line from a point, with its planes, through another: no pass over the data."""
        return ScoredLine(self, self.slope, base, planes, target)

    def tell(self, content: Content) -> None:
        """Add all that tells the problem from others, C aside; see `fingerprint`."""
        content.add((self.used, self.weights, self.ptr, self.oracle.content))
        features, view = self.operator.content, self.operator.view
        content.add(features)
        if self.coordinates is not None:
            content.add(self.coordinates.content)
        if features is None:
            content.add_unknown()
        rng = np.random.default_rng(0)
        if view is None or not is_built_in(view):  # its code may be another, too
            content.add(self.at(rng.standard_normal(self.d)).scores)
        probe = rng.uniform(-_SMALL, _SMALL, self.ptr[-1])
        if self.loss.weight_bounds(self.d) is not None:  # whose argmax is asked at no others
            probe = self.at(rng.uniform(-_SMALL, _SMALL, self.d)).scores
        planes = self.planes(Point(np.zeros(self.d), probe))
        content.add((planes.coef, planes.loss))

    def cut(self, planes: Planes) -> Cut:
        """Return the weighted mean of the planes, ``Σ κ_i (g_i, L_i) / Σ κ_i``: half a pass over the data."""
        g, total = self.weighted(planes, self.total_cap)
        L = total.value
        if self.coordinates is not None:
            (g,), (L,) = self.coordinates.planes(g[np.newaxis], np.array([L]))
        require_moderate(g[np.newaxis], self.C)
        return Cut(g, float(L))

    def weighted(self, planes: Planes, total: float) -> tuple[Vector, ExactSum]:
        """Return the sum of the planes ``(g_i, L_i)``, each times its cap divided by the total of all caps."""
        weight = self.cap / total if total > 0.0 else self.cap  # a block may consist of examples of weight 0
        with using(self.n_jobs):
            g = self.operator.combine(planes.coef * np.repeat(weight, np.diff(self.ptr)))
        if not np.isfinite(g).all():
            self.at(np.ones(self.d))  # names the example, unless the features are too large only together
        return g, ExactSum.of(weight * planes.loss)

    def cuts(self, planes: Planes, which: BoolVector) -> Cuts:
        """Return the planes of some examples, one cut each."""
        examples = np.flatnonzero(which)
        with using(self.n_jobs):
            G, L = self.operator.combine_each(planes.coef, examples), planes.loss[examples]
        return Cuts(*((G, L) if self.coordinates is None else self.coordinates.planes(G, L)), examples)

    def sweep(self, dual: DualPlanes, order: IntVector) -> float:
        """Visit examples with a dual point in hand: find the plane of each, take it in, and step.

        A pass over the data where ``order`` is all examples. A fiftieth of the examples makes up a batch, whose planes
        several threads find at the same weights, an average of ``dual.w`` over the batches before. Then one example
        after the other steps, at ``dual.w`` as it is after the steps before, so that the dual never falls. Batches do
        not depend on the number of threads, nor does any result. With fewer than 75 examples, or a loss or an operator
        in Python, a batch is one example, and its plane is found at ``dual.w``.

        Parameters
        ----------
        dual : changed in place.
        order : the examples, each once at most.

        Returns
        -------
        The sum of the gaps met, each at the weights of its visit.

        Raises
        ------
        OracleError : when an output is seen not to be the argmax, as the truth or a plane that is kept beats it.
        """
        if np.bincount(order, minlength=self.n).max(initial=0) > 1:
            raise InputError("order must have each example once at most")
        try:
            with using(self.n_jobs):
                visited = self.oracle.sweep(self.operator.view, dual, order, self.stored / self.n, self.coordinates)
        except RAISED_AS_IS:
            raise
        except Exception as error:
            raise self._failed_kernel(self.at(dual.w), error) from error
        if visited is None:
            return sum(self._visit(dual, i, dual.w) for i in order.tolist())
        if visited.wrong >= 0:
            self._visit(dual, visited.wrong, visited.w)
            raise beaten(self.loss, self.first + visited.wrong)
        return visited.met

    def _failed_kernel(self, point: Point, error: Exception) -> InputError:
        """Return the error for a kernel that raised one, with the first example for which it does so at this point."""
        for i in range(self.n):
            example, owned = self.block(i, i + 1), slice(self.ptr[i], self.ptr[i + 1])
            try:
                example.oracle.planes(point.scores[owned], example.ptr, example.cap)
            except Exception as again:
                return failed(self.loss, "kernel", again, None, example=self.first + i)
        return failed(self.loss, "kernel", error, None)

    def _visit(self, dual: DualPlanes, i: int, w: Vector) -> float:
        example = self.block(i, i + 1)
        point = example.at(w)
        planes = example.planes(point)
        example.primal(planes, point)
        example.checked_violation(planes, point, np.array([dual.best(i, w)]))
        cuts = example.cuts(planes, np.ones(1, dtype=np.bool_))
        return dual.visit(cuts.example + i, cuts.G, cuts.L)


def _caps(weights: Vector, C: float, used: int) -> Vector:
    with np.errstate(over="ignore", invalid="ignore"):
        return require_caps(weights * C / used)
