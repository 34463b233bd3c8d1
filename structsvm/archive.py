"""Files of arrays (npz): written whole or not at all, read without unpickling anything."""

import json
import os
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from structsvm.exceptions import InputError, ModelFileError

T = TypeVar("T")


def write_archive(path: str | Path, arrays: dict[str, Any]) -> None:
    """Write named arrays to exactly this path: to a temporary file beside it first, which is then renamed.

    Raises
    ------
    InputError : when the folder does not exist or cannot be written.
    """
    path = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from None
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez_compressed(file, **arrays)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException as error:
        Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise InputError(f"{path} cannot be written: {error.strerror or error}") from None
        raise


def read_archive(path: str | Path, make: Callable[[dict[str, Any]], T]) -> T:
    """Read named arrays and make something of them.

    Raises
    ------
    ModelFileError : when the file is missing, damaged, something else, or too new for ``make``.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            if not isinstance(file, np.lib.npyio.NpzFile):
                raise ValueError("a single array")
            arrays = dict(file)
    except FileNotFoundError:
        raise ModelFileError(f"{path} does not exist") from None
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror or error}") from None
    except (ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise ModelFileError(f"{path} is not a model file, or it is damaged: {error}") from None
    try:
        return make(arrays)
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from None
    except (KeyError, TypeError, ValueError, json.JSONDecodeError) as error:
        raise ModelFileError(f"{path} is not a file of this kind: {error} is missing or unreadable") from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
