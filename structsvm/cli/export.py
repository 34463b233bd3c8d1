"""``structsvm export``."""

from contextlib import closing
from pathlib import Path

import click

from structsvm.cli.shared.command import command
from structsvm.cli.shared.console import echo, note
from structsvm.cli.shared.options import name_option, needing
from structsvm.cli.shared.paths import INPUT, OUTPUT
from structsvm.exceptions import InputError
from structsvm.registry.built_in import exports


@command(
    "export",
    "Write a model for Solr, Elasticsearch, svm_rank, LightGBM or ONNX.",
    examples=[
        "structsvm export m.npz --format solr --output model.json",
        "structsvm export lightgbm.txt --format onnx --output model.onnx",
        "structsvm export xgboost.json --output m.npz",
    ],
)
@click.argument("model", type=INPUT)
@name_option(
    exports,
    "--format",
    "form",
    help=f"Format of the model: {', '.join(exports.built_in)}, or a format of a plug-in.  [default: npz, which "
    "structsvm reads]",
)
@click.option("-o", "--output", type=OUTPUT, required=True, help="File to write the model to.")
@click.option(
    "--feature-names",
    type=INPUT,
    help="File with the names of the features, which Solr and Elasticsearch need: a name on each line, or a LETOR file "
    "with names at its head.  [default: the names in the training file]",
)
@click.option(
    "--name",
    **needing("--format solr or elasticsearch", lambda values: values["form"] and exports.find(values["form"]).named),
    help="Name of the model in Solr and Elasticsearch.  [default: the name of the output]",
)
def export_command(model: Path, form: str | None, output: Path, feature_names: Path | None, name: str | None) -> None:
    """Write a trained model in the format of another program, which then computes the same scores.

    MODEL is from structsvm, LightGBM (text), XGBoost (JSON, UBJSON) or CatBoost (cbm, JSON). Without --format, OUTPUT
    is a file (npz) for all commands of structsvm.

    "json" and "numpy" are plain formats for your own code. If a model normalizes features within queries, choose onnx,
    json or numpy: Solr, Elasticsearch, svm_rank and LightGBM score one document at a time. For trees, choose lightgbm
    or onnx; trees without weights of features can also be written as solr or elasticsearch.
    """
    from structsvm.loading import load_model
    from structsvm.models.export import export

    ranker = load_model(model)
    names = None if feature_names is None else _names_in(feature_names)
    if form is None:
        if output.suffix != ".npz":
            raise InputError(f"{output} must end in .npz if --format is missing: add --format, such as --format onnx")
        ranker.named(names).save(output)
    else:
        for left_out in export(ranker, output, form, feature_names=names, model_name=name):
            note(left_out)
    echo(f"model    {output}, for {form or 'structsvm'}")


def _names_in(path: Path) -> tuple[str, ...]:
    """Return the names at the head of a LETOR file, or else the lines of the file."""
    from structsvm.data.blocks import read_blocks
    from structsvm.data.letor.side_files import feature_names_of

    at_its_head = feature_names_of(path)
    if at_its_head is not None:
        return at_its_head
    with closing(read_blocks(path)) as blocks:
        lines = [line.strip() for block in blocks for line in block.content.split(b"\n")]
    return tuple(line.decode(errors="surrogateescape") for line in lines if line)
