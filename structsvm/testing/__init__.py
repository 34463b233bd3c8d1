"""Checks for what users write: losses and QP backends."""

from structsvm.testing.backends import check_backend
from structsvm.testing.losses import check_loss

__all__ = ["check_backend", "check_loss"]
