"""Base functions as rankers of the pool."""

import numpy as np

from structsvm.protocols.experiment.collection import Collection
from structsvm.protocols.experiment.results import BaseFunction, Ranked
from structsvm.protocols.experiment.scoring import score_queries, tied_shares


def rank_base_functions(collection: Collection) -> tuple[BaseFunction, ...]:
    """Rank the pool of every query by each base function; what it did not retrieve comes last, and is tied.

    Returns
    -------
    The functions, best MAP first; among equals the one of the earlier column.
    """
    functions = []
    for name, scores in zip(collection.functions, collection.X.T, strict=True):
        retrieved = ~np.isnan(scores)
        precision = score_queries(np.where(retrieved, scores, -np.inf), collection.relevant, collection.ptr)
        ptr = np.concatenate([[0], np.cumsum(retrieved)])[collection.ptr]
        ranked = Ranked.of(*precision, tied_shares(scores[retrieved], ptr))
        functions.append(BaseFunction(name, float(retrieved.mean()), ranked))
    return tuple(sorted(functions, key=lambda function: -function.mean_ap))
