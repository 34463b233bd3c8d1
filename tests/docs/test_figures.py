"""Figures of pages are values of the stored runs that the pages name, so that no two pages print different values."""

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path

from benchmarks.harness.store import NAMES, read
from tests.docs.pages import ROOT
from tests.docs.test_pages import anchors

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
FIGURE = re.compile(r"(?<![\w.@])\d*(?:,\d{3})*\.\d+(?!\w|\.\d)")
SCALES = (1.0, 1e3, 1e6, 100.0, 1e-3)
"""Factors from stored values to pages: seconds in ms and µs, shares in percent, MB in GB."""
NOT_MEASURED = re.compile(r"`[^`]*`|\$[^$]*\$|\bp = [\d., and]*\d|[\d.]+ (?:million|billion|if )|\"[^\"]*\"")
"""Code, formulas, p-values, sizes, probabilities and quotations."""
MEASURES = re.compile(r"(?:test )?(MAP|P@5)")


def prose(page: Path) -> str:
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def sections(page: Path) -> list[str]:
    return re.split(r"^(?=#+ )", prose(page), flags=re.MULTILINE)


def runs_of(text: str) -> set[str]:
    """Return the runs that a text names, as in ``python -m benchmarks run tol``."""
    return set(re.findall(r"(\w+)`", text)) & set(NAMES) if "python -m benchmarks run" in text else set()


@cache
def runs_by_section() -> dict[tuple[Path, str], set[str]]:
    parts = ((page, part) for page in PAGES for part in sections(page))
    return {(page, anchor): runs_of(part) for page, part in parts for anchor in anchors(part.partition("\n")[0])}


def passages(page: Path) -> Iterator[tuple[str, set[str]]]:
    """Yield paragraphs and tables with their runs: of the section for tables and with links to a section with runs."""
    for section in sections(page):
        for passage in re.split(r"\n\s*\n", section):
            links = re.findall(r"\]\(([^)\s#]*)#([^)\s]+)\)", passage)
            linked = [
                runs_by_section().get(((page.parent / file).resolve() if file else page, at)) for file, at in links
            ]
            is_table = passage.lstrip().startswith("|")
            yield passage, set().union(runs_of(section if is_table or any(linked) else passage), *filter(None, linked))


@cache
def values(run: str) -> list[float]:
    """Return the stored values of a run, differences of MAP or NDCG on the same data, and the numbers in labels."""
    _, rows = read(run) or ({}, [])
    labels = " ".join(text for row in rows for text in (row.what, row.who, row.note or "", *row.values))
    differences = [
        row.values[key] - other.values[key]
        for row, other in combinations(rows, 2)
        for key in row.values.keys() & other.values.keys()
        if row.what == other.what and re.search("map|ndcg", key)
    ]
    measured = [value for row in rows for value in (*row.values.values(), row.C or 0.0)]
    return [abs(value) for value in measured + differences] + [float(text) for text in re.findall(r"\d+\.?\d*", labels)]


def measured(passage: str) -> str:
    """Return a passage without columns and sentences of published figures."""
    if not passage.lstrip().startswith("|"):
        return re.sub(r"[^.:]*\b[Pp]ublished\b(?:[^.]|\.\d)*", "", NOT_MEASURED.sub("", passage))
    header, *rows = (line.split("|") for line in NOT_MEASURED.sub("", passage).strip().splitlines())
    return "\n".join(cell for row in rows for name, cell in zip(header, row, strict=False) if "published" not in name)


def foreign(passage: str, runs: set[str]) -> list[str]:
    """Return the figures of a passage that no run rounds to."""
    stored = [value for run in runs for value in values(run)]

    def is_stored(text: str) -> bool:
        number, step = float(text.replace(",", "")), 10.0 ** -len(text.partition(".")[2])
        return any(abs(scale * value - number) <= 0.501 * step for scale in SCALES for value in stored)

    return [text for text in FIGURE.findall(measured(passage)) if not is_stored(text)]


def cells(text: str) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield system and measure of each cell of the tables about MQ2008."""
    for section in re.split(r"^#+ ", text, flags=re.MULTILINE):
        for table in re.findall(r"(?:^\|.*\n)+", section, flags=re.MULTILINE) if "MQ2008" in section else ():
            header, _, *rows = ([cell.strip(" *`") for cell in line.split("|")[1:-1]] for line in table.splitlines())
            for row in rows:
                for heading, cell in zip(header[1:], row[1:], strict=False):
                    measure, figure = MEASURES.fullmatch(heading), re.match(r"0?(\.\d+)", cell)
                    if measure and figure:
                        yield (row[0], measure[1]), figure[1]


def test_figures_are_values_of_the_runs_that_their_passages_name():
    wrong = {
        f"{page.relative_to(ROOT)}: {' '.join(passage.split())[:60]}": found
        for page in PAGES
        for passage, runs in passages(page)
        if runs and (found := foreign(passage, runs))
    }
    assert wrong == {}, "quote the stored run: python -m benchmarks report"
    assert foreign("MAP .123456 and p = 0.05", {"trees"}) == [".123456"]


def test_pages_print_one_value_of_a_system_on_mq2008():
    pages = defaultdict(lambda: defaultdict(set))
    for page in PAGES:
        for quantity, figure in cells(prose(page)):
            pages[quantity][page.name].add(figure)
    differing = {
        quantity: dict(by_page) for quantity, by_page in pages.items() if len(set(map(frozenset, by_page.values()))) > 1
    }
    assert differing == {}
