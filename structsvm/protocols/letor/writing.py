"""The files of a benchmark."""

from pathlib import Path

from structsvm.exceptions import InputError
from structsvm.files import check_writable, replacing
from structsvm.protocols.letor.results import Benchmark
from structsvm.protocols.letor.tables import all_tables, record_table
from structsvm.tables import as_csv, as_json, as_latex, as_markdown, as_text

FILES = ("tables.txt", "tables.md", "tables.tex", "tables.csv", "tables.json")


def prepare_folder(folder: str | Path, *, replace: bool = True) -> None:
    """Make a folder for the tables, and make sure that they can be written, before models are trained.

    Parameters
    ----------
    folder : for the tables.
    replace : tables that are there already may be replaced.

    Raises
    ------
    InputError : when they cannot.
    """
    folder = Path(folder)
    there = [name for name in FILES if (folder / name).exists()]
    if there and not replace:
        raise InputError(
            f"{folder} has the tables of another run ({', '.join(there)}), which would be replaced: choose "
            "another folder, or replace them with --force"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or error}") from None
    for name in FILES:
        check_writable(folder / name)


def write_tables(benchmark: Benchmark, folder: str | Path) -> tuple[Path, ...]:
    """Write the tables; each file takes its place when it is complete.

    ``tables.txt``, ``tables.md``, ``tables.tex`` (for LaTeX with booktabs) and ``tables.json`` have all
    tables; ``tables.csv`` has every measure, a line for each model and fold, and for the mean.

    Parameters
    ----------
    benchmark : its results.
    folder : for the files; made where it does not exist.

    Raises
    ------
    InputError : when a file cannot be written.
    """
    prepare_folder(folder)
    tables = all_tables(benchmark)
    texts = (
        "\n\n".join(map(as_text, tables)),
        as_markdown(tables),
        as_latex(tables),
        as_csv([record_table(benchmark)]),
        as_json(tables),
    )
    paths = tuple(Path(folder) / name for name in FILES)
    for path, text in zip(paths, texts, strict=True):
        with replacing(path) as file:
            file.write(text)
    return paths
