"""The QP backend over qpsolvers, which calls more than twenty QP solvers in one way."""

import warnings
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from attrs import field, frozen

from structsvm.exceptions import InputError, NotInstalledError
from structsvm.foundation.extras import silent_highs
from structsvm.solvers.qp.base import DualQP, QPSolution
from structsvm.solvers.qp.general import Attempt, GeneralBackend, scales


class Package(NamedTuple):
    """The module of a solver, which is also its name on PyPI, and its method in a few words."""

    module: str
    method: str


PACKAGES: Mapping[str, Package] = {
    "clarabel": Package("clarabel", "interior point, sparse"),
    "copt": Package("coptpy", "interior point, sparse, commercial"),
    "daqp": Package("daqp", "dual active set, dense"),
    "ecos": Package("ecos", "interior point for cones, sparse"),
    "gurobi": Package("gurobipy", "interior point, sparse, commercial"),
    "mosek": Package("mosek", "interior point, sparse, commercial"),
    "piqp": Package("piqp", "proximal interior point"),
    "proxqp": Package("proxsuite", "augmented Lagrangian"),
    "qpalm": Package("qpalm", "proximal augmented Lagrangian, sparse"),
    "quadprog": Package("quadprog", "dual active set, dense"),
    "scs": Package("scs", "operator splitting, sparse"),
}
"""The solvers whose names are also names of backends."""

ACCURATE: Mapping[str, Mapping[str, Any]] = {
    "daqp": {"primal_tol": 1e-9, "dual_tol": 1e-9},
    "ecos": {"abstol": 1e-12, "reltol": 1e-12, "feastol": 1e-10},
    "osqp": {"eps_abs": 1e-8, "eps_rel": 1e-8, "polishing": True, "max_iter": 20_000},
    "proxqp": {"eps_abs": 1e-10},
    "qpalm": {"eps_abs": 1e-10, "eps_rel": 1e-10},
    "scs": {"eps_abs": 1e-9, "eps_rel": 1e-9},
}
"""Settings with which a solver passes `structsvm.testing.check_backend`; all other solvers pass with their defaults."""

_OF_CONEQP = ("abstol", "debug", "feastol", "kktreg", "maxiters", "refinement", "reltol", "use_correction")
"""Options that the function coneqp of CVXOPT and KVXOPT reads."""

_ACCEPTS: Mapping[str, Callable[[str, Any], bool]] = {
    "cvxopt": lambda name, _: name in _OF_CONEQP,
    "highs": lambda name, value: silent_highs()().setOptionValue(name, value).name == "kOk",
    "kvxopt": lambda name, _: name in _OF_CONEQP,
    "piqp": lambda name, _: name == "backend" or hasattr(import_module("piqp").DenseSolver().settings, name),
    "pyqpmad": lambda name, _: hasattr(import_module("pyqpmad").SolverParameters(), name),
    "qpalm": lambda name, _: hasattr(import_module("qpalm").Settings(), name),
}
"""Functions that return True if a setting has an effect, for solvers with which qpsolvers ignores unknown settings."""


def _require_accepted(solver: str, settings: Mapping[str, Any]) -> None:
    """Raise ValueError for a setting that qpsolvers or the solver would ignore."""
    accepts = _ACCEPTS.get(solver)
    for name, value in settings.items():
        if accepts is not None and name != "verbose" and not accepts(name, value):
            raise ValueError(f"{name}={value!r} is unknown or out of range")


_DEFINITE = ("ecos", "pyqpmad", "quadprog")
"""Solvers that need a positive definite matrix."""

_RIDGE = 1e-6
"""Weight of the proximal term, relative to the largest entry of the Gram matrix.

Weights of 1e-7 and less leave some matrices indefinite, and 1e-5 needs more than `_STEPS` steps.
"""

_STEPS = 10


@frozen
class QPSolvers(GeneralBackend):
    """A solver of the package qpsolvers.

    The package calls Clarabel, DAQP, PIQP, ProxQP, quadprog, SCS and more than a dozen other solvers, also commercial
    ones: https://qpsolvers.github.io/qpsolvers lists them. The backend needs the extra,
    ``pip install 'structural-svm[qpsolvers]'``, and the solver's package. qpsolvers is licensed under the LGPLv3.

    Solvers whose default accuracy is too low for certified gaps get a higher one. Solvers that need a positive definite
    matrix take up to 10 proximal steps (Rockafellar, SIAM Journal on Control and Optimization 1976). qpsolvers passes
    the multipliers of the last program to solvers that start from them.

    Parameters
    ----------
    solver : name of the solver in qpsolvers; the backend names "clarabel", "daqp", ... set it.
    settings : settings of the solver by the solver's own names; they override the higher accuracy. None: no settings.

    Raises
    ------
    NotInstalledError : at the first program, if qpsolvers or the solver is not installed.
    InputError : at the first program, if a setting is unknown or out of range.

    Warns
    -----
    UserWarning : the solver fails for a reason other than the numbers of the program, such as a missing license.

    Examples
    --------
    >>> from structsvm.registry import backends
    >>> backends.create("clarabel(settings={tol_gap_abs:1e-9})") == QPSolvers("clarabel", {"tol_gap_abs": 1e-9})
    True
    """

    name: ClassVar[str] = "qpsolvers"
    package: ClassVar[str] = "qpsolvers"
    requirement: ClassVar[str] = "structural-svm[qpsolvers]"
    solver: str = "clarabel"
    settings: dict[str, Any] | None = field(default=None, hash=False)

    def missing(self) -> str:
        module = PACKAGES[self.solver].module if self.solver in PACKAGES else ""
        lacking = [super().missing(), module if module and find_spec(module) is None else ""]
        return " ".join(filter(None, lacking))

    def import_package(self) -> Any:
        qpsolvers = super().import_package()
        if self.solver not in qpsolvers.available_solvers:
            if requirement := self.missing():
                raise NotInstalledError(f"the backend {self.solver!r} needs its package: pip install {requirement}")
            raise NotInstalledError(
                f"qpsolvers {qpsolvers.__version__} finds no solver {self.solver!r}; installed are "
                f"{', '.join(qpsolvers.available_solvers)}. See https://qpsolvers.github.io/qpsolvers for others."
            )
        return qpsolvers

    def attempts(self, qp: DualQP, start: QPSolution | None) -> Iterator[Attempt]:
        """Yield the solution in each scaling, after each proximal step if the solver needs a definite matrix."""
        qpsolvers = self.import_package()
        used, row = np.unique(qp.group, return_inverse=True)
        size, dense = qp.size, self.solver in qpsolvers.dense_solvers
        form = np.asarray if dense else sp.csc_matrix
        groups = sp.csc_matrix((np.ones(size), (row, np.arange(size))), (len(used), size))
        rows = groups.toarray() if dense else groups
        settings = {**ACCURATE.get(self.solver, {}), **(self.settings or {})}
        for unit in scales(qp):
            P = unit * qp.H
            steps, weight = (_STEPS, _RIDGE * float(np.diagonal(P).max())) if self.solver in _DEFINITE else (1, 0.0)
            P.flat[:: size + 1] += weight
            a = np.zeros(size) if start is None else start.a / unit
            for _ in range(steps):
                program = qpsolvers.Problem(form(P), -qp.b - weight * a, rows, qp.cap[used] / unit, lb=np.zeros(size))
                try:
                    _require_accepted(self.solver, self.settings or {})
                    # qpsolvers warns of each failure.
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        solution = qpsolvers.solve_problem(program, self.solver, initvals=a, **settings)
                except qpsolvers.exceptions.QPError:
                    break
                except Exception as error:
                    if self.settings:
                        reason = str(error).partition("\n")[0]
                        raise InputError(
                            f"{self.solver} fails with the settings {self.settings}: {reason}. Correct or remove them."
                        ) from error
                    # A license may be missing, for example.
                    warnings.warn(f"{self.solver} fails: {error}; active-set solves its programs", stacklevel=2)
                    break
                if solution.x is None:
                    break
                a = np.maximum(np.asarray(solution.x), 0.0)
                yield Attempt(unit * a)
