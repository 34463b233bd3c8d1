"""Every code block of the README, of docs/ and of examples/papers/ works and prints the output on its page."""

import re
import warnings

import pytest

from tests.docs.pages import ROOT, Page, make_targets
from tests.real_data import REAL_DATA

FOLDERS = ("contributing", "docs", "examples/papers")
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(path for name in FOLDERS for path in (ROOT / name).glob("**/*.md")),
]
QUICK = {"README.md", "CONTRIBUTING.md", "docs/faq.md", "docs/measures.md"}
"""Pages that `make test` runs; `make test-all` runs all."""


def name(path):
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[pytest.mark.slow] * (name(path) not in QUICK), id=name(path)) for path in PAGES],
)
def test_blocks(path, tmp_path):
    page = Page(path, tmp_path, REAL_DATA)
    page.run()
    if page.left_out:
        warnings.warn(f"not run, for want of data or a package: {path.name}, lines {page.left_out}", stacklevel=1)


def test_make_targets_exist():
    rules = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    named = {name(path): make_targets(path.read_text(encoding="utf-8")) - set(rules) for path in PAGES}
    assert {page: targets for page, targets in named.items() if targets} == {}


def test_links_lead_somewhere():
    for path in PAGES:
        text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if "://" not in target:
                page, _, anchor = target.partition("#")
                result = path.parent / page if page else path
                assert result.exists(), f"{path.name} links to {target}"
                if anchor:
                    assert anchor in anchors(result.read_text(encoding="utf-8")), f"{path.name} links to {target}"


def anchors(text: str) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
