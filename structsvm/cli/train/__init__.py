"""``structsvm train``."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from structsvm.cli.shared.command import Output, command
from structsvm.cli.shared.console import echo_wrapped, note, progress_line, show_tables
from structsvm.cli.shared.data import Columns, read_data, read_judges, require_present, with_columns
from structsvm.cli.shared.options import (
    COUNT,
    AnyWhole,
    Whole,
    as_Cs,
    fold_seed,
    measure_option,
    missing_option,
    name_option,
    needing,
    number_option,
    threads,
    with_normalize,
    with_tol,
)
from structsvm.cli.shared.paths import CHECKPOINT, DATA, INPUT, MODEL
from structsvm.cli.shared.results import shows_text, with_json, write_json
from structsvm.cli.shared.weights import Limits, settings_for, with_bounds
from structsvm.cli.train.fits import FitMonitor, require_converged, warnings_of_fits, without_model
from structsvm.cli.train.rankers import make_ranker, require_applicable, tol_of, warm_started
from structsvm.cli.train.summary import summary
from structsvm.exceptions import counted
from structsvm.foundation.settings import RANKING_TOL
from structsvm.foundation.signals import finish
from structsvm.registry import backends, losses, solvers
from structsvm.registry import rankers as registered
from structsvm.registry.capabilities import takes_missing

if TYPE_CHECKING:
    from structsvm.metrics import Measure


def _checkpoints(values: dict[str, Any]) -> list[Output]:
    """Return the files of --checkpoint, one for each value of --C-grid."""
    from structsvm.solvers import Checkpoint

    if values["checkpoint"] is None or not values["C_grid"]:
        return []
    checkpoint = Checkpoint(values["checkpoint"])
    parts = [checkpoint.of_fold(fold) for fold in range(1, (values["folds"] or 0) + 1)] or [checkpoint]
    return [Output("--checkpoint", part.at(C).path, CHECKPOINT) for part in parts for C in values["C_grid"]]


@command(
    "train",
    "Train a ranker on data files.",
    also_writes=_checkpoints,
    examples=[
        "structsvm train S1.txt S2.txt S3.txt --loss map -C 10 --model m.npz",
        "structsvm train train.txt --C-grid 0.01:100 --folds 5 --measure ndcg@10 --measure map --model m.npz",
        "structsvm train train.txt --bounds 0: --monotonic-cst 3:-1 --model m.npz",
        "structsvm train train.txt --ranker 'rank_boost(n_estimators=300)' --validation vali.txt --model m.npz",
    ],
)
@click.argument("data", type=DATA, nargs=-1, required=True)
@name_option(
    registered,
    "--ranker",
    help="Ranker to train, with settings in parentheses: "
    f"{', '.join(name for name in registered.built_in if name != 'ranker')}.  [default: ranker, which optimizes "
    "--loss]",
)
@name_option(losses, "--loss", default="map", help="Loss to optimize.")
@number_option(
    "-C",
    "C",
    default=1.0,
    help="Weight of the mean hinge loss against the regularizer. A larger C fits the data more closely.",
)
@click.option(
    "--C-grid",
    "C_grid",
    metavar="LOW:HIGH[:COUNT]",
    callback=as_Cs,
    help="Train at several values of C, by default two per decade, and keep the value that is best on --validation, or "
    "in cross-validation with --folds.",
)
@click.option(
    "--validation",
    type=DATA,
    multiple=True,
    help="Data file with validation queries, which choose the value of --C-grid or the number of boosting steps.",
)
@click.option(
    "--folds",
    type=Whole(min=2),
    help="Choose the value of --C-grid by cross-validation with this number of folds. The value that is best on "
    "held-out queries is then trained on all queries.",
)
@fold_seed
@measure_option(
    "measures",
    multiple=True,
    default=["map"],
    **needing("--C-grid or --validation", lambda values: values["C_grid"] or values["validation"]),
    help="Measure that chooses the value of --C-grid or the number of boosting steps. Of several, the first chooses "
    "and all are shown.",
)
@name_option(solvers, "--solver", default="auto", show_default=True, help="Solver of the optimization problem.")
@name_option(backends, "--backend", help="QP backend of the solver.  [default: the solver's default]")
@with_tol(RANKING_TOL)
@click.option("--max-iter", type=COUNT, help="Largest number of iterations.  [default: the solver's default]")
@number_option(
    "--time-limit",
    metavar="SECONDS",
    help="Time limit for each fit (--C-grid and --folds need several fits). An iteration that has begun is finished "
    "first.  [default: no limit]",
)
@click.option(
    "--fit-intercept",
    is_flag=True,
    help="Add a constant to all scores. Only the losses zero_one and F-beta can use it.",
)
@with_normalize("The model stores the setting and normalizes the data of predict and evaluate.")
@missing_option
@with_bounds("With --normalize, the bounds apply to the weights of normalized features.")
@click.option(
    "--warm-start",
    type=INPUT,
    metavar="MODEL",
    help="Start from this model, which must have the same ranker, loss and features, such as yesterday's model. The "
    "optimum is the same, and the solver finds it sooner.",
)
@click.option(
    "--jobs",
    type=AnyWhole(),
    callback=threads,
    help="Number of threads, which does not change the result; -1 for all processors, -2 for all but one.  "
    "[default: one per processor]",
)
@click.option(
    "--checkpoint",
    type=CHECKPOINT,
    help="File to save the state of the training to, about once a minute; the same command resumes from it. With "
    "--C-grid, each value of C has a separate file, which is named after it.",
)
@with_columns(cache=True, weight=True)
@click.option("-m", "--model", type=MODEL, required=True, help="File to write the model to.")
@with_json
@click.option("-q", "--quiet", is_flag=True, help="Print errors only.")
def train_command(
    data: tuple[Path, ...],
    ranker: str | None,
    C_grid: tuple[float, ...] | None,
    validation: tuple[Path, ...],
    folds: int | None,
    seed: int,
    measures: "tuple[Measure, ...]",
    time_limit: float | None,
    limits: Limits,
    signs: dict[str, int],
    warm_start: Path | None,
    jobs: int | None,
    checkpoint: Path | None,
    columns: Columns,
    model: Path,
    json_path: Path | None,
    quiet: bool,
    **options: Any,
) -> None:
    """Train a ranker on one or more data files, and write the model to a file.

    The command reads all DATA as one data set. One of DATA may be "-" for standard input. Files whose names end in
    .csv, .tsv or .parquet are tables with named columns, as are all files if --label, --qid, --docid or --features is
    given. Other files are in LETOR's format.

    "structsvm list" shows the names of rankers, losses, solvers and backends.

    If Ctrl-C, SIGTERM, SIGHUP, --time-limit or --max-iter ends training early, the command writes the model so far and
    exits with code 1. After a signal, cross-validation and rankers without a certificate leave no model.
    """
    from structsvm.estimators import RankerCV
    from structsvm.estimators.saving import add_facts
    from structsvm.foundation.compute.threads import using

    quiet = quiet or not shows_text(json_path)
    name = ranker or "ranker"
    require_applicable(name, click.get_current_context().params)
    learner = estimator = make_ranker(name, options)
    can = estimator.capabilities
    shown = {str(measure): measure for measure in measures}
    if can.is_staged and validation:
        estimator.set_params(measure=estimator.measure or str(measures[0]))
    sparse = None if can.takes_sparse else False
    with progress_line(shown=not quiet) as say, using(jobs):
        say(f"reading {counted(len(data), 'file')}")
        read = read_data(data, columns, sparse=sparse)
        estimator.set_params(**settings_for(read, limits, signs))
        names, width = read.feature_names, read.X.shape[1]
        if not takes_missing(estimator):
            require_present(read)
        if warm_start is not None:
            learner = estimator = warm_started(estimator, warm_start, names, width)
        judges = None
        if validation:
            judges = read_judges(
                validation, width, measures[0], columns, names, categories=read.categories, sparse=sparse
            )
        monitor = FitMonitor(
            say, tol_of(estimator, options["tol"]), time_limit, None if quiet else checkpoint, at_C=bool(C_grid)
        )
        arguments: dict[str, Any] = {"callback": monitor, "checkpoint": checkpoint} if can.has_path else {}
        if read.sample_weight is not None:
            arguments["sample_weight"] = read.sample_weight
        if judges is not None:
            arguments["validation"] = (judges.X, judges.y, judges.qid)
        if C_grid:
            learner = RankerCV(estimator, C_grid, cv=folds or 2, scoring=list(shown.values()), random_state=seed)
        say("first iteration")
        with warnings_of_fits(certified=can.has_certificate) as warned:
            try:
                learner.fit(read.X, read.y, qid=read.qid, **arguments)
            except KeyboardInterrupt:
                raise without_model(learner, folds, certified=can.has_certificate, quiet=quiet) from None
        finish()
    trained: Any = learner.estimator_ if C_grid else learner
    if C_grid and not quiet:
        show_tables(learner.table())
    if names is not None and len(names) == trained.n_features_in_:
        trained.name_features(names, read.categories)
    if not columns.are_tables(data):
        add_facts(trained, zero_based=bool(columns.zero_based))
    trained.save(model)
    size = {"queries": len(set(read.qid.tolist())), "documents": len(read.y)}
    write_json({"model": model, "data": data, **size, **trained.model_.record}, json_path)
    if not quiet:
        echo_wrapped(*summary(trained, read, len(data), model, shown, judges, warned), indent=9)
    if can.has_certificate:
        ended = monitor.ended(trained.result_.tol)
        if ended and monitor.fits > 1 and not quiet:
            note(f"{monitor} ended {ended} of {counted(monitor.fits, 'fit')} before the gap reached --tol")
        require_converged(trained, learner, C_grid, monitor, model)
