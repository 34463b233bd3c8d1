"""Types of paths on the command line, with the files that a command reads and writes there, and their kinds."""

import stat
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import click

from structsvm.exceptions import InputError
from structsvm.foundation.storage import artefacts
from structsvm.foundation.storage.artefacts import ANY, artefact_kind, is_stream
from structsvm.foundation.storage.files import DATA_SET, STANDARD_INPUT, check_writable, require_empty

_STANDARD_INPUT = {"-", str(STANDARD_INPUT), "/dev/fd/0"}

Files: TypeAlias = Callable[[Path], Iterable[Path]]


def is_special(path: Path) -> bool:
    """Return whether a path is an open stream, a pipe or a device, which cannot be replaced."""
    with suppress(OSError, ValueError):
        mode = path.stat().st_mode
        return is_stream(path) or not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
    return False


def nothing(_path: Path) -> Iterable[Path]:
    """Return no files."""
    return ()


def _itself(path: Path) -> Iterable[Path]:
    return (path,)


def _with_sizes(path: Path) -> Iterable[Path]:
    """Return a data file, and the possible files of query sizes beside it."""
    from structsvm.data.letor.side_files import WEIGHTS, places_beside

    return (path, *places_beside(path), *places_beside(path, WEIGHTS))


def _its_files(path: Path) -> Iterable[Path]:
    return path.iterdir() if path.is_dir() else (path,)


def _of_collection(path: Path) -> Iterable[Path]:
    from structsvm.data.collections.reading import files_of

    return files_of(path)


def _of_folds(folder: Path) -> Iterable[Path]:
    from structsvm.protocols.letor.folds import find_folds

    data = [path for fold in find_folds(folder) for path in (*fold.train, *fold.validation, *fold.test)]
    return [path for file in data for path in _with_sizes(file)]


def _of_benchmark(folder: Path) -> Iterable[Path]:
    from structsvm.foundation.tables.formats import FILES
    from structsvm.protocols.letor.tables import FIGURE
    from structsvm.protocols.plan import FOLDS

    return [folder / name for name in (FOLDS, *FILES, FIGURE)]


def _of_experiment(folder: Path) -> Iterable[Path]:
    from structsvm.protocols.experiment.plan import RESULTS
    from structsvm.protocols.plan import TRIALS

    return [folder / TRIALS, folder / RESULTS, *_of_report(folder)]


def _of_demo(folder: Path) -> Iterable[Path]:
    from structsvm.cli.demo.page import FILES

    return [folder / name for name in FILES]


def _results(folder: Path) -> Iterable[Path]:
    from structsvm.protocols.experiment.plan import RESULTS

    return (folder / RESULTS,)


def _of_report(folder: Path) -> Iterable[Path]:
    from structsvm.protocols.experiment.report.page import FILES

    return [folder / name for name in FILES]


class PathType(click.Path):
    """A path; ``reads`` and ``writes`` return the files that a command reads and writes there, existing or not.

    If the path is a folder, ``reads_all`` makes the folder an input as a whole, and ``reads_below`` its subfolders.
    Outputs replace files of their ``kind`` only, see `structsvm.foundation.storage.artefacts`. ``pipes`` allows pipes
    and devices, and ``makes_folders`` makes missing folders.
    """

    def __init__(
        self,
        reads: Files = nothing,
        writes: Files = nothing,
        *,
        reads_all: bool = False,
        reads_below: bool = False,
        kind: str | None = None,
        pipes: bool = False,
        makes_folders: bool = False,
        **settings: Any,
    ) -> None:
        super().__init__(path_type=Path, **settings)
        self.reads = reads
        self.writes = writes
        self.reads_all = reads_all
        self.reads_below = reads_below
        self.kind = kind
        self.pipes = pipes
        self.makes_folders = makes_folders

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if self.writes is not nothing and self.file_okay and not Path(value).name:
            raise InputError(f"{value} cannot be written: it is a folder")
        return super().convert(value, param, ctx)

    def check_output(self, path: Path) -> None:
        """Raise InputError unless a command can write a file here without loss of a file of another kind."""
        # A cache is an input, too, so it may be read-only.
        is_read = self.kind == artefacts.CACHE and path.is_file() and artefact_kind(path) == artefacts.CACHE
        if not is_read and not (self.pipes and is_special(path)):
            # Records of unfinished work belong to one experiment or benchmark, which their reader checks.
            kind = ANY if path.suffix == ".jsonl" and not self.file_okay else self.kind
            check_writable(path, kind, makes_folders=self.makes_folders)


class _File(PathType):
    """The path of a file; "-" is not a file."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "-":
            self.fail("'-' is not supported here: give the name of a file (./- for one of that name)", param, ctx)
        return super().convert(value, param, ctx)


class _NewFolder(PathType):
    """The path of a folder that is new or empty."""

    def check_output(self, path: Path) -> None:
        require_empty(path.parent)
        super().check_output(path)


class _Data(PathType):
    """The path of data that are read once, so it may be a pipe; "-" is standard input."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return STANDARD_INPUT if str(value) in _STANDARD_INPUT else super().convert(value, param, ctx)


class _Named(_Data):
    """The path of data, or the name of a data set such as ``ir_datasets:NAME``, which stays text."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str) and value.startswith(DATA_SET):
            return value
        return super().convert(value, param, ctx)


class _StopWords(_File):
    """The path of a file of stop words, or the name of a list, which stays text."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from structsvm.text.analyzer import STOP_LISTS

        if value in (names := ("none", *STOP_LISTS)):
            return value
        if not Path(value).exists():
            self.fail(f"{value!r} is neither a file nor the name of a list; known: {', '.join(names)}", param, ctx)
        return super().convert(value, param, ctx)


INPUT = _File(reads=_itself)
DATA = _Data(reads=_with_sizes)
STOP_WORDS = _StopWords(reads=_itself)
COLLECTION = _Named(reads=_of_collection, reads_all=True, reads_below=True)
TOPICS = _Named(reads=_itself)
QRELS = _Named(reads=_itself)
OUTPUT = _File(writes=_itself)
STREAMED = _File(writes=_itself, pipes=True)
MODEL = _File(writes=_itself, kind=artefacts.MODEL)
CHECKPOINT = _File(writes=_itself, kind=artefacts.CHECKPOINT)
CACHE = _File(writes=_itself, kind=artefacts.CACHE)
INDEX = _File(writes=_itself, kind=artefacts.INDEX, makes_folders=True)
PARTS = _File(writes=_itself, kind=artefacts.PARTS)
RUNS = _Data(reads=_its_files, reads_all=True)
NEW_FILES = PathType(file_okay=False, makes_folders=True)
NEW_FOLDER = _NewFolder(writes=lambda folder: (folder / "0000",), file_okay=False, makes_folders=True)
RUN_FOLDER = PathType(reads=_its_files, reads_all=True, file_okay=False)
FOLDS = PathType(reads=_of_folds, reads_all=True, file_okay=False)
BENCHMARK = PathType(writes=_of_benchmark, file_okay=False, makes_folders=True)
EXPERIMENT = PathType(writes=_of_experiment, file_okay=False, makes_folders=True)
DEMO = PathType(writes=_of_demo, file_okay=False, makes_folders=True)
FINISHED_EXPERIMENT = PathType(reads=_results, writes=_of_report, exists=True, file_okay=False, makes_folders=True)
