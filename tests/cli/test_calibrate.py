from pathlib import Path

import numpy as np

import structsvm
from structsvm.data import load_letor
from tests.cli.conftest import write_letor


def test_calibrate_predict_and_show(run, model):
    write_letor(Path("vali.txt"), queries=15, documents=12, features=4, first_qid=200, seed=2)
    done = run("calibrate", model, "vali.txt", "--output", "calibrated.npz")
    curve = "isotonic, of 15 queries with 180 documents, 42 relevant"
    assert done.output == f"curve    {curve}\nmodel    calibrated.npz\n"
    assert curve in run("show", "calibrated.npz").stdout
    probabilities = [
        float(line) for line in run("predict", "calibrated.npz", "test.txt", "--probabilities").stdout.split()
    ]
    expected = structsvm.load("calibrated.npz").predict_proba(load_letor("test.txt").X)[:, 1]
    np.testing.assert_array_equal(probabilities, expected)
    assert run("predict", "calibrated.npz", "test.txt").stdout == run("predict", model, "test.txt").stdout


def test_a_grade_is_the_threshold_of_relevance(run, model):
    file = write_letor(Path("vali.txt"), queries=15, documents=12, features=4, first_qid=200, seed=2)
    file.write_text(file.read_text().replace("1 qid:20", "2 qid:20"))
    done = run("calibrate", model, "vali.txt", "--output", "calibrated.npz", "--relevant-from", "2")
    assert "15 queries with 180 documents, 30 relevant" in done.output
    done = run("calibrate", model, "vali.txt", "--output", "new.npz", "--relevant-from", "3", code=2)
    assert "--relevant-from 2" in done.output
