"""How far a fit on a cluster is, in a line."""

import logging

from structsvm.compute.memory import in_units
from structsvm.result import Step

logger = logging.getLogger("structsvm")


def in_a_line(step: Step) -> str:
    """Return gap, rounds, calls and bytes of a step, in words."""
    return (
        f"round {step.iteration}: gap {step.gap / step.C:.2g} * C after {step.seconds:.3g} s, "
        f"{step.calls} calls, {in_units(float(step.sent))} sent and answered"
    )


def log_rounds(step: Step) -> None:
    """Log every round at level INFO of the logger "structsvm": give it as ``callback=``."""
    logger.info("%s", in_a_line(step))
