"""The loss and the solver that a command is told to use."""

import inspect
from typing import TYPE_CHECKING, Any

import click

from structsvm.registry import backends, losses, solvers

if TYPE_CHECKING:
    from structsvm.solvers import Solver


def require_ranking_loss(name: str, class_weight: str | None = None) -> None:
    """Refuse a loss that no ranker can learn, and class weights where there are no classes.

    Raises
    ------
    click.UsageError : in both cases.
    """
    loss = losses.find(name)
    if not loss.scores_rows:
        raise click.UsageError(
            f"--loss {name} does not give each document one score, so it cannot rank: choose another"
        )
    if class_weight and not loss.per_row:
        raise click.UsageError(
            f"--class-weight is for losses that learn from documents one by one, such as zero_one; "
            f"--loss {name} learns from queries: leave it out"
        )


def make_solver(name: str, backend: str | None, settings: dict[str, Any]) -> "Solver":
    """Return a solver with these settings, those that are None left to it, after a try of its backend.

    Parameters
    ----------
    name : name of the solver.
    backend : name of the QP backend; None: the solver's own.
    settings : other settings by name.

    Raises
    ------
    click.UsageError : when the solver does not have a setting.
    NotInstalledError : when the package that the backend needs is missing.
    """
    given = {key: value for key, value in {"backend": backend, **settings}.items() if value is not None}
    known = inspect.signature(solvers.find(name)).parameters
    for key in given:
        if key not in known:
            raise click.UsageError(f"the solver {name!r} has no setting {key!r}: leave --{key.replace('_', '-')} out")
    solver: Solver = solvers.create(name, **given)
    if backend is not None:
        _try_backend(backend)
    return solver


def _try_backend(name: str) -> None:
    """Solve a QP of one cut, which fails at once where a package is missing, and not after the data were read."""
    import numpy as np

    from structsvm.qp import DualQP

    backends.create(name).solve(DualQP(np.ones((1, 1)), np.ones(1), np.zeros(1, dtype=np.int64), np.ones(1), 1e-3))
