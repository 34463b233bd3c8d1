"""The models of an experiment: anything with a name that is fitted for a grid of settings and scores documents."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from attrs import frozen

from structsvm.estimators import Ranker
from structsvm.exceptions import UnknownNameError, ZeroWeightsWarning
from structsvm.experiment.error_rate import ErrorRate
from structsvm.experiment.feature_maps import FeatureMap, Indicators
from structsvm.operators import BinnedMatrix
from structsvm.result import Status
from structsvm.types import BoolVector, IntVector, Vector


@frozen(eq=False)
class Candidate:
    """A model that was fitted with one value of its hyper-parameter.

    Parameters
    ----------
    value : the value.
    scores : returns the scores of rows of features; larger is ahead.
    seconds : how long fitting took.
    gap : certified gap to the optimum, in units of the loss; None without a certificate.
    """

    value: float
    scores: Callable[[Any], Vector]
    seconds: float
    gap: float | None = None


class Model(ABC):
    """A model that takes part in an experiment. Derive from it to bring one of your own.

    A value: its ``repr`` is kept with the results and tells whether an experiment is the same, and
    it is sent to other processes.
    """

    name: str
    """What tables call it; no two models of an experiment have the same."""

    features: FeatureMap
    """What it reads."""

    @abstractmethod
    def candidates(self, X: Any, relevant: BoolVector, qid: IntVector) -> Sequence[Candidate]:
        """Fit the model on training queries for each value of its hyper-parameter, in ascending order.

        Of those that are best on the validation queries the first is picked: the simplest should come
        first. A model without a hyper-parameter returns one candidate.

        Parameters
        ----------
        X : features of the documents, as `features` made them.
        relevant : whether each document is, shape (rows,).
        qid : number of the query of each row, ascending, shape (rows,).
        """


@frozen(kw_only=True)
class RankingSVM(Model):
    """A `Ranker` that learns from queries, warm-started along a path of C.

    Parameters
    ----------
    name, features : see `Model`.
    loss : what it optimises, by name.
    Cs : values of C, ascending.
    tol : gap that is good enough, in units of the loss.
    """

    name: str
    features: FeatureMap
    loss: str
    Cs: tuple[float, ...]
    tol: float = 1e-3

    def candidates(self, X: Any, relevant: BoolVector, qid: IntVector) -> Sequence[Candidate]:
        """Fit for every C; see `Model.candidates`."""
        ranker = Ranker(self.loss, solver="frank-wolfe", tol=self.tol)
        return _path(ranker, X, relevant.astype(np.float64), qid, self.Cs)


@frozen(kw_only=True)
class ClassificationSVM(Model):
    """A linear SVM that tells relevant documents from others, warm-started along a path of C.

    Parameters
    ----------
    name, features : see `Model`.
    Cs : values of C, ascending.
    tol : gap that is good enough, in units of the loss.
    balanced : weight false negatives by the ratio of other to relevant training documents (section
        5.2.1 of the paper). The mean weight is 1.
    fit_intercept : add a constant to all scores.
    """

    name: str
    features: FeatureMap
    Cs: tuple[float, ...]
    tol: float = 1e-3
    balanced: bool = False
    fit_intercept: bool = False

    def candidates(self, X: Any, relevant: BoolVector, qid: IntVector) -> Sequence[Candidate]:
        """Fit for every C; see `Model.candidates`. The queries do not matter."""
        weight = np.ones(len(relevant))
        if self.balanced:
            share = relevant.mean()
            weight = np.where(relevant, 0.5 / share, 0.5 / (1.0 - share))
        rows, weight = merge_equal(X, relevant, weight)
        ranker = Ranker(ErrorRate(), solver="one-slack", tol=self.tol, fit_intercept=self.fit_intercept)
        return _path(ranker, X[rows], np.where(relevant[rows], weight, -weight), None, self.Cs)


def merge_equal(X: Any, relevant: BoolVector, weight: Vector) -> tuple[IntVector, Vector]:
    """Merge documents of the same features and relevance into one with the sum of their weights.

    Half of a pool is like that: documents at the end of one run, which no other one has.

    Returns
    -------
    The rows to keep, and their weights.
    """
    if not isinstance(X, BinnedMatrix):
        return np.arange(len(weight)), weight
    keys = np.column_stack([X.codes, relevant.astype(X.codes.dtype)])
    _, rows, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return rows.astype(np.int64), np.asarray(np.bincount(group.ravel(), weight), dtype=np.float64)


def _path(ranker: Ranker, X: Any, y: Vector, qid: IntVector | None, Cs: Sequence[float]) -> Sequence[Candidate]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ZeroWeightsWarning)  # a small C; the share of tied documents is in the results
        fitted = ranker.path(X, y, qid, Cs)
    if fitted[-1].result_.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return [
        Candidate(each.C, each.predict, each.result_.history[-1].seconds, max(each.result_.gap, 0.0) / each.C)
        for each in fitted
    ]


def _decades(low: int, high: int) -> tuple[float, ...]:
    return tuple(float(f"1e{exponent}") for exponent in range(low, high + 1))


# Where validation picks, with a margin on both sides. Below a small C rankings no longer change (all documents
# are within the margin, and w is C times a fixed vector); above 1e5 those of plain classifiers hardly do.
_RANKING_CS = _decades(-4, 2)
_PLAIN_CS = _decades(0, 5)
_BALANCED_CS = _decades(-3, 3)


def _paper_models(bins: int) -> tuple[Model, ...]:
    quantiles, percentiles, min_max = (Indicators(bins, of) for of in ("scores", "percentiles", "min-max"))
    return (
        RankingSVM(name="SVM-map", features=quantiles, loss="map", Cs=_RANKING_CS),
        RankingSVM(name="SVM-roc", features=quantiles, loss="roc_area", Cs=_RANKING_CS),
        *(
            ClassificationSVM(
                name=name + suffix,
                features=features,
                Cs=_BALANCED_CS if balanced else _PLAIN_CS,
                balanced=balanced,
                fit_intercept=bool(suffix),
            )
            for suffix in ("", "+b")
            for name, features, balanced in (
                ("SVM-acc", quantiles, False),
                ("SVM-acc2", quantiles, True),
                ("SVM-acc3", percentiles, False),
                ("SVM-acc4", min_max, False),
            )
        ),
    )


def model_names() -> list[str]:
    """Return the names that `create_model` knows, in the order of the tables."""
    return [model.name for model in _paper_models(1)]


def create_model(name: str, bins: int = 50) -> Model:
    """Return a model of the paper: "SVM-map", "SVM-roc", "SVM-acc", "SVM-acc2", "SVM-acc3", "SVM-acc4".

    Those of classification exist with an intercept, too: "SVM-acc+b", ...

    Parameters
    ----------
    name : its name; upper or lower case.
    bins : thresholds of each base function.

    Raises
    ------
    UnknownNameError : no model is called so.
    """
    for model in _paper_models(bins):
        if model.name.lower() == name.strip().lower():
            return model
    raise UnknownNameError("model", name, model_names())
