"""PIQP, a proximal interior-point method, as a QP backend."""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import piqp
from attrs import field, frozen
from attrs.validators import ge, gt

from structsvm.solvers.qp import Attempt, DualQP, GeneralBackend, QPSolution, scales


@frozen
class PIQP(GeneralBackend):
    """PIQP's dense solver, a proximal interior-point method, which always starts cold.

    Because of its proximal terms, it also solves QPs with rank-deficient Gram matrices, which are
    usual for cutting planes.

    Parameters
    ----------
    eps : tolerance of the residuals and of the duality gap at which PIQP stops.
    max_iter : iterations of one attempt; 10 to 20 are usual.

    References
    ----------
    Schwan, Jiang, Kuhn and Jones, "PIQP: A Proximal Interior-Point Quadratic Programming
    Solver", IEEE CDC 2023.
    """

    name: ClassVar[str] = "piqp-dense"
    eps: float = field(default=1e-9, validator=gt(0.0))
    max_iter: int = field(default=250, validator=ge(1))

    def attempts(self, qp: DualQP, start: QPSolution | None) -> Iterator[Attempt]:
        """Yield the iterate at which PIQP stops, for one scaling after the other."""
        used, group = np.unique(qp.group, return_inverse=True)
        membership = np.asfortranarray(np.arange(len(used))[:, None] == group, dtype=np.float64)
        for unit in scales(qp):
            solver = piqp.DenseSolver()
            solver.settings.eps_abs = self.eps
            solver.settings.eps_duality_gap_abs = self.eps
            solver.settings.max_iter = self.max_iter
            solver.setup(
                P=np.asfortranarray(unit * qp.H),
                c=-qp.b,
                G=membership,
                h_u=qp.cap[used] / unit,
                x_l=np.zeros(qp.size),
            )
            solver.solve()
            yield Attempt(unit * solver.result.x)
