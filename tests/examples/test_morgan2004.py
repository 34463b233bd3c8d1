"""Morgan's experiment on a small collection of random words."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

from examples.papers import morgan2004
from examples.papers.morgan2004 import PARTS, SEARCH, OkapiTF, Trial, draw_split, main, morgan, mutual_information
from structsvm.data import Qrels
from structsvm.exceptions import InputError
from structsvm.text import Analyzer, Index

ABOUT = {"1": ["alpha", "beta", "gamma"], "2": ["delta", "epsilon", "beta"], "few": ["alpha"]}


def collection():
    """240 documents; documents with words of topic 1 or 2 are relevant to it; the third topic has 2."""
    rng = np.random.default_rng(0)
    texts, pairs = {}, [("few", "D001"), ("few", "D002")]
    for k in range(240):
        words = rng.choice([f"w{j}" for j in range(40)], size=rng.integers(4, 30)).tolist()
        for topic in ("1", "2"):
            if rng.random() < 0.12:
                words += rng.choice(ABOUT[topic], size=2).tolist()
                pairs.append((topic, f"D{k:03}"))
        texts[f"D{k:03}"] = " ".join(words)
    index = Index.build([(name, {"text": text}) for name, text in texts.items()], Analyzer(None, None))
    return index, Qrels.from_grades(*map(list, zip(*pairs, strict=True)), [1] * len(pairs))


@pytest.fixture(scope="module")
def data():
    return collection()


@pytest.fixture(scope="module")
def results(data):
    return morgan(*data, terms=3, repeats=2, min_relevant=10)


@given(st.data())
def test_mutual_information_equals_scikit_learn(data):
    words = st.lists(st.sampled_from("abcdef"), max_size=6)
    documents = data.draw(st.lists(words, min_size=2, max_size=14).filter(any))
    index = Index.build([(str(k), {"text": " ".join(text)}) for k, text in enumerate(documents)], Analyzer(None, None))
    rows = np.array(data.draw(st.permutations(range(len(documents)))))[: data.draw(st.integers(1, len(documents)))]
    relevant = np.array(data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))))
    expected = [mutual_info_score([term in documents[row] for row in rows], relevant) for term in index.whole.terms]
    assert mutual_information(index.whole, rows, relevant) == pytest.approx(expected, abs=1e-12)


def test_a_value_by_hand():
    index = Index.build([("a", {"text": "x x y"}), ("b", {"text": "y"})], Analyzer(None, None))
    assert OkapiTF().bind(index.whole).scores({"x": 1.0}) == pytest.approx([2 / (2 + 0.5 + 1.5 * 3 / 2), 0.0])


@pytest.mark.parametrize("n", [8, 101, 102, 103])
def test_a_quarter_trains_a_quarter_validates_and_half_tests(n):
    relevant = np.arange(n) < 3
    parts = draw_split(relevant, np.random.default_rng(0))
    assert [len(part) for part in parts] == [n // 4, n // 4, n - 2 * (n // 4)]
    assert sorted(np.concatenate(parts).tolist()) == list(range(n))
    assert all(relevant[part].any() and not relevant[part].all() for part in parts)


def test_the_first_term_is_of_the_topic(data):
    relevant = np.isin(data[0].doc_ids, data[1].doc_ids[data[1].qid == "1"])
    trial = Trial.draw(data[0], "1", relevant, 3, (0, 0))
    assert trial.terms[0] in ABOUT["1"]
    assert [len(values) for values in trial.values] == [60, 60, 120]


def test_results_have_a_row_per_topic_with_enough_relevant_documents(results):
    assert {name: ap.shape for name, ap in results.ap.items()} == {
        name: (2, 2, 3, 3, len(Cs)) for name, Cs in morgan2004.CS.items()
    }


def test_training_precision_of_weight_search_never_falls_with_the_length(results):
    assert (np.diff(results.ap[SEARCH][:, :, 0, :, 0], axis=-1) >= -1e-12).all()


@pytest.mark.parametrize("method", morgan2004.CS)
def test_a_pick_is_the_first_best_on_validation(results, method):
    ap = results.ap[method].mean(axis=(0, 1), keepdims=True)
    one = morgan2004.Results({method: ap})
    length, C = np.unravel_index(ap[0, 0, 1].argmax(), ap.shape[3:])
    assert [one.at_pick(method, part)[0] for part in PARTS] == ap[0, 0, :, length, C].tolist()
    assert one.of_lengths(method, "test")[0, length] == ap[0, 0, 2, length, C]
    assert one.of_lengths(method, "test", 0)[0].tolist() == ap[0, 0, 2, :, 0].tolist()


def test_tables_have_every_method(results):
    picks, differences, curves, values = map(str, morgan2004.tables(results))
    assert all(name in picks and f"{name} test" in curves and name in values for name in results.ap)
    assert "WeightSearch minus SVM-map" in differences


def test_the_command_writes_results_and_a_plot(data, tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    data[0].save(tmp_path / "index")
    rows = zip(data[1].qid, data[1].doc_ids, strict=True)
    (tmp_path / "qrels").write_text("".join(f"{topic} 0 {name} 1\n" for topic, name in rows))
    words = ["--grades", "1=2", "--terms", "2", "--repeats", "1", "--min-relevant", "10"]
    paths = {option: str(tmp_path / name) for option, name in (("--out", "r.json"), ("--plot", "p.svg"))}
    pairs = [text for pair in paths.items() for text in pair]
    with matplotlib.rc_context():
        done = CliRunner().invoke(main, [str(tmp_path / "index"), "--qrels", str(tmp_path / "qrels"), *words, *pairs])
    assert done.exit_code == 0, done.output
    assert "240 documents, 2 topics: 1 2" in done.output
    assert np.shape(json.loads((tmp_path / "r.json").read_text())[SEARCH]) == (2, 1, 3, 2, 1)
    assert (tmp_path / "p.svg").exists()


def test_topics_with_too_few_relevant_documents_are_an_error(data):
    with pytest.raises(InputError, match="no topic has 100 relevant documents in the index. Lower --min-relevant"):
        morgan(*data, min_relevant=100)
