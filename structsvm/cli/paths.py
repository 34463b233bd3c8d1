"""Paths on the command line: what commands read and write there, so that no output replaces an input.

A parameter of a command says by its type what it is. `Command`, the class of all commands, looks at all of them before
the command begins.
"""

import os
import stat
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeAlias

import click

from structsvm.exceptions import InputError
from structsvm.storage.files import DATA_SET, STANDARD_INPUT

_STANDARD_INPUT = {"-", str(STANDARD_INPUT), "/dev/fd/0"}

Files: TypeAlias = Callable[[Path], Iterable[Path]]


def nothing(_path: Path) -> Iterable[Path]:
    """Return no files."""
    return ()


def _itself(path: Path) -> Iterable[Path]:
    return (path,)


def _with_sizes(path: Path) -> Iterable[Path]:
    """Return a file of data, and where the sizes of its queries may be beside it."""
    from structsvm.data.group_sizes import places_beside

    return (path, *places_beside(path))


def _its_files(path: Path) -> Iterable[Path]:
    return path.iterdir() if path.is_dir() else (path,)


def _of_collection(path: Path) -> Iterable[Path]:
    from structsvm.data.collections.reading import files_of

    return files_of(path)


def _of_index(folder: Path) -> Iterable[Path]:
    from structsvm.text.index_files import DESCRIPTION

    return dict.fromkeys([folder / DESCRIPTION, *(folder.iterdir() if folder.is_dir() else ())])


def _of_folds(folder: Path) -> Iterable[Path]:
    from structsvm.protocols.letor import find_folds

    data = [path for fold in find_folds(folder) for path in (*fold.train, *fold.validation, *fold.test)]
    return [path for each in data for path in _with_sizes(each)]


def _of_benchmark(folder: Path) -> Iterable[Path]:
    from structsvm.protocols.letor.records import NAME
    from structsvm.tables.writing import FILES

    return [folder / name for name in (NAME, *FILES)]


def _of_experiment(folder: Path) -> Iterable[Path]:
    from structsvm.protocols.experiment.protocol import RESULTS
    from structsvm.protocols.experiment.records import NAME

    return [folder / NAME, folder / RESULTS, *_of_report(folder)]


def _results(folder: Path) -> Iterable[Path]:
    from structsvm.protocols.experiment.protocol import RESULTS

    return (folder / RESULTS,)


def _of_report(folder: Path) -> Iterable[Path]:
    from structsvm.protocols.experiment.report import FILES

    return [folder / name for name in FILES]


class PathType(click.Path):
    """The path of a file or folder, and which files a command reads and writes there.

    Parameters
    ----------
    reads : returns the files that a command reads there, those that it finds by itself beside a name among them; such
        a file need not exist.
    writes : returns those that it writes.
    reads_all : whether the path is an input as a whole if that is a folder: nothing is written to it.
    reads_below : whether the folders in it are a part of it, too.
    settings : those of `click.Path`.
    """

    def __init__(
        self,
        reads: Files = nothing,
        writes: Files = nothing,
        *,
        reads_all: bool = False,
        reads_below: bool = False,
        **settings: Any,
    ) -> None:
        super().__init__(path_type=Path, **settings)
        self.reads = reads
        self.writes = writes
        self.reads_all = reads_all
        self.reads_below = reads_below


class _File(PathType):
    """The path of a file; "-" is none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "-":
            self.fail("'-' is not supported here: give the name of a file (./- for one of that name)", param, ctx)
        return super().convert(value, param, ctx)


class _Data(PathType):
    """The path of data, which are read once: a pipe too, and "-" is standard input."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return STANDARD_INPUT if str(value) in _STANDARD_INPUT else super().convert(value, param, ctx)


class _Named(_Data):
    """The path of data, or the name of a data set as in ``ir_datasets:NAME``, which is kept as text."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str) and value.startswith(DATA_SET):
            return value
        return super().convert(value, param, ctx)


class _StopWords(_File):
    """The path of a file of stop words, or the name of a list, which is kept as text."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from structsvm.text.stop_words import STOP_LISTS

        if value in (known := ("none", *STOP_LISTS)):
            return value
        if not Path(value).exists():
            self.fail(f"{value!r} is neither a file nor the name of a list; known: {', '.join(known)}", param, ctx)
        return super().convert(value, param, ctx)


INPUT = _File(reads=_itself)
DATA = _Data(reads=_with_sizes)
STOP_WORDS = _StopWords(reads=_itself)
COLLECTION = _Named(reads=_of_collection, reads_all=True, reads_below=True)
TOPICS = _Named(reads=_itself)
QRELS = _Named(reads=_itself)
OUTPUT = _File(writes=_itself)
RUNS = _Data(reads=_its_files, reads_all=True)
INDEX = PathType(reads=_its_files, reads_all=True, reads_below=True)
NEW_INDEX = PathType(writes=_of_index, file_okay=False)
NEW_RUNS = PathType(file_okay=False)
RUN_FOLDER = PathType(reads=_its_files, reads_all=True, file_okay=False)
FOLDS = PathType(reads=_of_folds, reads_all=True, file_okay=False)
BENCHMARK = PathType(writes=_of_benchmark, file_okay=False)
EXPERIMENT = PathType(writes=_of_experiment, file_okay=False)
FINISHED_EXPERIMENT = PathType(reads=_results, writes=_of_report, exists=True, file_okay=False)

_Identity: TypeAlias = tuple[int, int]
"""What two names of one file have in common."""


class _Given(NamedTuple):
    """A path on a command line."""

    name: str
    type: PathType
    path: Path


class _Output(NamedTuple):
    """A file that a command will write."""

    name: str
    path: Path


class Command(click.Command):
    """A command whose outputs spare its inputs.

    Parameters
    ----------
    also_writes : is given the values of all parameters, and returns the files that are written beside those that they
        name, each with the option that asks for it.
    arguments, settings : those of `click.Command`.
    """

    def __init__(
        self,
        *arguments: Any,
        also_writes: Callable[[dict[str, Any]], Iterable[tuple[str, Path]]] = lambda values: (),
        **settings: Any,
    ) -> None:
        super().__init__(*arguments, **settings)
        self._also_writes = also_writes

    def invoke(self, ctx: click.Context) -> Any:
        given = list(_paths(self.params, ctx.params))
        if sum(each.path == STANDARD_INPUT for each in given) > 1:
            raise click.UsageError(
                "standard input is read once, and two inputs are to come from it: name a file for one"
            )
        outputs = [_Output(each.name, path) for each in given for path in each.type.writes(each.path)]
        outputs += [_Output(name, path) for name, path in self._also_writes(ctx.params)]
        _keep_outputs_apart(outputs)
        _spare_inputs(outputs, given)
        _spare_folders(outputs, [each for each in given if each.type.reads_all and each.path.is_dir()])
        return super().invoke(ctx)


def _paths(params: Iterable[click.Parameter], values: dict[str, Any]) -> Iterator[_Given]:
    for param in params:
        given = values.get(param.name or "")
        if isinstance(param.type, PathType) and given is not None:
            name = max(param.opts, key=len) if isinstance(param, click.Option) else param.human_readable_name
            for path in given if isinstance(given, tuple) else (given,):
                if isinstance(path, Path):  # and not the name of a data set
                    yield _Given(name, param.type, path)


def _keep_outputs_apart(outputs: list[_Output]) -> None:
    for one, other in combinations(outputs, 2):
        if _one_file(one.path, other.path):
            raise InputError(
                f"{one.name} {one.path} and {other.name} {other.path} are the same file: each output needs its own"
            )


def _spare_inputs(outputs: list[_Output], given: list[_Given]) -> None:
    inputs: dict[_Identity, Path] = {}
    absent: dict[Path, Path] = {}
    for each in given:
        with suppress(InputError, OSError):  # the command itself says what is wrong with it
            for path in each.type.reads(each.path):
                identity = _of_path(path)
                if identity is not None:
                    inputs[identity] = path
                elif path != each.path:
                    absent[path] = each.path
    for output in outputs:
        identity = _of_path(output.path)
        spared = None if identity is None else inputs.get(identity)
        if spared is not None:
            known_as = "" if spared == output.path else ", which is the same file"
            raise InputError(
                f"{output.name} {output.path} would replace the input {spared}{known_as}: choose another file"
            )
        read = next((path for path in absent if _one_file(output.path, path)), None)
        if read is not None:
            raise InputError(
                f"{output.name} {output.path} would be read together with {absent[read]} the next time: choose another "
                "file"
            )
    identity = _of_standard_output()
    if identity in inputs:
        raise InputError(f"standard output goes to the input {inputs[identity]}: send it elsewhere")


def _spare_folders(outputs: list[_Output], folders: list[_Given]) -> None:
    """Refuse to write into a folder that is an input as a whole, or into one in it that holds inputs."""
    holding = [(folder.type.reads_below, path) for folder in folders for path in _holding(folder)]
    for output in outputs:
        place = Path(os.path.realpath(output.path)).parent
        for below, folder in holding:
            places = (place, *place.parents) if below else (place,)
            if any(each.is_dir() and each.samefile(folder) for each in places):
                raise InputError(
                    f"{output.name} {output.path} is in the folder {folder}, an input, of which it would be "
                    "a part the next time: choose another folder"
                )


def _holding(folder: _Given) -> dict[Path, None]:
    """Return a folder that is an input, and those in it that the files read are in."""
    holding = {folder.path: None}
    with suppress(InputError, OSError):  # the command itself says what is wrong with it
        holding |= dict.fromkeys(path.parent for path in folder.type.reads(folder.path))
    return holding


def _of_path(path: Path) -> _Identity | None:
    """Return what identifies a file; None where there is none, or a pipe or device, which is not replaced."""
    with suppress(OSError, ValueError):
        return _of(path.stat())
    return None


def _of_standard_output() -> _Identity | None:
    with suppress(AttributeError, OSError, ValueError):  # there may be none, or it may be closed
        return _of(os.fstat(sys.stdout.fileno()))
    return None


def _of(status: os.stat_result) -> _Identity | None:
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def _one_file(one: Path, other: Path) -> bool:
    """Say whether two names are of one file, which need not be there yet."""
    if _of_path(one) or _of_path(other):
        return _of_path(one) == _of_path(other)
    first, second = (Path(os.path.realpath(path)) for path in (one, other))
    if first == second:
        return not first.exists()  # a pipe or device takes several outputs
    alike = {unicodedata.normalize("NFC", path.name).casefold() for path in (first, second)}
    return len(alike) == 1 and _one_name(first, second)


def _one_name(one: Path, other: Path) -> bool:
    """Say whether a file system takes two names for one, as where upper and lower case are the same."""
    with (
        suppress(OSError),  # in a folder that takes no files, which is told later
        TemporaryDirectory(prefix=".structsvm-", dir=one.parent) as folder,  # so that long names stay as long
    ):
        probe = Path(folder, one.name)
        probe.touch()
        return probe.samefile(probe.with_name(other.name))
    return False
