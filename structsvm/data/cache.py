"""Cache data of text files in a memory-mapped file, and read the text again if it has changed."""

import stat
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import xxhash
from numpy.typing import NDArray

from structsvm.data.dataset import RankingData
from structsvm.exceptions import InputError
from structsvm.foundation.arrays import is_sparse
from structsvm.foundation.storage.artefacts import CACHE
from structsvm.foundation.storage.files import check_writable, errors_reading
from structsvm.foundation.storage.mapped import read_header, read_mapped, write_mapped

_FORMAT = 1
_RECENT = 2 * 10**9
"""Nanoseconds within which a file can change twice without a new timestamp."""
_AT_ONCE = 2**22


def _identity(path: Path) -> list[int]:
    """Return device, inode, size, and times in nanoseconds of a regular file; raise InputError for anything else."""
    with errors_reading(path):
        status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise InputError(f"{path} is not a regular file, so its data cannot be cached: leave the cache out")
    return [status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]


def cached(path: Path, sources: Iterable[Path], how: Mapping[str, Any], read: Callable[[], RankingData]) -> RankingData:
    """Return data from the cache at ``path``, or call ``read`` and cache the result with its settings, ``how``."""
    files = list(sources)
    now, states = time.time_ns(), [_identity(file) for file in files]
    settings = {"format": _FORMAT, **how}
    stored = _kept(path, files, states, settings)
    if stored is not None:
        return stored
    check_writable(path, CACHE)
    data = read()
    digests = [_digest(file) for file in files]
    # Do not cache files that changed while they were read.
    if [_identity(file) for file in files] == states:
        about = {
            "settings": settings,
            "looked": now,
            "sources": [[*identity, digest] for identity, digest in zip(states, digests, strict=True)],
            "shape": data.X.shape,
            "feature_names": data.feature_names,
        }
        write_mapped(path, CACHE, about, _arrays(data))
    return data


def _kept(path: Path, files: list[Path], state: list[list[int]], settings: Mapping[str, Any]) -> RankingData | None:
    """Return the cached data, or None if it is missing or belongs to other files or settings."""
    if not path.is_file():
        return None
    try:
        with errors_reading(path), path.open("rb") as file:
            about = read_header(file, CACHE)["about"]
            if about["settings"] != settings or not _unchanged(files, state, about):
                return None
            return _data(about, read_mapped(file, CACHE))
    except (InputError, MemoryError):
        raise
    # NumPy raises many kinds of errors for invalid types and shapes. The text is read again.
    except Exception:
        return None


def _unchanged(files: list[Path], states: list[list[int]], about: Mapping[str, Any]) -> bool:
    if len(about["sources"]) != len(files):
        return False
    for path, identity, (*before, digest) in zip(files, states, about["sources"], strict=True):
        recent = about["looked"] - max(identity[-2:]) < _RECENT
        if (identity != before or recent) and _digest(path) != digest:
            return False
    return True


def _arrays(data: RankingData) -> dict[str, NDArray[Any]]:
    X: Any = data.X
    arrays: dict[str, NDArray[Any]] = {"y": data.y, "qid": data.qid}
    arrays |= {"data": X.data, "indices": X.indices, "indptr": X.indptr} if is_sparse(X) else {"X": X}
    return arrays if data.doc_ids is None else {**arrays, "doc_ids": data.doc_ids}


def _data(about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> RankingData:
    X: Any = arrays.get("X")
    if X is None:
        import scipy.sparse as sp

        X = sp.csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=about["shape"])
    names = about["feature_names"]
    return RankingData(X, arrays["y"], arrays["qid"], arrays.get("doc_ids"), None if names is None else tuple(names))


def _digest(path: Path) -> str:
    state = xxhash.xxh3_64()
    with errors_reading(path), path.open("rb", buffering=0) as file:
        while chunk := file.read(_AT_ONCE):
            state.update(chunk)
    return state.hexdigest()
