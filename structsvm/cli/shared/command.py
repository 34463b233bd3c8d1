"""Commands that check, before they begin, that no output replaces an input."""

import os
import stat
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import click

from structsvm.cli.shared.console import warnings_as_notes
from structsvm.cli.shared.options import Dependent
from structsvm.cli.shared.paths import PathType
from structsvm.exceptions import InputError
from structsvm.foundation.storage.files import STANDARD_INPUT

_Identity: TypeAlias = tuple[Any, Any]
"""Device and inode of a file; folder and name of a file that does not exist yet."""


class Output(NamedTuple):
    """A path that a command writes or reads: the name of its option, the path and the type that checks it."""

    name: str
    path: Path
    type: PathType


def epilog(examples: Iterable[str]) -> str:
    """Return example command lines as the end of a help message."""
    return "\n".join(["\b", "Example:", *(f"  {line}" for line in examples)])


class Command(click.Command):
    """A command that refuses outputs that would replace its inputs, and shows ``examples`` in its help.

    ``also_writes`` returns the files that the command writes in addition to its path parameters. Files in the folder
    that a path parameter names replace that path.
    """

    def __init__(
        self,
        name: str | None,
        examples: Iterable[str] = (),
        also_writes: Callable[[dict[str, Any]], Iterable[Output]] = lambda values: (),
        **settings: Any,
    ) -> None:
        super().__init__(name, epilog=epilog(examples) if examples else None, **settings)
        self._also_writes = also_writes

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            other = error.option_name.swapcase()
            if error.possibilities or all(other not in param.opts for param in self.params):
                raise
            raise click.UsageError(f"{error.format_message()} Did you mean {other!r}?", ctx) from None

    def invoke(self, ctx: click.Context) -> Any:
        for param in self.params:
            if isinstance(param, Dependent):
                param.require_effect(ctx)
        paths = list(_paths(self.params, ctx.params))
        if sum(value.path == STANDARD_INPUT for value in paths) > 1:
            raise click.UsageError("two inputs cannot both be standard input: name a file for one")
        outputs = [value._replace(path=path) for value in paths for path in value.type.writes(value.path)]
        others = list(self._also_writes(ctx.params))
        folders = {(other.name, other.path.parent) for other in others}
        outputs = [value for value in outputs if (value.name, value.path) not in folders] + others
        _keep_outputs_apart(outputs)
        _spare_inputs(outputs, paths)
        _spare_folders(outputs, [value for value in paths if value.type.reads_all and value.path.is_dir()])
        for output in outputs:
            output.type.check_output(output.path)
        with warnings_as_notes():
            return super().invoke(ctx)


def command(name: str, short_help: str, **settings: Any) -> Callable[[Callable[..., Any]], click.Command]:
    """Turn a function into a `Command`."""
    return click.command(name, Command, short_help=short_help, **settings)


def _paths(params: Iterable[click.Parameter], values: dict[str, Any]) -> Iterator[Output]:
    for param in params:
        value = values.get(param.name or "")
        if isinstance(param.type, PathType) and value is not None:
            name = max(param.opts, key=len) if isinstance(param, click.Option) else param.human_readable_name
            for path in value if isinstance(value, tuple) else (value,):
                # Names of data sets are text.
                if isinstance(path, Path):
                    yield Output(name, path, param.type)


def _keep_outputs_apart(outputs: list[Output]) -> None:
    files: dict[_Identity, Output] = {}
    for output in outputs:
        identity = _identity(output.path)
        other = output if identity is None else files.setdefault(identity, output)
        if other is not output:
            raise InputError(
                f"{other.name} {other.path} and {output.name} {output.path} are the same file: each output needs its "
                "own"
            )


def _spare_inputs(outputs: list[Output], paths: list[Output]) -> None:
    inputs: dict[_Identity | None, tuple[Path, Path]] = {}
    for value in paths:
        with suppress(InputError, OSError):
            inputs |= {_identity(path): (path, value.path) for path in value.type.reads(value.path)}
    inputs.pop(None, None)
    for output in outputs:
        path, named = inputs.get(_identity(output.path), (None, None))
        if path is None:
            continue
        if path.exists():
            known_as = "" if path == output.path else ", which is the same file"
            raise InputError(
                f"{output.name} {output.path} would replace the input {path}{known_as}: choose another file"
            )
        if path != named:
            raise InputError(
                f"the next run would read {output.name} {output.path} together with {named}: choose another file"
            )
    try:
        status = os.fstat(sys.stdout.fileno())
    # A standard stream may be missing or closed.
    except (AttributeError, OSError, ValueError):
        return
    path, _ = inputs.get((status.st_dev, status.st_ino), (None, None))
    if path is not None:
        raise InputError(f"standard output goes to the input {path}: send it elsewhere")


def _spare_folders(outputs: list[Output], folders: list[Output]) -> None:
    """Refuse to write into an input folder, or into one of its folders with inputs."""
    holding = [(folder.type.reads_below, path) for folder in folders for path in _holding(folder)]
    for output in outputs:
        place = Path(os.path.realpath(output.path)).parent
        for below, folder in holding:
            places = (place, *place.parents) if below else (place,)
            if any(value.is_dir() and value.samefile(folder) for value in places):
                raise InputError(
                    f"{output.name} {output.path} is in the input folder {folder}, so the next run would read it: "
                    "choose another folder"
                )


def _holding(folder: Output) -> dict[Path, None]:
    """Return an input folder and its subfolders that contain inputs."""
    holding = {folder.path: None}
    with suppress(InputError, OSError):
        holding |= dict.fromkeys(path.parent for path in folder.type.reads(folder.path))
    return holding


def _identity(path: Path) -> _Identity | None:
    """Return the identity of a file, which may not exist yet; None for pipes and devices: they accept several outputs.

    Some file systems ignore case, so names that differ only in case count as equal.
    """
    try:
        status = path.stat()
    except (OSError, ValueError):
        place = Path(os.path.realpath(path))
        return place.parent, unicodedata.normalize("NFC", place.name).casefold()
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None
