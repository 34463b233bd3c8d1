"""Store finished parts of long work, so that it can resume: a header that identifies it, and a JSON line for each."""

import os
import platform
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from io import BufferedRandom
from pathlib import Path
from typing import Any, Generic, TypeVar

from attrs import frozen

from structsvm.exceptions import DataFormatError, InputError, brief
from structsvm.foundation.extras import needed
from structsvm.foundation.storage.archives import parse_json
from structsvm.foundation.storage.artefacts import ANY, BEGINNING_OF_PARTS, PARTS
from structsvm.foundation.storage.files import check_writable, errors_naming, replacement
from structsvm.foundation.storage.temporary import lock

T = TypeVar("T")

FORMAT = 4
"""Format of these files and of results made from them; other formats are rejected."""

_COMPUTING = ("structural-svm", "numpy", "scipy", "numba", "scikit-learn")


def versions() -> dict[str, str]:
    """Return the versions of Python, this package and the packages that compute."""
    return {"python": platform.python_version()} | {name: version(name) for name in _COMPUTING}


@frozen
class Header:
    """Identity of long work that can resume: its settings as JSON, a fingerprint of its data, and versions of packages.

    Examples
    --------
    >>> Header({"trials": 50}, data="21f19f291becbf16", versions={"numpy": "2.4.6"}).settings
    {'trials': 50}
    """

    settings: dict[str, Any]
    data: str
    versions: dict[str, str]
    format: int = FORMAT


@frozen
class RecordType(Generic[T]):
    """A kind of long work, with the words of messages; ``whole_folder`` reserves the file's folder for one work."""

    part: type[T]
    key: Callable[[T], Any]
    work: str
    name: str
    names: str
    data: str
    whole_folder: bool = True
    removal: str = "remove it"

    @property
    def elsewhere(self) -> str:
        """Advice for messages if the place is taken."""
        return f"choose another output {'folder' if self.whole_folder else 'file'}"

    def place(self, path: Path) -> Path:
        """Return the path that the work reserves: the folder or the file."""
        return path.parent if self.whole_folder else path


@frozen(eq=False)
class Records(Generic[T]):
    """An open, locked file of finished parts, sorted by key; ``header`` has the versions that began the work."""

    path: Path
    header: Header
    parts: tuple[T, ...]
    kind: RecordType[T]
    file: BufferedRandom

    def append(self, part: T) -> None:
        """Write a finished part and wait until it is on disk."""
        _write(self.file, to_json(part, allow_nan=True), self.kind)

    def require_versions(self, now: dict[str, str]) -> None:
        """Raise InputError if the work began with other versions, so that all parts have the same versions."""
        begun = self.header.versions
        changed = [f"{name} was {begun.get(name)}, now {here}" for name, here in now.items() if begun.get(name) != here]
        if changed:
            raise InputError(
                f"the {self.kind.work} in {self.kind.place(self.path)} began with other versions "
                f"({'; '.join(changed)}): install the versions that it began with, or {self.kind.elsewhere}"
            )


def count_records(path: Path) -> int:
    """Return the number of finished parts in a file."""
    return max(path.read_bytes().count(b"\n") - 1, 0) if path.is_file() else 0


@contextmanager
def open_records(path: Path, header: Header, kind: RecordType[T], *, replace: bool = False) -> Iterator[Records[T]]:
    """Open or make a file of finished parts; drop an incomplete last line and, to ``replace`` them, other parts."""
    if path.exists():
        check_writable(path, ANY if kind.whole_folder else PARTS)
    else:
        # The file appears with its header, so that a killed process leaves none without a header.
        with replacement(path, PARTS, makes_folders=True, spares_new=True) as new:
            new.write_bytes(_line(to_json(header)))
    with errors_naming(path):
        file = path.open("a+b")
    with file:
        try:
            lock(file)
        except BlockingIOError:
            raise InputError(
                f"another process runs the {kind.work} in {kind.place(path)}: wait for it, or {kind.elsewhere}"
            ) from None
        yield _read(path, file, header, kind, replace=replace)


def _read(path: Path, file: BufferedRandom, header: Header, kind: RecordType[T], *, replace: bool) -> Records[T]:
    """Read the parts; leave a header and complete lines in the file."""
    file.seek(0)
    content = file.read()
    head, *lines = content.split(b"\n")
    torn = lines.pop() if lines else b""
    has_header = b"\n" in content
    # A kill while old parts are replaced leaves an incomplete header, in a folder that only this work uses.
    if not has_header and not (kind.whole_folder and BEGINNING_OF_PARTS.startswith(head[: len(BEGINNING_OF_PARTS)])):
        raise _not_ours(path, kind)
    header_of_file = _header(path, head, kind) if has_header else header
    differences = _differences(header_of_file, header, kind)
    # The header of a file without parts does not matter.
    if not lines or (replace and differences):
        file.truncate(0)
        _write(file, to_json(header), kind)
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
                path, number, f"this is not a {kind.name} ({error}): remove the line to run the {kind.name} again"
            ) from None
        parts.setdefault(kind.key(part), part)
    return Records(path, header_of_file, tuple(parts[key] for key in sorted(parts)), kind, file)


def _line(text: str) -> bytes:
    return text.encode() + b"\n"


def _write(file: BufferedRandom, line: str, kind: RecordType[Any]) -> None:
    rest = _line(line)
    with errors_naming(Path(file.name), f"Finished {kind.names} are kept: run the same command to resume"):
        # Write without a buffer: Python would write a failed buffer again on close.
        while rest:
            rest = rest[os.write(file.fileno(), rest) :]
        os.fsync(file.fileno())


def _header(path: Path, line: bytes, kind: RecordType[Any]) -> Header:
    try:
        parsed = from_json(line.decode(), Header)
    except ValueError:
        raise _not_ours(path, kind) from None
    try:
        require_known(parsed.format)
    except InputError as error:
        raise InputError(f"{path}: {error}, or {kind.elsewhere}") from None
    return parsed


def _not_ours(path: Path, kind: RecordType[Any]) -> InputError:
    return InputError(f"{path} is not a file of {kind.names}: {kind.elsewhere}")


def _differences(stored: Header, header: Header, kind: RecordType[Any]) -> list[str]:
    """List the differences between two headers for messages."""
    data = [] if stored.data == header.data else [f"the {kind.data} differ"]
    return [*_different_settings(stored.settings, header.settings), *data]


def _different_settings(theirs: dict[str, Any], ours: dict[str, Any]) -> Iterator[str]:
    """List the settings that differ; for nested settings, list the nested names."""
    for name in ours | theirs:
        value, other = ours.get(name), theirs.get(name)
        if isinstance(value, dict) and isinstance(other, dict):
            if list(other) != list(value):
                yield f"{name} were {', '.join(other)}, now {', '.join(value)}"
            elif other != value:
                yield f"the settings of {', '.join(key for key in value if other[key] != value[key])} differ"
        elif other != value:
            yield f"{name} was {_listed(other)}, now {_listed(value)}"


def _listed(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def digest(pieces: Iterable[Any]) -> str:
    """Return a short hash of the concatenation of bytes and contiguous arrays."""
    state = sha256()
    for piece in pieces:
        state.update(piece)
    return state.hexdigest()[:16]


@cache
def _converter() -> Any:
    """Return cattrs' converter of attrs objects to JSON and back."""
    with needed("records of long work need cattrs", "tools"):
        from cattrs.preconf.json import make_converter

    converter = make_converter(forbid_extra_keys=True)
    for kind in (bool, int, float, str):
        converter.register_structure_hook(kind, _of_kind)
    return converter


def _of_kind(value: Any, kind: type) -> Any:
    """Return a JSON value if it has this type; an integer passes as float."""
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is kind:
        return value
    raise InputError(f"it must be {kind.__name__}, got {brief(value)}")


def to_json(value: Any, *, allow_nan: bool = False) -> str:
    """Return an attrs object as one line of JSON."""
    return str(_converter().dumps(value, allow_nan=allow_nan, separators=(",", ":")))


def from_json(text: str, kind: type[T], *, allow_nan: bool = False) -> T:
    """Make an attrs object from JSON; raise ValueError that lists the differences if it does not fit."""
    converter = _converter()
    from cattrs import BaseValidationError, transform_error

    content = parse_json(text, allow_nan=allow_nan)
    if not isinstance(content, dict):
        raise InputError(f"it must be a JSON object, got {brief(content)}")
    try:
        instance: T = converter.structure(content, kind)
        return instance
    except BaseValidationError as error:
        header = content.get("header")
        if isinstance(header, dict) and isinstance(header.get("format"), int):
            require_known(header["format"])
        raise ValueError("; ".join(transform_error(error, format_exception=_in_words)[:3])) from None


def require_known(format: int) -> None:
    """Raise InputError unless this version writes the format."""
    if format != FORMAT:
        raise InputError(
            f"another version of structural-svm wrote this file (format {format}; this version reads format {FORMAT}): "
            "use that version"
        )


def _in_words(error: BaseException, kind: type | None) -> str:
    from cattrs.v import format_exception

    return str(error) if isinstance(error, InputError) else format_exception(error, kind)
