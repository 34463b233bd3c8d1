"""The example plug-in, installed as a user would: its own tests pass, and its names work everywhere."""

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from structsvm import Ranker
from structsvm.data import load_digits_queries, load_letor
from structsvm.exceptions import UnknownNameError
from structsvm.registry import backends, losses
from structsvm.solvers import NSlack, OneSlack
from tests.cli.conftest import write_letor
from tests.slow import slow

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(
    find_spec("piqp") is None or find_spec("hatchling") is None, reason="needs piqp and hatchling"
)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package and its metadata; nothing is downloaded."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-index"]
    options = ["--no-deps", "--no-build-isolation", "--target", str(folder), str(ROOT / "examples" / "plugin")]
    done = subprocess.run([*command, *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the file train.txt."""
    folder = tmp_path_factory.mktemp("work")
    write_letor(folder / "train.txt", queries=9, documents=12, features=4)
    return folder


@pytest.fixture(scope="module")
def run(installed: Path, folder: Path) -> Run:
    """Run Python with the plug-in, in the folder with the file train.txt."""

    def start(*arguments: str) -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join([str(ROOT), str(installed)])
        environment = {**os.environ, "PYTHONPATH": path, "COLUMNS": "150", "NO_COLOR": "1"}
        return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=environment, cwd=folder)

    return start


@pytest.fixture(scope="module")
def trained(run: Run) -> subprocess.CompletedProcess[str]:
    """The command that trained the model m.npz of the folder."""
    options = ["--loss", "dcg@10(discount=3)", "--solver", "one-slack", "--backend", "piqp-dense", "--model", "m.npz"]
    return run("-m", "structsvm", "train", "train.txt", *options)


@pytest.fixture
def with_plugin(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(installed))


@pytest.mark.slow
def test_its_own_tests_pass(run: Run) -> None:
    done = run(
        "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, str(ROOT / "examples" / "plugin" / "tests")
    )
    assert done.returncode == 0, done.stdout
    assert "passed" in done.stdout
    assert "skipped" not in done.stdout


@pytest.mark.slow
def test_all_are_listed_without_being_imported(run: Run) -> None:
    lines = run("-m", "structsvm", "list").stdout.splitlines()
    rows = {line.split()[0]: line for line in lines if "structsvm-example-plugin 0.1.0" in line}
    assert set(rows) == {"dcg", "piqp-dense", "csv", "trust"}
    code = "import sys; from structsvm.registry import losses, backends; print(losses.names(), backends.names())"
    done = run("-c", f"{code}; print([name for name in sys.modules if 'example' in name or name == 'piqp'])")
    names, imported = done.stdout.splitlines()
    assert "'dcg'" in names
    assert "'piqp-dense'" in names
    assert imported == "[]"


@pytest.mark.usefixtures("with_plugin")
@pytest.mark.parametrize("solver", [OneSlack, *slow(NSlack)])
def test_a_ranker_trains_with_both_by_name(solver: type[OneSlack] | type[NSlack]) -> None:
    train, test = load_digits_queries(n_train=10, n_test=10, n_candidates=40)
    plain = Ranker("dcg@10", solver=solver(tol=1e-4)).fit(train.X, train.y, qid=train.qid)
    ranker = Ranker("dcg@10", solver=solver(backend="piqp-dense", tol=1e-4)).fit(train.X, train.y, qid=train.qid)
    assert ranker.result_.converged
    assert ranker.result_.handovers == 0
    assert abs(ranker.result_.primal - plain.result_.primal) <= 1e-4
    assert ranker.score(test.X, test.y, qid=test.qid) > 0.4


@pytest.mark.usefixtures("with_plugin")
def test_a_saved_model_knows_both_by_name_and_settings(tmp_path: Path) -> None:
    train, _ = load_digits_queries(n_train=5, n_test=5, n_candidates=40)
    loss = losses.create("dcg@5(discount=3)")
    solver = OneSlack(backend=backends.create("piqp-dense", eps=1e-8))
    ranker = Ranker(loss, solver=solver).fit(train.X, train.y, qid=train.qid)
    ranker.save(tmp_path / "m.npz")
    again = Ranker.load(tmp_path / "m.npz")
    assert again.loss == loss
    assert again.solver == solver
    assert losses.spell(again.loss) == "dcg@5(discount=3)"
    np.testing.assert_array_equal(again.predict(train.X), ranker.predict(train.X))
    again.fit(train.X, train.y, qid=train.qid)


@pytest.mark.slow
def test_the_command_line_trains_with_both_by_name(run: Run, trained: subprocess.CompletedProcess[str]) -> None:
    assert (trained.returncode, trained.stderr) == (0, "")
    assert "one-slack, backend piqp-dense: " in trained.stdout
    assert "handed over" not in trained.stdout
    exported = run("-m", "structsvm", "export", "m.npz", "--format", "csv", "--output", "weights.csv")
    assert (exported.stdout, exported.stderr) == ("model    weights.csv, for csv\n", "")
    done = run("-m", "structsvm", "evaluate", "m.npz", "train.txt")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
@pytest.mark.usefixtures("trained")
def test_a_model_whose_plug_in_is_not_installed_still_predicts(run: Run, folder: Path) -> None:
    data = load_letor(folder / "train.txt")
    ranker = Ranker.load(folder / "m.npz")
    assert ranker.score(data.X, data.y, qid=data.qid) > 0.5
    with pytest.raises(UnknownNameError, match=r"unknown loss 'dcg@10\(discount=3"):
        ranker.fit(data.X, data.y, qid=data.qid)
    ranker.save(folder / "again.npz")
    again = run("-c", "from structsvm import Ranker; print(repr(Ranker.load('again.npz').loss))").stdout
    assert again.strip() == repr(ranker.loss)


@pytest.mark.usefixtures("with_plugin")
def test_a_model_of_objects_whose_plug_in_is_gone_keeps_their_text(tmp_path: Path, installed: Path) -> None:
    train, _ = load_digits_queries(n_train=5, n_test=5, n_candidates=40)
    solver = OneSlack(backend=backends.create("piqp-dense", eps=1e-8))
    Ranker(losses.create("dcg@5(discount=3)"), solver=solver).fit(train.X, train.y, qid=train.qid).save(
        tmp_path / "m.npz"
    )
    sys.path.remove(str(installed))
    ranker = Ranker.load(tmp_path / "m.npz")
    assert ranker.loss == "dcg@5(discount=3.0)"
    assert ranker.solver.backend == "piqp-dense(eps=1e-08,max_iter=250)"
    assert ranker.predict(train.X).shape == (len(train.X),)
    sys.path.insert(0, str(installed))
    assert losses.spell(losses.create(ranker.loss)) == "dcg@5(discount=3)"
    assert Ranker.load(tmp_path / "m.npz").solver == solver
