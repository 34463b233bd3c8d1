"""``structsvm predict``."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from structsvm.cli.files import check_writable, replacing
from structsvm.cli.options import FILE, example
from structsvm.cli.reading import read_model_and_data

if TYPE_CHECKING:
    from structsvm.types import Vector

_LINES_AT_ONCE = 10_000


@click.command(
    name="predict",
    short_help="Score the documents of a LETOR file.",
    epilog=example("structsvm predict m.npz test.txt --output scores.txt"),
)
@click.argument("model", type=FILE)
@click.argument("data", type=FILE)
@click.option("-o", "--output", type=FILE, help="File to write the scores to.  [default: standard output]")
def predict_command(model: Path, data: Path, output: Path | None) -> None:
    """Score the documents of a LETOR file: a score a line, in the order of DATA.

    Within a query, documents of higher score are ahead. An output file is written whole or not at all.
    """
    # A pipe or a device is written to as it comes; it cannot be replaced.
    special = output is not None and output.exists() and not output.is_file() and not output.is_dir()
    if output is not None and not special:
        check_writable(output)
    ranker, read = read_model_and_data(model, [data])
    scores = ranker.predict(read.X)
    if output is None:
        for text in _lines(scores):
            click.echo(text, nl=False)
        return
    with output.open("w", encoding="utf-8") if special else replacing(output) as file:
        file.writelines(_lines(scores))


def _lines(scores: "Vector") -> Iterator[str]:
    for start in range(0, len(scores), _LINES_AT_ONCE):
        yield "".join(f"{score!r}\n" for score in scores[start : start + _LINES_AT_ONCE].tolist())
