"""Fit a specification to data, at one C or along a path of C; warn of a gap above tol and of zero weights."""

import inspect
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from attrs import evolve, field, frozen
from numpy.typing import ArrayLike, NDArray

from structsvm.exceptions import InputError, OneClassWarning, ZeroWeightsWarning, brief, stacklevel_of_user
from structsvm.foundation.arrays import require_real
from structsvm.foundation.settings import require_kind
from structsvm.foundation.types import IntVector
from structsvm.losses import AveragePrecision, Loss, ScoreLoss
from structsvm.models.base import TrainedModel
from structsvm.models.drift import FeatureStatistics
from structsvm.problem import Problem
from structsvm.problem.base import AbstractProblem
from structsvm.problem.codes import cuts_of
from structsvm.registry import losses
from structsvm.result import Result, Status
from structsvm.solvers import Checkpoint, Solver
from structsvm.solvers.checkpoint import CheckpointPath
from structsvm.solvers.state import Callback

_EXACT = 1e-9
_CANCELED = 1e-12
"""Length of a sum of cuts that is 0 but for rounding, relative to the sum of their lengths."""

AnyLoss: TypeAlias = ScoreLoss[Any] | Loss[Any, Any]
NONE: Mapping[str, Any] = MappingProxyType({})


@frozen(eq=False)
class Objective:
    """A problem with its solver, the form of its model, and facts about the fit.

    Parameters
    ----------
    problem, solver : the problem and the solver that minimizes it.
    model : makes the model of a result of the solver.
    facts : attributes that a fit gives an estimator, by name.
    statistics : computes statistics of the features for the record of training; it may return None.
    loss, ranks, other_losses : for advice on zero weights: the user's name of the loss, and whether the model ranks and
        accepts others.
    n_features, columns : number of features and the columns with entries; None if features have no own weights, or if
        all columns have entries.
    categories : columns of categories, which the model stores.

    Examples
    --------
    >>> from structsvm import Ranker
    >>> spec = Ranker("map", C=0.1).spec()
    >>> data = spec.data([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1])
    >>> objective = spec.objective(data)
    >>> objective.problem.n, objective.minimize().converged
    (1, True)
    """

    problem: AbstractProblem
    solver: Solver
    loss: str | AnyLoss
    model: Callable[[Result], TrainedModel]
    facts: Mapping[str, Any] = NONE
    statistics: Callable[[], FeatureStatistics | None] = lambda: None
    ranks: bool = False
    other_losses: bool = True
    n_features: int | None = None
    columns: IntVector | None = None
    categories: tuple[str, ...] = ()

    def minimize(
        self,
        start: Result | None = None,
        callback: Callback | None = None,
        checkpoint: CheckpointPath | None = None,
    ) -> Result:
        """Solve the problem from an earlier result, if any; warn if the gap stays above tol or all weights are 0."""
        solver = self.solver
        if isinstance(start, Result) and not start.is_of(self.columns):
            start = None if self.n_features is None else start.of_columns(self.columns, self.n_features)
        settings = {} if checkpoint is None else {"checkpoint": checkpoint}
        if settings and "checkpoint" not in inspect.signature(solver.solve).parameters:
            raise InputError(
                f"the solver {type(solver).__name__} supports no checkpoints: its solve has no argument checkpoint. "
                "Leave the checkpoint out, or choose another solver"
            )
        warn_of_one_class(self.problem)
        result: Result = solver.solve(self.problem, start=start, callback=callback, **settings)
        if self.columns is not None:
            result = evolve(result, columns=self.columns)
        if not result.converged:
            within = "is within" if result.certified else "is estimated to be within"
            inference = f" (inference: {result.inference_gap / result.C:.2g} * C)" if result.inference_gap else ""
            warn_of_convergence(
                f"{result.message}; P(w) {within} {result.gap / result.C:.2g} * C of the optimum{inference}, but tol "
                f"requires {result.tol:.2g} * C"
            )
        elif not result.w.any():
            advice = zero_weights(
                result,
                self.loss,
                self.problem.loss,
                ranks=self.ranks,
                other_losses=self.other_losses,
                problem=self.problem,
            )
            warnings.warn(advice, ZeroWeightsWarning, stacklevel=stacklevel_of_user())
        return result


@frozen(eq=False, slots=False)
class Fit:
    """A fit of an objective: its result, its model, and the facts and arrays that estimators and files store.

    Parameters
    ----------
    objective, result : the objective and the result of its solver.
    facts : attributes that the fit gives an estimator, by name.
    arrays : arrays that files store with the model, by name.

    Examples
    --------
    >>> from structsvm import Ranker
    >>> spec = Ranker("map", C=0.1).spec()
    >>> result = fit(spec.data([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1]), spec)
    >>> result.result.converged, result.model.coef.shape
    (True, (1,))
    """

    objective: Objective
    result: Result
    facts: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]] = field(default=NONE)

    @cached_property
    def model(self) -> TrainedModel:
        """The trained model, without a record of its training."""
        return evolve(self.objective.model(self.result), categories=self.objective.categories)


class Spec(ABC):
    """The checked settings of a fit, which turn data into an `Objective`.

    Examples
    --------
    >>> from structsvm import Ranker
    >>> spec = Ranker("map", C=0.1).spec()
    >>> spec.objective(spec.data([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1])).problem.C
    0.1
    """

    @abstractmethod
    def data(self, *arguments: Any) -> Any:
        """Check the data that the user gave ``fit``."""

    def chosen(self, data: Any) -> tuple["Spec", str | None]:
        """Return the settings with the values that ``fit`` chooses on held-out data, and the reason for the choice."""
        return self, None

    @abstractmethod
    def objective(self, data: Any) -> Objective:
        """Return the objective of these settings over checked data."""


def fit(
    data: Any,
    spec: Spec,
    *,
    start: Result | None = None,
    callback: Callback | None = None,
    checkpoint: CheckpointPath | None = None,
) -> Fit:
    """Fit a model to data by some settings, from an earlier result if there is one.

    Parameters
    ----------
    data : checked data, as ``spec.data`` returns them.
    spec : the settings.
    start, callback, checkpoint : as for `Ranker.fit`.

    Examples
    --------
    >>> from structsvm import Ranker
    >>> spec = Ranker("map", C=0.1).spec()
    >>> data = spec.data([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1])
    >>> fit(data, spec, start=fit(data, spec).result).result.converged
    True
    """
    objective = _objective(data, spec)
    return Fit(objective, objective.minimize(start, callback, checkpoint), objective.facts)


def path(
    data: Any,
    spec: Spec,
    Cs: ArrayLike,
    *,
    callback: Callback | None = None,
    checkpoint: CheckpointPath | None = None,
) -> dict[float, Fit]:
    """Fit a model at ascending values of C, each from the previous result, until interrupted; return fits by C.

    Parameters
    ----------
    data : checked data, as ``spec.data`` returns them.
    spec : the settings, whose C is not used.
    Cs : values of C in any order.
    callback, checkpoint : as for `Ranker.path`.

    Examples
    --------
    >>> from structsvm import Ranker
    >>> spec = Ranker("map").spec()
    >>> list(path(spec.data([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1]), spec, [1.0, 0.1]))
    [0.1, 1.0]
    """
    objective = _objective(data, spec)
    fits: dict[float, Fit] = {}
    problem: Any = objective.problem
    result = None
    try:
        for C in sorted(set(checked_Cs(Cs))):
            at_C = None if checkpoint is None else Checkpoint.of(checkpoint).at(C)
            result = evolve(objective, problem=problem.with_C(C)).minimize(result, callback, at_C)
            fits[C] = Fit(objective, result, objective.facts)
            if result.status in (Status.INTERRUPTED, Status.STOPPED):
                break
            # The next C has the same data, so its fingerprint is known.
            problem = problem.knowing(result.fingerprint)
    except KeyboardInterrupt:
        # Interrupted before the next value of C produced a result.
        if not fits:
            raise
    return fits


def _objective(data: Any, spec: Spec) -> Objective:
    require_kind("spec", spec, Spec, "a Spec, such as Ranker().spec()")
    return spec.objective(data)


def warn_of_convergence(message: str) -> None:
    """Warn as scikit-learn does of fits that did not converge."""
    from sklearn.exceptions import ConvergenceWarning

    warnings.warn(message, ConvergenceWarning, stacklevel=stacklevel_of_user())


def warn_of_one_class(problem: Any) -> None:
    """Warn if a loss of classes gets examples of a single class."""
    loss, ys = problem.loss, getattr(problem, "ys", ())
    # Outputs of another loss with an attribute of this name may be lists, and need no labels.
    if not (loss.per_row and hasattr(loss, "classes") and len(ys)):
        return
    distinct = np.unique(ys) if isinstance(ys, np.ndarray) and ys.dtype != object else set(ys)
    if len({tuple(loss.labels(y)) for y in distinct}) == 1:
        also = " (labels above 0 are positive)" if loss.classes is None else ""
        warnings.warn(
            f"all {len(ys)} labels y belong to one class{also}, which the model will always predict: check the labels",
            OneClassWarning,
            stacklevel=stacklevel_of_user(),
        )


def checked_Cs(Cs: ArrayLike) -> list[float]:
    """Return the values of C of a path as floats."""
    require_real(Cs, "Cs")
    try:
        values = np.asarray(Cs, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        values = np.zeros(0)
    if values.ndim != 1 or len(values) == 0 or not ((values > 0.0) & np.isfinite(values)).all():
        raise InputError(f"Cs must be a vector of positive numbers, got {brief(Cs)}")
    checked: list[float] = values.tolist()
    return checked


def _for_any_C(result: Result, problem: AbstractProblem | None) -> bool:
    """Return True if the cuts prove that no weights have a smaller hinge than w = 0.

    The cuts' weighted sum is then a lower bound of the hinge that no weights within the bounds lower.
    """
    cuts = result.cuts
    if cuts.codes is not None and isinstance(problem, Problem):
        cuts = cuts_of(problem, cuts.codes)
    g, lengths = cuts.a @ cuts.G, (sp.linalg.norm if sp.issparse(cuts.G) else np.linalg.norm)(cuts.G, axis=1)
    if problem is not None and problem.box is not None:
        u, box = problem.from_weights(result.w), problem.box
        g = np.where(((g > 0.0) & (u >= box.high)) | ((g < 0.0) & (u <= box.low)), 0.0, g)
    return bool(np.linalg.norm(g) <= _CANCELED * (cuts.a @ lengths))


def zero_weights(
    result: Result,
    loss: str | AnyLoss,
    trained: str | AnyLoss,
    *,
    ranks: bool,
    other_losses: bool = True,
    problem: AbstractProblem | None = None,
) -> str:
    """Explain an optimum at w = 0 and suggest remedies.

    ``trained`` is the loss completed from the training data; ``problem`` is needed if it has bounds on weights.
    """
    name = loss if isinstance(loss, str) else type(loss).__name__
    fitted_loss: AnyLoss = losses.create(trained)
    if result.primal == 0.0:
        return (
            f"the optimum found is w = 0: the argmax of {name} found no output with a loss for any example. If such an "
            "output exists, the argmax is wrong: run structsvm.testing.check_loss on the loss"
        )
    ways, cut_off = [], getattr(fitted_loss, "k", None) is not None
    if cut_off:
        full = "full depth, without truncated=true"
        ways.append(full if getattr(fitted_loss, "truncated", False) else "a loss without cut-off")
    if ranks and other_losses and not isinstance(fitted_loss, AveragePrecision):
        ways.append("the loss 'map'")
    bounded = problem is not None and problem.box is not None
    which = "No weights within their bounds" if bounded else "No weights"
    optimal = result.gap <= _EXACT * result.C
    if optimal and _for_any_C(result, problem):
        cause = f"{which} have a smaller hinge of {name} on these data, for any C"
    elif optimal:
        cause = f"{which} lower the objective of {name} on these data at C = {result.C:.3g}"
        ways.append("a larger C or features on a larger scale")
    else:
        cause = (
            f"{which} lower the objective of {name} on these data by more than {result.gap / result.C:.2g} * C, less "
            "than tol * C. The features may separate little, or few examples may count"
        )
        ways += [] if cut_off else ["a smaller tol, which shows if other weights are better"]
    ways += ["other bounds"] if bounded else []
    if fitted_loss.of_one_sample:
        cause += "; it is meant for one sample of rows that the features separate well"
    equal = "all scores are equal" if ranks else "all outputs have the same score"
    advice = f"try {' or '.join(filter(None, [', '.join(ways[:-1]), ways[-1]]))}" if ways else "check the features"
    return f"the optimum found is w = 0: {equal}. {cause}: {advice}"
