"""The methods ``fit`` and ``path`` of estimators with a convex objective."""

from __future__ import annotations

from copy import copy
from typing import Any, TypeVar

from numpy.typing import ArrayLike
from sklearn.base import clone

from structsvm import training
from structsvm.estimators.saving import add_facts, adopt
from structsvm.result import Result
from structsvm.solvers.checkpoint import CheckpointPath
from structsvm.solvers.state import Callback
from structsvm.training.objective import checked_Cs

Estimator = TypeVar("Estimator", bound=Any)


def start_of(estimator: Any) -> Result | None:
    """Return the result that a fit starts from: the last one with ``warm_start``; else None."""
    warm = getattr(estimator, "warm_start", False) and hasattr(estimator, "result_")
    return estimator.result_ if warm else None


def path_of(
    estimator: Estimator,
    arguments: tuple[Any, ...],
    Cs: ArrayLike,
    callback: Callback | None,
    checkpoint: CheckpointPath | None,
) -> list[Estimator]:
    """Return an estimator for each value of C that was reached, in the order of ``Cs``."""
    values = checked_Cs(Cs)
    spec = estimator.spec()
    fits = training.path(spec.data(*arguments), spec, values, callback=callback, checkpoint=checkpoint)
    unfitted = clone(estimator)
    return [adopt(copy(unfitted).set_params(C=C), fits[C]) for C in values if C in fits]


def fit(
    self: Estimator,
    X: Any,
    y: Any,
    qid: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    callback: Callback | None = None,
    checkpoint: CheckpointPath | None = None,
) -> Estimator:
    """Learn from queries.

    Parameters
    ----------
    X : features, shape (rows, d); dense, CSR or a `BinnedMatrix`. `Ranker` also accepts an `Operator` with one score
        per row and one example per query.
    y : labels, shape (rows,), larger is better; documents with labels above 0 are relevant, unless the loss defines
        relevance otherwise. `RankSVM` also accepts `Preferences`.
    qid : query id of each row (not group sizes), in any order. None: all rows are one query.
    sample_weight : weight κ of each row, the same for all rows of a query. It may differ within a query if the loss
        takes weights of documents: zero_one, weighted_ranks, roc_area and swapped_pairs.
    callback : function that is called with every `Step`; it returns True to stop.
    checkpoint : file that stores the state of the fit while it runs, or a `Checkpoint` with an interval. If the
        file exists, the fit resumes from it; it must belong to the same fit. The file is never removed.

    Warns
    -----
    CheckpointWarning : the checkpoint cannot be written; the fit continues.
    ConvergenceWarning : the gap is larger than tol.
    OneQueryWarning : qid is missing, so all rows are one query.
    ZeroWeightsWarning : the optimum is w = 0, at which all scores are equal.
    """
    spec = self.spec()
    data = spec.data(X, y, qid, sample_weight)
    spec, choice = spec.chosen(data)
    adopt(self, training.fit(data, spec, start=start_of(self), callback=callback, checkpoint=checkpoint))
    if choice is not None:
        add_facts(self, choice=choice)
    return self


def path(
    self: Estimator,
    X: Any,
    y: Any = None,
    qid: ArrayLike | None = None,
    Cs: ArrayLike = (0.01, 0.1, 1.0, 10.0, 100.0),
    sample_weight: ArrayLike | None = None,
    callback: Callback | None = None,
    checkpoint: CheckpointPath | None = None,
) -> list[Estimator]:
    """Learn at several values of C, each from the previous result, which is faster than separate fits.

    Parameters
    ----------
    X, y, qid, sample_weight, callback : as in `fit`; `DaskRanker` also reads y from X.
    Cs : the values, in any order; fits are in ascending order.
    checkpoint : as in `fit`, with a file for each C: ``fit.npz`` becomes ``fit.C=10.0.npz``.

    Returns
    -------
    A list of fitted rankers, one for each value, in the order of ``Cs``. If Ctrl-C or the callback ends the path
    early, the list has the values reached. This ranker is unchanged.
    """
    return path_of(self, (X, y, qid, sample_weight), Cs, callback, checkpoint)
