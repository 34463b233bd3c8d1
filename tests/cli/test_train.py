import itertools
import json
import logging
import re
from pathlib import Path

import pytest
from attrs import evolve
from sklearn.datasets import dump_svmlight_file

from structsvm import Ranker, Result, Status, training
from structsvm.cli.train.fits import FitMonitor
from structsvm.data import load_digits_queries
from structsvm.exceptions import InputError, NotInstalledError
from structsvm.losses import AveragePrecision
from structsvm.registry import losses, solvers
from structsvm.solvers import FrankWolfe, SolverState
from structsvm.solvers.qp import ActiveSet


def test_train_equals_a_fit_of_the_library(run):
    done = run("train", "train.txt", "test.txt", "--loss", "roc_area", "-C", 10, "--tol", 1e-4, "--model", "m.npz")
    ranker = Ranker.load("m.npz")
    assert (ranker.loss, ranker.C, ranker.result_.tol) == ("roc_area", 10.0, 1e-4)
    assert ranker.result_.converged
    assert ranker.coef_[0] > abs(ranker.coef_[1:]).max()
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["data", "used", "optimum", "run", "model"]
    assert "14 queries, 168 documents, 4 features, dense from 2 files" in lines[0]
    assert "12 queries; 2 left out, because their documents are all relevant or all irrelevant" in lines[1]
    assert f"between {ranker.result_.dual:.8g} (dual) and {ranker.result_.primal:.8g} (primal" in lines[2]
    assert "frank-wolfe: " in lines[3]
    assert lines[4].endswith("m.npz")


def test_rows_as_examples(run):
    done = run(
        *("train", "train.txt", "--loss", "zero_one", "--fit-intercept", "--ranker", "ranker(class_weight=balanced)"),
        *("--model", "m.npz"),
    )
    assert "108 documents, each a separate example" in done.stdout
    assert Ranker.load("m.npz").intercept_ != 0.0


@pytest.mark.parametrize("quiet", [[], ["--quiet"]])
def test_not_converged_writes_the_model_and_fails(run, quiet):
    done = run("train", "train.txt", "-C", 100, "--max-iter", 2, "--model", "m.npz", *quiet, code=1)
    assert len(Ranker.load("m.npz").result_.history) == 3
    (line,) = done.stderr.splitlines()
    assert line.startswith("structsvm: error: not converged: the limit of iterations was reached")
    assert line.endswith("The model so far was written to m.npz")
    assert ("optimum" in done.stdout) == (not quiet)


@pytest.fixture
def ticking(monkeypatch):
    """Replace the clock of fits by one that advances by a second at each reading."""
    seconds = itertools.count(1.0)
    monkeypatch.setattr("structsvm.solvers.bounds.running_time", lambda: next(seconds))


ENDLESS = ("--tol", 1e-12, "--solver", "one-slack", "--model", "m.npz")
AT_ONCE = ("--time-limit", 0.5)


@pytest.mark.parametrize("quiet", [[], ["--quiet"]])
def test_a_time_limit_writes_the_model_so_far_and_fails(run, ticking, quiet):
    done = run("train", "train.txt", "-C", 100, *ENDLESS, "--time-limit", 50, *quiet, code=1)
    result = Ranker.load("m.npz").result_
    assert result.status is Status.STOPPED
    assert result.history[-2].seconds < 50.0 <= result.history[-1].seconds
    (line,) = done.stderr.splitlines()
    gap = f"{result.gap / result.C:.2g} * C"
    assert line == (
        f"structsvm: error: not converged: the time limit of 50 s has passed; the gap is {gap}, the target "
        "1e-12 * C. The model so far was written to m.npz"
    )


def test_each_fit_of_a_search_has_the_whole_time(run, ticking):
    """All values of C are tried, and in all folds, though each fit is ended after its first look."""
    grid = ("train", "train.txt", "--C-grid", "1:100:3", *ENDLESS, *AT_ONCE)
    done = run(*grid, "--validation", "test.txt", code=1)
    assert [line.split()[0] for line in done.stdout.splitlines()[2:5]] == ["1", "10", "100"]
    note, error = [line for line in done.stderr.splitlines() if "time limit" in line]
    assert note == ("structsvm: note: the time limit of 0.5 s ended 3 of 3 fits before the gap reached --tol")
    assert "not converged: the time limit of 0.5 s has passed" in error
    done = run(*grid, "--folds", 2, code=1)
    assert "the time limit of 0.5 s ended 7 of 7 fits" in done.stderr
    assert len(Ranker.load("m.npz").result_.history) == 1


def test_a_search_continues_after_a_fit_reached_the_time_limit(run, monkeypatch):
    """The next value of C begins anew, and converges."""
    call = FitMonitor.__call__

    def limited(self, step, fold=None):
        self.seconds = 0.0 if step.C == 1.0 else 1000.0
        return call(self, step, fold)

    monkeypatch.setattr(FitMonitor, "__call__", limited)
    options = ("--time-limit", 1000, "--model", "m.npz")
    done = run("train", "train.txt", "--C-grid", "1:10:2", "--validation", "test.txt", *options)
    first, second = (float(line.split()[2]) for line in done.stdout.splitlines()[2:4])
    assert first > 0.1 > 1e-3 >= second
    assert "ended 1 of 2 fits" in done.stderr


def test_ctrl_c_after_a_fit_that_the_time_ended_keeps_it(run, ticking, monkeypatch):
    path, calls = training.path, []

    def once(data, spec, Cs, **settings):
        calls.append(Cs)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return path(data, spec, Cs, **settings)

    monkeypatch.setattr(training, "path", once)
    grid = ("--C-grid", "1:100:3", "--validation", "test.txt", *ENDLESS, *AT_ONCE)
    done = run("train", "train.txt", *grid, code=1)
    assert calls == [[1.0, 10.0, 100.0], [10.0, 100.0]]
    assert (
        "interrupted: 1 of the 3 values of --C-grid were tried, up to C = 1. The best model so far, of C = 1,"
        in done.stderr
    )


def test_the_same_command_resumes_after_a_time_limit(run, ticking):
    options = ("train", "train.txt", "-C", 100, *ENDLESS, "--checkpoint", "fit.npz", "--time-limit", 50)
    run(*options, code=1)
    first = Ranker.load("m.npz").result_
    done = run(*options, code=1)
    assert "resuming from fit.npz: iteration" in done.stderr
    again = Ranker.load("m.npz").result_
    assert again.history[: len(first.history)] == first.history
    assert len(again.history) > len(first.history)


def test_interrupted_before_there_is_a_model(run, monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(Ranker, "fit", interrupted)
    done = run("train", "train.txt", "--model", "m.npz", code=1)
    assert done.stderr == (
        "structsvm: error: interrupted before the end of the first iteration: there is no model to write\n"
    )
    assert not Path("m.npz").exists()


@pytest.mark.parametrize("at_once", [False, True])
def test_an_interrupted_grid_reports_the_values_it_tried(run, monkeypatch, at_once):
    """Ctrl-C in the second of four values: in its first iteration, of which nothing is left, or later."""
    solve, calls = FrankWolfe.solve, []

    def stopped(self, problem, start=None, callback=None):
        calls.append(problem.C)
        if len(calls) < 2:
            return solve(self, problem, start, callback)
        if at_once:
            raise KeyboardInterrupt
        return evolve(solve(self, problem, start, callback), status=Status.INTERRUPTED)

    monkeypatch.setattr(FrankWolfe, "solve", stopped)
    options = ("--C-grid", "0.1:100:4", "--validation", "test.txt", "--solver", "frank-wolfe", "--model", "m.npz")
    done = run("train", "train.txt", *options, code=1)
    (line,) = done.stderr.splitlines()
    C = Ranker.load("m.npz").C
    assert line == (
        f"structsvm: error: interrupted: {1 if at_once else 2} of the 4 values of --C-grid were tried, up to C = "
        f"{0.1 if at_once else 1:g}. The best model so far, of C = {C:g}, was written to m.npz"
    )
    assert calls == pytest.approx([0.1, 1.0])


def test_a_missing_backend_is_found_before_training(run, monkeypatch):
    def missing(self, qp, start=None):
        raise NotInstalledError("the package is missing")

    monkeypatch.setattr(ActiveSet, "solve", missing)
    monkeypatch.setattr("structsvm.data.load_letor", lambda *args: pytest.fail("data were read"))
    done = run("train", "train.txt", "--backend", "active-set", "--model", "m.npz", code=1)
    assert done.stderr == "structsvm: error: the package is missing\n"


class Rough(AveragePrecision):
    """Use the margin of the ROC area instead of average precision's."""

    exact = False
    kernel = None

    def loss_augmented_argmax(self, scores, y):
        return scores - 0.25 * (y > 0)


@pytest.fixture
def rough(monkeypatch):
    monkeypatch.setitem(losses.built_in, "rough", f"{__name__}:Rough")


def test_an_inexact_argmax_makes_the_primal_an_estimate(run, rough):
    done = run("train", "train.txt", "--loss", "rough", "-C", 100, "--model", "m.npz")
    result = Ranker.load("m.npz").result_
    assert result.dual > 0.0
    assert not result.certified
    assert f"at least {result.dual:.8g} (dual); this model is estimated at {result.primal:.8g} (primal)" in done.stdout
    assert "inexact" in done.stdout


def test_an_inexact_argmax_makes_the_gaps_of_a_grid_estimates(run, rough):
    options = ("--C-grid", "1:10", "--validation", "test.txt", "--model", "m.npz")
    assert "estimated gap" in run("train", "train.txt", "--loss", "rough", *options).stdout
    assert "certified gap" in run("train", "train.txt", *options).stdout


def test_an_inexact_argmax_is_mentioned_at_the_limit(run, rough):
    options = ("-C", 1000, "--solver", "one-slack", "--max-iter", 1, "--model", "m.npz")
    done = run("train", "train.txt", "--loss", "rough", *options, code=1)
    assert "not converged: the limit of iterations" in done.stderr
    assert "The argmax is inexact and returns no bound, so the primal is an estimate" in done.stderr


def test_a_solver_named_with_its_tol_keeps_it(run):
    done = run("train", "train.txt", "-C", 4, "--solver", "one-slack(tol=0.02)", "--model", "m.npz")
    assert Ranker.load("m.npz").result_.tol == 0.02
    assert "target 0.02 * C" in done.stdout


def test_a_solver_without_a_backend(run, monkeypatch):
    monkeypatch.setitem(solvers.built_in, "plain", "string:Formatter")
    done = run("train", "train.txt", "--solver", "plain", "--backend", "highs", "--model", "m.npz", code=2)
    assert "the solver 'plain' has no setting 'backend': leave --backend out" in done.stderr


def test_log_messages_of_the_library_are_not_printed(run, monkeypatch):
    fit = Ranker.fit

    def loud(self, *args, **kwargs):
        logging.getLogger("structsvm").warning("noise")
        return fit(self, *args, **kwargs)

    monkeypatch.setattr(Ranker, "fit", loud)
    assert run("train", "train.txt", "--model", "m.npz", "-q").output == ""


def test_a_grid_of_C_keeps_the_best_on_validation(run):
    done = run(
        *("train", "train.txt", "--C-grid", "0.1:10:3", "--validation", "test.txt", "--measure", "ndcg@5"),
        *("--model", "m.npz"),
    )
    rows = [line.split() for line in done.stdout.splitlines()[2:5]]
    assert [row[0] for row in rows] == ["0.1", "1", "10"]
    best = max(rows, key=lambda row: float(row[1]))
    assert [row[-1] for row in rows].count("chosen") == 1
    assert best[-1] == "chosen"
    assert f"{Ranker.load('m.npz').C:g}" == best[0]
    words = f"C = {best[0]} of 3 values from 0.1 to 10: ndcg@5 {best[1]} on 5 validation queries"
    assert re.search(rf"^choice +{re.escape(words)}$", run("show", "m.npz").stdout, re.MULTILINE)


def test_a_pick_at_an_end_of_the_grid_gives_a_warning(run, monkeypatch):
    options = ("train", "train.txt", "--C-grid", "0.1:10:3", "--validation", "test.txt", "--model", "m.npz")
    for best, message in ((0.1, "C = 0.1 is the least"), (1.0, ""), (10.0, "C = 10 is the largest")):
        monkeypatch.setattr(
            Ranker, "predict", lambda self, X, qid, best=best: X[:, 0] * (1.0 if best == self.C else -1.0)
        )
        lines = [line for line in run(*options).stdout.splitlines() if "value of the grid" in line]
        more = " value of the grid: a wider range of Cs may do better"
        assert lines == ([f"warning  the chosen {message}{more}"] if message else [])
        assert run(*options, "-q").output == ""


@pytest.mark.slow
@pytest.mark.parametrize("grid", [[], ["--C-grid", "1:10:2", "--validation", "digits.txt"]])
def test_weights_of_zero_are_a_line_of_the_summary(run, grid):
    data, _ = load_digits_queries()
    dump_svmlight_file(data.X, data.y, "digits.txt", query_id=data.qid, zero_based=False)
    done = run("train", "digits.txt", "--loss", "p@5(truncated=true)", "--model", "m.npz", *grid)
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("warning ")]
    assert line.startswith("warning  the optimum found is w = 0: all scores are equal. No weights lower the objective")
    assert done.stderr == ""


def test_the_summary_explains_a_cut_off_in_the_name_of_a_loss(run):
    data, _ = load_digits_queries()
    dump_svmlight_file(data.X, data.y, "digits.txt", query_id=data.qid, zero_based=False)
    lines = {}
    for loss in ("ndcg@10", "p@5", "ndcg@150(truncated=true)", "ndcg"):
        done = run("train", "digits.txt", "--loss", loss, "--model", "m.npz")
        lines[loss] = [line for line in done.stdout.splitlines() if line.startswith("loss ")]
    assert lines == {
        "ndcg@10": [
            "loss     ndcg@10 trains at full depth, so the optimum belongs to ndcg(encoding=pairwise)",
        ],
        "p@5": ["loss     p@5 trains at full depth, so the optimum belongs to map"],
        "ndcg@150(truncated=true)": [],
        "ndcg": [],
    }


HARD = ("--solver", "one-slack", "-C", 1000, "--tol", 1e-5)


def stopped_early(run, monkeypatch, options, last):
    """Train with Ctrl-C in the third iteration at the last value of C."""
    with monkeypatch.context() as patch:
        record, steps = SolverState.record, []

        def interrupted(self, *numbers):
            steps.append(self.problem.C)
            if steps.count(last) == 4:
                raise KeyboardInterrupt
            return record(self, *numbers)

        patch.setattr(SolverState, "record", interrupted)
        return run("train", "train.txt", "--checkpoint", "fit.npz", "--model", "m.npz", *options, code=1)


def test_the_same_command_resumes_from_its_checkpoint(run, monkeypatch):
    stopped_early(run, monkeypatch, HARD, 1000.0)
    left = Result.load("fit.npz").history[-1]
    done = run("train", "train.txt", "--checkpoint", "fit.npz", "--model", "m.npz", *HARD)
    assert re.fullmatch(
        rf"structsvm: note: resuming from fit.npz: iteration {left.iteration} after \S+ s, gap {left.gap / 1000:.2g} "
        r"\* C\n",
        done.stderr,
    )
    result = Ranker.load("m.npz").result_
    assert result.converged
    assert left in result.history
    content = Path("fit.npz").read_bytes()
    done = run("train", "train.txt", "--checkpoint", "fit.npz", "--model", "again.npz", *HARD, "--quiet")
    assert done.output == ""
    assert Ranker.load("again.npz").result_.history == result.history
    assert Path("fit.npz").read_bytes() == content


def test_a_grid_resumes_where_it_stopped(run, monkeypatch):
    grid = (*HARD[:2], "--tol", 1e-5, "--C-grid", "0.1:10:3", "--validation", "test.txt")
    stopped_early(run, monkeypatch, grid, 10.0)
    done = run("train", "train.txt", "--checkpoint", "fit.npz", "--model", "m.npz", *grid)
    notes = [line for line in done.stderr.splitlines() if "resuming" in line]
    assert [note.split()[4] for note in notes] == [f"fit.C={C}.npz:" for C in (0.1, 1.0, 10.0)]


def test_a_checkpoint_of_another_fit_is_refused(run):
    run("train", "train.txt", "--checkpoint", "fit.npz", "--model", "m.npz", "--quiet")
    content, model = Path("fit.npz").read_bytes(), Path("m.npz").read_bytes()
    options = ("--checkpoint", "fit.npz", "--model", "m.npz")
    (line,) = run("train", "test.txt", *options, code=2).stderr.splitlines()
    expected = (
        "structsvm: error: the checkpoint fit.npz belongs to a fit with 9 examples .*, and this fit has 5 examples"
    )
    assert re.match(f"{expected}.* or delete", line)
    assert Path("fit.npz").read_bytes() == content
    assert Path("m.npz").read_bytes() == model


def test_a_checkpoint_that_cannot_be_written_any_more_is_a_warning(run, monkeypatch):
    def full(*args, **settings):
        raise InputError("no space left on device")

    monkeypatch.setattr("structsvm.solvers.checkpoint.write_archive", full)
    done = run("train", "train.txt", "--model", "m.npz", "--checkpoint", "fit.npz")
    assert done.stderr == (
        "structsvm: warning: the checkpoint was not updated and keeps its previous state: no space left on device\n"
    )


def test_a_warm_start_finds_the_same_optimum_sooner(run):
    train = ("train", "train.txt", "-C", 10, "--solver", "one-slack", "--model")
    run(*train, "cold.npz", "--quiet")
    again = json.loads(run(*train, "again.npz", "--warm-start", "cold.npz", "--json", "-").stdout)
    cold, warm = (Ranker.load(f"{name}.npz").result_ for name in ("cold", "again"))
    assert len(warm.history) < len(cold.history)
    assert warm.converged
    assert warm.primal == pytest.approx(cold.primal, abs=2e-3 * 10)
    assert again["queries"] == 9
