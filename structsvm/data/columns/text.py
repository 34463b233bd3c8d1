"""Text tables: CSV and TSV with column names in the first line."""

import csv
import math
from collections.abc import Iterator
from contextlib import closing, contextmanager
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve, frozen

from structsvm.data.blocks import Block, is_plain_number, read_blocks
from structsvm.data.columns.base import ONLY_MISSING, Batch, ColumnFile, Wanted, require_distinct
from structsvm.exceptions import DataFormatError, quoted
from structsvm.foundation.categories import are_dates
from structsvm.foundation.extras import needed

_MORE = "more"
"""Name of the column for cells beyond the header; the other columns have numbers as names."""

_MISSING = frozenset(
    {"", " ", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A"}
    | {"NA", "NULL", "NaN", "None", "n/a", "nan", "null"}
)
"""Contents of missing cells: a blank, and the texts that pandas.read_csv counts as missing."""

_TRUTHS = {"true": 1.0, "false": 0.0}
"""Truth values in lower case, and their numbers."""


@frozen(eq=False)
class TextTable(ColumnFile):
    """An open text table, whose first block, ``start``, decides which columns are ``numeric``, or ``nearly``.

    Columns of ``truths`` have True and False instead of numbers; they are numeric, too.
    """

    nearly: frozenset[str]
    truths: frozenset[str]
    separator: str
    start: Block
    blocks: Iterator[Block]

    def nearly_numeric(self, name: str) -> DataFormatError | None:
        wanted = Wanted([name], (), math.inf, [name], [name])
        return self.fault(self.start, wanted) if name in self.nearly else None

    def batches(self, wanted: Wanted) -> Iterator[Batch]:
        for block in self.blocks:
            if not block.content.isspace():
                yield self._batch(block, wanted)

    def _batch(self, block: Block, wanted: Wanted) -> Batch:
        with needed("tables need pandas", "tools"):
            import pandas as pd
        # pandas gets numbers as names, because the names may be anything.
        place = {name: str(k) for k, name in enumerate(self.names)}
        header = self.separator.join([*place.values(), _MORE]) + "\n"
        try:
            self._require_columns(block.content)
            table = pd.read_csv(
                BytesIO(header.encode() + block.content),
                sep=self.separator,
                usecols=[*(place[name] for name in (*wanted.numbers, *wanted.texts)), _MORE],
                dtype={
                    **{place[name]: str if name in self.truths else np.float64 for name in wanted.numbers},
                    **dict.fromkeys([*(place[name] for name in wanted.texts), _MORE], str),
                },
                index_col=False,
                keep_default_na=False,
                na_values={place[name]: list(_MISSING) for name in wanted.optional},
                na_filter=bool(wanted.optional),
                **_precisely(),
                low_memory=False,
            )
            for name in self.truths.intersection(wanted.numbers):
                texts = table[place[name]]
                table[place[name]] = texts.str.strip().str.lower().map(_TRUTHS)
                if not texts.isna().equals(table[place[name]].isna()):
                    raise ValueError("a cell is neither True nor False")
            values = table[[place[name] for name in wanted.numbers]].to_numpy(np.float64)
            right = (np.abs(values) <= wanted.largest) | (np.isnan(values) & wanted.may_lack)
            if (table[_MORE] != "").any() or not right.all():
                raise ValueError("a line has too many columns, or a number is not finite")
            if not block.content.isascii():
                block.content.decode()
        except (ValueError, OverflowError) as error:
            raise self.fault(block, wanted) or block.fault(
                0, f"pandas cannot read from this line on: {error}"
            ) from None
        texts = {name: table[place[name]].fillna("").str.strip().to_numpy(object) for name in wanted.texts}
        return Batch(values, texts)

    def _require_columns(self, content: bytes) -> None:
        """Raise ValueError if a line has too few or too many columns."""
        lines = [line for line in content.split(b"\n") if line.strip(b" \t\r")]
        if b'"' in content:
            wrong = any(len(_cells(line, self.separator)) != len(self.names) for line in lines)
        else:
            wrong = content.count(self.separator.encode()) != len(lines) * (len(self.names) - 1)
        if wrong:
            raise ValueError("a line has too few columns, or too many")

    def fault(self, block: Block, wanted: Wanted) -> DataFormatError | None:
        """Return the error of the first line that cannot be read, or None."""
        place_of = {name: place for place, name in enumerate(self.names)}
        places = [(name, place_of[name]) for name in wanted.numbers]
        for number, line in enumerate(block.content.split(b"\n")):
            if not line.strip(b" \t\r"):
                continue
            name = ""
            try:
                cells = _cells(line, self.separator)
                if len(cells) != len(self.names):
                    raise ValueError(f"the line has {len(cells)} columns, but the first line names {len(self.names)}")
                for name, place in places:
                    if name in wanted.optional and cells[place] in _MISSING:
                        continue
                    if name in self.truths and cells[place].strip(" "):
                        _require_truth(cells[place], name)
                    else:
                        _require_number(cells[place], name, wanted.largest, optional=name in wanted.optional)
            except UnicodeDecodeError:
                return block.fault(number, "this is not text in UTF-8")
            except ValueError as fault:
                return block.fault(number, f"{fault}{wanted.advice(name)}")
        return None


@contextmanager
def open_text(path: Path) -> Iterator[TextTable]:
    """Open a text table."""
    with closing(read_blocks(path)) as blocks:
        first = next(blocks, None)
        if first is None:
            raise DataFormatError(path, None, "the file is empty: its first line names the columns")
        line, _, rest = first.content.partition(b"\n")
        separator = "\t" if b"\t" in line else ","
        names = _header(first, line, separator)
        behind = evolve(first, line=first.line + 1, content=rest)
        body = next((block for block in chain([behind], blocks) if block.content.strip()), behind)
        lines = chain([body] if body.content else [], blocks)
        none = frozenset[str]()
        table = TextTable(path, names, none, none, {}, none, none, none, separator, body, lines)
        yield evolve(table, **_kinds(table))


def _header(block: Block, line: bytes, separator: str) -> tuple[str, ...]:
    try:
        names = tuple(cell.strip() for cell in _cells(line, separator))
    except ValueError as error:
        raise block.fault(0, f"the first line, which names the columns, cannot be read: {error}") from None
    if len(names) < 2:
        way = ": save the file with commas, and with points in decimal numbers" * (b";" in line)
        wanted = "the first line must name the columns, separated by commas or tabs"
        raise block.fault(0, f"{wanted}: {quoted(line[:60])} names one{way}")
    if all(map(_is_number, names)):
        raise block.fault(0, "the first line must name the columns, but has numbers")
    if not names[0]:
        # pandas writes an index without a name, and gives it this name when it reads the file.
        names = ("Unnamed: 0.1" if "Unnamed: 0" in names else "Unnamed: 0", *names[1:])
    require_distinct(names, lambda problem: block.fault(0, problem))
    return names


def _cells(line: bytes, separator: str) -> list[str]:
    """Return the cells of a line; raise ValueError if it is not text, or a quote is not closed."""
    try:
        return next(csv.reader([line.rstrip(b"\r").decode()], delimiter=separator, strict=True), [])
    except csv.Error as error:
        raise ValueError(f"a cell in quotes has no end on its line ({error})") from None


def _kinds(table: TextTable) -> dict[str, Any]:
    """Return the columns by kind: ``numeric``, ``nearly`` numeric, ``truths`` and ``others``, by the first block."""
    with needed("tables need pandas", "tools"):
        import pandas as pd
    block = table.start
    if block.content.isspace() or not block.content:
        return {}
    try:
        read = pd.read_csv(
            BytesIO(block.content), sep=table.separator, header=None, index_col=False, dtype=str, na_filter=False
        )
        if read.shape[1] != len(table.names):
            raise ValueError("a line has too few columns, or too many")
    except ValueError as error:
        raise table.fault(block, Wanted((), (), math.inf)) or block.fault(
            0, f"pandas cannot read from this line on: {error}"
        ) from None
    numeric, nearly, truths, others = set[str](), set[str](), set[str](), dict[str, str]()
    for name, column in zip(table.names, read.to_numpy(object).T, strict=True):
        there = [text for text in column if text not in _MISSING]
        if not there:
            others[name] = ONLY_MISSING
        elif all(map(_is_number, there)):
            numeric.add(name)
        elif all(text.strip().lower() in _TRUTHS for text in there):
            truths.add(name)
            numeric.add(name)
        elif 2 * sum(map(_is_number, there)) > len(there):
            nearly.add(name)
        elif are_dates(there):
            others[name] = "dates"
    kinds = {"numeric": numeric, "nearly": nearly, "truths": truths}
    return {**{kind: frozenset(names) for kind, names in kinds.items()}, "others": others}


def _precisely() -> dict[str, Any]:
    """Return the setting that makes pandas read the nearest float64; pandas 3.1 deprecates it as the default."""
    import pandas as pd

    major, minor = (int(part) for part in pd.__version__.split(".")[:2])
    return {} if (major, minor) >= (3, 1) else {"float_precision": "round_trip"}


def _is_number(text: str) -> bool:
    try:
        return is_plain_number(text.strip(" ")) and math.isfinite(float(text))
    except ValueError:
        return False


def _require_truth(text: str, name: str) -> None:
    if text.strip().lower() not in _TRUTHS:
        raise ValueError(f"{quoted(text)} in column {quoted(name)} is neither True nor False, as the cells above it")


def _require_number(text: str, name: str, largest: float, *, optional: bool) -> None:
    if not text.strip(" "):
        raise ValueError(f"column {quoted(name)} is empty: fill in the value")
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not _is_number(text):
        what = "not finite" if math.isinf(number) or text.strip().lower().lstrip("+-") == "nan" else "not a number"
        empty = ": correct it, or leave the cell empty if the value is missing" if optional else ""
        raise ValueError(f"{quoted(text)} in column {quoted(name)} is {what}{empty}")
    if abs(number) > largest:
        raise ValueError(f"{quoted(text)} in column {quoted(name)} is beyond float32: read the file as float64")
