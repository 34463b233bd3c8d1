"""Tables of text: CSV, whose columns a comma separates, and TSV, where a tab does; the first line names the columns."""

import csv
import math
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve, frozen

from structsvm.data.blocks import Block, is_plain, read_blocks
from structsvm.data.columns.base import NO_FEATURE, Batch
from structsvm.exceptions import DataFormatError, quoted
from structsvm.settings import repeated

_MORE = "more"
"""Name of what a line has beyond its columns, which are numbered."""

_MISSING = {"", "nan", "na", "null"}
"""What cells without a value hold, in small letters."""


@frozen(eq=False)
class TextTable:
    """A table of text, open. Made by `open_text`; see `structsvm.data.columns.base.ColumnFile`.

    Parameters
    ----------
    path, names, numeric : see there; a column is one of numbers if all cells are in the first block of some megabytes.
    nearly : names of columns that are not, but of whose values more than half are numbers in that block.
    separator : what separates columns.
    start : that block.
    blocks : the lines behind the first; the block is the first of them.
    """

    path: Path
    names: tuple[str, ...]
    numeric: frozenset[str]
    nearly: frozenset[str]
    separator: str
    start: Block
    blocks: Iterator[Block]

    @property
    def index(self) -> frozenset[str]:
        """Nothing: text does not tell such columns."""
        return frozenset()

    def nearly_numeric(self, name: str) -> DataFormatError | None:
        """Return what is wrong with a column; see `structsvm.data.columns.base.ColumnFile`."""
        return self.fault(self.start, [name], math.inf, [name]) if name in self.nearly else None

    def batches(
        self, numbers: Sequence[str], texts: Sequence[str], largest: float, unnamed: Collection[str] = ()
    ) -> Iterator[Batch]:
        """Return all rows, some at a time; see `structsvm.data.columns.base.ColumnFile`."""
        for block in self.blocks:
            if not block.content.isspace():
                yield self._batch(block, numbers, texts, largest, unnamed)

    def _batch(
        self, block: Block, numbers: Sequence[str], texts: Sequence[str], largest: float, unnamed: Collection[str]
    ) -> Batch:
        import pandas as pd

        place = {name: str(k) for k, name in enumerate(self.names)}  # names may be anything
        header = self.separator.join([*place.values(), _MORE]) + "\n"
        try:
            self._require_columns(block.content)
            table = pd.read_csv(
                BytesIO(header.encode() + block.content),
                sep=self.separator,
                usecols=[*(place[name] for name in (*numbers, *texts)), _MORE],
                dtype={
                    **dict.fromkeys([place[name] for name in numbers], np.float64),
                    **dict.fromkeys([*(place[name] for name in texts), _MORE], str),
                },
                index_col=False,
                na_filter=False,
                **_precisely(),
                low_memory=False,
            )
            values = table[[place[name] for name in numbers]].to_numpy(np.float64)
            if (table[_MORE] != "").any() or not (np.abs(values) <= largest).all():
                raise ValueError("a line has too many columns, or a number is not finite")
            if not block.content.isascii():
                block.content.decode()
        except (ValueError, OverflowError) as error:
            raise self.fault(block, numbers, largest, unnamed) or block.fault(
                0, f"pandas cannot read what begins here: {error}"
            ) from None
        return Batch(values, {name: table[place[name]].str.strip().to_numpy(object) for name in texts})

    def _require_columns(self, content: bytes) -> None:
        """Require as many separators as the columns of all lines need; with quotes, each line is looked at."""
        lines = [line for line in content.split(b"\n") if line.strip(b" \t\r")]
        if b'"' in content:
            wrong = any(len(self._cells(line)) != len(self.names) for line in lines)
        else:
            wrong = content.count(self.separator.encode()) != len(lines) * (len(self.names) - 1)
        if wrong:
            raise ValueError("a line has too few columns, or too many")

    def _cells(self, line: bytes) -> list[str]:
        """Return the cells of a line; ValueError where a quoted one has no end."""
        text = line.rstrip(b"\r").decode()
        try:
            rows = list(csv.reader([text], delimiter=self.separator, strict=True))
        except csv.Error as error:
            raise ValueError(f"a cell in quotes has no end on its line ({error})") from None
        return rows[0] if rows else []

    def fault(
        self, block: Block, numbers: Sequence[str], largest: float, unnamed: Collection[str] = ()
    ) -> DataFormatError | None:
        """Return the error of the first line that cannot be read; None without one."""
        place_of = {name: place for place, name in enumerate(self.names)}
        places = [(name, place_of[name]) for name in numbers]
        for number, line in enumerate(block.content.split(b"\n")):
            if not line.strip(b" \t\r"):
                continue
            name = ""
            try:
                cells = self._cells(line)
                if len(cells) != len(self.names):
                    raise ValueError(f"the line has {len(cells)} columns, but the first line names {len(self.names)}")
                for name, place in places:
                    _require_number(cells[place], name, largest)
            except UnicodeDecodeError:
                return block.fault(number, "this is not text in UTF-8")
            except ValueError as fault:
                return block.fault(number, f"{fault}{NO_FEATURE * (name in unnamed)}")
        return None


@contextmanager
def open_text(path: Path) -> Iterator[TextTable]:
    """Open a table of text.

    Raises
    ------
    InputError : the file does not exist or cannot be read.
    DataFormatError : it has no rows, or its first line does not name columns.
    """
    with closing(read_blocks(path)) as blocks:
        first = next(blocks, None)
        if first is None:
            raise DataFormatError(path, None, "the file is empty: its first line names the columns")
        line, _, rest = first.content.partition(b"\n")
        separator = "\t" if b"\t" in line else ","
        names = _header(first, line, separator)
        behind = evolve(first, line=first.line + 1, content=rest)
        body = next((each for each in chain([behind], blocks) if each.content.strip()), behind)
        lines = chain([body] if body.content else [], blocks)
        table = TextTable(path, names, frozenset(), frozenset(), separator, body, lines)
        numeric, nearly = _numeric(table)
        yield evolve(table, numeric=numeric, nearly=nearly)


def _header(block: Block, line: bytes, separator: str) -> tuple[str, ...]:
    try:
        cells = next(csv.reader([line.rstrip(b"\r").decode()], delimiter=separator, strict=True), [])
    except (csv.Error, UnicodeDecodeError) as error:
        raise block.fault(0, f"the first line names the columns, and cannot be read: {error}") from None
    names = tuple(cell.strip() for cell in cells)
    if len(names) < 2:
        raise block.fault(
            0, f"the first line names the columns, separated by commas or tabs, and {quoted(line[:60])} has one"
        )
    if all(map(_is_number, names)):
        raise block.fault(0, "the first line must name the columns, and holds numbers")
    if "" in names:
        raise block.fault(0, f"column {names.index('') + 1} has no name: the first line names the columns")
    twice = repeated(names)
    if twice is not None:
        raise block.fault(0, f"two columns are named {quoted(twice)}")
    return names


def _numeric(table: TextTable) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names of columns that hold numbers as far as the first block goes, and of those that nearly do."""
    import pandas as pd

    block = table.start
    if block.content.isspace() or not block.content:
        return frozenset(), frozenset()
    try:
        read = pd.read_csv(
            BytesIO(block.content), sep=table.separator, header=None, index_col=False, dtype=str, na_filter=False
        )
        if read.shape[1] != len(table.names):
            raise ValueError("a line has too few columns, or too many")
    except ValueError as error:
        raise table.fault(block, [], math.inf) or block.fault(
            0, f"pandas cannot read what begins here: {error}"
        ) from None
    numeric, nearly = set[str](), set[str]()
    for name, column in zip(table.names, read.to_numpy(object).T, strict=True):
        if all(map(_is_number, column[:100])) and all(map(_is_number, column)):
            numeric.add(name)
            continue
        there = [text for text in column if text.strip().lower() not in _MISSING]
        if 2 * sum(map(_is_number, there)) > len(there):
            nearly.add(name)
    return frozenset(numeric), frozenset(nearly)


def _precisely() -> dict[str, Any]:
    """Return what makes pandas read the nearest float64: its default from 3.1 on, where the setting is a warning."""
    import pandas as pd

    major, minor = (int(part) for part in pd.__version__.split(".")[:2])
    return {} if (major, minor) >= (3, 1) else {"float_precision": "round_trip"}


def _is_number(text: str) -> bool:
    try:
        return is_plain(text.strip(" ")) and math.isfinite(float(text))
    except ValueError:
        return False


def _require_number(text: str, name: str, largest: float) -> None:
    if not text.strip(" "):
        raise ValueError(f"column {quoted(name)} is empty: fill in what is missing")
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not _is_number(text):
        what = "not finite" if math.isinf(number) or text.strip().lower().lstrip("+-") == "nan" else "not a number"
        raise ValueError(f"{quoted(text)} in column {quoted(name)} is {what}")
    if abs(number) > largest:
        raise ValueError(f"{quoted(text)} in column {quoted(name)} is beyond float32: read the file as float64")
