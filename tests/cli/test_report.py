import sys
from pathlib import Path

import pytest

from tests.protocols.experiment.report.conftest import made_up


@pytest.fixture
def finished(here):
    """The results of an experiment in the folder done."""
    Path("done").mkdir()
    made_up().save("done/results.json")


@pytest.mark.slow
def test_the_report_is_written_again(run, finished):
    pytest.importorskip("matplotlib", reason="Matplotlib is not installed: reports have no plots")
    done = run("report", "done")
    assert "SVM-roc                  0.3750   [0.064, 0.686]   3/0/0   0.25   0.75    25%" in done.stdout
    assert "two-tailed Wilcoxon" in done.stdout
    assert done.stdout.rstrip().endswith("done/report.html")
    assert "<svg" in Path("done/report.html").read_text()
    assert done.stderr == ""


def test_without_matplotlib_a_note_tells_how_to_install_it(run, finished, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = run("report", "done")
    assert done.stderr.startswith(
        "structsvm: note: the report has no plots: plots need Matplotlib: pip install 'structural-svm[plot]'"
    )
    assert len(done.stderr.splitlines()) == 1
    assert "<svg" not in Path("done/report.html").read_text()
