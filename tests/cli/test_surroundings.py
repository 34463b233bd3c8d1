"""Commands under closed streams, full disks and odd environments, and after an internal error."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import structsvm.cli
from structsvm.__main__ import main as entry
from structsvm.cli import main
from structsvm.estimators import Ranker
from structsvm.foundation.signals import ENDING
from tests.slow import slow

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")


def shell(command: str, **environment: str) -> tuple[int, str, str]:
    done = subprocess.run(
        ["sh", "-c", f'exec "{sys.executable}" -m structsvm {command}'],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    return done.returncode, done.stdout, done.stderr


@posix
@pytest.mark.parametrize(
    ("command", "code", "errors"),
    [
        ("list >&-", 1, "structsvm: error: standard output cannot be written: Bad file descriptor\n"),
        *slow(("evaluate none.npz none.txt <&- >&- 2>&-", 2, "")),
    ],
)
def test_closed_streams(here: Path, command: str, code: int, errors: str) -> None:
    assert shell(command) == (code, "", errors)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    ("command", "errors"),
    [
        ("--version >/dev/full", "structsvm: error: standard output cannot be written: No space left on device\n"),
        ("bogus 2>/dev/full", ""),
    ],
)
def test_click_output_on_a_full_disk_is_one_line(here: Path, command: str, errors: str) -> None:
    assert shell(command) == (1, "", errors)


@pytest.mark.slow
@posix
def test_the_model_does_not_get_the_number_of_a_closed_stream(here: Path) -> None:
    """Else the summary would be written into the file that was opened first."""
    code, _, errors = shell("train train.txt --model m.npz >&-")
    assert (code, errors) == (1, "structsvm: error: standard output cannot be written: Bad file descriptor\n")
    assert Ranker.load("m.npz").coef_.shape == (4,)


IN_PYTHON = """
import numpy as np
from structsvm import Ranker
rng = np.random.default_rng(0)
X, qid = rng.normal(size=(24, 3)), np.repeat(np.arange(4), 6)
for solver in ("one-slack", "n-slack", "frank-wolfe"):
    print(repr(Ranker("map", solver=solver).fit(X, X[:, 0] > 0.3, qid=qid).result_.primal))
"""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_without_compilation_all_solvers_work_in_python(capsys: pytest.CaptureFixture[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", IN_PYTHON], capture_output=True, text=True, env={**os.environ, "NUMBA_DISABLE_JIT": "1"}
    )
    assert done.stderr == ""
    exec(IN_PYTHON, {})
    compiled = capsys.readouterr().out
    np.testing.assert_allclose(
        [float(line) for line in done.stdout.split()], [float(line) for line in compiled.split()], atol=2e-3
    )


@posix
@pytest.mark.parametrize(
    ("name", "value"), [("NUMBA_NUM_THREADS", "0"), pytest.param("NUMBA_OPT", "x", marks=pytest.mark.slow)]
)
def test_invalid_variables_of_numba_are_errors(here: Path, name: str, value: str) -> None:
    code, output, errors = shell("train train.txt --model m.npz", **{name: value})
    assert (code, output, errors.count("\n")) == (1, "", 1)
    assert f"{name}='{value}'" in errors
    assert errors.endswith("Correct or unset the wrong variable\n")


PARTS = """
import importlib, sys
for part in "foundation.compute.threads features.operators problem testing".split():
    try:
        importlib.import_module(f"structsvm.{part}")
    except ImportError as error:
        assert "environment variables: NUMBA_NUM_THREADS='0'" in str(error), error
    else:
        sys.exit(part)
    for name in [name for name in sys.modules if name.startswith(("structsvm", "numba"))]:
        del sys.modules[name]
"""


@pytest.mark.slow
def test_no_part_loads_numba_by_itself() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PARTS],
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_NUM_THREADS": "0"},
    )
    assert (done.returncode, done.stderr) == (0, "")


def fail(*_: object) -> None:
    raise ZeroDivisionError("division\nby zero")


@pytest.fixture
def signals() -> Iterator[None]:
    """Put the handlers of signals back, which a command leaves ignored at its end."""
    before = {number: signal.getsignal(number) for number in ENDING}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("signals")
def test_a_fault_of_our_own_is_a_line_and_a_traceback_in_a_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(structsvm.cli, "main", fail)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(SystemExit) as caught:
        entry()
    errors = capsys.readouterr().err
    assert caught.value.code == 70
    assert errors.startswith("structsvm: internal error: ZeroDivisionError: division by zero. This is a fault of")
    assert errors.count("\n") == 1
    (log,) = tmp_path.iterdir()
    assert str(log) in errors
    assert "in fail" in log.read_text()


@pytest.mark.usefixtures("signals")
def test_a_fault_of_our_own_where_no_file_can_be_made(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(structsvm.cli, "main", fail)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    with pytest.raises(SystemExit) as caught:
        entry()
    errors = capsys.readouterr().err
    assert caught.value.code == 70
    assert "in fail" in errors
    assert errors.splitlines()[-1].startswith("structsvm: internal error: ")


def test_an_argument_with_a_nul_character() -> None:
    done = CliRunner().invoke(main, ["train", "a\0b", "--model", "m.npz"])
    assert done.exit_code == 2
    assert "an argument has a NUL character" in done.stderr


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--trials", "9" * 20], 2, "must be an integer below 2**63"),
        (["--trials", "9" * 400], 2, "must be an integer below 2**63"),
        (["--trials", "2147483648"], 2, "too many trials for 18 queries: use at most 555555"),
        (["--trials", "9" * 5000], 2, "is not a valid integer range"),
        (["--trials", ""], 2, "is not a number"),
        (["--topics", f"301-{'9' * 5000}"], 2, "an id may have 1000"),
        (["--topics", f"{'9' * 5000}-1"], 2, "an id may have 1000"),
    ],
)
def test_numbers_of_many_digits(run, here: Path, options: list[str], code: int, message: str) -> None:
    topics = range(301, 319)
    Path("runs").mkdir()
    for name in "ab":
        lines = [f"{topic} Q0 d{k} 1 {k + 1} {name}\n" for topic in topics for k in range(4)]
        Path("runs", name).write_text("".join(lines))
    Path("qrels").write_text("".join(f"{topic} 0 d{k} {k % 2}\n" for topic in topics for k in range(4)))
    done = run("experiment", "--runs", "runs", "--qrels", "qrels", "--out", "out", *options, code=code)
    assert message in " ".join(done.stderr.split())
    assert not list(Path().glob("out/*.json*"))


def test_a_tag_that_is_no_text(run, here: Path) -> None:
    Path("a.run").write_text("1 Q0 d1 1 0.5 a\n")
    done = run("fuse", "a.run", "--tag", "\ud800", "--output", "f.run", code=2)
    assert r"the name '\ud800' must be text in UTF-8" in done.stderr
    assert not Path("f.run").exists()
