"""The files that tables are written to."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from structsvm.storage.files import check_writable, make_folder, replacement
from structsvm.tables.base import Table
from structsvm.tables.formats import as_csv, as_json, as_latex, as_markdown, as_text

FILES = ("tables.txt", "tables.md", "tables.tex", "tables.csv", "tables.json")
"""As text, Markdown, LaTeX, CSV and JSON."""


def table_texts(tables: Sequence[Table], for_csv: Sequence[Table]) -> dict[str, str]:
    """Return tables in each format, by the names of the files.

    Parameters
    ----------
    tables : for all files but that of CSV.
    for_csv : those whose records are the lines of the CSV file.
    """
    texts = ("\n\n".join(map(as_text, tables)), as_markdown(tables), as_latex(tables), as_csv(for_csv), as_json(tables))
    return dict(zip(FILES, texts, strict=True))


def prepare_files(folder: Path, names: Iterable[str]) -> tuple[Path, ...]:
    """Make a folder, make sure that files of these names can be written there, and return their paths.

    Raises
    ------
    InputError : when one cannot.
    """
    make_folder(folder)
    paths = tuple(folder / name for name in names)
    for path in paths:
        check_writable(path)
    return paths


def write_texts(texts: Mapping[str, str], folder: Path) -> tuple[Path, ...]:
    """Write files to a folder, which is made where it does not exist: when all are complete, they take their places.

    Parameters
    ----------
    texts : their contents by name.
    folder : for the files.

    Raises
    ------
    InputError : when a file cannot be written.
    """
    paths = prepare_files(folder, texts)
    with ExitStack() as complete:
        for path, text in zip(paths, texts.values(), strict=True):
            complete.enter_context(replacement(path)).write_text(text, encoding="utf-8")
    return paths
