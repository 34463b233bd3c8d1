"""Control characters of names, ids and quoted text do not reach the terminal; ids of runs are kept byte for byte."""

import ast
import gzip
import os
from pathlib import Path

import pytest

import structsvm.cli
from tests.cli.conftest import write_letor

ESCAPE = "\x1b]0;owned\x07\x9b31m\u202e"
SHOWN = r"\x1b]0;owned\x07\x9b31m\u202e"


def test_lines_are_printed_in_one_place():
    for path in Path(structsvm.cli.__file__).parent.glob("*.py"):
        calls = {ast.unparse(node.func) for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)}
        assert not calls & {"print", "click.secho"}
        assert "click.echo" not in calls or path.name in {"console.py", "failures.py", "files.py"}


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["train", "{}", "--model", "m"], 2),
        (["train", "train.txt", "--model", "{}", "--max-iter", "1", "--tol", "1e-9"], 1),
        (["train", "train.txt", "--model", "{}"], 0),
        (["train", "train.txt", "--model", "{}/m"], 2),
        (["train", "damaged{}", "--model", "m"], 2),
        (["evaluate", "{}", "test.txt"], 2),
        (["evaluate", "--qrels", "qrels", "run", "run{}"], 0),
        (["evaluate", "--qrels", "qrels", "run", "--per-query", "--json", "-"], 0),
        (["fuse", "run", "run{}", "-o", "{}"], 0),
        (["compare", "train.txt", "--csv", "a{}", "--json", "a{}"], 2),
        (["experiment", "--runs", "{}", "--qrels", "qrels", "--out", "out"], 2),
        (["report", "{}"], 2),
        (["--{}"], 2),
        (["{}"], 2),
        (["train", "--{}"], 2),
        (["train", "train.txt", "--loss", "{}", "--model", "m"], 2),
        (["compare", "train.txt", "-C", "{}"], 2),
        (["train", "train.txt", "-C", "{}", "--model", "m"], 2),
    ],
)
def test_nothing_acts_on_the_terminal(run, words, code):
    Path(f"damaged{ESCAPE}").write_text(f"1 qid:1 {ESCAPE}:1\n")
    Path("qrels").write_text(f"7{ESCAPE} 0 d1 1\n8 0 d1 1\n")
    Path("run").write_text(f"7{ESCAPE} Q0 d1{ESCAPE} 1 0.5 name{ESCAPE}\n9{ESCAPE} Q0 d1 1 0.5 name{ESCAPE}\n")
    Path(f"run{ESCAPE}").write_text(f"8 Q0 d1 1 0.5 name{ESCAPE}\n")
    done = run(*(word.format(ESCAPE) for word in words), code=code)
    assert all(line.isprintable() for line in done.output.split("\n"))
    assert ("--json" in words) or SHOWN in done.output
    if code == 1:
        assert len(done.stderr.splitlines()) == 1


def test_a_line_end_in_a_name_makes_no_line(run, here):
    (line,) = run("train", "no\nsuch", "--model", "m", code=2).stderr.splitlines()
    assert line == "structsvm: error: there is no file no such"


IDS = ["plain", "caf\u00e9", "esc\x1b[31m", "\udce9\udcff", "=1+1", "-5"]


@pytest.mark.parametrize("output", ["run", "run.gz", None])
def test_ids_of_documents_are_kept_byte_for_byte(run, model, output):
    raw = [name.encode("utf-8", "surrogateescape") for name in IDS]
    lines = [b"1 qid:7 1:%d # docid = %s\n" % (k, name) for k, name in enumerate(raw)]
    Path("data").write_bytes(b"".join(lines))
    done = run("predict", model, "data", "--format", "trec", *(["-o", output] if output else []))
    written = Path(output).read_bytes() if output else done.stdout_bytes
    if output == "run.gz":
        written = gzip.decompress(written)
    assert sorted(line.split(b" ")[2] for line in written.splitlines()) == sorted(raw)


def test_fused_runs_keep_ids(run, here):
    Path("a").write_text("".join(f"7 Q0 {name} 1 {k} a\n" for k, name in enumerate(IDS) if "\udce9" not in name))
    run("fuse", "a", "-o", "fused")
    assert {line.split(" ")[2] for line in Path("fused").read_text().splitlines()} == set(IDS) - {IDS[3]}


def test_a_file_name_that_is_no_text(run, here):
    name = os.fsdecode(b"caf\xe9")
    write_letor(Path(name), queries=3, documents=4, features=4)
    done = run("train", name, "--model", f"{name}.npz")
    assert r"caf\udce9.npz" in done.stdout
    assert Path(f"{name}.npz").exists()
