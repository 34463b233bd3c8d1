"""A table, apart from any format."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self, TypeAlias

from attrs import field, frozen

from structsvm.exceptions import InputError
from structsvm.settings import as_list, require_kind

Record: TypeAlias = Mapping[str, Any]
"""What a row is about: texts, numbers, truth values or None, by name.

Examples
--------
>>> from structsvm.tables import Column, Table, as_csv
>>> record = {"loss": "map", "queries": 51, "map": 0.71512}
>>> table = Table("Test queries", (Column.number("MAP", "map", ".2f"),), ((record,),))
>>> table.cells  # for people: what columns show
[[['0.72']]]
>>> print(as_csv([table]))  # for programs: all that there is
loss,queries,map
map,51,0.71512
"""


def _text(thing: Any, attribute: Any, value: Any) -> None:
    require_kind(f"{type(thing).__name__}({attribute.name}=...)", value, str, "text")


def _columns(_table: Any, _attribute: Any, columns: tuple[Any, ...]) -> None:
    for column in columns:
        require_kind("each of Table(columns=...)", column, Column, "a Column")


def _as_columns(given: Any) -> tuple[Any, ...]:
    return tuple(as_list("Table(columns=...)", given, "a list of Column"))


def _notes(given: Any) -> tuple[str, ...]:
    notes = tuple(as_list("Table(notes=...)", given, "a list of texts"))
    for note in notes:
        require_kind("each of Table(notes=...)", note, str, "text")
    return notes


def _sections(given: Any) -> tuple[tuple[Record, ...], ...]:
    sections = as_list("Table(sections=...)", given, "groups of rows")
    made = tuple(tuple(as_list("each of Table(sections=...)", each, "a list of rows")) for each in sections)
    for record in (record for section in made for record in section):
        require_kind("each row of a Table", record, Mapping, "values by name, such as {'map': 0.5}")
    return made


def _formatted(record: Record, name: str, form: str, missing: str) -> str:
    """Return a value of a record as text; raise InputError if it is missing or does not have that form."""
    if name not in record:
        raise InputError(f"a row has no value named {name!r}; it has {', '.join(map(repr, record)) or 'none'}")
    try:
        return missing if record[name] is None else format(record[name], form)
    except (TypeError, ValueError) as error:
        raise InputError(f"the value {record[name]!r} of {name!r} cannot be shown as {form!r}: {error}") from None


@frozen
class Column:
    """A column: what it shows of each row.

    Parameters
    ----------
    heading : its heading; it may be empty.
    shown : returns its text for a row.
    right : whether it is aligned to the right, as numbers are.

    Examples
    --------
    >>> from structsvm.tables import Column
    >>> Column.number("MAP", "map", ".2f").shown({"map": 0.5})
    '0.50'
    """

    heading: str = field(validator=_text)
    shown: Callable[[Record], str] = field(repr=False)
    right: bool = True

    @classmethod
    def text(cls, heading: str, name: str, *, missing: str = "") -> Self:
        """Show a text of the record, or what is shown of None, aligned to the left."""
        return cls(heading, lambda record: _formatted(record, name, "", missing), right=False)

    @classmethod
    def number(cls, heading: str, name: str, form: str = ",", *, missing: str = "") -> Self:
        """Show a number of the record.

        Parameters
        ----------
        heading : of the column.
        name : of the number in the record.
        form : how it is formatted, as in Python's format strings: ".4f" for four digits, ".0%" for a share.
        missing : what is shown of None.
        """
        return cls(heading, lambda record: _formatted(record, name, form, missing))


@frozen
class Table:
    """Rows of values, and how they are shown.

    Formats for people (text, Markdown, LaTeX, HTML) show the columns, with as many digits as can be
    compared at a glance. Formats for programs (CSV, JSON) hold the records, to the last digit.

    Parameters
    ----------
    title : a line.
    columns : the columns that are shown.
    sections : the rows, in groups that are set apart; those of a CSV file have the same names.
    notes : notes below the table, of a sentence or more each.

    Examples
    --------
    >>> from structsvm.tables import Column, Table
    >>> columns = (Column.text("loss", "loss"), Column.number("MAP", "map", ".2f"))
    >>> table = Table("Test queries", columns, (({"loss": "map", "map": 0.715}, {"loss": "ndcg", "map": 0.701}),))
    >>> table.cells
    [[['map', '0.71'], ['ndcg', '0.70']]]
    """

    title: str = field(validator=_text)
    columns: tuple[Column, ...] = field(converter=_as_columns, validator=_columns)
    sections: tuple[tuple[Record, ...], ...] = field(repr=False, converter=_sections)
    notes: tuple[str, ...] = field(default=(), repr=False, converter=_notes)

    @property
    def records(self) -> list[Record]:
        """All rows."""
        return [record for section in self.sections for record in section]

    @property
    def headings(self) -> Sequence[str]:
        """The headings of the columns."""
        return [column.heading for column in self.columns]

    @property
    def cells(self) -> list[list[list[str]]]:
        """What is shown: the texts of each row, section by section."""
        return [[[column.shown(record) for column in self.columns] for record in section] for section in self.sections]
