from pathlib import Path

import numpy as np

import structsvm
from structsvm import Ranker
from structsvm.data import load_letor
from structsvm.foundation.storage.archives import DIGESTS
from structsvm.foundation.storage.files import write_archive


def test_a_score_a_line(run, model):
    X = load_letor("test.txt").X
    expected = structsvm.load(model).predict(X)
    np.testing.assert_allclose(expected, Ranker.load(model).predict(X), rtol=1e-12)
    done = run("predict", model, "test.txt")
    assert done.stderr == ""
    assert [float(line) for line in done.stdout.splitlines()] == expected.tolist()  # not one bit is lost


def test_to_a_file(run, model):
    done = run("predict", model, "test.txt", "--output", "scores.txt")
    assert done.output == ""
    assert Path("scores.txt").read_text() == run("predict", model, "test.txt").stdout
    assert Path("scores.txt").stat().st_mode == Path("test.txt").stat().st_mode


def test_a_link_is_followed(run, model):
    Path("real.txt").write_text("old\n")
    Path("link.txt").symlink_to("real.txt")
    run("predict", model, "test.txt", "--output", "link.txt")
    assert Path("link.txt").is_symlink()
    assert len(Path("real.txt").read_text().splitlines()) == 60


def test_features_left_out_are_0(run, model):
    Path("narrow.txt").write_text("1 qid:1 2:1.5\n0 qid:1 1:2\n")
    done = run("predict", model, "narrow.txt")
    coef = Ranker.load(model).coef_
    np.testing.assert_allclose([float(line) for line in done.stdout.split()], [1.5 * coef[1], 2 * coef[0]])
    assert done.stderr == (
        "structsvm: note: the model has 4 features, the data only the first 2; missing features are 0\n"
    )


def test_a_model_of_another_version_is_an_error(run, model):
    arrays = {name: array for name, array in np.load(model).items() if name != DIGESTS}
    arrays["model"] = np.array(str(arrays["model"]).replace('"format": 1', '"format": 99'))
    write_archive(model, arrays)
    (line,) = run("predict", model, "test.txt", code=2).stderr.splitlines()
    assert "m.npz: another version of structural-svm wrote it (format 99; this version reads format 1)" in line


def test_values_far_outside_the_training_are_reported(run, model):
    text = Path("test.txt").read_text().splitlines()
    text[3] = text[3].rsplit("3:", 1)[0] + "3:1e12 4:0"
    Path("odd.txt").write_text("\n".join(text) + "\n")
    for command in (("predict", model, "odd.txt", "--check"), ("evaluate", model, "odd.txt")):
        assert "1 of 4 features drifted in 60 rows" in run(*command).stderr
    assert "no feature of 60 rows has drifted" in run("predict", model, "test.txt", "--check").stderr
    assert run("evaluate", model, "test.txt").stderr == ""
