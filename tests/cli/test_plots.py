"""``--plot``: figures in files, the numbers in them, and errors."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from structsvm.data import load_qrels, load_runs
from structsvm.fusion import WeightedCombSUM
from structsvm.fusion.runs import fit_to_judged
from structsvm.plots import files as plot_files

pytest.importorskip("matplotlib", reason="Matplotlib is not installed: nothing can be drawn")

LEVELS = [k / 10 for k in range(11)]
RUNS = {
    "one": "1 Q0 a 1 9 one\n1 Q0 b 2 8 one\n1 Q0 c 3 7 one\n2 Q0 a 1 9 one\n2 Q0 d 2 8 one\n3 Q0 a 1 1 one\n",
    "two": "1 Q0 c 1 9 two\n1 Q0 a 2 8 two\n1 Q0 b 3 7 two\n2 Q0 d 1 9 two\n3 Q0 a 1 1 two\n",
}
QRELS = "1 0 a 1\n1 0 c 2\n1 0 e 1\n2 0 d 1\n3 0 a 0\n"
LEARN = (
    "fuse",
    "one",
    "two",
    "--method",
    "weighted-comb-sum",
    "--qrels",
    "qrels.txt",
    "-o",
    "fused",
    "--plot",
    "w.svg",
)


@pytest.fixture
def runs(here):
    for name, text in RUNS.items():
        Path(name).write_text(text)
    Path("qrels.txt").write_text(QRELS)


@pytest.fixture
def figures(monkeypatch):
    """Figures by the names of their files, as they are written."""
    drawn = {}
    written = plot_files.write_figure

    def write(figure, path):
        drawn[path.name] = figure
        written(figure, path)

    monkeypatch.setattr(plot_files, "write_figure", write)
    return drawn


def lines_of(figure):
    (axes,) = figure.axes
    return {line.get_label(): line.get_ydata().tolist() for line in axes.lines}


def test_precision_of_runs_is_that_of_the_measure(run, runs, figures):
    measures = [word for level in LEVELS for word in ("--measure", f"iprec@{level}")]
    command = ("evaluate", "--qrels", "qrels.txt", "one", "two", *measures, "--empty", "skip", "--json", "-")
    report = json.loads(run(*command, "--plot", "precision.svg").stdout)
    expected = {record["run"]: [of["mean"] for of in record["measures"].values()] for record in report["runs"]}
    drawn = lines_of(figures["precision.svg"])
    assert list(drawn) == list(expected)
    assert np.array(list(drawn.values())) == pytest.approx(np.array(list(expected.values())))
    assert expected["two"][0] == 1.0
    assert ">one</text>" in Path("precision.svg").read_text()
    assert run(*command).stdout == json.dumps(report, indent=2) + "\n"


def test_precision_of_a_model(run, model, figures):
    measures = [word for level in LEVELS for word in ("--measure", f"iprec@{level}")]
    done = run("evaluate", model, "test.txt", *measures, "--empty", "skip", "--plot", "p.png")
    assert done.stderr == "structsvm: note: wrote the plot to p.png\n"
    (axes,) = figures["p.png"].axes
    assert axes.get_title() == "m.npz"
    means = [float(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("iprec")]
    assert lines_of(figures["p.png"])["m.npz"] == pytest.approx(means, abs=6e-5)
    assert Path("p.png").read_bytes().startswith(b"\x89PNG")


def test_plotted_weights_of_a_fusion_are_shares(run, runs, figures):
    assert run(*LEARN).stderr.endswith("structsvm: note: wrote the plot to w.svg\n")
    assert "wrote" not in run(*LEARN, "--quiet").stderr
    fusion = WeightedCombSUM()
    fit_to_judged(fusion, load_runs(["one", "two"]), load_qrels("qrels.txt"))
    (axes,) = figures["w.svg"].axes
    weights = dict(zip(["one", "two"], fusion.weights_ / fusion.weights_.sum(), strict=True))
    assert [text.get_text() for text in axes.get_yticklabels()] == ["two", "one"]  # the largest first
    (markers,) = (line for line in axes.lines if len(line.get_xdata()) == 2 and np.ptp(line.get_xdata()))
    assert markers.get_xdata() == pytest.approx([weights["two"], weights["one"]])


def test_nothing_to_draw_leaves_the_file_as_it_was(run, runs):
    Path("none.txt").write_text("1 0 a 0\n3 0 a 0\n")
    Path("p.svg").write_text("old")
    done = run("evaluate", "--qrels", "none.txt", "one", "--plot", "p.svg", code=1)
    assert done.stderr.endswith(
        "error: p.svg was not written: no query of 'one' has a relevant document: pass judged queries\n"
    )
    assert done.stdout.startswith("run ")
    assert Path("p.svg").read_text() == "old"


def test_without_matplotlib_nothing_begins(run, runs, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    for command in (("evaluate", "--qrels", "qrels.txt", "one", "--plot", "p.svg"), LEARN):
        done = run(*command, code=1)
        assert done.stderr == "structsvm: error: plots need Matplotlib: pip install 'structural-svm[plot]'.\n"
    assert not Path("fused").exists()
