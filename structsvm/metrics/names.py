"""Measures from text: ``map``, ``roc_area``, ``ndcg@10``, ``letor_ndcg@10``, ``p@5``, ``recall@10``, ``mrr``."""

from structsvm.metrics.base import Measure
from structsvm.registry import measures


def measure_names() -> list[str]:
    """Return the names that `parse_measure` reads, with a cut-off as an example where there may be one."""
    return measures.names()


def parse_measure(text: str) -> Measure:
    """Return the measure of that name; ``str(measure)`` is the name again.

    Case does not matter, nor do ``-``, ``_`` and blanks. A cut-off follows ``@``. Settings that
    are not the default stand in parentheses: ``map(relevant_from=2,empty=skip)``. Other packages
    add to the names through entry points of the group ``structsvm.measures``.

    Parameters
    ----------
    text : the name.

    Raises
    ------
    UnknownNameError : no measure is called so; the message has the nearest name.
    InputError : a cut-off or setting is wrong, or lacking.

    Examples
    --------
    >>> parse_measure("NDCG@10")
    NDCG(empty='zero', k=10, discount='standard', gain='exponential')
    >>> str(parse_measure("letor-ndcg@10"))
    'letor_ndcg@10'
    """
    measure: Measure = measures.create(text)
    return measure
