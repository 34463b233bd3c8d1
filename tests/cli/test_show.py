import csv
import json
import re
from io import StringIO
from pathlib import Path

import numpy as np
import pytest

from structsvm import StructuralSVM
from structsvm.data import load_letor
from structsvm.estimators import LatentStructuralSVM, RampRanker
from structsvm.rankers import RankBoost, RankNet, WeightSearch
from tests.estimators.detector import Detector, series

NAMES = "# feature 1 = bm25\n# feature 2 = title.age\n# feature 3 = clicks\n# feature 4 = length\n"


def named(path="train.txt"):
    Path(path).write_text(NAMES + Path(path).read_text())


def test_weights_are_shown_largest_first_with_the_record(run):
    named()
    run("train", "train.txt", "--model", "m.npz", "--normalize", "standard", "--quiet")
    shown = run("show", "m.npz").stdout
    rows = [line.split() for line in shown.splitlines() if line.strip()[:1] in ("1", "2", "3", "4")]
    assert sorted(row[1] for row in rows) == ["bm25", "clicks", "length", "title.age"]
    sizes = [abs(float(row[2])) for row in rows]
    assert sizes == sorted(sizes, reverse=True)
    assert re.search("^normalize +standard$", shown, re.MULTILINE)
    assert "Weights are of normalized features (standard)." in shown
    for name in ("loss", "solver", "primal", "dual", "gap over C", "trained", "version"):
        assert any(line.startswith(name) for line in shown.splitlines())


def test_formats_for_programs(model, run):
    rows = list(csv.DictReader(StringIO(run("show", "m.npz", "--csv", "-").stdout)))
    assert list(rows[0]) == ["feature", "name", "weight"]
    shown = json.loads(run("show", "m.npz", "--json", "-", "--top", "2").stdout)
    assert len(rows) == 4
    assert [str(row["weight"]) for row in shown["rows"]] == [row["weight"] for row in rows[:2]]
    assert shown["loss"] == "map"
    assert shown["notes"] == ["2 further ones not shown (--top 2)."]


@pytest.mark.slow
def test_rankers_of_other_kinds(run):
    data = load_letor("train.txt")
    for ranker in (RankBoost(5), RankNet(2, max_iter=2, random_state=0), WeightSearch(max_iter=1)):
        ranker.fit(data.X, data.y, qid=data.qid).name_features(["bm25", "age", "clicks", "length"]).save("other.npz")
        shown = json.loads(run("show", "other.npz", "--json", "-").stdout)
        assert shown["ranker"] == type(ranker).__name__
        assert shown["rows"][0]["name"] in ("bm25", "age", "clicks", "length")
        assert "bm25" in run("show", "other.npz").stdout
        assert "trained" in shown


def test_commands_read_a_ranker_of_ramps(run):
    data = load_letor("train.txt")
    ranker = RampRanker("map", C=10.0).fit(data.X, data.y, qid=data.qid)
    ranker.save("ramp.npz")
    shown = json.loads(run("show", "ramp.npz", "--json", "-").stdout)
    assert (shown["ranker"], shown["stationary"], shown["objective"]) == ("RampRanker", True, ranker.objective_)
    assert "dual" not in shown
    assert "stationary within 2 tol * C" in run("show", "ramp.npz").stdout
    assert run("evaluate", "ramp.npz", "test.txt").stdout.startswith("5 queries")
    scores = [float(line) for line in run("predict", "ramp.npz", "train.txt").stdout.splitlines()]
    assert scores == pytest.approx(ranker.predict(data.X).tolist(), rel=1e-12)
    assert "model.json" in run("export", "ramp.npz", "--format", "json", "-o", "model.json").stdout


def test_structural_svms_are_shown_without_their_loss(run):
    xs, ys = series(20, 0)
    latent = LatentStructuralSVM(Detector(), C=5.0).fit(xs, ys)
    latent.save("latent.npz")
    shown = json.loads(run("show", "latent.npz", "--json", "-").stdout)
    assert (shown["estimator"], shown["loss"], shown["C"]) == ("LatentStructuralSVM", "Detector(width=4)", 5.0)
    assert (shown["stationary"], shown["objective"]) == (True, latent.objective_)
    assert sorted(row["weight"] for row in shown["rows"]) == sorted(latent.coef_.tolist())
    assert "stationary within 2 tol * C" in run("show", "latent.npz", "--top", "2").stdout
    StructuralSVM("multiclass").fit(np.eye(3), [0, 1, 2]).save("svm.npz")
    assert "StructuralSVM" in run("show", "svm.npz").stdout
    assert "or show its weights with structsvm show" in run("predict", "latent.npz", "test.txt", code=2).stderr


def test_trees_are_shown_with_the_weights_beside_them(run):
    named()
    settings = "trees(n_estimators=10,min_child_samples=5,trees=scikit-learn,random_state=0)"
    run("train", "train.txt", "--ranker", settings, "--monotonic-cst", "clicks:-1", "--model", "t.npz", "--quiet")
    shown = json.loads(run("show", "t.npz", "--json", "-").stdout)
    assert (shown["ranker"], shown["trees"], shown["monotonic_cst"]) == ("TreeRanker", 10, [0, 0, -1, 0])
    assert shown["leaves"] > 10
    (clicks,) = [row for row in shown["rows"] if row["name"] == "clicks"]
    assert clicks["weight"] < 0.0 == clicks["importance"]
    assert shown["weights_at_a_bound"] == 0
    done = run("export", "t.npz", "--format", "solr", "-o", "m.json", code=2)
    assert '--ranker "trees(features=False)"' in done.stderr
    settings = settings.replace(")", ",features=False)")
    run("train", "train.txt", "--ranker", settings, "--model", "t.npz", "--quiet")
    assert run("export", "t.npz", "--format", "solr", "-o", "m.json").stdout == "model    m.json, for solr\n"
    run("export", "t.npz", "--format", "lightgbm", "-o", "trees.txt")
    assert "must end in .npz if --format is missing" in run("export", "trees.txt", "-o", "c.json", code=2).stderr
    assert run("export", "trees.txt", "-o", "c.npz").stdout == "model    c.npz, for structsvm\n"
    scores = {name: run("predict", name, "train.txt").stdout for name in ("t.npz", "trees.txt", "c.npz")}
    assert scores["t.npz"] == scores["trees.txt"] == scores["c.npz"]


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_a_plot(suffix, model, run):
    pytest.importorskip("matplotlib")
    done = run("show", "m.npz", "--plot", f"weights.{suffix}")
    assert done.stderr == f"structsvm: note: wrote the plot to weights.{suffix}\n"
    assert Path(f"weights.{suffix}").stat().st_size > 1000


def test_export(run):
    named()
    run("train", "train.txt", "--model", "m.npz", "--quiet")
    assert run("export", "m.npz", "--format", "solr", "-o", "model.json").stdout == "model    model.json, for solr\n"
    weights = json.loads(Path("model.json").read_text())["params"]["weights"]
    assert list(weights) == ["bm25", "title.age", "clicks", "length"]
    Path("names").write_text("a\n\n b\nc\r\nd")
    for names, expected in (("names", list("abcd")), ("train.txt", list(weights))):
        run("export", "m.npz", "--format", "solr", "--feature-names", names, "--name", "x", "-o", "model.json")
        model = json.loads(Path("model.json").read_text())
        assert [feature["name"] for feature in model["features"]] == expected
        assert model["name"] == "x"


def test_an_exported_constant_gives_a_note(run):
    run("train", "train.txt", "--loss", "zero_one", "--fit-intercept", "--model", "m.npz", "--quiet")
    Path("names").write_text("a\nb\nc\nd")
    done = run("export", "m.npz", "--format", "elasticsearch", "--feature-names", "names", "-o", "model.json")
    assert "structsvm: note: elasticsearch adds no constant to scores" in done.stderr


def test_a_column_far_above_the_others_gives_a_warning(run):
    lines = Path("train.txt").read_text().splitlines()
    Path("wide.txt").write_text("".join(re.sub(r" 2:(\S+)", r" 2:\1e6", line) + "\n" for line in lines))
    output = run("train", "wide.txt", "--model", "m.npz").stdout
    assert "warning  ranges of the features differ by" in output
    assert "feature 2 (" in output
    assert "try --normalize query-min-max, query-z-score or standard" in output
    assert "warning" not in run("train", "wide.txt", "--model", "m.npz", "--normalize", "query_min_max").stdout


def test_predict_and_evaluate_normalize_each_query(run):
    """Queries in one file get the scores that they have alone, and the same measure as in the grid's validation."""
    run("train", "train.txt", "--model", "m.npz", "--normalize", "query-z-score", "--quiet")
    together = run("predict", "m.npz", "test.txt").stdout.splitlines()
    lines, alone = Path("test.txt").read_text().splitlines(keepends=True), []
    for start in range(0, len(lines), 12):
        Path("one.txt").write_text("".join(lines[start : start + 12]))
        alone += run("predict", "m.npz", "one.txt").stdout.splitlines()
    assert [float(score) for score in together] == pytest.approx([float(score) for score in alone], abs=1e-9)
    Path("bare.txt").write_text(re.sub(r"qid:\d+ ", "", "".join(lines)))
    assert "bare.txt, line 1" in run("predict", "m.npz", "bare.txt", code=2).stderr
