"""Named arrays in a file (npz): what is read is what was written, or it is refused before memory is taken for it.

Shapes and types are looked at before content, which is read when it is asked for, and compared with its digest.
"""

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

from structsvm.memory import available

DIGESTS = "sha256"
"""Name of the text that has the digests of all other arrays; files of version 0.1 have none."""

_END_OF_ARCHIVE = Struct("<4s4H2LH")
"""The last record of a zip archive without a comment: its fifth number is that of the parts."""

_MANY = 0xFFFF
"""What that number is where there are more, and another record counts them."""

_SUFFIX = ".npy"
_MOST_INFLATED = 1032
"""Bytes that a byte of deflated content can stand for."""
_ALWAYS_READ, _MOST_PACKED = 1 << 26, 200
"""Bytes that any file may unpack to, and times its own size beyond; `is_bomb` holds the rule for writers, too."""
_KINDS = "biufU"
"""Kinds of arrays that are read: numbers and texts."""


class Damage(Exception):
    """A file cannot be read; the message goes behind its name."""


@frozen
class Declared:
    """What a file says of an array.

    Parameters
    ----------
    shape, dtype : its shape and type.
    info : its place in the file.
    """

    shape: tuple[int, ...]
    dtype: "np.dtype[Any]"
    info: ZipInfo = field(repr=False)


@frozen(eq=False)
class Archive(Mapping[str, NDArray[Any]]):
    """The arrays in an open file by name, each read when it is asked for, every time.

    Parameters
    ----------
    zipped : the file.
    declared : what it says of each array.
    digests : those of the arrays by name; None where the file has none.
    """

    zipped: ZipFile
    declared: Mapping[str, Declared]
    digests: Mapping[str, str] | None

    @classmethod
    def of(cls, file: BufferedReader) -> Self:
        """Read what is in a file, and no more than the headers of it.

        Raises
        ------
        Damage : when it is no archive of arrays, or cannot be what was written.
        """
        if not file.seekable():
            raise Damage("is read in several places, as a pipe cannot be: give the name of a file")
        with _noticing():
            size = file.seek(0, 2)
            if size == 0:  # a device such as /dev/zero, which is without an end, has this size too
                raise ValueError
            zipped = ZipFile(file)
            infos = zipped.infolist()
            declared = {info.filename.removesuffix(_SUFFIX): _declared(zipped, info, size) for info in infos}
            if len(declared) < len(infos) or not all(info.filename.endswith(_SUFFIX) for info in infos):
                raise ValueError
            if _declared_parts(file) not in (None, len(infos)):  # zipfile leaves out what is behind a wrong length
                raise ValueError
            unpacked = sum(info.file_size for info in infos)
        if is_bomb(size, unpacked):
            raise Damage(
                f"is not read: its {size / 1e6:.1f} MB would unpack to {unpacked / 1e9:.1f} GB, and structsvm writes "
                "no such file. Do not use a file whose source you do not know"
            )
        archive = cls(zipped, declared, None)
        if DIGESTS not in declared:
            return archive
        try:
            digests = record(archive, DIGESTS)
        except ValueError:
            digests = {}
        del archive.declared[DIGESTS]  # type: ignore[attr-defined]
        if digests.keys() != archive.declared.keys():
            raise Damage("is damaged: it has other parts than were written")
        return cls(zipped, declared, digests)

    def __getitem__(self, name: str) -> NDArray[Any]:
        info = self.declared[name].info
        if info.file_size > _ALWAYS_READ and info.file_size > available():
            raise _too_large(name, info)
        try:
            with _noticing(), self.zipped.open(info) as member:
                array: NDArray[Any] = npy.read_array(member, allow_pickle=False)
        except MemoryError:
            raise _too_large(name, info) from None
        if self.digests is not None and self.digests[name] != digest_of_array(name, array):
            raise Damage(f"is damaged: {name!r} is not what was written")
        return array

    def __contains__(self, name: object) -> bool:
        return name in self.declared

    def __iter__(self) -> Iterator[str]:
        return iter(self.declared)

    def __len__(self) -> int:
        return len(self.declared)


def is_bomb(packed: int, unpacked: int) -> bool:
    """Return whether a file of so many bytes unpacks to more than a reader accepts."""
    return unpacked > max(_ALWAYS_READ, _MOST_PACKED * packed)


def digest_of_array(name: str, array: NDArray[Any]) -> str:
    """Return the SHA-256 of an array with its name, shape and type, as hexadecimal digits."""
    state = hashlib.sha256(json.dumps([name, array.dtype.str, array.shape]).encode())
    state.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return state.hexdigest()


def with_digests(arrays: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Return arrays for a file, and the text of their digests."""
    made = {name: np.asanyarray(array) for name, array in arrays.items()}
    return {**made, DIGESTS: np.array(json.dumps({name: digest_of_array(name, array) for name, array in made.items()}))}


def shape(arrays: Mapping[str, NDArray[Any]], name: str) -> tuple[int, ...]:
    """Return the shape of an array, which is not read.

    Parameters
    ----------
    arrays : an `Archive`, or arrays in memory.
    name : of the array.

    Raises
    ------
    KeyError : when there is no such array.
    """
    return _said(arrays, name).shape


def require_numbers(
    arrays: Mapping[str, NDArray[Any]], name: str, wanted: tuple[int, ...], dtype: type[np.generic] = np.float64
) -> None:
    """Require an array of this shape and type, which is not read; see `shape`.

    Raises
    ------
    KeyError : when there is no such array.
    ValueError : when it is another one.
    """
    said = _said(arrays, name)
    if said.shape != wanted or said.dtype != dtype:
        raise ValueError(
            f"{name!r} must be {np.dtype(dtype)} of shape {wanted}, and is {said.dtype} of shape {said.shape}"
        )


def finite_numbers(arrays: Mapping[str, NDArray[Any]], name: str) -> NDArray[Any]:
    """Return an array of finite numbers.

    Raises
    ------
    ValueError : when it has one that is not.
    """
    array = np.asarray(arrays[name])
    if not np.isfinite(array).all():
        raise ValueError(f"{name!r} must be finite, and has a number that is not")
    return array


def texts(arrays: Mapping[str, NDArray[Any]], name: str, wanted: tuple[int, ...]) -> NDArray[Any]:
    """Return an array of texts of this shape; see `require_numbers`."""
    said = _said(arrays, name)
    if said.shape != wanted or said.dtype.kind != "U":
        raise ValueError(f"{name!r} must be text of shape {wanted}, and is {said.dtype} of shape {said.shape}")
    return np.asarray(arrays[name])


def record(arrays: Mapping[str, NDArray[Any]], name: str) -> dict[str, Any]:
    """Return the object that a text holds as JSON; see `require_numbers`.

    Raises
    ------
    KeyError : when there is no such text.
    ValueError : when it is no JSON object, or has a number that is not finite, or a name twice.
    """
    found = parse_json(str(texts(arrays, name, ())))
    if not isinstance(found, dict):
        raise ValueError(f"{name!r} must be a JSON object, and is {type(found).__name__}")
    return found


def parse_json(text: str, *, allow_nan: bool = False) -> Any:
    """Return what a text holds as JSON.

    Parameters
    ----------
    text : the text.
    allow_nan : whether NaN and infinity may stand in it, as Python writes them.

    Raises
    ------
    ValueError : when it is no JSON, or nested too deeply, or has a number that is not finite, or a name twice.
    """
    constant = float if allow_nan else _not_finite
    try:
        return json.loads(text, parse_constant=constant, parse_float=_finite, object_pairs_hook=_named_once)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def require_names(what: str, found: Collection[str], known: Collection[str], needed: Collection[str] = ()) -> None:
    """Require names that are known, and those that are needed among them.

    Raises
    ------
    ValueError : it says which are not.
    """
    for name in found:
        if name not in known:
            raise ValueError(f"{what} has {name!r}, which is not known here")
    for name in needed:
        if name not in found:
            raise ValueError(f"{what} has no {name!r}")


def _too_large(name: str, info: ZipInfo) -> Damage:
    return Damage(f"needs {info.file_size / 1e9:.1f} GB of memory for {name!r} alone, and less is available")


def _said(arrays: Mapping[str, NDArray[Any]], name: str) -> Declared | NDArray[Any]:
    return arrays.declared[name] if isinstance(arrays, Archive) else np.asarray(arrays[name])


def _declared(zipped: ZipFile, info: ZipInfo, size: int) -> Declared:
    """Return what the header of an array says, if the file has as many bytes for it."""
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
    return Declared(lengths, dtype, info)


def _declared_parts(file: BufferedReader) -> int | None:
    """Return how many parts the end of an archive says there are; None where it does not end as those written here."""
    file.seek(-_END_OF_ARCHIVE.size, 2)
    signature, _, _, _, parts, *_ = _END_OF_ARCHIVE.unpack(file.read(_END_OF_ARCHIVE.size))
    return parts if signature == b"PK\5\6" and parts < _MANY else None


@contextmanager
def _noticing() -> Iterator[None]:
    """Turn what zipfile and NumPy raise on bytes that are not an archive of arrays, of any kind, into `Damage`."""
    try:
        with warnings.catch_warnings(action="ignore"):  # NumPy's, of headers that Python 2 may have written
            yield
    except MemoryError:
        raise
    except OSError as error:
        if error.errno not in (None, errno.EINVAL):  # what a place that is not in the file ends in
            raise
        raise Damage("is not a model file, or it is damaged") from None
    except Exception:  # NumPy's text would advise to unpickle it
        raise Damage("is not a model file, or it is damaged") from None


def _not_finite(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a finite number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        _not_finite(text)
    return number


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is there twice")
    return found
