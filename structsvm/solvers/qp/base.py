"""The quadratic program of the cutting-plane solvers, and the interface of backends."""

from abc import ABC, abstractmethod
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen

from structsvm.exceptions import InputError, NotInstalledError
from structsvm.foundation.arrays import largest_of_groups
from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.solvers.qp.kernels import project_groups


@frozen(eq=False)
class DualQP:
    """The QP of a cutting-plane solver: ``min ½ a'Ha − b'a`` over ``a ≥ 0`` with ``Σ a_k ≤ cap_g`` in each group g.

    It is the dual of "find w with the smallest ``½‖w‖² + Σ_g cap_g ξ_g`` that satisfies every cut ``w·g_k ≥ b_k −
    ξ_g``". One group of cuts is the 1-slack problem, one group per example the n-slack problem (Joachims, Finley and
    Yu, 2009, OP 2-6).

    Parameters
    ----------
    H : Gram matrix of the cuts, shape (K, K), ``H_kl = g_k·g_l``; positive semidefinite, often rank-deficient. Do not
        write to it: it may be a view of a larger buffer.
    b : offsets L of the cuts, shape (K,).
    group : group of each cut, shape (K,), values in ``0..len(cap) − 1``, in any order.
    cap : caps of the groups, shape (G,), not negative, at least one positive. A group may have no cuts.
    tol : target duality gap, absolute, in units of the objective.

    Examples
    --------
    >>> from structsvm.solvers.qp import ActiveSet
    >>> qp = DualQP(H=np.array([[2.0]]), b=np.array([1.0]), group=np.array([0]), cap=np.array([10.0]), tol=1e-9)
    >>> round(float(ActiveSet().solve(qp).a[0]), 6)
    0.5
    """

    H: Matrix
    b: Vector
    group: IntVector
    cap: Vector
    tol: float

    @property
    def size(self) -> int:
        """Number of cuts, K."""
        return len(self.b)

    def project(self, a: Vector) -> Vector:
        """Return feasible multipliers near ``a``: clipped at 0, groups scaled to their caps."""
        feasible = np.array(a, dtype=np.float64)
        if feasible.shape != self.b.shape:
            raise InputError(
                f"multipliers of shape {feasible.shape} for a QP of {self.size} cuts: return one for each cut"
            )
        project_groups(feasible, self.group, self.cap)
        return feasible

    def dual(self, a: Vector) -> float:
        """Return the dual value ``b'a − ½ a'Ha`` at feasible multipliers: a lower bound."""
        return float(self.b @ a - 0.5 * (a @ (self.H @ a)))

    def gap(self, a: Vector) -> float:
        """Return the duality gap at feasible multipliers: the QP's primal at ``w = Σ a_k g_k``, minus its dual."""
        return self.gap_at(a, self.b - self.H @ a)

    def gap_at(self, a: Vector, slope: Vector) -> float:
        """Return the duality gap at feasible multipliers with a known slope ``b − Ha``."""
        slack = largest_of_groups(slope, self.group, len(self.cap))
        return float(self.cap @ slack - a @ slope)

    def certified_gap(self, a: Vector) -> float:
        """Return an upper bound of the exact duality gap at feasible multipliers: `gap` plus `resolution`."""
        return self.gap(a) + self.resolution(a)

    def resolution(self, a: Vector) -> float:
        """Return the gap that float64 cannot distinguish from 0: offsets and products may be off by one last digit."""
        norm = np.sqrt(np.maximum(np.diagonal(self.H), 0.0))
        error = np.finfo(np.float64).eps * (np.abs(self.b) + norm * (norm @ a))
        return float(self.cap @ largest_of_groups(error, self.group, len(self.cap)) + a @ error)


@frozen(eq=False)
class QPSolution:
    """Feasible multipliers with their certified gap.

    Parameters
    ----------
    a : multipliers, shape (K,); feasible.
    gap : certified duality gap at ``a``, absolute; includes the rounding of its computation (`DualQP.certified_gap`).
    handed_over : True if the requested backend could not reach ``qp.tol`` and the built-in solver finished the work.
    state : private state of the backend for its next call.

    Examples
    --------
    >>> QPSolution(a=np.array([0.5]), gap=0.0)
    QPSolution(a=array([0.5]), gap=0.0, handed_over=False)
    """

    a: Vector
    gap: float
    handed_over: bool = False
    state: object = field(default=None, repr=False)


class QPBackend(ABC):
    """Base class of solvers of a `DualQP`; settings are frozen and there is no state.

    To write one, derive from `GeneralBackend`, which scales, certifies, retries and hands over to the built-in solver.
    ``structsvm.testing.check_backend`` checks it.

    Attributes
    ----------
    name : name of the backend.
    package : package that it imports at its first use; "" for none.
    requirement : pip requirement of that package.

    Examples
    --------
    >>> from structsvm.solvers.qp import DualQP
    >>> from structsvm.registry import backends
    >>> H, b = np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([1.0, 2.0])
    >>> group, cap = np.zeros(2, np.int64), np.array([1.0])
    >>> backend = backends.create("active-set")
    >>> before = backend.solve(DualQP(H[:1, :1], b[:1], group[:1], cap, tol=1e-9))
    >>> solution = backend.solve(DualQP(H, b, group, cap, tol=1e-9), start=before)  # with a second cut
    >>> solution.a.round(6), solution.gap <= 1e-9
    (array([0.2, 0.6]), True)
    """

    name: ClassVar[str]
    package: ClassVar[str] = ""
    requirement: ClassVar[str] = ""

    def missing(self) -> str:
        """Return the pip requirements of the packages that the backend needs and that are not installed."""
        return repr(self.requirement) if self.package and find_spec(self.package) is None else ""

    def import_package(self) -> Any:
        """Import the package that the backend needs, or raise `NotInstalledError` with the way to install it."""
        try:
            return import_module(self.package)
        except ImportError as error:
            needs = type(self).__name__
            raise NotInstalledError(
                f"the backend {self.name!r} needs {needs}: pip install {self.missing() or repr(self.requirement)}."
            ) from error

    @abstractmethod
    def solve(self, qp: DualQP, start: QPSolution | None = None) -> QPSolution:
        """Find multipliers whose certified gap is at most ``qp.tol``.

        Parameters
        ----------
        qp : the program.
        start : a solution of a program whose cuts are the first ``len(start.a)`` cuts of this one, in order; caps and
            offsets may differ. Its ``state`` is from this backend.
        """
