"""What Morgan's experiment found."""

from itertools import combinations
from typing import Literal, Self, TypeAlias

import numpy as np
from attrs import evolve, field, frozen

from structsvm.protocols.model import Value
from structsvm.protocols.morgan.topics import TopicCounts
from structsvm.significance import Comparison, compare
from structsvm.significance.student import mean_interval
from structsvm.storage.records import Header
from structsvm.types import IntVector, Matrix, Vector

PartName: TypeAlias = Literal["train", "validation", "test"]
PARTS: tuple[PartName, ...] = ("train", "validation", "test")


@frozen
class Curve:
    """Average precision against query length, for one value of a hyper-parameter.

    Parameters
    ----------
    value : of the hyper-parameter; "" where there is none.
    train, validation, test : average precision with 1, 2, ... terms, shape (terms,) each.
    """

    value: Value
    train: tuple[float, ...] = field(repr=False)
    validation: tuple[float, ...] = field(repr=False)
    test: tuple[float, ...] = field(repr=False)


@frozen
class Learned:
    """What a method reached in one trial.

    Parameters
    ----------
    curves : one for each value of its hyper-parameter.
    seconds : how long it learned, all lengths and values together.
    gap : largest certified gap of all fits, in units of the loss; None without a certificate.
    """

    curves: tuple[Curve, ...]
    seconds: float
    gap: float | None

    @property
    def validation(self) -> Matrix:
        """Average precision on validation, a value a row and a length a column."""
        return np.array([curve.validation for curve in self.curves])

    def picked(self, part: PartName) -> Vector:
        """Return average precision for each length, with the value that is best on validation for it, shape (terms,).

        Of equally good values it is the first.
        """
        chosen = self.validation.argmax(axis=0)
        every = np.array([getattr(curve, part) for curve in self.curves])
        return np.asarray(every[chosen, np.arange(len(chosen))])

    @property
    def pick(self) -> tuple[int, int]:
        """The value and the length that are best on validation, as positions; the shortest and then the first."""
        best = self.validation.T
        length, value = np.unravel_index(int(best.argmax()), best.shape)
        return int(value), int(length)


@frozen
class TopicTrial:
    """A topic with one split of the documents.

    Parameters
    ----------
    number : of the trial.
    topic : its id.
    repeat : which of its splits.
    relevant : relevant documents to train, to validate and to test on.
    terms : the terms of the longest query, in order.
    information : mutual information of each on the training documents, in nats.
    learned : by method.
    seconds : how long the trial took.
    """

    number: int
    topic: str
    repeat: int
    relevant: tuple[int, int, int]
    terms: tuple[str, ...]
    information: tuple[float, ...] = field(repr=False)
    learned: dict[str, Learned] = field(repr=False)
    seconds: float


@frozen
class Difference:
    """How far one method is ahead of another, over topics.

    Parameters
    ----------
    mean : of the differences of average precision.
    interval : 95% confidence interval of the mean, by Student's t over topics; None for one topic.
    comparison : wins, losses and ties, and the Wilcoxon signed rank test.
    """

    mean: float
    interval: tuple[float, float] | None
    comparison: Comparison

    @classmethod
    def of(cls, first: Vector, second: Vector) -> Self:
        """Return the difference of values for the same topics."""
        difference = first - second
        return cls(float(difference.mean()), mean_interval(difference), compare(first, second))


@frozen
class MorganResults:
    """What an experiment found.

    All figures of a topic are means over its splits, and those over topics give each topic the same weight.

    Parameters
    ----------
    header : settings, and what data and versions they were.
    topics : those that took part.
    left_out : other topics, and why they did not.
    missing : relevant documents that the index does not have.
    documents : documents of the index.
    trials : by number.
    """

    header: Header
    topics: tuple[TopicCounts, ...] = field(repr=False)
    left_out: dict[str, str] = field(repr=False)
    missing: int
    documents: int
    trials: tuple[TopicTrial, ...] = field(repr=False)

    @property
    def methods(self) -> tuple[str, ...]:
        """Names of the methods, in the order of the tables."""
        return tuple(self.header.settings["methods"])

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
        """Every two methods, the one that is first in the tables first."""
        return tuple(combinations(self.methods, 2))

    def learned(self, method: str) -> tuple[Learned, ...]:
        """Return what a method reached, trial by trial."""
        return tuple(trial.learned[method] for trial in self.trials)

    def per_topic(self, method: str, part: PartName) -> Matrix:
        """Return average precision at each length, with the value that validation picks, shape (topics, terms)."""
        return self._over_repeats(np.array([each.picked(part) for each in self.learned(method)]))

    def per_topic_at(self, method: str, value: int, part: PartName) -> Matrix:
        """Return average precision at each length with one value of the hyper-parameter, by position."""
        return self._over_repeats(np.array([getattr(each.curves[value], part) for each in self.learned(method)]))

    def at_pick(self, method: str, part: PartName, value: int | None = None) -> Vector:
        """Return average precision at the length and value that validation picks, shape (topics,).

        Parameters
        ----------
        method : its name.
        part : the documents.
        value : position of the only value of the hyper-parameter to pick a length with; None: all take part.
        """
        found = []
        for each in self.learned(method):
            of_value = each if value is None else evolve(each, curves=each.curves[value : value + 1])
            chosen, length = of_value.pick
            found.append(getattr(of_value.curves[chosen], part)[length])
        return self._over_repeats(np.array(found))

    def picked_lengths(self, method: str) -> IntVector:
        """Return the length that validation picks in each trial, shape (trials,)."""
        return np.array([each.pick[1] + 1 for each in self.learned(method)])

    def _over_repeats(self, of_trials: Vector | Matrix) -> Vector | Matrix:
        return np.asarray(of_trials.reshape(len(self.topics), self.repeats, *of_trials.shape[1:]).mean(axis=1))
