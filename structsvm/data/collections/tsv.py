"""Tables: columns that a tab separates, nothing quoted, with a header that names them or without."""

from collections.abc import Iterator

from structsvm.data.collections.records import File, Record
from structsvm.exceptions import quoted
from structsvm.settings import repeated


def read(file: File) -> Iterator[Record]:
    """Yield the documents or topics of a file of two columns, the id and the text.

    Raises
    ------
    DataFormatError : a line has other columns.
    """
    for line, content in file.lines():
        if not content or content.isspace():
            continue
        cells = content.split("\t")
        if len(cells) != 2:
            raise file.fault(
                line,
                f"{_columns(cells)} in {quoted(content)}, but a line reads '<id> TAB <text>'; "
                "the format tsv-header reads more, named by the first line",
            )
        yield Record(line, cells[0], {"text": cells[1]})


def read_with_header(file: File) -> Iterator[Record]:
    """Yield the documents or topics of a file whose first line names its columns; the first of them is the id.

    Raises
    ------
    DataFormatError : a name is empty or there twice, or a line has more or fewer columns.
    """
    names: list[str] = []
    for line, content in file.lines():
        if not content or content.isspace():
            continue
        cells = content.split("\t")
        if not names:
            names = _names(file, line, cells)
            id_field = names[0] if file.id_field is None else file.id_field
            if id_field not in names:
                raise file.fault(line, f"there is no column {quoted(id_field)}: the header names {', '.join(names)}")
            continue
        if len(cells) != len(names):
            raise file.fault(line, f"{_columns(cells)} in {quoted(content)}, but the header names {len(names)}")
        fields = dict(zip(names, cells, strict=True))
        yield Record(line, fields.pop(id_field), fields)


def _names(file: File, line: int, cells: list[str]) -> list[str]:
    names = [cell.strip() for cell in cells]
    if len(names) < 2:
        raise file.fault(line, f"the header {quoted(names[0])} names one column: there is an id, and a text at least")
    if "" in names:
        raise file.fault(line, f"the header has no name for column {names.index('') + 1}")
    twice = repeated(names)
    if twice is not None:
        raise file.fault(line, f"the header names {quoted(twice)} twice")
    return names


def _columns(cells: list[str]) -> str:
    return "there is 1 column" if len(cells) == 1 else f"there are {len(cells)} columns"
