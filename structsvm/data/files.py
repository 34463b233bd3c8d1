"""Files as readers want them: plain or gzip, with errors that name the file."""

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path

from structsvm.exceptions import DataFormatError, InputError


@contextmanager
def open_bytes(path: Path) -> Iterator[BufferedIOBase]:
    """Open a file for reading; gzip is told by its content, not by its name.

    Raises
    ------
    InputError : the file does not exist, is a directory, or may not be read.
    DataFormatError : a gzip stream is damaged (also when that shows only while it is read).
    """
    if path.is_dir():
        raise InputError(f"{path} is a directory: name the files in it")
    try:
        with path.open("rb") as raw:
            if raw.peek(2)[:2] == b"\x1f\x8b":
                with gzip.open(raw) as unzipped:
                    yield unzipped
            else:
                yield raw
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise DataFormatError(path, None, f"the gzip stream is damaged or cut short ({error})") from error
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error
