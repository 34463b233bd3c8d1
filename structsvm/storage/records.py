"""Long work that goes on where it ended: a file of its finished parts, each on disk before the next one counts.

It is JSON, a line a part, after a line that tells this work from any other.
"""

import os
import platform
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from importlib.metadata import version
from io import BufferedRandom
from pathlib import Path
from typing import Any, Generic, TypeVar

from attrs import evolve, frozen
from cattrs import BaseValidationError, transform_error
from cattrs.preconf.json import make_converter
from cattrs.v import format_exception

from structsvm.exceptions import DataFormatError, InputError
from structsvm.storage.archives import parse_json
from structsvm.storage.files import errors_naming
from structsvm.storage.locks import lock

T = TypeVar("T")

FORMAT = 2
"""Of these files, and of the results that come of them: 2 has precision and weights in experiments, which 1 lacks."""

_BEGINNING = b'{"settings":'
_COMPUTING = ("structural-svm", "numpy", "scipy", "numba", "scikit-learn")


def versions() -> dict[str, str]:
    """Return the versions of Python, this package and those that compute."""
    return {"python": platform.python_version()} | {name: version(name) for name in _COMPUTING}


@frozen
class Header:
    """What identifies long work that can be continued: its settings, its data, and the versions of packages.

    Parameters
    ----------
    settings : all settings, as JSON has them.
    data : fingerprint of the data.
    versions : versions of Python, of this package, and of the packages that compute.
    format : version of the format of the files.

    Examples
    --------
    >>> from structsvm.protocols.experiment import Header
    >>> first = Header({"trials": 50, "seed": 0}, data="21f19f291becbf16", versions={"numpy": "2.4.6"})
    >>> second = Header({"trials": 50, "seed": 1}, data="21f19f291becbf16", versions={"numpy": "2.4.6"})
    >>> first.data == second.data, first.settings == second.settings  # other splits of the same collection
    (True, False)
    """

    settings: dict[str, Any]
    data: str
    versions: dict[str, str]
    format: int = FORMAT

    def of_this_format(self) -> "Header":
        """Return the header of what this version writes of such work: a record may have been begun by an older one."""
        return evolve(self, format=FORMAT)


@frozen
class Kind(Generic[T]):
    """A kind of long work, and what messages call it.

    Parameters
    ----------
    part : the type of what is finished at a time.
    key : returns what tells the parts of one work apart, and puts them in order.
    work, name, names : what the work, a part and several of them are called.
    data : what its data are called.
    whole_folder : whether the folder of the file is that of one work only, or else the file alone.
    removal : how the user makes room for other work.
    """

    part: type[T]
    key: Callable[[T], Any]
    work: str
    name: str
    names: str
    data: str
    whole_folder: bool = True
    removal: str = "remove that one"

    @property
    def elsewhere(self) -> str:
        """The way out where a place is taken."""
        return f"choose another output {'folder' if self.whole_folder else 'file'}"

    def place(self, path: Path) -> Path:
        """Return what a file takes for its work: the folder, or itself."""
        return path.parent if self.whole_folder else path


@frozen(eq=False)
class Records(Generic[T]):
    """An open file of finished parts, locked against other processes. Made by `open_records`.

    Parameters
    ----------
    path : of the file.
    header : what it begins with: of the versions that began the work.
    parts : those that it held when it was opened, in the order of their keys.
    kind : what they are.
    file : the file, at its end.
    """

    path: Path
    header: Header
    parts: tuple[T, ...]
    kind: Kind[T]
    file: BufferedRandom

    def append(self, part: T) -> None:
        """Write a finished part, and wait until it is on disk."""
        _write(self.file, as_json(part, allow_nan=True), self.kind)

    def require_versions(self, now: dict[str, str]) -> None:
        """Refuse to go on with other versions: the parts of one work would not be of one kind.

        Raises
        ------
        InputError : when a version is another one than that which began the work.
        """
        begun = self.header.versions
        changed = [
            f"{name} was {begun.get(name)}, and is {here}" for name, here in now.items() if begun.get(name) != here
        ]
        if changed:
            raise InputError(
                f"the {self.kind.work} in {self.kind.place(self.path)} was begun with other versions "
                f"({'; '.join(changed)}): go on with those, or {self.kind.elsewhere}"
            )


def count_records(path: Path) -> int:
    """Return the number of parts that are finished in a file."""
    return max(path.read_bytes().count(b"\n") - 1, 0) if path.exists() else 0


@contextmanager
def open_records(path: Path, header: Header, kind: Kind[T], *, replace: bool = False) -> Iterator[Records[T]]:
    """Open a file of finished parts, which is made with its folder if it does not exist.

    A last line without an end is what a process was writing when it was killed: it is dropped. Without
    any part, the file is free for other work.

    Parameters
    ----------
    path : of one work.
    header : of the work that is to go on there, or to begin.
    kind : of work.
    replace : whether the parts of other work of this kind may be dropped.

    Raises
    ------
    InputError : the file belongs to other work, or another process writes it, or it cannot be written.
    DataFormatError : a line before the last one cannot be read.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+b")
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from None
    with file:
        try:
            lock(file)
        except BlockingIOError:
            raise InputError(
                f"another process runs the {kind.work} in {kind.place(path)}: wait for it, or {kind.elsewhere}"
            ) from None
        yield _read(path, file, header, kind, replace=replace)


def _read(path: Path, file: BufferedRandom, header: Header, kind: Kind[T], *, replace: bool) -> Records[T]:
    """Read the parts; leave the file with a header and whole lines only."""
    file.seek(0)
    content = file.read()
    head, *lines = content.split(b"\n")
    torn = lines.pop() if lines else b""
    if not lines and not _BEGINNING.startswith(head[: len(_BEGINNING)]):
        raise _not_ours(path, kind)
    found = _header(path, head, kind) if lines else header
    differences = _differences(found, header, kind)
    if not lines or (replace and differences):  # without a part, it does not matter whose header it is
        file.truncate(0)
        _write(file, as_json(header), kind)
        return Records(path, header, (), kind, file)
    if differences:
        raise InputError(
            f"{kind.place(path)} belongs to another {kind.work} ({'; '.join(differences)}): {kind.elsewhere}, or "
            f"{kind.removal}"
        )
    file.truncate(len(content) - len(torn))
    parts: dict[Any, T] = {}
    for number, line in enumerate(lines, start=2):
        try:
            part = from_json(line.decode(), kind.part, allow_nan=True)
        except ValueError as error:
            raise DataFormatError(
                path, number, f"it is no {kind.name} ({error}): remove the line, and the {kind.name} is run again"
            ) from None
        parts.setdefault(kind.key(part), part)
    return Records(path, found, tuple(parts[key] for key in sorted(parts)), kind, file)


def _write(file: BufferedRandom, line: str, kind: Kind[Any]) -> None:
    rest = line.encode() + b"\n"
    with errors_naming(Path(file.name), f"Finished {kind.names} are kept, and the same command goes on with them"):
        while rest:  # by no buffer, which would be written again when the file is closed
            rest = rest[os.write(file.fileno(), rest) :]
        os.fsync(file.fileno())


def _header(path: Path, line: bytes, kind: Kind[Any]) -> Header:
    try:
        found = from_json(line.decode(), Header)
    except ValueError:
        raise _not_ours(path, kind) from None
    if found.format > FORMAT:
        raise InputError(f"{path} was written by a newer version of structural-svm: upgrade, or {kind.elsewhere}")
    return found


def _not_ours(path: Path, kind: Kind[Any]) -> InputError:
    return InputError(f"{path} is not a file of {kind.names}: {kind.elsewhere}")


def _differences(found: Header, header: Header, kind: Kind[Any]) -> list[str]:
    """Say what tells other work from this one."""
    data = [] if found.data == header.data else [f"the {kind.data} are others"]
    return [*_different_settings(found.settings, header.settings), *data]


def _different_settings(theirs: dict[str, Any], ours: dict[str, Any]) -> Iterator[str]:
    """Say which settings differ; of those that are dicts themselves, which of their names and values do."""
    for name in ours | theirs:
        value, other = ours.get(name), theirs.get(name)
        if isinstance(value, dict) and isinstance(other, dict):
            if list(other) != list(value):
                yield f"{name} were {', '.join(other)}, and are {', '.join(value)}"
            elif other != value:
                yield f"the settings of {', '.join(key for key in value if other[key] != value[key])} are others"
        elif other != value:
            yield f"{name} was {_listed(other)}, and is {_listed(value)}"


def _listed(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def digest(pieces: Iterable[Any]) -> str:
    """Return a short hash of bytes and of contiguous arrays, one after the other."""
    found = sha256()
    for piece in pieces:
        found.update(piece)
    return found.hexdigest()[:16]


_CONVERTER = make_converter(forbid_extra_keys=True)


def _of_kind(value: Any, kind: type) -> Any:
    """Return a value of JSON that is of this kind already, where an integer is a number."""
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is kind:
        return value
    raise InputError(f"it must be of kind {kind.__name__}, got {value!r:.80}")


for _kind in (bool, int, float, str):
    _CONVERTER.register_structure_hook(_kind, _of_kind)


def as_json(value: Any, *, allow_nan: bool = False) -> str:
    """Return an attrs object as one line of JSON; NaN and infinity are refused unless they are allowed."""
    return _CONVERTER.dumps(value, allow_nan=allow_nan, separators=(",", ":"))


def from_json(text: str, kind: type[T], *, allow_nan: bool = False) -> T:
    """Make an attrs object of JSON; NaN and infinity are refused unless they are allowed.

    Raises
    ------
    ValueError : when the text is no JSON, or of something else; it says where it differs.
    """
    found = parse_json(text, allow_nan=allow_nan)
    if not isinstance(found, dict):
        raise InputError(f"it must be a JSON object, got {found!r:.80}")
    try:
        return _CONVERTER.structure(found, kind)
    except BaseValidationError as error:
        header = found.get("header")
        if isinstance(header, dict) and isinstance(header.get("format"), int):
            require_known(header["format"])
        raise ValueError("; ".join(transform_error(error, format_exception=_in_words)[:3])) from None


def require_known(format: int) -> None:
    """Refuse a file of a later format than this version knows.

    Raises
    ------
    InputError : it is one.
    """
    if format > FORMAT:
        raise InputError("it was written by a newer version of structural-svm: upgrade to read it")


def _in_words(error: BaseException, kind: type | None) -> str:
    return str(error) if isinstance(error, InputError) else format_exception(error, kind)
