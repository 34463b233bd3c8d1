"""How far a fit on a cluster is, in a line."""

import logging

from structsvm.memory import in_units
from structsvm.result import Step

logger = logging.getLogger("structsvm")


def in_a_line(step: Step) -> str:
    """Return gap, rounds, calls and bytes of a step, in words."""
    return (
        f"round {step.iteration}: gap {step.gap / step.C:.2g} * C after {step.seconds:.3g} s, "
        f"{step.calls} calls, {in_units(float(step.sent))} sent and answered"
    )


def log_rounds(step: Step) -> None:
    """Log every round at level INFO of the logger "structsvm": give it as ``callback=``.

    A line has the certified gap in units of C, seconds since the start, calls of the workers, and bytes both ways.

    Parameters
    ----------
    step : the step that a solver shows after each round.

    Examples
    --------
    >>> import logging
    >>> import sys
    >>> import numpy as np
    >>> from structsvm.distributed import DistributedProblem, InProcess, Partition, log_rounds
    >>> from structsvm.solvers import OneSlack
    >>> logger, shown = logging.getLogger("structsvm"), logging.StreamHandler(sys.stdout)
    >>> logger.addHandler(shown)
    >>> logger.setLevel(logging.INFO)
    >>> part = Partition(np.array([[1.0], [2.0]]), [0, 1], [1, 1])
    >>> result = OneSlack().solve(DistributedProblem.from_queries(InProcess(), [part]), callback=log_rounds)
    round 0: gap 0.5 * C after ... s, 1 calls, 104 bytes sent and answered
    round 1: gap ... * C after ... s, 5 calls, 904 bytes sent and answered
    >>> logger.removeHandler(shown)
    >>> logger.setLevel(logging.NOTSET)
    """
    logger.info("%s", in_a_line(step))
