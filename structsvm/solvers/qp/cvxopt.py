"""The QP backend over CVXOPT's interior-point method."""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen

from structsvm.foundation.settings import at_least, positive
from structsvm.solvers.qp.base import DualQP, QPSolution
from structsvm.solvers.qp.general import Attempt, GeneralBackend, scales


@frozen
class CVXOPT(GeneralBackend):
    """CVXOPT's ``coneqp``, a primal-dual interior-point method (Andersen, Dahl, Liu and Vandenberghe, 2011).

    It needs the extra: ``pip install 'structural-svm[cvxopt]'``. CVXOPT has the license GPLv3. It always starts cold.

    Parameters
    ----------
    reltol : relative duality gap at which CVXOPT stops. The certified gap is about as large; it is seldom below 1e-9,
        with any setting.
    max_iter : maximum iterations per attempt; 10 to 20 are usual.

    Examples
    --------
    >>> from structsvm.solvers import OneSlack
    >>> OneSlack(backend=CVXOPT(reltol=1e-9)).backend.name
    'cvxopt'
    """

    name: ClassVar[str] = "cvxopt"
    package: ClassVar[str] = "cvxopt"
    requirement: ClassVar[str] = "structural-svm[cvxopt]"
    reltol: float = field(default=1e-8, validator=positive)
    max_iter: int = field(default=100, validator=at_least(1))

    def attempts(self, qp: DualQP, start: QPSolution | None) -> Iterator[Attempt]:
        cvxopt = self.import_package()
        matrix = cvxopt.matrix
        used, row = np.unique(qp.group, return_inverse=True)
        size, groups = qp.size, len(used)
        rows = range(size)
        constraints = cvxopt.spmatrix(
            [-1.0] * size + [1.0] * size, [*rows, *(size + row).tolist()], [*rows, *rows], (size + groups, size)
        )
        options = {"show_progress": False, "abstol": 1e-12, "feastol": 1e-9}
        options |= {"reltol": self.reltol, "maxiters": self.max_iter}
        for unit in scales(qp):
            bounds = np.concatenate([np.zeros(size), qp.cap[used] / unit])
            try:
                result: dict[str, Any] = cvxopt.solvers.coneqp(
                    matrix(unit * qp.H), matrix(-qp.b), constraints, matrix(bounds), options=options
                )
            except (ArithmeticError, ValueError):
                continue
            yield Attempt(unit * np.array(result["x"], dtype=np.float64).ravel())
