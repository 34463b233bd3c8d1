"""A table, apart from any format."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self, TypeAlias

from attrs import field, frozen

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

    heading: str
    shown: Callable[[Record], str] = field(repr=False)
    right: bool = True

    @classmethod
    def text(cls, heading: str, name: str, *, missing: str = "") -> Self:
        """Show a text of the record, or what is shown of None, aligned to the left."""
        return cls(heading, lambda record: missing if record[name] is None else str(record[name]), right=False)

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
        return cls(heading, lambda record: missing if record[name] is None else format(record[name], form))


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
        """The headings of the columns."""
        return [column.heading for column in self.columns]

    @property
    def cells(self) -> list[list[list[str]]]:
        """What is shown: the texts of each row, section by section."""
        return [[[column.shown(record) for column in self.columns] for record in section] for section in self.sections]
