"""``structsvm compare``."""

from collections.abc import Callable, Mapping
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from structsvm.cli.shared.command import Output, command
from structsvm.cli.shared.console import echo, echo_wrapped, note, progress_line, show_tables
from structsvm.cli.shared.data import Columns, read_data, require_present, with_columns
from structsvm.cli.shared.failures import Failure
from structsvm.cli.shared.options import (
    list_option,
    missing_option,
    names_in,
    names_of,
    needing,
    number_list,
    number_option,
    require_ranking_loss,
    with_tol,
)
from structsvm.cli.shared.paths import DATA, NEW_FOLDER, OUTPUT, PARTS
from structsvm.cli.shared.results import STANDARD_OUTPUT, Outputs, check_plot, with_outputs
from structsvm.cli.shared.weights import Limits, settings_for, with_bounds
from structsvm.exceptions import InputError, counted
from structsvm.foundation.settings import DEFAULT_TOL
from structsvm.foundation.signals import finish
from structsvm.registry import Registry, backends, losses, solvers
from structsvm.registry.built_in import DEFAULT_BACKENDS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from structsvm import Problem
    from structsvm.solvers.comparison import Comparison

T = TypeVar("T", bound=Callable[..., Any])

_LEGEND = (
    "The gap is certified: the primal is at most this far above the optimum, in units of C; the target is {tol:g}. An "
    "iteration is a pass, a cut, or a round of n-slack, with a QP after every cut. Cuts are counted at the end and at "
    "the peak. Seconds are wall-clock time in the oracle (scores and argmaxes), in QPs, and in all, without compiling "
    "and loading. Peak MiB: the largest memory of the backend's process. Handed over: the QPs that a backend left to "
    "the built-in backend, active-set."
)


def _several(option: str, registry: Registry[Any], default: str, help: str, **settings: Any) -> Callable[[T], T]:
    """Return an option for several names of a registry."""
    complete, name = names_of(registry), f"{option.removeprefix('--')}_names"
    settings = {"callback": names_in(registry), "shell_complete": complete, **settings}
    settings |= {"default": [default], "help": help}
    return list_option(option, name, **settings)


def _backend_names(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of backends; "all" stays, and means every installed backend."""
    others = tuple(text for text in texts if text != "all")
    return (*(["all"] if "all" in texts else []), *names_in(backends)(ctx, param, others))


def _solves_qps(values: Mapping[str, Any]) -> bool:
    return any("backend" in signature(solvers.find(name)).parameters for name in values["solver_names"])


_QPS = needing("a solver that solves QPs", _solves_qps)


def _stored(values: dict[str, Any]) -> list[Output]:
    """Return the file of finished rows and the option that names it; no entry if no option writes a file."""
    for name in ("csv", "json", "plot", "profile"):
        path = values[f"{name}_path"]
        if path is not None and path != STANDARD_OUTPUT:
            return [Output(f"--{name}", path.with_name(f"{path.name}.part"), PARTS)]
    return []


@command(
    "compare",
    "Compare solvers and QP backends on data files.",
    also_writes=_stored,
    examples=[
        "structsvm compare train.txt --backend active-set,osqp,highs -C 1,10,100",
        "structsvm compare train.txt --solver n-slack --csv rows.csv --plot gaps.svg",
        "structsvm compare train.txt --backend all --solver one-slack,n-slack -C 1,100 --profile profile.svg",
        "structsvm compare train.txt --bounds 0: --monotonic-cst 3:-1 -C 1,100",
    ],
)
@click.argument("data", type=DATA, nargs=-1, required=True)
@_several("--loss", losses, "map", "Losses to optimize. Here and below, several names are separated by commas.")
@_several("--solver", solvers, "one-slack,n-slack,frank-wolfe", "Solvers to compare.")
@_several(
    "--backend",
    backends,
    ",".join(DEFAULT_BACKENDS),
    'QP backends to compare, of "structsvm list backends", for solvers that use one. "all": every installed backend.',
    callback=_backend_names,
    **_QPS,
)
@click.option(
    "-C",
    "Cs",
    metavar="NUMBERS",
    multiple=True,
    callback=number_list,
    default=["1"],
    help="Values of C, the weight of the mean hinge loss against the regularizer.",
)
@with_tol(DEFAULT_TOL)
@number_option(
    "--time-limit",
    metavar="SECONDS",
    default=60.0,
    help="Time limit for each combination. A QP or an iteration that has begun is finished first, within 10 seconds.",
)
@click.option(
    "--profile",
    "profile_path",
    metavar="FILE",
    type=OUTPUT,
    **_QPS,
    help="Plot the performance profile of the backends to this file, such as profile.svg, .pdf or .png.",
)
@click.option(
    "--save-programs",
    type=NEW_FOLDER,
    metavar="FOLDER",
    **_QPS,
    help="Store the QPs of each loss, solver and C, solved by the built-in backend, in this new folder.",
)
@missing_option
@with_bounds("Without --solver, only solvers that can bound weights are compared.")
@with_columns(cache=True, weight=True)
@with_outputs("Plot the gap against time to this file, such as gaps.svg, .pdf or .png.")
def compare_command(
    data: tuple[Path, ...],
    loss_names: tuple[str, ...],
    solver_names: tuple[str, ...],
    backend_names: tuple[str, ...],
    Cs: tuple[float, ...],
    tol: float,
    time_limit: float,
    profile_path: Path | None,
    save_programs: Path | None,
    missing: str | float | None,
    limits: Limits,
    signs: dict[str, int],
    columns: Columns,
    outputs: Outputs,
) -> None:
    """Train with every solver, QP backend and C on data files, and compare gaps, times and cuts.

    The command reads all files as one data set. They may be tables, as for "structsvm train".

    If a combination reaches the time limit, the table shows its gap so far. If a package is missing, it shows the
    reason. A solver without QPs runs once for each C. Ctrl-C ends the comparison with a table of the finished rows.

    --bounds and --monotonic-cst bound the weights, as in "structsvm train"; frank-wolfe does not support them.

    If other backends than the built-in one are compared, each runs in a separate process, so that it may crash or hang.

    With --save-programs, further fits with the built-in backend store their QPs, for authors of QP solvers.

    With --csv, --json, --plot or --profile, finished combinations are stored in FILE.part: after an interruption, the
    same command resumes from there.
    """
    from structsvm import Problem
    from structsvm.features.operators.occupied import narrowed, occupied
    from structsvm.foundation.storage.records import count_records
    from structsvm.solvers.comparison import compare
    from structsvm.training import Regularizer
    from structsvm.training.filling import without_missing

    check_plot(profile_path)
    for name in loss_names:
        require_ranking_loss(name)
    stored = next((part.path for part in _stored(click.get_current_context().params)), None)
    before = 0 if stored is None else count_records(stored)
    with progress_line() as say:
        say(f"reading {counted(len(data), 'file')}")
        train = read_data(data, columns)
        regularizer = Regularizer("Ranker", **settings_for(train, limits, signs))
        if missing is None:
            require_present(train)
        X, _ = without_missing("Ranker", missing, train.X, train.feature_names)
        X = narrowed(X, occupied(X)) if regularizer.plain else X
        weight = train.sample_weight
        plain = {
            name: Problem.from_queries(X, train.y, train.qid, loss=name, sample_weight=weight) for name in loss_names
        }
        problems = {name: regularizer.applied(problem, None) for name, problem in plain.items()}
        source = click.get_current_context().get_parameter_source("solver_names")
        if not regularizer.plain and source is ParameterSource.DEFAULT:
            solver_names = tuple(name for name in solver_names if name != "frank-wolfe")
        table = compare(
            problems,
            solver_names,
            backend_names,
            Cs,
            tol=tol,
            time_limit=time_limit,
            callback=lambda progress: say(str(progress)),
            keep=stored,
        )
        finish()
    outputs.write([{**row.record(), "curve": row.curve} for row in table], table.to_csv)
    reason_at_end = table.common_failure and outputs.plot is None and not table.interrupted
    if outputs.text:
        echo(f"{train.summary} from {counted(len(data), 'file')}", "")
        _print(table, problems, reasons=not reason_at_end)
    if before:
        note(f"{counted(before, 'combination')} of the table read from an earlier run: {stored}")
    if outputs.plot is not None or profile_path is not None:
        from structsvm.plots import gap_against_time, performance_profile

        for path, draw in ((outputs.plot, gap_against_time), (profile_path, performance_profile)):
            if path is not None:
                _draw(table, path, draw)
    if table.interrupted:
        on = "" if stored is None else f"; run the same command to resume from {stored}"
        raise Failure(f"interrupted: the table has {len(table)} of {counted(table.planned, 'combination')}{on}")
    if save_programs is not None:
        from structsvm.solvers.comparison import programs

        with progress_line() as say:
            say("storing the QPs of further fits with the built-in backend")
            counts = programs.save_programs(save_programs, problems, solver_names, Cs, tol, time_limit)
        if not all(counts):
            raise Failure(f"a fit reached the time limit before its first QP: {save_programs} is incomplete")
        note(f"wrote {counted(sum(counts), 'QP')} of {counted(len(counts), 'fit')} to {save_programs}")
    if stored is not None:
        stored.unlink(missing_ok=True)
    if all(row.gap is None for row in table):
        reason = f": {table.common_failure}" if table.common_failure else ", for the reasons below the tables"
        raise Failure(f"no combination has a result{reason}")


def _print(table: "Comparison", problems: "dict[str, Problem]", *, reasons: bool) -> None:
    """Print a table for each loss and C, with the notes of their rows, which are ``reasons`` or remarks."""
    for loss, C in dict.fromkeys((row.loss, row.C) for row in table):
        show_tables(table.table(loss, C, f"loss {loss} ({_examples(problems[loss])}), C = {C:g}"))
    if not table.rows:
        return
    summary = table.summary()
    if any(record["fits"] > 1 for record in summary.records) and len(summary.records) > len(summary.sections):
        show_tables(summary)
    if reasons:
        for status, reason in dict.fromkeys((row.status, row.note) for row in table if row.note):
            echo_wrapped(f"{status}: {reason}")
    echo_wrapped(_LEGEND.format(tol=table.rows[0].tol))


def _examples(problem: "Problem") -> str:
    if problem.loss.per_row:
        return counted(problem.used, "document")
    left_out = f", {problem.left_out} left out" if problem.left_out else ""
    return f"{counted(problem.used, 'query', 'queries')}{left_out}"


def _draw(table: "Comparison", path: Path, draw: "Callable[[Comparison], Figure]") -> None:
    from structsvm.plots.files import write_figure

    try:
        figure = draw(table)
    except InputError as error:
        raise Failure(f"{path} was not written: {error}") from None
    write_figure(figure, path)
    note(f"wrote the plot to {path}")
