"""``structsvm fuse``."""

import gzip
import re
from pathlib import Path

import click
import pytest

from structsvm.cli.fuse import fuse_command
from structsvm.data import load_qrels, load_run, load_runs
from structsvm.features.scaling.names import SCORE_SCALINGS
from structsvm.fusion import CombMNZ, Copeland, WeightedCombSUM, fuse_runs
from structsvm.fusion.runs import fit_to_judged, method_named
from structsvm.rankers import WeightSearch
from structsvm.registry import fusions
from tests.fusion.test_voting import ENGINES


@pytest.fixture
def files(here):
    """The lecture's five engines as runs of one topic, in the folder runs."""
    Path("runs").mkdir()
    for k, ranking in enumerate(ENGINES):
        lines = [f"7 Q0 {doc} {place + 1} {10 - place} e{k}\n" for place, doc in enumerate(ranking)]
        Path(f"runs/e{k}").write_text("".join(lines))


def same(run, expected):
    assert (run.name, run.qid.tolist()) == (expected.name, expected.qid.tolist())
    assert run.doc_ids.tolist() == expected.doc_ids.tolist()
    assert run.scores.tolist() == expected.scores.tolist()


def test_a_folder_to_standard_output(run, files):
    done = run("fuse", "runs", "--method", "borda")
    assert done.stdout.splitlines() == [
        "7 Q0 B 1 27.0 fused",
        "7 Q0 A 2 26.0 fused",
        "7 Q0 C 3 22.0 fused",
        "7 Q0 F 4 10.5 fused",
        "7 Q0 D 5 10.5 fused",
        "7 Q0 E 6 9.0 fused",
    ]
    assert done.stderr == ""


@pytest.mark.slow
def test_files_to_a_file(run, files):
    paths = [f"runs/e{k}" for k in (0, 3, 4)]
    done = run("fuse", *paths, "--method", "copeland", "--tag", "mine", "--depth", 3, "--length", 2, "-o", "out.run")
    assert (done.stdout, done.stderr) == ("", "structsvm: note: wrote 2 documents of 1 topic to out.run\n")
    same(load_run("out.run"), fuse_runs(load_runs(paths), Copeland(), name="mine", depth=3, length=2))


@pytest.mark.parametrize("method", fusions.built_in)
def test_every_method_by_name(run, files, method):
    Path("qrels.txt").write_text("7 0 A 1\n7 0 C 0\n")
    learns = method_named(method).learns
    done = run("fuse", "runs", "--method", method, *(["--qrels", "qrels.txt"] if learns else []), "--output", "out.run")
    assert ("the fused run contains 1 topic that the weights were learned from" in done.stderr) is learns
    same(load_run("out.run"), fuse_runs(load_runs("runs"), method, qrels=load_qrels("qrels.txt") if learns else None))


def test_learned_weights_are_shown(run, files):
    Path("qrels.txt").write_text("7 0 A 1\n7 0 C 0\n")
    command = ("fuse", "runs", "--method", "weighted-comb-sum", "--qrels", "qrels.txt")
    done = run(*command)
    learned = WeightedCombSUM()
    fit_to_judged(learned, load_runs("runs"), load_qrels("qrels.txt"))
    shown = ", ".join(f"e{k} {weight:.4g}" for k, weight in enumerate(learned.weights_))
    assert len(set(learned.weights_)) > 1
    assert done.stderr.splitlines()[0] == f"structsvm: note: learned weights: {shown}"
    assert "learned weights" not in run(*command, "--quiet").stderr


def test_settings(run, files):
    done = run("fuse", "runs", "--method", "CombMNZ(count=nonzero)", "--normalize=query-sum", "-q", "-o", "out.run")
    assert done.stderr == ""
    same(load_run("out.run"), fuse_runs(load_runs("runs"), CombMNZ("sum", count="nonzero")))


def test_the_help_knows_all_methods_and_settings():
    options = {option.name: option for option in fuse_command.params if isinstance(option, click.Option)}
    assert all(name in options["method"].help for name in fusions.built_in)
    assert set(options["normalize"].type.choices) == {"none", *SCORE_SCALINGS}


def test_runs_that_lack_topics_are_named(run, files):
    Path("runs/e5").write_text("".join(f"{topic} Q0 A 1 1 e5\n" for topic in (7, 8, 9, 10, 11)))
    done = run("fuse", "runs", "-o", "out.run")
    lines = done.stderr.splitlines()
    assert lines[:-1] == [
        "structsvm: note: e0, e1, e2, e3, e4 lack 4 of 5 topics (8, 9, 10, ...), for which they count as runs that "
        "retrieved nothing"
    ]
    assert set(load_run("out.run").qid.tolist()) == {"7", "8", "9", "10", "11"}


def test_a_name_that_ends_in_gz_is_written_as_gzip(run, files):
    run("fuse", "runs", "-o", "out.run")
    run("fuse", "runs", "-o", "out.run.gz")
    written = Path("out.run.gz").read_bytes()
    assert gzip.decompress(written) == Path("out.run").read_bytes()
    run("fuse", "runs", "-o", "again.run.gz")
    assert Path("again.run.gz").read_bytes() == written
    assert sorted(path.name for path in Path().iterdir() if "run" in path.name) == [
        "again.run.gz",
        "out.run",
        "out.run.gz",
        "runs",
    ]


def test_runs_with_the_same_name_get_names_of_their_files(run, files):
    expected = run("fuse", "runs", "--method", "borda").stdout
    for path in Path("runs").iterdir():
        path.write_text(re.sub("e[0-3]$", "mine", path.read_text(), flags=re.MULTILINE))
    assert run("fuse", "runs", "--method", "borda").stdout == expected
    Path("runs/e5").write_text("8 Q0 A 1 1 e5\n")
    notes = run("fuse", "runs").stderr.splitlines()
    assert [note.split(" lack")[0].removeprefix("structsvm: note: ") for note in notes] == [
        "runs/e0, runs/e1, runs/e2, runs/e3, e4",
        "e5",
    ]


def test_control_characters_are_escaped_on_a_terminal_only(run, here, monkeypatch):
    line = "1 Q0 a\x1b[31m\u2028 1 2.0 one\n"
    Path("one.run").write_text(line)
    assert run("fuse", "one.run").stdout_bytes == line.replace("one", "fused").replace("2.0", "0.0").encode()
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda stream: True)
    assert run("fuse", "one.run", "-q").stdout_bytes == rb"1 Q0 a\x1b[31m\u2028 1 0.0 fused" + b"\n"


@pytest.mark.slow
def test_weights_that_are_typed(run, files):
    done = run("fuse", "runs", "--method", "weighted-comb-sum(weights=[2,1,1,0,0.5], normalize=none)", "-o", "a.run")
    assert done.stderr == "structsvm: note: wrote 6 documents of 1 topic to a.run\n"
    same(load_run("a.run"), fuse_runs(load_runs("runs"), WeightedCombSUM("none", weights=[2, 1, 1, 0, 0.5])))
    Path("qrels.txt").write_text("7 0 A 1\n7 0 C 0\n")
    learn = ("fuse", "runs", "--qrels", "qrels.txt", "--method")
    run(*learn, "weighted-comb-sum(weights=weight-search)", "-o", "b.run")
    judged = load_qrels("qrels.txt")
    same(load_run("b.run"), fuse_runs(load_runs("runs"), WeightedCombSUM(weights=WeightSearch()), qrels=judged))
    error = run(*learn, "weighted-comb-sum(weights=svm-map)", code=2).stderr.replace("\n", " ")
    assert "'maximum_entropy' or 'weight_search'; in Python also an object" in error
    assert "a number for each system, as in [2,1], got 'svm-map'" in error
    assert "must be numbers" in run(*learn, "weighted-comb-sum(weights=[2,x])", code=2).stderr
    error = run("fuse", "runs", "--method", "weighted-comb-sum(weights=[2,1])", code=2).stderr
    assert "weights must be 5 finite numbers, one for each system, got [2, 1]" in error
