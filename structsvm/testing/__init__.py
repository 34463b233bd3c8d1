"""Check losses, QP backends, solvers, operators and retrieval functions that users write."""

from structsvm.testing.backends import check_backend
from structsvm.testing.latent import check_latent_loss
from structsvm.testing.losses import check_loss
from structsvm.testing.operators import check_operator
from structsvm.testing.retrieval import check_retrieval
from structsvm.testing.solvers import check_solver

__all__ = ["check_backend", "check_latent_loss", "check_loss", "check_operator", "check_retrieval", "check_solver"]
