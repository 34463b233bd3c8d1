"""What happens before the clock starts."""

from contextlib import suppress

import numpy as np

from structsvm.comparison.combinations import Trial
from structsvm.qp import DualQP
from structsvm.result import Status

_EXAMPLES = 2

_ITERATIONS = 12
"""Most iterations; Frank-Wolfe may take ten before it computes a certificate."""

_CUTS = 20


def warm_up(trial: Trial) -> None:
    """Solve a QP and a few examples, so that what is compiled, imported or cached at first use is, after that.

    What fails here does so quietly: it fails again when it is timed.

    Raises
    ------
    KeyboardInterrupt : after Ctrl-C.
    """
    with suppress(Exception):
        if trial.backend is not None:
            trial.backend.solve(_demanding_qp())
        weighted = np.flatnonzero(trial.problem.cap)[:_EXAMPLES]
        few = trial.problem.block(int(weighted[0]), int(weighted[-1]) + 1)
        result = trial.solver.solve(few, callback=lambda step: step.iteration >= _ITERATIONS)
        if result.status is Status.INTERRUPTED:
            raise KeyboardInterrupt


def _demanding_qp() -> DualQP:
    """Return a small QP that leads a backend through all of its code: of low rank, in two groups, to the last digit."""
    G = np.random.default_rng(0).standard_normal((_CUTS, _CUTS // 2))
    return DualQP(G @ G.T, np.ones(_CUTS), np.arange(_CUTS) % 2, np.ones(2), tol=1e-12)
