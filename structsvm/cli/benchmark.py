"""``structsvm benchmark``."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from structsvm.cli.console import counted, echo, note, progress_bar, show_tables
from structsvm.cli.data import Columns, with_columns
from structsvm.cli.failures import Failure
from structsvm.cli.options import as_measure, as_normalisation, several_or_none
from structsvm.cli.paths import BENCHMARK, FOLDS, Command
from structsvm.cli.texts import example

if TYPE_CHECKING:
    from structsvm.metrics import Measure


def _show_models(ctx: click.Context, _param: click.Parameter, asked: bool) -> None:
    if not asked or ctx.resilient_parsing:
        return
    from structsvm.protocols import needed_package
    from structsvm.protocols.letor import model_names

    for name in model_names():
        package = needed_package(name)
        echo(f"{name} (needs {package})" if package else name)
    ctx.exit()


@click.command(
    cls=Command,
    name="benchmark",
    short_help="Compare models by LETOR's protocol, fold by fold.",
    epilog=example("structsvm benchmark MQ2008 --models svm-map,svm-roc --out mq2008-tables"),
)
@click.argument("folds", metavar="DATA_FOLDS", type=FOLDS)
@click.option(
    "--models",
    metavar="NAMES",
    multiple=True,
    callback=several_or_none,
    help="Models, such as svm-map,rankboost.  [default: all that are installed]",
)
@click.option(
    "--measure",
    metavar="NAME",
    callback=as_measure,
    default="map",
    show_default=True,
    help="Measure that picks on the validation queries, and that models are compared by.",
)
@click.option("--baseline", metavar="NAME", help="Model to compare the others with.  [default: the first]")
@click.option(
    "--out",
    type=BENCHMARK,
    help="Folder for finished folds, and for the tables as text, Markdown, LaTeX, CSV and JSON.",
)
@click.option("--force", is_flag=True, help="Replace the tables and folds of another run in that folder.")
@click.option("--jobs", type=click.IntRange(min=1), help="Processes.  [default: one a processor, or a fold]")
@click.option(
    "--normalise",
    metavar="NAME",
    callback=as_normalisation,
    default="none",
    show_default=True,
    help="Normalise the features of all models first: query-min-max, query-z-score or standard.",
)
@with_columns(letor=False)
@click.option("--single-features", is_flag=True, help="Measure every single feature as a ranker, too.")
@click.option(
    "--list", is_flag=True, is_eager=True, expose_value=False, callback=_show_models, help="Show the names of models."
)
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
def benchmark_command(
    folds: Path,
    models: tuple[str, ...] | None,
    measure: "Measure",
    baseline: str | None,
    out: Path | None,
    force: bool,
    jobs: int | None,
    normalise: str | None,
    columns: Columns,
    single_features: bool,
    quiet: bool,
) -> None:
    """Train, pick and test models on the folds of a LETOR data set.

    DATA_FOLDS is a folder with subfolders Fold1, Fold2, ..., each with train.txt, vali.txt and test.txt; or a folder
    with S1.txt to S5.txt, which are rotated as in LETOR. The files may be tables with named columns, such as train.csv
    and S1.parquet; with --label, --qid, --docid or --features all files are read as tables.

    In each fold, models are trained at each value of their hyper-parameter, and --measure on the validation queries
    picks one. The single feature that is best on validation is a further row. Queries without a relevant document count
    0. The last table shows how the models differ from the baseline, query by query, with intervals and tests.

    Finished folds are saved in the folder of --out: after Ctrl-C, the same command continues, and gets the same tables.
    """
    from structsvm.protocols import find_model
    from structsvm.protocols.letor import (
        BestFeature,
        benchmark,
        count_folds,
        create_model,
        difference_table,
        find_folds,
        fold_table,
        installed_model_names,
        summary_table,
        write_tables,
    )
    from structsvm.protocols.letor.results import WIDER_RANGE
    from structsvm.protocols.letor.tables import prepare_folder

    chosen = [create_model(name) for name in models or installed_model_names()]
    if baseline is not None:
        baseline = find_model(baseline, [*chosen, BestFeature()]).name
    found = find_folds(folds)
    if out is not None:
        prepare_folder(out, replace=force or count_folds(out) > 0)  # whose tables they are, the folds tell
    try:
        with progress_bar("folds", shown=not quiet) as show:
            results = benchmark(
                found,
                chosen,
                measure=measure,
                single_features=single_features,
                jobs=jobs,
                title=folds.resolve().name,
                out=out,
                replace=force,
                normalise=normalise,
                columns=columns.named or None,
                progress=show,
            )
    except KeyboardInterrupt:
        if out is None:
            raise
        raise Failure(
            f"interrupted: {count_folds(out)} of {counted(len(found), 'fold')} are in {out}; the same command goes on "
            "from there"
        ) from None
    written = write_tables(results, out, baseline) if out is not None else ()
    if results.ends:
        note(f"{'; '.join(results.ends)}; {WIDER_RANGE}")
    if results.unconverged:
        note(f"{'; '.join(results.unconverged)}; their figures are of what was reached by then")
    differences = [difference_table(results, baseline)] if len(results.models) > 1 else []
    show_tables(fold_table(results), summary_table(results), *differences)
    if written:
        echo(f"tables   {', '.join(path.name for path in written)} in {out}")
