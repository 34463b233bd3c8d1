"""Data of commands: tables with named columns, group sizes, documents without labels or queries, float32, a cache."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from structsvm import Ranker
from structsvm.data import load_digits_queries, load_letor
from structsvm.estimators import FeatureEliminationCV


@pytest.fixture
def tables(here):
    """The files of the folder as tables, the features of the one to test in another order."""
    for name in ("train", "test"):
        data = load_letor(f"{name}.txt")
        frame = pd.DataFrame(data.X, columns=["a", "b", "c", "d"]).assign(
            label=data.y.astype(int), qid=data.qid, docid=[f"d{k}" for k in range(len(data.y))], title="a, b"
        )
        frame.to_csv(f"{name}.csv", index=False)
        frame[["docid", "d", "b", "a", "c", "qid"]].to_csv(f"{name}.tsv", sep="\t", index=False)


def test_a_model_of_a_table_is_that_of_the_text(run, tables, model):
    done = run("train", "train.csv", "--model", "t.npz", "-C", "1")
    assert done.stderr == (
        "structsvm: note: left out columns that are neither numbers nor categories: title (1 text). Make numbers of "
        "dates, such as days; name columns of categories with --categories\n"
    )
    ranker = Ranker.load("t.npz")
    assert (ranker.coef_ == Ranker.load("m.npz").coef_).all()
    assert ranker.known_names == ("a", "b", "c", "d")


def test_numbers_of_ids_are_left_out_with_a_note(run, tables):
    frame = pd.read_csv("train.csv").drop(columns=["docid", "title"])
    frame.assign(doc_id=np.arange(len(frame))).to_csv("ids.csv", index=False)
    done = run("train", "ids.csv", "--model", "t.npz", "-C", "1")
    assert done.stderr == (
        "structsvm: note: left out columns of numbers that have names of ids or of a saved index: doc_id. Name "
        "document ids with --docid, features with --features\n"
    )
    assert Ranker.load("t.npz").known_names == ("a", "b", "c", "d")
    assert run("train", "ids.csv", "--docid", "doc_id", "--model", "u.npz", "-C", "1").stderr == ""
    assert run("train", "ids.csv", "--features", "a,doc_id", "--model", "v.npz", "-C", "1").stderr == ""
    assert Ranker.load("v.npz").known_names == ("a", "doc_id")
    more = ("--features", "c,a", "--features", "b", "--model", "w.npz", "-C", "1")
    assert run("train", "ids.csv", *more).stderr == ""
    assert Ranker.load("w.npz").known_names == ("c", "a", "b")
    assert "'a' is given twice: leave one out" in run("train", "ids.csv", *more, "--features", "a", code=2).stderr
    assert "',' has an empty entry" in run("train", "ids.csv", *more, "--features", ",", code=2).stderr
    frame.rename(columns={"a": "sum(a,b)"}).to_csv("sums.csv", index=False)
    run("train", "sums.csv", "--features", "sum(a,b),c", "--model", "x.npz", "-C", "1")
    assert Ranker.load("x.npz").known_names == ("sum(a,b)", "c")


def test_a_table_is_scored_by_the_names_of_the_model_s_features(run, tables, model):
    run("train", "train.csv", "--model", "t.npz", "--quiet")
    expected = run("predict", model, "test.txt").stdout
    done = run("predict", "t.npz", "test.tsv")  # without labels
    assert done.stdout == expected
    assert done.stderr == ""
    assert run("predict", "t.npz", "test.txt").stdout == expected
    lines = run("predict", "t.npz", "test.tsv", "--format", "trec").stdout.splitlines()
    assert {line.split()[2] for line in lines} == {f"d{k}" for k in range(60)}
    done = run("predict", "t.npz", "test.tsv", "--format", "trec", "--docid", "a", code=2)
    assert "column 'a' is a feature and has another role" in done.stderr


def test_a_table_without_a_feature_of_the_model(run, tables):
    run("train", "train.csv", "--model", "t.npz", "--quiet", "--features", "b,c")
    assert Ranker.load("t.npz").known_names == ("b", "c")
    Path("few.csv").write_text("qid,b\n1,2\n")
    assert "few.csv lacks features: 'c'" in run("predict", "t.npz", "few.csv", code=2).stderr


def test_features_are_found_by_name_in_any_order(run, tables, model):
    run("train", "train.csv", "--model", "t.npz", "--quiet")
    expected = run("predict", "t.npz", "test.csv").stdout
    pd.read_csv("test.csv")[["d", "b", "label", "a", "qid", "c"]].to_csv("other.csv", index=False)
    lines = [line.split() for line in Path("test.txt").read_text().splitlines()]
    turned = {f"{k}": 5 - k for k in range(1, 5)}
    rows = [[*cells[:2], *(f"{turned[c.split(':')[0]]}:{c.split(':')[1]}" for c in cells[5:1:-1])] for cells in lines]
    names = "".join(f"# feature {k} = {name}\n" for k, name in enumerate("dcba", 1))
    Path("other.txt").write_text(names + "".join(" ".join(row) + "\n" for row in rows))
    for arguments in (["other.csv"], ["other.csv", "--features", "c,d,a,b"], ["other.txt"]):
        assert run("predict", "t.npz", *arguments).stdout == expected
    done = run("predict", "t.npz", "other.csv", "--features", "c,d,b", code=2)
    assert "--features leaves out 'a', a feature of the model" in done.stderr


def test_tables_on_standard_input_are_tables_where_columns_are_named(run, tables):
    content = Path("train.csv").read_bytes()
    from click.testing import CliRunner

    from structsvm.cli import main

    done = CliRunner().invoke(main, ["train", "-", "--label", "label", "-m", "t.npz", "-q"], input=content)
    assert done.exit_code == 0, done.output
    assert Ranker.load("t.npz").n_features_in_ == 4


def test_validation_has_the_columns_of_the_training_table(run, tables):
    grid = ["--C-grid", "0.1:10:3", "--validation", "test.csv", "--quiet", "--loss", "roc_area"]
    run("train", "train.csv", *grid, "--model", "t.npz")
    one = Ranker.load("t.npz")
    run("train", "train.txt", *grid[:3], "test.txt", *grid[4:], "--model", "m.npz")
    assert (one.coef_ == Ranker.load("m.npz").coef_).all()


def without_ids(name: str, *, labels: bool = True) -> list[str]:
    lines = [line.split() for line in Path(name).read_text().splitlines()]
    return [" ".join([*cells[: int(labels)], *cells[2:]]) + "\n" for cells in lines]


def test_group_sizes_tell_the_queries(run, model):
    Path("plain.txt").write_text("".join(without_ids("train.txt")))
    assert "FILE.query" in run("train", "plain.txt", "--model", "g.npz", code=2).stderr
    for name, option in (("plain.txt.query", []), ("sizes", ["--groups", "sizes"])):
        Path(name).write_text("12\n" * 9)
        run("train", "plain.txt", "--model", "g.npz", "--quiet", *option)
        assert (Ranker.load("g.npz").coef_ == Ranker.load("m.npz").coef_).all()
        Path(name).unlink()


def test_documents_are_scored_without_labels_and_queries(run, model):
    expected = run("predict", model, "test.txt").stdout
    for labels in (True, False):
        Path("plain.txt").write_text("".join(without_ids("test.txt", labels=labels)))
        done = run("predict", model, "plain.txt")
        assert done.stdout == expected
        assert done.stderr == (
            "structsvm: note: plain.txt has no query ids and no file of group sizes beside it: the whole file counts "
            "as one query\n"
        )
    text = Path("test.txt").read_text()
    Path("plain.txt").write_text("".join(line.partition(" ")[2] + "\n" for line in text.splitlines()))
    done = run("predict", model, "plain.txt")
    assert [done.stdout, done.stderr] == [expected, ""]


def test_float32_and_a_cache(run, model, monkeypatch):
    run("train", "train.txt", "--float32", "--cache", "kept", "--model", "f.npz", "--quiet")
    monkeypatch.setattr(
        "structsvm.data.letor.reading.parse_block", lambda *arguments, **more: pytest.fail("text was read")
    )
    run("train", "train.txt", "--float32", "--cache", "kept", "--model", "g.npz", "--quiet")
    once, again = (Ranker.load(name).coef_ for name in ("f.npz", "g.npz"))
    assert (once == again).all()
    assert np.allclose(once, Ranker.load("m.npz").coef_, atol=1e-2)
    assert "train.txt" in run("train", "train.txt", "--cache", "train.txt", "--model", "g.npz", code=2).stderr
    done = run(
        "compare", "train.txt", "--float32", "--cache", "kept", "--solver", "one-slack", "--backend", "active-set"
    )
    assert "converged" in done.output


def test_files_that_count_features_from_zero(run, model):
    for name in ("train", "test"):
        text = Path(f"{name}.txt").read_text()
        Path(f"zero_{name}.txt").write_text(re.sub(r" (\d+):", lambda match: f" {int(match[1]) - 1}:", text))
    assert "pass zero_based=True (--zero-based" in run("train", "zero_train.txt", "--model", "z.npz", code=2).stderr
    run("train", "zero_train.txt", "--zero-based", "-C", "1", "--model", "z.npz", "--quiet")
    assert (Ranker.load("z.npz").coef_ == Ranker.load("m.npz").coef_).all()
    expected = run("predict", model, "test.txt").stdout
    assert run("predict", "z.npz", "zero_test.txt", "--zero-based").stdout == expected
    done = run("predict", "z.npz", "test.txt", "--one-based")
    assert done.stdout == expected
    assert "note: the model was trained on files that count features from 0, but --one-based counts the" in done.stderr
    run("train", "train.csv", "--zero-based", "--model", "z.npz", code=2)


@pytest.mark.parametrize("options", [(), ("--zero-based",)])
def test_data_are_read_with_the_first_index_of_the_training_files(run, options):
    run("train", "train.txt", *options, "--model", "z.npz", "--quiet")
    test = load_letor("test.txt", zero_based=bool(options), n_features=5 if options else 4)
    done = run("predict", "z.npz", "test.txt")
    np.testing.assert_array_equal(np.array(done.stdout.split(), float), Ranker.load("z.npz").predict(test.X, test.qid))
    assert done.stderr == ""
    assert json.loads(run("show", "z.npz", "--json", "-").stdout).get("zero_based", False) is bool(options)
    Ranker.load("z.npz").fit(test.X, test.y, test.qid).save("python.npz")
    Path("narrow.txt").write_text("1 qid:1 1:1\n")
    assert "add --zero-based" in run("predict", "python.npz", "narrow.txt").stderr
    assert "--zero-based" not in run("predict", "z.npz", "narrow.txt").stderr


def test_weights_beside_the_data_are_used(run, model):
    data = load_letor("train.txt")
    weights = np.where(data.qid % 2, 3.0, 1.0)
    Path("train.txt.weight").write_text("".join(f"{weight}\n" for weight in weights))
    Path("train.txt.init").write_text("0\n" * len(weights))
    done = run("train", "train.txt", "-C", "1", "--model", "w.npz")
    assert "note: not read: train.txt.init. Rankers learn without" in done.stderr
    assert "note: the numbers in train.txt.weight are used as weights\n" in done.stderr
    expected = Ranker(C=1.0).fit(data.X, data.y, data.qid, sample_weight=weights)
    assert (Ranker.load("w.npz").coef_ == expected.coef_).all()
    assert (expected.coef_ != Ranker.load("m.npz").coef_).any()
    Path("train.txt.weight").write_text("".join(f"{k}\n" for k in range(len(weights))))
    done = run("train", "train.txt", "--model", "w.npz", code=2)
    assert "sample_weight differs within a query: row 0 has 0 and row 1 has 1. Give" in done.stderr
    run("train", "train.txt", "--model", "train.txt.weight", code=2)


def test_a_column_of_a_table_has_weights(run):
    train, other = load_digits_queries(n_train=12, n_test=20, n_candidates=10)
    for name, data in (("train.csv", train), ("other.csv", other)):
        columns = {"label": data.y, "qid": data.qid, "w": data.qid % 4, "v": np.arange(len(data.y)) % 3 + 0.5}
        pd.DataFrame(data.X[:, :4], columns=list("abcd")).assign(**columns).to_csv(name, index=False)
    X, weights = train.X[:, :4], np.arange(len(train.y)) % 3 + 0.5
    for loss in ("zero_one", "weighted_ranks", "roc_area"):
        run("train", "train.csv", "--weight", "v", "--features", "a,b,c,d", "--loss", loss, "--model", "w.npz")
        expected = Ranker(loss).fit(X, train.y, train.qid, sample_weight=weights)
        np.testing.assert_array_equal(Ranker.load("w.npz").coef_, expected.coef_)
    run("select", "train.csv", "--weight", "w", "--features", "a,b,c,d", "--folds", "2", "--model", "s.npz")
    search = FeatureEliminationCV(Ranker(), cv=2).fit(X, train.y, train.qid, sample_weight=train.qid % 4)
    np.testing.assert_array_equal(Ranker.load("s.npz").coef_, search.estimator_.coef_)
    done = run("calibrate", "s.npz", "other.csv", "--weight", "w", "--output", "c.npz")
    assert "of 15 queries with 150 documents" in done.stdout


def test_names_at_the_head_of_a_file_go_into_the_model(run, model):
    names = "".join(f"# feature {k} = {name}\n" for k, name in enumerate("abcd", 1))
    for name in ("train.txt", "test.txt"):
        Path(f"named_{name}").write_text(names + Path(name).read_text())
    run("train", "named_train.txt", "--model", "n.npz", "--quiet")
    assert Ranker.load("n.npz").known_names == tuple("abcd")
    expected = run("predict", model, "test.txt").stdout
    for name in ("test.txt", "named_test.txt"):
        done = run("predict", "n.npz", name)
        assert [done.stdout, done.stderr] == [expected, ""]
    Path("other.txt").write_text(names.replace("= b", "= x") + Path("test.txt").read_text())
    done = run("predict", "n.npz", "other.txt", code=2)
    assert "other.txt names the unknown feature 'x'" in done.stderr
    assert run("evaluate", "n.npz", "named_test.txt").stderr == ""


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("bc", "other.txt does not name the feature 'a'"),
        ("ac", "other.txt does not name the feature 'b'"),
        ("abcde", "other.txt names the unknown feature 'e'"),
        ("ab", None),
    ],
)
def test_names_at_the_head_are_the_first_ones_of_the_model_even_where_they_are_fewer(run, model, names, message):
    def named(names, text):
        return "".join(f"# feature {k} = {name}\n" for k, name in enumerate(names, 1)) + text

    Path("named.txt").write_text(named("abcd", Path("train.txt").read_text()))
    run("train", "named.txt", "--model", "n.npz", "--quiet")
    Path("other.txt").write_text(named(names, "1 qid:1 1:0.5 2:1\n0 qid:1 1:1\n"))
    done = run("evaluate", "n.npz", "other.txt", code=0 if message is None else 2)
    assert (message or "the model has 4 features") in done.stderr
