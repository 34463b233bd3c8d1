"""The quadratic programme of every cutting-plane solver, and what a backend makes of it."""

from abc import ABC, abstractmethod
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen

from structsvm.compute.groups import largest_of_groups
from structsvm.exceptions import NotInstalledError
from structsvm.qp.kernels import project_groups
from structsvm.types import IntVector, Matrix, Vector


@frozen(eq=False)
class DualQP:
    """``min ½ a'Ha − b'a`` over ``a ≥ 0`` with ``Σ a_k ≤ cap_g`` over the cuts k of each group g.

    The dual of "find w with the smallest ``½‖w‖² + Σ_g cap_g ξ_g`` that satisfies every cut
    ``w·g_k ≥ b_k − ξ_g``". One group of cuts is the 1-slack problem, one group per example
    the n-slack problem (Joachims, Finley and Yu, 2009, OP 2-6).

    Parameters
    ----------
    H : Gram matrix of the cuts, shape (K, K), ``H_kl = g_k·g_l``; positive semidefinite,
        often rank-deficient. May be a view of a larger buffer: do not write to it.
    b : offsets L of the cuts, shape (K,).
    group : group of each cut, shape (K,), values in ``0..len(cap) − 1``, in any order.
    cap : caps of the groups, shape (G,), not negative, one positive. A group may be without cuts.
    tol : duality gap that is good enough, in units of the objective (absolute).

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm.qp import ActiveSet, DualQP
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
        """Return the feasible multipliers that ``a`` stands for: clipped at 0, groups scaled to their caps."""
        feasible = np.array(a, dtype=np.float64)
        project_groups(feasible, self.group, self.cap)
        return feasible

    def dual(self, a: Vector) -> float:
        """Value of the dual, ``b'a − ½ a'Ha``, at feasible multipliers: a lower bound."""
        return float(self.b @ a - 0.5 * (a @ (self.H @ a)))

    def gap(self, a: Vector) -> float:
        """Duality gap at feasible multipliers: the QP's primal at ``w = Σ a_k g_k``, less its dual."""
        return self.gap_at(a, self.b - self.H @ a)

    def gap_at(self, a: Vector, slope: Vector) -> float:
        """Duality gap at feasible multipliers where their slope ``b − Ha`` is known."""
        slack = largest_of_groups(slope, self.group, len(self.cap))
        return float(self.cap @ slack - a @ slope)

    def resolution(self, a: Vector) -> float:
        """Gap that float64 cannot tell from 0 at feasible multipliers.

        Rounding of one unit in the last place in each offset and in each ``‖g_k‖ · Σ a_l ‖g_l‖``,
        carried through the formula of `gap`. Asking for less than this asks for luck.
        """
        norm = np.sqrt(np.maximum(np.diagonal(self.H), 0.0))
        error = np.finfo(np.float64).eps * (np.abs(self.b) + norm * (norm @ a))
        return float(self.cap @ largest_of_groups(error, self.group, len(self.cap)) + a @ error)


@frozen(eq=False)
class QPSolution:
    """Feasible multipliers and how good they are.

    Parameters
    ----------
    a : multipliers, shape (K,); feasible.
    gap : certified duality gap at ``a``, absolute.
    handed_over : True when the backend asked for could not reach ``qp.tol`` and the
        built-in solver finished the work.
    state : whatever the backend wants to see again at the next call; nobody else reads it.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm.qp import QPSolution
    >>> QPSolution(a=np.array([0.5]), gap=0.0)
    QPSolution(a=array([0.5]), gap=0.0, handed_over=False)
    """

    a: Vector
    gap: float
    handed_over: bool = False
    state: object = field(default=None, repr=False)


class QPBackend(ABC):
    """Something that solves a `DualQP`. Frozen settings; no state is kept on it.

    To write one, derive from `GeneralBackend`, which scales, certifies, retries and hands
    over for you. ``structsvm.testing.check_backend`` says whether it is right.

    Attributes
    ----------
    name : name of the backend.
    package : package that it imports when it first solves; "" for none.
    requirement : what pip installs to have that package.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm.qp import DualQP
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

    def import_package(self) -> Any:
        """Import the package that the backend needs.

        Raises
        ------
        NotInstalledError : when it is missing; it says how to install it.
        """
        try:
            return import_module(self.package)
        except ImportError as error:
            raise NotInstalledError(
                f"the backend {self.name!r} needs {type(self).__name__}: pip install {self.requirement!r}."
            ) from error

    @abstractmethod
    def solve(self, qp: DualQP, start: QPSolution | None = None) -> QPSolution:
        """Solve, from nothing or from the solution of an earlier call.

        Parameters
        ----------
        qp : the programme.
        start : a solution of a programme whose cuts are the first ``len(start.a)`` cuts of
            this one, in order (caps and offsets may differ). Its ``state`` is what this
            backend returned.
        """
