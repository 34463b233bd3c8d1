"""Files as text: decoded, in pieces of whole lines."""

import codecs
import re
from collections.abc import Callable, Generator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from structsvm.data.blocks import Block, read_blocks
from structsvm.exceptions import DataFormatError, InputError, quoted
from structsvm.settings import require_kind

_ASCII = bytes(range(128))
_NO_TEXTS = frozenset({"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"})
"""Encodings that Python has, of which no files are."""
_ENDS = re.compile(r"\r+(?=\n|\Z)")


class Piece(NamedTuple):
    r"""Whole lines of a file.

    Parameters
    ----------
    line : number of the first line, from 1.
    text : the lines; each ends with ``\n``, but the last one of a file may end without.
    """

    line: int
    text: str


def require_encoding(name: str) -> None:
    """Require the name of an encoding in which ASCII is ASCII.

    Raises
    ------
    InputError : Python knows none of that name, or lines of it cannot be told by their bytes.
    """
    require_kind("encoding", name, str, "the name of an encoding")
    try:
        if codecs.lookup(name).name in _NO_TEXTS:
            raise LookupError
        plain = _ASCII.decode(name) == _ASCII.decode("ascii")
    except UnicodeError:
        plain = False
    except (LookupError, ValueError):  # the second for a NUL in it
        raise InputError(f"there is no encoding {name!r}: utf-8, latin-1 and cp1252 are some") from None
    if not plain:
        raise InputError(
            f"files in {name} cannot be read, as ASCII is not itself in it: "
            f"'iconv -f {name} -t utf-8 FILE > NEW' converts them"
        )


def read_text(path: Path, encoding: str, seen: Callable[[int], None]) -> Generator[Piece]:
    r"""Read a text file, plain or compressed, once and from its beginning to its end.

    Line ends of Windows become ``\n``. Who stops early closes the generator, and with it the file. ``seen`` is told how
    many further bytes of it were read.

    Raises
    ------
    InputError : the file does not exist or cannot be read.
    DataFormatError : as `read_blocks`; or a line is not text in this encoding.
    """
    with closing(read_blocks(path, seen)) as blocks:
        for block in blocks:
            try:
                text = block.content.decode(encoding)
            except UnicodeDecodeError as error:
                raise _undecodable(block, encoding, error.start) from None
            yield Piece(block.line, _ENDS.sub("", text) if "\r" in text else text)


def _undecodable(block: Block, encoding: str, at: int) -> DataFormatError:
    begin, end = block.content.rfind(b"\n", 0, at) + 1, block.content.find(b"\n", at)
    line = block.content[begin : end if end >= 0 else len(block.content)]
    shown = quoted(line[max(0, at - begin - 20) :].rstrip(b"\r"))
    return block.fault(
        block.content.count(b"\n", 0, at),
        f"byte 0x{block.content[at]:02x} in {shown} is not text in {encoding}: the option encoding names "
        f"another, such as {'latin-1' if codecs.lookup(encoding).name == 'utf-8' else 'utf-8'}",
    )
