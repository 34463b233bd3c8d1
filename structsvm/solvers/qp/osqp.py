"""The QP backend over OSQP, an operator-splitting method."""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
from attrs import field, frozen

from structsvm.foundation.arrays import largest_of_groups
from structsvm.foundation.settings import at_least, positive, truth_value
from structsvm.solvers.qp.base import DualQP, QPSolution
from structsvm.solvers.qp.general import Attempt, GeneralBackend


@frozen
class OSQP(GeneralBackend):
    """OSQP, the alternating direction method of multipliers, then polishing (Stellato et al., 2020).

    OSQP's own defaults (eps 1e-3, no polishing) leave relative gaps of 2e-3. If polishing succeeds, gaps of 1e-12 are
    usual. With a large C and more cuts than features, OSQP takes seconds where `ActiveSet` takes a millisecond.

    Parameters
    ----------
    eps : absolute and relative tolerance of the residuals, in the units of the largest cap.
    polishing : at the end, solve the equations of the constraints that seem active.
    max_iter : maximum iterations, after which the current iterate is used.
    time_limit : seconds per attempt, after which the current iterate is used.

    Examples
    --------
    >>> from structsvm.solvers import OneSlack
    >>> OneSlack(backend=OSQP(eps=1e-9)).backend.name
    'osqp'
    """

    name: ClassVar[str] = "osqp"
    package: ClassVar[str] = "osqp"
    requirement: ClassVar[str] = "osqp>=1.0.3"
    eps: float = field(default=1e-8, validator=positive)
    polishing: bool = field(default=True, validator=truth_value)
    max_iter: int = field(default=20_000, validator=at_least(1))
    time_limit: float = field(default=10.0, validator=positive)

    def attempts(self, qp: DualQP, start: QPSolution | None) -> Iterator[Attempt]:
        osqp = self.import_package()
        unit = float(qp.cap.max())
        size, groups = qp.size, len(qp.cap)
        # An extra column stays at its bound because of its price: if no constraint is active, OSQP
        # prints, and no option silences it (https://github.com/osqp/osqp/issues/785).
        price = float(np.abs(qp.b).max()) or 1.0
        membership = sp.coo_matrix((np.ones(size), (qp.group, np.arange(size))), (groups, size + 1))
        solver = osqp.OSQP()
        solver.setup(
            P=sp.block_diag([sp.coo_matrix(np.triu(unit * qp.H)), sp.coo_matrix((1, 1))], format="csc"),
            q=np.concatenate([-qp.b, [-price]]),
            A=sp.vstack([sp.eye(size + 1), membership], format="csc"),
            l=np.concatenate([np.zeros(size), np.full(1 + groups, -np.inf)]),
            u=np.concatenate([np.full(size, np.inf), [0.0], qp.cap / unit]),
            eps_abs=self.eps,
            eps_rel=self.eps,
            polishing=self.polishing,
            max_iter=self.max_iter,
            time_limit=self.time_limit,
            verbose=False,
        )
        if start is not None:
            slope = qp.b - qp.H @ start.a
            slack = largest_of_groups(slope, qp.group, groups)
            solver.warm_start(
                x=np.concatenate([start.a / unit, [0.0]]),
                y=np.concatenate([slope - slack[qp.group], [price], slack]),
            )
        result = solver.solve(raise_error=False)
        if result.info.status_val == osqp.SolverStatus.OSQP_SIGINT:
            # OSQP catches Ctrl-C itself.
            raise KeyboardInterrupt
        if result.x is not None:
            yield Attempt(unit * np.asarray(result.x)[:size])
