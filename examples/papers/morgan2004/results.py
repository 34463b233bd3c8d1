"""What Morgan's experiment found."""

from itertools import combinations
from typing import Literal, Self, TypeAlias

import numpy as np
from attrs import evolve, field, frozen

from examples.papers.morgan2004.topics import TopicCounts
from structsvm.protocols.model import Value, look_up
from structsvm.significance import SignedRankTest, signed_rank_test
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
    value : value of the hyper-parameter; "" where there is none.
    train, validation, test : average precision with 1, 2, ... terms, shape (terms,) each.

    Examples
    --------
    >>> from examples.papers.morgan2004 import Curve
    >>> curve = Curve(value=10.0, train=(0.4, 0.6, 0.7), validation=(0.3, 0.5, 0.4), test=(0.3, 0.4, 0.4))
    >>> best = curve.validation.index(max(curve.validation))
    >>> best + 1, curve.test[best]  # terms, and average precision on the test documents with as many
    (2, 0.4)
    """

    value: Value
    train: tuple[float, ...] = field(repr=False)
    validation: tuple[float, ...] = field(repr=False)
    test: tuple[float, ...] = field(repr=False)


@frozen
class Learned:
    """The average precision that a method reached in one trial.

    Parameters
    ----------
    curves : one for each value of its hyper-parameter.
    seconds : how long it learned, all lengths and values together.
    gap : largest certified gap of all fits, in units of the loss; None without a certificate.
    precision : interpolated precision at recall 0, 0.1, ..., 1 on the test documents, at the pick.
    weights : of the terms of the longest query, with the value that is best on validation for it, shape (terms,); None
        if the method has no weights.

    Examples
    --------
    >>> from examples.papers.morgan2004 import Curve, Learned
    >>> weak = Curve(0.1, train=(0.4, 0.5), validation=(0.4, 0.5), test=(0.4, 0.4))
    >>> strong = Curve(10.0, train=(0.5, 0.9), validation=(0.3, 0.6), test=(0.3, 0.5))
    >>> learned = Learned((weak, strong), seconds=0.2, gap=None)
    >>> learned.picked("test")  # with one term by the first value, with two by the second
    array([0.4, 0.5])
    >>> learned.pick
    (1, 1)
    """

    curves: tuple[Curve, ...]
    seconds: float
    gap: float | None
    precision: tuple[float, ...] = field(default=(), repr=False)
    weights: tuple[float, ...] | None = field(default=None, repr=False)

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
    number : number of the trial.
    topic : its id.
    repeat : number of the split of this topic.
    relevant : relevant documents to train, to validate and to test on.
    terms : the terms of the longest query, in order.
    information : mutual information of each on the training documents, in nats.
    learned : outcome of each method, by its name.
    seconds : how long the trial took.

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
    ...     [trial] = morgan(index, qrels, settings, folder, jobs=1).trials
    >>> trial.terms, trial.relevant, trial.learned["WeightSearch"].picked("test").round(2)
    (('lift', 'drag'), (2, 1, 5), array([0.97, 0.97]))
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
    mean : mean of the differences of average precision.
    interval : 95% confidence interval of the mean, by Student's t over topics; None for one topic.
    signed_rank : wins, losses and ties, and Wilcoxon's signed rank test.

    Examples
    --------
    >>> import numpy as np
    >>> from examples.papers.morgan2004 import Difference
    >>> difference = Difference.of(np.array([0.50, 0.62, 0.71, 0.48]), np.array([0.45, 0.60, 0.65, 0.49]))
    >>> round(difference.mean, 3), [round(end, 3) for end in difference.interval], difference.signed_rank.wins
    (0.03, [-0.02, 0.08], 3)
    """

    mean: float
    interval: tuple[float, float] | None
    signed_rank: SignedRankTest

    @classmethod
    def of(cls, first: Vector, second: Vector) -> Self:
        """Return the difference of values for the same topics."""
        difference = first - second
        return cls(float(difference.mean()), mean_interval(difference), signed_rank_test(first, second))


@frozen
class MorganResults:
    """The results of an experiment of Morgan's kind.

    All figures of a topic are means over its splits, and those over topics give each topic the same weight.

    Parameters
    ----------
    header : settings, and what data and versions they were.
    topics : topics that took part.
    left_out : other topics, and why they did not.
    missing : relevant documents that the index does not have.
    documents : documents of the index.
    trials : the trials, by number.

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
    ...     results = morgan(index, qrels, settings, folder, jobs=1)
    >>> results.per_topic("WeightSearch", "test").round(2)  # with one term and with two, means of three splits
    array([[0.55, 0.91]])
    >>> results.picked_lengths("WeightSearch")
    array([1, 2, 2])
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
        """Return the outcome of a method in each trial.

        Raises
        ------
        UnknownNameError : there is no such method.
        """
        return tuple(look_up("method", method, trial.learned) for trial in self.trials)

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

    def precision(self, method: str) -> Matrix:
        """Return interpolated precision at recall 0, 0.1, ..., 1 on test documents at the pick, shape (topics, 11)."""
        return self._over_repeats(np.array([each.precision for each in self.learned(method)]))

    def weights(self, method: str) -> Matrix | None:
        """Return the weights of the terms of the longest query, shape (trials, terms).

        None if the method has no weights.
        """
        found = [each.weights for each in self.learned(method)]
        return None if None in found else np.array(found)

    def _over_repeats(self, of_trials: Vector | Matrix) -> Vector | Matrix:
        return np.asarray(of_trials.reshape(len(self.topics), self.repeats, *of_trials.shape[1:]).mean(axis=1))
