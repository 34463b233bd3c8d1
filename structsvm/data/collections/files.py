"""Decoded text of files in pieces of whole lines, and raw records of documents and topics."""

import codecs
import re
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from attrs import frozen

from structsvm.data.blocks import Block, read_blocks
from structsvm.exceptions import DataFormatError, InputError, quoted
from structsvm.foundation.settings import require_kind

Kind: TypeAlias = Literal["document", "topic"]

_ASCII = bytes(range(128))
_NO_TEXTS = frozenset({"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"})
"""Python encodings that are not used for files."""
_ENDS = re.compile(r"\r+(?=\n|\Z)")


class Piece(NamedTuple):
    r"""Whole lines of a file that end with ``\n``; ``line`` is the number of the first one, from 1."""

    line: int
    text: str


class Record(NamedTuple):
    """A raw document or topic; ``line`` counts from 1, and id and fields are neither checked nor stripped."""

    line: int
    id: str
    fields: Mapping[str, str]


@frozen
class File:
    """A file whose text can be read once; ``id_field`` is None if the format finds the id."""

    path: Path
    pieces: Iterator[Piece]
    kind: Kind
    id_field: str | None = None

    def fault(self, line: int | None, problem: str) -> DataFormatError:
        """Return an error about a line, numbered from 1, or about the whole file."""
        return DataFormatError(self.path, line, problem)

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield each line without its end, and its number from 1."""
        for piece in self.pieces:
            yield from enumerate(piece.text.removesuffix("\n").split("\n"), start=piece.line)


Reader: TypeAlias = Callable[[File], Iterator[Record]]


def require_encoding(name: str) -> None:
    """Raise InputError unless it names an encoding that extends ASCII."""
    require_kind("encoding", name, str, "the name of an encoding")
    try:
        if codecs.lookup(name).name in _NO_TEXTS:
            raise LookupError
        plain = _ASCII.decode(name) == _ASCII.decode("ascii")
    except UnicodeError:
        plain = False
    except (LookupError, ValueError):
        # A NUL in the name raises ValueError.
        raise InputError(f"unknown encoding {name!r}; choose for example utf-8, latin-1 or cp1252") from None
    if not plain:
        raise InputError(
            f"files in {name} cannot be read, because it does not extend ASCII: "
            f"'iconv -f {name} -t utf-8 FILE > NEW' converts them"
        )


def read_text(path: Path, encoding: str) -> Generator[Piece]:
    r"""Read a plain or compressed text file once; Windows line ends become ``\n``. See `read_blocks`."""
    with closing(read_blocks(path)) as blocks:
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
    other = "latin-1" if codecs.lookup(encoding).name == "utf-8" else "utf-8"
    problem = (
        f"byte 0x{block.content[at]:02x} in {shown} is not text in {encoding}: name another encoding, such as {other}"
    )
    return block.fault(block.content.count(b"\n", 0, at), problem)
