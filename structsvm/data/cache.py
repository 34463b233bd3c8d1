"""Data that were read from text, kept in a file that is mapped to memory, and refused when the text has changed."""

import stat
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import xxhash
from attrs import asdict, frozen
from numpy.typing import NDArray

from structsvm.arrays import is_sparse
from structsvm.data.dataset import RankingData
from structsvm.exceptions import InputError
from structsvm.storage.archives import Damage
from structsvm.storage.files import check_writable
from structsvm.storage.mapped import is_mapped, read_about, read_mapped, write_mapped

_FORMAT = 1
_RECENT = 2 * 10**9
"""Nanoseconds within which a file may change twice without a change of its times."""
_AT_ONCE = 2**22


@frozen
class Source:
    """What tells a file from what it was.

    Parameters
    ----------
    device, inode, size, modified, changed : as the file system has them, times in nanoseconds.
    """

    device: int
    inode: int
    size: int
    modified: int
    changed: int

    @classmethod
    def of(cls, path: Path) -> "Source":
        """Look at a file.

        Raises
        ------
        InputError : it does not exist, or is a pipe, of which nothing tells what will come.
        """
        try:
            found = path.stat()
        except OSError as error:
            raise InputError(f"cannot read {path}: {error.strerror or error}") from None
        if not stat.S_ISREG(found.st_mode):
            raise InputError(
                f"{path} is not a regular file, so what was read from it cannot be kept: leave the cache out"
            )
        return cls(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def cached(path: Path, sources: Iterable[Path], how: Mapping[str, Any], read: Callable[[], RankingData]) -> RankingData:
    """Return data from a file where they are kept, or read them and keep them there.

    A file whose size, times and place are as they were has not changed, unless it had been written just before it was
    read; of all others the content is compared, by its digest (XXH3).

    Parameters
    ----------
    path : where they are kept; made where it is missing, damaged, or of other files or settings.
    sources : the files that they are read from.
    how : the settings that they depend on, for JSON.
    read : reads them.

    Raises
    ------
    InputError : there is another kind of file at the path, it cannot be written, or a source is no regular file.
    """
    files = list(sources)
    now, found = time.time_ns(), [Source.of(each) for each in files]
    settings = {"format": _FORMAT, **how}
    kept = _kept(path, files, found, settings)
    if kept is not None:
        return kept
    check_writable(path)
    data = read()
    digests = [_digest(each) for each in files]
    if [Source.of(each) for each in files] == found:  # else they changed while they were read
        about = {
            "settings": settings,
            "looked": now,
            "sources": [{**asdict(each), "xxh3": digest} for each, digest in zip(found, digests, strict=True)],
            "shape": data.X.shape,
            "feature_names": data.feature_names,
        }
        write_mapped(path, about, _arrays(data))
    return data


def _kept(path: Path, files: list[Path], found: list[Source], settings: Mapping[str, Any]) -> RankingData | None:
    """Return what is kept, None where that is not what these files hold."""
    if not path.exists():
        return None
    if not path.is_file() or not is_mapped(path):
        raise InputError(f"{path} is no cache of data, and would be replaced: choose another file for the cache")
    try:
        with path.open("rb") as file:
            about = read_about(file)
            if about["settings"] != settings or not _unchanged(files, found, about):
                return None
            return _data(about, read_mapped(file))
    except (Damage, KeyError, TypeError, ValueError):
        return None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None


def _unchanged(files: list[Path], found: list[Source], about: Mapping[str, Any]) -> bool:
    if len(about["sources"]) != len(files):
        return False
    for path, source, before in zip(files, found, about["sources"], strict=True):
        if source.size != before["size"]:
            return False
        same = asdict(source) == {name: before[name] for name in asdict(source)}
        recent = about["looked"] - max(source.modified, source.changed) < _RECENT
        if (not same or recent) and _digest(path) != before["xxh3"]:
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
    try:
        with path.open("rb", buffering=0) as file:
            while chunk := file.read(_AT_ONCE):
                state.update(chunk)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    return state.hexdigest()
