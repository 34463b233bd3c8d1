"""The page of the documentation, from what was measured, and tables of others."""

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from attrs import evolve

from benchmarks.rows import COLUMNS, Row, Target
from benchmarks.store import NAMES, ROOT, load, read
from structsvm.foundation.tables.formats import as_markdown
from structsvm.foundation.tables.table import Column, Table

PAGE = ROOT / "docs" / "benchmarks.md"

HEAD = """# Benchmarks

<!-- Written by `make bench`; edit benchmarks/ instead. -->

How long fits, searches and readers take, in how many passes and in how much memory, beside other programs where
there are some that do the same. Each section says which command measured it, on which machine and when.
[Machines and versions](#machines-and-versions) are at the end, and so is
[what was to be reached](#what-was-to-be-reached): aims that were set beforehand, met or missed.

```console
$ make bench
```

measures all of it and writes this page. How to read the tables:

- Ratios count, since both sides were measured in one run.
- Times are medians of wall-clock seconds with compiled code warm and data in memory, on one thread unless a row says
  otherwise.
- "units of X @ w" is the time in units of one product of the data with a vector by NumPy or SciPy.
- A pass evaluates all scores and combines all features once.
- "gap / C" is the certified gap, or how far a program without a certificate is from the best lower bound, in units of
  the loss: 1e-6 by default for rankers.
"""

GROUPS = {
    "Beside other programs": (
        *("average_precision", "mq2008", "folds", "zero_one", "multilabel", "letters", "hinge", "objectives", "trees"),
        *("beside_lightgbm_dask", "reading", "indexing", "retrieval", "serving", "commands", "installs"),
    ),
    "Which loss or ranker": (
        *("ndcg", "cutoff", "full_depth", "bounds", "clicks", "weight_search", "costs", "fusion", "tree_growth"),
    ),
    "Solvers, and how time grows": (
        *("one_pass", "roc_area", "choice", "tol", "line_search", "long_queries", "both_cores"),
        *("web30k", "sparse", "binned", "sequences", "growth", "first_fit"),
    ),
    "Clusters": ("cluster", "cluster_web30k", "local_steps", "scale"),
    "Checks, and memory of an index": ("check_power", "certainty", "retrieval_memory"),
}
"""What a reader looks for, and the benchmarks that tell."""


def write(page: Path = PAGE) -> Path:
    """Write the page and its plots; return its path."""
    measured = {name: kept for name in NAMES if (kept := read(name)) is not None}
    parts = [HEAD, _contents(list(measured))]
    plots = _plots({name: rows for name, (_, rows) in measured.items()}, page.with_suffix(""))
    for name, (machine, rows) in measured.items():
        benchmark = load(name)
        parts += [f"## {benchmark.TITLE}", benchmark.ABOUT.strip(), _origin(name, machine)]
        parts += [f"![{caption}]({page.stem}/{path.name})" for path, caption in plots.get(name, [])]
        if other := getattr(benchmark, "PAGE", None):
            fill(page.with_name(other), rows)
        else:
            parts.append(_shown(_rows_table(rows)))
    targets = [target for name, (_, rows) in measured.items() for target in load(name).targets(rows)]
    parts += ["## What was to be reached", _shown(_targets_table(targets))]
    parts += ["## Machines and versions", *_machines([machine for machine, _ in measured.values()])]
    page.write_text("\n\n".join(part.strip() for part in parts) + "\n", encoding="utf-8")
    return page


def fill(page: Path, rows: list[Row]) -> None:
    """Write tables of rows between the marks of a page, ``<!-- rows: WHAT -->`` and ``<!-- end -->``.

    Raises
    ------
    ValueError : when the page has no marks for some of the rows.
    """
    if not page.exists():
        return
    by_what: dict[str, list[Row]] = {}
    for row in rows:
        by_what.setdefault(row.what, []).append(row)

    def table(mark: re.Match[str]) -> str:
        shown = _rows_table(by_what.pop(mark[2]))
        columns = tuple(column for column in shown.columns if column.heading != "what")
        return f"{mark[1]}\n\n{_shown(evolve(shown, columns=columns)).strip()}\n\n{mark[3]}"

    text = re.sub(
        r"(<!-- rows: (.*?) -->)\n.*?(<!-- end -->)", table, page.read_text(encoding="utf-8"), flags=re.DOTALL
    )
    if by_what:
        raise ValueError(f"{page} has no place for rows of {', '.join(by_what)}")
    page.write_text(text, encoding="utf-8")


def _contents(names: list[str]) -> str:
    """Links to the sections, by what a reader looks for."""
    lines = []
    for group, members in GROUPS.items():
        titles = [load(name).TITLE for name in members if name in names]
        lines += [f"- **{group}**: {', '.join(map(_link, titles))}"] if titles else []
    return "The sections, by what they tell:\n\n" + "\n".join(lines)


def _link(title: str) -> str:
    anchor = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
    return f"[{title}](#{anchor})"


def _origin(name: str, machine: dict[str, Any]) -> str:
    """How, where and when a section was measured."""
    where = f"{machine['processor']}, {machine['cores']} cores, {machine['system']}"
    return f"Measured by `python -m benchmarks run {name}` on {where}, {machine['date']}."


def _machines(machines: list[dict[str, Any]]) -> list[str]:
    """Describe each machine that rows come from."""
    texts = []
    for one in machines:
        packages = ", ".join(f"{name} {version}" for name, version in one["packages"].items())
        system = f"{one['processor']}, {one['cores']} cores, {one['system']}"
        text = f"{system}; Python {one['python']}, {packages}; {one['date']}."
        if text not in texts:
            texts.append(text)
    return texts


def _targets_table(targets: list[Target]) -> Table:
    records = []
    for target in targets:
        sign = "≥" if target.at_least else "≤"
        measured = "–" if target.reached is None else f"{_number(target.reached)} {target.unit}".strip()
        met = {None: "not measured", True: "yes", False: "**no**"}[target.met]
        limit = f"{sign} {_number(target.limit)} {target.unit}".strip()
        records.append({"what": target.what, "to reach": limit, "measured": measured, "reached": met})
    names = ("what", "to reach", "measured", "reached")
    return Table("", tuple(Column.text(name, name) for name in names), (tuple(records),))


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
    return as_markdown([table], escaped=False)  # what is measured is written in Markdown


def _plots(rows: dict[str, list[Row]], folder: Path) -> dict[str, list[tuple[Path, str]]]:
    if find_spec("matplotlib") is None:
        return {}
    from benchmarks.plots import draw

    return draw(rows, folder)
