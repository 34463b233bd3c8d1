"""Methods that learn the weights of a query's terms, for queries of 1, 2, ... terms."""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from attrs import Attribute, field, frozen

from structsvm.exceptions import InputError
from structsvm.features.operators import Rows
from structsvm.foundation.settings import as_list, at_least
from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.protocols.estimator_model import EstimatorModel
from structsvm.protocols.feature_maps import AsGiven
from structsvm.protocols.model import Candidate, ProtocolModel
from structsvm.protocols.svm_models import RankingSVM
from structsvm.rankers import MaximumEntropy, WeightSearch


class Method(ABC):
    """Base class of methods that learn the weights of terms.

    A method is a value: its ``repr`` is stored with the results, and identifies the experiment.

    Examples
    --------
    >>> import numpy as np
    >>> from attrs import frozen
    >>> from structsvm.protocols import Candidate
    >>> from examples.papers.morgan2004 import Method
    >>> @frozen
    ... class EqualWeights(Method):
    ...     name: str = "equal weights"
    ...
    ...     def lengths(self, X, y):
    ...         for _ in range(X.shape[1]):
    ...             yield [Candidate("", lambda X, qid: X.sum(axis=1), seconds=0.0)]
    >>> X, y = np.array([[0.9, 0.1], [0.2, 0.3]]), np.array([1.0, 0.0])
    >>> [candidate.scores(X, None) for [candidate] in EqualWeights().lengths(X, y)]
    [array([1. , 0.5]), array([1. , 0.5])]
    """

    name: str
    """Name in tables; it must be unique in an experiment."""

    @abstractmethod
    def lengths(self, X: Matrix, y: Vector) -> Iterator[Sequence[Candidate]]:
        """Learn the weights of queries of 1, 2, ..., d terms from the training documents of a topic.

        Parameters
        ----------
        X : values of the terms, a column for each term in order, shape (n, d).
        y : 1 for relevant documents and 0 for other documents, shape (n,); both occur.

        Yields
        ------
        For each length, a candidate for each value of the hyper-parameter, always in the same order. It scores the
        values of these terms. Of equally good candidates on validation, the first is picked.
        """


@frozen(kw_only=True)
class SearchedWeights(Method):
    """Weight search: the first weight is 1, one weight changes at a time, and each length starts from the one before.

    Morgan, Greiff and Henderson, HLT-NAACL 2004, section 4; see `structsvm.rankers.WeightSearch`. The weight of a new
    term starts at 0, so that average precision on the training documents never falls with the length.

    Parameters
    ----------
    name : its name in tables.
    max_iter : most rounds for each length.

    Examples
    --------
    >>> import numpy as np
    >>> from examples.papers.morgan2004 import SearchedWeights
    >>> X, y = np.array([[0.5, 0.9], [0.6, 0.0], [0.4, 0.3], [0.0, 0.1]]), np.array([1.0, 0.0, 1.0, 0.0])
    >>> [one], [two] = SearchedWeights().lengths(X, y)  # which score values of one term, and of two
    >>> one.scores(X[:, :1], None), two.scores(X, None).argsort()[::-1]
    (array([0.5, 0.6, 0.4, 0. ]), array([0, 2, 1, 3]))
    """

    name: str = "WeightSearch"
    max_iter: int = field(default=100, validator=at_least(1))

    def lengths(self, X: Matrix, y: Vector) -> Iterator[Sequence[Candidate]]:
        """Search the weights of all lengths in one go; there is no hyper-parameter. See `Method.lengths`."""
        began = time.perf_counter()
        search = WeightSearch(fix_first=True, incremental=True, max_iter=self.max_iter).fit(X, y, qid=np.zeros(len(y)))
        seconds = (time.perf_counter() - began) / X.shape[1]
        for length, weights in enumerate(search.coef_path_, start=1):
            yield (Candidate("", partial(_scores, weights[:length]), seconds, weights=weights[:length]),)


def _scores(weights: Vector, X: Matrix, _qid: IntVector) -> Vector:
    """Return the scores of documents; documents with equal values have equal scores, to the last bit."""
    return Rows.one_row_per_example(X).scores(weights)


def _reads_as_given(method: "FittedWeights", _attribute: "Attribute[Any]", model: Any) -> None:
    if not isinstance(model, ProtocolModel):
        raise InputError(f"FittedWeights(model=...) must be a ProtocolModel, got {model!r}")
    if not isinstance(model.features, AsGiven):
        raise InputError(f"{model.name} must read the values of terms as they are: give it features=AsGiven()")


@frozen
class FittedWeights(Method):
    """A model of `structsvm.protocols`, fitted anew for each length and each value of its hyper-parameter.

    Parameters
    ----------
    model : the model; it must use unchanged features (`structsvm.protocols.AsGiven`).

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm.protocols import AsGiven, EstimatorModel
    >>> from examples.papers.morgan2004 import FittedWeights
    >>> from structsvm.rankers import MaximumEntropy
    >>> model = EstimatorModel(name="MaxEnt", features=AsGiven(), estimator=MaximumEntropy(), grid={"C": (0.1, 1.0)})
    >>> X, y = np.array([[0.9, 0.1], [0.2, 0.8], [0.0, 0.3]]), np.array([1.0, 1.0, 0.0])
    >>> [[candidate.value for candidate in fitted] for fitted in FittedWeights(model).lengths(X, y)]
    [[0.1, 1.0], [0.1, 1.0]]
    """

    model: ProtocolModel = field(validator=_reads_as_given)

    @property
    def name(self) -> str:
        """Name of the model."""
        return self.model.name

    def lengths(self, X: Matrix, y: Vector) -> Iterator[Sequence[Candidate]]:
        """Fit the model for each length. See `Method.lengths`."""
        qid = np.zeros(len(y), dtype=np.int64)
        for length in range(1, X.shape[1] + 1):
            yield self.model.candidates(np.ascontiguousarray(X[:, :length]), y, qid)


def paper_methods() -> tuple[Method, ...]:
    """Return weight search and maximum entropy, as in the paper, and SVM-map; validation chooses C.

    At the largest C, maximum entropy has almost no regularization. The only query of SVM-map is the topic.

    Examples
    --------
    >>> from examples.papers.morgan2004 import MorganSettings, SearchedWeights, paper_methods
    >>> [method.name for method in paper_methods()]
    ['WeightSearch', 'MaximumEntropy', 'SVM-map']
    >>> faster = [SearchedWeights(max_iter=5), *paper_methods()[1:]]
    >>> MorganSettings(methods=faster).methods[0].max_iter
    5
    """
    as_given = AsGiven()
    entropy = {"C": (0.1, 1.0, 10.0, 100.0, 1e4)}
    return (
        SearchedWeights(),
        FittedWeights(
            EstimatorModel(name="MaximumEntropy", features=as_given, estimator=MaximumEntropy(), grid=entropy)
        ),
        FittedWeights(
            RankingSVM(name="SVM-map", features=as_given, loss="map", Cs=(0.01, 0.1, 1.0, 10.0, 100.0, 1000.0))
        ),
    )


def as_methods(given: Any) -> tuple[Method, ...]:
    """Return methods and models, given as one or several, as a tuple of methods.

    Raises
    ------
    InputError : one of them is neither; it is named.
    """
    one = isinstance(given, Method | ProtocolModel)
    methods = []
    for each in (given,) if one else as_list("methods", given, "methods or models"):
        if not isinstance(each, Method | ProtocolModel):
            raise InputError(
                f"each of methods must be a Method, such as SearchedWeights(), or a ProtocolModel, got {each!r}"
            )
        methods.append(FittedWeights(each) if isinstance(each, ProtocolModel) else each)
    return tuple(methods)
