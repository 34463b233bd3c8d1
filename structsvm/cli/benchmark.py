"""``structsvm benchmark``."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from structsvm.cli.shared.command import command
from structsvm.cli.shared.console import echo, note, progress_bar, show_tables
from structsvm.cli.shared.data import Columns, with_columns
from structsvm.cli.shared.failures import Failure
from structsvm.cli.shared.options import COUNT, list_option, measure_option, needing, several_or_none, with_normalize
from structsvm.cli.shared.paths import BENCHMARK, FOLDS
from structsvm.exceptions import counted
from structsvm.foundation.settings import real_name

if TYPE_CHECKING:
    from structsvm.metrics import Measure


def _baseline(name: str, models: list[str]) -> str:
    """Return the model of the tables with this name; case, hyphens and underscores do not matter."""
    from structsvm.exceptions import InputError, UnknownNameError
    from structsvm.registry import benchmark_models
    from structsvm.registry.spelling import name_key

    keys = {name_key(name)}
    # The registry does not contain "Best feature".
    with suppress(InputError):
        keys.add(name_key(benchmark_models.create(name).name))
    match = next((model for model in models if name_key(model) in keys), None)
    if match is None:
        raise UnknownNameError("model", name, models)
    return match


@command(
    "benchmark",
    "Compare models by LETOR's protocol, fold by fold.",
    examples=["structsvm benchmark MQ2008 --models svm-map,svm-roc --out mq2008-tables"],
)
@click.argument("folds", metavar="DATA_FOLDS", type=FOLDS)
@list_option(
    "--models",
    callback=several_or_none,
    help='Models, such as svm-map,rankboost; "structsvm list models" shows them.  [default: all that are installed]',
)
@measure_option(
    default="map",
    help="Measure that chooses hyper-parameters on the validation queries, and compares models on the test queries.",
)
@click.option("--baseline", metavar="NAME", help="Model to compare the other models with.  [default: the first]")
@click.option(
    "--out",
    type=BENCHMARK,
    help="Folder for the tables as text, Markdown, LaTeX, CSV and JSON, a figure of means, and finished folds.",
)
@click.option(
    "--force",
    is_flag=True,
    **needing("--out"),
    help="Replace the tables and folds of another run in that folder.",
)
@click.option("--jobs", type=COUNT, help="Number of processes.  [default: one per processor, at most one per fold]")
@with_normalize()
@with_columns(letor=False)
@click.option("--single-features", is_flag=True, help="Also measure each single feature as a ranker.")
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
def benchmark_command(
    folds: Path,
    models: tuple[str, ...] | None,
    measure: "Measure",
    baseline: str | None,
    out: Path | None,
    force: bool,
    jobs: int | None,
    normalize: str | None,
    columns: Columns,
    single_features: bool,
    quiet: bool,
) -> None:
    """Train, tune and test models on the folds of a LETOR data set.

    DATA_FOLDS is a folder with subfolders Fold1, Fold2, ..., each with train.txt, vali.txt and test.txt; or a folder
    with S1.txt to S5.txt, which are rotated as in LETOR. The files may be tables with named columns, such as train.csv
    and S1.parquet; with --label, --qid, --docid or --features all files are read as tables.

    In each fold, the command trains each model at each value of its hyper-parameter, and chooses the value with the
    best --measure on the validation queries. A further row of the tables is the single feature that is best on
    validation. Queries without a relevant document count as 0. The last table compares the models with the baseline
    query by query, with intervals and tests.

    The --out folder stores finished folds. After Ctrl-C, the same command resumes and writes the same tables.
    """
    from structsvm.exceptions import NotInstalledError
    from structsvm.protocols.letor import benchmark, fold_table, write_tables
    from structsvm.protocols.letor.folds import find_folds
    from structsvm.protocols.letor.plan import models_of
    from structsvm.protocols.letor.tables import WIDER_RANGE, difference_table, summary_table, write_figure
    from structsvm.protocols.plan import count_trials

    rivals = models_of(models)
    if baseline is not None:
        baseline = _baseline(baseline, [model.name for model in rivals])
    data = find_folds(folds)
    if out is not None:
        # The stored folds show whether the tables in the folder belong to this benchmark.
        _require_free(out, replace=force or count_trials(out) > 0)
    try:
        with progress_bar("folds", shown=not quiet) as show:
            results = benchmark(
                data,
                rivals,
                measure=measure,
                single_features=single_features,
                n_jobs=jobs,
                title=real_name(folds),
                out=out,
                replace=force,
                normalize=normalize,
                columns=columns.named or None,
                progress=show,
            )
    except KeyboardInterrupt:
        if out is None:
            raise
        raise Failure(
            f"interrupted: {count_trials(out)} of {counted(len(data), 'fold')} are in {out}; run the same command to "
            "resume"
        ) from None
    written = write_tables(results, out, baseline) if out is not None else ()
    if results.ends:
        note(f"{'; '.join(results.ends)}; {WIDER_RANGE}")
    if results.unconverged:
        note(f"{'; '.join(results.unconverged)}; their figures are for the last iterate")
    differences = [difference_table(results, baseline)] if len(results.models) > 1 else []
    by_fold = (fold_table(results, name) for name in dict.fromkeys((results.measure, "map", "ndcg@10")))
    show_tables(*by_fold, summary_table(results), *differences)
    if written and out is not None:
        echo(f"tables   {', '.join(path.name for path in written)} in {out}")
        with suppress(NotInstalledError):
            echo(f"figure   {write_figure(results, out, baseline)}")


def _require_free(folder: Path, *, replace: bool) -> None:
    """Raise InputError if the folder has tables of another run."""
    from structsvm.exceptions import InputError
    from structsvm.foundation.tables.formats import FILES

    there = [name for name in FILES if (folder / name).exists()]
    if there and not replace:
        raise InputError(
            f"{folder} has the tables of another run ({', '.join(there)}), which this run would replace: choose "
            "another folder, or replace them with --force"
        )
