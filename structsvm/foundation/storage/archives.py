"""Read archives of named arrays (npz): check headers first, and compare content with its digest."""

import errno
import hashlib
import json
import math
import warnings
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from io import BufferedReader
from struct import Struct
from typing import Any, NoReturn, Self
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import numpy as np
from attrs import field, frozen
from numpy.lib import format as npy
from numpy.typing import NDArray

from structsvm.foundation.memory import available
from structsvm.foundation.settings import repeated
from structsvm.foundation.storage.artefacts import DIGESTS

_END_OF_ARCHIVE = Struct("<4s4H2LH")
"""Last record of a zip archive without a comment; its fifth number is the number of entries."""

_MANY = 0xFFFF
"""Number of entries in that record if another record has the true number."""

_SUFFIX = ".npy"
_MOST_INFLATED = 1032
"""Largest number of bytes that one byte of deflated content can unpack to."""
_ALWAYS_READ, _MOST_PACKED = 1 << 26, 200
"""Limit for any file, in bytes, and for larger files relative to their size; `is_bomb` applies both to writers, too."""
_KINDS = "biufU"
"""Kinds of NumPy types that are read: numbers and text."""


class Damage(Exception):
    """A file cannot be read; callers put its name before the message."""


@frozen
class MemberHeader:
    """Shape and type of an array, and its entry in the archive, from headers alone."""

    shape: tuple[int, ...]
    dtype: "np.dtype[Any]"
    info: ZipInfo = field(repr=False)


@frozen(eq=False)
class Archive(Mapping[str, NDArray[Any]]):
    """Arrays of an open file by name; every access reads the array and checks its digest."""

    zipped: ZipFile
    declared: Mapping[str, MemberHeader]
    digests: Mapping[str, str]

    @classmethod
    def of(cls, file: BufferedReader) -> Self:
        """Read the headers of an archive; raise `Damage` if they are invalid or promise too much content."""
        if not file.seekable():
            raise Damage("is a pipe, but archives are read in several places: give the name of a file")
        if file.read(5) in (b"tree\n", b"tree\r"):
            raise Damage("is a model file of LightGBM: read it with structsvm.load")
        with _noticing():
            size = file.seek(0, 2)
            # Endless devices such as /dev/zero also have size 0.
            if size == 0:
                raise ValueError
            zipped = ZipFile(file)
            infos = zipped.infolist()
            declared = {info.filename.removesuffix(_SUFFIX): _declared(zipped, info, size) for info in infos}
            if len(declared) < len(infos) or not all(info.filename.endswith(_SUFFIX) for info in infos):
                raise ValueError
            # zipfile silently skips entries behind a wrong length.
            if _declared_parts(file) not in (None, len(infos)):
                raise ValueError
            unpacked = sum(info.file_size for info in infos)
        if is_bomb(size, unpacked):
            raise Damage(
                f"is not read: its {size / 1e6:.1f} MB would unpack to {unpacked / 1e9:.1f} GB, more than structsvm "
                "ever writes. Use only files from sources that you know"
            )
        if DIGESTS not in declared:
            raise Damage("is not a model file, or it is damaged: it has no digests")
        try:
            digests = json_object({DIGESTS: _read(zipped, DIGESTS, declared.pop(DIGESTS).info)}, DIGESTS)
        except ValueError:
            digests = {}
        if digests.keys() != declared.keys():
            raise Damage("is damaged: it has other parts than when it was written")
        return cls(zipped, declared, digests)

    def __getitem__(self, name: str) -> NDArray[Any]:
        array = _read(self.zipped, name, self.declared[name].info)
        if self.digests[name] != digest_of_array(name, array):
            raise Damage(f"is damaged: the checksum of {name!r} does not match")
        return array

    def __contains__(self, name: object) -> bool:
        return name in self.declared

    def __iter__(self) -> Iterator[str]:
        return iter(self.declared)

    def __len__(self) -> int:
        return len(self.declared)


def _read(zipped: ZipFile, name: str, info: ZipInfo) -> NDArray[Any]:
    """Return an array of an archive; raise `Damage` if there is no memory for it."""
    if info.file_size > _ALWAYS_READ and info.file_size > available():
        raise _too_large(name, info)
    try:
        with _noticing(), zipped.open(info) as member:
            array: NDArray[Any] = npy.read_array(member, allow_pickle=False)
    except MemoryError:
        raise _too_large(name, info) from None
    return array


def is_bomb(packed: int, unpacked: int) -> bool:
    """Return whether a file of ``packed`` bytes unpacks to more than readers accept."""
    return unpacked > max(_ALWAYS_READ, _MOST_PACKED * packed)


def digest_of_array(name: str, array: NDArray[Any]) -> str:
    """Return the SHA-256 of an array with its name, shape and type, as hexadecimal digits."""
    state = hashlib.sha256(json.dumps([name, array.dtype.str, array.shape]).encode())
    state.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return state.hexdigest()


def with_digests(arrays: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Return the arrays with an additional text that holds their digests."""
    data = {name: np.asanyarray(array) for name, array in arrays.items()}
    return {**data, DIGESTS: np.array(json.dumps({name: digest_of_array(name, array) for name, array in data.items()}))}


def shape(arrays: Mapping[str, NDArray[Any]], name: str) -> tuple[int, ...]:
    """Return the shape of an array without reading it."""
    return _said(arrays, name).shape


def require_numbers(
    arrays: Mapping[str, NDArray[Any]], name: str, wanted: tuple[int | None, ...], dtype: type[np.generic] = np.float64
) -> None:
    """Raise ValueError unless an array has this shape (None: any length) and type; its content is not read."""
    said = _said(arrays, name)
    fits = len(said.shape) == len(wanted) and all(n in (None, m) for n, m in zip(wanted, said.shape, strict=True))
    if not fits or said.dtype != dtype:
        raise ValueError(
            f"{name!r} must be {np.dtype(dtype)} of shape {wanted}, got {said.dtype} of shape {said.shape}"
        )


def finite_numbers(
    arrays: Mapping[str, NDArray[Any]], name: str, wanted: tuple[int | None, ...] | None = None
) -> NDArray[Any]:
    """Read an array; raise ValueError if a number is NaN or infinite; ``wanted`` is for `require_numbers`."""
    if wanted is not None:
        require_numbers(arrays, name, wanted)
    array = np.asarray(arrays[name])
    if not np.isfinite(array).all():
        raise ValueError(f"{name!r} must be finite, but contains NaN or infinity")
    return array


def text_array(arrays: Mapping[str, NDArray[Any]], name: str, wanted: tuple[int, ...]) -> NDArray[Any]:
    """Read an array of text; raise ValueError if it has another shape or type."""
    said = _said(arrays, name)
    if said.shape != wanted or said.dtype.kind != "U":
        raise ValueError(f"{name!r} must be text of shape {wanted}, got {said.dtype} of shape {said.shape}")
    return np.asarray(arrays[name])


def json_object(arrays: Mapping[str, NDArray[Any]], name: str) -> dict[str, Any]:
    """Parse the JSON object in a text; raise ValueError if it is not valid, see `parse_json`."""
    content = parse_json(str(text_array(arrays, name, ())))
    if not isinstance(content, dict):
        raise ValueError(f"{name!r} must be a JSON object, got {type(content).__name__}")
    return content


def parse_json(text: str, *, allow_nan: bool = False) -> Any:
    """Parse JSON; raise ValueError for repeated names, too deep nesting and, by default, NaN and infinity."""
    finite: dict[str, Any] = {} if allow_nan else {"parse_constant": _not_finite, "parse_float": _finite}
    try:
        return json.loads(text, object_pairs_hook=_named_once, **finite)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def require_names(what: str, names: Collection[str], allowed: Collection[str], needed: Collection[str] = ()) -> None:
    """Raise ValueError for names that are not known, and for needed names that are missing."""
    for name in names:
        if name not in allowed:
            raise ValueError(f"{what} has an unknown name, {name!r}")
    for name in needed:
        if name not in names:
            raise ValueError(f"{what} lacks {name!r}")


def _too_large(name: str, info: ZipInfo) -> Damage:
    return Damage(f"needs {info.file_size / 1e9:.1f} GB of memory for {name!r} alone, more than is available")


def _said(arrays: Mapping[str, NDArray[Any]], name: str) -> MemberHeader | NDArray[Any]:
    return arrays.declared[name] if isinstance(arrays, Archive) else np.asarray(arrays[name])


def _declared(zipped: ZipFile, info: ZipInfo, size: int) -> MemberHeader:
    """Return the header of an array; raise ValueError if the size of its content does not match it."""
    if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED) or info.compress_size > size:
        raise ValueError
    with zipped.open(info) as member:
        version = npy.read_magic(member)
        read = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}[version]
        lengths, _, dtype = read(member)
        begin = member.tell()
    inflated = _MOST_INFLATED if info.compress_type == ZIP_DEFLATED else 1
    if (
        dtype.kind not in _KINDS
        or any(length < 0 for length in lengths)
        or begin + math.prod(lengths) * dtype.itemsize != info.file_size
        or info.file_size > inflated * info.compress_size
    ):
        raise ValueError
    return MemberHeader(lengths, dtype, info)


def _declared_parts(file: BufferedReader) -> int | None:
    """Return the number of entries in the archive's last record, or None if the record has another form."""
    file.seek(-_END_OF_ARCHIVE.size, 2)
    signature, _, _, _, parts, *_ = _END_OF_ARCHIVE.unpack(file.read(_END_OF_ARCHIVE.size))
    return parts if signature == b"PK\5\6" and parts < _MANY else None


@contextmanager
def _noticing() -> Iterator[None]:
    """Turn errors of zipfile and NumPy about damaged content into `Damage`."""
    try:
        # NumPy warns of headers that Python 2 may have written.
        with warnings.catch_warnings(action="ignore"):
            yield
    except MemoryError:
        raise
    except OSError as error:
        # An offset outside the file raises EINVAL; other errors are real.
        if error.errno not in (None, errno.EINVAL):
            raise
        raise Damage("is not a model file, or it is damaged") from None
    except Exception:
        # Hide NumPy's message: it would advise to unpickle the file.
        raise Damage("is not a model file, or it is damaged") from None


def _not_finite(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a finite number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        _not_finite(text)
    return number


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        raise ValueError(f"{repeated(name for name, _ in pairs)!r} occurs twice in one object")
    return entries
