"""The files of a report."""

from pathlib import Path

from attrs import frozen

from structsvm.exceptions import InputError
from structsvm.files import replacing
from structsvm.protocols.experiment import Results
from structsvm.protocols.experiment.report.page import as_page
from structsvm.protocols.experiment.report.tables import all_tables, map_tables, query_table
from structsvm.tables import as_csv, as_json, as_latex, as_markdown, as_text

PAGE = "report.html"


@frozen
class Written:
    """What was written.

    Parameters
    ----------
    page : the HTML page.
    tables : files of tables.
    missing : why the page has no plots, and the way out; "" where it has them.
    """

    page: Path
    tables: tuple[Path, ...]
    missing: str


def write_report(results: Results, folder: str | Path, *, title: str | None = None) -> Written:
    """Write an HTML page, and the tables in other formats; each file takes its place when it is complete.

    ``report.html`` has everything. ``tables.txt``, ``tables.md``, ``tables.tex`` (for LaTeX with
    booktabs) and ``tables.json`` have the statistics of the data, MAP, and training; ``tables.csv``
    has MAP, a line for each variant, denominator and row; ``queries.csv`` has average precision, a line
    for each variant and query.

    Parameters
    ----------
    results : of an experiment.
    folder : for the files; made where it does not exist.
    title : of the page; None: the name of the folder.

    Raises
    ------
    InputError : when a file cannot be written.
    """
    folder = Path(folder)
    page = as_page(results, folder.resolve().name if title is None else title)
    tables = all_tables(results)
    texts = {
        "tables.txt": "\n\n".join(map(as_text, tables)),
        "tables.md": as_markdown(tables),
        "tables.tex": as_latex(tables),
        "tables.csv": as_csv(map_tables(results)),
        "tables.json": as_json(tables),
        "queries.csv": as_csv([query_table(results, variant) for variant in results.variants]),
        PAGE: page.html,
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or error}") from None
    for name, text in texts.items():
        with replacing(folder / name) as file:
            file.write(text)
    return Written(folder / PAGE, tuple(folder / name for name in texts if name != PAGE), page.missing)
