"""Results for programs: the one place that turns them into JSON and CSV."""

import json
import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from structsvm.cli.files import check_output, write_text
from structsvm.cli.paths import PathType

T = TypeVar("T", bound=Callable[..., Any])

STANDARD_OUTPUT = Path("-")
"""The FILE of --json and --csv that stands for standard output, in place of text."""


def _file(path: Path) -> Iterable[Path]:
    return () if path == STANDARD_OUTPUT else (path,)


def _checked(_ctx: click.Context, _param: click.Parameter, path: Path | None) -> Path | None:
    """Make sure that the file can be written, before the work begins."""
    check_output(None if path == STANDARD_OUTPUT else path)
    return path


def _option(form: str) -> Callable[[T], T]:
    return click.option(
        f"--{form}",
        f"{form}_path",
        type=PathType(writes=_file),
        metavar="FILE",
        callback=_checked,
        help=f'File to write the result to, as {form.upper()}; "-" is standard output, in place of text.',
    )


with_json = _option("json")
"""The option that a result is written to a file by, as JSON."""

with_csv = _option("csv")
"""The option that a result is written to a file by, as CSV."""


def shows_text(*paths: Path | None) -> bool:
    """Return whether standard output is free for text: no option writes the result there."""
    if paths.count(STANDARD_OUTPUT) > 1:
        raise click.UsageError("--csv and --json both write to standard output: name a file for one")
    return STANDARD_OUTPUT not in paths


def write_json(content: Any, path: Path | None) -> None:
    """Write a result as JSON, if there is a file; a number that is not finite becomes null."""
    write_result(json.dumps(_plain(content), indent=2, allow_nan=False) + "\n", path)


def write_result(text: str, path: Path | None) -> None:
    """Write a result to a file, or standard output, if there is one."""
    if path is not None:
        write_text([text], None if path == STANDARD_OUTPUT else path)


def _plain(content: Any) -> Any:
    """Return a result in the types of JSON."""
    if isinstance(content, Mapping):
        return {str(key): _plain(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_plain(each) for each in content]
    if isinstance(content, float) and not math.isfinite(content):
        return None
    return str(content) if isinstance(content, Path) else content
