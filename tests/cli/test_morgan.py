import json
import sys
from pathlib import Path

import pytest

from structsvm.cli.paths import MORGAN
from tests.protocols.morgan.conftest import write_collection

READ = ("index", "--qrels", "qrels.txt", "--out", "out")
SHORT = ("--terms", 3, "--repeats", 1, "--min-relevant", 10, "--jobs", 1)


@pytest.fixture
def collection(here):
    """An index of 240 documents, and judgments of three topics, one of which has two relevant documents."""
    write_collection(here)
    return here


@pytest.fixture(autouse=True)
def without_plots(monkeypatch):
    """Drawing takes longer than all else, and is tried where reports are."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)


def test_it_prints_tables_and_writes_a_report(run, collection):
    done = run("morgan", *READ, *SHORT)
    assert done.stdout.startswith("Data\nDocuments   Topics ")
    assert "\nAverage precision at the query length that validation picks, mean over topics\n" in done.stdout
    assert "WeightSearch minus MaximumEntropy" in done.stdout
    assert done.stdout.rstrip().endswith("out/report.html")
    left_out, no_plots = done.stderr.splitlines()
    assert left_out == "structsvm: note: 1 topic left out: few (2 of 10 relevant documents in the index)"
    assert no_plots.startswith("structsvm: note: the report has no plots: ")
    written = {path for path in MORGAN.writes(Path("out")) if path.suffix != ".svg"}
    assert set(Path("out").iterdir()) == written
    assert json.loads(Path("out/results.json").read_text())["documents"] == 240


def test_an_index_that_is_not_what_was_written(run, collection):
    path = Path("index/whole.terms.text.npy")
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    assert "whole.terms.text.npy is not what was written" in run("morgan", *READ, *SHORT, code=1).stderr


def test_the_same_command_goes_on_and_another_one_is_refused(run, collection):
    command = ("morgan", *READ, *SHORT)
    first = run(*command).stdout
    written = {name: Path("out", name).read_bytes() for name in ("tables.csv", "topics.csv")}
    kept = Path("out/trials.jsonl").read_text()
    Path("out/trials.jsonl").write_text(kept[:-20])
    assert run(*command).stdout == first
    assert {name: Path("out", name).read_bytes() for name in written} == written
    refused = run(*command, "--seed", 1, code=1).stderr
    assert "out belongs to another experiment (seed was 0, and is 1)" in refused


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--topics", "50-60"), 1, "--topics 50-60 names none of the topics of qrels.txt"),
        (("--topics", "few"), 1, "none of the 1 topics has 10 relevant documents"),
        (("--topics", "nowhere,1"), 0, "1 topic left out: nowhere (it is not judged)"),
        (("--min-relevant", 2), 2, "2 is not in the range x>=3"),
        (("--terms", 5000), 1, "queries are to have up to 5000"),
        (("--qrels", "nowhere"), 1, "there is no file nowhere"),
        (("--qrels", "other.txt"), 1, "the judgments are of another collection"),
        (("--grades", "0=1"), 1, "grade 1"),
        (("--out", "qrels.txt"), 2, "is a file"),
        (("--out", "index"), 1, "index"),
    ],
)
def test_mistakes_are_explained_in_a_line(run, collection, options, code, message):
    Path("other.txt").write_text("1 0 X1 1\n")
    before = {path: path.read_bytes() for path in Path("index").iterdir()}
    printed = run("morgan", *READ, *SHORT, *options, code=code).stderr
    assert message in printed
    assert "Traceback" not in printed
    assert {path: path.read_bytes() for path in Path("index").iterdir()} == before
    assert Path("out/results.json").exists() == (code == 0)


def test_a_folder_that_is_no_index_is_refused(run, collection):
    Path("empty").mkdir()
    for name, message in (("nowhere", "nowhere"), ("empty", "empty")):
        printed = run("morgan", name, *READ[1:], *SHORT, code=1).stderr
        assert message in printed
        assert "Traceback" not in printed
