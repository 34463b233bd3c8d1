"""``structsvm calibrate``."""

from pathlib import Path

import click

from structsvm.cli.shared.command import command
from structsvm.cli.shared.console import echo
from structsvm.cli.shared.data import Columns, with_columns
from structsvm.cli.shared.files import read_model_and_data
from structsvm.cli.shared.options import AnyNumber
from structsvm.cli.shared.paths import DATA, INPUT, MODEL
from structsvm.models.calibration import METHODS


@command(
    "calibrate",
    "Add probabilities of relevance to a model.",
    examples=["structsvm calibrate m.npz vali.txt --output calibrated.npz"],
)
@click.argument("model", type=INPUT)
@click.argument("data", type=DATA, nargs=-1, required=True)
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default=METHODS[0],
    help="Curve from scores to probabilities: isotonic is any increasing curve, sigmoid suits few queries.",
)
@click.option("--relevant-from", type=AnyNumber(), metavar="GRADE", help="Smallest label of a relevant document.")
@with_columns(weight=True)
@click.option("-o", "--output", type=MODEL, required=True, help="File to write the calibrated model to.")
def calibrate_command(
    model: Path, data: tuple[Path, ...], method: str, relevant_from: float | None, columns: Columns, output: Path
) -> None:
    """Fit a curve from the scores of a model to probabilities of relevance, and write the model with the curve.

    DATA must be judged queries that MODEL was not trained on. Documents with labels above 0 are relevant, unless
    --relevant-from sets another threshold. All queries have equal weight without --weight. Scores and rankings do not
    change.
    "structsvm predict --probabilities" writes the probabilities.
    """
    scorer, read = read_model_and_data(model, data, columns=columns)
    y = read.y if relevant_from is None else read.y >= relevant_from
    calibrated = scorer.calibrated(read.X, y, read.qid, read.sample_weight, method=method)
    calibrated.save(output)
    echo(f"curve    {calibrated.calibration}")
    echo(f"model    {output}")
