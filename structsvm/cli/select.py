"""``structsvm select``."""

from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np

from structsvm.cli.shared.command import command
from structsvm.cli.shared.console import note, progress_line, show_tables
from structsvm.cli.shared.data import Columns, read_data, with_columns
from structsvm.cli.shared.options import (
    COUNT,
    SEED,
    Whole,
    measure_option,
    missing_option,
    name_option,
    number_option,
    require_ranking_loss,
    with_normalize,
)
from structsvm.cli.shared.paths import DATA, MODEL
from structsvm.cli.shared.results import Outputs, with_outputs, write_plot
from structsvm.exceptions import counted
from structsvm.registry import losses

if TYPE_CHECKING:
    from structsvm.metrics import Measure


@command(
    "select",
    "Choose features and their number.",
    examples=[
        "structsvm select train.txt --measure ndcg@10 --model m.npz",
        "structsvm select train.txt -C 10 --step 0.2 --plot features.svg",
    ],
)
@click.argument("data", type=DATA, nargs=-1, required=True)
@name_option(losses, "--loss", default="map", help="Loss to optimize.")
@number_option("-C", "C", default=1.0, help='Weight of the mean hinge; "structsvm train --C-grid" finds a good one.')
@with_normalize("The model stores the setting.")
@missing_option
@number_option(
    "--step",
    default=1.0,
    help="Number of features to remove at a time; below 1, a share of the remaining features, rounded up.",
)
@click.option("--min-features", type=COUNT, default=1, help="Smallest number of features.")
@click.option(
    "--folds", type=Whole(min=2), default=5, help="Number of folds of the queries; each fold is held out once."
)
@measure_option(
    default="map",
    help="Measure for held-out queries.",
)
@click.option("--seed", type=SEED, default=0, help="Seed of the random split into folds.")
@click.option("-m", "--model", type=MODEL, help="File to write the model with the chosen features to.")
@with_outputs("Plot the measure against the number of features to this file, such as features.svg, .pdf or .png.")
@with_columns(cache=True, weight=True)
def select_command(
    data: tuple[Path, ...],
    loss: str,
    C: float,
    normalize: str | None,
    missing: str | float | None,
    step: float,
    min_features: int,
    folds: int,
    measure: "Measure",
    seed: int,
    model: Path | None,
    outputs: Outputs,
    columns: Columns,
) -> None:
    """Remove features step by step, and show a measure of held-out queries for each number of features.

    Each step removes the features with the smallest effect on scores: absolute weight times standard deviation within
    queries. The command repeats the elimination without each fold, so that held-out queries do not influence the
    features that they measure. Means count all held-out queries alike. The model uses the features chosen on all
    queries. It reads the same files, and its other weights are 0.
    """
    from structsvm.estimators import FeatureEliminationCV, Ranker

    require_ranking_loss(loss)
    if step >= 1.0 and step != int(step):
        raise click.BadParameter(f"it must be a whole number, or a share below 1, got {step:g}", param_hint="--step")
    with progress_line(shown=outputs.text) as say:
        say(f"reading {counted(len(data), 'file')}")
        train = read_data(data, columns)
        search = FeatureEliminationCV(
            Ranker(loss, C, normalize=normalize, missing=missing, measure=measure),
            step=int(step) if step >= 1.0 else step,
            min_features=min_features,
            cv=folds,
            random_state=seed,
        )

        def report(size: int, fold: int | None) -> None:
            where = "all queries" if fold is None else f"fold {fold + 1} of {folds}"
            say(f"{where}: {counted(size, 'feature')}")

        search.fit(train.X, train.y, train.qid, train.sample_weight, report)
    names = train.feature_names
    if names is not None:
        search.estimator_.name_features(names, train.categories)
    table = search.table()
    features = (np.flatnonzero(search.support_) + 1).tolist()
    content = {
        "data": data,
        "queries": len(search.query_ids_),
        "measure": search.measure_name_,
        "n_features": search.n_features_,
        "features": features,
        "names": None if names is None else [names[k - 1] for k in features],
        "model": model,
        "rows": table.records,
        "notes": table.notes,
    }
    outputs.write(content, table.to_csv)
    if outputs.text:
        show_tables(table)
    if model is not None:
        search.save(model)
        note(f"wrote the model with {counted(search.n_features_, 'feature')} to {model}")
    if outputs.plot is not None:
        from structsvm.plots import FeatureEliminationDisplay

        write_plot(outputs.plot, 6.0, 3.6, FeatureEliminationDisplay(search).plot, quiet=not outputs.text)
