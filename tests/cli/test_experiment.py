import json
from pathlib import Path

import pytest

from structsvm.cli.shared.paths import EXPERIMENT
from structsvm.protocols import Results, plan
from tests.protocols.experiment.conftest import scored_documents, write_trec

SHORT = ("--trials", 2, "--train", 3, "--validation", 2, "--bins", 6, "--jobs", 1)
READ = ("--runs", "runs", "--qrels", "qrels.txt", "--out", "out")


@pytest.fixture
def trec(here, monkeypatch):
    """Runs and judgments of 12 topics, numbered from 0; reports have no plots, which take time."""
    monkeypatch.setattr("structsvm.protocols.experiment.report.page.draw", lambda results: {})
    write_trec(here, *scored_documents(12, 30, 4))
    return here


def test_it_prints_a_table_of_each_variant_and_keeps_the_results(run, trec):
    printed = run("experiment", *READ, *SHORT, "--models", "svm-map, svm-roc").stdout
    assert printed.startswith("Data\nBase functions   Features   Queries ")
    assert "MAP of models that read all base functions\n" in printed
    assert "MAP of models that read all base functions but the best one\n" in printed
    results = Results.load("out/results.json")
    assert results.models == ("SVM-map", "SVM-roc")
    assert results.variants == ("with-best", "without-best")
    for variant in results.variants:
        for row in results.rows(variant):
            assert f"{row.map:.4f}" in printed
    assert f"Best function: {results.functions[0].name} " in printed
    assert printed.rstrip().endswith("out/report.html")
    assert "<h1>out</h1>" in Path("out/report.html").read_text()
    assert len(Path("out/trials.jsonl").read_text().splitlines()) == 3
    files = {path for path in Path("out").rglob("*") if path.is_file()}
    assert files == {path for path in EXPERIMENT.writes(Path("out")) if path.suffix != ".svg"}


def interrupted(*_):
    raise KeyboardInterrupt


@pytest.mark.slow
def test_only_the_same_command_resumes_after_ctrl_c(run, trec, monkeypatch):
    command = ("experiment", *READ, *SHORT, "--models", "svm-map", "--with-best")
    first = run(*command).stdout
    stored = Path("out/trials.jsonl").read_text()
    Path("out/trials.jsonl").write_text(stored[:-20])
    with monkeypatch.context() as patch:
        patch.setattr(plan, "run_trial", interrupted)
        stopped = run(*command, code=1)
    assert stopped.stdout == ""
    assert stopped.stderr == (
        "structsvm: error: interrupted: 1 of 2 trials are in out; run the same command to resume\n"
    )
    assert run(*command).stdout == first
    assert len(Path("out/trials.jsonl").read_text().splitlines()) == 3
    refused = run(*command, "--seed", 1, code=2).stderr
    assert refused.startswith("structsvm: error: out belongs to another experiment (random_state was 0, now 1)")
    assert "Traceback" not in refused


def test_ranges_mean_the_existing_topics(run, trec):
    run("experiment", *READ, *SHORT, "--models", "svm-map", "--without-best", "--topics", "0-5,8,10-99")
    results = Results.load("out/results.json")
    assert [query.id for query in results.queries] == ["0", "1", "2", "3", "4", "5", "8", "10", "11"]
    assert results.variants == ("without-best",)


def test_topics_left_out_give_a_note(run, trec):
    done = run("experiment", *READ, *SHORT, "--models", "svm-map", "--with-best", "--topics", "0-8,77")
    assert done.stderr == "structsvm: note: 1 topic left out: 77 (no run has it and it is not judged)\n"
    assert json.loads(Path("out/results.json").read_text())["left_out"].keys() == {"77"}


@pytest.mark.slow
def test_a_note_reports_runs_and_judgments_that_do_not_match(run, trec):
    judged = [line.split() for line in Path("qrels.txt").read_text().splitlines()]
    with Path("qrels.txt").open("w") as file:
        for topic, iteration, document, grade in judged:
            number = int(topic) if int(topic) > 7 else 100 + int(topic)
            file.write(f"{number} {iteration} {document} {grade}\n")
            file.writelines(f"{number} {iteration} {document}-{k} {grade}\n" for k in range(3))
    options = ("--train", 2, "--validation", 1, "--models", "svm-map", "--with-best")
    notes = run("experiment", *READ, *SHORT, *options).stderr
    assert "16 topics left out: " in notes
    assert "do runs and judgments use the same topic ids?" in notes
    assert "do runs and judgments belong to the same collection and topics?" in notes


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--models", "svm-mpa"), 2, "unknown experiment model 'svm-mpa'. Did you mean 'SVM-map'?"),
        (("--topics", "50-60"), 2, "--topics 50-60 does not match any of the 12 topics"),
        (("--train", 20), 2, "there are 12 queries, and training and validation take 20 + 2 of them"),
        (("--runs", "nowhere"), 2, "there is no folder nowhere"),
        (("--qrels", "nowhere"), 2, "there is no file nowhere"),
        (("--out", "qrels.txt"), 2, "is a file"),
    ],
)
def test_mistakes_are_explained_in_a_line(run, trec, options, code, message):
    printed = run("experiment", *READ, *SHORT, *options, code=code).stderr
    assert message in printed
    assert "Traceback" not in printed
    assert not Path("out/results.json").exists()
