"""Read text files in blocks of whole lines, and explain why a file is not text."""

import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE
from collections.abc import Generator, Iterator
from pathlib import Path

from attrs import evolve, frozen

from structsvm.exceptions import DataFormatError
from structsvm.foundation.storage.files import Packing, open_source, packing_of

BLOCK = 2**22
"""Bytes per read."""

LONGEST_LINE = 2**24
"""Largest number of bytes per line, because a file without line ends would fill memory."""

_OTHERS = {
    BOM_UTF32_LE: "UTF-32, not text in UTF-8: 'iconv -f UTF-32 -t UTF-8' converts it",
    BOM_UTF32_BE: "UTF-32, not text in UTF-8: 'iconv -f UTF-32 -t UTF-8' converts it",
    BOM_UTF16_LE: "UTF-16, not text in UTF-8: 'iconv -f UTF-16 -t UTF-8' converts it",
    BOM_UTF16_BE: "UTF-16, not text in UTF-8: 'iconv -f UTF-16 -t UTF-8' converts it",
    b"PK\x03\x04": "a zip archive, such as a model or a spreadsheet, not text: save a spreadsheet as CSV",
    b"\x93NUMPY": "a NumPy array, not text",
    b"PAR1": "Parquet, not text",
    b"%PDF": "PDF, not text",
}
"""Other kinds of files by their first bytes; UTF-32 begins like UTF-16, so it comes first."""

_RETURN = (
    "a carriage return within a line: if all line ends are single carriage returns, as on old Macs, convert them with "
    r"tr '\r' '\n' < FILE > NEW; else remove it"
)
_MARK = "a byte order mark begins the line, perhaps because files with byte order marks were joined: remove it"

_LONE_RETURN = re.compile(rb"\r+(?![\r\n]|\Z)")


@frozen
class Block:
    """Whole lines of a text file from number ``line``, which counts from 1.

    ``misnamed`` is the compression that the file name suggests, if the file is not compressed.
    """

    path: Path
    line: int
    content: bytes
    misnamed: Packing | None = None

    def fault(self, line: int, problem: str) -> DataFormatError:
        """Return an error about a line of the block, counted from 0."""
        hint = f"; despite its name, the file is not compressed with {self.misnamed.name}" if self.misnamed else ""
        return DataFormatError(self.path, self.line + line, f"{problem}{hint}")


def read_blocks(path: Path) -> Generator[Block]:
    """Yield the blocks of whole lines of a text file, which is read once; close the generator to stop early."""
    for block in _whole_lines(path):
        if block.line == 1:
            other = _other_kind(block.content)
            if other is not None:
                raise block.fault(0, f"this is {other}")
            block = evolve(block, content=block.content.removeprefix(BOM_UTF8))
        fault = _first_fault(block)
        if fault is None:
            yield block
            continue
        at, problem = fault
        before = evolve(block, content=block.content[: block.content.rfind(b"\n", 0, at) + 1])
        if before.content:
            yield before
        raise block.fault(before.content.count(b"\n"), problem)


def _other_kind(content: bytes) -> str | None:
    packing = packing_of(content)
    if packing is not None:
        return f"compressed with {packing.name}, and that was compressed again: unpack it once"
    return next((what for start, what in _OTHERS.items() if content.startswith(start)), None)


def _whole_lines(path: Path) -> Iterator[Block]:
    with open_source(path) as source:
        misnamed = source.misnamed
        # The beginning of a line whose end has not been read yet.
        held: list[bytes] = []
        length, line = 0, 1
        while chunk := source.read(BLOCK):
            first = chunk.find(b"\n")
            if length + (len(chunk) if first < 0 else first) > LONGEST_LINE:
                block = Block(path, line, b"".join(held), misnamed)
                raise block.fault(0, (_first_fault(block) or (0, f"the line is longer than {LONGEST_LINE:,} bytes"))[1])
            if first < 0:
                held.append(chunk)
                length += len(chunk)
                continue
            end = chunk.rfind(b"\n") + 1
            block = Block(path, line, b"".join([*held, chunk[:end]]), misnamed)
            held = [chunk[end:]]
            length = len(held[0])
            line += block.content.count(b"\n")
            yield block
        if length:
            yield Block(path, line, b"".join(held), misnamed)


def _first_fault(block: Block) -> tuple[int, str] | None:
    """Return line and description of the first byte that text cannot have."""
    content, faults = block.content, []
    nul = content.find(b"\0")
    if nul >= 0:
        faults.append((nul, "this is binary or UTF-16, not text in UTF-8 or ASCII"))
    if b"\r" in content and content.count(b"\r") > content.count(b"\r\n") and (lone := _LONE_RETURN.search(content)):
        faults.append((lone.start(), _RETURN))
    mark = 0 if block.line > 1 and content.startswith(BOM_UTF8) else content.find(b"\n" + BOM_UTF8) + 1 or -1
    if mark >= 0:
        faults.append((mark, _MARK))
    return min(faults, default=None)


def is_plain_number(text: str) -> bool:
    """Return whether a text has only ASCII digits, signs, "." and "e"; Python's ``int`` and ``float`` accept more."""
    return not text.encode().translate(None, b"0123456789+-.eE")
