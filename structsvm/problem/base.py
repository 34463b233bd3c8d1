"""The interface between problems and solvers, for local and for distributed data."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, NamedTuple, Self, TypeAlias, cast

import numpy as np
from attrs import evolve
from numpy.typing import ArrayLike

from structsvm.foundation.types import Vector
from structsvm.losses import ScoreLoss
from structsvm.problem.content import Content
from structsvm.problem.coordinates import Bounds, Box, Coordinates, checked_bounds
from structsvm.problem.line import Line, Parabola
from structsvm.problem.points import Cut

AnyPoint: TypeAlias = Any
"""Weights ``w`` with their scores, local or distributed; has ``w``, ``moves`` and ``toward`` like `Point`."""

AnyPlanes: TypeAlias = Any
"""Planes that a problem returned; only that problem reads their contents."""


class CallCounts(NamedTuple):
    """Calls to workers that the driver waited for, and bytes of numbers sent to them (``down``) and back (``up``)."""

    calls: int = 0
    down: int = 0
    up: int = 0

    @property
    def sent(self) -> int:
        """Bytes in both directions."""
        return self.down + self.up


class AbstractProblem(ABC):
    """Minimize ``P(w) = r(w) + (C/n) Σ_i κ_i max_ŷ [Δ(y_i, ŷ) − w·(Ψ(x_i, y_i) − Ψ(x_i, ŷ))]``, ``r(w) = ½‖w‖²``.

    This is the interface between problems and solvers, which do not read the contents of points and planes. `Problem`
    holds its data in this process and also provides planes of single examples, which `NSlack` and `FrankWolfe` need;
    `structsvm.distributed` has a problem for distributed data.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def loss(self) -> ScoreLoss[Any]:
        """The loss."""

    @property
    @abstractmethod
    def C(self) -> float:
        """Weight of the mean hinge against the regularizer."""

    @property
    @abstractmethod
    def used(self) -> int:
        """Number of examples that the loss can learn from, the n of the objective."""

    @property
    @abstractmethod
    def left_out(self) -> int:
        """Number of queries that the loss cannot learn from."""

    @property
    @abstractmethod
    def sizes(self) -> tuple[int, int, int]:
        """Number of examples, of weights and of scores."""

    @property
    def n(self) -> int:
        """Number of examples; examples without weight count too."""
        return self.sizes[0]

    @property
    def d(self) -> int:
        """Number of weights."""
        return self.sizes[1]

    @property
    @abstractmethod
    def total_cap(self) -> float:
        """``Σ κ_i C / n``, rounded once."""

    @property
    @abstractmethod
    def known_fingerprint(self) -> Vector | None:
        """The `fingerprint` of the data and the loss; None if it must be computed."""

    @property
    def cut_numbers(self) -> int:
        """Number of values and indices of a cut of one example, an estimate if cuts are ``sparse``."""
        entries = self.loss.sparse_entries
        # A plane is the difference of two joint features, and an entry has a value and an index.
        return 4 * entries if self.sparse and entries is not None else self.d

    @property
    def sparse(self) -> bool:
        """True if cuts are stored as sparse vectors."""
        return self.loss.sparse_entries is not None and self.coordinates is None

    @property
    def n_jobs(self) -> int | None:
        """Number of threads that compute here; None: see `Problem`."""
        return None

    @property
    def has_kernel(self) -> bool:
        """True if argmaxes run in compiled code, so that they cost less than a pass over the data."""
        return self.loss.kernel is not None

    @property
    def exact(self) -> bool:
        """True if argmaxes are exact."""
        return self.loss.exact

    @property
    def certified(self) -> bool:
        """True if argmaxes are exact or bounded; if not, the primal is an estimate (`estimate`)."""
        return self.loss.exact or self.loss.bounded

    @property
    def planes_kept(self) -> int:
        """Number of earlier points whose planes the solver keeps for `require_unbeaten`."""
        return 0

    def require_unbeaten(self, planes: AnyPlanes, point: AnyPoint, others: Iterable[AnyPlanes]) -> None:
        """Raise `OracleError` if a plane of ``others`` beats an argmax or its bound; not for distributed problems."""
        return

    def inference_gap(self, planes: AnyPlanes) -> float:
        """Return the part of the primal that comes from the bounds of approximate argmaxes; 0 if argmaxes are exact."""
        return 0.0

    @property
    def coordinates(self) -> Coordinates | None:
        """Coordinates of points, planes and cuts; None if points, planes and cuts are in terms of the weights."""
        return None

    @property
    def box(self) -> Box | None:
        """Bounds on coordinates, or None."""
        return None if self.coordinates is None else self.coordinates.box

    def nearest(self, u: Vector) -> Vector:
        """Return the nearest coordinates within the bounds."""
        return u if self.box is None else self.box.nearest(u)

    def to_weights(self, u: Vector) -> Vector:
        """Return the weights at coordinates u."""
        return u if self.coordinates is None else self.coordinates.w(u)

    def from_weights(self, w: Vector) -> Vector:
        """Return the coordinates of weights w."""
        return w if self.coordinates is None else self.coordinates.u(w)

    @property
    def constant(self) -> float:
        """The constant of the objective: its value at any w, minus ``½‖u‖²`` and the hinges."""
        return 0.0 if self.coordinates is None else self.coordinates.constant

    @property
    def traffic(self) -> CallCounts:
        """Network traffic so far; zero for local data."""
        return CallCounts()

    def regularizer(self, w: Vector) -> float:
        """Return ``½‖w‖²`` over the regularized weights."""
        return 0.5 * float(w @ w) if self.box is None else self.box.regularizer(w)

    def regularizer_between(self, base: Vector, target: Vector) -> Parabola:
        """Return the regularizer on the line from weights ``base`` (t = 0) through ``target`` (t = 1)."""
        box = self.box
        if box is None:
            return Parabola.between(base, target)
        inside = Parabola.between(base[~box.loose], target[~box.loose])
        return evolve(inside, farthest=box.farthest(base, target))

    def primal(self, planes: AnyPlanes, point: AnyPoint) -> float:
        """Return ``P(w)`` from the planes found here; raise `OracleError` if the true output beats an argmax."""
        return self.regularizer(point.w) + self.hinge(planes, point)

    @abstractmethod
    def with_C(self, C: float) -> Self:
        """Return the problem with another C."""

    def regularized(
        self,
        *,
        center: ArrayLike | None = None,
        penalty: ArrayLike | None = None,
        linear: ArrayLike | None = None,
        bounds: Bounds | None = None,
    ) -> Self:
        """Return the problem with the regularizer ``½ Σ_j λ_j (w_j − b_j)² − v·w`` and with bounds on weights.

        Points, planes and cuts are then in coordinates u in which the regularizer is ``½‖u‖²``. Results and their
        bounds are in terms of w and this objective. Only `OneSlack` and `NSlack` support bounds on weights; `Auto`
        chooses one of them.

        Parameters
        ----------
        center : b, towards which weights are pulled, such as the weights of a model of similar data; None: 0.
        penalty : λ, at least 0; None: 1. A weight with λ = 0 has no regularizer and needs two finite bounds.
        linear : v; None: 0. Absolute values of b, λ and v are at most 1e100.
        bounds : the smallest and the largest weights, each a number, d numbers or None; ``(0, None)`` for non-negative
            weights. The loss's own bounds (`Loss.weight_bounds`) always apply.
        """
        of_loss = self.loss.weight_bounds(self.d)
        if of_loss is not None:
            of_loss = checked_bounds(of_loss, self.d, f"{self.loss.title}.weight_bounds")
            low, high = checked_bounds((None, None) if bounds is None else bounds, self.d)
            bounds = np.maximum(low, of_loss[0]), np.minimum(high, of_loss[1])
        coordinates = Coordinates.of(self.d, center, penalty, linear, bounds)
        return self._evolved(coordinates=coordinates, known_fingerprint=None)

    def knowing(self, fingerprint: Vector) -> Self:
        """Return the problem with this `fingerprint`, so that it is not computed again."""
        return self._evolved(known_fingerprint=fingerprint)

    def _evolved(self, **fields: Any) -> Self:
        """Return the problem, an attrs object, with other values of these fields."""
        changed: Self = evolve(cast(Any, self), **fields)
        return changed

    @abstractmethod
    def origin(self) -> AnyPoint:
        """Return the point at ``w = 0``; needs no pass over the data."""

    @abstractmethod
    def at(self, w: Vector) -> AnyPoint:
        """Return the point at weights w, in half a pass over the data; reject features that are not finite."""

    @abstractmethod
    def planes(self, point: AnyPoint) -> AnyPlanes:
        """Find the argmax of every example, without a pass; raise `OracleError` if a loss or encoding is not valid."""

    @abstractmethod
    def hinge(self, planes: AnyPlanes, point: AnyPoint) -> float:
        """Return the exactly rounded hinge part of ``P(w)``; raise `OracleError` if the true output beats an argmax."""

    @abstractmethod
    def cut(self, planes: AnyPlanes) -> Cut:
        """Return the weighted mean of the planes, ``Σ κ_i (g_i, L_i) / Σ κ_i``, in half a pass over the data."""

    @abstractmethod
    def line(self, base: AnyPoint, planes: AnyPlanes, target: AnyPoint) -> Line:
        """Return the objective on the line from ``base``, with its planes, through ``target``; reads no features."""

    @abstractmethod
    def estimate(self, planes: AnyPlanes, point: AnyPoint, violations: Vector) -> float:
        """Return the largest known lower bound of ``P(w)``, an estimate if the argmax is inexact.

        An inexact argmax may miss the largest hinge, so true and earlier outputs count too (Finley and Joachims,
        "Training Structural SVMs when Exact Inference is Intractable", ICML 2008). ``violations`` are hinges by earlier
        outputs: of each example, shape (n,), or their weighted mean, shape (1,).
        """

    @abstractmethod
    def largest_score(self, point: AnyPoint) -> float:
        """Return the largest absolute score at a point, or an upper bound of it."""

    @abstractmethod
    def add_content(self, content: Content) -> None:
        """Add everything that identifies the data, the weights and the loss, except C, to a hash."""
