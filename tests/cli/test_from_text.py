"""From raw text to a report: ``structsvm index``, ``retrieve`` and ``experiment``, one after the other."""

import random
from pathlib import Path

import pytest

from structsvm.protocols import Results
from tests.data.trec_reference import average_precision_over_orders, lines_of, read_qrels, read_run

ENDINGS = ("ing", "ed", "s")
FUNCTIONS = ("cosine", "tfidf", "okapi", "lm_dirichlet", "lm_jelinek_mercer")
INDEXES = {
    "plain": ("--stemmer", "none", "--stop-words", "none"),
    "porter": ("--stop-words", "none"),
    "stop": ("--stop-words", "glasgow"),
}


@pytest.fixture
def collection(here):
    """90 documents and 9 topics; relevant documents have the word of their topic, if not in its form."""
    draw = random.Random(0)
    words = ["of", "the", *(f"word{k}" for k in range(30))]
    stems = ["heat", "flow", "wing", "lift", "drift", "stall", "spin", "shock", "jet"]
    documents, judgments = [], []
    for number in range(90):
        text = [stems[number % 9] + draw.choice(ENDINGS) for _ in range(2)] + draw.choices(words, k=25)
        text += [stem + "s" for stem in draw.sample(stems, k=2)]
        documents.append(f"<DOC>\n<DOCNO>D{number}</DOCNO>\n{' '.join(text)}\n</DOC>\n")
        judgments.append(f"{number % 9 + 1} 0 D{number} 1\n")
    topics = [f"<top>\n<num> {k}\n<title> {stem}ing of the word{k}\n</top>\n" for k, stem in enumerate(stems, start=1)]
    for name, lines in {"docs": documents, "topics": topics, "qrels": judgments}.items():
        Path(f"{name}.txt").write_text("".join(lines))


@pytest.mark.slow
def test_fifteen_base_functions_from_text_to_a_report(run, collection):
    for name, options in INDEXES.items():
        run("index", "docs.txt", *options, "--out", f"indexes/{name}", "-q")
    folders = [f"indexes/{name}" for name in INDEXES]
    run("retrieve", *folders, "topics.txt", "--function", ",".join(FUNCTIONS), "--top", 40, "--out", "runs", "-q")
    options = ("--trials", 2, "--train", 3, "--validation", 2, "--bins", 8, "--models", "svm-map", "--jobs", 1)
    run("experiment", "--runs", "runs", "--qrels", "qrels.txt", *options, "--with-best", "--out", "report", "-q")
    results = Results.load("report/results.json")
    assert {function.name for function in results.functions} == {
        f"{i}.{function}" for i in INDEXES for function in FUNCTIONS
    }
    assert len(results.queries) == 9
    rows = {row.name: row for row in results.rows("with-best", denominators="judged", base_functions=15)}
    runs = {path.stem: read_run(lines_of(path)) for path in Path("runs").iterdir()}
    qrels = read_qrels(lines_of(Path("qrels.txt")))
    for name, run_of_it in runs.items():
        ranked = {
            topic: dict.fromkeys((doc for function in runs.values() for doc in function[topic]), -1e9) | scores
            for topic, scores in run_of_it.items()
        }
        expected = [average_precision_over_orders(ranked[query.id], set(qrels[query.id])) for query in results.queries]
        assert rows[name].values.tolist() == pytest.approx(expected, abs=1e-12)
    assert rows["stop.okapi"].map > rows["plain.okapi"].map
    assert rows["SVM-map"].map > rows["plain.okapi"].map
    assert "SVM-map" in Path("report/report.html").read_text()
