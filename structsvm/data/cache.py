"""Cache data of text files in a memory-mapped file, and read the text again if it has changed."""

import stat
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
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
    """Return the data of a cache; raise ValueError for arrays that no reader of text returns."""
    (n, d), how = about["shape"], about["settings"]
    names = about["feature_names"]
    y, qid, doc_ids = _rows(arrays, "y", np.float64, n), _rows(arrays, "qid", np.int64, n), arrays.get("doc_ids")
    _require(how["labels"] is False or bool(np.isfinite(y).all()), "labels are not finite")
    _require(doc_ids is None or (doc_ids.shape == (n,) and doc_ids.dtype.kind == "U"), "document ids are not texts")
    X: Any = arrays.get("X")
    if X is None:
        import scipy.sparse as sp

        indptr, indices = _rows(arrays, "indptr", np.integer, n + 1), _rows(arrays, "indices", np.integer)
        values = _rows(arrays, "data", np.floating, len(indices))
        _require(indptr[0] == 0 and indptr[-1] == len(indices), "rows do not fit the values")
        _require(np.diff(indptr).min() >= 0, "offsets of rows descend")
        _require(indices.min(initial=0) >= 0 and indices.max(initial=-1) < d, "a feature is out of range")
        begins = np.flatnonzero(np.diff(indices) <= 0) + 1
        _require(bool(np.isin(begins, indptr).all()), "features do not ascend in a row")
        X = sp.csr_array((values, indices, indptr), shape=(n, d))
    else:
        values = X
    _require(X.shape == (n, d) and values.dtype == np.dtype(how["dtype"]), "features have another shape or type")
    _require(how["sparse"] in (None, is_sparse(X)), "features have another storage")
    ends = (values.min(initial=0.0), values.max(initial=0.0))
    _require(bool(np.isfinite(ends).all()), "features are not finite")
    if names is not None:
        _require(isinstance(names, list) and len(set(names)) == len(names) == d, "names do not fit the features")
        _require(all(isinstance(name, str) for name in names), "names are not texts")
    return RankingData(X, y, qid, doc_ids, None if names is None else tuple(names))


def _rows(arrays: Mapping[str, NDArray[Any]], name: str, kind: Any, length: int | None = None) -> NDArray[Any]:
    """Return an array of one axis after a check of its type, the byte order included, and of its length."""
    array = arrays[name]
    _require(array.ndim == 1 and length in (None, len(array)), f"{name} has another length")
    _require(np.issubdtype(array.dtype, kind) and array.dtype.isnative, f"{name} has another type")
    return array


def _require(condition: bool, problem: str) -> None:
    if not condition:
        raise ValueError(problem)


def _digest(path: Path) -> str:
    state = xxhash.xxh3_64()
    with errors_reading(path), path.open("rb", buffering=0) as file:
        while chunk := file.read(_AT_ONCE):
            state.update(chunk)
    return state.hexdigest()
