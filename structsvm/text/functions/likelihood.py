"""Query likelihood, as Indri has it."""

import numpy as np
from attrs import field, frozen

from structsvm.settings import inside, positive
from structsvm.text.functions.dirichlet import Dirichlet
from structsvm.text.functions.jelinek_mercer import JelinekMercer
from structsvm.text.functions.statistics import TermStatistics
from structsvm.types import Vector


@frozen
class IndriDirichlet(Dirichlet):
    """Mean logarithm of the probability of the query's tokens, in a language model with a Dirichlet prior.

    ``Σ_t q/|Q| ln p(t|d)``, the belief of Indri's ``#combine``, with ``p(t|d)`` as in `Dirichlet`, and Indri's default
    for mu. It ranks as the negative divergence does, from which it differs by the entropy of the query.

    Parameters
    ----------
    mu : weight of the collection's model, in tokens, above 0.

    Examples
    --------
    >>> from structsvm.text import Index, Retriever
    >>> from structsvm.text.functions import IndriDirichlet
    >>> texts = {"a": "a wing and a wing", "b": "one wing", "c": "none"}
    >>> index = Index.build([(name, {"text": text}) for name, text in texts.items()])
    >>> Retriever(index, IndriDirichlet()).retrieve({"1": "wing"}).scores.round(3).tolist()
    [-0.51, -0.511]
    """

    mu: float = field(default=2500.0, validator=positive)

    def query_score(self, counts: Vector, terms: TermStatistics) -> float:
        """Return the mean logarithm in the model of the collection."""
        return float(counts @ np.log(terms.share) / counts.sum())


@frozen
class IndriJelinekMercer(JelinekMercer):
    """Mean logarithm of the probability of the query's tokens, in a language model interpolated with the collection's.

    ``Σ_t q/|Q| ln p(t|d)``, the belief of Indri's ``#combine``, with ``p(t|d)`` as in `JelinekMercer`, and Indri's
    default for the weight of the collection, collectionLambda. See `IndriDirichlet`.

    Parameters
    ----------
    weight : weight of the collection's model, between 0 and 1.

    Examples
    --------
    >>> from structsvm.text import Index, Retriever
    >>> from structsvm.text.functions import IndriJelinekMercer
    >>> texts = {"a": "a wing and a wing", "b": "one wing", "c": "none"}
    >>> index = Index.build([(name, {"text": text}) for name, text in texts.items()])
    >>> Retriever(index, IndriJelinekMercer()).retrieve({"1": "wing"}).scores.round(3).tolist()
    [-0.174, -0.616]
    """

    weight: float = field(default=0.4, validator=inside(0.0, 1.0))

    def query_score(self, counts: Vector, terms: TermStatistics) -> float:
        """Return the mean logarithm in the model of the collection."""
        return float(counts @ np.log(terms.share) / counts.sum())
