"""Small quadratic programs for the tests of this folder, and an independent way to solve them."""

import itertools

import numpy as np

from structsvm.foundation.types import Vector
from structsvm.registry import backends
from structsvm.solvers.qp import DualQP, GeneralBackend

BACKENDS = [*dict.fromkeys(backends.find(name) for name in backends.built_in)]
GENERAL_BACKENDS = [backend for backend in BACKENDS if issubclass(backend, GeneralBackend)]


def random_qp(seed: int, size: int, d: int, groups: int, C: float, tol: float = 0.0, repeat: bool = False) -> DualQP:
    random = np.random.default_rng(seed)
    cuts = random.normal(size=(size, d))
    offsets = random.uniform(0.0, 1.0, size)
    group = random.integers(groups, size=size)
    if repeat:
        cuts[size // 2 :] = cuts[: size - size // 2]
        offsets[size // 2 :] = offsets[: size - size // 2]
    return DualQP(cuts @ cuts.T, offsets, group, np.full(groups, C / groups), tol)


def optimum_by_enumeration(qp: DualQP) -> float:
    """Return the optimum of the dual: the best feasible stationary point over all faces."""
    groups = range(len(qp.cap))
    best = 0.0
    for used in itertools.product([False, True], repeat=qp.size):
        support = np.flatnonzero(used)
        present = sorted(set(qp.group[support].tolist()))
        for tight in itertools.chain.from_iterable(itertools.combinations(present, r) for r in range(len(groups) + 1)):
            a = _stationary(qp, support, np.array(tight, dtype=int))
            total = np.bincount(qp.group, weights=a, minlength=len(qp.cap))
            if (a >= -1e-9).all() and (total <= qp.cap * (1 + 1e-9)).all():
                best = max(best, qp.dual(qp.project(a)))
    return best


def _stationary(qp: DualQP, support: Vector, tight: Vector) -> Vector:
    member = (qp.group[support][None, :] == tight[:, None]).astype(float)
    system = np.block([[qp.H[np.ix_(support, support)], member.T], [member, np.zeros((len(tight), len(tight)))]])
    right = np.concatenate([qp.b[support], qp.cap[tight]])
    a = np.zeros(qp.size)
    a[support] = np.linalg.lstsq(system, right)[0][: len(support)]
    return a
