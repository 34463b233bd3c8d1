"""One trial: every model is fitted, picked on the validation queries, and tested."""

import time
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from attrs import field, frozen
from sklearn.exceptions import ConvergenceWarning

from structsvm.compute.processes import one_thread
from structsvm.protocols import FeatureMap, Model
from structsvm.protocols.experiment.collection import Collection
from structsvm.protocols.experiment.results import WITHOUT_BEST, Fit, Ranked, Trial
from structsvm.protocols.experiment.scoring import Precision, score_queries, tied_shares
from structsvm.protocols.experiment.splits import Split
from structsvm.protocols.pick import Picked, naming, transformed
from structsvm.types import BoolVector, IntVector, Vector


@frozen(eq=False)
class Material:
    """What all trials read.

    Parameters
    ----------
    collection : the queries.
    best : column of the best base function.
    normalised : what `FeatureMap.within_queries` made of the scores.
    """

    collection: Collection
    best: int
    normalised: dict[FeatureMap, Any] = field(repr=False)

    @classmethod
    def of(cls, collection: Collection, best: int, models: Iterable[Model]) -> "Material":
        """Prepare the features of models."""
        qid = np.repeat(np.arange(collection.n_queries), np.diff(collection.ptr))
        maps = dict.fromkeys(model.features for model in models)
        return cls(collection, best, {each: each.within_queries(collection.X, qid) for each in maps})


@frozen(eq=False)
class Part:
    """The queries that have one role in a trial.

    Parameters
    ----------
    rows : their rows in the collection.
    ptr : where the rows of each of them begin among these.
    qid : number of the query of each row, from 0 and ascending.
    relevant : whether each document is.
    """

    rows: IntVector
    ptr: IntVector
    qid: IntVector
    relevant: BoolVector

    @classmethod
    def of(cls, collection: Collection, queries: Sequence[int]) -> "Part":
        """Collect queries."""
        rows = collection.rows(queries)
        sizes = np.diff(collection.ptr)[list(queries)]
        qid = np.repeat(np.arange(len(sizes)), sizes)
        return cls(rows, np.concatenate([[0], np.cumsum(sizes)]), qid, collection.relevant[rows])


def run_trial(number: int, split: Split, material: Material, models: Sequence[Model], variants: Sequence[str]) -> Trial:
    """Run a trial, in one thread, so that its numbers do not depend on how many there are.

    Parameters
    ----------
    number : of the trial.
    split : its queries.
    material : the data.
    models : in the order of the tables.
    variants : "with-best", "without-best".
    """
    began = time.perf_counter()
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the gaps of SVMs are in the results
        warnings.filterwarnings("ignore", "all scores of .* functions are missing", UserWarning)
        parts = [Part.of(material.collection, queries) for queries in (split.train, split.validation, split.test)]
        fits = {variant: _fit_all(number, material, parts, models, variant) for variant in variants}
    return Trial(number, split.train, split.validation, split.test, time.perf_counter() - began, fits)


def _fit_all(
    number: int, material: Material, parts: Sequence[Part], models: Sequence[Model], variant: str
) -> dict[str, Fit]:
    columns = np.arange(len(material.collection.functions))
    if variant == WITHOUT_BEST:
        columns = np.delete(columns, material.best)
    fits: dict[str, Fit] = {}
    for features in dict.fromkeys(model.features for model in models):
        X = material.normalised[features]
        matrices = transformed(features, [X[np.ix_(part.rows, columns)] for part in parts])
        for model in models:
            if model.features == features:
                with naming(model, f"trial {number}, {variant}"):
                    fits[model.name] = _fit(model, matrices, parts)
    return {model.name: fits[model.name] for model in models}


def _fit(model: Model, matrices: Sequence[Any], parts: Sequence[Part]) -> Fit:
    (X_train, X_validation, X_test), (train, validation, test) = matrices, parts
    candidates = model.candidates(X_train, train.relevant.astype(np.float64), train.qid)
    picked = Picked.of(
        candidates, lambda each: float(_precision(each.scores(X_validation, validation.qid), validation).ap.mean())
    )
    scores = [each.scores(X_test, test.qid) for each in candidates]
    on_test = [_precision(each, test) for each in scores]
    chosen = picked.chosen
    return Fit(
        values=picked.values,
        validation=picked.validation,
        test=tuple(float(precision.ap.mean()) for precision in on_test),
        seconds=picked.seconds,
        gaps=picked.gaps,
        features=X_train.shape[1],
        chosen=chosen,
        ranked=Ranked.of(*on_test[chosen], tied_shares(scores[chosen], test.ptr)),
    )


def _precision(scores: Vector, part: Part) -> Precision:
    return score_queries(scores, part.relevant, part.ptr)
