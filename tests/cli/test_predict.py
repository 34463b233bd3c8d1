from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import structsvm
from structsvm import Ranker
from structsvm.cli import main
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


def test_a_device_is_not_replaced(run, model):
    run("predict", model, "test.txt", "--output", "/dev/null")
    assert Path("/dev/null").is_char_device()


def test_nothing_is_half_written(here, run, model, monkeypatch):
    def disk_full(scores):
        yield "1.0\n"
        raise OSError(28, "No space left on device")

    Path("scores.txt").write_text("old\n")
    before = sorted(here.iterdir())
    monkeypatch.setattr("structsvm.cli.predict._lines", disk_full)
    done = run("predict", model, "test.txt", "--output", "scores.txt", code=1)
    assert done.stderr == ("structsvm: error: scores.txt cannot be written: No space left on device. It is unchanged\n")
    assert Path("scores.txt").read_text() == "old\n"
    assert sorted(here.iterdir()) == before


def test_features_that_the_model_does_not_know(run, model):
    Path("wide.txt").write_text("1 qid:1 1:1 4:1\n0 qid:1 5:2\n")
    done = run("predict", model, "wide.txt", code=2)
    assert done.stderr == (
        "structsvm: error: wide.txt, line 2: there is a feature beyond the 4 that the model m.npz was trained on\n"
    )
    assert done.stdout == ""


def test_features_left_out_are_0(run, model):
    Path("narrow.txt").write_text("1 qid:1 2:1.5\n0 qid:1 1:2\n")
    done = run("predict", model, "narrow.txt")
    coef = Ranker.load(model).coef_
    np.testing.assert_allclose([float(line) for line in done.stdout.split()], [1.5 * coef[1], 2 * coef[0]])
    assert done.stderr == (
        "structsvm: note: the model has 4 features, the data only the first 2; missing features are 0\n"
    )


@pytest.mark.parametrize("command", ["predict", "evaluate"])
@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: path.unlink(), "m.npz does not exist"),
        (lambda path: path.write_bytes(path.read_bytes()[:1000]), "m.npz is not a model file, or it is damaged"),
        (
            lambda path: path.write_text("tree\nversion=v4\n"),
            "m.npz is a model file of LightGBM: load it with lightgbm",
        ),
        (lambda path: path.unlink() or write_archive(path, {"a": np.ones(1)}), "m.npz is not a file of this kind"),
        (
            lambda path: _set_format(path, 99),
            "m.npz: another version of structural-svm wrote it (format 99; this version reads format 1)",
        ),
    ],
)
def test_a_file_that_is_not_a_model(run, model, command, damage, message):
    damage(model)
    done = run(command, model, "test.txt", code=2)
    (line,) = done.stderr.splitlines()
    assert line.startswith("structsvm: error: ")
    assert message in line
    assert done.stdout == ""


def _set_format(path: Path, number: int) -> None:
    arrays = {name: array for name, array in np.load(path).items() if name != DIGESTS}
    arrays["model"] = np.array(str(arrays["model"]).replace('"format": 1', f'"format": {number}'))
    write_archive(path, arrays)


def test_output_into_a_missing_folder(run, model, monkeypatch):
    monkeypatch.setattr(Ranker, "load", lambda path: pytest.fail("the model was read"))
    done = run("predict", model, "test.txt", "--output", "missing/scores.txt", code=2)
    assert done.stderr == "structsvm: error: missing/scores.txt cannot be written: there is no folder missing\n"


@pytest.mark.parametrize("args", [("-", "test.txt"), ("m.npz", "test.txt", "--output", "-")])
def test_models_and_outputs_have_names(run, args):
    assert "'-' is not supported" in run("predict", *args, code=2).stderr
    assert not Path("-").exists()


def test_a_missing_argument_is_bad_usage():
    assert CliRunner().invoke(main, ["predict"]).exit_code == 2


def test_values_far_outside_the_training_are_reported(run, model):
    text = Path("test.txt").read_text().splitlines()
    text[3] = text[3].rsplit("3:", 1)[0] + "3:1e12 4:0"
    Path("odd.txt").write_text("\n".join(text) + "\n")
    for command in (("predict", model, "odd.txt", "--check"), ("evaluate", model, "odd.txt")):
        assert "1 of 4 features drifted in 60 rows" in run(*command).stderr
    assert "no feature of 60 rows has drifted" in run("predict", model, "test.txt", "--check").stderr
    assert run("evaluate", model, "test.txt").stderr == ""
