"""``structsvm demo``."""

import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import click

from structsvm.cli.console import print_table, progress_line
from structsvm.cli.options import example
from structsvm.exceptions import NotInstalledError
from structsvm.registry import solvers

if TYPE_CHECKING:
    from structsvm import Ranker
    from structsvm.data import RankingData

_LOSSES = ("map", "roc_area", "zero_one")
_SOLVERS = ("one-slack", "n-slack")
_BACKENDS = ("cvxopt", "osqp", "highs", "active-set")
_C = 1.0
_TOL = 1e-3
_HEADINGS = ("test MAP", "seconds", "iterations", "certified gap")

_INTRODUCTION = f"""\
Query by example on scikit-learn's handwritten digits: a query is an image, its relevant documents are the
images of the same digit, and {{features}} features compare two images. Linear rankers learn from {{train}} queries of
{{documents}} documents and are tested on {{test}} others, C = {_C:g}. Training stops when the objective is proved to be
within {_TOL:g} * C of its global optimum: the certified gap, in units of C.
"""


class _Run(NamedTuple):
    """One model to train."""

    loss: str
    solver: str
    backend: str

    def ranker(self) -> "Ranker":
        from structsvm import Ranker

        return Ranker(self.loss, _C, solver=solvers.find(self.solver)(backend=self.backend, tol=_TOL))


@click.command(
    name="demo", short_help="Compare losses and solvers on an embedded data set.", epilog=example("structsvm demo")
)
def demo_command() -> None:
    """Train rankers on an embedded data set and compare losses, solvers and QP backends; takes seconds."""
    from structsvm.data import load_digits_queries

    by_loss = {loss: _Run(loss, "one-slack", "active-set") for loss in _LOSSES}
    by_solver = {(solver, backend): _Run("map", solver, backend) for solver in _SOLVERS for backend in _BACKENDS}
    runs = list(dict.fromkeys([*by_loss.values(), *by_solver.values()]))
    train, test = load_digits_queries()
    click.echo(_INTRODUCTION.format(**_sizes(train, test)))
    with progress_line() as say:
        say("compiling and loading QP backends")
        began = time.perf_counter()
        for run in runs:
            _warm_up(run, train)
        warm_up = time.perf_counter() - began
        cells = {}
        for run in runs:
            say(f"loss {run.loss}, solver {run.solver}, backend {run.backend}")
            cells[run] = _train_and_test(run, train, test)
    print_table(
        ["loss", *_HEADINGS],
        ([loss, *cells[run][:-1]] for loss, run in by_loss.items()),
        title="What is optimised (solver one-slack, backend active-set)",
        numbers_from=1,
    )
    print_table(
        ["solver", "backend", *_HEADINGS, "handed over"],
        ([*names, *cells[run]] for names, run in by_solver.items()),
        title="How it is optimised (loss map)",
        numbers_from=2,
    )
    click.echo(
        "An iteration is a pass over the queries (n-slack: a round, with a QP after every cut). Handed over are QPs\n"
        "that a backend left to the built-in one, active-set. The seconds are those of training alone: the compiled\n"
        f"code and the QP backends were loaded before, which took {warm_up:.1f} s."
    )


def _sizes(train: "RankingData", test: "RankingData") -> dict[str, int]:
    import numpy as np

    queries = len(np.unique(train.qid))
    return {
        "features": train.X.shape[1],
        "train": queries,
        "documents": len(train.y) // queries,
        "test": len(np.unique(test.qid)),
    }


def _warm_up(run: _Run, train: "RankingData") -> None:
    """Train on two queries: what is compiled, imported or cached at first use is, after that."""
    few = train.qid < train.qid[0] + 2
    with suppress(NotInstalledError):
        run.ranker().fit(train.X[few], train.y[few], qid=train.qid[few])


def _train_and_test(run: _Run, train: "RankingData", test: "RankingData") -> list[str]:
    """Return the cells of one row of a table."""
    began = time.perf_counter()
    try:
        ranker = run.ranker().fit(train.X, train.y, qid=train.qid)
    except NotInstalledError:
        return ["not installed", "", "", "", ""]
    seconds = time.perf_counter() - began
    result = ranker.result_
    score = ranker.score(test.X, test.y, qid=test.qid)
    return [
        f"{score:.4f}",
        f"{seconds:.3f}",
        str(result.history[-1].iteration),
        f"{result.gap / _C:.1e}",
        str(result.handovers),
    ]
