from numba.core import event

from structsvm import Ranker
from structsvm.cli import compile as compile_
from structsvm.cli.shared import live_progress
from structsvm.data import load_digits_queries
from structsvm.registry import losses
from structsvm.solvers import precompile


def test_losses_are_compiled_and_the_folder_is_printed(run, monkeypatch):
    tried = []
    monkeypatch.setattr(precompile, "_compile", lambda name, storages: (name, tried.append((name, storages)) or 1.25))
    done = run("compile", "map", "roc_area", "--storage", "float32")
    assert tried == [("map", ("float32",)), ("roc_area", ("float32",))]
    first, second, last = done.stdout.splitlines()
    assert first.split() == ["map", "1.2", "s"]
    assert second.split()[0] == "roc_area"
    assert last.startswith("2 losses in ")


def test_a_loss_that_chooses_its_kernel_by_the_grades_is_compiled_for_each(run, monkeypatch):
    monkeypatch.setattr(precompile, "_compile", lambda name, storages: (name, 1.25))
    done = run("compile", "map", "ndcg@10", "--storage", "float32", "--jobs", "1")
    assert done.stdout.splitlines()[1].split()[0] == "ndcg@10"
    assert "compiling map, ndcg@10" in done.stderr
    assert "ndcg@10" in precompile.ranking_losses()
    kernels = {
        loss: len(precompile.labels_of_kernels(losses.create(loss))) for loss in ("map", "ndcg@10", "multiclass")
    }
    assert kernels == {"map": 1, "ndcg@10": 2, "multiclass": 0}


def test_the_progress_line_names_the_loss():
    assert [compile_._at_work(["map", "mrr"], done) for done in range(3)] == ["map, 1 of 2", "mrr, 2 of 2", ""]


def test_a_folder_that_is_asked_for_and_cannot_be_written_is_refused(run, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/proc/nowhere")
    failed = run("compile", "map", code=1)
    assert "cannot store machine code in /proc/nowhere" in failed.stderr


def test_a_loss_that_was_compiled_needs_no_more():
    precompile._compile("roc_area", ("float64",))
    train, _ = load_digits_queries()
    few = train.qid < train.qid[0] + 5
    with event.install_recorder("numba:compile") as recorder:
        Ranker(loss="roc_area", C=10).fit(train.X, train.y, qid=train.qid)
        Ranker(loss="roc_area", solver="n-slack").fit(train.X[few], train.y[few], qid=train.qid[few])
    assert [entry for _, entry in recorder.buffer if entry.is_start] == []


def test_the_progress_line_shows_compilation(monkeypatch):
    monkeypatch.setattr(live_progress, "what_is_compiled", lambda: "compiling average_precision, 3 s")
    (column,) = (
        column for column in live_progress.line().columns if isinstance(column, live_progress._CompilationColumn)
    )
    assert str(column.render(None)) == "compiling average_precision, 3 s"
