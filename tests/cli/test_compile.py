from numba.core import event

from structsvm import Ranker
from structsvm.cli import console
from structsvm.comparison import shipped
from structsvm.data import load_digits_queries


def test_losses_are_compiled_and_the_folder_is_told(run, monkeypatch):
    tried = []
    monkeypatch.setattr(shipped, "_compile", lambda name, storages: (name, tried.append((name, storages)) or 1.25))
    done = run("compile", "map", "roc_area", "--storage", "float32")
    assert tried == [("map", ("float32",)), ("roc_area", ("float32",))]
    first, second, last = done.stdout.splitlines()
    assert first.split() == ["map", "1.2", "s"]
    assert second.split()[0] == "roc_area"
    assert last.startswith("2 losses in ")


def test_a_loss_that_ranks_nothing_is_refused(run):
    assert "multiclass is no loss of rankers" in run("compile", "multiclass", code=2).stderr
    assert "nothing" in run("compile", "nothing", code=2).stderr


def test_a_loss_that_was_compiled_needs_no_more():
    shipped._compile("roc_area", ("float64",))
    train, _ = load_digits_queries()
    with event.install_recorder("numba:compile") as recorder:
        Ranker(loss="roc_area", C=10).fit(train.X, train.y, qid=train.qid)
    assert [each for _, each in recorder.buffer if each.is_start] == []


def test_the_progress_line_says_that_something_is_compiled(monkeypatch):
    monkeypatch.setattr(console, "what_is_compiled", lambda: "compiling average_precision, 3 s")
    assert str(console._CompilingColumn().render(None)) == "compiling average_precision, 3 s"
