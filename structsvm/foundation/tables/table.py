"""Tables, and their forms as text and CSV."""

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from textwrap import fill
from typing import Any, Self, TypeAlias

from attrs import evolve, field, frozen

from structsvm.exceptions import InputError, printable
from structsvm.foundation.tables.layout import lay_out

Record: TypeAlias = Mapping[str, Any]
"""Values of a row by name: text, numbers, truth values or None."""

P_VALUE = ".2g"
"""Format of all p-values that people read: two significant digits."""


_LINE = 100
_FORMULA = re.compile("'*[\n=+@\uff1d\uff0b\uff20\uff0d-]")
"""Beginning of text that spreadsheets take for formulas; fullwidth signs come from East Asian keyboards."""


def _formatted(record: Record, name: str, form: str, missing: str) -> str:
    """Format a value of a record; raise InputError if it is missing or does not fit the format."""
    if name not in record:
        raise InputError(f"a row has no value named {name!r}; it has {', '.join(map(repr, record)) or 'none'}")
    try:
        return missing if record[name] is None else format(record[name], form)
    except (TypeError, ValueError) as error:
        raise InputError(f"the value {record[name]!r} of {name!r} does not fit the format {form!r}: {error}") from None


@frozen
class Column:
    """A column: its heading, the function that returns its text for a row, and whether it is aligned to the right."""

    heading: str
    shown: Callable[[Record], str] = field(repr=False)
    right: bool = True

    @classmethod
    def text(cls, heading: str, name: str, *, missing: str = "") -> Self:
        """Show a text of the record, or ``missing`` for None, aligned to the left."""
        return cls(heading, lambda record: _formatted(record, name, "", missing), right=False)

    @classmethod
    def number(cls, heading: str, name: str, form: str = ",", *, missing: str = "") -> Self:
        """Show a number of the record in a Python format such as ".4f", or ``missing`` for None."""
        return cls(heading, lambda record: _formatted(record, name, form, missing))

    @classmethod
    def p_value(cls, heading: str, name: str, *, missing: str = "") -> Self:
        """Show a p-value of the record with two significant digits, or ``missing`` for None."""
        return cls.number(heading, name, P_VALUE, missing=missing)


@frozen
class Table:
    """A table: columns for people, sections of records, which programs get with all digits, and notes below."""

    title: str
    columns: tuple[Column, ...]
    sections: tuple[tuple[Record, ...], ...] = field(repr=False)
    notes: tuple[str, ...] = field(default=(), repr=False)

    @property
    def records(self) -> list[Record]:
        """All rows."""
        return [record for section in self.sections for record in section]

    @property
    def headings(self) -> Sequence[str]:
        return [column.heading for column in self.columns]

    @property
    def cells(self) -> list[list[list[str]]]:
        """The texts of each row, section by section."""
        return [[[column.shown(record) for column in self.columns] for record in section] for section in self.sections]

    def __str__(self) -> str:
        return as_text(self)

    def to_csv(self) -> str:
        """Return the records as CSV, with a line of headings."""
        return as_csv([self])


def as_text(table: Table) -> str:
    """Return a table as text: title, headings, rows, and its notes in lines of up to 100 characters."""
    rows = "\n".join(lay_out(table.headings, table.cells, [column.right for column in table.columns]))
    title, *notes = map(printable, (table.title, *table.notes))
    return "\n".join([*filter(None, [title]), rows, *(("\n" + fill(note, _LINE)) for note in notes), ""])


def with_notes_once(tables: Sequence[Table]) -> list[Table]:
    """Return tables with each note below its first table only."""
    shown = set[str]()
    results = []
    for table in tables:
        results.append(evolve(table, notes=tuple(note for note in dict.fromkeys(table.notes) if note not in shown)))
        shown.update(table.notes)
    return results


def as_csv(tables: Sequence[Table], names: Iterable[str] | None = None) -> str:
    """Return the records of tables as CSV, with an apostrophe before texts that spreadsheets take for formulas."""
    text = io.StringIO()
    records = [record for table in tables for record in table.records]
    columns = tuple(records[0] if records else ()) if names is None else tuple(names)
    for number, record in enumerate(records):
        if not set(record) <= set(columns):
            raise InputError(
                f"row {number} has the values {', '.join(map(repr, record))}, and the columns are "
                f"{', '.join(map(repr, columns))}: all rows of a CSV file must have the same names"
            )
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _harmless(value) for name, value in record.items()} for record in records)
    return text.getvalue()


def _harmless(value: object) -> object:
    """Return a value that spreadsheets do not take for a formula."""
    if not isinstance(value, str):
        return value
    text = "\n".join(map(printable, value.split("\n")))
    return f"'{text}" if _FORMULA.match(text) and not _is_numeral(text) else text


def _is_numeral(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
