"""Compute labels of documents from clicks and propensities."""

from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike

from structsvm.clicks.base import ClickModel
from structsvm.clicks.log import ClickLog
from structsvm.exceptions import InputError
from structsvm.foundation.extras import needed
from structsvm.foundation.settings import require_kind, require_number
from structsvm.foundation.types import Vector
from structsvm.registry.built_in import click_models


@frozen(eq=False)
class WeightedClicks:
    """The relevance of documents, estimated from clicks by inverse propensities; see `weigh`."""

    y: Vector = field(repr=False)
    impressions: Vector = field(repr=False)
    clicks: int
    effective_clicks: float
    largest_weight: float
    clipped: float
    unmatched: float


def weigh(
    log: ClickLog,
    bias: ClickModel | str | None,
    qid: ArrayLike,
    document: ArrayLike | None = None,
    *,
    smallest: float = 0.0,
) -> WeightedClicks:
    """Estimate the relevance of documents from clicks, weighted by inverse propensities.

    The propensity of a document of a query is the mean over its impressions. Its clicks, divided by this mean and by
    its number of impressions, are an unbiased estimate of its relevance. If positions vary, the estimate has less
    variance than the sum of clicks that are each divided by the propensity of their position; else both are equal.

    Parameters
    ----------
    log : the log.
    bias : the click model, or its name; None: all propensities are 1. Clicks that the model's offset explains are
        subtracted, down to 0.
    qid : query id of each row of features, shape (rows,).
    document : document of each row, as in the log; None: the log has row numbers, from 0.
    smallest : lower bound of propensities; clipping gives less variance for some bias (Strehl, Langford, Li and Kakade,
        "Learning from logged implicit exploration data", NIPS 2010).

    Returns
    -------
    An object with these attributes. ``y``: the estimates, labels for the loss "weighted_ranks", shape (rows,).
    ``impressions`` of each document, shape (rows,). ``clicks``: their total number. ``effective_clicks``:
    ``(Σ u)² / Σ u²`` over the clicks with weights u, the inverse propensities; it is the number of clicks of equal
    weight with the same information. ``largest_weight``: the largest u. ``clipped``: the share of clicks whose
    propensity was clipped. ``unmatched``: the share of clicks on documents without a row.

    Examples
    --------
    >>> from structsvm.clicks import ClickLog, PowerBias
    >>> log = ClickLog.of([1, 1, 1], [0, 1, 2], [1, 2, 3], clicks=[6, 1, 2], impressions=[10, 10, 10])
    >>> weigh(log, PowerBias(1.0, 3), qid=[1, 1, 1]).y
    array([0.6, 0.2, 0.6])
    """
    require_kind("log", log, ClickLog, "a ClickLog")
    model: ClickModel | None = None if bias is None else click_models.create(bias)
    require_number("smallest", smallest, at_least=0.0)
    ids = np.asarray(qid)
    documents = np.arange(ids.size) if document is None else np.asarray(document)
    if ids.ndim != 1 or documents.shape != ids.shape:
        raise InputError(f"qid and document must have one entry per row, got shapes {ids.shape} and {documents.shape}")
    row = _rows_of(log, ids, documents)
    matched = row >= 0
    if not matched.any():
        raise InputError("no document of the log is among the rows: pass the same query and document ids as in the log")
    propensity = np.ones(len(log)) if model is None else model.at(log.position)
    offset = np.zeros(len(log)) if model is None else model.offset_at(log.position)
    clicks, shown, exposure, explained = (
        np.bincount(row[matched], column[matched], len(ids)).astype(np.float64)
        for column in (log.clicks, log.impressions, log.impressions * propensity, log.impressions * offset)
    )
    mean = np.divide(exposure, shown, out=np.ones(len(ids)), where=shown > 0.0)
    weight = 1.0 / np.maximum(mean, smallest)
    y = np.divide(np.maximum(clicks - explained, 0.0) * weight, shown, out=np.zeros(len(ids)), where=shown > 0.0)
    total = float(clicks.sum())
    clicked = clicks > 0.0
    return WeightedClicks(
        y=y,
        impressions=shown,
        clicks=int(total),
        effective_clicks=float((clicks @ weight) ** 2 / (clicks @ weight**2)) if total else 0.0,
        largest_weight=float(weight[clicked].max(initial=0.0)),
        clipped=float(clicks[mean < smallest].sum() / total) if total else 0.0,
        unmatched=float(1.0 - total / max(1, log.clicks.sum())) if log.clicks.any() else 0.0,
    )


def _rows_of(log: ClickLog, ids: Any, documents: Any) -> Any:
    """Return the feature row of each log row, or −1 for documents without a row."""
    with needed("logs of clicks need pandas", "tools"):
        import pandas as pd

    try:
        rows = pd.MultiIndex.from_arrays([ids, documents])
        if not rows.is_unique:
            twice = int(rows.duplicated().argmax())
            raise InputError(f"document {documents[twice]} of query {ids[twice]} has two rows of features: remove one")
        return rows.get_indexer(pd.MultiIndex.from_arrays([log.qid, log.document]))
    except TypeError as error:
        raise InputError(f"qid and document must be numbers or text, as in the log: {error}") from None
