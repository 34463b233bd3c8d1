"""Every page is in the navigation of the site, once."""

import re
from collections import Counter
from pathlib import Path

from tests.docs.pages import ROOT

DOCS = ROOT / "docs"
MADE = {DOCS / "_build", DOCS / "gallery", DOCS / "reference" / "generated"}


def pages() -> list[Path]:
    result = [*DOCS.glob("**/*.md"), *DOCS.glob("**/*.rst")]
    return [page for page in result if not MADE & set(page.parents)]


def entries(page: Path) -> list[Path]:
    """The pages that the tables of contents of a page lead to."""
    text = page.read_text(encoding="utf-8")
    trees = re.findall(r"^:::\{toctree\}\n(.*?)^:::$", text, flags=re.MULTILINE | re.DOTALL)
    trees += re.findall(r"^\.\. toctree::\n((?:\n|   .*\n)+)", text, flags=re.MULTILINE)
    lines = [line.strip() for tree in trees for line in tree.splitlines()]
    names = [re.sub(r".*<(.*)>$", r"\1", line) for line in lines if line and not line.startswith(":")]
    return [(page.parent / name).resolve() for name in names]


def test_every_page_is_in_one_table_of_contents():
    led_to = [entry for page in pages() if "_templates" not in page.parts for entry in entries(page)]
    counts = Counter(entry for entry in led_to if not MADE & set(entry.parents))
    here = {page.with_suffix("").resolve() for page in pages() if "_templates" not in page.parts}
    assert counts == Counter(here - {DOCS.resolve() / "index"})
