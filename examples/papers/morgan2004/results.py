"""The results of Morgan's experiment."""

from collections.abc import Sequence
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np
from attrs import field, frozen

from examples.papers.morgan2004.topics import TopicCounts
from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.metrics.average_precision import LEVELS
from structsvm.protocols.results import Fit, Results, Trial

PartName: TypeAlias = Literal["train", "validation", "test"]
PARTS: tuple[PartName, ...] = ("train", "validation", "test")


@frozen(kw_only=True)
class TopicTrial(Trial):
    """A topic with one split of the documents; its groups are the query lengths, "1", "2", ...

    Parameters
    ----------
    name, train, validation, test, documents, seconds, fits : see `structsvm.protocols.Trial`.
    terms : the terms of the longest query, in order.
    information : mutual information of each on the training documents, in nats.

    Examples
    --------
    >>> import tempfile
    >>> from structsvm.data import Qrels
    >>> from examples.papers.morgan2004 import MorganSettings, SearchedWeights, morgan
    >>> from structsvm.text import Analyzer, Index
    >>> texts = ["wing lift", "lift", "lift heat", "wing drag", "flow heat"] * 4
    >>> ids = [str(k) for k in range(20)]
    >>> index = Index.build([(k, {"text": text}) for k, text in zip(ids, texts)], Analyzer(None, None))
    >>> qrels = Qrels.from_grades(["1"] * 20, ids, [1, 1, 0, 0, 0] * 4)
    >>> settings = MorganSettings(terms=2, repeats=1, min_relevant=8, methods=[SearchedWeights()])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [trial] = morgan(index, qrels, settings, folder, n_jobs=1).trials
    >>> trial.terms, trial.documents, round(trial.fits["2"]["WeightSearch"].measures["map"], 2)
    (('lift', 'drag'), (5, 5, 10), 0.97)
    """

    terms: tuple[str, ...]
    information: tuple[float, ...] = field(repr=False)


@frozen(kw_only=True)
class MorganResults(Results):
    """The results of an experiment of Morgan's kind.

    All figures of a topic are means over its splits, and those over topics give each topic the same weight.

    Parameters
    ----------
    header : settings, data and versions.
    topics : topics that took part.
    left_out : other topics, and why they did not.
    missing : relevant documents that the index does not have.
    documents : documents of the index.
    trials : the trials: every split of the first topic, of the second one, ...

    Examples
    --------
    >>> import tempfile
    >>> from structsvm.data import Qrels
    >>> from examples.papers.morgan2004 import MorganSettings, SearchedWeights, morgan
    >>> from structsvm.text import Analyzer, Index
    >>> texts = ["wing lift", "lift", "lift heat", "wing drag", "flow heat"] * 4
    >>> ids = [str(k) for k in range(20)]
    >>> index = Index.build([(k, {"text": text}) for k, text in zip(ids, texts)], Analyzer(None, None))
    >>> qrels = Qrels.from_grades(["1"] * 20, ids, [1, 1, 0, 0, 0] * 4)
    >>> settings = MorganSettings(terms=2, repeats=3, min_relevant=8, methods=[SearchedWeights()])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = morgan(index, qrels, settings, folder, n_jobs=1)
    >>> results.per_topic("WeightSearch", "test").round(2)  # with one term and with two, means of three splits
    array([[0.55, 0.91]])
    >>> results.picked_lengths("WeightSearch")
    array([1, 2, 2])
    """

    topics: tuple[TopicCounts, ...] = field(repr=False)
    left_out: dict[str, str] = field(repr=False)
    missing: int
    documents: int
    trials: tuple[TopicTrial, ...] = field(repr=False)

    @property
    def methods(self) -> tuple[str, ...]:
        """Names of the methods, in the order of the tables."""
        return self.models

    @property
    def terms(self) -> int:
        """Terms of the longest query."""
        return int(self.header.settings["terms"])

    @property
    def repeats(self) -> int:
        """Splits of each topic."""
        return int(self.header.settings["repeats"])

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """All pairs of methods, in the order of the tables."""
        return tuple(combinations(self.methods, 2))

    def by_length(self, method: str) -> tuple[tuple[Fit, ...], ...]:
        """Return the fits of a method in each trial, with 1, 2, ... terms.

        Raises
        ------
        UnknownNameError : there is no such method.
        """
        of_lengths = [self.fits(str(length), method) for length in range(1, self.terms + 1)]
        return tuple(zip(*of_lengths, strict=True))

    def per_topic(self, method: str, part: PartName) -> Matrix:
        """Return average precision at each length, with the value that validation picks, shape (topics, terms)."""
        found = [[getattr(fit, part)[fit.chosen] for fit in fits] for fits in self.by_length(method)]
        return self._over_repeats(np.array(found))

    def per_topic_at(self, method: str, value: int, part: PartName) -> Matrix:
        """Return average precision at each length with one value of the hyper-parameter, by position."""
        found = [[getattr(fit, part)[value] for fit in fits] for fits in self.by_length(method)]
        return self._over_repeats(np.array(found))

    def at_pick(self, method: str, part: PartName, value: int | None = None) -> Vector:
        """Return average precision at the length and value that validation picks, shape (topics,).

        Parameters
        ----------
        method : its name.
        part : the documents.
        value : position of the only value of the hyper-parameter to pick a length with; None: all take part.
        """
        found = []
        for fits in self.by_length(method):
            length, chosen = picked(fits, value)
            found.append(getattr(fits[length], part)[chosen])
        return self._over_repeats(np.array(found))

    def picked_lengths(self, method: str) -> IntVector:
        """Return the length that validation picks in each trial, shape (trials,)."""
        return np.array([picked(fits)[0] + 1 for fits in self.by_length(method)])

    def picked_values(self, method: str) -> list[int]:
        """Return the position of the value that validation picks, together with the length, in each trial."""
        return [picked(fits)[1] for fits in self.by_length(method)]

    def precision(self, method: str) -> Matrix:
        """Return interpolated precision at recall 0, 0.1, ..., 1 on test documents at the pick, shape (topics, 11)."""
        measures = [fits[picked(fits)[0]].measures for fits in self.by_length(method)]
        return self._over_repeats(np.array([[each[f"iprec@{level:g}"] for level in LEVELS] for each in measures]))

    def weights(self, method: str) -> Matrix | None:
        """Return the weights of the terms of the longest query, shape (trials, terms).

        They belong to the value that is best on validation. None if the method has no weights.
        """
        found = [fit.weights for fit in self.fits(str(self.terms), method)]
        return None if None in found else np.array(found)

    def _over_repeats(self, of_trials: Vector | Matrix) -> Vector | Matrix:
        return np.asarray(of_trials.reshape(len(self.topics), self.repeats, *of_trials.shape[1:]).mean(axis=1))


def picked(fits: Sequence[Fit], value: int | None = None) -> tuple[int, int]:
    """Return the length and the value that are best on validation, as positions: the shortest, and then the first.

    Parameters
    ----------
    fits : with 1, 2, ... terms.
    value : position of the only value that takes part; None: all do.
    """
    validation = np.array([fit.validation for fit in fits])  # shape (terms, values)
    if value is not None:
        return int(validation[:, value].argmax()), value
    length, chosen = np.unravel_index(int(validation.argmax()), validation.shape)
    return int(length), int(chosen)
