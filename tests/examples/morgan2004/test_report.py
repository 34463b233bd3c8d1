import csv
import io
import json
import sys
from xml.etree import ElementTree

import numpy as np
import pytest

from examples.papers.morgan2004 import SearchedWeights, morgan
from examples.papers.morgan2004.report import (
    FILES,
    curve_table,
    difference_table,
    pick_table,
    plots,
    write_morgan_report,
)
from tests.examples.morgan2004.conftest import small
from tests.protocols.experiment.report.conftest import recorded
from tests.protocols.experiment.report.test_page import Checked

pytestmark = pytest.mark.slow

ALWAYS = ("curves", "differences", "lines", "topics")


@pytest.fixture(scope="module")
def written(results, tmp_path_factory):
    return write_morgan_report(results, tmp_path_factory.mktemp("report") / "out", title="A & B <1>")


def test_every_file_is_written_and_the_page_is_whole(written):
    pytest.importorskip("matplotlib", reason="Matplotlib is not installed: reports have no plots")
    assert written.missing == ""
    folder = written.page.parent
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert files == set(FILES)
    page = Checked(written.page.read_text())
    assert page.count["svg"] == 6
    assert page.count["table"] == 7
    assert "script" not in page.count
    assert len(page.ids) == len(set(page.ids))
    assert all(link.startswith("#") or link == "data:," for link in page.links)
    assert "A & B <1>" in page.texts
    for name in (*ALWAYS, "precision", "weights"):
        root = ElementTree.fromstring((folder / "figures" / f"{name}.svg").read_text())
        assert root.tag == "{http://www.w3.org/2000/svg}svg"


def test_tables_hold_what_was_found(results, written):
    folder = written.page.parent
    lines = list(csv.DictReader(io.StringIO((folder / "tables.csv").read_text())))
    assert [line["length"] for line in lines] == ["1", "2", "3", "4"]
    mean = results.per_topic("SVM-map", "test").mean(axis=0)
    assert [float(line["SVM-map test"]) for line in lines] == pytest.approx(mean.tolist())
    topics = list(csv.DictReader(io.StringIO((folder / "topics.csv").read_text())))
    assert len(topics) == 2 * 3 * 4
    titles = [table["title"] for table in json.loads((folder / "tables.json").read_text())]
    assert titles[0] == "Data"
    assert len(titles) == 7


def test_differences_are_of_every_two_methods(results):
    table = difference_table(results)
    assert [len(section) for section in table.sections] == [3, 3, 3]  # at the pick, with one term and with two
    record = table.records[0]
    expected = results.at_pick("WeightSearch", "test") - results.at_pick("MaximumEntropy", "test")
    assert record["difference"] == pytest.approx(expected.mean())
    assert record["wins"] == (expected > 1e-12).sum()
    assert [record["method"] for record in pick_table(results).records] == list(results.methods)


def test_one_topic_and_one_method_have_no_interval(index, qrels, tmp_path):
    alone = morgan(index, qrels, small(methods=SearchedWeights(), repeats=1), tmp_path / "a", topics=["1"], n_jobs=1)
    write_morgan_report(alone, tmp_path / "b")
    assert "none" in (tmp_path / "b" / "tables.txt").read_text()
    assert difference_table(alone).records == []
    assert len(curve_table(alone).columns) == 4


def test_what_is_drawn_of_precision_and_weights(results, monkeypatch):
    figures = recorded(monkeypatch, plots)
    plots.draw(results)
    curves, minus = figures["precision"].axes
    weights = figures["weights"].axes[0]
    markers = {line.get_label(): line.get_xdata() for line in weights.lines if line.get_marker() != "None"}
    behind = {line.get_label(): line.get_ydata() for line in minus.lines}
    first = results.precision("WeightSearch").mean(axis=0)
    for line, method in zip(curves.lines, results.methods, strict=True):
        means = results.precision(method).mean(axis=0)
        assert line.get_ydata() == pytest.approx(means)
        if method != "WeightSearch":
            assert behind[method] == pytest.approx(means - first)
        shares = [each / np.abs(each).sum() for each in results.weights(method)]
        assert markers[method] == pytest.approx(np.mean(shares, axis=0))
    assert [text.get_text() for text in weights.get_yticklabels()] == [f"term {k}" for k in (1, 2, 3, 4)]


def test_without_matplotlib_there_are_tables_and_the_way_to_plots(results, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    written = write_morgan_report(results, tmp_path)
    assert "pip install 'structural-svm[plot]'" in written.missing
    assert not list(tmp_path.rglob("*.svg"))
    assert "<svg" not in written.page.read_text()
