"""Files of arrays (npz): written whole or not at all, read without unpickling anything."""

import secrets
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from structsvm.exceptions import InputError, ModelFileError

T = TypeVar("T")

_DAMAGED = (EOFError, NotImplementedError, RuntimeError, SyntaxError, zipfile.BadZipFile, zlib.error)
"""What zipfile and NumPy raise on bytes that are not an archive of arrays."""


def write_archive(path: str | Path, arrays: dict[str, Any]) -> None:
    """Write named arrays to exactly this path: to a temporary file beside it first, which is then renamed.

    Raises
    ------
    InputError : when the folder does not exist or cannot be written.
    """
    path = Path(path)
    temporary = path.parent / f".{path.name}.{secrets.token_hex(4)}"
    try:
        with temporary.open("xb") as file:
            np.savez_compressed(file, **arrays)
        temporary.replace(path)
    except OSError as error:
        raise unwritable(path, error) from None
    finally:
        with suppress(OSError):
            temporary.unlink()


def unwritable(path: Path, error: OSError) -> InputError:
    """Return what is raised when a file cannot be made beside ``path``."""
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        there = path.parent.is_dir()
        reason = f"the folder {path.parent} takes no new files" if there else f"there is no folder {path.parent}"
        return InputError(f"{path} cannot be written: {reason}")
    return InputError(f"{path} cannot be written: {error.strerror or error}")


def read_archive(path: str | Path, make: Callable[[dict[str, Any]], T]) -> T:
    """Read named arrays and make something of them.

    Raises
    ------
    ModelFileError : when the file is missing, damaged, something else, or too new for ``make``.
    """
    try:
        with Path(path).open("rb") as file:  # opened here: where the zip is damaged, NumPy leaves open what it opened
            archive = np.load(file, allow_pickle=False)
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise ValueError("it holds a single array")
            arrays = dict(archive)
    except FileNotFoundError:
        raise ModelFileError(f"{path} does not exist") from None
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror or error}") from None
    except (*_DAMAGED, ValueError):  # NumPy's text would advise to unpickle it
        raise ModelFileError(f"{path} is not a model file, or it is damaged") from None
    try:
        return make(arrays)
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from None
    except KeyError as error:
        raise ModelFileError(f"{path} is not a file of this kind: {error} is missing") from None
    except (AttributeError, TypeError, ValueError) as error:
        raise ModelFileError(f"{path} is not a file of this kind: {error}") from None
