"""``structsvm features``: from an index to files that the other commands read."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from structsvm.data import load_letor

WORDS = ["wing", "flow", "heat", "shock", "wave", "plate", "jet", "cone"]
TOPICS = 9


@pytest.fixture(autouse=True)
def collection(here, run):
    """A collection in which half of the documents with two words of a topic are relevant, and its index."""
    rng = np.random.default_rng(0)
    pairs = [WORDS[k % 8] + " " + WORDS[(k + 1 + k // 8) % 8] for k in range(TOPICS)]
    documents, judgments = [], []
    for number in range(60):
        of = number % TOPICS
        title = pairs[of] if number % 2 else WORDS[rng.integers(8)]
        text = " ".join([title, *rng.choice(WORDS, rng.integers(3, 9))])
        documents.append({"id": f"d{number}", "title": title, "text": text})
        judgments.append(f"{of + 1} 0 d{number} {1 + (number % 4 == 3) if number % 2 else 0}\n")
    Path("documents.jsonl").write_text("".join(json.dumps(document) + "\n" for document in documents))
    Path("topics.tsv").write_text("".join(f"{k}\t{pair}\n" for k, pair in enumerate(pairs, start=1)))
    Path("qrels.txt").write_text("".join(judgments))
    run("index", "documents.jsonl", "--out", "index", "--quiet")


ARGUMENTS = ("features", "index", "topics.tsv", "--format", "tsv", "--qrels", "qrels.txt")


def test_from_an_index_to_a_benchmark(run):
    done = run(*ARGUMENTS, "--function", "okapi,cosine", "--top", 20, "--folds", 3, "--out", "letor")
    assert "wrote 9 queries" in done.stderr
    assert "45 features, dense" in done.stderr
    assert "to 3 files in letor" in done.stderr
    assert sorted(path.name for path in Path("letor").iterdir()) == ["S1.txt", "S2.txt", "S3.txt"]
    names = load_letor("letor/S2.txt").feature_names
    assert names[::15] == ("text.L1", "title.L1", "whole.L1")
    tables = run("benchmark", "letor", "--models", "borda-count", "--jobs", 1, "--quiet").stdout
    assert "BordaCount" in tables


def test_the_candidates_of_runs(run):
    Path("runs").mkdir()
    Path("runs/a").write_text("1 Q0 d9 1 3 same\n1 Q0 d8 2 2 same\n2 Q0 d1 1 1 same\n77 Q0 d1 1 1 same\n")
    Path("runs/b").write_text("1 Q0 d7 1 3 same\n")
    Path("one").write_text("1 Q0 d1 1 3 same\n")
    done = run(*ARGUMENTS, "--candidates", "runs", "--candidates", "one", "--top", 1, "--out", "some.txt")
    data = load_letor("some.txt", doc_ids=True)
    assert data.doc_ids.tolist() == ["d9", "d7", "d1", "d1"]
    assert data.qid.tolist() == [1, 1, 1, 2]
    assert "7 topics left out (3, 4, 5, 6, 7, ...), without judgments or without candidates" in done.stderr


def test_features_as_they_are_and_by_name(run):
    run(*ARGUMENTS, "--judged", "--fields", "whole", "--features", "L1,L8_lecture,lm_dirichlet(mu=500)",
        "--normalize", "none", "--out", "raw.txt.gz", "--quiet")  # fmt: skip
    assert load_letor("raw.txt.gz").feature_names == ("whole.L1", "whole.L8_lecture", "whole.lm_dirichlet(mu=500)")
    assert gzip.decompress(Path("raw.txt.gz").read_bytes()).startswith(b"# feature 1 = whole.L1\n")
    assert load_letor("raw.txt.gz").X[:, 0].max() > 1


def test_grades_may_run_backwards_and_topics_be_numbered_by_position(run):
    Path("topics.tsv").write_text("".join(f"T{line}\n" for line in Path("topics.tsv").read_text().splitlines()))
    error = run(*ARGUMENTS, "--judged", "--out", "x.txt", code=2).stderr
    assert "the first topics are 'T1' and '1'" in error
    assert "--numbering position" in error
    run(*ARGUMENTS, "--judged", "--numbering", "position", "--grades", "0=0,1=5,2=3", "--out", "x.txt", "--quiet")
    assert set(load_letor("x.txt").y.tolist()) == {0.0, 3.0, 5.0}


def test_topics_without_relevant_candidates_give_a_note(run):
    Path("qrels.txt").write_text("1 0 d1 0\n1 0 d2 1\n2 0 d1 0\n")
    done = run(*ARGUMENTS, "--judged", "--out", "x.txt")
    assert "7 topics left out (3, 4, 5, 6, 7, ...)" in done.stderr
    assert "1 topic with no relevant document among the candidates: measures count them as 0" in done.stderr
    assert "wrote 2 queries, 3 documents" in done.stderr


def test_judged_documents_that_the_index_does_not_have(run):
    judgments = Path("qrels.txt").read_text()
    Path("qrels.txt").write_text(judgments + "1 0 elsewhere 1\n2 0 elsewhere 0\n2 0 nowhere 1\n77 0 other 1\n")
    done = run(*ARGUMENTS, "--judged", "--out", "x.txt")
    assert "2 judged documents of these topics not in the index (elsewhere, nowhere), and left out" in done.stderr
    Path("qrels.txt").write_text(judgments)
    assert "not in the index" not in run(*ARGUMENTS, "--judged", "--out", "y.txt").stderr
    assert Path("x.txt").read_bytes() == Path("y.txt").read_bytes()
    Path("qrels.txt").write_text("1 0 elsewhere 1\n")
    error = run(*ARGUMENTS, "--judged", "--out", "z.txt", code=2).stderr
    assert "document 'elsewhere', a candidate for topic '1', is not in the index" in error
