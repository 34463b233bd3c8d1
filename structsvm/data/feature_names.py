"""Names of features, which comments at the head of a LETOR file keep: ``# feature 3 = title.L3``."""

import re
from collections.abc import Iterable
from contextlib import closing
from os import PathLike
from pathlib import Path

from structsvm.data.blocks import Block, read_blocks
from structsvm.exceptions import InputError, quoted
from structsvm.settings import as_path

_FEATURE = re.compile(rb"# feature (\d+) = (\S+)\s*")


def load_feature_names(path: str | PathLike[str]) -> tuple[str, ...] | None:
    r"""Read the names of features at the head of a LETOR file, as `write_letor` puts them there; None without.

    Parameters
    ----------
    path : the file, plain or compressed.

    Raises
    ------
    InputError : the file does not exist or cannot be read.
    DataFormatError : names are not numbered 1, 2, ...; the message names file and line.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from structsvm.data import load_feature_names
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "train.txt"
    ...     _ = path.write_text("1 qid:1 1:0.5\n")
    ...     print(load_feature_names(path))
    None
    """
    head = Head()
    with closing(read_blocks(as_path("path", path))) as blocks:
        for block in blocks:
            head.read(block)
            if head.ended:
                break
    return head.names


class Head:
    """The comments at the head of a file, of which blocks are shown to it until it has `ended`.

    Parameters
    ----------
    strict : whether names must be numbered 1, 2, ...; else those that are not are comments like others, and names none.
    """

    def __init__(self, *, strict: bool = True) -> None:
        self._names: list[str] = []
        self._strict = strict
        self.ended = False

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of features so far; None without."""
        return tuple(self._names) or None

    def read(self, block: Block) -> None:
        """Read the next block.

        Raises
        ------
        DataFormatError : as `load_feature_names`.
        """
        start = 0
        for number in range(block.content.count(b"\n") + 1):
            end = block.content.find(b"\n", start)
            line = block.content[start : end if end >= 0 else len(block.content)]
            start = end + 1
            if line.strip() and not line.startswith(b"#"):
                self.ended = True
                return
            match = _FEATURE.fullmatch(line)
            if match is None:
                continue
            if match[1] != str(len(self._names) + 1).encode():
                if not self._strict:
                    self._names, self.ended = [], True
                    return
                raise block.fault(
                    number,
                    f"this names feature {quoted(match[1])}, but the next one is {len(self._names) + 1}: features are "
                    "named in their order, from 1",
                )
            self._names.append(match[2].decode(errors="surrogateescape"))


def agreed(names: Iterable[tuple[Path, tuple[str, ...] | None]]) -> tuple[str, ...] | None:
    """Return the names of features that files agree on, those without names aside; None if no file has them.

    Parameters
    ----------
    names : each file with its names.

    Raises
    ------
    InputError : two files have different names.
    """
    first: tuple[Path, tuple[str, ...]] | None = None
    for path, found in names:
        if found is None:
            continue
        if first is None:
            first = path, found
        elif found != first[1]:
            k = next((k for k, (a, b) in enumerate(zip(first[1], found, strict=False)) if a != b), None)
            differ = (
                f"{first[0]} names {len(first[1])} features, and {path} names {len(found)}"
                if k is None
                else f"feature {k + 1} is {first[1][k]!r} in {first[0]}, and {found[k]!r} in {path}"
            )
            raise InputError(f"{differ}: the columns of one are not those of the other; bring them into one order")
    return None if first is None else first[1]
