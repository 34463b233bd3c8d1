"""Progress, warnings, the time limit and failures of the fits of ``structsvm train``."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import define, field

from structsvm.cli.shared.console import echo, note, show_tables
from structsvm.cli.shared.failures import Failure
from structsvm.exceptions import counted
from structsvm.result import Status

if TYPE_CHECKING:
    from structsvm.result import Step


@define(eq=False)
class FitMonitor:
    """Callback that shows each step, ends a fit after ``seconds``, and reports the checkpoint of a resumed fit."""

    say: Callable[[str], None]
    tol: float
    seconds: float | None = None
    checkpoint: Path | None = None
    at_C: bool = field(default=False, kw_only=True)
    fits: int = field(default=0, init=False)
    _fit: tuple[int | None, float] | None = field(default=None, init=False)
    _seconds_before: float = field(default=0.0, init=False)
    _late: dict[tuple[int | None, float], float] = field(factory=dict, init=False)

    def __call__(self, step: "Step", fold: int | None = None) -> bool:
        """Show a step of a fit, and return whether the time limit has passed."""
        fit = (fold, step.C)
        if fit != self._fit:
            self._fit = fit
            self.fits += 1
            self._seconds_before = step.seconds if step.iteration else 0.0
            if step.iteration and self.checkpoint is not None:
                self._note_continued(step, fold, self.checkpoint)
        gap = step.gap / step.C
        where = "" if fold is None else f"fold {fold + 1}, C = {step.C:g}, "
        self.say(
            f"{where}iteration {step.iteration}: primal {step.primal:.6g}, dual {step.dual:.6g}, gap {gap:.2g} * C "
            f"(tol {self.tol:g}), {counted(step.cuts, 'cut')}, {step.argmaxes:.0f} argmaxes an example"
        )
        if self.seconds is None or step.seconds - self._seconds_before < self.seconds:
            return False
        self._late[fit] = gap
        return True

    def ended(self, tol: float) -> int:
        """Return the number of fits that the time limit ended before their gap was tol * C."""
        return sum(gap > tol for gap in self._late.values())

    def _note_continued(self, step: "Step", fold: int | None, checkpoint: Path) -> None:
        from structsvm.solvers import Checkpoint

        file = Checkpoint(checkpoint)
        file = file if fold is None else file.of_fold(fold + 1)
        file = file.at(step.C) if self.at_C else file
        note(
            f"resuming from {file.path}: iteration {step.iteration} after {step.seconds:.3g} s, gap "
            f"{step.gap / step.C:.2g} * C"
        )

    def __str__(self) -> str:
        return f"the time limit of {self.seconds:g} s"


@contextmanager
def warnings_of_fits(*, certified: bool) -> Iterator[list[str]]:
    """Collect warnings for the summary, and show a failed checkpoint at once.

    If ``certified``, the summary has a certificate instead of convergence warnings.
    """
    from sklearn.exceptions import ConvergenceWarning

    from structsvm.exceptions import CheckpointWarning, FeatureScaleWarning, ZeroWeightsWarning

    messages: list[str] = []

    def show(message: Warning | str, category: type[Warning], *_where: Any, **_line: Any) -> None:
        if issubclass(category, CheckpointWarning):
            echo(f"structsvm: warning: {message}", err=True)
        else:
            messages.append(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        if certified:
            for category in (ConvergenceWarning, FeatureScaleWarning, ZeroWeightsWarning):
                warnings.simplefilter("ignore", category)
        warnings.showwarning = show
        yield messages


def without_model(learner: Any, folds: int | None, *, certified: bool, quiet: bool) -> Failure:
    """Return the failure of a training that Ctrl-C ended, after printing the table of finished folds."""
    if folds:
        finished = len(next(iter(getattr(learner, "scores_by_name_", {"": []}).values())))
        if finished and not quiet:
            show_tables(learner.table())
        if finished < folds:
            return Failure(
                f"interrupted in fold {finished + 1} of {folds}, before C was chosen: there is no model. With "
                "--checkpoint, run the same command to resume"
            )
    before = "the first iteration" if certified else "training"
    return Failure(f"interrupted before the end of {before}: there is no model to write")


def require_converged(
    trained: Any, learner: Any, C_grid: Sequence[float] | None, monitor: FitMonitor, model: Path
) -> None:
    """Raise `Failure`, with the progress, if the training of the ranker in ``model`` did not converge."""
    if C_grid and learner.interrupted_:
        raise Failure(
            f"interrupted: {len(learner.Cs_)} of the {len(C_grid)} values of --C-grid were tried, up to C = "
            f"{learner.Cs_[-1]:g}. The best model so far, of C = {trained.C:g}, was written to {model}"
        )
    result = trained.result_
    if not result.converged:
        why = f"{monitor} has passed" if result.status is Status.STOPPED else result.message
        unit = result.C * trained.gap_unit_
        raise Failure(
            f"not converged: {why}; the gap is {result.gap / unit:.2g} * C, "
            f"the target {result.tol * result.C / unit:g} * C. The model so far was written to {model}"
        )
