"""``structsvm compile``."""

import os
import sys
import time
from pathlib import Path

import click

from structsvm.cli.shared.command import command
from structsvm.cli.shared.console import echo, note, progress_line
from structsvm.cli.shared.failures import Failure
from structsvm.cli.shared.options import COUNT
from structsvm.exceptions import InputError, counted


@command(
    "compile",
    "Compile losses ahead of the first fit.",
    examples=[
        "structsvm compile",
        "structsvm compile map ndcg@10 --storage float32 --jobs 4",
        "NUMBA_CACHE_DIR=/opt/structsvm-code structsvm compile map",
    ],
)
@click.argument("names", metavar="[LOSS]...", nargs=-1)
@click.option(
    "--storage",
    "storages",
    type=click.Choice(["float64", "float32", "sparse"]),
    multiple=True,
    default=["float64"],
    help="Storage of the features in later fits; repeat the option for several.",
)
@click.option("--jobs", type=COUNT, default=1, help="Processes.")
def compile_command(names: tuple[str, ...], storages: tuple[str, ...], jobs: int) -> None:
    """Compile the machine code of losses before the first fit, for container images and clusters.

    Without LOSS, the command compiles all ranking losses of the package. It stores the machine code beside the package,
    or in the folder that the environment variable NUMBA_CACHE_DIR names. The code runs only on this type of processor.
    """
    from structsvm.data.letor.reading import compile_reader
    from structsvm.foundation.compute.compilation import folder_of_code
    from structsvm.registry import losses
    from structsvm.solvers.precompile import compile_losses, labels_of_kernels, ranking_losses

    ranking = ranking_losses()
    for name in names:
        try:
            loss = losses.create(name)
        except InputError as error:
            raise click.UsageError(str(error)) from None
        if not labels_of_kernels(loss):
            raise click.UsageError(f"{name} is not a ranking loss with a kernel: choose one of {', '.join(ranking)}")
    folder = folder_of_code()
    if folder is None:
        raise Failure(
            "cannot store machine code: no folder is writable, or NUMBA_DISABLE_JIT is set. Name a folder in the "
            "environment variable NUMBA_CACHE_DIR"
        )
    cache = os.environ.get("NUMBA_CACHE_DIR")
    if cache and not Path(folder).is_relative_to(cache):
        raise Failure(f"cannot store machine code in {cache}, the folder of NUMBA_CACHE_DIR: it is not writable")
    began, queue = time.monotonic(), list(dict.fromkeys(names or ranking))
    if not sys.stderr.isatty():
        note(
            f"compiling {', '.join(queue)}: the first loss takes about half a minute if no compiled code is cached yet"
        )
    with progress_line() as say:
        say(_at_work(queue, 0))
        compile_reader()
        for done, (name, seconds) in enumerate(compile_losses(queue, storages, jobs), start=1):
            echo(f"{name:20s} {seconds:6.1f} s")
            say(_at_work(queue, done))
    echo(f"{counted(len(queue), 'loss', 'losses')} in {time.monotonic() - began:.1f} s, kept in {folder}")


def _at_work(names: list[str], done: int) -> str:
    """Describe the loss being compiled, and the progress."""
    return f"{names[done]}, {done + 1} of {len(names)}" if done < len(names) else ""
