"""Store arrays in a file, each with its digest, and map them to memory; changes to the arrays do not reach the file."""

import json
import math
import mmap
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from structsvm.foundation.storage.archives import Damage, parse_json
from structsvm.foundation.storage.artefacts import MAGIC
from structsvm.foundation.storage.files import replacement

_ALIGNED = 64
_LENGTH, _DIGEST = 8, 16
_LARGEST_HEADER = 2**28
_KINDS = "iufU"


def write_mapped(
    path: Path, kind: str, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], *, makes_folders: bool = False
) -> None:
    """Write arrays and a JSON description of them atomically to a file of a kind in `MAGIC`."""
    held = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    said: dict[str, dict[str, Any]] = {}
    place = 0
    for name, array in held.items():
        said[name] = {"dtype": array.dtype.str, "shape": array.shape, "place": place, "xxh3": _digest(_bytes(array))}
        place = _aligned(place + array.nbytes)
    header = json.dumps({"about": about, "arrays": said}).encode()
    magic = MAGIC[kind]
    start = _aligned(len(magic) + _LENGTH + _DIGEST + len(header))
    with replacement(path, kind, makes_folders=makes_folders) as temporary, temporary.open("wb") as file:
        file.write(magic + len(header).to_bytes(_LENGTH, "little") + _digest(header).encode() + header)
        for name, array in held.items():
            file.write(bytes(start + said[name]["place"] - file.tell()))
            file.write(_bytes(array))


def read_header(file: IO[bytes], kind: str) -> dict[str, Any]:
    """Return the header of an open file: the description "about", and type, shape, place and digest of "arrays"."""
    return _header(file, kind)[0]


def read_mapped(file: IO[bytes], kind: str) -> dict[str, NDArray[Any]]:
    """Map the arrays of an open file to memory; raise `Damage` if the file is damaged."""
    header, start = _header(file, kind)
    mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    arrays: dict[str, NDArray[Any]] = {}
    for name, said in header["arrays"].items():
        dtype, count = np.dtype(said["dtype"]), math.prod(said["shape"])
        place = start + said["place"]
        if dtype.kind not in _KINDS or place % _ALIGNED or place + count * dtype.itemsize > len(mapped):
            raise Damage(f"is damaged: {name!r} is cut short")
        array: NDArray[Any] = np.frombuffer(mapped, dtype, count, place).reshape(said["shape"])
        if _digest(_bytes(array)) != said["xxh3"]:
            raise Damage(f"is damaged: the checksum of {name!r} does not match")
        arrays[name] = array
    return arrays


def _header(file: IO[bytes], kind: str) -> tuple[dict[str, Any], int]:
    """Return the header and the offset of the first array."""
    file.seek(0)
    magic = MAGIC[kind]
    if file.read(len(magic)) != magic:
        raise Damage(f"is not {kind}")
    length = int.from_bytes(file.read(_LENGTH), "little")
    digest = file.read(_DIGEST)
    text = file.read(min(length, _LARGEST_HEADER))
    if _digest(text).encode() != digest:
        raise Damage("is damaged: the checksum of its header does not match")
    header: dict[str, Any] = parse_json(text.decode())
    return header, _aligned(len(magic) + _LENGTH + _DIGEST + length)


def _aligned(place: int) -> int:
    return -(-place // _ALIGNED) * _ALIGNED


def _bytes(array: NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def _digest(content: bytes | memoryview) -> str:
    return xxhash.xxh3_64_hexdigest(content)
