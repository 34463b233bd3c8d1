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
from structsvm.foundation.storage.archives import Damage
from structsvm.foundation.storage.files import check_writable, errors_reading
from structsvm.foundation.storage.mapped import is_mapped, read_header, read_mapped, write_mapped

_FORMAT = 1
_RECENT = 2 * 10**9
"""Nanoseconds within which a file can change twice without a new timestamp."""
_AT_ONCE = 2**22


def _identity(path: Path) -> list[int]:
    """Return device, inode, size, and times in nanoseconds of a regular file; raise InputError for anything else."""
    with errors_reading(path):
        found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise InputError(f"{path} is not a regular file, so its data cannot be cached: leave the cache out")
    return [found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns]


def cached(path: Path, sources: Iterable[Path], how: Mapping[str, Any], read: Callable[[], RankingData]) -> RankingData:
    """Return data from the cache at ``path``, or call ``read`` and cache the result with its settings, ``how``."""
    files = list(sources)
    now, found = time.time_ns(), [_identity(each) for each in files]
    settings = {"format": _FORMAT, **how}
    kept = _kept(path, files, found, settings)
    if kept is not None:
        return kept
    check_writable(path)
    data = read()
    digests = [_digest(each) for each in files]
    # Do not cache files that changed while they were read.
    if [_identity(each) for each in files] == found:
        about = {
            "settings": settings,
            "looked": now,
            "sources": [[*each, digest] for each, digest in zip(found, digests, strict=True)],
            "shape": data.X.shape,
            "feature_names": data.feature_names,
        }
        write_mapped(path, about, _arrays(data))
    return data


def _kept(path: Path, files: list[Path], found: list[list[int]], settings: Mapping[str, Any]) -> RankingData | None:
    """Return the cached data, or None if it is missing or belongs to other files or settings."""
    if not path.exists():
        return None
    if not path.is_file() or not is_mapped(path):
        raise InputError(f"{path} is not a cache of data and would be replaced: choose another file for the cache")
    try:
        with errors_reading(path), path.open("rb") as file:
            about = read_header(file)["about"]
            if about["settings"] != settings or not _unchanged(files, found, about):
                return None
            return _data(about, read_mapped(file))
    except InputError:
        raise
    except (Damage, KeyError, TypeError, ValueError):
        return None


def _unchanged(files: list[Path], found: list[list[int]], about: Mapping[str, Any]) -> bool:
    if len(about["sources"]) != len(files):
        return False
    for path, identity, (*before, digest) in zip(files, found, about["sources"], strict=True):
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

        X = sp.csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=tuple(about["shape"]))
    names = about["feature_names"]
    return RankingData(
        X=X,
        y=arrays["y"],
        qid=arrays["qid"],
        doc_ids=arrays.get("doc_ids"),
        feature_names=None if names is None else tuple(names),
    )


def _digest(path: Path) -> str:
    state = xxhash.xxh3_64()
    with errors_reading(path), path.open("rb", buffering=0) as file:
        while chunk := file.read(_AT_ONCE):
            state.update(chunk)
    return state.hexdigest()
