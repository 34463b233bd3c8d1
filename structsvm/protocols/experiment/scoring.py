"""Score models and base functions by the measures of the paper."""

from collections.abc import Mapping

import numpy as np
from attrs import evolve

from structsvm.data import Pool
from structsvm.foundation.types import BoolVector, IntVector, Vector
from structsvm.metrics import AP, rank_lists
from structsvm.metrics.average_precision import LEVELS, interpolated
from structsvm.protocols.experiment.results import IPREC, MAP, TIED, BaseFunction


def measures_of(
    scores: Vector, relevant: BoolVector, query: IntVector, times: IntVector | None = None
) -> tuple[Mapping[str, float], Mapping[str, Vector]]:
    """Return means of a ranker's measures, and values of queries, by name.

    NaN scores are tied last, and ``times`` weights queries in precision.
    """
    missing = np.isnan(scores)
    retrieved = np.bincount(query, ~missing)
    # Pools are in trec_eval's order of ties. The expected curve over all orders would cost more than the training.
    ordered = rank_lists(np.where(missing, -np.inf, scores), relevant, query, ties="input")
    precision = np.column_stack(interpolated(AP(), ordered, LEVELS))
    lists = evolve(ordered, ties="mean")
    tied = (lists.tied | np.append(lists.tied[1:], False)) & (lists.rank <= retrieved[lists.query])
    queries = {
        MAP: AP().values(lists),
        TIED: lists.total(tied) / np.maximum(retrieved, 1.0),
    }
    levels = np.average(precision, axis=0, weights=times).tolist()
    return {MAP: float(queries[MAP].mean()), **dict(zip(IPREC, levels, strict=True))}, queries


def rank_base_functions(pool: Pool, query: IntVector, times: IntVector) -> tuple[BaseFunction, ...]:
    """Return the base functions as rankers, best MAP first; ``times`` is the number of tests of each query."""
    functions = []
    for name, scores in zip(pool.run_names, pool.X.T, strict=True):
        measures, values = measures_of(scores, pool.y > 0, query, times)
        queries = {measure: tuple(of_queries.tolist()) for measure, of_queries in values.items()}
        share = float((~np.isnan(scores)).mean())
        functions.append(BaseFunction(name=name, retrieved=share, measures=measures, queries=queries))
    return tuple(sorted(functions, key=lambda function: -round(function.mean_ap, 12)))
