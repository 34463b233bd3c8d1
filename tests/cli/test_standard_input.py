"""Data from standard input, which is read once."""

import json
import os
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner

from structsvm.cli import main


@pytest.fixture
def fed(here):
    """Run a command whose standard input holds this."""

    def invoke(content, *args, code=0):
        done = CliRunner().invoke(main, [str(arg) for arg in args], prog_name="structsvm", input=content)
        assert done.exit_code == code, done.output
        return done

    return invoke


def test_predict(run, fed, model):
    expected = run("predict", model, "test.txt").stdout
    content = Path("test.txt").read_bytes()
    for name in ("-", "/dev/stdin"):
        assert fed(content, "predict", model, name).stdout == expected
    done = fed(b"1 qid:1 2:1.5\n", "predict", model, "-")
    assert len(done.stdout.split()) == 1
    assert "the model has 4 features, the data only the first 2; missing features are 0" in done.stderr
    assert "the data no features; missing features are 0" in fed(b"1 qid:1\n", "predict", model, "-").stderr
    done = fed(content + b"1 qid:9 7:1\n", "predict", model, "-", code=2)
    assert done.stderr == (
        "structsvm: error: /dev/stdin, line 61: there is a feature beyond the 4 that the model m.npz was trained on\n"
    )
    assert "/dev/stdin: the file has no documents" in fed(b"", "predict", model, "-", code=2).stderr


def test_a_pipe(run, model):
    os.mkfifo("pipe")
    expected = run("predict", model, "test.txt").stdout
    writer = threading.Thread(target=Path("pipe").write_bytes, args=(Path("test.txt").read_bytes(),))
    writer.start()
    assert run("predict", model, "pipe").stdout == expected
    writer.join()


def test_runs_and_judgments(fed):
    qrels, one = b"1 0 a 1\n1 0 b 0\n", b"1 Q0 a 1 2.5 one\n1 Q0 b 2 1.5 one\n"
    Path("qrels").write_bytes(qrels)
    Path("one").write_bytes(one)
    Path("two").write_bytes(one.replace(b"one", b"two"))
    for content, args in ((qrels, ("--qrels", "-", "one")), (one, ("--qrels", "qrels", "-"))):
        report = json.loads(fed(content, "evaluate", *args, "--json", "-").stdout)
        assert report["runs"][0]["measures"]["map"]["mean"] == 1.0
    assert fed(one, "fuse", "-", "two").stdout.startswith("1 Q0 a 1 ")
    done = fed(b"PK\x03\x04", "evaluate", "--qrels", "qrels", "-", code=2)
    assert "/dev/stdin, line 1: this is a zip archive, such as a model" in done.stderr
