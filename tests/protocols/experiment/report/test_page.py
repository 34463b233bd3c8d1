import re
import sys
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest

from structsvm.exceptions import InputError, NotInstalledError, printable
from structsvm.foundation.tables.table import as_csv
from structsvm.protocols.experiment.report import plots, write_report
from structsvm.protocols.experiment.report.page import FILES, as_page, findings
from structsvm.protocols.experiment.report.plots import draw
from structsvm.protocols.experiment.report.tables import difference_table, map_tables
from tests.protocols.experiment.report.conftest import made_up, recorded

VOID = {"meta", "link", "br", "hr", "img", "input"}


class Checked(HTMLParser):
    """A page whose elements are nested as they should be."""

    def __init__(self, html):
        super().__init__()
        self.open, self.count, self.ids, self.links, self.texts = [], {}, [], [], []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.count[tag] = self.count.get(tag, 0) + 1
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            elif name in {"href", "src", "xlink:href", "srcset", "data", "action", "poster"}:
                self.links.append(value)
            if value:
                self.links += re.findall(r"url\(\s*['\"]?([^)'\"]*)", value)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)
        if self.open and self.open[-1] == "style":
            assert "@import" not in data
            self.links += re.findall(r"url\(\s*['\"]?([^)'\"]*)", data)


@pytest.fixture(scope="module")
def page():
    pytest.importorskip("matplotlib", reason="Matplotlib is not installed: reports have no plots")
    return as_page(made_up(), "A & B <1>")[0]


@pytest.mark.slow
def test_the_page_is_whole_and_needs_nothing_else(page):
    read = Checked(page)
    assert read.count["svg"] == 3
    assert read.count["table"] == 13
    assert "script" not in read.count
    assert len(read.ids) == len(set(read.ids))
    assert [link for link in read.links if not link.startswith("#") and link != "data:,"] == []
    assert {link[1:] for link in read.links if link.startswith("#")} <= set(read.ids)


@pytest.mark.slow
def test_no_address_of_another_machine_is_in_it(page):
    assert set(re.findall(r"https?://[^\"\s<]+", page)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    assert not re.search(r"=\s*[\"']?//", page)


@pytest.mark.slow
def test_names_are_escaped(page):
    assert "beta<2>" not in page
    assert "<C>" not in page
    texts = Checked(page).texts
    for shown in ("A & B <1>", "2nd best: beta<2>", "Model('SVM-roc', <C>)"):
        assert shown in texts
    assert "query q9: it is <not> judged" in "".join(texts)


@pytest.mark.slow
def test_the_page_shows_settings_and_versions(page):
    text = "".join(Checked(page).texts)
    for fact in ("0123456789abcdef", "numpy 2.0.0", "python 3.11.0"):
        assert fact in text
    assert re.search(r"Random state\s*7\s", text)


@pytest.mark.slow
def test_pictures_are_described_and_take_the_color_of_the_text(page):
    pictures = re.findall(r"<svg[^>]*>", page)
    assert len(pictures) == 3
    assert all('role="img"' in picture and 'aria-label="' in picture for picture in pictures)
    assert "currentColor" in page
    assert "#010203" not in page


@pytest.mark.slow
def test_the_same_results_give_the_same_page(page, results):
    assert as_page(results, "A & B <1>")[0] == page


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["with-best", "without-best"])
def test_one_variant_one_model_one_function(variant):
    pytest.importorskip("matplotlib", reason="Matplotlib is not installed: reports have no plots")
    read = Checked(as_page(made_up(variants=(variant,), names=("SVM-map",), functions=("bm25",)), "t")[0])
    assert read.count["svg"] == (2 if variant == "with-best" else 1)  # no function is left to be weighed
    assert read.count["table"] == 7


@pytest.fixture
def figures(monkeypatch):
    return recorded(monkeypatch, plots)


@pytest.mark.slow
def test_weights_that_are_drawn(results, figures):
    """Shares (3/4, 1/4) and (3/4, -1/4) of two trials of SVM-map, and the same of SVM-roc."""
    draw(results)
    (axes,) = figures["weights-with-best"].axes
    assert [text.get_text() for text in axes.get_yticklabels()] == ["alpha_1 (0.625)", "beta<2> (0.500)"]
    markers = [line for line in axes.lines if line.get_marker() != "None"]
    assert [(line.get_label(), line.get_xdata().tolist()) for line in markers] == [
        ("SVM-map", [0.75, 0.0]),
        ("SVM-roc", [0.75, 0.0]),
    ]
    ends = [segment[:, 0].tolist() for segment in axes.collections[0].get_segments()]
    assert ends == [[0.75, 0.75], [-0.125, 0.125]]
    only = [list(line.get_xdata()) for line in figures["weights-without-best"].axes[0].lines[1:]]
    assert only == [[1.0], [1.0]]


@pytest.mark.slow
def test_means_and_differences_that_are_drawn_have_intervals(results, figures):
    """The values of a query are 0.5, 0.625 and 0.75 for SVM-map, and 0.25 less for SVM-roc."""
    draw(results)
    means, differences = figures["overview"].axes
    half = 4.302653 * 0.125 / 3**0.5  # Student's quantile for two degrees of freedom
    models = means.containers[0]
    assert models.lines[0].get_xdata().tolist() == [0.625, 0.375]
    whiskers = [segment[:, 0].tolist() for segment in models.lines[2][0].get_segments()]
    assert whiskers == pytest.approx(np.array([[0.625 - half, 0.625 + half], [0.375 - half, 0.375 + half]]), abs=1e-6)
    minus = differences.containers[0]
    assert minus.lines[0].get_xdata().tolist() == [0.25, 0.125, 0.25]
    low, high = minus.lines[2][0].get_segments()[1][:, 0]
    record = difference_table(results, "with-best").records[1]
    assert (record["model"], record["low"], record["high"]) == ("Best function: alpha_1", low, high)


@pytest.mark.slow
def test_small_differences_have_a_scale_of_their_own(figures):
    """Differences of 0.25, 0.5 and so on from the first of five models, and a base function near it."""
    results = made_up(names=("first", *"abcd"), functions=("k",))
    for trial in results.trials:
        for place, fit in enumerate(trial.fits["with-best"].values()):
            values = tuple(0.5 + 0.125 * k - (0.4 if place == 4 else 0.004 * place) for k in range(2))
            fit.queries["map"] = values
    captions = draw(results)["overview"].caption
    _, differences = figures["overview"].axes
    assert "numbers with an arrow" in captions
    texts = [text.get_text() for text in differences.texts]
    assert "0.40 →" in texts
    assert differences.get_xlim()[1] < 0.4


@pytest.mark.slow
def test_models_of_which_one_is_linear_or_none(figures):
    plots = draw(made_up(linear=("SVM-roc",)))
    assert len(figures["weights-with-best"].axes) == 1
    assert plots["weights-with-best"].caption.startswith("Share of the total weight of SVM-roc per base function")
    html = as_page(made_up(linear=()), "t")[0]
    assert html.count("No model of this experiment is a weighted sum") == 1


def test_without_matplotlib_there_are_tables_and_the_way_to_plots(results, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(NotInstalledError, match=r"structural-svm\[plot\]"):
        draw(results)
    page, plots, missing = as_page(results, "t")
    assert plots == {}
    read = Checked(page)
    assert "svg" not in read.count
    assert read.count["table"] == 13
    assert missing in "".join(read.texts)
    assert "structural-svm[plot]" in missing


def test_findings(results):
    first, second = findings(results)
    assert first.replace("\N{NO-BREAK SPACE}", " ") == (
        "SVM-map, reading all base functions, has a MAP of 0.625. The other model, SVM-roc, has 0.375: SVM-map is "
        "better on 3 of 3 queries and worse on 0, p ≥ 0.05 (0.25, or 0.75 by Holm's correction). The best base "
        "function, alpha_1, has 0.500: SVM-map is better on 2 of 3 queries and worse on 0, the same on 1, p ≥ 0.05 "
        "(0.5, or 0.75 by Holm's correction)."
    )
    assert second.startswith("SVM-map, reading all base functions but the best one, has a MAP of 0.500.")


@pytest.mark.slow
def test_the_files(results, tmp_path, monkeypatch):
    written = write_report(results, tmp_path / "new" / "digits")
    folder = tmp_path / "new" / "digits"
    assert {path.name for path in (written.page, *written.tables)} == {
        *("report.html", "tables.txt", "tables.md", "tables.tex", "tables.csv", "tables.json", "queries.csv"),
    }
    every = {path for path in folder.rglob("*") if path.is_file()}
    assert {written.page, *written.tables, *written.figures} == every == {folder / name for name in FILES}
    page = written.page.read_text(encoding="utf-8")
    for path in written.figures:
        assert path.parent == folder / "figures"
        assert ElementTree.fromstring(path.read_text(encoding="utf-8")).tag == "{http://www.w3.org/2000/svg}svg"
        assert path.read_text(encoding="utf-8").rstrip() in page
    assert "<h1>digits</h1>" in written.page.read_text(encoding="utf-8")
    assert (folder / "tables.csv").read_text(encoding="utf-8") == as_csv(map_tables(results))
    before = {path: path.read_bytes() for path in written.tables}
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    write_report(results, tmp_path / "new" / "digits")
    assert before == {path: path.read_bytes() for path in written.tables}


def test_a_folder_that_is_a_file(results, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # plots take seconds
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InputError, match="tables.txt cannot be written: .*file is not a folder"):
        write_report(results, tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.slow
def test_names_of_any_signs_are_shown_as_they_are(recwarn):
    pytest.importorskip("matplotlib", reason="Matplotlib is not installed: reports have no plots")
    some, others = "\x1b[2J\x9b\x07 \udce9", "\u202e\u2066\u2028 $\\frac{$ $x$ 検索 \U0001f600"
    results = made_up(names=(f"SVM{some}", f"other{others}"), functions=(f"alpha{others}", f"beta{some}"))
    html = as_page(results, f"title{some}{others}")[0]
    texts = Checked(html).texts
    shown, also = printable(some), printable(others)
    assert {f"SVM{shown}", f"other{also}", f"alpha{also}", f"beta{shown}", f"title{shown}{also}"} <= set(texts)
    assert html.encode()
    assert "".join(html.replace("\N{NO-BREAK SPACE}", "").split("\n")).isprintable()
    assert not [
        warning for warning in recwarn if "deprecated" not in str(warning.message)
    ]  # as old Matplotlib is of pyparsing
