"""Write the page for users and the notes from the stored results. Git ignores the notes."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from attrs import evolve

from benchmarks.harness.page import users_page
from benchmarks.harness.rows import COLUMNS, Row, Target
from benchmarks.harness.store import NAMES, ROOT, load, read
from structsvm.foundation.tables.formats import as_markdown
from structsvm.foundation.tables.table import Column, Table

PAGE = "docs/benchmarks.md"
NOTES = "benchmarks/notes"

PLOTS = {
    "average_precision": {
        "docs/_static/proved.svg": "seconds until the gap is proved, against C",
        f"{NOTES}/gap.svg": "primal gap against time",
        f"{NOTES}/passes.svg": "passes against C",
    },
    "sparse": {f"{NOTES}/memory.svg": "peak memory"},
}
"""Plots of each benchmark with their captions; `benchmarks.harness.plots` draws them."""

TARGETS = "targets"
INDEX = """# Notes on the benchmarks

<!-- Written by `python -m benchmarks report`; edit benchmarks/ instead. -->

These notes have every table of every benchmark, with its method, machine and date.
[The page for users](../../docs/benchmarks.md) has the conclusions. How to read the tables:

- Both sides of a comparison ran in one process or took turns, so compare ratios before seconds.
- Times are medians of wall-clock seconds on one thread, with compiled code warm and data in memory, unless the note
  differs.
- "units of X @ w" is the time in units of one product of the data with a vector by NumPy or SciPy.
- A pass evaluates all scores and combines all features once.
- "gap / C" is the certified gap in units of the loss. For a program without a certificate it is the distance to the
  best lower bound.

Set m has 1,000 queries of 100 documents with 136 dense features; set l has 100 queries of 1,000 documents.
`make bench` runs everything; `python -m benchmarks run NAME` runs one benchmark, for example `first_fit`.

Two pages beside the benchmarks explain more: [the plan to internet scale](../clusters/scale.md) and
[threads: profiles and trials](../solvers/threads_tried.md).
"""


def write(root: Path = ROOT) -> list[Path]:
    """Write the page, the notes and the tables of other pages; return the paths."""
    measured = {name: stored for name in NAMES if (stored := read(name)) is not None}
    files = {PAGE: users_page()}
    for name, (machine, rows) in measured.items():
        benchmark = load(name)
        page = getattr(benchmark, "PAGE", None)
        if page:
            tables = getattr(benchmark, "tables", tables_of_rows)(rows)
            files[page] = filled((root / page).read_text(encoding="utf-8"), tables)
        files[f"{NOTES}/{name}.md"] = _note(name, machine, rows)
    files[f"{NOTES}/{TARGETS}.md"] = _targets(
        target for name, (_, rows) in measured.items() for target in load(name).targets(rows)
    )
    files[f"{NOTES}/README.md"] = _index(files)
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return [root / name for name in files]


def draw(root: Path = ROOT) -> None:
    """Draw the plots of the notes and of the site; this needs Matplotlib."""
    from benchmarks.harness.plots import draw

    draw({name: stored[1] for name in NAMES if (stored := read(name)) is not None}, root)


def filled(text: str, tables: Mapping[str, str]) -> str:
    """Return a page with Markdown tables between its marks, ``<!-- rows: NAME -->`` and ``<!-- end -->``.

    A page may leave tables out: the notes have all rows.

    Raises
    ------
    ValueError : if the page has marks without a table.
    """

    def table(mark: re.Match[str]) -> str:
        if mark[2] not in tables:
            raise ValueError(f"a page has the mark 'rows: {mark[2]}' without rows to show. Remove or rename the mark")
        return f"{mark[1]}\n\n{tables[mark[2]]}\n\n{mark[3]}"

    return re.sub(r"(<!-- rows: (.*?) -->)\n.*?(<!-- end -->)", table, text, flags=re.DOTALL)


def tables_of_rows(rows: Iterable[Row]) -> dict[str, str]:
    """Return a table with the rows of each work, as Markdown."""
    by_what: dict[str, list[Row]] = {}
    for row in rows:
        by_what.setdefault(row.what, []).append(row)
    tables = {}
    for what, of_what in by_what.items():
        shown = _rows_table(of_what)
        columns = tuple(column for column in shown.columns if column.heading != "what")
        tables[what] = _shown(evolve(shown, columns=columns)).strip()
    return tables


def _note(name: str, machine: dict[str, Any], rows: list[Row]) -> str:
    """Return the note of a benchmark: method, machine, plots and all rows."""
    benchmark = load(name)
    packages = ", ".join(f"{package} {version}" for package, version in machine["packages"].items())
    system = f"{machine['processor']}, {machine['cores']} cores, {machine['system']}"
    parts = [
        f"# {benchmark.TITLE}",
        benchmark.ABOUT,
        f"Measured by `python -m benchmarks run {name}` on {system}, {machine['date']}: Python {machine['python']}, "
        f"{packages}.",
        *(f"![{caption}](../../{path})" for path, caption in PLOTS.get(name, {}).items()),
        _shown(_rows_table(rows)),
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _index(files: dict[str, str]) -> str:
    """Return the list of all notes."""
    notes = {Path(name).name: text for name, text in files.items() if name.startswith(NOTES)}
    titles = sorted((text.partition("\n")[0].removeprefix("# "), name) for name, text in notes.items())
    return INDEX + "\n" + "\n".join(f"- [{title}]({name})" for title, name in titles) + "\n"


def _targets(targets: Iterable[Target]) -> str:
    records = []
    for target in targets:
        sign = "≥" if target.at_least else "≤"
        measured = "–" if target.reached is None else f"{_number(target.reached)} {target.unit}".strip()
        met = {None: "not measured", True: "yes", False: "**no**"}[target.met]
        limit = f"{sign} {_number(target.limit)} {target.unit}".strip()
        records.append({"what": target.what, "target": limit, "measured": measured, "met": met})
    columns = tuple(Column.text(name, name) for name in ("what", "target", "measured", "met"))
    return f"# Targets, met or missed\n\n{_shown(Table('', columns, (tuple(records),))).strip()}\n"


def _number(value: float) -> str:
    if value == 0.0 or 0.01 <= abs(value) < 1000.0:
        return f"{value:.3g}"
    return f"{value:,.0f}" if abs(value) >= 1000.0 else f"{value:.1e}"


def _rows_table(rows: list[Row]) -> Table:
    shown = [name for name in COLUMNS if any(name in row.values for row in rows)]
    columns = [Column.text("what", "what"), Column.text("by", "who"), *(COLUMNS[name] for name in shown)]
    if any(row.C is not None for row in rows):
        columns.insert(2, Column.number("C", "C", "g"))
    if any(row.note for row in rows):
        columns.append(Column.text("note", "note"))
    records = ({**dict.fromkeys(shown), **row.as_json(), **row.values} for row in rows)
    return Table("", tuple(columns), (tuple(records),))


def _shown(table: Table) -> str:
    return as_markdown([table], escaped=False)  # rows are Markdown already
