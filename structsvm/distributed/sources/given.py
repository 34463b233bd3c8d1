"""Partitions of futures and delayed calls that return them."""

import sys
from collections.abc import Sequence
from typing import Any

from structsvm.distributed.survey import of_given
from structsvm.exceptions import InputError


def is_call(X: Any) -> bool:
    """Say whether X is a future or a delayed call; ``hasattr`` cannot tell, as delayed calls claim any attribute."""
    kinds = (("dask.delayed", "Delayed"), ("distributed", "Future"))
    return any(module in sys.modules and isinstance(X, getattr(sys.modules[module], name)) for module, name in kinds)


def require_calls(given: Sequence[Any]) -> None:
    """Require a list of futures or delayed calls.

    Raises
    ------
    InputError : when there are none, or one is something else; it says how to make one of it.
    """
    if not given:
        raise InputError("the list of partitions is empty")
    for number, each in enumerate(given):
        if is_call(each):
            continue
        way = "dask.delayed(load_letor)(path) is one"
        if hasattr(each, "dask"):
            joined = "dask.dataframe.concat" if hasattr(each, "columns") else "dask.array.concatenate"
            way = f"{joined}(...) makes one of several of Dask's, which is taken as it is"
        elif isinstance(each, tuple | list) or hasattr(each, "shape"):
            way = "[dask.delayed(part) for part in parts] is such a list of (X, y, qid) that are in memory"
        raise InputError(
            f"partition {number} is a {type(each).__name__}: a list must be of paths of files, or of futures or "
            f"delayed calls that return (X, y, qid); {way}"
        )


def of_list(given: Sequence[Any]) -> tuple[list[Any], list[str]]:
    """Return partitions that others make as delayed calls, and what messages call them.

    Parameters
    ----------
    given : futures or delayed calls, of ``(X, y, qid)``, ``(X, y, qid, sample_weight)`` or `RankingData` each.
    """
    from dask import delayed

    names = [f"partition {k}" for k in range(len(given))]
    make = delayed(of_given, pure=False)
    return [make(name, each) for name, each in zip(names, given, strict=True)], names
