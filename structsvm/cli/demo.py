"""``structsvm demo``."""

from pathlib import Path
from tempfile import TemporaryDirectory

import click

from structsvm.cli.experiment import report_results
from structsvm.cli.shared.command import command
from structsvm.cli.shared.console import echo_wrapped, progress_bar
from structsvm.cli.shared.paths import EXPERIMENT
from structsvm.exceptions import InputError

_TRIALS = 5
_CANDIDATES = 400

_INTRODUCTION = (
    "Query by example on scikit-learn's handwritten digits. A query is an image, its documents are {documents} other "
    "images, and images of the same digit are relevant. {functions} functions compare two images; each retrieves its "
    "best quarter. In each of {trials} trials, models learn from {train} queries how to combine the functions, "
    "{validation} other queries choose C, and {test} queries test the models."
)

_TITLE = "Handwritten digits"


@command(
    "demo",
    "Run a small experiment on digits, and write a report.",
    examples=["structsvm demo --out demo"],
)
@click.option("--out", type=EXPERIMENT, default=Path("demo"), help="Folder for the report.")
def demo_command(out: Path) -> None:
    """Run a small experiment on images of digits, and write a report.

    SVM-map and other SVMs learn to combine several image similarities. The demo is "structsvm experiment" with fewer
    trials, on data that come with scikit-learn. It takes a minute or two.
    """
    from structsvm.data import load_digits_runs, pool_runs
    from structsvm.protocols.experiment import Settings, run
    from structsvm.protocols.experiment.plan import RESULTS
    from structsvm.protocols.plan import TRIALS

    if (out / TRIALS).exists():
        raise InputError(f"{out} has trials of an experiment, which the demo would replace: choose another folder")
    settings = Settings(trials=_TRIALS)
    pool = pool_runs(*load_digits_runs(n_candidates=_CANDIDATES, depth=_CANDIDATES // 4))
    queries = len(pool.relevant)
    echo_wrapped(
        _INTRODUCTION.format(
            documents=_CANDIDATES,
            functions=len(pool.run_names),
            train=settings.train,
            validation=settings.validation,
            test=queries - settings.train - settings.validation,
            trials=settings.trials,
        ),
        "",
    )
    with TemporaryDirectory() as trials, progress_bar("trials") as show:
        results = run(pool, settings, trials, progress=show)
    results.save(out / RESULTS)
    report_results(results, out, title=_TITLE)
