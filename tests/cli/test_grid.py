"""Tables and notes as they fit a terminal, and lines of a file."""

import pytest

from structsvm.cli.shared import console
from structsvm.foundation.tables.table import Column, Table

HEADINGS = ["run", "measure", *(f"number {k}" for k in range(12))]
ROWS = [[run, "ndcg@10", *(f"{k}.{run[-1]}234" for k in range(12))] for run in ("new1", "new2")]


def table(*, notes: tuple[str, ...] = ()) -> Table:
    columns = [Column.text("run", "0"), Column.text("measure", "1")]
    columns += [Column.number(heading, str(k), "") for k, heading in enumerate(HEADINGS[2:], start=2)]
    return Table("", tuple(columns), (tuple({str(k): cell for k, cell in enumerate(row)} for row in ROWS),), notes)


@pytest.mark.parametrize("width", [40, 80, 120])
def test_each_number_is_in_one_part_and_each_part_names_its_rows(width: int) -> None:
    parts = console.fitted(table(), width)
    assert [heading for part in parts for heading in part.headings[2:]] == HEADINGS[2:]
    assert all(list(part.headings[:2]) == HEADINGS[:2] for part in parts)
    assert [cell for part in parts for cell in part.cells[0][1][2:]] == ROWS[1][2:]


def test_a_line_that_fits_is_not_folded() -> None:
    whole = table()
    assert console.fitted(whole, 200) == [whole]


@pytest.mark.parametrize("width", [80, 60])
def test_nothing_is_wider_than_the_terminal(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(console, "_terminal_width", lambda stream: width)
    note = "A sentence on what the columns mean. " * 5
    console.show_tables(table(notes=(note,)), table(notes=(note, "Another.")))
    console.print_table(["name", "what it is"], [["map", "Average precision, " * 9]])
    output = capsys.readouterr().out
    assert max(map(len, output.splitlines())) <= width
    assert " ".join(output.split()).count(note.strip()) == 1
    assert output.count("Another.") == 1
    console.note("Advice that is long. " * 9)
    errors = capsys.readouterr().err
    assert max(map(len, errors.splitlines())) <= width


def test_without_a_terminal_a_row_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    console.show_tables(table(notes=("word " * 100,)))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines[2:4]] == ROWS
    assert lines[5] == "word " * 100
