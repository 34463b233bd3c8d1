"""Results as JSON: one implementation, one shape for all commands."""

import json
from pathlib import Path

import pytest

from structsvm.cli.shared.results import write_json
from structsvm.registry.built_in import REGISTRIES


def test_train_writes_its_result_as_json(run):
    text = run("train", "train.txt", "--model", "m.npz", "--json", "train.json").stdout
    assert "optimum" in text
    content = json.loads(Path("train.json").read_text())
    assert (content["model"], content["data"], content["queries"], content["documents"]) == (
        "m.npz",
        ["train.txt"],
        9,
        108,
    )
    shown = json.loads(run("show", "m.npz", "--json", "-").stdout)
    assert {key: shown[key] for key in content if key not in ("data", "queries", "documents")} == {
        key: value for key, value in content.items() if key not in ("data", "queries", "documents")
    }


def test_standard_output_has_the_result_alone(run):
    options = ("--solver", "one-slack", "--backend", "active-set")
    for command in (
        ("train", "train.txt", "--model", "m.npz"),
        ("show", "m.npz"),
        ("evaluate", "m.npz", "test.txt"),
        ("compare", "train.txt", *options),
        ("list", "solvers"),
    ):
        for output in ("-", "/dev/stdout"):
            json.loads(run(*command, "--json", output).stdout)


def test_commands_on_texts_have_their_counts(run):
    Path("docs.tsv").write_text("a\twing flow\nb\twing\nc\tof\n")
    Path("topics.tsv").write_text("1\twing\n2\theat\n")
    Path("qrels").write_text("1 0 a 1\n1 0 d 1\n2 0 b 0\n")
    content = json.loads(run("index", "docs.tsv", "--format", "tsv", "--out", "idx", "--json", "-").stdout)
    assert content["rows"] == [{"field": "text", "documents": 2, "terms": 2, "tokens": 3, "postings": 3}]
    assert (content["documents"], content["documents_without_terms"]) == (3, 1)
    options = ("idx", "topics.tsv", "--format", "tsv", "--json", "-", "--out")
    content = json.loads(run("retrieve", *options, "runs").stdout)
    (entry,) = content["runs"]
    assert entry == {"run": "idx.bm25", "file": "runs/idx.bm25.run", "index": "idx", "topics": 1, "retrieved": 2}
    content = json.loads(
        run("features", *options, "f.txt", "--qrels", "qrels", "--judged", "--features", "L1,H1").stdout
    )
    assert content == {
        "output": "f.txt",
        "topics": 2,
        "topics_left_out": [],
        "documents": 2,
        "relevant": 1,
        "judged_documents_left_out": 1,
        "features": ["text.L1", "text.H1"],
    }


def test_list_has_the_kinds(run):
    content = json.loads(run("list", "losses", "--json", "-").stdout)
    assert [row["name"] for row in content["losses"]] == REGISTRIES["losses"].names()
    assert set(content["losses"][0]) == {"name", "what", "from"}


def test_fuse_writes_its_runs_as_json(run):
    for name in "ab":
        Path(f"{name}.run").write_text(f"1 Q0 x 1 1 {name}\n")
    run("fuse", "a.run", "b.run", "--output", "f.run", "--json", "f.json")
    content = json.loads(Path("f.json").read_text())
    assert content["runs"] == [{"run": "a", "file": "a.run"}, {"run": "b", "file": "b.run"}]
    assert (content["topics"], content["documents"], content["weights"]) == (1, 1, None)


@pytest.mark.parametrize("number", [float("inf"), float("nan")])
def test_numbers_that_are_not_finite_become_null(tmp_path: Path, number: float) -> None:
    write_json({"gap": [number, 1.0]}, tmp_path / "a.json")
    assert json.loads((tmp_path / "a.json").read_text()) == {"gap": [None, 1.0]}
