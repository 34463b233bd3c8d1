"""What every solver may ask of a problem, wherever its data are."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, NamedTuple, Self, TypeAlias

from attrs import evolve
from numpy.typing import ArrayLike

from structsvm.losses import ScoreLoss
from structsvm.problem.box import Box
from structsvm.problem.content import Content
from structsvm.problem.coordinates import Bounds, Coordinates
from structsvm.problem.line import Line, Parabola
from structsvm.problem.points import Cut
from structsvm.types import Vector

AnyPoint: TypeAlias = Any
"""Weights ``w`` with the scores they make, wherever these are; see `Point`, whose ``moves`` and ``toward`` it has.

Examples
--------
>>> from structsvm import Problem
>>> from structsvm.problem import AbstractProblem, AnyPoint
>>> def descended(problem: AbstractProblem, point: AnyPoint, step: float) -> AnyPoint:
...     cut = problem.cut(problem.planes(point))
...     return problem.at((1.0 - step) * point.w + step * problem.total_cap * cut.g)
>>> problem = Problem.from_queries([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1], loss="map", C=0.1)
>>> descended(problem, problem.origin(), 0.5).w.round(3).tolist()
[0.25]
"""

AnyPlanes: TypeAlias = Any
"""Planes as a problem hands them out, which alone looks into them.

Examples
--------
>>> import numpy as np
>>> from structsvm import Problem
>>> from structsvm.problem import AbstractProblem, AnyPlanes
>>> def risk_bound(problem: AbstractProblem, planes: AnyPlanes, w: np.ndarray) -> float:
...     cut = problem.cut(planes)
...     return cut.L - float(w @ cut.g)
>>> problem = Problem.from_queries([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1], loss="map")
>>> round(risk_bound(problem, problem.planes(problem.origin()), np.array([0.1])), 3)
0.167
"""


class Traffic(NamedTuple):
    """What went between a driver and its workers so far.

    Parameters
    ----------
    calls : how often the driver asked all of its workers something and waited.
    down, up : bytes of numbers sent to workers, and by them.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm.distributed import DistributedProblem, InProcess, Partition
    >>> part = Partition(np.array([[1.0], [2.0]]), [0, 1], [1, 1])
    >>> problem = DistributedProblem.from_queries(InProcess(), [part], loss="map")
    >>> before = problem.traffic
    >>> cut = problem.cut(problem.planes(problem.origin()))
    >>> problem.traffic.calls - before.calls, problem.traffic.sent > before.sent
    (1, True)
    """

    calls: int = 0
    down: int = 0
    up: int = 0

    @property
    def sent(self) -> int:
        """Bytes in both directions."""
        return self.down + self.up


class AbstractProblem(ABC):
    """Minimise ``P(w) = r(w) + (C/n) Σ_i κ_i max_ŷ [Δ(y_i, ŷ) − w·(Ψ(x_i, y_i) − Ψ(x_i, ŷ))]``, ``r(w) = ½‖w‖²``.

    `Problem` has its data in this process, and more to offer: planes of single examples, for `NSlack` and
    `FrankWolfe`. `structsvm.distributed` has a problem whose data are spread. Points and planes are handed on by
    solvers, never looked into.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm import Problem
    >>> from structsvm.distributed import DistributedProblem, InProcess, Partition
    >>> from structsvm.problem import AbstractProblem
    >>> def objective(problem: AbstractProblem, w: np.ndarray) -> float:  # wherever the data are
    ...     point = problem.at(w)
    ...     return problem.primal(problem.planes(point), point)
    >>> X, y, qid = np.array([[1.0], [2.0], [4.0]]), np.array([0, 0, 1]), np.array([1, 1, 1])
    >>> here = Problem.from_queries(X, y, qid, loss="map")
    >>> spread = DistributedProblem.from_queries(InProcess(), [Partition(X, y, qid)], loss="map")
    >>> objective(here, np.ones(1)) == objective(spread, np.ones(1))
    True
    """

    __slots__ = ()

    @property
    @abstractmethod
    def loss(self) -> ScoreLoss[Any]:
        """The loss."""

    @property
    @abstractmethod
    def C(self) -> float:
        """Weight of the mean hinge against the regulariser."""

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of examples, those without weight included."""

    @property
    @abstractmethod
    def d(self) -> int:
        """Number of weights."""

    @property
    @abstractmethod
    def used(self) -> int:
        """Number of examples that the loss can learn from, the n of the objective."""

    @property
    @abstractmethod
    def left_out(self) -> int:
        """Number of queries that it cannot learn from."""

    @property
    @abstractmethod
    def sizes(self) -> tuple[int, int, int]:
        """Number of examples, of weights and of scores."""

    @property
    @abstractmethod
    def total_cap(self) -> float:
        """``Σ κ_i C / n``, rounded once."""

    @property
    @abstractmethod
    def known_fingerprint(self) -> Vector | None:
        """The `fingerprint`, where the data have not changed since it was taken; None: it is taken when needed."""

    @property
    def n_jobs(self) -> int | None:
        """How many threads compute here; None: see `thread_count`."""
        return None

    @property
    def has_kernel(self) -> bool:
        """Whether argmaxes run in compiled code, so that they cost less than a pass over the data."""
        return self.loss.kernel is not None

    @property
    def exact(self) -> bool:
        """Whether argmaxes are exact; if not, the primal is an estimate (`estimate`)."""
        return self.loss.exact

    @property
    def planes_kept(self) -> int:
        """How many earlier points' planes a solver keeps for `require_unbeaten`."""
        return 0

    def require_unbeaten(self, planes: AnyPlanes, point: AnyPoint, others: Iterable[AnyPlanes]) -> None:  # noqa: B027
        """Require that no output found elsewhere beats those of exact argmaxes, as a last check of the primal.

        Nothing by default: a problem whose planes are elsewhere compares them there, when it evaluates them.

        Parameters
        ----------
        planes, point : the argmaxes, and where they were found.
        others : planes found elsewhere.

        Raises
        ------
        OracleError : when an output of these has a larger ``Δ + w·Ψ`` there; it names the example.
        """

    @property
    def coordinates(self) -> Coordinates | None:
        """Those of points, planes and cuts; None: they are of w."""
        return None

    @property
    def box(self) -> Box | None:
        """The bounds on coordinates; None: there are none."""
        return None if self.coordinates is None else self.coordinates.box

    def nearest(self, u: Vector) -> Vector:
        """Return the nearest coordinates within the bounds."""
        return u if self.box is None else self.box.nearest(u)

    def to_weights(self, u: Vector) -> Vector:
        """Return the weights at coordinates u, those of a point."""
        return u if self.coordinates is None else self.coordinates.w(u)

    def from_weights(self, w: Vector) -> Vector:
        """Return the coordinates of weights w."""
        return w if self.coordinates is None else self.coordinates.u(w)

    @property
    def constant(self) -> float:
        """What is added to ``½‖u‖²`` and the hinges to have the objective of w."""
        return 0.0 if self.coordinates is None else self.coordinates.constant

    @property
    def traffic(self) -> Traffic:
        """What went over a network so far: nothing, unless the data are spread."""
        return Traffic()

    def regulariser(self, w: Vector) -> float:
        """Return ``½‖w‖²``, of the weights with a regulariser."""
        return 0.5 * float(w @ w) if self.box is None else self.box.regulariser(w)

    def regulariser_between(self, base: Vector, target: Vector) -> Parabola:
        """Return the regulariser on the line from weights ``base``, at t = 0, through ``target``, at t = 1."""
        box = self.box
        if box is None:
            return Parabola.between(base, target)
        inside = Parabola.between(base[~box.loose], target[~box.loose])
        return evolve(inside, farthest=box.farthest(base, target))

    def primal(self, planes: AnyPlanes, point: AnyPoint) -> float:
        """Return ``P(w)`` from the planes that were found at this very point.

        Raises
        ------
        OracleError : when the truth itself beats an output that was returned as the argmax.
        """
        return self.regulariser(point.w) + self.hinge(planes, point)

    @abstractmethod
    def with_C(self, C: float) -> Self:
        """Return the problem with another C."""

    @abstractmethod
    def regularised(
        self,
        *,
        centre: ArrayLike | None = None,
        penalty: ArrayLike | None = None,
        linear: ArrayLike | None = None,
        bounds: Bounds | None = None,
    ) -> Self:
        """Return the problem with the regulariser ``½ Σ_j λ_j (w_j − b_j)² − v·w`` in the place of its own, and bounds.

        Its points, planes and cuts are in `Coordinates` in which this is ``½‖u‖²``, so that no solver has to know of
        it; results are of w, and bounds of this objective. Of bounds on weights (`Box`) solvers do have to know:
        `OneSlack` and `NSlack` do, and `Auto` takes one of them.

        Parameters
        ----------
        centre : b, the weights that the others are pulled towards: those of a model of similar data, say; None: 0.
        penalty : λ, not negative; the smaller, the freer the weight; None: 1. It may be 0, no regulariser at all, where
            bounds give the weight two finite ones, without which nothing could be proved of it.
        linear : v; None: 0.
        bounds : the smallest and the largest weights, each a number, d numbers or None: ``(0, None)`` for weights that
            are not negative. None: those that the loss asks for (`Loss.weight_bounds`), which hold in any case.

        Raises
        ------
        InputError : when one is no vector of d finite numbers, or these are too large to compute with (1e100), a
            penalty is negative, or 0 for a weight without finite bounds, or no weight is within the bounds.
        """

    @abstractmethod
    def knowing(self, fingerprint: Vector) -> Self:
        """Return the problem with its `fingerprint` known."""

    @abstractmethod
    def origin(self) -> AnyPoint:
        """Return the point at ``w = 0``: no pass over the data."""

    @abstractmethod
    def at(self, w: Vector) -> AnyPoint:
        """Return the point at weights w: half a pass over the data; refuse features that are not finite."""

    @abstractmethod
    def planes(self, point: AnyPoint) -> AnyPlanes:
        """Find the loss-augmented argmax of every example: no pass over the data.

        Raises
        ------
        OracleError : when a loss is not a finite number of at least 0, or an encoding not finite.
        """

    @abstractmethod
    def hinge(self, planes: AnyPlanes, point: AnyPoint) -> float:
        """Return the second part of ``P(w)``, exactly rounded, so that it does not depend on the order of examples.

        Parameters
        ----------
        planes, point : the planes that were found at this very point.

        Raises
        ------
        OracleError : when the truth itself beats an output that was returned as the argmax.
        """

    @abstractmethod
    def cut(self, planes: AnyPlanes) -> Cut:
        """Return the weighted mean of the planes, ``Σ κ_i (g_i, L_i) / Σ κ_i``: half a pass over the data."""

    @abstractmethod
    def line(self, base: AnyPoint, planes: AnyPlanes, target: AnyPoint) -> Line:
        """Return the objective on the line from a point, with its planes, through another: no pass over the data."""

    @abstractmethod
    def estimate(self, planes: AnyPlanes, point: AnyPoint, known: Vector) -> float:
        """Return the largest lower bound of ``P(w)`` that is known: an estimate, too low if anything.

        Every output makes a valid plane, so that lower bounds hold whatever the argmax. The hinge that an
        inexact one gives may be too small, and with it the primal. The truth and the outputs found earlier
        are looked at as well: the estimate is as close as what is known allows (Finley and Joachims, "Training
        Structural SVMs when Exact Inference is Intractable", ICML 2008, on undergenerating argmaxes).

        Parameters
        ----------
        planes, point : what was found at this point, and the weights w with their scores.
        known : hinges at w by the outputs found earlier: of each example, shape (n,), or the weighted
            mean of all, shape (1,).
        """

    @abstractmethod
    def largest_score(self, point: AnyPoint) -> float:
        """Return the largest absolute value of the scores of a point that was evaluated, or a bound of it."""

    @abstractmethod
    def tell(self, content: Content) -> None:
        """Add to a hash all that tells the data, the weights and the loss from others, C aside; see `fingerprint`."""
