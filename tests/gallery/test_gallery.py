"""Every script of the gallery runs without the research data, draws something, and leaves no figure open."""

import ast
import contextlib
import io
import re
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("matplotlib", reason="Matplotlib is not installed: nothing can be drawn")

import matplotlib
from matplotlib import pyplot
from sklearn import config_context

from tests.docs.gallery import ORDER

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted((ROOT / "examples" / "gallery").glob("plot_*.py"))
NEEDED = {"boosted_trees": "lightgbm", "refitted_trees": "lightgbm"}
"""Packages that are not of the ordinary installation."""


@pytest.fixture
def drawing(tmp_path, monkeypatch):
    """An empty folder, no window, and settings of Matplotlib that are restored."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("STRUCTSVM_DATA", raising=False)
    pyplot.switch_backend("agg")
    pyplot.close("all")  # what examples in docstrings drew
    with matplotlib.rc_context():
        yield
    pyplot.close("all")


def is_drawn(axes) -> bool:
    """Whether axes show data: lines, bars, areas, points or pictures."""
    return bool(axes.lines or axes.patches or axes.collections or axes.images)


def cells(script):
    """The cells of a script, compiled, with the lines that they have in it."""
    line = 1
    for cell in re.split(r"(?m)^(?=# %%$)", script.read_text(encoding="utf-8")):
        yield compile("\n" * (line - 1) + cell, str(script), "exec")
        line += cell.count("\n")


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem.removeprefix("plot_"))
def test_a_script_draws(script, drawing, tmp_path):
    name = script.stem.removeprefix("plot_")
    if name in NEEDED and find_spec(NEEDED[name]) is None:
        pytest.skip(f"{NEEDED[name]} is not installed")
    printed, began = io.StringIO(), time.process_time()
    with contextlib.redirect_stdout(printed), config_context():
        names, drawn = {"__name__": "__main__"}, 0
        for cell in cells(script):
            exec(cell, names)
            figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
            for figure in figures:
                figure.canvas.draw()  # what fails only when it is drawn
                panels = [axes for axes in figure.axes if axes.axison]
                assert panels
                assert all(map(is_drawn, panels)), "a panel is empty"
                assert any(axes.get_xlabel() or axes.get_ylabel() for axes in panels), "no axis says what it is"
            drawn += len(figures)
            pyplot.close("all")  # the page shows each figure below its cell, as it is then
    assert drawn, "it draws no figure"
    assert "Traceback" not in printed.getvalue()
    assert list(tmp_path.iterdir()) == [], "it leaves files behind"
    print(f"{name}: {time.process_time() - began:.1f} s of CPU")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem.removeprefix("plot_"))
def test_a_script_is_a_page(script):
    """It begins with a title and a description; its links lead to existing pages."""
    text = script.read_text(encoding="utf-8")
    title, line, blank, *rest = (ast.get_docstring(ast.parse(text), clean=True) or "").split("\n")
    assert title
    assert line == "=" * len(title)
    assert blank == ""
    assert len(" ".join(rest)) > 200
    assert "# %%\n" in text
    links = re.findall(r":doc:`(?:[^<`]*<)?/([^>`]+)>?`", text)
    assert links
    for link in links:
        assert any((ROOT / "docs" / f"{link}{suffix}").is_file() for suffix in (".md", ".rst")), link
    assert "/work" not in text


def test_there_are_enough():
    assert len(SCRIPTS) >= 15
    assert sorted(ORDER) == [script.stem.removeprefix("plot_") for script in SCRIPTS]
    assert (ROOT / "examples" / "gallery" / "README.txt").is_file()
