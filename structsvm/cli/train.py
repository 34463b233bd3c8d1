"""``structsvm train``."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from structsvm.cli.console import counted, echo, echo_wrapped, note, progress_line
from structsvm.cli.data import Columns, read_data, with_columns
from structsvm.cli.failures import Failure
from structsvm.cli.options import (
    as_measures,
    as_normalisation,
    make_solver,
    name_in,
    names_of,
    positive,
    require_ranking_loss,
    with_tol,
)
from structsvm.cli.paths import DATA, OUTPUT, Command
from structsvm.cli.rankers import (
    fit_uncertified,
    is_default,
    make_ranker,
    ranker_in,
    require_applicable,
    settings_of,
    summary,
)
from structsvm.cli.results import shows_text, with_json, write_json
from structsvm.cli.texts import example
from structsvm.cli.time_limit import TimeLimit
from structsvm.cli.validation import as_Cs, choose, cross_validated, interrupted, note_choice, of_fold, read_judges
from structsvm.cli.weights import Limit, settings_for, with_bounds
from structsvm.normalisation import NORMALISATIONS
from structsvm.registry import backends, losses, solvers
from structsvm.registry import measures as known_measures
from structsvm.registry import rankers as registered
from structsvm.signals import finish
from structsvm.storage.files import check_writable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from structsvm.data import RankingData
    from structsvm.metrics import Measure
    from structsvm.result import Result, Step
    from structsvm.solvers import Solver
    from structsvm.solvers.state import Callback


def _checkpoints(values: dict[str, Any]) -> list[tuple[str, Path]]:
    """Return the files of --checkpoint, one for each value of --C-grid."""
    from structsvm.solvers import Checkpoint

    if values["checkpoint"] is None or not values["C_grid"]:
        return []
    parts = range(1, (values["folds"] or 0) + 1)
    kept = [of_fold(values["checkpoint"], part) for part in parts] if parts else [values["checkpoint"]]
    return [("--checkpoint", Checkpoint(each).at(C).path) for each in kept for C in values["C_grid"]]


def _seconds(ctx: click.Context, param: click.Parameter, limit: float | None) -> float | None:
    """Require a positive number of seconds, if there is one."""
    return None if limit is None else positive(ctx, param, limit)


def _threads(_ctx: click.Context, _param: click.Parameter, jobs: int | None) -> int | None:
    """Require a number of threads as ``n_jobs`` of rankers counts them."""
    if jobs == 0:
        raise click.BadParameter("it must be a number of threads, -1 for all processors or -2 for all but one, got 0")
    return jobs


@click.command(
    cls=Command,
    also_writes=_checkpoints,
    name="train",
    short_help="Train a ranker on LETOR files.",
    epilog=example(
        "structsvm train S1.txt S2.txt S3.txt --loss map -C 10 --model m.npz",
        "structsvm train train.txt --C-grid 0.01:100 --folds 5 --measure ndcg@10 --measure map --model m.npz",
        "structsvm train train.txt --bounds 0: --monotonic-cst 3:-1 --model m.npz",
        "structsvm train train.txt --ranker 'rank_boost(n_rounds=300)' --validation vali.txt --model m.npz",
    ),
)
@click.argument("data", type=DATA, nargs=-1, required=True)
@click.option(
    "--ranker",
    metavar="NAME",
    callback=ranker_in,
    shell_complete=names_of(registered),
    help="Ranker to train, with settings in parentheses: rank_svm, rank_boost, rank_net, lambda_mart, weight_search, "
    "maximum_entropy.  [default: ranker, which optimises --loss]",
)
@click.option(
    "--loss",
    metavar="NAME",
    callback=name_in(losses),
    shell_complete=names_of(losses),
    default="map",
    show_default=True,
    help="Loss to optimise.",
)
@click.option(
    "-C",
    "C",
    type=float,
    metavar="NUMBER",
    callback=positive,
    default=1.0,
    show_default=True,
    help="Weight of the mean hinge loss against the regulariser; larger fits the data closer.",
)
@click.option(
    "--C-grid",
    "C_grid",
    metavar="LOW:HIGH[:COUNT]",
    callback=as_Cs,
    help="Train at several values of C, two a decade unless COUNT is given, and keep the one that does best on "
    "--validation, or in cross-validation with --folds.",
)
@click.option(
    "--validation",
    type=DATA,
    multiple=True,
    help="LETOR file with validation queries, which choose among --C-grid, or the number of boosting steps to keep.",
)
@click.option(
    "--folds",
    type=click.IntRange(min=2),
    help="Choose among --C-grid by cross-validation: each of so many folds of the queries is held out once, and the "
    "value that does best on held-out queries is then trained on all queries.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the random split into folds."
)
@click.option(
    "--measure",
    "measures",
    metavar="NAME",
    callback=as_measures,
    shell_complete=names_of(known_measures),
    multiple=True,
    default=["map"],
    show_default=True,
    help="Measure that chooses among --C-grid, or the number of steps. If given several times, the first chooses and "
    "all are shown.",
)
@click.option(
    "--solver",
    metavar="NAME",
    callback=name_in(solvers),
    shell_complete=names_of(solvers),
    default="auto",
    show_default=True,
    help="Solver of the optimisation problem.",
)
@click.option(
    "--backend",
    metavar="NAME",
    callback=name_in(backends),
    shell_complete=names_of(backends),
    help="QP backend of the solver.  [default: the solver's own]",
)
@with_tol
@click.option(
    "--max-iter", type=click.IntRange(min=1), help="Largest number of iterations.  [default: the solver's own]"
)
@click.option(
    "--time-limit",
    type=float,
    metavar="SECONDS",
    callback=_seconds,
    help="Time limit for each fit, of which --C-grid and --folds make several; an iteration that has begun is "
    "finished.  [default: no limit]",
)
@click.option(
    "--fit-intercept", is_flag=True, help="Add a constant to all scores; only zero_one and F-beta can use it."
)
@click.option(
    "--class-weight",
    type=click.Choice(["balanced"]),
    help="Give both classes the same total weight; for losses whose examples are rows, such as zero_one.",
)
@click.option(
    "--normalise",
    metavar="NAME",
    callback=as_normalisation,
    default="none",
    show_default=True,
    help="Normalise the features first: query-min-max, query-z-score (both within each query) or standard (over all "
    "documents). The model stores this, so give predict and evaluate the data as they are.",
)
@with_bounds("With --normalise, these are weights of the normalised features.")
@click.option(
    "--jobs",
    type=int,
    callback=_threads,
    help="Number of threads, which only changes the time; -1 for all processors, -2 for all but one.  "
    "[default: one a processor]",
)
@click.option(
    "--checkpoint",
    type=OUTPUT,
    help="File to save the state of the training in, about once a minute: the same command continues from it. With "
    "--C-grid, there is one file for each value of C, named after it.",
)
@with_columns(cache=True)
@click.option("-m", "--model", type=OUTPUT, required=True, help="File to write the model to.")
@with_json
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
def train_command(
    data: tuple[Path, ...],
    ranker: str | None,
    loss: str,
    C: float,
    C_grid: tuple[float, ...] | None,
    validation: tuple[Path, ...],
    folds: int | None,
    seed: int,
    measures: "tuple[Measure, ...]",
    solver: str,
    backend: str | None,
    tol: float,
    max_iter: int | None,
    time_limit: float | None,
    fit_intercept: bool,
    class_weight: str | None,
    normalise: str | None,
    limits: tuple[Limit, ...],
    signs: dict[str, int],
    jobs: int | None,
    checkpoint: Path | None,
    columns: Columns,
    model: Path,
    json_path: Path | None,
    quiet: bool,
) -> None:
    """Train a ranker on files, which are read as one data set, and write it to a file.

    One of DATA may be "-" for standard input. Files whose names end in .csv, .tsv or .parquet are read as tables with
    named columns, as are all files if --label, --qid, --docid or --features is given; others are in LETOR's format.

    "structsvm list" shows the names of rankers, losses, solvers and backends. If training is ended early, by Ctrl-C,
    SIGTERM, SIGHUP, --time-limit or --max-iter, the model so far is written, and the exit code is 1. Rankers without a
    certificate, and cross-validation, leave no model if they are ended by a signal.
    """
    from structsvm.compute.threads import using

    quiet = quiet or not shows_text(json_path)
    name = ranker or "ranker"
    kind: Any = registered.find(name)
    staged = hasattr(kind, "staged_predict")
    _require_fitting_options(name, C_grid, validation, folds)
    if is_default(name):
        require_ranking_loss(loss, class_weight)
    own_tol = click.get_current_context().get_parameter_source("tol") is ParameterSource.DEFAULT
    chosen = make_solver(solver, backend, {"tol": None if own_tol else tol, "max_iter": max_iter})
    check_writable(model)
    if checkpoint:
        check_writable(checkpoint)
    shown = {str(each): each for each in measures}
    settings: dict[str, Any] = {"C": C, "tol": tol, "class_weight": class_weight, "normalise": normalise}
    estimator = make_ranker(name, chosen, {**settings, "loss": loss, "fit_intercept": fit_intercept})
    known: Any = (estimator, chosen)
    tol = next((each.tol for each in known if getattr(each, "tol", None)), tol)
    if staged and validation:
        estimator.set_params(measure=estimator.measure or str(measures[0]))
    dense = None if kind._takes_sparse else False
    with progress_line(shown=not quiet) as say, using(jobs):
        say(f"reading {counted(len(data), 'file')}")
        read = read_data(data, columns, sparse=dense)
        estimator.set_params(**settings_for(read, limits, signs))
        names, known = read.feature_names, read.X.shape[1]
        judges = read_judges(validation, known, measures[0], columns, names, sparse=dense) if validation else None
        say("first iteration")
        if not hasattr(kind, "path") and not C_grid:
            said = fit_uncertified(estimator, read, judges)
            finish()
            _write(estimator, names, model)
            write_json(_record(estimator, read, data, model), json_path)
            if not quiet:
                echo_wrapped(*summary(estimator, read, len(data), model, shown, judges, said), indent=9)
            return
        going_on = set[float]()
        limit = TimeLimit(time_limit)

        def show(step: "Step") -> bool:
            if step.iteration and step.C not in going_on and checkpoint and not quiet:
                _say_where_it_goes_on(step, checkpoint, C_grid)
            going_on.add(step.C)
            say(_in_a_line(step, tol))
            return limit.over(step)

        if folds and C_grid:

            def path(part: "RankingData", number: int) -> "Sequence[Any]":
                say(f"fold {number} of {folds}")
                return _fit(estimator, part, C_grid, show, limit, checkpoint and of_fold(checkpoint, number))

            chosen_C, choice = cross_validated(read, folds, seed, C_grid, shown, path, quiet=quiet)
            say(f"all queries, C = {chosen_C:g}")
            rankers = _fit(estimator.set_params(C=chosen_C), read, None, show, limit, checkpoint)
            note_choice(rankers[0], choice)
        else:
            rankers = _fit(estimator, read, C_grid, show, limit, checkpoint)
        finish()
    trained: Any = rankers[0]
    if judges is not None and C_grid is not None:
        trained = choose(rankers, C_grid, judges, shown, quiet=quiet)
    _write(trained, names, model)
    write_json(_record(trained, read, data, model), json_path)
    if not hasattr(trained, "result_"):
        if not quiet:
            echo_wrapped(*summary(trained, read, len(data), model, shown, judges, []), indent=9)
        return
    if not quiet:
        echo_wrapped(*_summary(trained, chosen, read, len(data), model), indent=9)
        if limit.ended and limit.fits > 1:
            note(f"{limit} ended {limit.ended} of {counted(limit.fits, 'fit')} before the gap was as asked for")
    _require_finished(trained, rankers, None if folds else C_grid, limit, model)


def _require_fitting_options(
    name: str, C_grid: tuple[float, ...] | None, validation: tuple[Path, ...], folds: int | None
) -> None:
    """Refuse options that do not apply to the ranker of a name, or that contradict each other.

    Raises
    ------
    click.UsageError : it names them, and says which to give or to leave out.
    """
    kind: Any = registered.find(name)
    staged = hasattr(kind, "staged_predict")
    if not is_default(name):
        known_settings = settings_of(name)
        further = {"limits": "bounds" in known_settings, "signs": "monotonic_cst" in known_settings}
        further |= {"C_grid": "C" in known_settings, "checkpoint": hasattr(kind, "path")}
        further["time_limit"] = hasattr(kind, "path")
        require_applicable(name, further=further)
    if validation and folds:
        raise click.UsageError("--validation and --folds both say which queries choose: leave one of them out")
    if C_grid and not (validation or folds):
        raise click.UsageError("--C-grid needs queries that choose among its values: give --folds 5, or --validation")
    if folds and staged:
        raise click.UsageError(
            f"--folds chooses among values of C, which {kind.__name__} has none of: use --validation"
        )
    if (folds or (validation and not staged)) and not C_grid:
        raise click.UsageError("there is nothing to choose: give the values of C, such as --C-grid 0.1:100, too")
    if C_grid and click.get_current_context().get_parameter_source("C") is not ParameterSource.DEFAULT:
        raise click.UsageError("-C is one value and --C-grid tries several: leave one of them out")


def _require_finished(
    trained: Any, rankers: "Sequence[Any]", C_grid: tuple[float, ...] | None, limit: TimeLimit, model: Path
) -> None:
    """Fail where the training that ended in a model was interrupted, or did not converge.

    Parameters
    ----------
    trained : the ranker that was written.
    rankers : all that were trained, by ascending C.
    C_grid : the values of C that were to be tried; None: one.
    limit : what may have ended the training.
    model : where the ranker was written to.

    Raises
    ------
    Failure : it says how far training came.
    """
    if C_grid and interrupted(rankers, C_grid):
        raise Failure(
            f"interrupted: {len(rankers)} of the {len(C_grid)} values of --C-grid were tried, up to C = "
            f"{rankers[-1].C:g}. The model of C = {trained.C:g}, the best of them, was written to {model}"
        )
    result = trained.result_
    if not result.converged:
        why = f"{limit} has passed" if limit.has_ended(result) else result.message
        unit = _unit(trained)
        raise Failure(
            f"not converged: {why}; the gap is {result.gap / unit:.2g} * C, "
            f"asked for was {result.tol * result.C / unit:g} * C. The model so far was written to {model}"
        )


def _write(ranker: Any, names: "tuple[str, ...] | None", model: Path) -> None:
    if names is not None and len(names) == ranker.n_features_in_:
        ranker.name_features(names)
    ranker.save(model)


def _record(ranker: Any, read: "RankingData", data: tuple[Path, ...], model: Path) -> dict[str, Any]:
    """Return what --json says of a ranker that was trained."""
    from structsvm.estimators.record import training_record

    size = {"queries": len(set(read.qid.tolist())), "documents": len(read.y)}
    return {"model": model, "data": data, **size, **training_record(ranker)}


def _unit(ranker: Any) -> float:
    """Return what a gap is divided by to be in units of the loss, or of the share of pairs."""
    return float(ranker.result_.C * getattr(ranker, "gap_unit_", 1.0))


def _fit(
    ranker: Any,
    data: "RankingData",
    C_grid: tuple[float, ...] | None,
    show: "Callback",
    limit: TimeLimit,
    checkpoint: Path | None,
) -> "Sequence[Any]":
    from sklearn.exceptions import ConvergenceWarning

    from structsvm.exceptions import CheckpointWarning, FeatureScaleWarning, ZeroWeightsWarning

    others = warnings.showwarning

    def show_warning(message: Warning | str, category: type[Warning], *where: Any, **line: Any) -> None:
        if issubclass(category, CheckpointWarning):
            echo(f"structsvm: warning: {message}", err=True)
        else:
            others(message, category, *where, **line)

    with warnings.catch_warnings():
        warnings.showwarning = show_warning
        warnings.simplefilter("default", CheckpointWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)  # it ends in a failure of the command
        warnings.simplefilter("ignore", ZeroWeightsWarning)  # the summary says so
        warnings.simplefilter("ignore", FeatureScaleWarning)  # this, too
        try:
            if not hasattr(ranker, "path"):
                from sklearn.base import clone

                return [clone(ranker).set_params(C=C).fit(data.X, data.y, qid=data.qid) for C in C_grid or [ranker.C]]
            if C_grid:

                def part(Cs: "Sequence[float]") -> "Sequence[Any]":
                    path: Sequence[Any] = ranker.path(
                        data.X, data.y, data.qid, Cs, callback=show, checkpoint=checkpoint
                    )
                    return path

                rankers = limit.path(part, C_grid)
            else:
                limit.begin()
                rankers = [ranker.fit(data.X, data.y, qid=data.qid, callback=show, checkpoint=checkpoint)]
            limit.fitted(rankers)
            return rankers
        except KeyboardInterrupt:
            raise Failure("interrupted before the end of the first iteration: there is no model to write") from None


def _say_where_it_goes_on(step: "Step", checkpoint: Path, C_grid: tuple[float, ...] | None) -> None:
    from structsvm.solvers import Checkpoint

    file = Checkpoint(checkpoint).at(step.C).path if C_grid else checkpoint
    note(
        f"going on from {file}: iteration {step.iteration} after {step.seconds:.3g} s, gap {step.gap / step.C:.2g} * C"
    )


def _in_a_line(step: "Step", tol: float) -> str:
    return (
        f"iteration {step.iteration}: primal {step.primal:.6g}, dual {step.dual:.6g}, "
        f"gap {step.gap / step.C:.2g} * C (tol {tol:g}), {counted(step.cuts, 'cut')}"
    )


def _summary(ranker: Any, solver: "Solver", data: "RankingData", files: int, model: Path) -> list[str]:
    result: Result = ranker.result_
    last, unit = result.history[-1], _unit(ranker)
    how = [result.solver_name]
    ran = solver if solver.name == result.solver_name else solvers.create(result.solver_name)  # "auto" chose it
    if hasattr(ran, "backend") and hasattr(solver, "backend"):
        how.append(f"backend {backends.create(solver.backend).name}")
    run = [counted(last.iteration, "iteration"), f"{last.seconds:.2f} s", counted(last.cuts, "cut")]
    if result.handovers:
        run.append(f"{counted(result.handovers, 'QP')} handed over to the built-in backend")
    return [
        f"data     {data.summary} from {counted(files, 'file')}",
        *_what_was_trained(ranker),
        f"used     {_used(ranker)}",
        f"optimum  {_bounds(result)}: gap {result.gap / unit:.2g} * C, asked for {result.tol * result.C / unit:g} * C",
        *_at_bounds(ranker),
        *_learned_nothing(ranker),
        *_far_apart(ranker, data),
        f"run      {', '.join(how)}: {', '.join(run)}",
        f"model    {model}",
    ]


def _what_was_trained(ranker: Any) -> list[str]:
    """Say so where the cut-off in the name of a loss was not trained on."""
    if not hasattr(ranker, "loss"):
        return []
    given = losses.create(ranker.loss)
    if getattr(given, "k", None) is None or getattr(ranker.loss_, "k", None) is not None:
        return []
    trained = losses.spell(ranker.loss_) or ranker.loss_
    return [f"loss     {ranker.loss} trains at full depth, so that the optimum is that of {trained}"]


def _at_bounds(ranker: Any) -> list[str]:
    """Say how many weights are at a bound, where they have some."""
    from structsvm.estimators.record import training_record

    at = training_record(ranker).get("weights_at_a_bound")
    return [] if at is None else [f"bounds   {at} of {counted(len(ranker.coef_), 'weight')} are at one"]


def _learned_nothing(ranker: Any) -> list[str]:
    from structsvm.estimators.fitting import zero_weights

    result: Result = ranker.result_
    if result.w.any() or not result.converged:
        return []
    own = hasattr(ranker, "loss")
    loss, trained = (ranker.loss, ranker.loss_) if own else ("swapped_pairs", "swapped_pairs")
    return [f"warning  {zero_weights(result, loss, trained, ranks=True, other_losses=own)}"]


def _far_apart(ranker: Any, data: "RankingData") -> list[str]:
    """Say which features have far larger ranges than others, if they were learned from as they are."""
    from structsvm.estimators.scales import ColumnRanges

    if ranker.normalise is not None:
        return []
    ranges, names = ColumnRanges.of(data.X), ranker.known_names
    if not ranges.far_apart:
        return []
    told = ranges.told(lambda k: f"feature {k + 1}" if names is None else names[k])
    return [f"warning  {told}: try --normalise {', '.join(NORMALISATIONS[:-1])} or {NORMALISATIONS[-1]}"]


def _bounds(result: "Result") -> str:
    if result.exact:
        return f"between {result.dual:.8g} (dual) and {result.primal:.8g} (primal, this model)"
    return (
        f"at least {result.dual:.8g} (dual); this model is estimated at {result.primal:.8g} (primal), "
        "which may be too low, as the argmax of the loss is inexact"
    )


def _used(ranker: Any) -> str:
    if hasattr(ranker, "loss_") and ranker.loss_.per_row:
        return f"{counted(ranker.n_examples_, 'document')}, each an example of its own"
    used = counted(ranker.n_examples_, "query", "queries")
    if not ranker.n_left_out_:
        return used
    return f"{used}; {ranker.n_left_out_} left out, whose documents are all relevant or all not"
