"""A full disk: the error names the file, and the old file is unchanged."""

import sys
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import pytest

from structsvm.text import Analyzer, Index
from tests.cli.conftest import write_letor
from tests.cli.test_paths import contents
from tests.protocols.experiment.conftest import scored_documents, write_trec
from tests.protocols.experiment.report.conftest import made_up

resource = pytest.importorskip("resource", reason="the system has no limits of file sizes")

LARGEST = 64
"""Bytes that a file may have."""


def write_collection(folder):
    """Write an index and its judgments."""
    texts = ["alpha beta", "delta alpha", "gamma beta delta"] * 10
    Index.build([(f"D{k}", {"text": text}) for k, text in enumerate(texts)], Analyzer(None, None)).save(
        folder / "index"
    )
    lines = [f"{topic} 0 D{k} {int(k < 5)}\n" for topic in ("1", "2", "few") for k in range(30)]
    (folder / "qrels.txt").write_text("".join(lines))


@contextmanager
def full_disk(largest=LARGEST):
    """Let no file grow beyond some bytes; larger writes fail with "File too large".

    Otherwise Python stores truncated byte code of modules imported inside, which later processes cannot read.
    """
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, before[1]))
    try:
        with patch.object(sys, "dont_write_bytecode", True):
            yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


COMPARE = ("compare", "train.txt", "--solver", "one-slack", "--backend", "active-set")
COMMANDS = {
    "m.npz": ("train", "train.txt", "--model"),
    "scores.txt": ("predict", "m.npz", "test.txt", "--output"),
    "scores.txt.gz": ("predict", "m.npz", "test.txt", "--output"),
    "fused.run": ("fuse", "runs", "--output"),
    "fused.run.gz": ("fuse", "runs", "--output"),
    "rows.csv": (*COMPARE, "--csv"),
    "rows.json": (*COMPARE, "--json"),
    "gaps.svg": (*COMPARE, "--plot"),
    "gaps.png": (*COMPARE, "--plot"),
    "gaps.pdf": (*COMPARE, "--plot"),
}


@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize("name", COMMANDS)
def test_the_message_names_the_file(run, model, name, there):
    write_trec(Path(), *scored_documents(3, 30, 4))
    command = (*COMMANDS[name], name)
    if name.startswith("gaps"):
        pytest.importorskip("matplotlib")
    if there and not Path(name).exists():
        Path(name).write_text("of before")
    if not there and "train" in command:
        Path(name).unlink(missing_ok=True)
    before = contents()
    with full_disk():
        (line,) = run(*command, code=1).stderr.splitlines()
    outcome = "It is unchanged" if there else "Nothing was written"
    if "compare" in command:  # whose rows are written before
        part = Path(f"{name}.part")
        name, outcome = str(part), "Nothing was written"
        assert not part.exists()
    assert line == f"structsvm: error: {name} cannot be written: File too large. {outcome}"
    assert contents() == before


@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize(
    "name", ["gaps.svg", *(pytest.param(f"gaps.{end}", marks=pytest.mark.slow) for end in ("png", "pdf"))]
)
def test_a_plot_is_drawn_whole_or_not_at_all(run, here, name, there):
    pytest.importorskip("matplotlib")
    write_letor(Path("train.txt"), queries=4, documents=6, features=3)
    if there:
        Path(name).write_text("of before")
    before = contents()
    with full_disk(4096):
        (line,) = run(*COMPARE, "--plot", name, code=1).stderr.splitlines()
    outcome = "It is unchanged" if there else "Nothing was written"
    assert line == f"structsvm: error: {name} cannot be written: File too large. {outcome}"
    assert Path(f"{name}.part").stat().st_size < 4096
    Path(f"{name}.part").unlink()
    assert contents() == before


@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize("largest", [LARGEST, 140])  # in the head of an array, and in its numbers
def test_an_index_is_written_whole_or_not_at_all(run, here, largest, there):
    Path("docs.jsonl").write_text('{"id": "a", "text": "a wing"}\n{"id": "b", "text": "flow"}\n')
    if there:
        run("index", "docs.jsonl", "--out", "idx", "--stemmer", "porter")
    before = contents()
    with full_disk(largest):
        (line,) = run("index", "docs.jsonl", "--out", "idx", code=1).stderr.splitlines()
    outcome = "It is unchanged" if there else "Nothing was written"
    assert line == f"structsvm: error: idx cannot be written: File too large. {outcome}"
    assert contents() == before


@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize(
    ("words", "name"),
    [
        (
            ("retrieve", "index", "topics.tsv", "--function", "okapi,cosine", "--out", "ranked"),
            "ranked/index.okapi.run",
        ),
        (("features", "index", "topics.tsv", "--qrels", "qrels.txt", "--judged", "--out", "x.txt"), "x.txt"),
        (("features", "index", "topics.tsv", "--qrels", "qrels.txt", "--folds", 3, "--out", "sets"), "sets/S1.txt"),
    ],
)
def test_runs_and_features_are_written_whole_or_not_at_all(run, here, words, name, there):
    write_collection(here)
    Path("topics.tsv").write_text("1\talpha beta\n2\tdelta\nfew\tgamma\n")
    if there:
        run(*words, "--format", "tsv", "-q", *(("--top", 1) if "--judged" not in words else ()))
    before = contents()
    with full_disk():
        (line,) = run(*words, "--format", "tsv", "-q", code=1).stderr.splitlines()
    outcome = "It is unchanged" if there else "Nothing was written"
    if "retrieve" in words:
        outcome = "ranked is as it was"
    assert line == f"structsvm: error: {name} cannot be written: File too large. {outcome}"
    assert contents() == before
    assert there or not {path.name for path in Path().iterdir()} & {"ranked", "sets"}


@pytest.mark.parametrize("first", ["tables.txt", "report.html"])
def test_a_report_is_replaced_as_a_whole_or_not_at_all(run, here, first, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # plots take time
    Path("done").mkdir()
    made_up().save("done/results.json")
    Path(f"done/{first}").write_text("of before")
    before = contents()
    with full_disk():
        (line,) = run("report", "done", code=1).stderr.splitlines()
    assert line.startswith("structsvm: error: done/tables.txt cannot be written: File too large. ")
    assert contents() == before


@pytest.mark.slow
def test_an_experiment_keeps_its_trials(run, here, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # plots take time
    write_trec(here, *scored_documents(12, 30, 4))
    command = ("experiment", "--runs", "runs", "--qrels", "qrels.txt", "--out", "out", "--models", "svm-map")
    command += ("--with-best", "--trials", 2, "--train", 3, "--validation", 2, "--bins", 6, "--jobs", 1)
    with full_disk():
        (line,) = run(*command, code=1).stderr.splitlines()
    assert line == ("structsvm: error: out/trials.jsonl cannot be written: File too large. Nothing was written")
    run(*command)


@pytest.mark.slow
def test_tables_of_a_benchmark(run, here):
    from tests.protocols.letor.conftest import write_set

    for number in range(1, 4):
        write_set(here / "tiny" / f"S{number}.txt", first=100 * number, seed=number)
    command = ("benchmark", "tiny", "--models", "borda-count", "--out", "out", "--jobs", 1, "-q")
    with full_disk():
        (line,) = run(*command, code=1).stderr.splitlines()
    assert line == ("structsvm: error: out/folds.jsonl cannot be written: File too large. Nothing was written")
    assert not Path("out").exists()
    run(*command)
    assert Path("out/tables.txt").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_device_that_is_full(run, model):
    (line,) = run("predict", "m.npz", "test.txt", "-o", "/dev/full", code=1).stderr.splitlines()
    assert line == "structsvm: error: /dev/full cannot be written: No space left on device"
