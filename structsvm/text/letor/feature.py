"""What a feature is: a number for each candidate of a query, and what is known of its definition."""

from collections.abc import Callable

import numpy as np
from attrs import field, frozen

from structsvm.arrays import numbers
from structsvm.exceptions import InputError
from structsvm.text.letor.evidence import Evidence
from structsvm.types import Vector


@frozen
class Feature:
    r"""A feature of a query and a document.

    Parameters
    ----------
    name : its name, without blanks; ``L1`` to ``L10`` and ``H1`` to ``H5`` are LETOR's names.
    description : what it measures, in words.
    formula : the formula, in LaTeX. :math:`c(q_i, d)` is how often term :math:`q_i` is in the text of
        document d, :math:`|d|` the length of that text, :math:`c(q_i, C)` and :math:`df(q_i)` how often the
        term is in the collection and in how many of its documents, :math:`|C|` the number of documents.
    source : source of the definition.
    compute : returns the values of the candidates, shape (n,).

    Examples
    --------
    >>> from structsvm.data import Qrels
    >>> from structsvm.text import Analyzer, Index
    >>> from structsvm.text.letor import Feature, letor_features
    >>> def covered(evidence):
    ...     return (evidence.counts > 0).sum(axis=0) / len(evidence.query)
    >>> feature = Feature("covered", "share of the query's terms in the text", r"|q \cap d| / |q|", "our own", covered)
    >>> index = Index.build([("a", {"text": "a swept wing"}), ("b", {"text": "two wings"})], Analyzer("porter"))
    >>> judged = Qrels.from_grades(["1", "1"], ["a", "b"], [1, 0])
    >>> letor_features(index, {"1": "swept wings"}, judged, features=["L1", feature], normalise="none").X
    array([[1. , 0.5],
           [2. , 1. ]])
    """

    name: str
    description: str
    formula: str
    source: str
    compute: Callable[[Evidence], Vector] = field(repr=False)

    def values(self, evidence: Evidence) -> Vector:
        """Return the values of all candidates, finite, shape (n,).

        Raises
        ------
        InputError : they are not one number a candidate, or one is NaN or infinite, as a function of one's own may have
            it.
        """
        values = numbers(self.compute(evidence), f"what feature {self.name} computes")
        if values.shape != evidence.documents.shape:
            raise InputError(
                f"feature {self.name} must have a number for each of {len(evidence.documents)} candidates; the shape "
                f"of what it computes is {values.shape}"
            )
        wrong = ~np.isfinite(values)
        if wrong.any():
            raise InputError(
                f"feature {self.name} is {values[wrong.argmax()]} for a document with the terms "
                f"{', '.join(sorted(evidence.query))}: its function must give every document a finite score"
            )
        return values
