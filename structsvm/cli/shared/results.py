"""Write results as JSON, CSV and plots."""

import json
import math
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from attrs import frozen

from structsvm.cli.shared.console import note
from structsvm.cli.shared.failures import Failure
from structsvm.cli.shared.files import is_standard_output, write_text
from structsvm.cli.shared.paths import OUTPUT, PathType
from structsvm.exceptions import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

T = TypeVar("T", bound=Callable[..., Any])

STANDARD_OUTPUT = Path("-")
"""Value of --json and --csv that means standard output."""


def _file(path: Path) -> Iterable[Path]:
    return () if path == STANDARD_OUTPUT else (path,)


def _result(_ctx: click.Context, _param: click.Parameter, path: Path | None) -> Path | None:
    return STANDARD_OUTPUT if path is not None and is_standard_output(path) else path


def _option(form: str) -> Callable[[T], T]:
    return click.option(
        f"--{form}",
        f"{form}_path",
        type=PathType(writes=_file, pipes=True),
        metavar="FILE",
        callback=_result,
        help=f'File to write the result to, as {form.upper()}; "-" is standard output, instead of text.',
    )


with_json = _option("json")
"""Option for a result as JSON."""


def shows_text(*paths: Path | None) -> bool:
    """Return whether standard output is free for text, because no result is written to it."""
    if paths.count(STANDARD_OUTPUT) > 1:
        raise click.UsageError("--csv and --json both write to standard output: name a file for one")
    return STANDARD_OUTPUT not in paths


def write_json(content: Any, path: Path | None) -> None:
    """Write a result as JSON if there is a file; NaN and infinity become null."""
    if path is not None:
        write_result(json.dumps(_plain(content), indent=2, allow_nan=False) + "\n", path)


def write_result(text: str, path: Path | None) -> None:
    """Write a result if there is a file, which may be standard output."""
    if path is not None:
        write_text([text], None if path == STANDARD_OUTPUT else path)


def _plain(content: Any) -> Any:
    if isinstance(content, Mapping):
        return {str(key): _plain(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_plain(item) for item in content]
    if isinstance(content, float) and not math.isfinite(content):
        return None
    return str(content) if isinstance(content, Path) else content


def with_plot(help: str) -> Callable[[T], T]:
    """Return the option for the file of a plot; ``help`` describes the plot."""
    return click.option("--plot", "plot_path", metavar="FILE", type=OUTPUT, help=help)


@frozen
class Outputs:
    """Files for the result of a command; ``text`` is true if standard output is free for text."""

    csv: Path | None
    json: Path | None
    plot: Path | None
    text: bool

    def write(self, content: Any, to_csv: Callable[[], str]) -> None:
        """Write the result as CSV and as JSON if there are files for them."""
        if self.csv is not None:
            write_result(to_csv(), self.csv)
        write_json(content, self.json)


def with_outputs(plot: str) -> Callable[[T], T]:
    """Add --csv, --json and --plot to a command, which receives them as ``outputs``; ``plot`` describes the plot."""

    def decorate(command: T) -> T:
        @wraps(command)
        def collected(csv_path: Path | None, json_path: Path | None, plot_path: Path | None, **values: Any) -> Any:
            text = shows_text(csv_path, json_path)
            check_plot(plot_path)
            return command(outputs=Outputs(csv_path, json_path, plot_path, text), **values)

        return _option("csv")(with_json(with_plot(plot)(collected)))  # type: ignore[return-value]

    return decorate


def check_plot(path: Path | None) -> None:
    """Raise InputError for an unknown format of plots, NotInstalledError without Matplotlib; None means no plot."""
    if path is not None:
        from structsvm.plots.files import require_plot_format

        require_plot_format(path)


def write_plot(
    path: Path, width: float, height: float, draw: "Callable[[Axes], object]", *, quiet: bool = False
) -> None:
    """Draw a plot in the library's style, with its size in inches, and print its path unless ``quiet``."""
    from structsvm.plots.files import drawn_to

    with drawn_to(path, width, height) as axes:
        try:
            draw(axes)
        except InputError as error:
            raise Failure(f"{path} was not written: {error}") from None
    if not quiet:
        note(f"wrote the plot to {path}")
