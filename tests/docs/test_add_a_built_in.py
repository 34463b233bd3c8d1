"""The steps of the page on built-in losses, backends and measures, in a copy of the repository."""

import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import ROOT

PAGE = ROOT / "contributing" / "add_a_built_in.md"
STEP = re.compile(r"`([\w/.]+\.(?:py|toml))`:\n\n( *)```(py|diff)\n(.*?)```", re.DOTALL)
CHECK_LOSS = "from structsvm.testing import check_loss; check_loss('rank_biased', trials=3)"
EXAMPLES = """
from doctest import run_docstring_examples
from structsvm.losses import RankBiased
from structsvm.metrics import RelativeP
from structsvm.solvers.qp import PIQP
for kind in (RankBiased, RelativeP, PIQP):
    run_docstring_examples(kind, {kind.__name__: kind})
"""
TESTS = (
    "tests/losses/test_mutants.py",
    "tests/losses/test_optimum_by_enumeration.py",
    "tests/objectives/test_hinges.py",
)


def steps() -> Iterator[tuple[str, str, str]]:
    """Yield the file, the language and the text of each step."""
    for file, margin, language, text in STEP.findall(PAGE.read_text(encoding="utf-8")):
        yield (
            file,
            language,
            textwrap.dedent(text if language == "py" else re.sub(f"^{margin}", "", text, flags=re.M)),
        )


def insert(text: str, change: str) -> str:
    """Insert the lines with a plus, each after the line above it, which must occur once."""
    line = ""
    for row in change.splitlines():
        if row.startswith("+"):
            assert text.count(f"\n{line}\n") == 1, f"the page names the line {line!r}"
            text = text.replace(f"\n{line}\n", f"\n{line}\n{row[1:]}\n")
        line = row[1:]
    return text


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clone")
    for name in ("structsvm", "tests", "docs"):
        ignore = shutil.ignore_patterns("__pycache__", "_build", "gallery", "generated")
        shutil.copytree(ROOT / name, folder / name, ignore=ignore)
    shutil.copy(ROOT / "pyproject.toml", folder)
    for file, language, text in steps():
        path = folder / file
        path.write_text(text if language == "py" else insert(path.read_text("utf-8"), text), encoding="utf-8")
    run(folder, "-m", "tests.docs.reference")
    return folder


def run(folder: Path, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def test_each_addition_takes_at_most_four_places():
    files = [file for file, *_ in steps()]
    assert len(files) == 4 + 4 + 3
    assert all((ROOT / file).exists() for file, language, _ in steps() if language == "diff")


@pytest.mark.slow
def test_the_reference_lists_the_additions(clone):
    run(
        clone,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "tests/docs/test_losses_page.py",
        "tests/docs/test_reference.py",
        "-k",
        "losses or qp or metrics or registered or Losses or Measures or page or once",
    )
    assert "   RankBiased\n" in (clone / "docs" / "reference" / "losses.rst").read_text("utf-8")
    names = run(clone, "-c", "from tests.docs.parameters import tables; print(tables())")
    assert "structsvm.solvers.qp.PIQP" in names
    assert "| `relative_p@5` | {py:obj}`structsvm.metrics.RelativeP` |" in names
    assert "| `relative_p@5` | Precision at k" in (clone / "docs" / "measures.md").read_text("utf-8")


@pytest.mark.slow
def test_examples_of_the_additions_print_their_results(clone):
    assert run(clone, "-c", EXAMPLES) == ""


@pytest.mark.slow
def test_a_measure_equals_its_mean_over_orders_of_ties(clone):
    done = run(clone, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/metrics", "-k", "relative_p")
    assert re.search(r"^\d\d passed", done, re.MULTILINE)


@pytest.mark.slow
def test_tests_of_all_losses_and_backends_include_the_additions(clone):
    collected = run(clone, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--collect-only", *TESTS, "-k", "RankBiased")
    assert all(file in collected for file in TESTS)
    statement = "from tests.campaign.cases import BACKENDS, QUERY_LOSSES as q; print(BACKENDS, [loss for loss, _ in q])"
    drawn = run(clone, "-c", statement)
    assert "PIQP" in drawn
    assert "RankBiased" in drawn


@pytest.mark.slow
def test_the_additions_pass_the_tests_of_all_losses_and_backends(clone):
    run(clone, "-c", CHECK_LOSS)
    run(
        clone,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        *TESTS,
        "tests/solvers/qp",
        "-k",
        "RankBiased or PIQP or shipped",
    )
