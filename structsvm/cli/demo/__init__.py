"""``structsvm demo``."""

from pathlib import Path

import click

from structsvm.cli.shared.command import command
from structsvm.cli.shared.console import echo, echo_wrapped, note, progress_bar, progress_line, show_tables
from structsvm.cli.shared.paths import DEMO
from structsvm.exceptions import InputError


@command(
    "demo",
    "Rank images, solve a problem in many ways, read numbers, and write a report.",
    examples=["structsvm demo --out demo"],
)
@click.option("--out", type=DEMO, default=Path("demo"), help="Folder for the report.")
def demo_command(out: Path) -> None:
    """Run three experiments on handwritten digits, which come with scikit-learn, and write a report.

    First, SVM-map and simpler rankers learn to find images of the same digit, as "structsvm experiment" does. Then two
    solvers with every installed QP backend solve one problem. Last, a chain and simpler models read numbers of eight
    noisy digits. The demo takes a minute or two.
    """
    from structsvm.cli.demo.page import write_page
    from structsvm.cli.demo.parts import PARTS
    from structsvm.protocols.plan import TRIALS

    if (out / TRIALS).exists():
        raise InputError(f"{out} has trials of an experiment, which the demo would replace: choose another folder")
    parts = []
    for part in PARTS:
        echo_wrapped(part.question, "")
        with progress_bar(part.steps) as show:
            parts.append(part.run(out, show))
        echo_wrapped(parts[-1].finding, "")
        show_tables(*parts[-1].tables)
    with progress_line() as say:
        say("writing the report")
        page, missing = write_page(parts, out)
    if missing:
        note(f"the report has no pictures: {missing}")
    echo(f"report   {page}")
