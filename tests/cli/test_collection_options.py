"""Options and paths of commands that read collections, topics and judgments."""

import json
import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from structsvm.cli.shared import collections, paths
from structsvm.cli.shared.command import Command
from structsvm.foundation.storage.files import STANDARD_INPUT


@click.command(cls=Command)
@click.argument("collection", type=paths.COLLECTION)
@click.option("--topics", type=paths.TOPICS)
@click.option("--qrels", type=paths.QRELS)
@click.option("--out", type=paths.OUTPUT)
@collections.with_texts
@collections.with_fields
@collections.with_numbering
@collections.with_grades
def command(**values):
    click.echo(repr(values))


def values(*words):
    done = CliRunner().invoke(command, words, standalone_mode=False)
    assert done.exception is None, done.exception
    return eval(done.output, {"PosixPath": Path, "WindowsPath": Path})


def refusal(*words):
    done = CliRunner().invoke(command, words)
    return re.sub(r"\s+", " ", str(done.exception) if done.exit_code == 1 else done.stderr)


def test_commands_receive_parsed_values():
    assert values("cran.all.1400") == {
        "collection": Path("cran.all.1400"),
        "topics": None,
        "qrels": None,
        "out": None,
        "format": "auto",
        "encoding": "utf-8",
        "id_field": None,
        "fields": (),
        "numbering": "given",
        "grades": None,
    }
    words = ("--format", "tsv-header", "--encoding", "latin-1", "--id-field", "pid", "--fields", "title, text")
    arguments = values("x", *words, "--numbering", "position", "--qrels", "q", "--grades", "1=4, 2=3,+3=2,4=1,5=0,-1=0")
    assert arguments["grades"] == {1: 4, 2: 3, 3: 2, 4: 1, 5: 0, -1: 0}
    assert (arguments["format"], arguments["encoding"], arguments["id_field"]) == ("tsv-header", "latin-1", "pid")
    assert (arguments["fields"], arguments["numbering"]) == (("title", "text"), "position")


def test_a_path_may_be_a_data_set_or_standard_input():
    assert values("ir_datasets:nfcorpus/test", "--topics", "-") | {"grades": None} == values(
        "ir_datasets:nfcorpus/test", "--topics", "/dev/stdin"
    )
    assert values("ir_datasets:nfcorpus/test")["collection"] == "ir_datasets:nfcorpus/test"
    assert values("-")["collection"] == STANDARD_INPUT
    assert values("./ir_datasets:x")["collection"] == Path("ir_datasets:x")
    assert "two inputs cannot both be standard input" in refusal("-", "--topics", "-")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--format", "xml"), "unknown format 'xml'; known: auto, trec, smart, lisa, jsonl, tsv, tsv-header"),
        (("--encoding", "utf-9"), "unknown encoding 'utf-9'; choose for example utf-8, latin-1 or cp1252"),
        (("--encoding", "utf-16"), "files in utf-16 cannot be read"),
        (("--numbering", "rank"), "'rank' is not one of 'given', 'position'"),
        (("--fields", ","), "has an empty entry"),
        (("--fields", "text,text"), "'text' is given twice: leave one out"),
        (("--grades", ""), "has an empty entry"),
        (("--grades", "1"), "'1' is not of the form OLD=NEW, with whole numbers: write 1=4,2=3"),
        (("--grades", "1=٤"), "is not of the form OLD=NEW"),
        (("--grades", "1=2,01=3"), "grade 1 is given twice: leave one out"),
    ],
)
def test_unknown_options_are_errors(words, message):
    assert message in refusal("x", *words)


def test_an_output_is_not_written_into_a_collection(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("all/b").mkdir(parents=True)
    Path("all/b/c.txt").write_text("x")
    for out in ("all/new", "all/b/new", "all/b/../new"):
        assert f"--out {out} is in the input folder all, so the next run would read it" in refusal("all", "--out", out)
    assert "--out all/b/c.txt would replace the input all/b/c.txt" in refusal("all", "--out", "all/b/c.txt")
    assert values("all", "--out", "all.txt")["out"] == Path("all.txt")
    assert values("all/b/c.txt", "--out", "all/b/d.txt")["out"] == Path("all/b/d.txt")


def test_grades_where_runs_are_measured(run, here):
    Path("run").write_text("1 Q0 a 1 3 r\n1 Q0 b 2 2 r\n1 Q0 c 3 1 r\n")
    Path("qrels").write_text("1 a 4\n1 b 1\n1 c -1\n")
    evaluate = ("evaluate", "--qrels", "qrels", "run", "--measure", "ndcg", "--measure", "map", "--json", "-")

    def measured(*more):
        (report,) = json.loads(run(*evaluate, *more).stdout)["runs"]
        return [report["measures"][name]["mean"] for name in ("ndcg", "map")]

    assert measured() == measured("--grades", "4=4,1=1,-1=0")
    assert measured() == [1.0, 1.0]
    turned = measured("--grades", "1=4,4=1,-1=0")
    assert turned[0] < 1.0
    assert turned[1] == 1.0
    assert measured("--grades", "1=4,4=0,-1=0")[1] == 0.5
    (line,) = run(*evaluate, "--grades", "1=4,4=1", code=2).stderr.splitlines()
    assert line == ("structsvm: error: qrels, line 3: grade -1 is missing in grades, which maps 1, 4: add it")
    assert (
        "--grades has no effect without --qrels"
        in run("evaluate", "m.npz", "test.txt", "--grades", "1=1", code=2).stderr
    )


def test_judgments_of_a_data_set(run, here, monkeypatch):
    Path("run").write_text("1 Q0 a 1 3 r\n")
    monkeypatch.setitem(__import__("sys").modules, "ir_datasets", None)
    (line,) = run("evaluate", "--qrels", "ir_datasets:nfcorpus/test", "run", code=1).stderr.splitlines()
    assert "pip install 'structural-svm[ir-datasets]'" in line
