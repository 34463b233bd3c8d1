"""The programs of real runs of the cutting-plane solvers, where they have been recorded."""

import numpy as np
import pytest
from attrs import evolve

from structsvm.solvers.qp import ActiveSet, DualQP
from structsvm.testing import check_backend
from tests.real_data import REFERENCE, needs
from tests.solvers.qp.programs import GENERAL_BACKENDS

FOLDER = REFERENCE / "qp"
NAMES = ["seq1_d50_C100", "seq1_d500_C100", "seq1_d50_C100000", "seqn_d50_C1"]

pytestmark = needs(*(FOLDER / f"{name}.npz" for name in NAMES))


def recorded(name: str, accuracy: float) -> list[DualQP]:
    file = np.load(FOLDER / f"{name}.npz")
    H, b, C = file["H"], file["L"], float(file["C"])
    group = file["gid"].astype(np.int64) if "gid" in file else np.zeros(len(b), np.int64)
    sizes = file["sizes"].tolist() if "sizes" in file else range(1, len(b) + 1)
    groups = int(group.max()) + 1
    cap = np.full(groups, C / groups)
    qps = [DualQP(H[:k, :k], b[:k], group[:k], cap, 0.0) for k in sizes]
    return [evolve(qp, tol=accuracy * qp.dual(ActiveSet().solve(qp).a)) for qp in qps]


@pytest.mark.parametrize("name", NAMES)
def test_active_set_certifies_1e_9(name):
    qps = recorded(name, 1e-9)
    solution = None
    for qp in qps:
        solution = ActiveSet().solve(qp, solution)
        assert qp.gap(solution.a) <= 1.01 * qp.tol
    check_backend(ActiveSet(), sequences=[qps[-5:]])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("backend", GENERAL_BACKENDS, ids=lambda backend: backend.name)
def test_general_backends_certify_1e_6(name, backend):
    pytest.importorskip(backend.package or "numpy")
    qps = recorded(name, 1e-6)
    solution = None
    for qp in qps[:: max(1, len(qps) // 8)]:
        solution = backend().solve(qp, solution)
        assert qp.gap(solution.a) <= 1.01 * qp.tol
