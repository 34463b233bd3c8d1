"""The QP backend over HiGHS's active-set method."""

from collections.abc import Iterator
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen

from structsvm.foundation.extras import silent_highs
from structsvm.foundation.settings import positive
from structsvm.solvers.qp.base import DualQP, QPSolution
from structsvm.solvers.qp.general import Attempt, GeneralBackend, scales

RIDGE = 1e-7
"""Number added to the diagonal in later attempts; HiGHS adds it in all attempts by default."""


@frozen
class HiGHS(GeneralBackend):
    """HiGHS's QP solver: a primal active-set method in the null space, started from the last basis (https://highs.dev).

    HiGHS has reported solutions with a gap of 97 % as optimal, and it may cycle on rank-deficient Gram matrices. In
    both cases, the backend tries other units, or else `ActiveSet` finishes.

    Parameters
    ----------
    time_limit : seconds per attempt, after which the current iterate is used.

    Examples
    --------
    >>> from structsvm.solvers import OneSlack
    >>> OneSlack(backend=HiGHS(time_limit=10.0)).backend.name
    'highs'
    """

    name: ClassVar[str] = "highs"
    package: ClassVar[str] = "highspy"
    requirement: ClassVar[str] = "highspy>=1.14"
    time_limit: float = field(default=5.0, validator=positive)

    def attempts(self, qp: DualQP, start: QPSolution | None) -> Iterator[Attempt]:
        """Yield HiGHS's final iterates: from the last basis, then cold in one scaling after the other."""
        highspy = self.import_package()
        units = scales(qp)
        if start is not None and isinstance(start.state, _Basis) and len(start.state.rows) == len(qp.cap):
            yield from self._run(highspy, qp, units[0], 0.0, start)
        yield from self._run(highspy, qp, units[0], 0.0, None)
        # If HiGHS cycled, a ridge helps; in units of the caps, its effect is small.
        for unit in units[1:] or units:
            yield from self._run(highspy, qp, unit, RIDGE, None)

    def _run(
        self, highspy: ModuleType, qp: DualQP, unit: float, ridge: float, start: QPSolution | None
    ) -> Iterator[Attempt]:
        solver = silent_highs()()
        for option, value in self._options(qp, ridge).items():
            solver.setOptionValue(option, value)
        if solver.passModel(_model(highspy, qp, unit)) == highspy.HighsStatus.kError:
            return
        if start is not None and isinstance(start.state, _Basis):
            new = qp.size - len(start.state.columns)
            solution, basis = highspy.HighsSolution(), highspy.HighsBasis()
            solution.col_value = start.a / unit
            solution.value_valid = True
            basis.col_status = [*start.state.columns, *[highspy.HighsBasisStatus.kLower] * new]
            basis.row_status = list(start.state.rows)
            basis.valid = True
            # The order matters: the basis has to come last.
            solver.setSolution(solution)
            solver.setBasis(basis)
        solver.run()
        primal = solver.getSolution()
        if primal.value_valid:
            basis = solver.getBasis()
            state = _Basis(tuple(basis.col_status), tuple(basis.row_status)) if basis.valid else None
            yield Attempt(unit * np.array(primal.col_value), state)

    def _options(self, qp: DualQP, ridge: float) -> dict[str, Any]:
        return {
            "solver": "qpasm",
            "qp_regularization_value": ridge,
            "qp_allow_hot_start": True,
            "qp_iteration_limit": 500 + 10 * qp.size,
            "small_matrix_value": 1e-12,
            "time_limit": self.time_limit,
        }


@frozen(eq=False)
class _Basis:
    """The status of each column and row; new columns start at their lower bound."""

    columns: tuple[Any, ...]
    rows: tuple[Any, ...]


def _model(highspy: ModuleType, qp: DualQP, unit: float) -> Any:
    """Return the program scaled by ``unit``, with a column per cut and a row per group."""
    size, groups = qp.size, len(qp.cap)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = size, groups
    lp.col_cost_ = -qp.b
    lp.col_lower_, lp.col_upper_ = np.zeros(size), np.full(size, highspy.kHighsInf)
    lp.row_lower_, lp.row_upper_ = np.full(groups, -highspy.kHighsInf), qp.cap / unit
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = np.arange(size + 1)
    lp.a_matrix_.index_ = qp.group
    lp.a_matrix_.value_ = np.ones(size)

    # Column by column of the lower triangle is row by row of the upper one.
    upper = np.triu_indices(size)
    hessian = highspy.HighsHessian()
    hessian.dim_ = size
    hessian.format_ = highspy.HessianFormat.kTriangular
    hessian.start_ = np.concatenate([[0], np.cumsum(np.arange(size, 0, -1))])
    hessian.index_ = upper[1]
    hessian.value_ = unit * qp.H[upper]

    model = highspy.HighsModel()
    model.lp_, model.hessian_ = lp, hessian
    return model
