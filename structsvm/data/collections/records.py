"""What readers of formats are given and return: a file, and the records in it."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from attrs import frozen

from structsvm.data.collections.text import Piece
from structsvm.exceptions import DataFormatError

Kind: TypeAlias = Literal["document", "topic"]


@frozen
class File:
    """A file that is being read.

    Parameters
    ----------
    path : what messages call it.
    pieces : its text, which is read once.
    kind : what it holds.
    id_field : name of the field that holds the id, in formats whose fields have names of one's own. None: by rule.
    """

    path: Path
    pieces: Iterator[Piece]
    kind: Kind
    id_field: str | None = None

    def fault(self, line: int | None, problem: str) -> DataFormatError:
        """Return the error of a line, numbered from 1; None: of the whole file."""
        return DataFormatError(self.path, line, problem)

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield the number of each line, from 1, and the line without its end."""
        for piece in self.pieces:
            lines = piece.text.split("\n")
            if not lines[-1]:
                lines.pop()
            yield from enumerate(lines, start=piece.line)


class Record(NamedTuple):
    """A document or a topic as a format has it.

    Parameters
    ----------
    line : where it begins, from 1.
    id : its id as written, with blanks around; nothing is known of it.
    fields : text by name; white space may be around it, or all of it.
    """

    line: int
    id: str
    fields: Mapping[str, str]


Reader: TypeAlias = Callable[[File], Iterator[Record]]
