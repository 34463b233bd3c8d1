"""The command of Morgan's experiment, as a user runs it."""

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from examples.papers.morgan2004.__main__ import main
from structsvm.exceptions import InputError
from tests.examples.morgan2004.conftest import write_collection

pytestmark = pytest.mark.slow
SHORT = [
    "index",
    "--qrels",
    "qrels.txt",
    "--out",
    "out",
    "--terms",
    "3",
    "--repeats",
    "1",
    "--min-relevant",
    "10",
    "--jobs",
    "1",
]


@pytest.fixture
def collection(tmp_path, monkeypatch):
    """An index of 240 documents, judgments of three topics, one of which has two relevant documents; no plots."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    write_collection(tmp_path)


def test_the_same_command_resumes_and_prints_the_same(collection):
    first = CliRunner().invoke(main, SHORT, catch_exceptions=False)
    assert "Average precision at the query length that validation picks, mean over topics" in first.stdout
    assert "WeightSearch minus MaximumEntropy" in first.stdout
    assert "note: topic few left out: 2 of 10 relevant documents in the index" in first.stderr
    assert json.loads(Path("out/results.json").read_text())["documents"] == 240
    written = {name: Path("out", name).read_bytes() for name in ("tables.csv", "topics.csv")}
    kept = Path("out/trials.jsonl").read_text()
    Path("out/trials.jsonl").write_text(kept[:-20])
    assert CliRunner().invoke(main, SHORT, catch_exceptions=False).stdout == first.stdout
    assert {name: Path("out", name).read_bytes() for name in written} == written
    with pytest.raises(InputError, match=r"out belongs to another experiment \(random_state was 0, now 1\)"):
        CliRunner().invoke(main, [*SHORT, "--seed", "1"], catch_exceptions=False)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--min-relevant", "2"), "2 is not in the range x>=3"),
        (("--out", "index"), "index is the index; choose another folder"),
        (("--grades", "1"), "write each grade as OLD=NEW"),
    ],
)
def test_mistakes_are_explained_in_a_line(collection, options, message):
    before = {path: path.read_bytes() for path in Path("index").iterdir()}
    done = CliRunner().invoke(main, [*SHORT, *options])
    assert done.exit_code == 2
    assert message in done.stderr
    assert {path: path.read_bytes() for path in Path("index").iterdir()} == before
